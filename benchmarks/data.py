"""The dev data that the benchmarks read: books as files, questions as rows.

It lies in the folder that NLB_DATA names, else in `shared/data` beside the repository, with books in
`corpus/*.tar.bz2` and questions in `eval/*.jsonl.bz2`. Archives are unpacked once, as by `nlb eval`.
"""

from __future__ import annotations

import os
import sys
from pathlib import Path
from typing import Any, Literal

from nlb_training.training_data import read_rows

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
    from nlb_training.evaluation.books import cache_folder, open_archive

    return open_archive(data_folder(data), collection, cache_folder()).folder


def dev_folder(data: Path | None = None) -> Path:
    """The 57 books behind the LiteraryQA and BookSum questions."""
    return books_folder("dev", data)


def dev_texts(data: Path | None = None) -> list[str]:
    return [file.read_text(encoding="utf-8") for file in sorted(dev_folder(data).glob("*.txt"))]


def rows(name: str, data: Path | None = None) -> list[Row]:
    """The rows of one file in eval/; spans in them index the text of the file `book_file`."""
    return read_rows(data_folder(data), name)
