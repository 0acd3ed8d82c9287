"""NLBNodeParser: sections and passages of documents, exactly, in linear time, for other people's pipelines."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Sequence
from itertools import pairwise
from typing import Any

from llama_index.core import Document, StorageContext, VectorStoreIndex
from llama_index.core.ingestion import DocstoreStrategy, IngestionPipeline
from llama_index.core.node_parser import get_leaf_nodes, get_root_nodes
from llama_index.core.retrievers import AutoMergingRetriever
from llama_index.core.schema import BaseNode, NodeRelationship, TextNode, TransformComponent
from llama_index.core.storage.docstore import SimpleDocumentStore

from nlb_integrations import ChunkEmbedding, NLBNodeParser
from nlb_retriever.reading.text import book_from_text
from nlb_retriever.text.chunking import Chunker
from tests.doubles import bare_tokenizer, minilm_tokenizer
from tests.texts import KITCHEN, LIGHTHOUSE

LONG = "\n\n".join(
    f"CHAPTER {number}. {name}\n\n"
    + f"The {name.lower()} stood by the sea, and number {number} was painted on it. " * 60
    for number, name in enumerate(("Tower", "Chapel", "Mill"), start=1)
)


def document(text: str = LONG) -> Document:
    return Document(
        text=text,
        id_="book",
        metadata={"title": "By the Sea", "shelf": 4},
        excluded_llm_metadata_keys=["shelf"],
        excluded_embed_metadata_keys=["shelf", "title"],
    )


def parse(text: str = LONG, **how: object) -> tuple[list[TextNode], list[TextNode]]:
    """Sections and passages."""
    nodes = NLBNodeParser(**how).get_nodes_from_documents([document(text)])  # type: ignore[arg-type]
    leaves = get_leaf_nodes(nodes)
    rest = [node for node in nodes if node not in leaves]
    assert rest == get_root_nodes(nodes)
    return rest, leaves  # type: ignore[return-value]


def test_sections_are_the_chapters_and_hold_the_whole_text() -> None:
    sections, _ = parse()
    assert [node.metadata["chapter"] for node in sections] == [
        "CHAPTER 1. Tower", "CHAPTER 2. Chapel", "CHAPTER 3. Mill",
    ]  # fmt: skip
    assert "".join(node.text for node in sections) == LONG


def test_every_node_has_its_exact_span() -> None:
    for text in (
        LONG,
        LONG.replace("\n", "\r\n"),
        "\n\n  " + "Same sentence again. " * 500,
        "日本語の文章です。" * 300,
    ):
        for node in (node for level in parse(text) for node in level):
            assert node.text == text[node.start_char_idx : node.end_char_idx]


def test_passages_hold_all_that_is_no_white_space_and_are_as_long_as_allowed() -> None:
    tokenizer = bare_tokenizer()
    for tokens in (64, 256):
        _, passages = parse(chunk_tokens=tokens)
        assert "".join("".join(node.text for node in passages).split()) == "".join(LONG.split())
        assert max(len(tokenizer.encode(node.text)) for node in passages) <= tokens
    _, sentences = parse(chunk_tokens=0)
    assert all(node.text.count("The ") <= 1 for node in sentences)


def test_relationships_are_those_of_a_tree_in_reading_order() -> None:
    sections, passages = parse()
    by_id = {node.node_id: node for node in (*sections, *passages)}
    for level in (sections, passages):
        assert level[0].prev_node is None and level[-1].next_node is None
        for one, other in pairwise(level):
            assert one.next_node is not None and other.prev_node is not None
            assert (one.next_node.node_id, other.prev_node.node_id) == (other.node_id, one.node_id)
    for section in sections:
        children = [by_id[info.node_id] for info in section.child_nodes or []]
        assert section.ref_doc_id == "book" and children
        for child in children:
            assert child.parent_node is not None and child.parent_node.node_id == section.node_id
            assert child.ref_doc_id == "book"
            assert child.text in section.text
    bare = NLBNodeParser(include_prev_next_rel=False, include_metadata=False).get_nodes_from_documents([document()])
    assert all(NodeRelationship.NEXT not in node.relationships for node in bare)
    assert all(set(node.metadata) == {"chapter"} for node in bare)


def test_metadata_and_what_is_kept_from_models_are_the_documents() -> None:
    _, passages = parse()
    assert passages[0].metadata == {"title": "By the Sea", "shelf": 4, "chapter": "CHAPTER 1. Tower"}
    assert passages[0].excluded_llm_metadata_keys == ["shelf"]
    assert passages[0].excluded_embed_metadata_keys == ["shelf", "title"]


def test_ids_are_the_same_each_time_or_as_one_says() -> None:
    first, again = parse(), parse()
    assert [node.node_id for level in first for node in level] == [node.node_id for level in again for node in level]
    assert len({node.node_id for level in first for node in level}) == len(first[0]) + len(first[1])
    named, _ = parse(id_func=lambda number, document: f"{document.node_id}-{number}")
    assert [node.node_id for node in named] == ["book-0", "book-1", "book-2"]


def test_texts_without_headings_or_without_text_are_parsed() -> None:
    sections, passages = parse("One sentence.")
    assert [node.text for node in (*sections, *passages)] == ["One sentence."] * 2
    assert NLBNodeParser().get_nodes_from_documents([document(" \n "), Document(text="")]) == []


def test_it_runs_in_a_pipeline_with_our_embeddings() -> None:
    class Shouting(TransformComponent):
        """A transformation that comes between."""

        def __call__(self, nodes: Sequence[BaseNode], **_: Any) -> Sequence[BaseNode]:
            for node in nodes:
                node.metadata["loud"] = node.get_content()[:5].upper()
            return nodes

    pipeline = IngestionPipeline(
        transformations=[NLBNodeParser(), Shouting(), ChunkEmbedding()],
        docstore=SimpleDocumentStore(),
        docstore_strategy=DocstoreStrategy.DUPLICATES_ONLY,
    )
    nodes = pipeline.run(documents=[document(LIGHTHOUSE)])
    assert len(nodes) == 6 and all(len(node.get_embedding()) == 384 for node in nodes)
    assert nodes[0].metadata["loud"] == "THE L"
    assert pipeline.run(documents=[document(LIGHTHOUSE)]) == []  # nothing has changed
    assert len(asyncio.run(pipeline.arun(documents=[document(KITCHEN)]))) == 4


def test_auto_merging_puts_passages_together_to_their_section() -> None:
    nodes = NLBNodeParser(chunk_tokens=64).get_nodes_from_documents([document()])
    storage = StorageContext.from_defaults(docstore=SimpleDocumentStore())
    storage.docstore.add_documents(nodes)
    leaves = get_leaf_nodes(nodes)
    index = VectorStoreIndex(leaves, storage_context=storage, embed_model=ChunkEmbedding())
    base = index.as_retriever(similarity_top_k=len(leaves) // 3)
    merged = AutoMergingRetriever(base, storage).retrieve("the chapel by the sea, number 2")
    chapel = next(node for node in get_root_nodes(nodes) if "Chapel" in node.metadata["chapter"])
    assert merged[0].node.node_id == chapel.node_id
    assert merged[0].node.get_content() == LONG[chapel.start_char_idx : chapel.end_char_idx]  # type: ignore[attr-defined]


def test_it_is_written_down_and_read_back() -> None:
    parser = NLBNodeParser(chunk_tokens=64)
    again = NLBNodeParser.from_dict(parser.to_dict())
    assert again.chunk_tokens == 64
    assert again([document()]) == parser([document()])


def test_the_time_is_linear_in_the_length() -> None:
    def seconds(copies: int) -> float:
        text = (LONG + "\n\n") * copies
        began = time.process_time()
        NLBNodeParser().get_nodes_from_documents([document(text)])
        return time.process_time() - began

    seconds(1)
    short, long = min(seconds(20) for _ in range(2)), min(seconds(160) for _ in range(2))
    assert long < 8 * 2.5 * short  # 8 times the text; were it quadratic, 64 times the time


def test_passages_are_those_of_a_library() -> None:
    sections, passages = parse(LIGHTHOUSE)
    book = book_from_text(LIGHTHOUSE, source="lamp")
    tokenizer = minilm_tokenizer()
    spans = [(each.start, each.end) for each in Chunker(tokenizer).passages(book.text, book.sections)]
    assert spans == [(node.start_char_idx, node.end_char_idx) for node in passages]
    assert [section.start for section in book.sections] == [node.start_char_idx for node in sections]
