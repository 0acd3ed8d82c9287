"""The library's sections and passages as nodes for any LlamaIndex pipeline."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from itertools import pairwise
from typing import Any
from uuid import uuid5

from llama_index.core.bridge.pydantic import Field
from llama_index.core.node_parser import NodeParser
from llama_index.core.schema import BaseNode, Document, NodeRelationship, ObjectType, RelatedNodeInfo, TextNode
from llama_index.core.utils import get_tqdm_iterable

from nlb_integrations.conventions import CHAPTER_SEPARATOR
from nlb_integrations.llama_index.embeddings import chunker
from nlb_retriever.config import DEFAULT_CHUNK_TOKENS
from nlb_retriever.encoding import DEFAULT_ENCODER
from nlb_retriever.reading.headings.outline import find_headings
from nlb_retriever.reading.structure import partition
from nlb_retriever.store.points import NAMESPACE


def number_nodes(number: int, document: BaseNode) -> str:
    """The id of a document's node: the same for the same document and number, whenever it is parsed."""
    return str(uuid5(NAMESPACE, f"{document.node_id}/node/{number}"))


class NLBNodeParser(NodeParser):
    """Documents to sections (chapters, by their headings) and, inside them, passages.

    Sections are the passages' PARENT, and passages their section's CHILD; both have the document as SOURCE, and their
    neighbours on the same level as PREVIOUS and NEXT. `start_char_idx` and `end_char_idx` are the exact span in the
    document's text. `get_leaf_nodes` gives the passages alone, as for an index, `get_root_nodes` the sections; with
    all of them in a docstore `AutoMergingRetriever` works. The chapter is in the metadata; a document without
    chapters is one section, or is cut into parts.
    """

    chunk_tokens: int = Field(
        default=DEFAULT_CHUNK_TOKENS, description="Longest passage in tokens; 0 for a sentence a passage.", ge=0
    )
    model_name: str = Field(default=DEFAULT_ENCODER, description="The chunk encoder whose tokens count.")
    id_func: Callable[[int, BaseNode], str] = Field(
        default=number_nodes, description="Gives a node's id by its number in the document.", exclude=True
    )

    @classmethod
    def class_name(cls) -> str:
        return "NLBNodeParser"

    def _parse_nodes(self, nodes: Sequence[BaseNode], show_progress: bool = False, **kwargs: Any) -> list[BaseNode]:
        return [
            node
            for document in get_tqdm_iterable(nodes, show_progress, "Parsing nodes")
            for node in self._parse(document)
        ]

    def _postprocess_parsed_nodes(self, nodes: list[BaseNode], parent_doc_map: dict[str, Document]) -> list[BaseNode]:
        """Nothing to do: spans, metadata and relationships are known from the parsing."""
        return nodes

    def _parse(self, document: BaseNode) -> Iterator[BaseNode]:
        text = document.get_content()
        if not text.strip():
            return
        title = str(document.metadata.get("title") or document.metadata.get("file_name") or "Text")
        sections = partition(text, find_headings(text), title)
        passages = chunker(self.model_name, self.chunk_tokens, "cpu").passages(text, sections)
        source = document.source_node or document.as_related_node_info()
        parents = [
            self._node(document, source, number, section.start, section.end, section.path)
            for number, section in enumerate(sections)
        ]
        children = [
            self._node(
                document, source, len(sections) + number, passage.start, passage.end, sections[passage.section].path
            )
            for number, passage in enumerate(passages)
        ]
        families: list[list[RelatedNodeInfo]] = [[] for _ in sections]
        for child, passage in zip(children, passages, strict=True):
            families[passage.section].append(_info(child))
            child.relationships[NodeRelationship.PARENT] = _info(parents[passage.section])
        for parent, family in zip(parents, families, strict=True):
            parent.relationships[NodeRelationship.CHILD] = family
        # a section of white space alone has no passages, and would pass for a leaf
        parents = [parent for parent in parents if parent.child_nodes]
        if self.include_prev_next_rel:
            for level in (parents, children):
                for one, other in pairwise(level):
                    one.relationships[NodeRelationship.NEXT] = _info(other)
                    other.relationships[NodeRelationship.PREVIOUS] = _info(one)
        yield from parents
        yield from children

    def _node(
        self, document: BaseNode, source: RelatedNodeInfo, number: int, start: int, end: int, path: Sequence[str]
    ) -> TextNode:
        return TextNode(
            id_=self.id_func(number, document),
            text=document.get_content()[start:end],
            start_char_idx=start,
            end_char_idx=end,
            metadata={
                **(document.metadata if self.include_metadata else {}),
                "chapter": CHAPTER_SEPARATOR.join(path),
            },
            excluded_embed_metadata_keys=list(document.excluded_embed_metadata_keys),
            excluded_llm_metadata_keys=list(document.excluded_llm_metadata_keys),
            relationships={NodeRelationship.SOURCE: source},
        )


def _info(node: BaseNode) -> RelatedNodeInfo:
    return RelatedNodeInfo(node_id=node.node_id, node_type=ObjectType.TEXT)
