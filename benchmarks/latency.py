"""How long a user waits: `nlb --help`, a cold `nlb ask`, `nlb index` with nothing to do, a warm query.

    python benchmarks/latency.py LIBRARY [--books FOLDER] [--passages 100000]

LIBRARY is a library of the 57 dev books (as `nlb index FOLDER --library LIBRARY` makes it). Commands
are timed as whole processes, in turn, and the median of several is printed. For the warm query the
library's passages are copied, each time with a little noise on the vectors, into a temporary library
until it holds the wanted number of passages; its 200 questions are those of LiteraryQA val, each searched at every
level.
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
from itertools import count
from pathlib import Path
from typing import Any

import numpy as np
from data import dev_folder, rows

from nlb_retriever import Retriever
from nlb_retriever.encoding.packing import Packed
from nlb_retriever.model.vectors import BookVectors
from nlb_retriever.records import LEVELS, Book, Passage
from nlb_retriever.store import LibraryStore, open_store
from nlb_retriever.store.backends.base import PassagePart

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


def stored_books(library: Path) -> list[tuple[Book, list[Passage], BookVectors]]:
    """A library's books as `publish` takes them."""
    books = []
    with open_store(library) as store:
        vectors = {level: {point.id: point.dense for point in store._backend.scan(level)} for level in LEVELS}
        spans, terms = stored_parts(store, "span"), stored_parts(store, "term")
        for record in store.books():
            book = store.read_book(record)
            assert book is not None
            sections, passages = store.sections(record.id), store.passages(record.id)
            cut = [
                Passage(start=each.start, end=each.end, section=each.section, tokens=each.tokens) for each in passages
            ]
            made = BookVectors(
                passages=np.stack([vectors["passage"][each.id] for each in passages]),
                sections=np.stack([vectors["section"][each.id] for each in sections]),
                book=np.asarray(vectors["book"][record.uuid]),
                spans=[spans[each.id] for each in passages],
                terms=[terms[each.id] for each in passages],
            )
            books.append((book, cut, made))
    return books


def stored_parts(store: LibraryStore, part: PassagePart) -> dict[str, Packed]:
    """The packed vectors of the spans or terms of each passage, by its id."""
    found: dict[str, Packed] = {}

    def read(view: Any) -> None:
        for each in view.parts:
            rows = np.arange(each.segment.rows["passage"])
            packed, counts = each.segment.parts(part, rows)
            own = np.split(packed, np.cumsum(counts)[:-1])
            found.update(zip(each.segment.ids("passage", rows), own, strict=True))

    store._backend.read(read)
    return found


def enlarge(library: Path, folder: Path, passages: int) -> int:
    """Copy a library into `folder` with noise until it holds so many passages."""
    random = np.random.default_rng(0)

    def noisy(vectors: Any) -> Any:
        moved = vectors + random.normal(0, 0.02, vectors.shape).astype(np.float32)
        return moved / np.linalg.norm(moved, axis=-1, keepdims=True)

    with open_store(library) as store:
        manifest = store.manifest
    books = stored_books(library)
    total = 0
    with open_store(folder, create=manifest, writer=True) as target:
        for copy in count():
            for original, cut, vectors in books:
                book, made = original, vectors
                if copy:
                    book = replace(book, id=f"{copy:04x}{book.id[4:]}", content_hash=f"{copy}-{book.content_hash}")
                    made = BookVectors(
                        passages=noisy(vectors.passages),
                        sections=noisy(vectors.sections),
                        book=noisy(vectors.book),
                        spans=vectors.spans,
                        terms=vectors.terms,
                    )
                target.publish(book, cut, made)
                total += len(cut)
                if total >= passages:
                    target.optimize()
                    return total
    return total


def warm(folder: Path, questions: list[str]) -> dict[str, Any]:
    with Retriever(folder) as retriever:
        for level in LEVELS:
            retriever.search(QUESTION, level=level)
        per_level: dict[str, list[float]] = {level: [] for level in LEVELS}
        for question in questions:
            for level in LEVELS:
                started = time.perf_counter()
                retriever.search(question, level=level)
                per_level[level].append(time.perf_counter() - started)
    return {level: spread(times) for level, times in per_level.items()}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("library", type=Path)
    parser.add_argument("--books", type=Path, help="folder of the books in it; default: the dev books")
    parser.add_argument("--passages", type=int, default=100_000)
    parser.add_argument("--runs", type=int, default=9)
    parser.add_argument("--data", type=Path, help="folder of the dev data")
    arguments = parser.parse_args()
    library = arguments.library.absolute()
    books = arguments.books or dev_folder(arguments.data)
    os.environ.setdefault("NO_COLOR", "1")
    result: dict[str, Any] = {
        "nlb --help": process_seconds(["--help"], arguments.runs),
        "nlb ask, cold": process_seconds(["ask", QUESTION, "--library", str(library)], arguments.runs),
        "nlb index, nothing to do": process_seconds(["index", str(books), "--library", str(library)], arguments.runs),
    }
    print(json.dumps(result, indent=2), file=sys.stderr)
    with tempfile.TemporaryDirectory() as temporary:
        folder = Path(temporary) / "large"
        result["passages"] = enlarge(library, folder, arguments.passages)
        questions = [row["question"] for row in rows("literaryqa_val_questions", arguments.data)]
        result["warm query"] = warm(folder, questions[:: max(1, len(questions) // 200)])
    print(json.dumps(result, indent=2))


if __name__ == "__main__":
    main()
