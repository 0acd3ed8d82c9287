"""NLBRetriever by itself: what it returns, what it honours, what it refuses."""

from __future__ import annotations

import asyncio
import os
import subprocess
import sys
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from llama_index.core.base.base_retriever import BaseRetriever
from llama_index.core.schema import MetadataMode, NodeRelationship, QueryBundle, TextNode

from nlb_integrations import NLBRetriever
from nlb_integrations.llama_index.nodes import to_nodes
from nlb_retriever import Retriever
from nlb_retriever.config import home
from nlb_retriever.errors import LibraryNotFound, NlbError, QueryError
from nlb_retriever.records import LEVELS, Level

STORM = "What broke in the November storm?"


def ids(retriever: NLBRetriever, question: str | QueryBundle) -> list[str]:
    return [node.node_id for node in retriever.retrieve(question)]


def test_it_is_where_llamaindex_users_look_for_retrievers() -> None:
    from llama_index.retrievers.nlb import NLBRetriever as there

    assert there is NLBRetriever
    assert issubclass(there, BaseRetriever)


def test_importing_it_loads_no_model_library_and_no_other_integration() -> None:
    code = (
        "import sys; sys.addaudithook(lambda event, args: sys.exit('socket') if event == 'socket.connect' else None)\n"
        "from llama_index.retrievers.nlb import NLBRetriever\n"
        "NLBRetriever('nowhere/at-all')\n"
        "others = {'torch', 'transformers', 'openai', 'langchain_core', 'haystack'}\n"
        "print([name for name in sys.modules if name in others or name.startswith('llama_index.llms.')])"
    )
    paths = os.pathsep.join(path for path in sys.path if path)
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, env={**os.environ, "PYTHONPATH": paths}
    )
    assert done.stdout.strip() == "[]", done.stderr


def test_making_one_does_no_work_and_the_first_search_reports_a_missing_library(tmp_path: Path) -> None:
    retriever = NLBRetriever(tmp_path / "none")
    assert not (tmp_path / "none").exists()
    with pytest.raises(LibraryNotFound, match="none"):
        retriever.retrieve(STORM)
    with pytest.raises(LibraryNotFound, match="none"):
        asyncio.run(retriever.aretrieve(STORM))
    with pytest.raises(LibraryNotFound):
        retriever.as_query_engine().query(STORM)


def test_a_library_is_given_by_path_by_name_or_by_url(library: Path, network: list[str]) -> None:
    named = home() / "libraries" / "mine"
    named.parent.mkdir(parents=True)
    named.symlink_to(library)
    with NLBRetriever(str(library)) as by_path, NLBRetriever("mine", mode="bm25") as by_name:
        by_path.mode = "bm25"  # needs no encoder
        assert ids(by_path, STORM)
        by_path.close()
        assert ids(by_name, STORM)
    with pytest.raises(NlbError), NLBRetriever("http://localhost:1/mine") as by_url:
        by_url.retrieve(STORM)
    assert network
    network.clear()


@pytest.mark.parametrize("level", LEVELS)
def test_nodes_are_the_librarys_hits(level: Level, opened: Retriever) -> None:
    found = NLBRetriever(opened, level=level, similarity_top_k=4).retrieve(STORM)
    hits = opened.search(STORM, level=level, limit=4)
    assert [node.node_id for node in found] == [hit.id for hit in hits]
    assert [node.score for node in found] == [pytest.approx(hit.score) for hit in hits]
    assert [node.score for node in found] == sorted((node.score for node in found), reverse=True)
    assert all(isinstance(node.score, float) for node in found)
    for node in found:
        inner = node.node
        assert isinstance(inner, TextNode)
        assert inner.start_char_idx is not None and inner.end_char_idx is not None and inner.ref_doc_id
        assert inner.text == opened.store.book_text(inner.ref_doc_id)[inner.start_char_idx : inner.end_char_idx]


