"""Chapters and books by what happens in them, and what happens in a chapter: docs/reader-notes.md, "A book, a chapter".

    python benchmarks/chapters.py LIBRARY [--every N]

LIBRARY is one of the dev books (57, corpus/dev.tar.bz2, `nlb index`). Questions are made of sentences of BookSum val's
summaries: "Find the chapter in which ...", with the book named, and "Find the book in which ..." of summaries of
books. "What happens in chapter 3?" is measured on the chapters that BookSum val summarises: how many of the quoted
words, without the commonest, the summary has, and the mean over its sentences of the highest cosine with a quoted one;
beside it the chapter's first sentences, those most similar to its mean, and those that the summary itself would choose,
each within as many words.
"""

from __future__ import annotations

import argparse
import json
import re
from collections import Counter, defaultdict
from pathlib import Path

import numpy as np
from data import rows

from nlb_retriever import Retriever
from nlb_retriever.encoding import score_sentences
from nlb_retriever.records import BookRecord
from nlb_retriever.search.answers import telling
from nlb_retriever.search.hits import to_hit
from nlb_retriever.text.sentences import sentence_spans
from nlb_training.encoder.salience import judge, split

COMMON = frozenset(
    "the a an of to and in that is was he she it his her him for with as on at by be had has have i you not but they"
    " from this which or are were who so all my me their them there when what if no".split()
)
SHORTEST, LONGEST = 7, 25
"""Words of a summary's sentence that a question is made of."""
A_BOOK = 30
"""Questions on each book, at most."""


def main() -> None:
    """Print the figures as JSON."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("library", type=Path)
    parser.add_argument("--every", type=int, default=1, help="measure on every Nth question and chapter")
    arguments = parser.parse_args()
    with Retriever(arguments.library) as retriever:
        books = {Path(book.source).name: book for book in retriever.store.books()}
        figures = {
            "book": find_books(retriever, books, arguments.every),
            "chapter": find_chapters(retriever, books, arguments.every),
            "digest": tell_chapters(retriever, books, arguments.every),
        }
    print(json.dumps(figures, indent=2))


def find_books(retriever: Retriever, books: dict[str, BookRecord], every: int) -> dict[str, str]:
    """How many of the books named are right, by how sure it was."""
    right: dict[str, list[bool]] = defaultdict(list)
    for row in rows("booksum_books_val"):
        book = books.get(row["book_file"])
        for sentence in sentences(row["summary"])[:A_BOOK][::every] if book else []:
            answer = retriever.answer(f"Find the book in which {sentence}")
            cited = answer.citations[answer.shorts[0].citation].hit if answer.shorts else None
            note(right, answer.confidence, cited is not None and book is not None and cited.book_id == book.id)
    return told(right)


def find_chapters(retriever: Retriever, books: dict[str, BookRecord], every: int) -> dict[str, str]:
    """How many of the chapters named are right, by how sure it was: the cited passage lies in the summarised span."""
    right: dict[str, list[bool]] = defaultdict(list)
    seen: Counter[str] = Counter()
    for row in rows("booksum_chapters_val"):
        own = [each for each in sentences(row["summary"]) if any(word[0].isupper() for word in each.split()[1:])]
        if row["is_aggregate"] or row["book_file"] not in books or not own or seen[row["book_file"]] == A_BOOK:
            continue
        seen[row["book_file"]] += 1
        if seen[row["book_file"]] % every:
            continue
        sentence = own[len(row["summary"]) % len(own)]
        answer = retriever.answer(f"Find the chapter in which {sentence}", book=books[row["book_file"]].id)
        cited = answer.citations[answer.shorts[0].citation] if answer.shorts else None
        note(right, answer.confidence, cited is not None and row["start"] <= cited.quote_start < row["end"])
    return told(right)


def tell_chapters(retriever: Retriever, books: dict[str, BookRecord], every: int) -> dict[str, dict[str, float]]:
    """The digests of chapters beside other choices of sentences: mean shares of words and cosines, x 100."""
    encoder = retriever.vectorizer.encoder
    chapters: dict[tuple[str, int, int], list[str]] = defaultdict(list)
    for row in rows("booksum_chapters_val"):
        if not row["is_aggregate"] and row["book_file"] in books:
            chapters[row["book_file"], row["start"], row["end"]].append(row["summary"])
    figures: dict[str, list[tuple[float, float, float]]] = defaultdict(list)
    for (name, start, end), summaries in sorted(chapters.items())[::every]:
        passages = retriever.store.passages(books[name].id)
        hits = [to_hit(passage) for passage in passages if start <= (passage.start + passage.end) // 2 < end]
        quotes = telling.read_sentences(hits)
        if len(quotes) < 20:
            continue
        texts = [hits[quote.hit].text[quote.start : quote.end] for quote in quotes]
        lengths = np.array([len(text.split()) for text in texts])
        vectors = encoder.encode(texts)
        split_summaries = [split(summary) for summary in summaries]
        told_of = [(encoder.encode(own), at) for own, at in split_summaries]
        places = np.arange(len(texts), dtype=np.float32) / len(texts)
        scores = {
            "first sentences": -places,
            "most similar": score_sentences(vectors, lengths, None),
            "digest": score_sentences(vectors, lengths, telling.weights_of(encoder)),
            "by the summary": judge(vectors, places, told_of),
        }
        for kind, values in scores.items():
            if kind == "first sentences":
                chosen = [int(at) for at in np.flatnonzero(np.cumsum(lengths) <= telling.WORDS)]
            else:
                chosen = telling.choose(values, lengths, telling.SENTENCES)
            quoted = words(" ".join(texts[at] for at in chosen))
            shares = [sum((quoted & words(summary)).values()) / max(1, sum(quoted.values())) for summary in summaries]
            cosines = [float((own @ vectors[chosen].T).max(axis=1).mean()) for own, _ in told_of]
            figures[kind].append((max(shares), max(cosines), float(lengths[chosen].sum())))
    return {
        kind: {"chapters": len(each), "words in the summary": round(100 * shares, 1), "cosine": round(100 * cosines, 1),
               "length": round(length, 1)}
        for kind, each in figures.items()
        for shares, cosines, length in [np.mean(each, axis=0)]
    }  # fmt: skip


def sentences(summary: str) -> list[str]:
    """The sentences of a summary that a question is made of."""
    own = [summary[start:end].rstrip(".!? ") for start, end in sentence_spans(summary)]
    return [each for each in own if SHORTEST <= len(each.split()) <= LONGEST]


def words(text: str) -> Counter[str]:
    """The words of a text without the commonest."""
    return Counter(word for word in re.findall(r"[a-z0-9]+", text.lower()) if word not in COMMON)


def note(right: dict[str, list[bool]], confidence: str | None, is_right: bool) -> None:
    """Count an answer among all and among those of its confidence."""
    right["all"].append(is_right)
    right[confidence or "none"].append(is_right)


def told(right: dict[str, list[bool]]) -> dict[str, str]:
    """Counts as text."""
    return {kind: f"{sum(each)} of {len(each)}" for kind, each in sorted(right.items())}


if __name__ == "__main__":
    main()
