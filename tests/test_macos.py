"""What macOS lacks is not needed; `make check` has mypy look for more of it."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

_AS_ON_MACOS = """
import os, resource

del os.sched_getaffinity
set_limit = resource.setrlimit


def refuse(kind, limits):
    if kind == resource.RLIMIT_AS:
        raise ValueError("current limit exceeds maximum limit")
    set_limit(kind, limits)


resource.setrlimit = refuse
"""
_INDEX_AND_SEARCH = """
import sys
from nlb_retriever import Retriever, index_files

index_files([sys.argv[1]], sys.argv[2])
with Retriever(sys.argv[2]) as retriever:
    print(retriever.search("lighthouse")[0].text.split()[-1])
"""


def test_a_library_is_made_and_searched_without_what_macos_lacks(tmp_path: Path) -> None:
    (tmp_path / "sitecustomize.py").write_text(_AS_ON_MACOS)  # for the processes that read books, too
    book = tmp_path / "keeper.txt"
    book.write_text("The Keeper\n\nCHAPTER I\n\nOld Tobias kept the lighthouse.\n")
    done = subprocess.run(
        [sys.executable, "-c", _INDEX_AND_SEARCH, str(book), str(tmp_path / "library")],
        env={**os.environ, "PYTHONPATH": str(tmp_path)},
        capture_output=True,
        text=True,
        timeout=120,
    )
    assert (done.returncode, done.stdout) == (0, "lighthouse.\n"), done.stderr
