"""How fast books are read and cut into passages, on one thread.

    python benchmarks/chunking.py

Prints megabytes of text a second for reading the dev books (.txt) and for each way of chunking, with a cold cache
of word lengths, the best of three runs.
"""

from __future__ import annotations

import argparse
import json
import time
from pathlib import Path

from data import dev_folder

from nlb_retriever.encoding import load_encoder
from nlb_retriever.reading import read_book
from nlb_retriever.text.chunking import Chunker


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=Path, help="folder of the dev data")
    arguments = parser.parse_args()
    files = sorted(dev_folder(arguments.data).glob("*.txt"))
    started = time.perf_counter()
    books = [read_book(file) for file in files]
    size = sum(len(book.text.encode()) for book in books) / 1e6
    result = {"books": len(books), "megabytes": round(size, 1)}
    result["reading MB/s"] = round(size / (time.perf_counter() - started), 1)
    tokenizer = load_encoder(device="cpu").tokenizer
    for name, make in {
        "default": lambda: Chunker(tokenizer),
        "sentences": lambda: Chunker(tokenizer, tokens=0),
        "fixed": lambda: Chunker(tokenizer, boundary="fixed"),
    }.items():
        seconds = []
        for _ in range(3):
            chunker = make()
            started = time.perf_counter()
            count = sum(len(chunker.passages(book.text, book.sections)) for book in books)
            seconds.append(time.perf_counter() - started)
        result[f"{name}: passages"] = count
        result[f"{name}: MB/s"] = round(size / min(seconds), 1)
    print(json.dumps(result, indent=2))


if __name__ == "__main__":
    main()
