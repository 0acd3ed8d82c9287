"""One search on an open library, from the request to its hits. Every way into the library ends here."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from nlb_retriever.model.vectorizer import EncodedQuery, Vectorizer
from nlb_retriever.records import Hit
from nlb_retriever.search.hits import read_books, read_passages, read_passages_closely, read_sections, widen
from nlb_retriever.search.overlap import Overlap
from nlb_retriever.search.ranking import rank
from nlb_retriever.search.relevance import is_relevant, read_nearest
from nlb_retriever.search.request import SearchRequest
from nlb_retriever.search.reranking import rerank
from nlb_retriever.search.scope import resolve_scope
from nlb_retriever.store import LibraryStore
from nlb_retriever.text.words import word_ids


@dataclass(frozen=True, kw_only=True)
class SearchResult:
    """What a request found, and what was computed on the way."""

    request: SearchRequest
    hits: tuple[Hit, ...]
    """Best first."""
    overlap: Overlap | None = None
    """The query's words in the hits' sentences, hit by hit; None where they were not needed."""
    vectors: EncodedQuery | None = None
    """The query's; None where it was searched by words alone."""


def run_search(request: SearchRequest, store: LibraryStore, load_vectorizer: Callable[[], Vectorizer]) -> SearchResult:
    """Answer a request.

    Args:
        request: what to search for.
        store: the library.
        load_vectorizer: gives its encoders; not called for mode "bm25".

    Raises:
        QueryError: there is no such book or section, or no book has such a metadata key.
        StoreError: the library cannot be read.
        EncoderError: the query cannot be encoded.
    """
    scope = resolve_scope(request, store)
    vectorizer = None if request.mode == "bm25" else load_vectorizer()
    vectors = request.vectors
    if vectors is None and vectorizer is not None:
        vectors = vectorizer.encode_query(request.query)
    limit, overlap, nearest = request.limit, None, None
    with store.session():  # nothing is encoded in it: a writer may wait for its end
        ranking = rank(request, scope, vectors, store)
        if request.level == "book":
            hits = read_books(ranking, limit, store)
        elif request.level == "section":
            if ranking.pools and vectorizer is not None:
                ranking = rerank(ranking, vectors, store, vectorizer)
            hits = read_sections(ranking, limit, store)
        elif ranking.pools:
            hits, overlap = read_passages_closely(request.query, ranking, limit, store)
        else:
            hits = read_passages(ranking, limit, store)
        if request.neighbours and request.level == "passage":
            hits = [widen(hit, request.neighbours, store) for hit in hits]
        if request.relevant_only:
            nearest = read_nearest(ranking, scope, store)
    if request.relevant_only and vectors is not None and vectorizer is not None:
        words = overlap.words if overlap else word_ids(request.query)
        if not is_relevant(words, hits, nearest, vectors, vectorizer):
            return SearchResult(request=request, hits=(), vectors=vectors)
    return SearchResult(request=request, hits=tuple(hits), overlap=overlap, vectors=vectors)
