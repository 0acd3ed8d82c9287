"""NextLevelReranker on nodes of a real small library, and on summaries of real chapters."""

from __future__ import annotations

import bz2
import json
import tarfile
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
from llama_index.core.schema import NodeWithScore, TextNode

from nlb_integrations.llama_index import NextLevelReranker, NLBRetriever
from nlb_retriever import Retriever, index_files
from nlb_retriever.errors import QueryError
from nlb_retriever.model.checkpoint import UNTRAINED
from nlb_retriever.search.reranking import rerank_sections
from tests.texts import SUMMARY, TALES


def inner(found: NodeWithScore) -> TextNode:
    assert isinstance(found.node, TextNode)
    return found.node


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


def test_it_finds_the_chapters_of_real_summaries_better_than_their_words_do(data_dir: Path, tmp_path: Path) -> None:
    name = "Summary-Comparison-UO___the_invisible_man.txt"
    with tarfile.open(data_dir / "corpus" / "dev.tar.bz2") as books:
        member = next(member for member in books if Path(member.name).name == name)
        books.extract(member.replace(name=name), tmp_path, filter="data")
    index_files([tmp_path / name], tmp_path / "library")
    with bz2.open(data_dir / "eval" / "booksum_chapters_val.jsonl.bz2", "rt", encoding="utf-8") as lines:
        rows = [row for row in map(json.loads, lines) if row["book_file"] == name and not row["is_aggregate"]]
    before, after = [], []
    with NLBRetriever(tmp_path / "library", level="section", mode="bm25", similarity_top_k=50) as words:
        rerank = NextLevelReranker(words)
        for row in rows:
            found = words.retrieve(row["summary"])
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
