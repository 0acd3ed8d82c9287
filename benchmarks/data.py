"""The dev data that the benchmarks read: books as files, questions as rows.

It lies in the folder that NLB_DATA names, else in `shared/data` beside the repository, with books in
`corpus/*.tar.bz2` and questions in `eval/*.jsonl.bz2`. Archives are unpacked once, into the user's cache.
"""

from __future__ import annotations

import bz2
import json
import os
import shutil
import sys
import tarfile
import tempfile
from pathlib import Path
from typing import Any, Literal

import platformdirs

Collection = Literal["dev", "fairytaleqa", "openstax"]
Row = dict[str, Any]


def data_folder(given: Path | None = None) -> Path:
    """The folder of all data; ends the process with a line of advice where there is none."""
    beside = Path(__file__).resolve().parent.parent.parent / "shared" / "data"
    folder = given or Path(os.environ.get("NLB_DATA", beside))
    if not (folder / "corpus").is_dir():
        sys.exit(f"no benchmark data at {folder}: name its folder with NLB_DATA or --data")
    return folder


def books_folder(collection: Collection, data: Path | None = None) -> Path:
    """A folder with the collection's books as .txt files and nothing else."""
    archive = data_folder(data) / "corpus" / f"{collection}.tar.bz2"
    stamp = archive.stat()
    name = f"{collection}-{stamp.st_size}-{int(stamp.st_mtime)}"
    home = Path(platformdirs.user_cache_dir("nlb-retriever")) / "benchmarks"
    folder = home / name
    if not folder.is_dir():
        home.mkdir(parents=True, exist_ok=True)
        scratch = Path(tempfile.mkdtemp(dir=home))
        with tarfile.open(archive) as tar:
            tar.extractall(scratch, filter="data")
        try:
            scratch.rename(folder)
        except OSError:  # another run was first
            shutil.rmtree(scratch)
    return folder


def dev_folder(data: Path | None = None) -> Path:
    """The 57 books behind the LiteraryQA and BookSum questions."""
    return books_folder("dev", data)


def dev_texts(data: Path | None = None) -> list[str]:
    return [file.read_text(encoding="utf-8") for file in sorted(dev_folder(data).glob("*.txt"))]


def rows(name: str, data: Path | None = None) -> list[Row]:
    """The rows of one file in eval/; spans in them index the text of the file `book_file`."""
    with bz2.open(data_folder(data) / "eval" / f"{name}.jsonl.bz2", "rt", encoding="utf-8") as lines:
        return [json.loads(line) for line in lines]


def literaryqa(data: Path | None = None) -> list[Row]:
    """Questions on 36 of the dev books with two human answers each."""
    return rows("literaryqa_val_questions", data)
