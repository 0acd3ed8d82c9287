"""One text's passages as the model sees them, and queries paired with the right and a wrong one."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from nlb_training.encoder.bert import Bert, Ids
from nlb_training.encoder.books import Span, TokenizedBook
from nlb_training.encoder.mining import WordIndex, align, pick_negatives
from nlb_training.encoder.queries import SOURCES, Query
from nlb_training.encoder.rounds import MARGIN, Pair

_TOP = 12
"""Number of the best wrong passages that hard negatives are drawn from."""
_MOST_NEARER = 0.25
"""A query is dropped if more than this share of the wrong passages is more similar to it than the right one."""


class Passages:
    """A text's passages in one cut, encoded."""

    def __init__(
        self,
        model: Bert,
        book: TokenizedBook,
        limit: int,
        random: np.random.Generator,
        *,
        within: Sequence[Span] | None = None,
    ) -> None:
        self.book = book
        ranges = within or [(0, len(book.ids))]
        self.spans = [span for each in ranges for span in book.cut(limit, each, offset=int(random.integers(4)))]
        self.spans = [span for span in self.spans if span[1] - span[0] >= 8] or self.spans
        texts = [book.ids[start:end] for start, end in self.spans]
        self._vectors = model.encode(texts)
        self._words = WordIndex(texts)
        self._starts = np.array([start for start, _ in self.spans])
        self._ends = np.array([end for _, end in self.spans])

    def pair_bags(
        self, model: Bert, queries: Sequence[Query], ids: Sequence[Ids], random: np.random.Generator
    ) -> list[Pair]:
        """Pair queries whose spans only contain the passage that answers: the most similar one inside is taken."""
        if not queries:
            return []
        similarities, words = self._score(model, ids)
        ranges = [[self.book.find_tokens(span) for span in query.spans] for query in queries]
        inside = self._overlaps(ranges, margin=0, whole=True)
        wrong = ~self._overlaps(ranges, margin=0)
        negatives = pick_negatives(similarities, words, wrong, top=_TOP, random=random)
        positives = np.full(len(queries), -1, dtype=np.int64)
        chains: dict[int, list[int]] = defaultdict(list)
        for row, query in enumerate(queries):
            chains[query.chain if query.chain >= 0 else -1 - row].append(row)
        for rows in chains.values():
            columns = np.flatnonzero(inside[rows[0]])
            if len(columns):
                positions = np.array([queries[row].position for row in rows], dtype=np.float32)
                own = similarities[rows][:, columns]
                ordered = queries[rows[0]].chain >= 0
                positives[rows] = columns[align(own, positions) if ordered else own.argmax(axis=1)]
        return [
            self._pair(query, ids[row], ranges[row], int(positives[row]), int(negatives[row]), lead)
            for row, query in enumerate(queries)
            if positives[row] >= 0 and (lead := _lead(similarities[row], wrong[row], int(positives[row]))) is not None
        ]

    def pair_exact(
        self, model: Bert, queries: Sequence[Query], ids: Sequence[Ids], random: np.random.Generator
    ) -> list[Pair]:
        """Pair queries whose spans are the evidence: a passage that holds at least half of the most is taken."""
        if not queries:
            return []
        similarities, words = self._score(model, ids)
        ranges = [[self.book.find_tokens(span) for span in query.spans] for query in queries]
        wrong = ~self._overlaps(ranges, margin=MARGIN[queries[0].source])
        negatives = pick_negatives(similarities, words, wrong, top=_TOP, random=random)
        shares = self._shares(ranges)
        pairs = []
        for row, query in enumerate(queries):
            best = shares[row].max()
            if best > 0:
                right = np.flatnonzero(shares[row] >= 0.5 * best)
                positive = int(right[similarities[row, right].argmax()])
                lead = _lead(similarities[row], wrong[row], positive)
                if lead is not None:
                    pairs.append(self._pair(query, ids[row], ranges[row], positive, int(negatives[row]), lead))
        return pairs

    def pair_cloze(
        self, model: Bert, made: Sequence[tuple[Ids, int, Span | None]], random: np.random.Generator
    ) -> list[Pair]:
        """Pair the queries of `make_cloze` with the passages that they are from."""
        if not made:
            return []
        similarities, words = self._score(model, [ids for ids, _, _ in made])
        ranges = [[self.spans[index]] for _, index, _ in made]
        wrong = ~self._overlaps(ranges, margin=MARGIN["cloze"])
        negatives = pick_negatives(similarities, words, wrong, top=_TOP, random=random)
        return [
            Pair(
                query=ids,
                source=SOURCES.index("cloze"),
                book=self.book,
                spans=(self.spans[index],),
                positive=self.spans[index],
                hole=hole,
                negative=self.spans[negatives[row]] if negatives[row] >= 0 else None,
                lead=lead,
            )
            for row, (ids, index, hole) in enumerate(made)
            if (lead := _lead(similarities[row], wrong[row], index)) is not None
        ]

    def _pair(self, query: Query, ids: Ids, ranges: list[Span], positive: int, negative: int, lead: float) -> Pair:
        return Pair(
            query=ids,
            text=query.text,
            source=SOURCES.index(query.source),
            book=self.book,
            spans=tuple(ranges),
            positive=self.spans[positive],
            negative=self.spans[negative] if negative >= 0 else None,
            lead=lead,
        )

    def _score(self, model: Bert, ids: Sequence[Ids]) -> tuple[NDArray[np.float32], NDArray[np.float32]]:
        return model.encode(ids) @ self._vectors.T, self._words.score(ids)

    def _overlaps(self, ranges: Sequence[Sequence[Span]], *, margin: int, whole: bool = False) -> NDArray[np.bool_]:
        """(Q, P) which passages touch a query's ranges; `whole`: lie in one for the greater part."""
        result = np.zeros((len(ranges), len(self.spans)), dtype=np.bool_)
        for row, own in enumerate(ranges):
            for a, b in own:
                if whole:
                    shared = np.minimum(self._ends, b) - np.maximum(self._starts, a)
                    result[row] |= 2 * shared >= self._ends - self._starts
                else:
                    result[row] |= (self._starts < b + margin) & (a - margin < self._ends)
        return result

    def _shares(self, ranges: Sequence[Sequence[Span]]) -> NDArray[np.int64]:
        """(Q, P) tokens of a query's ranges that each passage holds."""
        result = np.zeros((len(ranges), len(self.spans)), dtype=np.int64)
        for row, own in enumerate(ranges):
            for a, b in own:
                shared = np.minimum(self._ends, max(b, a + 1)) - np.maximum(self._starts, a)
                result[row] += np.maximum(shared, 0)
        return result


def _lead(similarities: NDArray[np.float32], wrong: NDArray[np.bool_], positive: int) -> float | None:
    """By how much a query's passage leads all wrong ones; None if too many are more similar (`_MOST_NEARER`)."""
    others = similarities[wrong]
    if not len(others):
        return 0.0
    if float((others > similarities[positive]).mean()) > _MOST_NEARER:
        return None
    return float(similarities[positive] - others.max())
