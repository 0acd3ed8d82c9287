"""The reading side of a library: open it, load its encoders, search it, answer from it."""

from __future__ import annotations

import functools
import os
import threading
import weakref
from collections.abc import Callable
from contextlib import suppress
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Concatenate, ParamSpec, TypeVar

from nlb_retriever.config import Manifest, expand, locate_library
from nlb_retriever.encoding import ChunkEncoder, load_encoder
from nlb_retriever.errors import EncoderError, LibraryRebuilt, NlbError
from nlb_retriever.model.vectorizer import Vectorizer
from nlb_retriever.reader import Reader, find_reader, load_reader
from nlb_retriever.records import Answer, Hit, Level, Mode, Strategy
from nlb_retriever.search.answers import order
from nlb_retriever.search.answers.answer import ALL_PASSAGES, PASSAGES
from nlb_retriever.search.courtesy import bare_question
from nlb_retriever.search.hits import cite_pages
from nlb_retriever.search.request import SearchRequest, check_count
from nlb_retriever.search.run import SearchResult, run_search
from nlb_retriever.store import Filter, LibraryStore, open_store
from nlb_retriever.text.cleaning import clean_query

P = ParamSpec("P")
T = TypeVar("T")


def _reopening(method: Callable[Concatenate[Retriever, P], T]) -> Callable[Concatenate[Retriever, P], T]:
    """The method, begun again where the library is rebuilt with other settings while it runs."""

    @functools.wraps(method)
    def call(retriever: Retriever, /, *args: P.args, **kwargs: P.kwargs) -> T:
        try:
            return method(retriever, *args, **kwargs)
        except LibraryRebuilt:
            retriever.close()
            return method(retriever, *args, **kwargs)

    return call


