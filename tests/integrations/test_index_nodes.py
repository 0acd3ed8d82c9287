"""NLBIndex: nodes of other parsers as the sections of books."""

from __future__ import annotations

import logging
from pathlib import Path

import pytest
from llama_index.core import Document
from llama_index.core.node_parser import (
    HierarchicalNodeParser,
    MarkdownNodeParser,
    SentenceSplitter,
    SentenceWindowNodeParser,
)
from llama_index.core.postprocessor import MetadataReplacementPostProcessor
from llama_index.core.schema import MetadataMode, NodeRelationship, RelatedNodeInfo, TextNode

from nlb_integrations import NLBIndex, NLBNodeParser
from nlb_retriever.store import open_store
from tests.integrations.indexed import documents, text_of
from tests.texts import KITCHEN, LIGHTHOUSE


@pytest.fixture
def library(tmp_path: Path) -> Path:
    return tmp_path / "library"


def test_nodes_of_other_parsers_are_sections_with_their_exact_text(library: Path) -> None:
    document = Document(text=LIGHTHOUSE, id_="lamp", metadata={"tenant": "coast"})
    nodes = SentenceSplitter(chunk_size=60, chunk_overlap=0).get_nodes_from_documents([document])
    index = NLBIndex.from_nodes(nodes, library)
    with open_store(library) as store:
        entry = store.find_book("lamp")
        sections = [section.text.strip() for section in store.sections(entry.id)]
    assert sections == [node.get_content(MetadataMode.NONE) for node in nodes]
    assert entry.metadata == {"tenant": "coast"}
    index.insert_nodes(nodes)
    assert index.report is not None and not index.report.indexed
    index.insert_nodes([*nodes, *SentenceSplitter().get_nodes_from_documents([Document(text=KITCHEN, id_="bread")])])
    assert set(index.ref_doc_info) == {"lamp", "bread"}


def test_nodes_that_come_in_batches_make_one_book(library: Path, tmp_path: Path) -> None:
    nodes = SentenceSplitter(chunk_size=60, chunk_overlap=0).get_nodes_from_documents(documents()[:1])
    index = NLBIndex(library)
    index.insert_nodes(nodes[:2])
    index.insert_nodes(nodes[2:])
    text = text_of(library, "lamp")
    assert [text.count(node.get_content(MetadataMode.NONE)) for node in nodes] == [1] * len(nodes)


def test_what_nodes_share_is_kept_once(library: Path) -> None:
    sentences = " ".join(f"Sentence number {number} is about the harbour." for number in range(60))
    document = Document(text=sentences, id_="overlapping")
    nodes = SentenceSplitter(chunk_size=80, chunk_overlap=40).get_nodes_from_documents([document])
    assert sum(len(node.get_content(MetadataMode.NONE)) for node in nodes) > 1.3 * len(sentences)
    NLBIndex.from_nodes(nodes, library)
    assert text_of(library, "overlapping").split() == sentences.split()


def test_markdown_headings_and_nodes_in_nodes_are_kept(library: Path) -> None:
    markdown = "# Trees\n\nAbout trees.\n\n## Oaks\n\nOaks grow old.\n\n## Elms\n\nElms grow tall.\n"
    nodes = MarkdownNodeParser().get_nodes_from_documents([Document(text=markdown, id_="trees")])
    NLBIndex.from_nodes(nodes, library)
    nested = HierarchicalNodeParser.from_defaults(chunk_sizes=[128, 32]).get_nodes_from_documents(documents()[:1])
    ours = NLBNodeParser().get_nodes_from_documents(documents()[1:])
    NLBIndex.from_nodes([*nested, *ours], library)
    with open_store(library) as store:
        paths = {entry.source: [each.path for each in store.sections(entry.id)] for entry in store.books()}
    assert paths["trees"][1:] == [("Trees",), ("Trees",)]
    assert paths["bread"] == [("CHAPTER I. Flour",), ("CHAPTER II. The Oven",)]
    assert text_of(library, "lamp").split() == LIGHTHOUSE.split()


def test_nodes_without_a_document_are_books_by_their_own_ids(library: Path) -> None:
    made = TextNode(text="A node that somebody made by hand.", id_="mine")
    other = TextNode(
        text="Another one.", relationships={NodeRelationship.SOURCE: RelatedNodeInfo(node_id="their document")}
    )
    index = NLBIndex.from_nodes([made, other], library)
    assert set(index.ref_doc_info) == {"mine", "their document"}


def test_a_short_node_is_kept_though_its_words_stand_in_another(library: Path) -> None:
    def node(text: str, id_: str) -> TextNode:
        source = {NodeRelationship.SOURCE: RelatedNodeInfo(node_id="recipe")}
        return TextNode(text=text, id_=id_, relationships=source)

    index = NLBIndex.from_nodes([node("Salt the water before the pasta goes in.", "a")], library)
    index.insert_nodes([node("Salt", "b")])
    index.insert_nodes([node("Salt", "b")])
    with open_store(library) as store:
        sections = [section.text.strip() for section in store.sections(store.find_book("recipe").id)]
    assert sections == ["Salt the water before the pasta goes in.", "Salt"]


def test_nodes_keep_metadata_of_their_own(library: Path) -> None:
    document = Document(text=KITCHEN, id_="bread", metadata={"tenant": "inland"})
    nodes = SentenceWindowNodeParser.from_defaults().get_nodes_from_documents([document])
    index = NLBIndex.from_nodes(nodes, library)
    index.insert_nodes([TextNode(text="Salt is white.", metadata={"tenant": "inland", "window": "Salt."},
                                 relationships=nodes[0].relationships)])  # fmt: skip
    windows = {node.text.strip(): node.metadata["window"] for node in nodes}
    found = index.as_retriever(similarity_top_k=9).retrieve("flour")
    assert len(found) == len(nodes) + 1
    for each in found:
        assert each.node.metadata["tenant"] == "inland"
        assert each.node.metadata["window"] == windows.get(each.node.text.strip(), "Salt.")
    replaced = MetadataReplacementPostProcessor(target_metadata_key="window").postprocess_nodes(found)
    assert {each.node.text for each in replaced} == {*windows.values(), "Salt."}


def test_a_changed_node_s_metadata_makes_another_version(library: Path) -> None:
    def index(window: str) -> NLBIndex:
        source = {NodeRelationship.SOURCE: RelatedNodeInfo(node_id="recipe")}
        nodes = [
            TextNode(text=text, metadata={"window": window + text}, relationships=source)
            for text in ("Salt the water well.", "Boil the pasta in it.")
        ]
        return NLBIndex.from_nodes(nodes, library)

    index("a ")
    found = index("b ").as_retriever().retrieve("pasta")
    assert {each.node.metadata["window"][:2] for each in found} == {"b "}


def test_metadata_that_pages_do_not_share_is_named_where_it_is_left_out(
    library: Path, caplog: pytest.LogCaptureFixture
) -> None:
    pages = [
        Document(text=KITCHEN, metadata={"file_path": "/bread.pdf", "page_label": label, "scan": label})
        for label in ("1", "2")
    ]
    with caplog.at_level(logging.WARNING):
        NLBIndex.from_documents(pages, library)
    assert "/bread.pdf: metadata that not all of its parts share is left out: scan" in caplog.text
