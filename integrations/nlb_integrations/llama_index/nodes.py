"""Hits as LlamaIndex nodes: the same place in a book always has the same id, and knows its neighbours."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from llama_index.core.schema import NodeRelationship, NodeWithScore, ObjectType, RelatedNodeInfo, TextNode

from nlb_retriever.records import Hit, Level
from nlb_retriever.store import LibraryStore
from nlb_retriever.store.payloads import point_id

CHAPTER_SEPARATOR = " > "
_FOR_READERS = ("title", "author", "chapter", "page_label")
"""Metadata that a language model gets to see; all else is for programs."""
_FOR_ENCODERS = ("title", "chapter")


def to_nodes(hits: Sequence[Hit], store: LibraryStore) -> list[NodeWithScore]:
    """Nodes of hits, in the same order.

    A passage's parent is its section, a section's the book; ids are those that the retriever gives at that
    level. Previous and next are of the same level and book. The source is the book, by its lasting id.
    """
    wanted = {neighbour for hit in hits for neighbour in _neighbours(hit).values()}
    level: Level = hits[0].level if hits else "passage"
    there = {point.id for point in store.retrieve(level, sorted(wanted), payload=False)} if wanted else set()
    return [NodeWithScore(node=_node(hit, there), score=float(hit.score)) for hit in hits]


def _neighbours(hit: Hit) -> dict[NodeRelationship, str]:
    """Ids that the places before and after a section or passage have, if there are such places."""
    if hit.level == "book":
        return {}
    version, ordinal = hit.metadata["version"], hit.metadata["ordinal"]
    around = {NodeRelationship.NEXT: point_id(hit.book_id, version, hit.level, ordinal + 1)}
    if ordinal:
        around[NodeRelationship.PREVIOUS] = point_id(hit.book_id, version, hit.level, ordinal - 1)
    return around


def _node(hit: Hit, there: set[str]) -> TextNode:
    metadata: dict[str, Any] = {
        "title": hit.title,
        "author": hit.author,
        "chapter": CHAPTER_SEPARATOR.join(hit.section) or None,
        "page_label": hit.page,
        "level": hit.level,
        "book_id": hit.book_id,
        "section_id": hit.section_id,
        "source": hit.source,
        "language": hit.metadata.get("language"),
        "year": hit.metadata.get("year"),
        "section": hit.metadata.get("section"),
        "ordinal": hit.metadata.get("ordinal"),
        "page_number": hit.metadata.get("page_number"),
    }
    return TextNode(
        id_=hit.id,
        text=hit.text,
        start_char_idx=hit.start,
        end_char_idx=hit.end,
        metadata=metadata,
        excluded_llm_metadata_keys=[key for key in metadata if key not in _FOR_READERS or metadata[key] is None],
        excluded_embed_metadata_keys=[key for key in metadata if key not in _FOR_ENCODERS or metadata[key] is None],
        relationships=_relationships(hit, there),
    )


def _relationships(hit: Hit, there: set[str]) -> dict[NodeRelationship, Any]:
    book = RelatedNodeInfo(
        node_id=hit.book_id, node_type=ObjectType.DOCUMENT, metadata={"title": hit.title, "source": hit.source}
    )
    relationships = {NodeRelationship.SOURCE: book}
    if hit.level == "section":
        relationships[NodeRelationship.PARENT] = _text(point_id(hit.book_id, hit.metadata["version"], "book", 0))
    elif hit.level == "passage" and hit.section_id:
        relationships[NodeRelationship.PARENT] = _text(hit.section_id)
    return relationships | {where: _text(each) for where, each in _neighbours(hit).items() if each in there}


def _text(node_id: str) -> RelatedNodeInfo:
    return RelatedNodeInfo(node_id=node_id, node_type=ObjectType.TEXT)
