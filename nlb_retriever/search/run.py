"""One search on an open library, from the request to its hits. Every way into the library ends here."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property

from nlb_retriever.model.vectorizer import Vectorizer
from nlb_retriever.model.vectors import EncodedQuery
from nlb_retriever.reader import Reader, Reading
from nlb_retriever.records import Hit
from nlb_retriever.search.heading_fit import heading_fits
from nlb_retriever.search.hits import fetch_hits, in_works, widen
from nlb_retriever.search.overlap import Overlap, find_overlap
from nlb_retriever.search.question import restore_capitals
from nlb_retriever.search.ranking import rank
from nlb_retriever.search.readings import READ, READ_TO_ANSWER, order_sections, read_hits
from nlb_retriever.search.relevance import JUDGED, Judgement, is_abroad, judge_relevance, share_of_words
from nlb_retriever.search.request import SearchRequest
from nlb_retriever.search.reranking import rerank
from nlb_retriever.search.scope import Scope, resolve_scope
from nlb_retriever.search.spelling import respell
from nlb_retriever.store import LibraryStore
from nlb_retriever.store.filters import is_searched, weaken
from nlb_retriever.text.languages import ENGLISH, language_of_query


@dataclass(frozen=True, kw_only=True)
class SearchResult:
    """What a request found, and what was computed on the way."""

    request: SearchRequest
    """As it was carried out: its query is `searched`, where there is that."""
    hits: tuple[Hit, ...]
    """Best first."""
    vectors: EncodedQuery | None = None
    """The query's; None where it was searched by words alone."""
    searched: str | None = None
    """The query in the books' spelling (search/spelling.py), where that is another and was searched for instead."""
    readings: tuple[Reading, ...] = ()
    """What the reader says about the first hits; none where it did not take part."""
    facts: float = 0.0
    """How far the passages are about facts of the world, 0 to 1, where that was judged."""
    language: str = ENGLISH
    """Whose inflections the query's words have."""
    compared: Overlap | None = field(default=None, repr=False, compare=False)
    """`overlap`, where the search needed it."""

    @cached_property
    def overlap(self) -> Overlap:
        """The query's words in the hits' sentences, hit by hit."""
        return self.compared or find_overlap(self.request.query, [hit.text for hit in self.hits], self.language)

    @cached_property
    def heading_fits(self) -> tuple[float, ...]:
        """How well the heading of each hit's section fits the question."""
        return heading_fits(self.request.question, self.hits)


def run_search(
    request: SearchRequest,
    store: LibraryStore,
    load_vectorizer: Callable[[], Vectorizer],
    load_reader: Callable[[], Reader],
) -> SearchResult:
    """Answer a request.

    Args:
        request: what to search for.
        store: the library.
        load_vectorizer: gives its encoders; not called for mode "bm25".
        load_reader: gives the reader; called where a short question's passages are to be reranked.

    Raises:
        QueryError: there is no such book or section, or no book has such a metadata key.
        StoreError: the library cannot be read.
        EncoderError: the query cannot be encoded, or the reader cannot be loaded.
    """
    scope = resolve_scope(request, store)
    vectorizer = None if request.mode == "bm25" else load_vectorizer()
    vectors, searched = request.vectors, None
    language = language_of_query(request.query, store.languages())
    if vectors is None and vectorizer is not None:
        with store.session():
            searched = respell(request.query, scope, vectorizer, store, language)
        request = replace(request, query=searched) if searched else request
        vectors = vectorizer.encode_query(request.query)
    reader = load_reader() if request.rerank and request.is_readable and language == ENGLISH else None
    limit = request.limit
    read_at_least = (READ if request.diversify else READ_TO_ANSWER) if reader else 0
    passages_of_sections: list[Hit] = []
    count = max(limit, read_at_least, JUDGED if request.relevant_only else 0) if limit else 0
    with store.session():  # all of it sees one moment of the library
        hits, overlap = _find(request, scope, vectors, count, store, vectorizer)
        if reader and (restored := restore_capitals(request.query, [hit.text for hit in hits])) != request.query:
            request = replace(request, query=restored)  # its names count
            hits, overlap = _find(request, scope, vectors, count, store, vectorizer)
        of_other_language = reader is not None and request.level == "passage" and is_abroad(request.query, hits)
        reader = None if of_other_language else reader
        if reader and request.level == "section":
            within = replace(request, level="passage")
            passages_of_sections, _ = fetch_hits(within, rank(within, scope, vectors, store), count and READ, store)
        passages, share = 0, 0.0
        if request.relevant_only:
            where = weaken(scope.filter("passage"), is_searched)
            passages = store.count("passage", where)
            titles = " ".join((hits[0].title, *hits[0].section)) if hits else ""
            share = share_of_words(request.query, where, store, passages=passages, titles=titles, language=language)
    found = in_works(hits[:JUDGED], store) if request.relevant_only else hits
    readings: tuple[Reading, ...] = ()
    order: Sequence[int] = range(len(hits))
    if reader and request.level == "section":
        hits = order_sections(request.question, hits, passages_of_sections, reader)
    elif reader:
        diversify = request.diversify and request.kind is not None
        read = read_hits(request.question, hits, reader, diversify=diversify)
        hits, readings, order = list(read.hits), read.readings, read.order
    judgement = Judgement(relevant=True)
    if request.relevant_only and not of_other_language:
        judgement = judge_relevance(
            request.query,
            found,
            readings,
            vectors,
            vectorizer,
            share=share,
            passages=passages,
            in_book=scope.book is not None,
            language=language,
        )
    if not judgement.relevant:
        return SearchResult(request=request, hits=(), vectors=vectors, searched=searched)
    hits, overlap = hits[:limit], overlap.of(order[:limit]) if overlap else None
    if request.neighbours and request.level == "passage":
        with store.session():
            hits, overlap = [widen(hit, request.neighbours, store) for hit in hits], None
    return SearchResult(
        request=request,
        hits=tuple(hits),
        vectors=vectors,
        searched=searched,
        readings=readings[:limit],
        facts=judgement.facts,
        language=language,
        compared=overlap,
    )


def _find(
    request: SearchRequest,
    scope: Scope,
    vectors: EncodedQuery | None,
    count: int,
    store: LibraryStore,
    vectorizer: Vectorizer | None,
) -> tuple[list[Hit], Overlap | None]:
    """The best hits, before they are read, and their overlap with the query where it was needed."""
    ranking = rank(request, scope, vectors, store)
    if request.level == "section" and request.mode == "fused" and ranking.pools and vectorizer is not None:
        ranking = rerank(request.query, ranking, vectors, store, vectorizer)
    return fetch_hits(request, ranking, count, store)
