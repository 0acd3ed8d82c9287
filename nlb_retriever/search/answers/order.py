"""The order of answering: by the form of a question, where it has one, else from the passages found for it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

from nlb_retriever.encoding import ChunkEncoder
from nlb_retriever.reader import Reader
from nlb_retriever.records import Answer
from nlb_retriever.search.answers.about_book import answer_about_book
from nlb_retriever.search.answers.answer import compose_all, compose_answer
from nlb_retriever.search.answers.catalog import answer_catalog
from nlb_retriever.search.answers.cells import answer_cell
from nlb_retriever.search.answers.definition import answer_definition
from nlb_retriever.search.answers.digest import answer_digest
from nlb_retriever.search.answers.labels import answer_label
from nlb_retriever.search.answers.manual_entries import put_entries_first
from nlb_retriever.search.answers.narrowing import narrow_to_date, narrow_to_part
from nlb_retriever.search.answers.numbered import answer_numbered
from nlb_retriever.search.answers.places import answer_place
from nlb_retriever.search.answers.quotation import answer_quotation, name_speaker
from nlb_retriever.search.answers.record_abroad import record_in_english
from nlb_retriever.search.answers.statements import answer_statement
from nlb_retriever.search.answers.who import answer_who
from nlb_retriever.search.request import SearchRequest
from nlb_retriever.search.run import SearchResult
from nlb_retriever.search.titles import narrow_to_title
from nlb_retriever.store import LibraryStore


@dataclass(frozen=True, kw_only=True)
class Means:
    """What answers are made with. Encoder and reader are loaded where they are needed."""

    store: LibraryStore
    run: Callable[[SearchRequest], SearchResult]
    """Answers a request."""
    load_encoder: Callable[[], ChunkEncoder]
    load_reader: Callable[[], Reader] | None
    """None where there is no reader."""


def answer_question(request: SearchRequest, means: Means, limit: int | None, *, all_passages: bool) -> Answer:
    """The answer to a request, by the first road that has one; takes what `Retriever.answer` does."""
    store, load_reader = means.store, means.load_reader
    answer = find_record(request, store, limit)
    if answer is None:
        request = narrow(request, store)
        answer = find_place(request, means, limit, all_passages=all_passages)
    if answer:
        return answer
    result = means.run(narrow_to_part(request, store))
    if result.searched:
        answer = answer_about_book(result.request, store, limit)
        if answer is None and not all_passages:
            answer = answer_definition(result.request, store, load_reader, limit)
    if answer is None and result.readings and load_reader and not all_passages:
        answer = (
            answer_who(result, store, load_reader(), limit)
            or answer_cell(result, store, limit)
            or answer_statement(result, store, limit)
        )
        if answer is None:
            result = put_entries_first(result, store, load_reader())
    if answer is None:
        answer = compose_all(result) if all_passages else name_speaker(compose_answer(result, limit), store)
    return replace(answer, searched=result.searched)


def find_record(request: SearchRequest, store: LibraryStore, limit: int | None = None) -> Answer | None:
    """What a question on the library or on a book as a whole asks; else None. No search is made, no encoder loaded."""
    if (query := record_in_english(request.query)) != request.query:
        request = replace(request, query=query)
    return answer_catalog(request, store, limit) or answer_about_book(request, store, limit)


def narrow(request: SearchRequest, store: LibraryStore) -> SearchRequest:
    """A question put to the book and then to the day that it names."""
    return narrow_to_date(narrow_to_title(request, store), store)


def find_place(
    request: SearchRequest, means: Means, limit: int | None = None, *, all_passages: bool = False
) -> Answer | None:
    """What a question on a term, figure or chapter, for quoted words, a book, chapter or scene finds; else None."""
    store, run, load_reader = means.store, means.run, means.load_reader
    load_encoder = None if request.mode == "bm25" else means.load_encoder
    return (
        answer_label(request, store, limit)
        or answer_numbered(request, store, limit)
        or (None if all_passages else answer_definition(request, store, load_reader, limit))
        or answer_quotation(request, store, run, load_reader, limit)
        or answer_digest(request, store, load_encoder, limit)
        or answer_place(request, store, run, load_reader, limit, all_passages=all_passages)
    )
