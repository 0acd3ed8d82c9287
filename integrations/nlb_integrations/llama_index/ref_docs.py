"""The books of a library as LlamaIndex's documents."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import Any

from llama_index.core.storage.docstore.types import RefDocInfo

from nlb_integrations.conventions import with_own
from nlb_integrations.llama_index.books import DocumentGroup
from nlb_retriever.records import BookRecord
from nlb_retriever.store.points import point_id

_FIELDS = ("title", "author", "language", "year", "source")


class RefDocs(dict[str, RefDocInfo]):
    """Books by their documents' ids (or files' paths), with the ids of their passages and their metadata.

    They are looked up by a node's `ref_doc_id`, too, which is the book's id.
    """

    def __init__(self, entries: Iterable[BookRecord]) -> None:
        super().__init__({entry.source: _info(entry) for entry in entries})
        self._sources = {info.metadata["book_id"]: source for source, info in self.items()}

    def __missing__(self, name: str) -> RefDocInfo:
        return self[self._sources[name]]

    def __contains__(self, name: object) -> bool:
        return super().__contains__(name) or name in self._sources

    def get(self, name: str, default: Any = None) -> Any:
        try:
            return self[name]
        except KeyError:
            return default


def by_source(groups: Sequence[DocumentGroup], entries: Iterable[BookRecord]) -> list[DocumentGroup]:
    """Groups with the sources of the books whose ids their documents have."""
    sources = {entry.id: entry.source for entry in entries}
    return [
        replace(each, source=source, owners=(*each.owners, source)) if (source := sources.get(each.source)) else each
        for each in groups
    ]


def _info(entry: BookRecord) -> RefDocInfo:
    return RefDocInfo(
        node_ids=[point_id(entry.id, entry.version, "passage", ordinal) for ordinal in range(entry.passages)],
        metadata=with_own({key: getattr(entry, key) for key in _FIELDS}, entry.metadata) | {"book_id": entry.id},
    )
