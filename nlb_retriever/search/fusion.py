"""Meaning and words brought to one score, and the levels to each other.

Each list of scores is divided by its best one, so that a lead stays a lead (ranks alone throw it
away), then the kinds of evidence are added with fixed weights. Chosen on the dev books; weights chosen
on one half of them gain on the other half on average, though not on every set. benchmarks/quality.py
prints what they bring.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from nlb_retriever.records import Level
from nlb_retriever.store import StoredPoint

DENSE_WEIGHT: Mapping[Level, float] = {"book": 0.5, "section": 0.5, "passage": 0.3}
"""Weight of a point's nearness in meaning, beside 1 for its words (BM25)."""
UNSEEN = 0.5
"""Nearness of a point that only words found, in parts of the lowest that vectors found: looked up, the median is 0.4 to
0.6 of it on three libraries, and to look each up brings no more."""
BEST_PASSAGE_WEIGHT: Mapping[Level, float] = {"book": 0.5, "section": 0.3}
"""Weight of its best passage for a book or section."""
SECTION_WEIGHT = 0.25
BOOK_WEIGHT = 0.05
"""Weights of a passage's section and of its book."""


@dataclass(frozen=True, kw_only=True)
class Pool:
    """The candidates of one level, each with what its own vectors and words say."""

    scores: Mapping[str, float]
    """Point id -> score."""
    payloads: Mapping[str, Mapping[str, object]]

    @property
    def lowest(self) -> float:
        return min(self.scores.values(), default=0.0)

    def score(self, point: object) -> float:
        """A point's score; the lowest of the pool for one that is not in it."""
        return self.scores.get(str(point), self.lowest)

    def best_by(self, key: str) -> dict[str, tuple[float, str]]:
        """Best score and its point, by the value of a payload key."""
        best: dict[str, tuple[float, str]] = {}
        for point, score in self.scores.items():
            value = str(self.payloads[point][key])
            if value not in best or score > best[value][0]:
                best[value] = (score, point)
        return best


def make_pool(level: Level, dense: Sequence[StoredPoint], words: Sequence[StoredPoint]) -> Pool:
    """Join what a search by vector and one by words found.

    A point that only words found gets a part of the lowest nearness of the other list, one that only
    the vector found has no words.
    """
    near = _over_best(dense)
    said = _over_best(words)
    lowest = min(near.values(), default=0.0)
    floor = min(lowest, UNSEEN * lowest)  # half of what is below zero would be nearer
    weight = DENSE_WEIGHT[level]
    payloads = {point.id: point.payload for point in (*dense, *words)}
    return Pool(
        scores={point: said.get(point, 0.0) + weight * near.get(point, floor) for point in payloads},
        payloads=payloads,
    )


def _over_best(points: Sequence[StoredPoint]) -> dict[str, float]:
    best = max((point.score for point in points), default=0.0)
    return {point.id: point.score / best for point in points} if best > 0 else {point.id: 0.0 for point in points}


def from_passages(level: Level, pool: Pool, passages: Pool) -> dict[str, float]:
    """Scores of books or sections: their own and their best passage's."""
    best = passages.best_by("book_id" if level == "book" else "section_id")
    weight = BEST_PASSAGE_WEIGHT[level]
    owner = {point: str(payload["book_id"]) if level == "book" else point for point, payload in pool.payloads.items()}
    return {
        point: score + weight * best.get(owner[point], (passages.lowest, ""))[0] for point, score in pool.scores.items()
    }


def from_levels_above(passages: Pool, sections: Pool, books: Pool) -> dict[str, float]:
    """Scores of passages: their own, their section's and their book's."""
    book_scores = from_passages("book", books, passages)
    by_book = {str(books.payloads[point]["book_id"]): score for point, score in book_scores.items()}
    lowest = min(by_book.values(), default=0.0)
    return {
        point: score
        + SECTION_WEIGHT * sections.score(passages.payloads[point]["section_id"])
        + BOOK_WEIGHT * by_book.get(str(passages.payloads[point]["book_id"]), lowest)
        for point, score in passages.scores.items()
    }
