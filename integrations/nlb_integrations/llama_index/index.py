"""A library that LlamaIndex writes: documents and nodes of other parsers, indexed by the rules for files."""

from __future__ import annotations

import asyncio
import logging
import os
import threading
from collections.abc import Callable, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any, Literal

from llama_index.core.base.base_query_engine import BaseQueryEngine
from llama_index.core.chat_engine import CondensePlusContextChatEngine, ContextChatEngine
from llama_index.core.chat_engine.types import BaseChatEngine, ChatMode
from llama_index.core.llms import LLM
from llama_index.core.schema import BaseNode, Document, NodeWithScore, QueryBundle
from llama_index.core.settings import Settings
from llama_index.core.storage.docstore.types import RefDocInfo

from nlb_integrations.llama_index.books import DocumentGroup, group, listed, pages_of, roots, with_nodes, with_pages
from nlb_integrations.llama_index.embeddings import chunk_encoder
from nlb_integrations.llama_index.ref_docs import RefDocs, by_source
from nlb_integrations.llama_index.retriever import FOR_RETRIEVER, NLBRetriever
from nlb_retriever.config import locate_library
from nlb_retriever.errors import LibraryNotFound, QueryError
from nlb_retriever.indexing.indexer import index_books
from nlb_retriever.indexing.report import IndexEvent, IndexReport
from nlb_retriever.records import Answer, Book, BookRecord
from nlb_retriever.search.answers.quotes import NOT_FOUND
from nlb_retriever.search.retriever import Retriever
from nlb_retriever.store import open_store

_Mode = Literal["add", "update", "refresh"]
"""Parts of a book that are in the library and not in a call stay, except in `refresh`, which gets all parts."""

_CHAT_ENGINES: Mapping[ChatMode, type[ContextChatEngine | CondensePlusContextChatEngine]] = {
    ChatMode.CONTEXT: ContextChatEngine,
    ChatMode.CONDENSE_PLUS_CONTEXT: CondensePlusContextChatEngine,
    ChatMode.BEST: CondensePlusContextChatEngine,
}
_log = logging.getLogger(__name__)


