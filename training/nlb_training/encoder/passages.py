"""One text's passages as the model sees them, and for each query those that may answer it and those that do not."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from nlb_training.encoder.bert import Bert, Ids
from nlb_training.encoder.books import Span, TermIds, TokenizedBook
from nlb_training.encoder.mining import WordIndex, find_inside, find_wrong
from nlb_training.encoder.queries import SOURCES, Query, Source
from nlb_training.encoder.rounds import MARGIN, Candidate, Example
from nlb_training.encoder.similarity import SpanIndex, cut_spans

EXACT: frozenset[Source] = frozenset({"tale", "article", "plot"})
"""Sources whose spans are the evidence, or may be; the others' only contain the passage that answers."""
_SHORTEST = 8
"""Tokens of a passage."""
_JUMP = 3.0
"""What a distance of the whole chapter from a sentence's place in the summary takes off, in standard deviations."""


class Passages:
    """A text's passages in one cut, encoded.

    Args:
        model: encodes them.
        book: the text.
        limit: tokens of a passage, special ones counted.
        random: moves the borders.
        within: ranges of tokens that they lie in; default: all.
    """

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
        self.spans = [span for span in self.spans if span[1] - span[0] >= _SHORTEST] or self.spans
        texts = [book.ids[start:end] for start, end in self.spans]
        self._index = SpanIndex(model, texts, [cut_spans(book, span) for span in self.spans])
        self._words = WordIndex(texts)
        self._starts = np.array([start for start, _ in self.spans])
        self._ends = np.array([end for _, end in self.spans])

    @property
    def vectors(self) -> NDArray[np.float32]:
        """(P, D) of whole passages."""
        return self._index.wholes

    def find(
        self,
        model: Bert,
        queries: Sequence[Query],
        ids: Sequence[Ids],
        terms: Sequence[TermIds],
        random: np.random.Generator,
    ) -> list[Example]:
        """Examples of one source's queries; without those that no passage may answer.

        Args:
            model: encodes the queries.
            queries: of one source, on this text.
            ids: their tokens.
            terms: of these.
            random: draws wrong passages.
        """
        if not queries:
            return []
        source = queries[0].source
        ranges = [[self.book.find_tokens(span) for span in query.spans] for query in queries]
        shares = self._shares(ranges, whole=source not in EXACT)
        if source == "plot":  # each place with the answer's words may be the one that is meant
            shares = np.minimum(shares, 1)
        best = shares.max(axis=1, keepdims=True)
        inside = (shares >= 0.5 * best) & (best > 0)
        places = np.zeros(shares.shape, dtype=np.float32)
        for row, query in enumerate(queries):
            if query.position is not None:
                (start, end), *_ = ranges[row]
                middles = ((self._starts + self._ends) / 2 - start) / max(1, end - start)
                places[row] = _JUMP * np.abs(middles - query.position)
        texts = [query.text for query in queries]
        return self._examples(model, source, ids, terms, texts, ranges, inside, places, random)

    def find_cloze(
        self, model: Bert, made: Sequence[tuple[Ids, TermIds, int, Span | None]], random: np.random.Generator
    ) -> list[Example]:
        """Examples of the queries of `make_cloze`, for the passages that they are from."""
        if not made:
            return []
        inside = np.zeros((len(made), len(self.spans)), dtype=np.bool_)
        ids, terms, indexes, holes = zip(*made, strict=True)
        inside[np.arange(len(made)), indexes] = True
        ranges = [[self.spans[index]] for index in indexes]
        texts = [""] * len(made)
        places = np.zeros(inside.shape, dtype=np.float32)
        return self._examples(model, "cloze", ids, terms, texts, ranges, inside, places, random, holes=holes)

    def _examples(
        self,
        model: Bert,
        source: Source,
        ids: Sequence[Ids],
        terms: Sequence[TermIds],
        texts: Sequence[str],
        ranges: Sequence[Sequence[Span]],
        inside: NDArray[np.bool_],
        places: NDArray[np.float32],
        random: np.random.Generator,
        *,
        holes: Sequence[Span | None] | None = None,
    ) -> list[Example]:
        vectors = model.encode(ids)
        similarities, words = self._index.score(vectors), self._words.score(ids)
        wrong = ~self._touched(ranges, margin=MARGIN[source]) & ~inside
        right = find_inside(similarities, words, places, inside)
        others = find_wrong(similarities, words, wrong, random)
        return [
            Example(
                query=ids[row],
                query_terms=terms[row],
                vector=vectors[row],
                text=texts[row],
                source=SOURCES.index(source),
                book=self.book,
                spans=tuple(ranges[row]),
                hole=holes[row] if holes else None,
                candidates=(
                    *(Candidate(book=self.book, span=self.spans[index], inside=True) for index in right[row]),
                    *(Candidate(book=self.book, span=self.spans[index]) for index in others[row]),
                ),
            )
            for row in range(len(ids))
            if len(right[row])
        ]

    def _touched(self, ranges: Sequence[Sequence[Span]], *, margin: int) -> NDArray[np.bool_]:
        """(Q, P) which passages touch a query's ranges, or lie beside one."""
        result = np.zeros((len(ranges), len(self.spans)), dtype=np.bool_)
        for row, own in enumerate(ranges):
            for a, b in own:
                result[row] |= (self._starts < b + margin) & (a - margin < self._ends)
        return result

    def _shares(self, ranges: Sequence[Sequence[Span]], *, whole: bool) -> NDArray[np.int64]:
        """(Q, P) tokens of a query's ranges that each passage holds; `whole`: 1 for those that lie in one, mostly."""
        result = np.zeros((len(ranges), len(self.spans)), dtype=np.int64)
        for row, own in enumerate(ranges):
            for a, b in own:
                shared = np.minimum(self._ends, max(b, a + 1)) - np.maximum(self._starts, a)
                result[row] += 2 * shared >= self._ends - self._starts if whole else np.maximum(shared, 0)
        return result
