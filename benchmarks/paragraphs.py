"""Questions on given paragraphs as questions to a library: docs/reader-notes.md, "Articles and textbooks".

    python benchmarks/paragraphs.py {squad,bipar} FOLDER
    nlb eval FOLDER/questions.jsonl --books FOLDER/books

SQuAD's 48 development articles become books, and the questions on the six that nothing is trained on, with an answer,
its rows; BiPaR's paragraphs of six novels become six books, all its questions rows. A row's span is its first answer.
"""

from __future__ import annotations

import argparse
import json
from collections import defaultdict
from collections.abc import Sequence
from pathlib import Path

from data import Row, rows

from nlb_training.training_data import HELD_ARTICLES

FILES = {"squad": "squad_dev", "bipar": "bipar_en_valid"}


def main() -> None:
    """Write the books and the questions."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("set", choices=FILES)
    parser.add_argument("folder", type=Path)
    arguments = parser.parse_args()
    found = rows(FILES[arguments.set])
    paragraphs = write_books(found, arguments.folder / "books")
    lines: dict[str, str] = {}
    """By question, each once."""
    for row in found:
        if row["answers"] and ("article" not in row or row["article"] in HELD_ARTICLES):
            book, (answer, *_) = book_of(row), row["answers"]
            start = paragraphs[book][row["context"]] + answer["start"]
            line = {
                "query": row["question"],
                "file": f"{book}.txt",
                "start": start,
                "end": start + len(answer["text"]),
                "level": "passage",
                "answers": [each["text"] for each in row["answers"]],
            }
            lines.setdefault(row["question"], json.dumps(line) + "\n")
    (arguments.folder / "questions.jsonl").write_text("".join(lines.values()), encoding="utf-8")


def write_books(found: Sequence[Row], folder: Path) -> dict[str, dict[str, int]]:
    """Write the paragraphs of rows as books; the paragraphs of each, with the offset at which each begins."""
    paragraphs: dict[str, dict[str, int]] = defaultdict(dict)
    length: dict[str, int] = defaultdict(int)
    for row in found:
        book = book_of(row)
        if row["context"] not in paragraphs[book]:
            paragraphs[book][row["context"]] = length[book]
            length[book] += len(row["context"]) + len("\n\n")
    folder.mkdir(parents=True, exist_ok=True)
    for book, texts in paragraphs.items():
        (folder / f"{book}.txt").write_text("\n\n".join(texts) + "\n", encoding="utf-8")
    return paragraphs


def book_of(row: Row) -> str:
    """The article, or the novel, that a paragraph is from."""
    return str(row["article"] if "article" in row else row["passage"].rsplit("_", 1)[0])


if __name__ == "__main__":
    main()
