"""What terms mean, asked of textbooks, articles and twelve books: docs/reader-notes.md, "What a term means".

    python benchmarks/definitions.py [--verbose]

The questions are in definitions.tsv, each with a pattern of a right answer, in small letters: of the short answer and
of the first quote. OpenStax's five textbooks, SQuAD's 48 articles and the books of `library/` in the data folder are
three libraries, indexed anew: four minutes on two cores. The forms of `text/definitions.py` were written on the 79
questions "built on".
"""

from __future__ import annotations

import argparse
import re
import tempfile
from collections import defaultdict
from pathlib import Path

from data import books_folder, data_folder, rows
from paragraphs import FILES, write_books

from nlb_retriever import Retriever, index_files

ROWS = Path(__file__).with_suffix(".tsv")


def main() -> None:
    """Print how many answers are right, by how they are marked."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--verbose", action="store_true", help="print each question with its answer")
    verbose = parser.parse_args().verbose
    questions = [line.split("\t") for line in ROWS.read_text(encoding="utf-8").splitlines() if line[:1] != "#"]
    right: dict[str, list[bool]] = defaultdict(list)
    with tempfile.TemporaryDirectory() as scratch:
        write_books(rows(FILES["squad"]), Path(scratch) / "books")
        folders = {
            "textbooks": books_folder("openstax"),
            "articles": Path(scratch) / "books",
            "library": data_folder() / "library",
        }
        for collection, folder in folders.items():
            library = Path(scratch) / collection
            index_files([folder], library)
            with Retriever(library) as retriever:
                for kind, _, question, pattern in (row for row in questions if row[1] == collection):
                    answer = retriever.answer(question)
                    first = answer.citations[0].quote if answer.citations else ""
                    found = bool(re.search(pattern, (answer.short or "").lower()))
                    for group in (f"{kind}, {collection}", f"{kind}, all", f"marked {answer.confidence}"):
                        right[f"{group}: short"].append(found)
                    for group in (f"{kind}, {collection}", f"{kind}, all"):
                        right[f"{group}: first quote"].append(bool(re.search(pattern, first.lower())))
                    if verbose:
                        shown = f"{answer.short} ({answer.confidence}) | {' '.join(first.split())[:200]}"
                        print("+" if found else "-", question, "|", shown)
    for what, each in sorted(right.items()):
        print(f"{what}: {sum(each)} of {len(each)}")


if __name__ == "__main__":
    main()
