"""The postprocessors together: in engines, sync and async, over a shared library."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any

import pytest
from llama_index.core.llms import MockLLM
from llama_index.core.postprocessor.types import BaseNodePostprocessor
from llama_index.core.query_engine import CitationQueryEngine, RetrieverQueryEngine
from llama_index.core.retrievers import QueryFusionRetriever

from nlb_integrations.llama_index import DropDuplicates, MergeNeighbours, NextLevelReranker, NLBRetriever
from nlb_retriever import Retriever
from nlb_retriever.errors import LibraryNotFound
from tests.integrations.ticking import run_while_ticking
from tests.texts import SUMMARY


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
    assert len({node.metadata["section_id"] for node in found}) == len(found), "no section is there twice"


@pytest.mark.parametrize("which", [0, 1, 2])
def test_the_event_loop_goes_on_while_one_works(which: int, tales: Retriever, monkeypatch: pytest.MonkeyPatch) -> None:
    postprocessor = every(tales)[which]
    found = NLBRetriever(tales, level="section", similarity_top_k=50, mode="dense").retrieve(SUMMARY)
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
    found = NLBRetriever(tales, level="section", similarity_top_k=50).retrieve(SUMMARY)
    for postprocessor in (MergeNeighbours(tmp_path / "none"), NextLevelReranker(str(tmp_path / "none"))):
        assert not (tmp_path / "none").exists()
        assert postprocessor.postprocess_nodes([], query_str=SUMMARY) == []
        with pytest.raises(LibraryNotFound, match="none"):
            postprocessor.postprocess_nodes(found, query_str=SUMMARY)
