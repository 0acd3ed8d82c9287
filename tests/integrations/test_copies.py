"""Retrievers and postprocessors that are copied, pickled, or made again from what describes them."""

from __future__ import annotations

import copy
import pickle
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from haystack import Pipeline
from llama_index.core import Document
from llama_index.core.postprocessor.types import BaseNodePostprocessor
from llama_index.core.schema import NodeWithScore

from nlb_integrations import NLBIndex, NLBRetriever, haystack, langchain
from nlb_integrations.llama_index import MergeNeighbours, NextLevelReranker, ReaderReranker
from nlb_retriever import Retriever
from tests.texts import KITCHEN

STORM = "What broke in the November storm?"
Copy = Callable[[Any], Any]
COPIES: dict[str, Copy] = {"deepcopy": copy.deepcopy, "pickle": lambda each: pickle.loads(pickle.dumps(each))}

copies = pytest.mark.parametrize("copied", COPIES.values(), ids=COPIES)


@copies
def test_a_copy_of_a_retriever_opens_the_library_for_itself(copied: Copy, opened: Retriever) -> None:
    again = copied(opened)
    assert (again.location, again.has_reader) == (opened.location, opened.has_reader)
    assert again._store is None
    with again:
        assert again.search(STORM, mode="bm25") == opened.search(STORM, mode="bm25")


@copies
def test_copies_of_every_frameworks_retriever_find_the_same(copied: Copy, opened: Retriever) -> None:
    made: list[tuple[Any, str]] = [
        (NLBRetriever(opened, mode="bm25"), "retrieve"),
        (langchain.NLBRetriever(library=opened, mode="bm25"), "invoke"),
        (haystack.NLBRetriever(opened, mode="bm25"), "run"),
    ]
    for retriever, search in made:
        again = copied(retriever)
        assert getattr(again, search)(STORM) == getattr(retriever, search)(STORM)
        again.library.close()


@copies
def test_a_copy_of_an_index_writes_and_reads_the_library_for_itself(copied: Copy, tmp_path: Path) -> None:
    document = Document(text=KITCHEN, metadata={"file_path": str(tmp_path / "kitchen.txt")})
    index = NLBIndex.from_documents(document, tmp_path / "library", chunk_tokens=64)
    again = copied(index)
    assert (again.report, again.refresh_ref_docs(document)) == (index.report, [False])
    again.delete_ref_doc(document.node_id)  # a random id, which the library does not hold
    assert not again.ref_doc_info and not index.ref_doc_info


def test_a_pipeline_of_haystack_is_copied(opened: Retriever) -> None:
    pipeline = Pipeline()
    pipeline.add_component("retriever", haystack.NLBRetriever(opened, mode="bm25"))
    copied = copy.deepcopy(pipeline)
    assert copied.run({"retriever": {"query": STORM}}) == pipeline.run({"retriever": {"query": STORM}})
    copied.get_component("retriever").close()  # type: ignore[attr-defined]


@pytest.mark.parametrize("kind", [MergeNeighbours, NextLevelReranker, ReaderReranker])
def test_postprocessors_keep_their_library(
    kind: type[MergeNeighbours | NextLevelReranker | ReaderReranker], tales: Retriever, chapter: list[NodeWithScore]
) -> None:
    made: BaseNodePostprocessor = kind(tales)
    again = [copied(made) for copied in COPIES.values()]
    for other in (*again, kind.from_dict(made.to_dict()), kind.from_json(made.to_json())):
        assert other.library == other._library.location == tales.location
        assert other.to_dict() == made.to_dict()
        done = other.postprocess_nodes(chapter, query_str="Who lived in the mill?")
        assert done == made.postprocess_nodes(chapter, query_str="Who lived in the mill?")
        other._library.close()


@pytest.mark.parametrize("shared", [True, False])
def test_a_library_set_later_is_the_one_that_is_searched_and_saved(
    shared: bool, opened: Retriever, tmp_path: Path
) -> None:
    library: Any = opened if shared else opened.location
    made: list[tuple[Any, str]] = [
        (NLBRetriever(tmp_path / "none", mode="bm25"), "retrieve"),
        (langchain.NLBRetriever(library=tmp_path / "none", mode="bm25"), "invoke"),
        (haystack.NLBRetriever(tmp_path / "none", mode="bm25"), "run"),
    ]
    for retriever, search in made:
        same = type(retriever)(library=opened, mode="bm25")
        retriever.library = library
        assert getattr(retriever, search)(STORM) == getattr(same, search)(STORM)
        assert retriever.library.location == opened.location
    assert made[2][0].to_dict()["init_parameters"]["library"] == opened.location
    changed = langchain.NLBRetriever(library=tmp_path / "none", mode="bm25").model_copy(update={"library": library})
    assert changed.invoke(STORM) == made[1][0].invoke(STORM)
