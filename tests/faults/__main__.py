"""Try faults for as long as wanted and print tables: `python -m tests.faults --minutes 60`."""

from __future__ import annotations

import argparse
from pathlib import Path

from tests.conftest import find_data
from tests.faults.campaigns import CAMPAIGNS, run_all, table
from tests.faults.hostile_files import SUFFIXES, run


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m tests.faults", description=__doc__)
    parser.add_argument("--minutes", type=float, default=2.0, help="when to stop, in all")
    parser.add_argument("--rounds", type=int, help="of each campaign, or files of each format, at most")
    parser.add_argument("--seed", type=int, default=0, help="of all choices: one seed makes the same faults")
    parser.add_argument("--only", nargs="+", choices=["files", *CAMPAIGNS], default=["files", *CAMPAIGNS])
    parser.add_argument("--formats", nargs="+", choices=SUFFIXES, default=SUFFIXES, metavar="SUFFIX")
    parser.add_argument("--folder", type=Path, default=Path("build/faults"), help="where files with findings are kept")
    options = parser.parse_args()
    names = [name for name in CAMPAIGNS if name in options.only]
    seconds = 60 * options.minutes / (2 if names and "files" in options.only else 1)
    findings: list[str] = []
    if "files" in options.only:
        findings += _try_files(options, seconds)
    tallies = []
    for tally in run_all(names, seed=options.seed, seconds=seconds, rounds=options.rounds) if names else ():
        tallies.append(tally)
        findings += tally.details
        print(list(table([tally]))[-1], flush=True)
        print("".join(f"{detail}\n" for detail in tally.details), end="", flush=True)
    if tallies:
        print("\n".join(table(tallies)))
    return 1 if findings else 0


def _try_files(options: argparse.Namespace, seconds: float) -> list[str]:
    options.folder.mkdir(parents=True, exist_ok=True)
    data = find_data() if (find_data() / "library").is_dir() else None
    print(f"seed {options.seed}, mutations of {'real and made' if data else 'made'} books")
    campaign = run(
        seed=options.seed,
        folder=options.folder,
        rounds=options.rounds or 1_000_000,
        seconds=seconds,
        data=data,
        suffixes=options.formats,
    )
    print("\n".join(campaign.table()))
    for (suffix, message), count in campaign.refused.most_common(20):
        print(f"{suffix} refused: {message} ({count} files)")
    findings = [str(finding) for finding in campaign.findings]
    print("".join(f"{finding}\n" for finding in findings), end="")
    return findings


if __name__ == "__main__":
    raise SystemExit(main())
