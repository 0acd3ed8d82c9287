"""NLBIndex: what LlamaIndex users write into a library is there once, whole, and leaves when deleted."""

from __future__ import annotations

import asyncio
import logging
import uuid
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from llama_index.core import Document, SimpleDirectoryReader
from llama_index.core.schema import TextNode
from llama_index.core.vector_stores.types import FilterOperator, MetadataFilter, MetadataFilters

from nlb_integrations import NLBIndex, NLBNodeParser
from nlb_integrations.llama_index import ExtractiveQueryEngine
from nlb_integrations.llama_index import index as index_module
from nlb_retriever import index_files
from nlb_retriever.errors import QueryError
from nlb_retriever.store import open_store
from tests.integrations.indexed import books, documents, text_of
from tests.integrations.ticking import run_while_ticking
from tests.texts import KITCHEN, LIGHTHOUSE

LAMP = "Who took the lamp?"


@pytest.fixture
def library(tmp_path: Path) -> Path:
    return tmp_path / "library"


def found(index: NLBIndex, question: str, **how: Any) -> set[str]:
    return {node.metadata["source"] for node in index.as_retriever(similarity_top_k=50, **how).retrieve(question)}


def test_documents_are_books_with_their_metadata(library: Path) -> None:
    about = {"title": "Storms", "author": "A. H.", "language": "en", "year": "1901", "shelf": "B"}
    with NLBIndex.from_documents([Document(text=LIGHTHOUSE, id_="x", metadata=about), *documents()], library) as index:
        entry = books(library)["x"]
        assert (entry.title, entry.author, entry.language, entry.year) == ("Storms", "A. H.", "en", 1901)
        assert entry.metadata == {"shelf": "B"}
        assert books(library)["lamp"].title == "The Lighthouse Keeper"  # from its title page
        node = index.as_retriever(book="x", similarity_top_k=1).retrieve(LAMP)[0].node
        assert node.metadata["chapter"] == "CHAPTER III. The Niece"
        assert node.metadata["shelf"] == "B"
        assert node.text == LIGHTHOUSE[node.metadata["start"] : node.metadata["end"]]


def test_a_second_start_with_the_same_documents_is_no_work_and_nothing_is_there_twice(library: Path) -> None:
    NLBIndex.from_documents(documents(), library).close()
    before = books(library)
    index = NLBIndex.from_documents(documents(), library)
    assert index.report is not None
    assert (index.report.tokens, len(index.report.unchanged)) == (0, 2)
    assert index.refresh_ref_docs(documents()) == [False, False]
    index.insert(documents()[0])
    assert books(library) == before


def test_documents_without_ids_of_their_own_are_not_doubled_by_a_restart_either(library: Path, tmp_path: Path) -> None:
    def again() -> list[Document]:
        file = {"file_path": str(tmp_path / "bread.txt"), "last_modified_date": str(uuid.uuid4())}
        return [Document(text=LIGHTHOUSE), Document(text=KITCHEN, metadata=file), Document(text=LIGHTHOUSE)]

    first = again()
    NLBIndex.from_documents(first, library)
    ids = sorted(entry.id for entry in books(library).values())
    assert len(ids) == 3  # two documents of one text are two documents
    second = again()
    index = NLBIndex.from_documents(second, library)
    assert index.report is not None and index.report.tokens == 0
    assert sorted(entry.id for entry in books(library).values()) == ids
    assert set(books(library)) == {second[0].node_id, second[2].node_id, str(tmp_path / "bread.txt")}
    index.delete_ref_doc(second[0].node_id)
    assert second[0].node_id not in index.ref_doc_info


def test_refresh_updates_what_has_changed_and_adds_what_is_new(library: Path) -> None:
    index = NLBIndex.from_documents(documents(), library)
    old = books(library)["lamp"]
    changed = [
        Document(text=LIGHTHOUSE.replace("Margaret", "Harriet"), id_="lamp"),
        *documents()[1:],
        Document(text="Apples keep in straw until the spring.", id_="apples"),
    ]
    assert index.refresh_ref_docs(changed) == [True, False, True]
    assert books(library)["lamp"].id == old.id
    assert "Margaret" not in text_of(library, "lamp") and "Harriet" in text_of(library, "lamp")
    assert found(index, "straw", mode="bm25") == {"apples"}
    again = documents()[1]
    again.metadata["tenant"] = "city"
    assert index.refresh_ref_docs([again]) == [True]
    assert books(library)["bread"].metadata["tenant"] == "city"


