"""How long a user waits: `nlb --help`, a cold `nlb ask`, `nlb index` with nothing to do, a warm query.

    python benchmarks/latency.py LIBRARY [--books FOLDER] [--passages 100000]

LIBRARY is a library of the 57 dev books (as `nlb index FOLDER --library LIBRARY` makes it). Commands
are timed as whole processes, in turn, and the median of several is printed. For the warm query the
library's passages are copied, each time with a little noise on the vectors, into a temporary library
until it holds the asked number of passages; its 200 questions are those of LiteraryQA val, each asked at
all three levels.
"""

from __future__ import annotations

import argparse
import json
import os
import statistics
import subprocess
import sys
import tempfile
import time
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
from data import dev_folder, literaryqa

from nlb_retriever import Retriever
from nlb_retriever.records import LEVELS, Book, Passage, Section
from nlb_retriever.store import LibraryStore, open_store
from nlb_retriever.vectorizer import BookVectors

QUESTION = "Who is hunting the white whale, and why?"


def process_seconds(arguments: list[str], runs: int) -> dict[str, float]:
    times = []
    for _ in range(runs + 1):
        started = time.perf_counter()
        subprocess.run([str(Path(sys.executable).parent / "nlb"), *arguments], check=True, capture_output=True)
        times.append(time.perf_counter() - started)
    return spread(times[1:])


def spread(times: list[float]) -> dict[str, float]:
    ordered = sorted(times)
    return {
        "p50": round(statistics.median(ordered), 4),
        "p95": round(ordered[int(0.95 * (len(ordered) - 1))], 4),
        "min": round(ordered[0], 4),
        "runs": len(ordered),
    }


def stored_book(store: LibraryStore, book_id: str) -> tuple[Book, list[Passage], BookVectors]:
    """A book of a library as `publish` takes it."""
    entry = next(entry for entry in store.books() if entry.id == book_id)
    sections = store.sections(book_id)
    passages = store.passages(book_id, 0, entry.passages)
    vectors = {level: store.vectors(book_id, level) for level in LEVELS}
    book = Book(
        id=entry.id,
        content_hash=entry.content_hash,
        title=entry.title,
        author=entry.author,
        language=entry.language,
        year=entry.year,
        source=entry.source,
        text=store.book_text(book_id),
        sections=tuple(Section(path=section.path, start=section.start, end=section.end) for section in sections),
    )
    cut = [
        Passage(start=point["start"], end=point["end"], section=point["section"], tokens=point["tokens"])
        for point in passages
    ]
    return book, cut, BookVectors(passages=vectors["passage"], sections=vectors["section"], book=vectors["book"][0])


def enlarge(library: str, folder: Path, passages: int) -> int:
    """Copy a library into `folder` with noise until it holds so many passages."""
    random = np.random.default_rng(0)

    def noisy(vectors: Any) -> Any:
        moved = vectors + random.normal(0, 0.02, vectors.shape).astype(np.float32)
        return moved / np.linalg.norm(moved, axis=-1, keepdims=True)

    total = 0
    with open_store(library) as source:
        manifest, entries = source.manifest, source.books()
        with open_store(folder, create=manifest, writer=True) as target:
            copy = 0
            while total < passages:
                for entry in entries:
                    book, cut, vectors = stored_book(source, entry.id)
                    if copy:
                        book = replace(book, id=f"{copy:04x}{book.id[4:]}", content_hash=f"{copy}-{book.content_hash}")
                        vectors = BookVectors(
                            passages=noisy(vectors.passages), sections=noisy(vectors.sections), book=noisy(vectors.book)
                        )
                    target.publish(book, cut, vectors)
                    total += len(cut)
                    if total >= passages:
                        break
                copy += 1
            target.optimize()
    return total


def warm(folder: Path, questions: list[str]) -> dict[str, Any]:
    with Retriever(folder) as retriever:
        for level in LEVELS:
            retriever.search(QUESTION, level=level)
        per_level: dict[str, list[float]] = {level: [] for level in LEVELS}
        together = []
        for question in questions:
            begun = time.perf_counter()
            for level in LEVELS:
                started = time.perf_counter()
                retriever.search(question, level=level)
                per_level[level].append(time.perf_counter() - started)
            together.append(time.perf_counter() - begun)
    return {"all three levels": spread(together), **{level: spread(times) for level, times in per_level.items()}}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("library")
    parser.add_argument("--books", type=Path, help="folder of the books in it; default: the dev books")
    parser.add_argument("--passages", type=int, default=100_000)
    parser.add_argument("--runs", type=int, default=9)
    parser.add_argument("--data", type=Path, help="folder of the dev data")
    arguments = parser.parse_args()
    library = str(Path(arguments.library).absolute())
    books = arguments.books or dev_folder(arguments.data)
    os.environ.setdefault("NO_COLOR", "1")
    result: dict[str, Any] = {
        "nlb --help": process_seconds(["--help"], arguments.runs),
        "nlb ask, cold": process_seconds(["ask", QUESTION, "--library", library], arguments.runs),
        "nlb index, nothing to do": process_seconds(["index", str(books), "--library", library], arguments.runs),
    }
    print(json.dumps(result, indent=2), file=sys.stderr)
    with tempfile.TemporaryDirectory() as temporary:
        folder = Path(temporary) / "large"
        result["passages"] = enlarge(library, folder, arguments.passages)
        questions = [row["question"] for row in literaryqa(arguments.data)]
        result["warm query"] = warm(folder, questions[:: max(1, len(questions) // 200)])
    print(json.dumps(result, indent=2))


if __name__ == "__main__":
    main()
