"""Hits as LlamaIndex nodes: the same span of a book always has the same id and names its neighbours."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any
from uuid import UUID

from llama_index.core.schema import BaseNode, NodeRelationship, NodeWithScore, ObjectType, RelatedNodeInfo, TextNode

from nlb_integrations.conventions import EXCLUDED, to_metadata
from nlb_retriever.records import Hit
from nlb_retriever.search.hits import Surroundings, find_surroundings
from nlb_retriever.store import LibraryStore

_SHOWN = (("title", "work", "author", "chapter", "page_label"), ("title", "work", "chapter"))
"""The library's metadata that a language model and an embedding model see; the rest is for programs."""


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
    for_llm, for_embedding = (_hidden(hit, metadata, *how) for how in zip(EXCLUDED, _SHOWN, strict=True))
    return TextNode(
        id_=hit.id,
        text=hit.text,
        start_char_idx=hit.start,
        end_char_idx=hit.end,
        metadata=metadata,
        excluded_llm_metadata_keys=for_llm,
        excluded_embed_metadata_keys=for_embedding,
        relationships=_relationships(hit, around),
    )


def _hidden(hit: Hit, metadata: Mapping[str, Any], excluded: str, shown: Sequence[str]) -> list[str]:
    """Metadata that a model does not see: what the document excludes, and of the library's what is not `shown`.

    A title that was made of a text's first words, and is its only chapter's, too, is not repeated before them.
    """
    own = hit.metadata.get("metadata", {})
    hidden = set(own.get(excluded, ()))
    if hit.section in ((), (hit.title,)) and " ".join(hit.text.split()).startswith(hit.title.removesuffix("…")):
        hidden |= {"title", "chapter"}
    return [
        key
        for key, value in metadata.items()
        if value is None or key in hidden or (key not in shown and own.get(key) != value)
    ]


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