def test_metadata_names_title_author_chapter_and_page_and_only_these_reach_a_language_model(nlb: NLBRetriever) -> None:
    best = nlb.retrieve(STORM)[0].node
    assert best.metadata["title"] == "The Lighthouse Keeper"
    assert best.metadata["author"] == "Ann Harbour"
    assert best.metadata["chapter"] == "CHAPTER II. The Storm"
    assert best.metadata["page_label"] is None
    read = best.get_content(MetadataMode.LLM)
    assert "author: Ann Harbour" in read and "chapter: CHAPTER II. The Storm" in read
    assert best.metadata["book_id"] not in read and "page_label" not in read


def test_a_printed_page_is_shown(opened: Retriever) -> None:
    hit = opened.search(STORM, limit=1)[0]
    node = to_nodes([replace(hit, page="xii")], opened.store)[0].node
    assert node.metadata["page_label"] == "xii"
    assert "page_label: xii" in node.get_content(MetadataMode.LLM)


@pytest.mark.parametrize("level", ["section", "passage"])
def test_following_next_walks_through_the_book_and_previous_back(level: Level, opened: Retriever) -> None:
    found = NLBRetriever(opened, level=level, similarity_top_k=99, book="lighthouse").retrieve(STORM)
    nodes = {node.node_id: node.node for node in found}
    entry = opened.store.find_book("lighthouse")
    assert len(nodes) == (entry.sections if level == "section" else entry.passages) >= 3
    first = [node for node in nodes.values() if node.prev_node is None]
    assert len(first) == 1
    walked, here = [first[0].node_id], first[0]
    while here.next_node:
        before, here = here, nodes[here.next_node.node_id]
        assert here.prev_node and here.prev_node.node_id == before.node_id
        walked.append(here.node_id)
    places = opened.store.sections(entry.id) if level == "section" else opened.store.passages(entry.id)
    assert walked == [place.id for place in places]


def test_parents_are_nodes_of_the_level_above_and_the_source_is_the_book(opened: Retriever) -> None:
    found = {level: NLBRetriever(opened, level=level, similarity_top_k=99).retrieve(STORM) for level in LEVELS}
    for fine, coarse in (("passage", "section"), ("section", "book")):
        above = {node.node_id for node in found[coarse]}  # type: ignore[index]
        for node in found[fine]:  # type: ignore[index]
            assert node.node.parent_node is not None and node.node.parent_node.node_id in above
    books = {entry.id for entry in opened.store.books()}
    assert {node.node.ref_doc_id for nodes in found.values() for node in nodes} == books
    assert NodeRelationship.PARENT not in found["book"][0].node.relationships


def test_what_a_node_names_is_got_by_its_id(opened: Retriever) -> None:
    nlb = NLBRetriever(opened, book="lighthouse", similarity_top_k=99)
    passages = {scored.node_id: scored.node for scored in nlb.retrieve(STORM)}
    middle = next(node for node in passages.values() if node.prev_node and node.next_node)
    assert middle.prev_node and middle.next_node and middle.parent_node and middle.ref_doc_id
    wanted = [middle.parent_node.node_id, middle.next_node.node_id, middle.ref_doc_id, middle.prev_node.node_id]
    parent, after, before = nlb.get_nodes(wanted)
    assert (after, before) == (passages[wanted[1]], passages[wanted[3]])
    sections = NLBRetriever(opened, level="section", book="lighthouse", similarity_top_k=99).retrieve(STORM)
    assert parent in [scored.node for scored in sections]
    assert nlb.get_nodes([]) == []


def test_ids_are_the_same_when_the_library_is_opened_again(nlb: NLBRetriever, library: Path) -> None:
    with NLBRetriever(library, similarity_top_k=3) as again:
        assert ids(again, STORM) == ids(nlb, STORM)


@pytest.mark.parametrize("level", LEVELS)
def test_top_k_of_0_finds_nothing_and_one_larger_than_the_library_everything(level: Level, opened: Retriever) -> None:
    retriever = NLBRetriever(opened, level=level, similarity_top_k=0)
    assert retriever.retrieve(STORM) == []
    retriever.similarity_top_k = 1000
    assert retriever.similarity_top_k == 1000
    assert len(retriever.retrieve(STORM)) == opened.store.count(level)
    retriever.similarity_top_k = 1
    assert len(retriever.retrieve(STORM)) == 1


