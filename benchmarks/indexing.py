"""Indexing end to end, beside a plain LlamaIndex script and the bare encoder, in one run.

    python benchmarks/indexing.py [--books N] [--memory]

Indexes the first N novels of the dev books (.txt) with `nlb index` and with benchmarks/baseline_llamaindex.py, each
in a process of its own, and prints tokens a second of both (each counts the tokens of its own
chunks' text once), their ratio, and ours over the bare encoder's (benchmarks/encoder.py). `--memory`
instead indexes 10, 30 and all dev books and prints the peak resident memory of each run, in which
the largest sum over the process and its children counts, and the time that indexing again takes.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
import threading
import time
from pathlib import Path
from typing import Any

from data import dev_folder

NOVEL = 400_000
"""Bytes from which a book is one."""
HERE = Path(__file__).resolve().parent


def tree_rss(pid: int) -> int:
    """Resident bytes of a process and its descendants; pages they share count once each."""
    total = 0
    try:
        total = int(Path(f"/proc/{pid}/statm").read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE")
        for task in Path(f"/proc/{pid}/task").iterdir():
            total += sum(tree_rss(int(child)) for child in (task / "children").read_text().split())
    except (OSError, IndexError):
        pass
    return total


def run(command: list[str], home: Path) -> tuple[dict[str, Any], float, int]:
    """Run a command that prints JSON; gives that, its seconds and its peak memory in bytes."""
    started = time.perf_counter()
    environment = {**os.environ, "NLB_HOME": str(home)}
    process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env=environment)
    peak = 0
    done = threading.Event()

    def watch() -> None:
        nonlocal peak
        while not done.wait(0.1):
            peak = max(peak, tree_rss(process.pid))

    watcher = threading.Thread(target=watch)
    watcher.start()
    out, errors = process.communicate()
    done.set()
    watcher.join()
    if process.returncode:
        sys.exit(f"{' '.join(command[:4])} failed:\n{errors[-2000:]}")
    return json.loads(out), time.perf_counter() - started, peak


def nlb_index(books: list[Path], home: Path) -> tuple[dict[str, Any], float, int]:
    code = "from nlb_cli.app import main; main()"
    return run([sys.executable, "-c", code, "index", "--json", "--device", "cpu", *map(str, books)], home)


def speed(books: list[Path], scratch: Path) -> dict[str, Any]:
    bare, _, _ = run([sys.executable, str(HERE / "encoder.py")], scratch)
    ours, ours_seconds, ours_peak = nlb_index(books, scratch / "ours")
    script = [sys.executable, str(HERE / "baseline_llamaindex.py"), "--store", str(scratch / "theirs")]
    theirs, _, theirs_peak = run([*script, *map(str, books)], scratch)
    # Ours with the start of the process, theirs without: reading, splitting, encoding and writing only.
    rates = {"nlb": ours["tokens"] / ours_seconds, "llamaindex": theirs["tokens"] / theirs["seconds"]}
    return {
        "books": len(books),
        "nlb": row(ours["tokens"], ours_seconds, ours_peak),
        "llamaindex": row(theirs["tokens"], theirs["seconds"], theirs_peak),
        "times_llamaindex": round(rates["nlb"] / rates["llamaindex"], 2),
        "bare_encoder": bare,
        "share_of_bare_encoder": round(rates["nlb"] / bare["tokens_per_second"], 3),
    }


def row(tokens: int, seconds: float, peak: int) -> dict[str, Any]:
    """Figures of one run."""
    rate = tokens / seconds
    return {"tokens": tokens, "seconds": round(seconds, 2), "tokens_per_second": round(rate), "peak_mb": peak >> 20}


def memory(books: list[Path], scratch: Path) -> list[dict[str, Any]]:
    rows = []
    for count in (10, 30, len(books)):
        home = scratch / f"memory-{count}"
        first, seconds, peak = nlb_index(books[:count], home)
        again, again_seconds, _ = nlb_index(books[:count], home)
        if len(again["unchanged"]) != len(first["indexed"]):
            sys.exit(f"indexing again found {len(again['unchanged'])} of {len(first['indexed'])} books unchanged")
        size = sum(file.stat().st_size for file in home.rglob("*") if file.is_file())
        again_row = {"seconds_again": round(again_seconds, 3), "home_mb": size >> 20}
        rows.append({"books": count, **row(first["tokens"], seconds, peak), **again_row})
        print(json.dumps(rows[-1]), file=sys.stderr)
    return rows


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--books", type=int, default=2)
    parser.add_argument("--memory", action="store_true")
    parser.add_argument("--data", type=Path, help="folder of the dev data")
    parser.add_argument("--scratch", type=Path, help="where to keep what it makes; default: a temporary folder")
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory() as temporary:
        scratch = arguments.scratch or Path(temporary)
        books = sorted(dev_folder(arguments.data).glob("*.txt"))
        novels = [book for book in books if book.stat().st_size > NOVEL]
        result = memory(books, scratch) if arguments.memory else speed(novels[: arguments.books], scratch)
        print(json.dumps(result, indent=2))


if __name__ == "__main__":
    main()
