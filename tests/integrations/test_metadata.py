"""NLBIndex: documents' own metadata beside the library's fields."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from llama_index.core import Document
from llama_index.core.schema import MetadataMode
from llama_index.core.vector_stores.types import FilterOperator, MetadataFilter, MetadataFilters

from nlb_integrations import NLBIndex, NLBRetriever, haystack
from nlb_integrations.llama_index import MergeNeighbours
from nlb_integrations.mcp_results import BookItem, Quotation
from nlb_integrations.prose.prompt import passage_block
from nlb_retriever import Retriever, book_from_text, index_books, index_files
from tests.texts import TALES


@pytest.fixture
def library(tmp_path: Path) -> Path:
    return tmp_path / "library"


COMMON = {
    "source": "wikipedia", "page": 3, "section": "intro", "version": "2.1", "start": "monday", "level": "beginner",
    "language": 5, "year": "1999-2001", "chapter": "A", "kind": "note", "work": "opus 2",
}  # fmt: skip


def test_documents_own_metadata_come_before_the_librarys_fields_of_that_name(library: Path) -> None:
    rye = Document(text="Rye bread is dark.", id_="rye", metadata={**COMMON, "title": None, "book_id": "mine"})
    index = NLBIndex.from_documents([rye, Document(text="Wheat bread is light.", id_="wheat")], library)
    about = next(node for node in index.as_retriever().retrieve("bread") if node.metadata["source"] == "wikipedia")
    assert {key: about.metadata[key] for key in COMMON} == COMMON
    assert about.metadata["title"] == "Rye bread is dark." and about.metadata["book_id"] == about.node.ref_doc_id
    assert {key: index.ref_doc_info["rye"].metadata.get(key) for key in COMMON} == COMMON

    def texts(key: str, value: Any, operator: FilterOperator = FilterOperator.EQ) -> set[str]:
        filters = MetadataFilters(filters=[MetadataFilter(key=key, value=value, operator=operator)])
        return {node.text.split()[0] for node in index.as_retriever(filters=filters).retrieve("bread")}

    for key, value in COMMON.items():
        for name in (key, f"metadata.{key}"):
            assert texts(name, value) == {"Rye"}, name
            assert texts(name, value, FilterOperator.NE) == {"Wheat"}, name
            assert texts(name, None, FilterOperator.IS_EMPTY) <= {"Wheat"}, name
    assert texts("source", "rye") == set() and texts("source", "wheat") == {"Wheat"}
    assert texts("start", 0) == texts("section", 0) == {"Wheat"}
    assert texts("metadata.source", "wheat") == texts("page", "3") == texts("book_id", "mine") == set()


def test_neighbours_are_merged_whatever_a_documents_own_metadata_are(library: Path) -> None:
    tale = Document(text=TALES, id_="tales", metadata={"level": "section", "start": "here", "section_id": "x"})
    index = NLBIndex.from_documents([tale], library, chunk_tokens=48)
    nodes = index.as_retriever(similarity_top_k=50).retrieve("What was in the mill?")
    merged = MergeNeighbours(index.as_retriever(), ratio=2).postprocess_nodes(nodes)
    assert 1 < len(merged) < len(nodes)


def test_language_models_see_documents_own_metadata_unless_the_document_excludes_it(library: Path) -> None:
    rye = Document(
        text="Rye bread is dark.",
        id_="rye",
        metadata={"category": "bread", "secret": "s", "author": "Ann", "source": "a mill", "x": None},
        excluded_llm_metadata_keys=["secret", "no such"],
        excluded_embed_metadata_keys=["category", "secret"],
    )
    node = NLBIndex.from_documents([rye], library).as_retriever().retrieve("rye")[0].node
    assert node.get_content(MetadataMode.LLM) == (
        "author: Ann\nsource: a mill\ncategory: bread\n\nRye bread is dark."  # no title made of the text
    )
    assert node.get_content(MetadataMode.EMBED) == "source: a mill\n\nRye bread is dark."
    assert node.metadata["secret"] == "s" and "excluded_llm_metadata_keys" not in node.metadata
    index = NLBIndex(library)
    rye.excluded_llm_metadata_keys = ["source"]
    assert index.refresh_ref_docs([rye]) == [True]
    assert "secret: s" in index.as_retriever().retrieve("rye")[0].node.get_content(MetadataMode.LLM)
    assert "excluded_llm_metadata_keys" not in index.ref_doc_info["rye"].metadata


def test_a_title_is_shown_where_the_text_does_not_begin_with_it(library: Path) -> None:
    long = "In the mill by the sea there lived a miller whose name nobody knew. " + "He ground rye all day. " * 300
    index = NLBIndex.from_documents([Document(text=long, id_="mill")], library)
    nodes = [scored.node for scored in index.as_retriever(similarity_top_k=50).retrieve("rye")]
    assert len(nodes) > 2
    for node in nodes:
        content = node.get_content(MetadataMode.LLM)
        assert ("title: In the mill" in content) == (node.metadata["ordinal"] > 0)


def test_a_documents_file_is_filtered_by_whatever_its_id_is(library: Path) -> None:
    rye = Document(text="Rye bread is dark.", id_="rye", metadata={"file_path": "/files/rye.txt", "doc_id": "r1"})
    wheat = Document(text="Wheat bread is light.", metadata={"file_path": "/files/wheat.txt"})
    index = NLBIndex.from_documents([rye, wheat], library)
    for key, value, word in (
        ("file_path", "/files/rye.txt", "Rye"),
        ("file_path", "/files/wheat.txt", "Wheat"),
        ("doc_id", "rye", "Rye"),
        ("doc_id", "r1", "Rye"),
    ):
        filters = MetadataFilters(filters=[MetadataFilter(key=key, value=value)])
        assert [node.text.split()[0] for node in index.as_retriever(filters=filters).retrieve("bread")] == [word]


def test_several_authors_are_named_together_and_kept_apart(library: Path) -> None:
    document = Document(text="Rye bread is dark.", id_="rye", metadata={"author": ["Ann", "Bob"]})
    index = NLBIndex.from_documents([document], library)
    (entry,) = index.library.store.books()
    assert entry.author == "Ann, Bob"
    for name in ("Ann", "Bob"):
        filters = MetadataFilters(filters=[MetadataFilter(key="author", value=name)])
        assert index.as_retriever(filters=filters).retrieve("bread")[0].node.metadata["author"] == ["Ann", "Bob"]


def test_mcp_lists_a_book_whose_year_a_former_version_took_though_it_is_none(library: Path) -> None:
    texts = {"c. 1870": "Rye bread is dark.", "1890": "Wheat bread is light."}
    books = [replace(book_from_text(texts[year], source=year), year=year) for year in texts]  # type: ignore[arg-type]
    index_books(books, library)
    with Retriever(library) as retriever:
        assert [BookItem.of(record).year for record in retriever.store.books()] == [None, 1890]


@pytest.mark.parametrize(("tags", "found"), [(["sea", "light"], {"a"}), (["light", "sea"], set()), (["sea"], {"b"})])
def test_a_list_is_equal_to_the_same_list(tags: list[str], found: set[str], library: Path) -> None:
    many = Document(text="The lamp burns.", id_="a", metadata={"tags": ["sea", "light"]})
    one = Document(text="The lamp is out.", id_="b", metadata={"tags": ["sea"]})
    NLBIndex.from_documents([many, one, Document(text="A lamp.", id_="c")], library)
    for operator, expected in (("==", found), ("!=", {"a", "b", "c"} - found)):
        like = MetadataFilter(key="tags", value=tags, operator=FilterOperator(operator))
        with NLBRetriever(library, mode="bm25", filters=MetadataFilters(filters=[like]), similarity_top_k=9) as nlb:
            assert {node.metadata["source"] for node in nlb.retrieve("the lamp")} == expected
        same = {"field": "meta.tags", "operator": operator, "value": tags}
        component = haystack.NLBRetriever(library, mode="bm25", filters=same)
        assert {each.meta["source"] for each in component.run("the lamp")["documents"]} == expected
        component.close()


def test_a_chapter_in_a_file_of_its_own_comes_with_its_work(library: Path, tmp_path: Path) -> None:
    folder = tmp_path / "lamp-of-skerry"
    folder.mkdir()
    for number, word in enumerate(("keeper", "letter", "wreck", "queen"), 1):
        (folder / f"chapter-{number}.txt").write_text(f"CHAPTER {number}\n\nOf the {word}, and of no other.\n")
    index_files(folder, library)
    with Retriever(library) as retriever:
        [hit] = retriever.search("the wreck", limit=1)
        [found] = NLBRetriever(retriever, similarity_top_k=1).retrieve("the wreck")
        [document] = haystack.NLBRetriever(retriever, top_k=1).run("the wreck")["documents"]
    assert hit.titles == ("Lamp of Skerry", "Chapter 3")
    assert found.metadata["work"] == document.meta["work"] == "Lamp of Skerry"
    assert "work: Lamp of Skerry" in found.node.get_content(MetadataMode.LLM)
    assert Quotation.of(hit).heading().startswith("Lamp of Skerry, Chapter 3")
    assert 'from="Lamp of Skerry, Chapter 3' in passage_block(1, hit)
