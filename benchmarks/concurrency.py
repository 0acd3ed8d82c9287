"""How long six reading processes wait for a search, alone and beside a writer.

    python benchmarks/concurrency.py LIBRARY BOOK...

Works on a copy of the library; the writer indexes the books into it. Each reader searches, rests for 50 ms, and so on.
"""

from __future__ import annotations

import json
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from nlb_retriever import Retriever

READERS = 6
SECONDS = 40
REST = 0.05
QUERY = "Who kidnapped the boy and why did he flee?"


def read(library: Path) -> list[float]:
    """Seconds of each search."""
    taken = []
    with Retriever(library) as retriever:
        retriever.search(QUERY)
        end = time.monotonic() + SECONDS
        while time.monotonic() < end:
            start = time.perf_counter()
            retriever.search(QUERY)
            taken.append(time.perf_counter() - start)
            time.sleep(REST)
    return taken


def measure(library: Path, books: list[str]) -> str:
    """A line of figures; no books, no writer."""
    nlb = [sys.executable, "-c", "from nlb_cli.app import main; main()", "index", "--quiet", "--library", str(library)]
    writer = subprocess.Popen([*nlb, *books], stdout=subprocess.DEVNULL) if books else None
    command = [sys.executable, __file__, "--read", str(library)]
    readers = [subprocess.Popen(command, stdout=subprocess.PIPE, text=True) for _ in range(READERS)]
    taken = sorted(1000 * each for reader in readers for each in json.loads(reader.communicate()[0]))
    if writer:
        writer.wait()
    return (
        f"{len(taken):,} searches, p50 {statistics.median(taken):.0f} ms, p99 {taken[int(0.99 * len(taken))]:.0f} ms, "
        f"longest {taken[-1]:.0f} ms"
    )


def main() -> None:
    if sys.argv[1] == "--read":
        sys.stdout.write(json.dumps(read(Path(sys.argv[2]))))
        return
    with tempfile.TemporaryDirectory() as folder:
        library = Path(folder) / "library"
        shutil.copytree(sys.argv[1], library)
        sys.stdout.write(f"{READERS} readers: {measure(library, [])}\n")
        sys.stdout.write(f"and a writer: {measure(library, sys.argv[2:])}\n")


if __name__ == "__main__":
    main()
