"""`DropDuplicates`: which of several nodes that say the same stays."""

from __future__ import annotations

from pathlib import Path

import pytest
from llama_index.core.schema import NodeWithScore, TextNode

from nlb_integrations.llama_index import DropDuplicates, NLBRetriever
from nlb_retriever import index_files
from nlb_retriever.errors import QueryError
from tests.texts import LIGHTHOUSE


def test_of_two_editions_the_better_scored_one_stays(tmp_path: Path) -> None:
    (tmp_path / "first.txt").write_text(LIGHTHOUSE)
    (tmp_path / "second.txt").write_text(LIGHTHOUSE.replace("The Lighthouse Keeper", "The Keeper of the Light", 1))
    index_files([tmp_path], tmp_path / "library")
    with NLBRetriever(tmp_path / "library", similarity_top_k=6) as retriever:
        found = retriever.retrieve("What broke in the November storm?")
    assert len(found) == 6
    kept = DropDuplicates().postprocess_nodes(found)
    chapters = [node.metadata["chapter"] for node in found]
    assert kept == [found[chapters.index(chapter)] for chapter in dict.fromkeys(chapters)]
    assert len(kept) == 3


def texts(*given: tuple[str, float | None]) -> list[NodeWithScore]:
    return [NodeWithScore(node=TextNode(text=text), score=score) for text, score in given]


def test_case_and_punctuation_make_no_difference_and_other_words_do() -> None:
    key, loud = "He found a brass key, under the floor.", "HE FOUND A BRASS KEY UNDER THE FLOOR"
    kept = DropDuplicates().postprocess_nodes(texts((loud, 0.2), (key, 0.9), ("He lost an iron nail in the sea.", 0.1)))
    assert [node.get_content() for node in kept] == [key, "He lost an iron nail in the sea."]


def test_an_overlap_is_dropped_from_its_threshold_on_and_the_order_stays() -> None:
    words = [f"word{number}" for number in range(102)]
    whole, half = " ".join(words[:52]), " ".join(words[26:78])  # 24 of its 50 runs of three are in the first
    nodes = texts((half, 0.1), (whole, 0.5))
    assert [node.get_content() for node in DropDuplicates(0.49).postprocess_nodes(nodes)] == [half, whole]
    assert [node.get_content() for node in DropDuplicates(0.48).postprocess_nodes(nodes)] == [whole]
    part = texts((" ".join(words[3:30]), 0.9), (whole, 0.5))
    assert len(DropDuplicates().postprocess_nodes(part)) == 2, "the longer text says more than the shorter"


def test_one_that_two_others_say_between_them_is_dropped() -> None:
    words = [f"word{number}" for number in range(100)]
    first, second, across = " ".join(words[:50]), " ".join(words[50:]), " ".join(words[20:80])
    kept = DropDuplicates().postprocess_nodes(texts((first, 3), (second, 2), (across, 1)))
    assert [node.get_content() for node in kept] == [first, second]


def test_texts_without_spaces_or_words_or_scores_are_compared_too() -> None:
    chinese = "老托比亚斯在卡罗角的灯塔守了四十年，每天傍晚他都要爬上两百级台阶。"
    kept = DropDuplicates().postprocess_nodes(
        texts((chinese, None), ("前言。" + chinese, None), ("", 1), ("", 1), ("Yes.", 0))
    )
    assert [node.get_content() for node in kept] == [chinese, "", "", "Yes."]


@pytest.mark.parametrize("threshold", [0, -1, 1.5, float("nan")])
def test_a_threshold_that_is_no_share_is_refused(threshold: float) -> None:
    with pytest.raises(QueryError, match="threshold"):
        DropDuplicates(threshold)
