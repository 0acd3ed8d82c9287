"""The candidates of a request, scored by vectors and words at each level that is combined."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from nlb_retriever.encoding import DEFAULT_ENCODER
from nlb_retriever.model.vectors import EncodedQuery
from nlb_retriever.records import LEVELS, BookRecord, Level
from nlb_retriever.search.fusion import UNSEEN, Pool, combine, make_pool
from nlb_retriever.search.matching import TermMatches
from nlb_retriever.search.question import find_names, kind_of
from nlb_retriever.search.request import SearchRequest
from nlb_retriever.search.scope import Scope
from nlb_retriever.search.titles import find_named
from nlb_retriever.store import Candidate, Condition, LibraryStore, StoreQuery, all_of
from nlb_retriever.text.languages import is_latin

CANDIDATES = 100
"""Most similar, and as many by words, that are scored at each level: with 200, or with every missing score looked up,
results on the dev data are no better; with 30, a little worse."""
FOR_BOOKS = 300
"""The same where vectors alone decide on books, by `SEVERAL` passages of each: among 355 novels 100 are too few."""
WHOLE_WEIGHT = 0.5
"""Weight of a passage's similarity beside that of its most similar span."""
TERMS_WEIGHT: Mapping[Level, float] = {"book": 1.0, "section": 1.5, "passage": 4.0}
"""The same of its terms; for sections of those within its best sentences."""
STATEMENT_WORDS = 6
"""What has fewer may be a book's title."""
LENGTH_WEIGHT = 0.05
"""Of the logarithm of a book's number of passages, which is subtracted from its score: the best of many is better by
chance."""
_NEEDED: Mapping[Level, tuple[Level, ...]] = {
    "book": ("book", "passage"),
    "section": ("section", "passage"),
    "passage": LEVELS,
}
"""Levels whose scores are combined to those of a level, coarse to fine."""


@dataclass(frozen=True, kw_only=True)
class Ranking:
    """All candidates of a request, scored, before their texts are read."""

    scores: Mapping[str, float]
    """Candidate's id -> score."""
    pools: Mapping[Level, Pool]
    """The levels that were combined; empty where the scores are of one level alone."""
    dense: Sequence[Candidate]
    """What the search by vector found at the wanted level, best first."""
    words: Sequence[Candidate]
    """What the search by words found at the wanted level, best first."""
    matches: TermMatches | None = None
    """Of the passages whose terms were compared."""

    def top(self, count: int) -> list[str]:
        """Ids of the best candidates."""
        return sorted(self.scores, key=lambda each: (-self.scores[each], each))[:count]


def rank(request: SearchRequest, scope: Scope, vectors: EncodedQuery | None, store: LibraryStore) -> Ranking:
    """Find and score the candidates of a request.

    Args:
        request: what to search for.
        scope: its scope in this library.
        vectors: its query's; None for words alone.
        store: the library.
    """
    flat = request.strategy == "flat" or request.mode == "bm25"
    levels: tuple[Level, ...] = (request.level,) if flat else _NEEDED[request.level]
    least = FOR_BOOKS if request.level == "book" and request.mode == "dense" else CANDIDATES
    count = max(least, request.limit) if request.limit else 0
    queries: list[StoreQuery] = []
    for level in levels:
        where = scope.filter(level)
        if vectors is not None and request.mode != "bm25":
            queries.append(StoreQuery(level=level, dense=vectors.at(level), where=where, limit=count))
        if request.mode != "dense":
            queries.append(StoreQuery(level=level, text=request.query, where=where, limit=count))
    dense: dict[Level, list[Candidate]] = {level: [] for level in levels}
    words: dict[Level, list[Candidate]] = {level: [] for level in levels}
    for query, found in zip(queries, store.search(queries), strict=True):
        (words if query.dense is None else dense)[query.level] = found
    level = request.level
    if flat and request.mode != "fused":
        scores = {candidate.id: candidate.score for candidate in dense[level] or words[level]}
        return Ranking(scores=scores, pools={}, dense=dense[level], words=words[level])
    compared: list[Candidate] = []
    matches = None
    unread = request.mode == "fused" and store.manifest.chunk_encoder == DEFAULT_ENCODER and not is_latin(request.query)
    if vectors is not None and not flat:
        passages = {each.id: each for each in (*dense["passage"], *words["passage"])}
        if len(vectors.terms) and not unread and _wants_terms(request, vectors):
            matches = TermMatches(vectors.terms, store.terms([*passages]))
        if matches or _wants_spans(request, vectors):
            compared = _compare_parts(passages, dense["passage"], vectors, _similarities(matches, level), store)
            dense["passage"] = compared or dense["passage"]
    pools = {each: make_pool(each, dense[each], words[each], unread=unread) for each in levels}
    if compared:
        pools["passage"] = make_pool(
            "passage", compared, words["passage"], with_spans=True, with_terms=matches is not None, unread=unread
        )
    if flat:
        return Ranking(scores=pools[level].scores, pools={}, dense=dense[level], words=words[level])
    scores = combine(level, pools, without_names=_names_nobody(request))
    if level == "book":
        books = store.books()
        scores = _correct_for_length(scores, books)
        if vectors is not None and request.mode == "fused" and (named := find_named(request.query, books)):
            where = all_of(scope.filter(level), Condition("book_id", "in", tuple(book.id for book in named)))
            query = StoreQuery(level=level, dense=vectors.at(level), where=where, limit=len(named))
            scores = _put_first(store.search([query])[0], scores)
    return Ranking(scores=scores, pools=pools, dense=dense[level], words=words[level], matches=matches)


