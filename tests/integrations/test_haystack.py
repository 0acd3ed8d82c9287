"""NLBRetriever as a Haystack component: by itself, in pipelines, saved and loaded."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any

import pytest
from haystack import Document, Pipeline
from haystack.components.builders import PromptBuilder
from haystack.core.errors import PipelineRuntimeError
from haystack.document_stores.types import FilterPolicy
from haystack.tools import ComponentTool
from haystack.utils.filters import document_matches_filter

from nlb_integrations.haystack import NLBRetriever
from nlb_retriever import Retriever
from nlb_retriever.errors import LibraryNotFound, QueryError, StoreError
from nlb_retriever.records import LEVELS, Level
from tests.integrations.ticking import run_while_ticking

STORM = "What broke in the November storm?"
TEMPLATE = "{% for each in documents %}{{ each.meta.title }}: {{ each.content }}\n{% endfor %}Question: {{ question }}"


@pytest.fixture
def nlb(opened: Retriever) -> NLBRetriever:
    return NLBRetriever(opened, top_k=3)


def ids(found: dict[str, list[Document]]) -> list[str]:
    return [document.id for document in found["documents"]]


def meta(key: str, operator: str, value: Any) -> dict[str, Any]:
    return {"field": f"meta.{key}", "operator": operator, "value": value}


def group(operator: str, *conditions: dict[str, Any]) -> dict[str, Any]:
    return {"operator": operator, "conditions": list(conditions)}


@pytest.mark.parametrize("level", LEVELS)
def test_documents_are_the_librarys_hits(level: Level, opened: Retriever) -> None:
    found = NLBRetriever(opened, level=level, top_k=4).run(STORM)["documents"]
    hits = opened.search(STORM, level=level, limit=4)
    assert [document.id for document in found] == [hit.id for hit in hits]
    assert [document.content for document in found] == [hit.text for hit in hits]
    assert [document.score for document in found] == [pytest.approx(hit.score) for hit in hits]
    for document in found:
        known = document.meta
        assert document.content == opened.store.book_text(known["book_id"])[known["start"] : known["end"]]
        assert known["level"] == level


def test_meta_name_title_author_and_chapter(nlb: NLBRetriever) -> None:
    best = nlb.run(STORM)["documents"][0].meta
    assert (best["title"], best["author"], best["chapter"], best["page_label"]) == (
        "The Lighthouse Keeper",
        "Ann Harbour",
        "CHAPTER II. The Storm",
        None,
    )


def test_a_pipeline_writes_a_prompt_from_what_is_found(nlb: NLBRetriever) -> None:
    pipeline = Pipeline()
    pipeline.add_component("retriever", nlb)
    pipeline.add_component("prompt", PromptBuilder(template=TEMPLATE, required_variables="*"))
    pipeline.connect("retriever.documents", "prompt.documents")
    inputs = {"retriever": {"query": STORM, "top_k": 1}, "prompt": {"question": STORM}}
    said = pipeline.run(inputs)["prompt"]["prompt"]
    assert said.startswith("The Lighthouse Keeper: ")
    assert "The storm of that November broke the clock." in said
    assert said.endswith(f"Question: {STORM}")
    assert asyncio.run(pipeline.run_async(inputs))["prompt"]["prompt"] == said


def test_a_pipeline_that_was_saved_as_yaml_finds_the_same(library: Path, nlb: NLBRetriever) -> None:
    chosen = group("AND", meta("author", "in", ["Ann Harbour", "Clara Bloom"]), meta("section", ">=", 1))
    saved = Pipeline()
    saved.add_component("retriever", NLBRetriever(library, top_k=4, level="section", mode="bm25", filters=chosen))
    text = saved.dumps()
    loaded = Pipeline.loads(text, allowed_modules=["nlb_integrations.haystack"])
    assert loaded.dumps() == text
    component = loaded.get_component("retriever")
    assert component.to_dict()["init_parameters"] == {
        "library": str(library),
        "top_k": 4,
        "level": "section",
        "book": None,
        "before": None,
        "filters": chosen,
        "filter_policy": "replace",
        "strategy": "coarse-to-fine",
        "mode": "bm25",
        "rerank": False,
        "device": "cpu",
    }
    inputs = {"retriever": {"query": STORM}}
    assert ids(loaded.run(inputs)["retriever"]) == ids(saved.run(inputs)["retriever"]) != []
    loaded.close()
    saved.close()


def test_a_component_over_a_shared_library_is_saved_with_its_location(nlb: NLBRetriever, library: Path) -> None:
    again = NLBRetriever.from_dict(nlb.to_dict())
    assert again.to_dict() == nlb.to_dict()
    assert again.to_dict()["init_parameters"]["library"] == str(library)
    assert NLBRetriever("name").to_dict()["init_parameters"]["library"] == "name"
    assert NLBRetriever(Path("name")).to_dict()["init_parameters"]["library"] == str(Path("name").absolute())
    assert NLBRetriever().to_dict()["init_parameters"]["library"] is None


def test_an_agents_tool_knows_its_parameters_and_finds_the_same(nlb: NLBRetriever) -> None:
    tool = ComponentTool(component=nlb, name="search_books", description="Finds passages from books.")
    assert tool.parameters["required"] == ["query"]
    assert all("description" in each for each in tool.parameters["properties"].values())
    assert tool.invoke(query=STORM) == nlb.run(STORM)


def test_several_components_share_one_open_library(opened: Retriever) -> None:
    books, passages = NLBRetriever(opened, level="book"), NLBRetriever(opened)
    assert books.library is passages.library is opened


def test_warming_up_opens_the_library_and_loads_its_encoders_once(library: Path) -> None:
    component = NLBRetriever(library)
    component.warm_up()
    loaded = component.library.vectorizer
    asyncio.run(component.warm_up_async())
    assert component.library.vectorizer is loaded
    component.close()


def test_the_event_loop_goes_on_while_a_query_runs(nlb: NLBRetriever, monkeypatch: pytest.MonkeyPatch) -> None:
    found = run_while_ticking(monkeypatch, Retriever, "search", lambda: nlb.run_async(STORM, top_k=2))
    assert ids(found) == ids(nlb.run(STORM, top_k=2))


@pytest.mark.parametrize("level", LEVELS)
def test_top_k_of_0_finds_nothing_and_one_larger_than_the_library_everything(level: Level, opened: Retriever) -> None:
    component = NLBRetriever(opened, level=level, top_k=0)
    assert component.run(STORM) == {"documents": []}
    assert len(component.run(STORM, top_k=1000)["documents"]) == opened.store.count(level)


FILTERS = [
    meta("author", "==", "Ann Harbour"),
    {"field": "author", "operator": "==", "value": "Ann Harbour"},
    meta("author", "!=", "Ann Harbour"),
    meta("section", ">", 0),
    meta("section", ">=", 1),
    meta("section", "<", 1),
    meta("section", "<=", 1),
    meta("year", ">", 1800),
    meta("year", "!=", 1800),
    meta("title", "in", ["The Walled Garden", "The Lighthouse Keeper"]),
    meta("title", "not in", ["The Walled Garden"]),
    meta("page_label", "==", None),
    meta("author", "!=", None),
    group("AND", meta("author", "==", "Ann Harbour"), meta("section", "==", 1)),
    group("OR", meta("author", "==", "Ann Harbour"), meta("section", "==", 1)),
    group("NOT", meta("author", "==", "Ann Harbour"), meta("section", "==", 1)),
    group("NOT", meta("year", ">", 1800)),
    group("OR", group("NOT", meta("section", ">", 0)), group("AND", meta("author", "!=", "Clara Bloom"))),
]


@pytest.mark.parametrize("filters", FILTERS)
def test_filters_choose_what_haystack_itself_would_choose(filters: dict[str, Any], opened: Retriever) -> None:
    component = NLBRetriever(opened, top_k=1000)
    everything = component.run(STORM)["documents"]
    wanted = {document.id for document in everything if document_matches_filter(filters, document)}
    assert set(ids(component.run(STORM, filters=filters))) == wanted
    assert set(ids(NLBRetriever(opened, top_k=1000, filters=filters).run(STORM))) == wanted


def test_filters_of_a_run_replace_those_of_the_component(opened: Retriever) -> None:
    component = NLBRetriever(opened, top_k=1000, filters=meta("author", "==", "Ann Harbour"))
    for filters, authors in (
        (None, {"Ann Harbour"}),
        ({}, {"Ann Harbour"}),
        (meta("author", "==", "Clara Bloom"), {"Clara Bloom"}),
    ):
        found = component.run(STORM, filters=filters)["documents"]
        assert {document.meta["author"] for document in found} == authors


@pytest.mark.parametrize(
    ("wrong", "complaint"),
    [
        (meta("colour", "==", "red"), "cannot filter by 'colour', which no book has; known keys: author"),
        (meta("author", "~", "Ann"), "unknown filter operator '~' on 'author'; known: ==, !=, >"),
        (group("XOR", meta("author", "==", "Ann")), "unknown filter operator 'XOR'; known: AND, OR, NOT"),
        (group("AND"), "AND needs at least one condition"),
        (meta("author", "in", "Ann"), "needs a list of values"),
        (meta("author", ">", "Ann"), "only numbers have an order"),
        ({"field": "meta.author", "operator": "=="}, "has no value to compare with"),
        ({"operator": "AND", "conditions": "author"}, "is not a filter: use"),
        ({"author": "Ann Harbour"}, "is not a filter: use"),
        (["author"], "is not a filter: use"),
    ],
)
def test_a_wrong_filter_is_refused_with_what_would_be_right(wrong: Any, complaint: str, nlb: NLBRetriever) -> None:
    with pytest.raises(QueryError, match=complaint):
        nlb.run(STORM, filters=wrong)


@pytest.mark.parametrize("count", [-1, 2.5, "3", True])
def test_a_top_k_that_is_no_count_is_refused(count: Any, nlb: NLBRetriever, opened: Retriever) -> None:
    with pytest.raises(QueryError, match="top_k must be a whole number from 0"):
        nlb.run(STORM, top_k=count)
    with pytest.raises(QueryError, match="top_k must be a whole number from 0"):
        NLBRetriever(opened, top_k=count)


@pytest.mark.parametrize("wrong", [{"level": "page"}, {"strategy": "deep"}, {"mode": "magic"}])
def test_an_unknown_choice_is_refused_with_the_known_ones(wrong: dict[str, Any], opened: Retriever) -> None:
    with pytest.raises(QueryError, match="known: "):
        NLBRetriever(opened, **wrong)


def test_a_missing_library_is_reported_by_the_first_search(tmp_path: Path) -> None:
    component = NLBRetriever(tmp_path / "none")
    assert not (tmp_path / "none").exists()
    with pytest.raises(LibraryNotFound, match="none"):
        component.run(STORM)
    pipeline = Pipeline()
    pipeline.add_component("retriever", component)
    with pytest.raises(LibraryNotFound, match="none"):
        pipeline.run({"retriever": {"query": STORM}})
    with pytest.raises(StoreError, match="is not a library's name"):
        NLBRetriever("my books!")


def test_what_is_wrong_reaches_the_one_who_runs_a_pipeline(nlb: NLBRetriever) -> None:
    pipeline = Pipeline()
    pipeline.add_component("retriever", nlb)
    with pytest.raises(PipelineRuntimeError, match="the question is empty") as told:
        pipeline.run({"retriever": {"query": " "}})
    assert isinstance(told.value.__cause__, QueryError)


@pytest.mark.parametrize("policy", ["merge", FilterPolicy.MERGE])
def test_filters_of_a_run_hold_beside_those_of_the_component(policy: str | FilterPolicy, opened: Retriever) -> None:
    guard = meta("author", "==", "Ann Harbour")
    made = NLBRetriever(opened, top_k=1000, filters=guard, filter_policy=policy)
    for component in (made, NLBRetriever.from_dict(made.to_dict())):
        found = component.run(STORM, filters=meta("section", "<", 1))["documents"]
        assert {(document.meta["author"], document.meta["section"]) for document in found} == {("Ann Harbour", 0)}
        component.close()
    with pytest.raises(ValueError, match="Supported types"):
        NLBRetriever(opened, filter_policy="both")