@pytest.mark.parametrize("count", [-1, 2.5, "3", None, True])
def test_a_top_k_that_is_no_count_is_refused(count: Any, nlb: NLBRetriever) -> None:
    with pytest.raises(QueryError, match="similarity_top_k"):
        nlb.similarity_top_k = count
    assert nlb.similarity_top_k == 3


@pytest.mark.parametrize("wrong", [{"level": "page"}, {"strategy": "deep"}, {"mode": "magic"}])
def test_an_unknown_choice_is_refused_with_the_known_ones(wrong: dict[str, Any], tmp_path: Path) -> None:
    with pytest.raises(QueryError, match="known: "):
        NLBRetriever(tmp_path, **wrong)


def test_book_before_strategy_and_mode_are_those_of_the_library(opened: Retriever) -> None:
    for asked in (
        {"book": "lighthouse", "before": "2"},
        {"strategy": "flat"},
        {"mode": "bm25"},
        {"mode": "dense"},
        {"book": "A Book of Country Bread"},
    ):
        found = NLBRetriever(opened, similarity_top_k=50, **asked).retrieve(STORM)  # type: ignore[arg-type]
        assert [node.node_id for node in found] == [hit.id for hit in opened.search(STORM, limit=50, **asked)]  # type: ignore[arg-type]
    with pytest.raises(QueryError, match="no such"):
        NLBRetriever(opened, book="no such").retrieve(STORM)


@pytest.mark.parametrize("question", ["", "  \n", "\x00"])
def test_an_empty_question_is_refused(question: str, nlb: NLBRetriever) -> None:
    with pytest.raises(QueryError, match="empty"):
        nlb.retrieve(question)


def test_a_bundles_own_embedding_is_searched_with_and_stays_as_it_was(opened: Retriever) -> None:
    retriever = NLBRetriever(opened, similarity_top_k=1, mode="dense")
    text = "red roses along the garden wall"
    given = (3 * opened.vectorizer.raw_queries([text])[0].whole).tolist()
    bundle = QueryBundle(STORM, embedding=list(given))
    assert ids(retriever, bundle) == ids(retriever, text) != ids(retriever, STORM)
    assert bundle.embedding == given
    assert ids(retriever, QueryBundle("", embedding=given)) == ids(retriever, text)


@pytest.mark.parametrize("embedding", [[1.0, 2.0], [0.0] * 384, [float("nan")] * 384, [[1.0] * 384]])
def test_an_embedding_of_another_model_is_refused(embedding: Any, nlb: NLBRetriever) -> None:
    with pytest.raises(QueryError, match="embedding"):
        nlb.retrieve(QueryBundle(STORM, embedding=embedding))


def test_a_bundles_embedding_strings_are_searched_with_together(opened: Retriever) -> None:
    retriever = NLBRetriever(opened, similarity_top_k=1, mode="dense")
    roses, bread = "red roses along the garden wall", "sift the flour before you weigh it"
    assert ids(retriever, QueryBundle(STORM, custom_embedding_strs=[roses])) == ids(retriever, roses)
    retriever.similarity_top_k = 2
    both = ids(retriever, QueryBundle(STORM, custom_embedding_strs=[roses, bread]))
    retriever.similarity_top_k = 1
    assert set(both) == {*ids(retriever, roses), *ids(retriever, bread)}


def test_words_of_the_question_count_beside_an_embedding(opened: Retriever) -> None:
    retriever = NLBRetriever(opened, similarity_top_k=2, strategy="flat")
    roses = "red roses along the garden wall"
    found = ids(retriever, QueryBundle("Margaret niece city", custom_embedding_strs=[roses]))
    dense, words = NLBRetriever(opened, similarity_top_k=1), NLBRetriever(opened, similarity_top_k=1, mode="bm25")
    assert set(found) == {*ids(dense, roses), *ids(words, "Margaret niece city")}
