"""MergeNeighbours on nodes of a real small library: their texts, spans, scores and budgets."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pytest
from llama_index.core.schema import MetadataMode, NodeRelationship, NodeWithScore, TextNode

from nlb_integrations.llama_index import MergeNeighbours, NLBRetriever
from nlb_retriever import Retriever
from nlb_retriever.errors import QueryError
from tests.doubles import bare_tokenizer

QUESTION = "Who found a brass key under the floor of the mill?"


def book_text(library: Retriever) -> str:
    return library.store.book_text(library.store.books()[0].id)


def tokens(nodes: Sequence[NodeWithScore]) -> int:
    """As a language model is shown them, counted by the tokenizer's own file."""
    tokenizer = bare_tokenizer()
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