def test_what_is_deleted_by_a_nodes_ref_doc_id_or_the_documents_own_is_gone(
    library: Path, caplog: pytest.LogCaptureFixture
) -> None:
    index = NLBIndex.from_documents(documents(), library)
    node = index.as_retriever(similarity_top_k=1).retrieve(LAMP)[0].node
    assert set(index.ref_doc_info) == {"lamp", "bread"}
    assert index.ref_doc_info["lamp"].metadata["book_id"] == node.ref_doc_id
    assert node.node_id in index.ref_doc_info["lamp"].node_ids
    assert node.ref_doc_id is not None
    index.delete_ref_doc(node.ref_doc_id, delete_from_docstore=True)
    assert found(index, LAMP) == {"bread"}
    index.delete_ref_doc("bread")
    assert index.ref_doc_info == {} and found(index, LAMP) == set()
    with open_store(library) as store:
        assert [store.count(level) for level in ("book", "section", "passage")] == [0, 0, 0]
    with caplog.at_level(logging.WARNING):
        index.delete_ref_doc("bread")
    assert "bread not found" in caplog.text


def test_a_retrieved_nodes_ref_doc_id_names_its_document(library: Path) -> None:
    index = NLBIndex.from_documents(documents(), library)
    name = index.as_retriever(similarity_top_k=1).retrieve(LAMP)[0].node.ref_doc_id
    assert name is not None and name in index.ref_doc_info
    assert index.ref_doc_info[name] == index.ref_doc_info.get(name) == index.ref_doc_info["lamp"]
    assert "no such" not in index.ref_doc_info and index.ref_doc_info.get("no such") is None
    index.update_ref_doc(Document(text=LIGHTHOUSE.replace("Margaret", "Harriet"), id_=name))
    assert index.refresh_ref_docs([Document(text=KITCHEN, id_=name)]) == [True]
    index.insert(Document(text="Apples keep in straw.", id_=name))
    assert set(index.ref_doc_info) == {"lamp", "bread"} and text_of(library, "lamp") == "Apples keep in straw."
    assert index.ref_doc_info["lamp"].metadata["book_id"] == name


def test_a_document_that_is_known_by_its_file_is_deleted_by_its_own_id_too(library: Path) -> None:
    drawn = Document(text=KITCHEN, metadata={"file_path": "/files/bread.txt"})
    index = NLBIndex(library)
    index.insert(drawn)
    assert set(index.ref_doc_info) == {"/files/bread.txt"}
    index.delete_ref_doc(drawn.node_id)
    assert index.ref_doc_info == {}


def pages(*texts: str, first: int = 1, file: str = "/scans/tale.pdf") -> list[Document]:
    """As SimpleDirectoryReader gives a PDF: a document a page, with random ids."""
    return [
        Document(text=text, metadata={"file_path": file, "file_name": "tale.pdf", "page_label": str(number)})
        for number, text in enumerate(texts, start=first)
    ]


TALE = [f"On page {number} the fox met a {animal}." for number, animal in enumerate(("hare", "crow", "wolf"), start=1)]


def test_the_pages_of_a_file_are_one_book_with_pages(library: Path) -> None:
    index = NLBIndex.from_documents(pages(*TALE), library)
    entry = books(library)["/scans/tale.pdf"]
    assert (entry.title, "page_label" in entry.metadata) == ("Tale", False)
    assert text_of(library, entry.source) == "\n".join(TALE)
    assert index.refresh_ref_docs(pages(*TALE)) == [False] * 3
    assert index.refresh_ref_docs(pages(*TALE[:2])) == [True] * 2  # the last page is no longer there
    assert text_of(library, entry.source) == "\n".join(TALE[:2])
    long = NLBIndex.from_documents(pages(*(f"{text} {'It ran and ran. ' * 120}" for text in TALE)), library)
    labels = {
        node.metadata["start"]: node.metadata["page_label"]
        for node in long.as_retriever(similarity_top_k=50).retrieve("It ran")
    }
    assert [labels[start] for start in sorted(labels)] == sorted(labels.values())
    assert set(labels.values()) == {"1", "2", "3"}


