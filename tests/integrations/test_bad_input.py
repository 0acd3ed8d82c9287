"""What cannot be asked is refused by an error of ours that says what to do, whichever way it is asked."""

from __future__ import annotations

import asyncio
import shutil
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from llama_index.core.base.llms.types import CompletionResponse
from llama_index.core.llms import MockLLM
from llama_index.core.schema import Document, QueryBundle, TextNode
from llama_index.core.vector_stores.types import FilterOperator, MetadataFilter, MetadataFilters

from nlb_integrations import NLBIndex, NLBRetriever
from nlb_retriever import Retriever, index_files
from nlb_retriever.errors import LibraryBusy, LibraryNotFound, MismatchError, NlbError, QueryError, StoreError
from nlb_retriever.store import open_store
from nlb_retriever.store.backends.head import HEAD, read_head, write_head
from tests.store.test_lock import other_process

STORM = "What broke in the November storm?"
WAYS: dict[str, Callable[[NLBRetriever], Any]] = {
    "retrieve": lambda nlb: nlb.retrieve(STORM),
    "aretrieve": lambda nlb: asyncio.run(nlb.aretrieve(STORM)),
    "engine": lambda nlb: nlb.as_query_engine().query(STORM),
    "engine with an LLM": lambda nlb: asyncio.run(nlb.as_query_engine(MockLLM()).aquery(STORM)),
    "tool": lambda nlb: nlb.as_tool().call(STORM),
}


@pytest.fixture(params=WAYS)
def ask(request: pytest.FixtureRequest) -> Callable[[NLBRetriever], Any]:
    return WAYS[request.param]


@pytest.fixture(scope="module")
def later(library: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The library as a later version of the program might have left it."""
    folder = tmp_path_factory.mktemp("later") / "library"
    shutil.copytree(library, folder)
    head, _ = read_head(folder / HEAD)
    write_head(folder, replace(head, manifest=replace(head.manifest, format=99)))
    return folder


def test_a_library_of_another_version_is_refused_with_both_versions(
    ask: Callable[[NLBRetriever], Any], later: Path
) -> None:
    with (
        NLBRetriever(later) as nlb,
        pytest.raises(MismatchError, match=r"has format 99, this version reads 2: use the version that made it, or"),
    ):
        ask(nlb)


def test_a_missing_library_is_reported_with_the_command_that_makes_one(
    ask: Callable[[NLBRetriever], Any], tmp_path: Path
) -> None:
    with NLBRetriever(tmp_path / "none") as nlb, pytest.raises(LibraryNotFound, match=r"none: run `nlb index FOLDER`"):
        ask(nlb)
    assert not (tmp_path / "none").exists()


def test_what_is_no_library_is_not_taken_for_one(ask: Callable[[NLBRetriever], Any], tmp_path: Path) -> None:
    (tmp_path / "novel.txt").write_text("A file of the user's.")
    with NLBRetriever(tmp_path) as nlb, pytest.raises(StoreError, match=r"is no library: it holds other files \(novel"):
        ask(nlb)


def test_a_reader_that_hangs_is_in_nobodys_way(ask: Callable[[NLBRetriever], Any], library: Path) -> None:
    with other_process(library, "hold"), NLBRetriever(library) as nlb:
        assert ask(nlb)


def test_a_library_that_is_being_written_answers_with_what_is_published(library: Path, tmp_path: Path) -> None:
    shutil.copytree(library, tmp_path / "library")
    with open_store(tmp_path / "library", writer=True), NLBRetriever(tmp_path / "library") as nlb:
        assert "broke the clock" in nlb.retrieve(STORM)[0].get_content()
        with pytest.raises(LibraryBusy, match="is being written by process"):
            index_files([library.parent / "books"], tmp_path / "library")
        assert "broke the clock" in asyncio.run(nlb.aretrieve(STORM))[0].get_content()


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        (MetadataFilter(key="colour", value="red"), "colour'.*known keys: .*title"),
        (MetadataFilter(key="year", value="old", operator=FilterOperator.GT), "needs a number"),
        (MetadataFilter.model_construct(key="title", value="a", operator="like"), "unknown filter operator 'like'.*=="),
    ],
)
def test_a_wrong_filter_is_reported_with_what_is_right(
    wrong: MetadataFilter, message: str, ask: Callable[[NLBRetriever], Any], opened: Retriever
) -> None:
    nlb = NLBRetriever(opened, filters=MetadataFilters.model_construct(filters=[wrong], condition="and"))
    with pytest.raises(QueryError, match=message) as caught:
        ask(nlb)
    assert isinstance(caught.value, NlbError) and "\n" not in str(caught.value)


def test_a_top_k_of_0_finds_nothing_and_one_larger_than_the_library_all_of_it(opened: Retriever) -> None:
    none, all_of_it = NLBRetriever(opened, similarity_top_k=0), NLBRetriever(opened, similarity_top_k=10**6)
    assert none.retrieve(STORM) == asyncio.run(none.aretrieve(STORM)) == []
    assert none.as_query_engine(MockLLM()).query(STORM).source_nodes == []
    assert str(none.as_query_engine().query(STORM)) == "Empty Response"
    assert none.as_tool().call(STORM).content == ""
    assert len(asyncio.run(all_of_it.aretrieve(STORM))) == opened.store.count("passage")
    assert len(all_of_it.as_query_engine(MockLLM()).query(STORM).source_nodes) == opened.store.count("passage")


def test_retrieval_works_while_the_llm_is_down(opened: Retriever) -> None:
    class Down(MockLLM):
        def complete(self, *_: Any, **__: Any) -> CompletionResponse:
            raise ConnectionError("the model's server is down")

        chat = complete  # type: ignore[assignment]

    nlb = NLBRetriever(opened, similarity_top_k=2)
    engine = nlb.as_query_engine(Down())
    with pytest.raises(ConnectionError, match="server is down"):
        engine.query(STORM)
    assert len(engine.retrieve(QueryBundle(STORM))) == 2
    assert nlb.as_query_engine().query(STORM).source_nodes


def test_one_id_or_document_is_taken_as_one(opened: Retriever, tmp_path: Path) -> None:
    nlb = NLBRetriever(opened)
    parent = nlb.retrieve(STORM)[0].node.parent_node
    assert parent
    assert nlb.get_nodes(parent.node_id) == nlb.get_nodes([parent.node_id]) != []
    index = NLBIndex.from_documents(Document(text="The dog ran away.", id_="dog"), tmp_path)
    assert index.refresh_ref_docs(Document(text="The dog came back.", id_="dog")) == [True]
    index.insert_nodes(TextNode(text="The cat sat.", id_="cat"))
    assert set(index.ref_doc_info) == {"dog", "cat"}


@pytest.mark.parametrize("wrong", [None, "text", ["text"], [Document(text="x"), None], {"a": 1}])
def test_what_is_no_document_is_refused(wrong: Any, tmp_path: Path) -> None:
    index = NLBIndex(tmp_path)
    ways = (index.insert, index.insert_nodes, index.update_ref_doc, index.refresh_ref_docs)
    for write in (*ways, NLBIndex.from_documents, NLBIndex.from_nodes):
        with pytest.raises(QueryError, match="give LlamaIndex's documents or nodes, not "):
            write(wrong)


@pytest.mark.parametrize("ids", [None, 1, [None]])
def test_what_is_no_id_is_refused(ids: Any, opened: Retriever) -> None:
    with pytest.raises(QueryError, match="an id must be a string, not "):
        NLBRetriever(opened).get_nodes(ids)
