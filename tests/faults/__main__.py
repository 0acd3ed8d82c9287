"""Try hostile files for as long as wanted and print a table: `python -m tests.faults --minutes 60`."""

from __future__ import annotations

import argparse
from pathlib import Path

from tests.conftest import find_data
from tests.faults.hostile_files import SUFFIXES, run


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m tests.faults", description=__doc__)
    parser.add_argument("--minutes", type=float, default=2.0, help="when to stop, in all")
    parser.add_argument("--rounds", type=int, default=1_000_000, help="files of each format at most")
    parser.add_argument("--seed", type=int, default=0, help="of all choices: one seed makes the same files")
    parser.add_argument("--formats", nargs="+", choices=SUFFIXES, default=SUFFIXES, metavar="SUFFIX")
    parser.add_argument("--folder", type=Path, default=Path("build/faults"), help="where files with findings are kept")
    options = parser.parse_args()
    options.folder.mkdir(parents=True, exist_ok=True)
    data = find_data() if (find_data() / "library").is_dir() else None
    print(f"seed {options.seed}, mutations of {'real and made' if data else 'made'} books")
    campaign = run(
        seed=options.seed,
        folder=options.folder,
        rounds=options.rounds,
        seconds=60 * options.minutes,
        data=data,
        suffixes=options.formats,
    )
    print("\n".join(campaign.table()))
    for finding in campaign.findings:
        print(finding)
    return 1 if campaign.findings else 0


if __name__ == "__main__":
    raise SystemExit(main())