class NLBIndex:
    """A library with the methods of a LlamaIndex index; it is kept on disk and holds nothing twice.

    A document is a book, identified by its id; the pages of one file are one book, identified by the file's path.
    Unchanged documents cost nothing, a changed one replaces its old version in one step. A document that cannot be
    indexed stops nothing: it is logged, and named in `report`. Of the metadata, title, author, language, year and
    page labels become the book's own; the rest is stored with it, returned with hits, and can be filtered by. There
    is no docstore beside the library: `ref_doc_info` and the retrievers read it.

    Methods may be called from several threads, and the async ones never block the event loop; a writer in another
    process gets a `LibraryBusy`. Writing raises what `index_books` does, searching what `Retriever.search` does.

    Args:
        library: its folder, name or server URL; None for the default one. Made by the first write.
        chunk_encoder, checkpoint, chunk_tokens, device: as in `index_files`; None for the library's own.
        show_progress: show a bar.
    """

    def __init__(
        self,
        library: str | Path | None = None,
        *,
        chunk_encoder: str | Path | None = None,
        checkpoint: str | Path | None = None,
        chunk_tokens: int | None = None,
        device: str = "auto",
        show_progress: bool = False,
    ) -> None:
        self._location = locate_library(library)
        self._settings: dict[str, Any] = {
            "chunk_encoder": chunk_encoder,
            "checkpoint": checkpoint,
            "chunk_tokens": chunk_tokens,
        }
        self._device = device
        self._show_progress = show_progress
        self._writing = threading.Lock()
        self.library = Retriever(self._location)
        """The reading side, shared by all retrievers of this index."""
        self._names: dict[str, str] = {}
        self.report: IndexReport | None = None
        """What the last write did; `failed` names what could not be indexed."""

    def __reduce__(self) -> tuple[Any, ...]:
        """A copy, also in another process, opens the library for itself."""
        make = partial(type(self), device=self._device, show_progress=self._show_progress, **self._settings)
        return make, (self._location,), {"_names": {**self._names}, "report": self.report}

    @classmethod
    def from_documents(
        cls, documents: Document | Sequence[Document], library: str | Path | None = None, **settings: Any
    ) -> NLBIndex:
        """Bring a library up to date with documents; other books in it stay.

        Args:
            documents: in order, or one.
            library: see the class.
            settings: the class's other arguments.
        """
        index = cls(library, **settings)
        index.refresh_ref_docs(documents)
        return index

    @classmethod
    def from_nodes(
        cls, nodes: BaseNode | Sequence[BaseNode], library: str | Path | None = None, **settings: Any
    ) -> NLBIndex:
        """Bring a library up to date with nodes of other parsers.

        The nodes of one document, in their order here, are one book, and each node is one of its sections, with
        exactly its text; what it shares with the node before is kept once. Sections longer than a passage are cut
        into passages, which never cross a node's border. Of nested nodes the outermost are taken.
        """
        index = cls(library, **settings)
        index._write(group(roots(listed(nodes))), "refresh")
        return index

    # -- writing --------------------------------------------------------------------------------

    def insert(self, document: Document) -> None:
        """Add a document: it replaces one with the same id; a page is added to the book of its file."""
        self._write(group(listed(document)), "add")

    def insert_nodes(self, nodes: BaseNode | Sequence[BaseNode]) -> None:
        """Add nodes of other parsers (see `from_nodes`); nodes that their book already holds cost nothing."""
        self._write(group(roots(listed(nodes))), "add")

    def update_ref_doc(self, document: Document, **update_kwargs: Any) -> None:
        """Replace a document, or a page of a file; add it where there is none.

        Args:
            document: the new version.
            update_kwargs: LlamaIndex's; there is no docstore here.
        """
        self._write(group(listed(document)), "update")

    def refresh_ref_docs(self, documents: Document | Sequence[Document], **update_kwargs: Any) -> list[bool]:
        """Add new documents and update changed ones.

        Pass all pages of a file: pages that are missing leave the book. (Without its first page, they are taken as
        some of its pages, and the others stay.)

        Args:
            documents: in order, or one.
            update_kwargs: LlamaIndex's; there is no docstore here.

        Returns:
            For each document, whether it was added or updated.
        """
        documents = listed(documents)
        groups = by_source(group(documents), self._entries())
        done = {ref.source for ref in self._write(groups, "refresh").indexed}
        written = {owner for each in groups if each.source in done for owner in each.owners}
        return [document.node_id in written for document in documents]

    def delete_ref_doc(self, ref_doc_id: str, delete_from_docstore: bool = False) -> None:
        """Delete a document and all that is indexed of it.

        Args:
            ref_doc_id: a retrieved node's, the document's own id, or the path of its file.
            delete_from_docstore: LlamaIndex's; there is no docstore here.
        """
        with self._writing:
            entry = self._find(ref_doc_id)
            if entry is None:
                hint = "pages go with the path of their file"
                _log.warning("ref_doc_id %s not found in %s, nothing deleted (%s)", ref_doc_id, self._location, hint)
                return
            with open_store(self._location, writer=True) as store:
                store.remove(entry.id)

    async def ainsert(self, document: Document) -> None:
        await asyncio.to_thread(self.insert, document)

    async def ainsert_nodes(self, nodes: BaseNode | Sequence[BaseNode]) -> None:
        await asyncio.to_thread(self.insert_nodes, nodes)

    async def aupdate_ref_doc(self, document: Document, **update_kwargs: Any) -> None:
        await asyncio.to_thread(self.update_ref_doc, document)

    async def arefresh_ref_docs(self, documents: Document | Sequence[Document], **update_kwargs: Any) -> list[bool]:
        return await asyncio.to_thread(self.refresh_ref_docs, documents)

    async def adelete_ref_doc(self, ref_doc_id: str, delete_from_docstore: bool = False) -> None:
        await asyncio.to_thread(self.delete_ref_doc, ref_doc_id, delete_from_docstore)

    # -- reading --------------------------------------------------------------------------------

    @property
    def ref_doc_info(self) -> dict[str, RefDocInfo]:
        """The books by their documents' ids (or files' paths), with the ids of their passages and their metadata.

        A retrieved node's `ref_doc_id` finds its book, too.
        """
        return RefDocs(self._entries())

    def as_retriever(self, **kwargs: Any) -> NLBRetriever:
        """A retriever over the library, which finds nothing before the first write; see `NLBRetriever`."""
        return _IndexRetriever(self.library, **kwargs)

    def as_query_engine(self, llm: LLM | None = None, **kwargs: Any) -> BaseQueryEngine:
        """A query engine: with an LLM it answers in prose, without one in the books' own words.

        Args:
            llm: writes the answers.
            kwargs: the retriever's (`similarity_top_k`, `filters`, ...) and `NLBRetriever.as_query_engine`'s.
        """
        retriever = self.as_retriever(**{key: kwargs[key] for key in kwargs if key in FOR_RETRIEVER})
        return retriever.as_query_engine(llm, **{key: kwargs[key] for key in kwargs if key not in FOR_RETRIEVER})

    def as_chat_engine(
        self, chat_mode: ChatMode = ChatMode.BEST, llm: LLM | None = None, **kwargs: Any
    ) -> BaseChatEngine:
        """A chat engine that gives an LLM what is found for each message.

        Args:
            chat_mode: "context", or "condense_plus_context", which "best" is: a message is first made a question of
                its own.
            llm: writes the answers; without it `Settings.llm`.
            kwargs: the retriever's (`similarity_top_k`, `filters`, ...) and the engine's `from_defaults`'.

        Raises:
            QueryError: another mode, or no LLM.
        """
        llm = llm or Settings._llm  # Settings.llm would go and look for OpenAI
        if llm is None:
            raise QueryError("a chat engine needs an LLM: give llm=, or set Settings.llm")
        if chat_mode not in _CHAT_ENGINES:
            raise QueryError(
                f"unknown chat_mode {chat_mode!r}; known: {', '.join(mode.value for mode in _CHAT_ENGINES)}"
            )
        retriever = self.as_retriever(**{key: kwargs[key] for key in kwargs if key in FOR_RETRIEVER})
        rest = {key: kwargs[key] for key in kwargs if key not in FOR_RETRIEVER}
        return _CHAT_ENGINES[chat_mode].from_defaults(retriever, llm=llm, **rest)

    def close(self) -> None:
        """Close the library; a later search opens it again."""
        self.library.close()

    def __enter__(self) -> NLBIndex:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    # -- internal ---------------------------------------------------------------------------------

    def _write(self, groups: Sequence[DocumentGroup], mode: _Mode) -> IndexReport:
        """Index books, parts of which may be in the library already."""
        with self._writing:
            entries = {entry.source: entry for entry in self._entries()}
            books = []
            for each in by_source(groups, entries.values()):
                if book := self._complete(each, entries.get(each.source), mode):
                    books.append(book)
                    # a document that is identified by its file has an id as well, which the caller may know
                    self._names |= {} if each.paged else dict.fromkeys(each.owners, book.source)
            with ExitStack() as stack:
                report = index_books(
                    books,
                    self._location,
                    load=partial(chunk_encoder, device=self._device),
                    observer=stack.enter_context(_Bar()) if self._show_progress else None,
                    **self._settings,
                )
            self.report = report
        for failed in report.failed:
            _log.warning("not indexed: %s", failed.reason)
        return report

    def _complete(self, documents: DocumentGroup, entry: BookRecord | None, mode: _Mode) -> Book | None:
        """The book that results from new parts and those in the library; None where nothing is new."""
        fresh = documents.to_book()
        if entry is None or entry.content_hash == fresh.content_hash:
            return fresh
        if mode == "add" and documents.nodes:
            old = self.library.store.read_book(entry)
            parts = with_nodes(old, documents.parts) if old else ()
            return replace(documents, parts=parts).to_book() if old and len(parts) > len(old.sections) else None
        if documents.paged:
            old = self.library.store.read_book(entry)
            pages = pages_of(old) if old else []
            begun = bool(pages) and pages[0].label in {part.label for part in documents.parts}
            if not pages or (mode == "refresh" and begun):
                return fresh
            parts = with_pages(pages, documents.parts, instead=mode != "add" or entry.from_file)
            return replace(documents, parts=parts).to_book()
        if mode == "add" and fresh.source not in documents.owners:
            # a document without a name, of a file that the library has with other text: perhaps its next part
            return replace(fresh, source=documents.owners[0])
        return fresh

    def _entries(self) -> list[BookRecord]:
        try:
            return self.library.store.books()
        except LibraryNotFound:
            return []

    def _find(self, ref_doc_id: str) -> BookRecord | None:
        names = {ref_doc_id, self._names.get(ref_doc_id), os.path.abspath(ref_doc_id)}  # noqa: PTH100 - resolve() would follow links
        return next((entry for entry in self._entries() if entry.id == ref_doc_id or entry.source in names), None)


class _IndexRetriever(NLBRetriever):
    """A library that nothing has been written to holds nothing."""

    def answer(self, question: str) -> Answer:
        try:
            return super().answer(question)
        except LibraryNotFound:
            return Answer(question=question, found=False, text=NOT_FOUND)

    def _find(self, bundle: QueryBundle) -> list[NodeWithScore]:
        try:
            return super()._find(bundle)
        except LibraryNotFound:
            return []


class _Bar:
    """A progress bar over the bytes of a run; none where there is nothing to do."""

    def __enter__(self) -> Callable[[IndexEvent], None]:
        self._bar: Any = None
        return self._show

    def __exit__(self, *_: object) -> None:
        if self._bar is not None:
            self._bar.close()

    def _show(self, event: IndexEvent) -> None:
        from tqdm.auto import tqdm  # type: ignore[import-untyped]

        if event.kind == "plan":
            self._bar = tqdm(total=event.total_bytes, unit="B", unit_scale=True) if event.total else None
            return
        self._bar.set_description(f"{event.index}/{event.total} {(event.title or '')[:40]}", refresh=False)
        self._bar.update(event.done_bytes - self._bar.n)
