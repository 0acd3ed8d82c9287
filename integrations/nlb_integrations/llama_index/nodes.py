"""Hits as LlamaIndex nodes: the same span of a book always has the same id and names its neighbours."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any
from uuid import UUID

from llama_index.core.schema import BaseNode, NodeRelationship, NodeWithScore, ObjectType, RelatedNodeInfo, TextNode

from nlb_integrations.conventions import to_metadata
from nlb_retriever.records import Hit
from nlb_retriever.search.hits import Surroundings, find_surroundings
from nlb_retriever.store import LibraryStore

_FOR_READERS = ("title", "author", "chapter", "page_label")
"""Metadata that a language model sees; the rest is for programs."""
_FOR_ENCODERS = ("title", "chapter")


def to_nodes(hits: Sequence[Hit], store: LibraryStore) -> list[NodeWithScore]:
    """Nodes of hits of one level, in the same order.

    A passage's parent is its section, a section's the book; ids are those of the retriever at that level. Previous
    and next are of the same level and book. The source is the book, by its lasting id.
    """
    return [
        NodeWithScore(node=_node(hit, around), score=float(hit.score))
        for hit, around in zip(hits, find_surroundings(hits, store), strict=True)
    ]


def section_of(node: BaseNode) -> str | None:
    """Id of the section that a library's node is or is in; None for a book's and for other nodes."""
    section = node.metadata.get("section_id")
    try:
        return str(UUID(section)) if node.metadata.get("book_id") and isinstance(section, str) else None
    except ValueError:
        return None


def _node(hit: Hit, around: Surroundings) -> TextNode:
    metadata = to_metadata(hit)
    return TextNode(
        id_=hit.id,
        text=hit.text,
        start_char_idx=hit.start,
        end_char_idx=hit.end,
        metadata=metadata,
        excluded_llm_metadata_keys=[key for key in metadata if key not in _FOR_READERS or metadata[key] is None],
        excluded_embed_metadata_keys=[key for key in metadata if key not in _FOR_ENCODERS or metadata[key] is None],
        relationships=_relationships(hit, around),
    )


def _relationships(hit: Hit, around: Surroundings) -> dict[NodeRelationship, Any]:
    book = RelatedNodeInfo(
        node_id=hit.book_id, node_type=ObjectType.DOCUMENT, metadata={"title": hit.title, "source": hit.source}
    )
    others = {
        NodeRelationship.PARENT: around.parent,
        NodeRelationship.PREVIOUS: around.previous,
        NodeRelationship.NEXT: around.next,
    }
    return {NodeRelationship.SOURCE: book} | {
        where: RelatedNodeInfo(node_id=node_id, node_type=ObjectType.TEXT)
        for where, node_id in others.items()
        if node_id
    }