def test_pages_given_one_by_one_or_in_batches_make_the_same_book(library: Path, tmp_path: Path) -> None:
    NLBIndex.from_documents(pages(*TALE), library)
    single, batches = NLBIndex(tmp_path / "single"), NLBIndex(tmp_path / "batches")
    for page in pages(*TALE) + pages(*TALE):
        single.insert(page)
    batches.refresh_ref_docs(pages(*TALE[:2]))
    batches.refresh_ref_docs(pages(TALE[2], first=3))
    whole = books(library)["/scans/tale.pdf"]
    for other in ("single", "batches"):
        assert replace(books(tmp_path / other)["/scans/tale.pdf"], id=whole.id, uuid=whole.uuid) == whole
    single.update_ref_doc(pages("On page 1 the fox met a bear.")[0])
    assert text_of(tmp_path / "single", whole.source) == "\n".join(["On page 1 the fox met a bear.", *TALE[1:]])


def test_simple_directory_readers_documents_are_known_again_by_their_files(tmp_path: Path, library: Path) -> None:
    folder = tmp_path / "files"
    folder.mkdir()
    (folder / "lamp.txt").write_text(LIGHTHOUSE)
    (folder / "bread.txt").write_text(KITCHEN)
    NLBIndex.from_documents(SimpleDirectoryReader(folder).load_data(), library)
    assert set(books(library)) == {str(folder / "lamp.txt"), str(folder / "bread.txt")}
    (folder / "lamp.txt").write_text(LIGHTHOUSE + "\nThe end.\n")
    loaded = SimpleDirectoryReader(folder).load_data()
    changed = NLBIndex(library).refresh_ref_docs(loaded)
    assert {Path(each.metadata["file_path"]).name: did for each, did in zip(loaded, changed, strict=True)} == {
        "bread.txt": False,
        "lamp.txt": True,
    }
    assert len(books(library)) == 2
    index_files([folder], library, prune=True)  # the same books, as our own reader has them
    assert len(books(library)) == 2


def test_parts_of_a_file_without_pages_that_come_one_by_one_do_not_replace_each_other(library: Path) -> None:
    index = NLBIndex(library)
    for text in ("Red apples are sweet.", "Green apples are sour."):
        index.insert(Document(text=text, metadata={"file_path": "/data/apples.jsonl"}))
    assert len(books(library)) == 2
    rows = [Document(text=f"Row {number} of pears.", metadata={"file_path": "/data/pears.csv"}) for number in range(4)]
    for batch in (rows[:2], rows[2:], rows):
        index.refresh_ref_docs(batch)
    assert len(books(library)) == 6


def test_documents_own_metadata_is_filtered_by(library: Path) -> None:
    index = NLBIndex.from_documents(documents(), library)
    for key, operator, value, sources in (
        ("tenant", "==", "coast", {"lamp"}),
        ("tenant", "!=", "coast", {"bread"}),
        ("rank", ">", 3, {"bread"}),
        ("rank", "<=", 3, {"lamp"}),
        ("rank", ">", "a", set()),
        ("rank", "in", [3, 4], {"lamp"}),
        ("tags", "contains", "food", {"bread"}),
        ("tags", "all", ["food", "craft"], {"bread"}),
        ("tags", "is_empty", None, {"lamp"}),
        ("tenant", "text_match_insensitive", "LAND", {"bread"}),
    ):
        filters = MetadataFilters(filters=[MetadataFilter(key=key, value=value, operator=FilterOperator(operator))])  # type: ignore[arg-type]
        for level in ("book", "section", "passage"):
            assert found(index, LAMP, filters=filters, level=level) == sources, (key, operator, value, level)
    wrong = MetadataFilters(filters=[MetadataFilter(key="tennant", value="coast")])
    with pytest.raises(QueryError, match=r"no book has; known keys: .* tenant"):
        found(index, LAMP, filters=wrong)


def test_a_document_without_text_stops_nothing_and_is_named(library: Path, caplog: pytest.LogCaptureFixture) -> None:
    with caplog.at_level(logging.WARNING):
        index = NLBIndex.from_documents([Document(text="", id_="empty"), *documents()], library)
    assert index.report is not None
    assert [str(failed.source) for failed in index.report.failed] == ["empty"]
    assert "empty has no passages" in caplog.text
    assert set(index.ref_doc_info) == {"lamp", "bread"}


