"""Postprocessors on nodes of a real small library: their texts, places, scores and budgets."""

from __future__ import annotations

import asyncio
import bz2
import json
import tarfile
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import pytest
from llama_index.core.llms import MockLLM
from llama_index.core.postprocessor.types import BaseNodePostprocessor
from llama_index.core.query_engine import CitationQueryEngine, RetrieverQueryEngine
from llama_index.core.retrievers import QueryFusionRetriever
from llama_index.core.schema import MetadataMode, NodeRelationship, NodeWithScore, TextNode

from nlb_integrations.llama_index import DropDuplicates, MergeNeighbours, NextLevelReranker, NLBRetriever
from nlb_retriever import Retriever, index_files
from nlb_retriever.errors import LibraryNotFound, QueryError
from nlb_retriever.model.checkpoint import UNTRAINED
from nlb_retriever.search.reranking import rerank_sections
from tests.doubles import minilm_tokenizer
from tests.integrations.ticking import run_while_ticking
from tests.texts import TALES

QUESTION = "Who found a brass key under the floor of the mill?"


@pytest.fixture(scope="module")
def tales(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Retriever]:
    """One book of four chapters, each of several passages."""
    folder = tmp_path_factory.mktemp("tales")
    (folder / "tales.txt").write_text(TALES)
    index_files([folder / "tales.txt"], folder / "library", chunk_tokens=48)
    with Retriever(folder / "library") as retriever:
        yield retriever


@pytest.fixture(scope="module")
def chapter(tales: Retriever) -> list[NodeWithScore]:
    """All passages of the third chapter, in reading order, with falling scores."""
    everything = NLBRetriever(tales, similarity_top_k=1000).retrieve(QUESTION)
    own = [node for node in everything if node.metadata["section"] == 2]
    own.sort(key=lambda node: node.metadata["ordinal"])
    assert len(own) >= 4
    return [NodeWithScore(node=node.node, score=1 - place / 10) for place, node in enumerate(own)]


def book_text(library: Retriever) -> str:
    return library.store.book_text(library.store.books()[0].id)


def tokens(nodes: Sequence[NodeWithScore]) -> int:
    """As a language model is shown them, counted by the tokenizer's own file."""
    tokenizer = minilm_tokenizer()
    tokenizer.no_truncation()
    tokenizer.no_padding()
    texts = [node.node.get_content(MetadataMode.LLM) for node in nodes]
    return sum(len(tokenizer.encode(text, add_special_tokens=False)) for text in texts)


def inner(found: NodeWithScore) -> TextNode:
    assert isinstance(found.node, TextNode)
    return found.node


# -- MergeNeighbours ---------------------------------------------------------------------------


def test_neighbours_become_one_node_with_the_exact_text_between_them(
    tales: Retriever, chapter: list[NodeWithScore]
) -> None:
    merged = MergeNeighbours(tales, ratio=2).postprocess_nodes([chapter[1], chapter[2], chapter[0]])
    assert len(merged) == 1
    node, first, last = inner(merged[0]), inner(chapter[0]), inner(chapter[2])
    assert (node.start_char_idx, node.end_char_idx) == (first.start_char_idx, last.end_char_idx)
    assert node.text == book_text(tales)[node.start_char_idx : node.end_char_idx]
    assert merged[0].score == 1.0
    assert node.metadata == first.metadata
    assert node.source_node == first.source_node and node.parent_node == first.parent_node
    assert node.prev_node == first.prev_node and node.next_node == last.next_node
    assert node.child_nodes is not None
    assert [child.node_id for child in node.child_nodes] == [each.node_id for each in chapter[:3]]


def test_what_does_not_touch_stays_apart_and_a_single_passage_stays_itself(
    tales: Retriever, chapter: list[NodeWithScore]
) -> None:
    merged = MergeNeighbours(tales, ratio=2).postprocess_nodes([chapter[0], chapter[1], chapter[3]])
    assert [len(inner(node).child_nodes or []) for node in merged] == [2, 0]
    assert merged[1].node is chapter[3].node
    assert [node.score for node in merged] == [1.0, chapter[3].score]