def _correct_for_length(scores: Mapping[str, float], books: Sequence[BookRecord]) -> dict[str, float]:
    """Scores of books, less what long ones have too much."""
    lengths = {book.uuid: book.passages for book in books}
    return {each: score - LENGTH_WEIGHT * math.log(lengths.get(each, 1)) for each, score in scores.items()}


def _put_first(first: Sequence[Candidate], scores: Mapping[str, float]) -> dict[str, float]:
    """Scores of which some candidates have more than any other, in their own order."""
    best, worst = max(scores.values(), default=0.0), min(scores.values(), default=0.0)
    return {**scores, **{each.id: 1 + best + scores.get(each.id, worst) - worst for each in first}}


def _wants_spans(request: SearchRequest, vectors: EncodedQuery) -> bool:
    """Whether the spans of passages help: a summary has too much for one, and vectors alone rank books by several."""
    if request.level == "passage":
        return True
    return len(vectors.sentences) == 1 and (request.level == "section" or request.mode == "fused")


def _wants_terms(request: SearchRequest, vectors: EncodedQuery) -> bool:
    """Whether terms help: which books have a query's words, the search by words knows already."""
    return request.mode == "dense" if request.level == "book" else _wants_spans(request, vectors)


def _similarities(matches: TermMatches | None, level: Level) -> dict[str, float]:
    """The similarity of passages' terms, weighted."""
    found = {} if matches is None else matches.closely if level == "section" else matches.whole
    return {each: TERMS_WEIGHT[level] * similarity for each, similarity in found.items()}


def _names_nobody(request: SearchRequest) -> bool:
    """Whether a query has no names and so its best passage decides: for books, where it is a statement.

    Which book a question without names is about, the book as a whole tells as well, and what has few words may be a
    book's title.
    """
    query = request.query
    if find_names(query):
        return False
    return request.level != "book" or (kind_of(query) is None and len(query.split()) >= STATEMENT_WORDS)


def _compare_parts(
    passages: Mapping[str, Candidate],
    dense: Sequence[Candidate],
    vectors: EncodedQuery,
    terms: Mapping[str, float],
    store: LibraryStore,
) -> list[Candidate]:
    """Passages with the similarity of their most similar span, their own and that of their terms, best first.

    Empty where the spans of one of them have no vectors, so that it could not be compared: its book was indexed by a
    former version, or with a chunk encoder that makes none.

    Args:
        passages: all that were found, by id.
        dense: those found by vector.
        vectors: the query's.
        terms: the similarity of their terms, weighted, by id, if it counts.
        store: the library, in a session.
    """
    ids = tuple(passages)
    [found] = store.search([StoreQuery(level="passage", dense=vectors.whole, spans=True, ids=ids, limit=len(ids))])
    if len(found) < len(ids):
        return []
    whole = {each.id: each.score for each in dense}
    unseen = UNSEEN * min(whole.values(), default=0.0)
    scores = {
        each.id: each.score + WHOLE_WEIGHT * whole.get(each.id, unseen) + terms.get(each.id, 0.0) for each in found
    }
    return [
        Candidate(id=each, score=score, book_id=passages[each].book_id, section_id=passages[each].section_id)
        for each, score in sorted(scores.items(), key=lambda pair: (-pair[1], pair[0]))
    ]
