"""Book, section and passage retrieval over very long documents.

    from nlb_retriever import Retriever, index_files

    index_files(["./books"])
    with Retriever() as retriever:
        hits = retriever.search("a duel at dawn", level="section")
        print(retriever.answer("Who is hunting the white whale?").text)

Names are resolved when first used, so that importing the package loads no model library.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from nlb_retriever.config import Manifest as Manifest
    from nlb_retriever.encoding.base import ChunkEncoder as ChunkEncoder
    from nlb_retriever.errors import EncoderError as EncoderError
    from nlb_retriever.errors import LanguageModelError as LanguageModelError
    from nlb_retriever.errors import LibraryBusy as LibraryBusy
    from nlb_retriever.errors import LibraryDamaged as LibraryDamaged
    from nlb_retriever.errors import LibraryNotFound as LibraryNotFound
    from nlb_retriever.errors import LibraryRebuilt as LibraryRebuilt
    from nlb_retriever.errors import MismatchError as MismatchError
    from nlb_retriever.errors import MissingExtra as MissingExtra
    from nlb_retriever.errors import NlbError as NlbError
    from nlb_retriever.errors import NotABook as NotABook
    from nlb_retriever.errors import QueryError as QueryError
    from nlb_retriever.errors import ReadingError as ReadingError
    from nlb_retriever.errors import ReadingLimit as ReadingLimit
    from nlb_retriever.errors import StoreError as StoreError
    from nlb_retriever.errors import TrainingError as TrainingError
    from nlb_retriever.errors import TrainingInterrupted as TrainingInterrupted
    from nlb_retriever.indexing.indexer import index_books as index_books
    from nlb_retriever.indexing.indexer import index_files as index_files
    from nlb_retriever.indexing.report import BookRef as BookRef
    from nlb_retriever.indexing.report import IndexEvent as IndexEvent
    from nlb_retriever.indexing.report import IndexReport as IndexReport
    from nlb_retriever.model.vectorizer import Vectorizer as Vectorizer
    from nlb_retriever.model.vectors import EncodedQuery as EncodedQuery
    from nlb_retriever.reader.interface import AnswerSpan as AnswerSpan
    from nlb_retriever.reader.interface import Reader as Reader
    from nlb_retriever.reader.interface import Reading as Reading
    from nlb_retriever.reading.text import book_from_text as book_from_text
    from nlb_retriever.records import Answer as Answer
    from nlb_retriever.records import Book as Book
    from nlb_retriever.records import BookRecord as BookRecord
    from nlb_retriever.records import Citation as Citation
    from nlb_retriever.records import Confidence as Confidence
    from nlb_retriever.records import FailedFile as FailedFile
    from nlb_retriever.records import Hit as Hit
    from nlb_retriever.records import Level as Level
    from nlb_retriever.records import Mode as Mode
    from nlb_retriever.records import Page as Page
    from nlb_retriever.records import PassageRecord as PassageRecord
    from nlb_retriever.records import Section as Section
    from nlb_retriever.records import SectionRecord as SectionRecord
    from nlb_retriever.records import ShortAnswer as ShortAnswer
    from nlb_retriever.records import Strategy as Strategy
    from nlb_retriever.search.overlap import Overlap as Overlap
    from nlb_retriever.search.overlap import Sentence as Sentence
    from nlb_retriever.search.request import SearchRequest as SearchRequest
    from nlb_retriever.search.retriever import Retriever as Retriever
    from nlb_retriever.search.run import SearchResult as SearchResult
    from nlb_retriever.store import And as And
    from nlb_retriever.store import Condition as Condition
    from nlb_retriever.store import Filter as Filter
    from nlb_retriever.store import LibraryStore as LibraryStore
    from nlb_retriever.store import Not as Not
    from nlb_retriever.store import Or as Or
    from nlb_retriever.store import open_store as open_store

    __version__: str

_ERRORS = """EncoderError LanguageModelError LibraryBusy LibraryDamaged LibraryNotFound LibraryRebuilt MismatchError
    MissingExtra NlbError NotABook QueryError ReadingError ReadingLimit StoreError TrainingError TrainingInterrupted"""
_RECORDS = """Answer Book BookRecord Citation Confidence FailedFile Hit Level Mode Page PassageRecord Section
    SectionRecord ShortAnswer Strategy"""
_MODULES = {
    "config": "Manifest",
    "encoding.base": "ChunkEncoder",
    "errors": _ERRORS,
    "indexing.indexer": "index_books index_files",
    "indexing.report": "BookRef IndexEvent IndexReport",
    "model.vectorizer": "Vectorizer",
    "model.vectors": "EncodedQuery",
    "reader.interface": "AnswerSpan Reader Reading",
    "reading.text": "book_from_text",
    "records": _RECORDS,
    "search.overlap": "Overlap Sentence",
    "search.request": "SearchRequest",
    "search.retriever": "Retriever",
    "search.run": "SearchResult",
    "store": "And Condition Filter LibraryStore Not Or open_store",
}
_MODULE_OF = {name: module for module, names in _MODULES.items() for name in names.split()}

__all__ = sorted([*_MODULE_OF, "__version__"])  # noqa: PLE0605 - lazily resolved names


def __getattr__(name: str) -> Any:
    from importlib import import_module, metadata

    if name == "__version__":
        try:
            return metadata.version("nlb-retriever")
        except metadata.PackageNotFoundError:  # it runs from its sources
            return "unknown (not installed)"
    if name not in _MODULE_OF:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(f"{__name__}.{_MODULE_OF[name]}"), name)


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})  # for completion