def test_passages_beside_each_other_in_two_sections_are_not_joined(tales: Retriever) -> None:
    everything = NLBRetriever(tales, similarity_top_k=1000).retrieve(QUESTION)
    by_ordinal = {node.metadata["ordinal"]: node for node in everything}
    border = next(n for n in sorted(by_ordinal) if by_ordinal[n].metadata["section"] == 1)
    pair = [by_ordinal[border - 1], by_ordinal[border]]
    assert {node.node_id for node in MergeNeighbours(tales, ratio=2).postprocess_nodes(pair)} == {
        node.node_id for node in pair
    }


def test_the_same_span_has_the_same_id_however_it_was_found(tales: Retriever, chapter: list[NodeWithScore]) -> None:
    merge = MergeNeighbours(tales, ratio=2)
    at_once = merge.postprocess_nodes(chapter[:3])
    in_steps = merge.postprocess_nodes([*merge.postprocess_nodes(chapter[:2]), chapter[2], chapter[1]])
    assert inner(in_steps[0]) == inner(at_once[0])
    assert merge.postprocess_nodes(chapter[:2])[0].node_id != at_once[0].node_id
    assert [node.node for node in merge.postprocess_nodes(at_once)] == [node.node for node in at_once]


def test_a_section_of_which_enough_was_found_is_taken_whole_as_the_retriever_gives_it(
    tales: Retriever, chapter: list[NodeWithScore]
) -> None:
    half = chapter[: (len(chapter) + 1) // 2]
    whole = MergeNeighbours(tales).postprocess_nodes([half[-1], *half[:-1]])
    sections = NLBRetriever(tales, level="section", similarity_top_k=100).retrieve(QUESTION)
    assert [node.node for node in whole] == [node.node for node in sections if node.metadata["section"] == 2]
    assert whole[0].score == 1.0
    assert len(MergeNeighbours(tales).postprocess_nodes(half[:1])) == 1
    assert MergeNeighbours(tales).postprocess_nodes(half[:1])[0].metadata["level"] == "passage"
    assert MergeNeighbours(tales, ratio=0).postprocess_nodes(half[:1])[0].metadata["level"] == "section"


def test_a_section_found_beside_its_own_passages_swallows_them(tales: Retriever, chapter: list[NodeWithScore]) -> None:
    sections = NLBRetriever(tales, level="section", similarity_top_k=100).retrieve(QUESTION)
    third = next(node for node in sections if node.metadata["section"] == 2)
    merged = MergeNeighbours(tales, ratio=2).postprocess_nodes(
        [NodeWithScore(node=third.node, score=0.3), *chapter[1:3]]
    )
    assert [(node.node_id, node.score) for node in merged] == [(third.node_id, chapter[1].score)]


@pytest.mark.parametrize("budget", [1, 40, 60, 100, 150, 220, 300, 500, 1000, 10_000])
@pytest.mark.parametrize("ratio", [0, 0.5, 2])
def test_the_budget_is_never_exceeded_and_the_best_stay(budget: int, ratio: float, tales: Retriever) -> None:
    found = NLBRetriever(tales, similarity_top_k=15).retrieve(QUESTION)
    merged = MergeNeighbours(tales, token_budget=budget, ratio=ratio).postprocess_nodes(found)
    assert tokens(merged) <= budget
    text = book_text(tales)
    for node in merged:
        assert inner(node).text == text[inner(node).start_char_idx : inner(node).end_char_idx]
        assert isinstance(node.score, float)
    assert [node.score for node in merged] == sorted((node.score for node in merged), reverse=True)  # type: ignore[type-var]
    if budget >= tokens(found[:1]):
        assert merged and inner(found[0]).text in merged[0].get_content()
    if budget >= tokens(found):
        assert all(any(inner(one).text in each.get_content() for each in merged) for one in found)


def test_what_was_found_is_never_given_up_for_a_whole_section(tales: Retriever, chapter: list[NodeWithScore]) -> None:
    stranger = NodeWithScore(node=TextNode(text="A short note of somebody else's."), score=0.1)
    whole = MergeNeighbours(tales, ratio=0).postprocess_nodes(chapter[:1])
    budget = tokens(whole) + tokens([stranger]) - 1
    merged = MergeNeighbours(tales, token_budget=budget, ratio=0).postprocess_nodes([chapter[0], stranger])
    assert [node.node_id for node in merged] == [chapter[0].node_id, stranger.node_id]


def test_nodes_of_others_stay_as_they_are_and_have_a_score(tales: Retriever, chapter: list[NodeWithScore]) -> None:
    cut = inner(chapter[3]).model_copy(update={"text_resource": None})
    others = [
        NodeWithScore(node=TextNode(text="plain")),
        NodeWithScore(node=TextNode(text="a section of another kind", metadata={"section_id": "3", "book_id": "x"})),
        NodeWithScore(node=TextNode(text="cut", metadata=inner(chapter[3]).metadata, start_char_idx=0, end_char_idx=3)),
        NodeWithScore(node=cut),
        *NLBRetriever(tales, level="book", similarity_top_k=1).retrieve(QUESTION),
    ]
    merged = MergeNeighbours(tales, ratio=2).postprocess_nodes([*others, *chapter[:2]])
    assert {node.node_id for node in others} < {node.node_id for node in merged}
    assert len(merged) == len(others) + 1
    assert all(isinstance(node.score, float) for node in merged)


def test_the_nodes_that_go_in_are_not_changed(tales: Retriever, chapter: list[NodeWithScore]) -> None:
    before = [node.model_dump_json() for node in chapter]
    MergeNeighbours(tales).postprocess_nodes(list(chapter))
    assert [node.model_dump_json() for node in chapter] == before


# -- NextLevelReranker -------------------------------------------------------------------------

SUMMARY = (
    "A young man discovers a hidden key in a mill. With a light he crosses the swamp to a flooded church. "
    "He opens a box of old account books. They prove that the customers were cheated over their grain for decades. "
    "The owner wants to beat him, but is ashamed when he reads. At last the people are given back what they are owed."
)
"""What the last chapter tells, in its order and in other words."""


def sections_of(library: Retriever, **how: Any) -> list[NodeWithScore]:
    return NLBRetriever(library, level="section", similarity_top_k=50, **how).retrieve(SUMMARY)


@pytest.mark.parametrize("how", [{"mode": "dense"}, {"strategy": "flat"}])
def test_sections_of_every_mode_are_put_in_the_rerankers_order(how: dict[str, Any], tales: Retriever) -> None:
    """Whatever order they come in: here the worst has the best score."""
    found = sections_of(tales, **how)
    given = [NodeWithScore(node=node.node, score=place) for place, node in enumerate(found)]
    ranked = NextLevelReranker(tales).postprocess_nodes(given, query_str=SUMMARY)
    scores = rerank_sections(SUMMARY, [node.node_id for node in found], tales.store, tales.vectorizer)
    assert {node.node_id: node.score for node in ranked} == pytest.approx(scores)
    assert [node.node_id for node in ranked] == [hit.id for hit in tales.search(SUMMARY, level="section")]
    assert ranked[0].metadata["chapter"] == "CHAPTER IV. The Mill"


def test_top_n_keeps_the_best(tales: Retriever) -> None:
    found = sections_of(tales, mode="dense")
    best = NextLevelReranker(tales).postprocess_nodes(found, query_str=SUMMARY)
    assert NextLevelReranker(tales, top_n=2).postprocess_nodes(found, query_str=SUMMARY) == best[:2]
    assert NextLevelReranker(tales, top_n=0).postprocess_nodes(found, query_str=SUMMARY) == []
    for wrong in (-1, 1.5, True):
        with pytest.raises(QueryError, match="top_n"):
            NextLevelReranker(tales, top_n=wrong)  # type: ignore[arg-type]


def test_passages_follow_their_sections_and_strangers_come_last(tales: Retriever) -> None:
    stranger = NodeWithScore(node=TextNode(text="of another library"), score=99.0)
    passages = NLBRetriever(tales, similarity_top_k=20, mode="dense").retrieve(SUMMARY)
    ranked = NextLevelReranker(tales).postprocess_nodes([stranger, *passages], query_str=SUMMARY)
    assert ranked[-1].node is stranger.node
    scores = rerank_sections(SUMMARY, [node.metadata["section_id"] for node in passages], tales.store, tales.vectorizer)
    assert [node.score for node in ranked[:-1]] == [scores[node.metadata["section_id"]] for node in ranked[:-1]]
    for section in scores:
        own = [node.node_id for node in ranked if node.metadata.get("section_id") == section]
        assert own == [node.node_id for node in passages if node.metadata["section_id"] == section]
    assert [node.score for node in ranked] == sorted((node.score for node in ranked), reverse=True)  # type: ignore[type-var]


def test_it_steps_aside_for_short_questions_single_sections_and_books(tales: Retriever) -> None:
    rerank = NextLevelReranker(tales, top_n=3)
    found = sections_of(tales, mode="dense")
    assert rerank.postprocess_nodes(found, query_str="A key is found. A bell rings.") == found[:3]
    assert rerank.postprocess_nodes(found[:1], query_str=SUMMARY) == found[:1]
    books = NLBRetriever(tales, level="book").retrieve(SUMMARY)
    assert rerank.postprocess_nodes(books, query_str=SUMMARY) == books
    assert rerank.postprocess_nodes([]) == []
    with pytest.raises(QueryError, match="needs the query"):
        rerank.postprocess_nodes(found)


def test_it_steps_aside_where_the_librarys_checkpoint_has_no_reranker(tmp_path: Path) -> None:
    (tmp_path / "tales.txt").write_text(TALES)
    index_files([tmp_path / "tales.txt"], tmp_path / "library", checkpoint=UNTRAINED)
    with Retriever(tmp_path / "library") as retriever:
        found = sections_of(retriever, mode="dense")
        assert len(found) == 4
        assert NextLevelReranker(retriever).postprocess_nodes(found, query_str=SUMMARY) == found


def test_it_finds_the_chapters_of_real_summaries_better_than_their_vectors_do(data_dir: Path, tmp_path: Path) -> None:
    name = "Summary-Comparison-UO___the_invisible_man.txt"
    with tarfile.open(data_dir / "corpus" / "dev.tar.bz2") as books:
        member = next(member for member in books if Path(member.name).name == name)
        books.extract(member.replace(name=name), tmp_path, filter="data")
    index_files([tmp_path / name], tmp_path / "library")
    with bz2.open(data_dir / "eval" / "booksum_chapters_val.jsonl.bz2", "rt", encoding="utf-8") as lines:
        rows = [row for row in map(json.loads, lines) if row["book_file"] == name and not row["is_aggregate"]][::2]
    before, after = [], []
    with NLBRetriever(tmp_path / "library", level="section", mode="dense", similarity_top_k=50) as dense:
        rerank = NextLevelReranker(dense)
        for row in rows:
            found = dense.retrieve(row["summary"])
            before.append(reciprocal_rank(found, row))
            after.append(reciprocal_rank(rerank.postprocess_nodes(found, query_str=row["summary"]), row))
    assert len(rows) > 20
    assert sum(after) / len(after) > sum(before) / len(before), (before, after)


def reciprocal_rank(nodes: Sequence[NodeWithScore], row: dict[str, Any]) -> float:
    """Of the first section that shares half of the shorter span with the chapter."""
    for rank, node in enumerate(map(inner, nodes), start=1):
        start, end = node.start_char_idx or 0, node.end_char_idx or 0
        if 2 * (min(end, row["end"]) - max(start, row["start"])) >= min(end - start, row["end"] - row["start"]):
            return 1 / rank
    return 0.0


# -- all of them -------------------------------------------------------------------------------


def every(library: Any) -> list[BaseNodePostprocessor]:
    return [NextLevelReranker(library), DropDuplicates(), MergeNeighbours(library)]


def test_they_work_in_query_engines_sync_and_async(tales: Retriever) -> None:
    retriever = NLBRetriever(tales, similarity_top_k=12, mode="dense")
    engines = [
        RetrieverQueryEngine.from_args(retriever, llm=MockLLM(), node_postprocessors=every(retriever)),
        CitationQueryEngine.from_args(None, retriever=retriever, llm=MockLLM(), node_postprocessors=every(retriever)),  # type: ignore[arg-type]
        retriever.as_query_engine(MockLLM(), node_postprocessors=every(retriever)),
    ]
    for engine in engines:
        now = engine.query(SUMMARY).source_nodes
        later = asyncio.run(engine.aquery(SUMMARY)).source_nodes
        assert [node.get_content() for node in now] == [node.get_content() for node in later]
        assert now[0].metadata["section_id"] == tales.search(SUMMARY, level="section", limit=1)[0].id


def test_they_work_on_what_a_fusion_of_levels_found(tales: Retriever) -> None:
    parts = [NLBRetriever(tales, level="section", mode="dense"), NLBRetriever(tales, level="passage", mode="bm25")]
    fusion = QueryFusionRetriever(parts, llm=MockLLM(), num_queries=1, similarity_top_k=20, use_async=False)
    engine = RetrieverQueryEngine.from_args(fusion, llm=MockLLM(), node_postprocessors=every(tales))
    found = engine.query(SUMMARY).source_nodes
    assert found[0].metadata["section_id"] == tales.search(SUMMARY, level="section", limit=1)[0].id
    assert len({node.metadata["section_id"] for node in found}) == len(found), "no section is told twice"


@pytest.mark.parametrize("which", [0, 1, 2])
def test_the_event_loop_goes_on_while_one_works(which: int, tales: Retriever, monkeypatch: pytest.MonkeyPatch) -> None:
    postprocessor = every(tales)[which]
    found = sections_of(tales, mode="dense")
    expected = postprocessor.postprocess_nodes(found, query_str=SUMMARY)
    nodes = run_while_ticking(
        monkeypatch,
        type(postprocessor),
        "_postprocess_nodes",
        lambda: postprocessor.apostprocess_nodes(found, query_str=SUMMARY),
    )
    assert nodes == expected


def test_making_one_does_no_work_and_a_missing_library_is_reported_when_it_is_needed(
    tmp_path: Path, tales: Retriever
) -> None:
    found = sections_of(tales)
    for postprocessor in (MergeNeighbours(tmp_path / "none"), NextLevelReranker(str(tmp_path / "none"))):
        assert not (tmp_path / "none").exists()
        assert postprocessor.postprocess_nodes([], query_str=SUMMARY) == []
        with pytest.raises(LibraryNotFound, match="none"):
            postprocessor.postprocess_nodes(found, query_str=SUMMARY)


@pytest.mark.parametrize(
    ("wrong", "message"),
    [({"token_budget": 0}, "token_budget"), ({"token_budget": 1.5}, "token_budget"), ({"ratio": -0.1}, "ratio")],
)
def test_a_budget_or_ratio_that_is_none_is_refused(wrong: dict[str, Any], message: str) -> None:
    with pytest.raises(QueryError, match=message):
        MergeNeighbours(**wrong)


def test_a_joined_node_survives_being_stored(tales: Retriever, chapter: list[NodeWithScore]) -> None:
    merged = MergeNeighbours(tales, ratio=2).postprocess_nodes(chapter[:2])
    again = TextNode.from_json(inner(merged[0]).to_json())
    assert again == merged[0].node
    assert NodeRelationship.CHILD in again.relationships