def test_odd_texts_and_ids_are_kept(library: Path) -> None:
    odd = [
        Document(text="One line.\r\nAnother\x00 line.\ud800", id_="https://example.org/a//b?c#d"),
        Document(text="Emoji 📚 and 日本語。", id_="with\nnewline", metadata={"when": object(), "nested": {"a": [1]}}),
    ]
    index = NLBIndex.from_documents(odd, library)
    assert set(index.ref_doc_info) == {"https://example.org/a//b?c#d", "with\nnewline"}
    assert index.refresh_ref_docs([odd[0]]) == [False]
    index.delete_ref_doc("https://example.org/a//b?c#d")
    assert set(index.ref_doc_info) == {"with\nnewline"}


def test_an_index_over_a_library_of_files_reads_and_writes_it(library: Path, tmp_path: Path) -> None:
    (tmp_path / "lamp.txt").write_text(LIGHTHOUSE)
    index_files([tmp_path / "lamp.txt"], library)
    index = NLBIndex(library)
    index.insert(documents()[1])
    assert set(index.ref_doc_info) == {str(tmp_path / "lamp.txt"), "bread"}
    index.delete_ref_doc(str(tmp_path / "lamp.txt"))
    assert set(index.ref_doc_info) == {"bread"}


def test_making_one_does_no_work(library: Path) -> None:
    index = NLBIndex(library)
    assert index.ref_doc_info == {}
    index.delete_ref_doc("anything")
    assert not library.exists()


def test_engines_take_the_retrievers_arguments_and_their_own(library: Path) -> None:
    index = NLBIndex.from_documents(documents(), library)
    engine = index.as_query_engine(similarity_top_k=1, book="lamp")
    assert isinstance(engine, ExtractiveQueryEngine)
    assert "Margaret" in str(engine.query("Who took the lamp when Tobias died?"))
    with pytest.raises(QueryError, match="need an LLM"):
        index.as_query_engine(response_mode="compact")


def test_async_writing_never_blocks_the_loop_and_takes_turns(library: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    index = NLBIndex(library)

    async def work() -> None:
        notes = [Document(text=f"Note {number} about apples.", id_=f"note {number}") for number in range(3)]
        await asyncio.gather(*(index.ainsert(note) for note in notes))
        await asyncio.gather(index.adelete_ref_doc("note 1"), index.aupdate_ref_doc(documents()[0]))
        assert await index.arefresh_ref_docs(documents()) == [False, True]
        await index.ainsert_nodes([TextNode(text="A node.", id_="node")])

    run_while_ticking(monkeypatch, index_module, "index_books", work)
    assert set(index.ref_doc_info) == {"note 0", "note 2", "lamp", "bread", "node"}


def test_progress_is_shown_where_there_is_any(library: Path, capsys: pytest.CaptureFixture[str]) -> None:
    NLBIndex.from_documents(documents(), library, show_progress=True)
    assert "2/2 A Book of Country Bread" in capsys.readouterr().err
    NLBIndex.from_documents(documents(), library, show_progress=True)
    assert capsys.readouterr().err == ""


def test_they_are_where_llamaindex_users_look_for_them() -> None:
    from llama_index.embeddings.nlb import ChunkEmbedding, NextLevelEmbedding
    from llama_index.indices.nlb import NLBIndex as there
    from llama_index.node_parser.nlb import NLBNodeParser as parser

    assert (there, parser) == (NLBIndex, NLBNodeParser)
    assert {ChunkEmbedding.class_name(), NextLevelEmbedding.class_name()} == {
        "NLBChunkEmbedding", "NLBNextLevelEmbedding",
    }  # fmt: skip


@pytest.mark.parametrize(
    ("year", "known", "told"),
    [("1901.0", 1901, {}), (-300, -300, {}), ("c. 1850", None, {"year": "c. 1850"}), ("--5", None, {"year": "--5"})],
)
def test_a_value_that_is_not_a_year_is_kept_as_it_is(
    year: object, known: int | None, told: dict[str, Any], library: Path
) -> None:
    NLBIndex.from_documents([Document(text=KITCHEN, id_="x", metadata={"year": year})], library).close()
    assert (books(library)["x"].year, books(library)["x"].metadata) == (known, told)
