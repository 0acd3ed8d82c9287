"""Vectors and words combined to one score, and the scores of the levels combined.

Each list of scores is divided by its best one, so that margins are kept (ranks alone lose them), then the
kinds of evidence are added with fixed weights. Chosen on the dev books; weights chosen on one half of them
gain on the other half on average, though not on every set. benchmarks/quality.py prints what they bring.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from statistics import fmean

from nlb_retriever.records import Level
from nlb_retriever.store import Candidate

DENSE_WEIGHT: Mapping[Level, float] = {"book": 0.4, "section": 0.65, "passage": 0.6}
"""Weight of a candidate's similarity, beside 1 for its words (BM25)."""
WITH_SPANS = 1.3
"""The same for passages whose spans were compared, too: they tell more."""
WITH_TERMS = 5.0
"""The same where the terms were, too."""
UNREAD = 0.15
"""Share of these weights where the chunk encoder hardly knows the query's letters: on questions in Russian, Japanese,
Chinese and Korean 0.1 to 0.25 are best (docs/benchmarks.md)."""
UNSEEN = 0.5
"""Similarity of what only words found, as a share of the lowest that vectors found: measured on three libraries, the
median is 0.4 to 0.6 of it, and to look each up brings no more."""
BEST_PASSAGE_WEIGHT: Mapping[Level, float] = {"book": 1.2, "section": 0.45}
"""Weight of its best passage, whose score is divided by the highest, for a book or section."""
BEST_WITH_SPANS: Mapping[Level, float] = {"book": 1.5, "section": 1.2}
"""The same where its spans were compared, too."""
BEST_WITHOUT_NAMES: Mapping[Level, float] = {"book": 5.0, "section": 4.0}
"""The same for queries that name nobody: what they tell of is in one place, and the rest of the section or book is as
similar to them as others."""
BEST_WITHOUT_WORDS = 3.0
"""Weight of a book's best passage where vectors alone decide and terms were compared: these know names."""
SEVERAL, SEVERAL_WEIGHT = 5, 1.2
"""So many of a book's best passages, and the weight of their mean, where vectors alone decide on books: a similar
passage says less about its book than one with the query's words. Beside words it brings nothing."""
SECTION_WEIGHT = 0.25
BOOK_WEIGHT = 0.05
"""Weights of a passage's section and of its book."""
SECTION_WITH_SPANS, BOOK_WITH_SPANS = 0.4, 0.1
"""The same where its spans were compared, too, since its own score is higher then."""
SECTION_WITH_TERMS, BOOK_WITH_TERMS = 1.2, 0.4
"""The same where their terms were, too."""
SECTION_WITHOUT_NAMES, BOOK_WITHOUT_NAMES = 0.9, 0.15
"""The same for queries that name nobody: which book they are about, its other passages hardly tell."""
SECTION_WITHOUT_WORDS, BOOK_WITHOUT_WORDS = 0.0, 0.1
"""The same where vectors alone decide: the passage's own tells where it stands."""


@dataclass(frozen=True, kw_only=True)
class Pool:
    """The candidates of one level, each scored by its own vector and words."""

    scores: Mapping[str, float]
    """Candidate's id -> score."""
    candidates: Mapping[str, Candidate]
    has_words: bool = True
    """Whether words found some of them."""
    with_spans: bool = False
    """Whether they are passages whose spans were compared, too."""
    with_terms: bool = False
    """Whether their terms were, too."""

    @property
    def lowest(self) -> float:
        return min(self.scores.values(), default=0.0)

    @property
    def highest(self) -> float:
        """1 where nothing was found or all is 0, so that scores can be divided by it."""
        return max(self.scores.values(), default=0.0) or 1.0

    def best_passages(self, level: Level) -> dict[str, tuple[float, str]]:
        """Of a pool of passages: best score and its passage, by id of the book or section that they are in."""
        best: dict[str, tuple[float, str]] = {}
        for passage, score in self.scores.items():
            candidate = self.candidates[passage]
            owner = (candidate.book_id if level == "book" else candidate.section_id) or ""
            if owner not in best or score > best[owner][0]:
                best[owner] = (score, passage)
        return best

    def mean_of_several(self) -> dict[str, float]:
        """Of a pool of passages: mean score of each book's best ones, by the book's id.

        Where fewer of a book's passages were found, the others count as the lowest found.
        """
        lowest = self.lowest
        of_books: dict[str, list[float]] = {}
        for passage, score in self.scores.items():
            of_books.setdefault(self.candidates[passage].book_id or "", []).append(score)
        return {
            book: fmean([*sorted(scores, reverse=True), *[lowest] * SEVERAL][:SEVERAL])
            for book, scores in of_books.items()
        }


