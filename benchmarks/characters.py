"""Who the characters of twelve books are, and yes-or-no questions on them: docs/reader-notes.md, "Of a whole book".

    python benchmarks/characters.py [--verbose]

The questions are in characters.tsv, each with a pattern: of a right short answer, in small letters, or of what must
be quoted. The books are those of `library/` in the data folder; their index is made anew, a minute on two cores. None
of this is apart from what was chosen by it: the patterns of `search/answers/who.py` were written on the first six
books, its bounds and the weight of words in yes-or-no questions chosen on all.
"""

from __future__ import annotations

import argparse
import re
import tempfile
from collections import defaultdict
from pathlib import Path

from data import data_folder

from nlb_retriever import Retriever, index_files

ROWS = Path(__file__).with_suffix(".tsv")
BUILT_ON = {"pride-and-prejudice", "dracula", "frankenstein", "moby-dick", "secret-garden", "time-machine"}


def main() -> None:
    """Print how many answers of each kind are right."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--verbose", action="store_true", help="print each question with its answer")
    verbose = parser.parse_args().verbose
    rows = [line.split("\t") for line in ROWS.read_text(encoding="utf-8").splitlines() if not line.startswith("#")]
    right: dict[str, list[bool]] = defaultdict(list)
    with tempfile.TemporaryDirectory() as folder:
        index_files([data_folder() / "library"], folder)
        with Retriever(folder) as retriever:
            books = {Path(book.source).stem: book.id for book in retriever.store.books()}
            for kind, name, question, pattern in rows:
                answer = retriever.answer(question, book=books[name])
                if kind == "who":
                    found = bool(re.search(pattern, (answer.short or "").lower()))
                    right[f"who, {'built on' if name in BUILT_ON else 'other'} books"].append(found)
                    right[f"who, marked {answer.confidence}"].append(found)
                else:
                    quotes = [citation.quote for citation in answer.citations]
                    found = any(re.search(pattern, quote) for quote in quotes)
                    right["yes or no, first quote"].append(any(re.search(pattern, quote) for quote in quotes[:1]))
                    right["yes or no, all quotes"].append(found)
                if verbose:
                    print("+" if found else "-", question, "|", answer.short or " ".join(answer.text.split())[:120])
    for what, each in sorted(right.items()):
        print(f"{what}: {sum(each)} of {len(each)}")


if __name__ == "__main__":
    main()