class Retriever:
    """Searches a library. Nothing is opened or loaded before the first search.

    Safe to use from several threads. A retriever may stay open while others index: nobody waits for it, and it sees
    what is published; a library that was rebuilt with other settings is opened again. So is any in a forked child.

    Args:
        library: its folder, name or server URL; None for the default one.
        device: where queries are encoded: "cpu", "auto" or a torch device.
        reader: folder of the reader; None for the one that comes with the package.
    """

    def __init__(
        self, library: str | Path | None = None, *, device: str = "cpu", reader: str | Path | None = None
    ) -> None:
        self._location = locate_library(library)
        self._device = device
        self._reader_folder = expand(reader) if reader is not None else find_reader()
        self._reader: Reader | None = None
        self._start()
        _retrievers.add(self)
        self._loaded: tuple[Manifest, Vectorizer] | None = None

    def _start(self) -> None:
        """Also in a forked child: threads of the parent may hold its locks, and connections to a server are its."""
        self._opening = threading.Lock()
        self._reading = threading.Lock()
        self._store: LibraryStore | None = None

    def __reduce__(self) -> tuple[Callable[..., Retriever], tuple[str | Path]]:
        """A copy, also in another process, opens the library and loads its encoders for itself."""
        return partial(Retriever, device=self._device, reader=self._reader_folder), (self._location,)

    def __enter__(self) -> Retriever:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Close the library; a later search opens it again, as it is then."""
        with self._opening:
            store, self._store = self._store, None
        if store:
            store.close()

    @property
    def location(self) -> str:
        """The library's folder or URL; nothing is opened for it."""
        return str(self._location)

    @property
    def store(self) -> LibraryStore:
        """The library.

        Raises:
            LibraryNotFound: there is none.
            StoreError: it is damaged.
        """
        with self._opening:
            is_rebuildable = isinstance(self._location, Path)  # unlike one on a server, where looking takes a request
            if self._store is None or (is_rebuildable and not self._store.is_current()):
                self._store = open_store(self._location)  # not closed: other threads may search in it
            return self._store

    @property
    def vectorizer(self) -> Vectorizer:
        """The encoders that the library was made with.

        Raises:
            EncoderError: one cannot be found.
            MismatchError: one has changed since.
        """
        return self._vectorizer(self.store)

    def _vectorizer(self, store: LibraryStore) -> Vectorizer:
        manifest = store.manifest
        with self._opening:
            if not self._loaded or self._loaded[0] != manifest:  # another one after a rebuild
                self._loaded = manifest, Vectorizer.of_library(store.location, manifest, lambda: self._encoder(store))
            return self._loaded[1]

    def _encoder(self, store: LibraryStore) -> ChunkEncoder:
        encoder = load_encoder(store.manifest.chunk_encoder, device=self._device, use="ask")
        # Opening the levels and reading them for the first time takes as long as compiling the encoder.
        threading.Thread(target=_warm, args=(store,), name="nlb-warm", daemon=True).start()
        return encoder

    @property
    def has_reader(self) -> bool:
        """Whether there is a reader; without one nothing is reranked by it, and answers are sentences alone."""
        return self._reader_folder is not None

    @property
    def reader(self) -> Reader:
        """The reader (nlb_retriever.reader), loaded when first used.

        Raises:
            EncoderError: there is none, or its folder is damaged.
        """
        if self._reader_folder is None:
            raise EncoderError("this installation has no reader to rerank with: reinstall nlb-retriever, or name one")
        with self._reading:
            self._reader = self._reader or load_reader(self._reader_folder, device=self._device)
            return self._reader

    def search(
        self,
        query: str,
        *,
        level: Level = "passage",
        limit: int = 10,
        book: str | Path | None = None,
        section: int | str | None = None,
        before: int | str | None = None,
        where: Filter | None = None,
        mode: Mode = "fused",
        strategy: Strategy = "coarse-to-fine",
        neighbours: int = 0,
        rerank: bool = False,
    ) -> list[Hit]:
        """Find books, sections or passages, the best first.

        Args:
            query: words to look for, at most 100,000 characters. A misspelt one that no book has is searched for in
                the books' spelling; `run` says so (`SearchResult.searched`).
            level, limit, book, section, before, where, mode, strategy, neighbours, rerank: see `SearchRequest`.

        Returns:
            At most `limit` hits. Their scores put them in order and have no fixed scale.

        Raises:
            QueryError: the query is empty or too long, or a name, filter or number is not valid.
            LibraryNotFound: there is no library.
            StoreError: it is damaged.
            EncoderError: an encoder that it was made with, or the reader, cannot be found.
            MismatchError: one has changed since.
        """
        request = SearchRequest(
            query=query,
            level=level,
            limit=limit,
            book=book,
            section=section,
            before=before,
            where=where,
            mode=mode,
            strategy=strategy,
            neighbours=neighbours,
            rerank=rerank,
        )
        return list(self.run(request).hits)

    @_reopening
    def answer(
        self,
        question: str,
        *,
        limit: int | None = None,
        book: str | Path | None = None,
        section: int | str | None = None,
        before: int | str | None = None,
        where: Filter | None = None,
        mode: Mode = "fused",
        strategy: Strategy = "coarse-to-fine",
        all_passages: bool = False,
    ) -> Answer:
        """Answer a question with sentences of the library.

        Where there is a reader, it judges the passages of a short question in English, and finds the words in them
        that answer. Else the sentences with most of the question's words are quoted. Questions of some forms have
        answers of their own (search/answers): who wrote a book, who its characters are and how it begins and ends is
        answered for the book as a whole, what happens in a chapter by sentences of all of it, which book or chapter
        something is in by its title, what a term means by the sentence that explains it.

        Args:
            question: in words, at most 100,000 characters.
            limit: at most so many sentences, 0 for none; by default five, in about 90 words, or eight that tell of a
                chapter.
            book, section, before, where, mode, strategy: as for `search`. With "bm25" no encoder is loaded; without
                a reader an answer is then found wherever a word of the question is.
            all_passages: quote every passage that says something on the question, in reading order; `limit` then
                counts only where the answer is about a book, a chapter, a figure or another numbered piece.

        Returns:
            The sentences, the best first, each cited with its passage and a quote that is verbatim in the book;
            `found` is False where the library is not likely to hold an answer.

        Raises:
            QueryError, LibraryNotFound, StoreError, EncoderError, MismatchError: see `search`.
        """
        question = clean_query(question)
        limit = None if limit is None else check_count("limit", limit)
        if limit == 0 and not all_passages:
            return Answer(question=question, found=False, text="")
        request = SearchRequest(
            query=bare_question(question),
            limit=ALL_PASSAGES if all_passages else PASSAGES,
            book=book,
            section=section,
            before=before,
            where=where,
            mode=mode,
            strategy=strategy,
            rerank=self.has_reader,
            diversify=False,
            relevant_only=True,
        )
        if request.kind is None:  # no question: the sentences with most of its words are quoted
            request = replace(request, rerank=False)
        store = self.store
        with store.session():  # who removes a book meanwhile ends no answer from it
            answer = order.answer_question(request, self._means(store), limit, all_passages=all_passages)
            return cite_pages(replace(answer, question=question), store)

    @_reopening
    def find_record(self, request: SearchRequest) -> Answer | None:
        """What a question on the library or a book as a whole asks; else None. No search is made, no encoder loaded."""
        return order.find_record(request, self.store)

    @_reopening
    def find_place(self, request: SearchRequest) -> Answer | None:
        """What a question on a term, figure or chapter, for quoted words, a book, chapter or scene finds; else None."""
        return order.find_place(request, self._means(self.store))

    def _means(self, store: LibraryStore) -> order.Means:
        return order.Means(
            store=store,
            run=self.run,
            load_encoder=lambda: self._vectorizer(store).encoder,
            load_reader=(lambda: self.reader) if self.has_reader else None,
        )

    @_reopening
    def run(self, request: SearchRequest) -> SearchResult:
        """Answer a request; `search` and `answer` make one and call this. Raises what they do."""
        store = self.store
        return run_search(request, store, lambda: self._vectorizer(store), lambda: self.reader)


_retrievers: weakref.WeakSet[Retriever] = weakref.WeakSet()


def _start_anew() -> None:
    for retriever in list(_retrievers):
        retriever._start()


os.register_at_fork(after_in_child=_start_anew)


def _warm(store: LibraryStore) -> None:
    with suppress(NlbError):  # the search itself will raise it
        store.warm()