def make_pool(
    level: Level,
    dense: Sequence[Candidate],
    words: Sequence[Candidate],
    *,
    with_spans: bool = False,
    with_terms: bool = False,
    unread: bool = False,
) -> Pool:
    """Join what a search by vector and one by words found.

    A candidate that only words found gets a share of the lowest similarity of the other list, one that only the
    vector found has no words.

    Args:
        level: of the candidates.
        dense: found by vector, or compared with the query's.
        words: found by words.
        with_spans: whether the spans of passages were compared, too.
        with_terms: whether their terms were, too.
        unread: whether the chunk encoder hardly knows the query's letters.
    """
    similarity = _over_best(dense)
    overlap = _over_best(words)
    lowest = min(similarity.values(), default=0.0)
    floor = min(lowest, UNSEEN * lowest)  # half of what is below zero would be more similar
    weight = WITH_TERMS if with_terms else WITH_SPANS if with_spans else DENSE_WEIGHT[level]
    weight *= UNREAD if unread else 1.0
    candidates = {candidate.id: candidate for candidate in (*dense, *words)}
    return Pool(
        scores={each: overlap.get(each, 0.0) + weight * similarity.get(each, floor) for each in candidates},
        candidates=candidates,
        has_words=bool(words),
        with_spans=with_spans,
        with_terms=with_terms,
    )


def _over_best(candidates: Sequence[Candidate]) -> dict[str, float]:
    best = max((candidate.score for candidate in candidates), default=0.0)
    return {candidate.id: candidate.score / best if best > 0 else 0.0 for candidate in candidates}


def combine(level: Level, pools: Mapping[Level, Pool], *, without_names: bool = False) -> dict[str, float]:
    """Scores of a level's candidates from the pools of all levels that are combined.

    Args:
        level: of the candidates.
        pools: of the levels that are combined.
        without_names: whether the query names nobody, which counts where spans or terms were compared.
    """
    if level == "passage":
        return from_levels_above(pools["passage"], pools["section"], pools["book"], without_names=without_names)
    scores = from_passages(level, pools[level], pools["passage"], without_names=without_names)
    return scores if level == "section" or pools["passage"].has_words else _add_several(scores, pools)


def _add_several(scores: Mapping[str, float], pools: Mapping[Level, Pool]) -> dict[str, float]:
    passages, books = pools["passage"], pools["book"].candidates
    weight = SEVERAL_WEIGHT / passages.highest
    means, lowest = passages.mean_of_several(), passages.lowest
    return {each: score + weight * means.get(books[each].book_id or "", lowest) for each, score in scores.items()}


def from_passages(level: Level, pool: Pool, passages: Pool, *, without_names: bool = False) -> dict[str, float]:
    """Scores of books or sections: their own and their best passage's."""
    best = passages.best_passages(level)
    weights = BEST_PASSAGE_WEIGHT
    if passages.with_spans:
        weights = BEST_WITHOUT_NAMES if without_names else BEST_WITH_SPANS
    wanted = weights[level]
    if level == "book" and passages.with_terms and not passages.has_words:
        wanted = BEST_WITHOUT_WORDS
    weight = wanted / passages.highest
    lowest = passages.lowest
    owners = {each: pool.candidates[each].book_id if level == "book" else each for each in pool.scores}
    return {each: score + weight * best.get(owners[each] or "", (lowest, ""))[0] for each, score in pool.scores.items()}


def from_levels_above(passages: Pool, sections: Pool, books: Pool, *, without_names: bool = False) -> dict[str, float]:
    """Scores of passages: their own, their section's and their book's."""
    book_scores = from_passages("book", books, passages)
    by_book = {books.candidates[each].book_id: score for each, score in book_scores.items()}
    lowest_book, lowest_section = min(by_book.values(), default=0.0), sections.lowest
    section_weight, book_weight = SECTION_WEIGHT, BOOK_WEIGHT
    if passages.with_spans:
        section_weight, book_weight = SECTION_WITH_SPANS, BOOK_WITH_SPANS
        if passages.with_terms:
            section_weight, book_weight = SECTION_WITH_TERMS, BOOK_WITH_TERMS
            if without_names:
                section_weight, book_weight = SECTION_WITHOUT_NAMES, BOOK_WITHOUT_NAMES
        if not passages.has_words:
            section_weight, book_weight = SECTION_WITHOUT_WORDS, BOOK_WITHOUT_WORDS
    return {
        each: score
        + section_weight * sections.scores.get(passages.candidates[each].section_id or "", lowest_section)
        + book_weight * by_book.get(passages.candidates[each].book_id, lowest_book)
        for each, score in passages.scores.items()
    }
