"""Questions on books that the reader was not trained on, with the book named: docs/reader-notes.md.

    python benchmarks/book_questions.py [--part held|other] [--books N] [--every N] [--reader FOLDER]

The questions come with `nlb_training` (`nlb_training.reader.book_questions`): 964 on 36 novels that are held out, and
3,500 on 179 other books (plays, histories, science, essays). The books are indexed anew, some 3 s each on two cores.
"""

from __future__ import annotations

import argparse
import tempfile
from pathlib import Path
from statistics import fmean

from data import data_folder

from nlb_retriever import Retriever, index_files
from nlb_training.evaluation.answers import compare_answer
from nlb_training.reader.book_questions import read_book_questions
from nlb_training.reader.sources import read_train_books


def main() -> None:
    """Print token F1, exact match and the share quoted of the answers, and the rank of the evidence among passages."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--part", choices=["held", "other"], default="held")
    parser.add_argument("--books", type=int, default=36, help="only the first so many books")
    parser.add_argument("--every", type=int, default=1, help="only every n-th question")
    parser.add_argument("--reader", help="folder of a reader; default: the released one")
    options = parser.parse_args()
    rows = read_book_questions(options.part)
    chosen = sorted({row["book_file"] for row in rows})[: options.books]
    texts = read_train_books(data_folder(), chosen)
    rows = [row for row in rows if row["book_file"] in texts][:: options.every]
    answers: list[dict[str, float]] = []
    ranks: list[float] = []
    with tempfile.TemporaryDirectory() as folder:
        books, library = Path(folder, "books"), Path(folder, "library")
        books.mkdir()
        for name, text in texts.items():
            (books / name).write_text(text, encoding="utf-8")
        index_files([str(books)], library)
        with Retriever(library, reader=options.reader) as retriever:
            ids = {Path(book.source).name: book.id for book in retriever.store.books()}
            for row in rows:
                question, book = row["question"], ids[row["book_file"]]
                expected = [*row["answers"], *(texts[row["book_file"]][a:b] for a, b in row["answer_spans"])]
                answers.append(compare_answer(retriever.answer(question, book=book), question, expected))
                hits = retriever.search(question, book=book, limit=20, rerank=True)
                found = (any(hit.start < b and a < hit.end for a, b in row["evidence_spans"]) for hit in hits)
                ranks.append(next((1 / place for place, right in enumerate(found, 1) if right), 0.0))
    print(f"{len(rows)} questions on {len(texts)} books")
    for metric in ("f1", "em", "quoted", "answered"):
        print(f"{metric}: {100 * fmean(each[metric] for each in answers if metric in each):.1f}")
    print(f"passage with the evidence, reranked, MRR: {100 * fmean(ranks):.1f}")
    print(f"in the first five: {100 * fmean(rank >= 1 / 5 for rank in ranks):.1f}")


if __name__ == "__main__":
    main()
