"""NLBRetriever as LangChain's users have it: its standard tests, chains, tools, batches, the event loop."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any

import pytest
from langchain_core.callbacks import BaseCallbackHandler
from langchain_core.language_models.fake_chat_models import ParrotFakeChatModel
from langchain_core.output_parsers import StrOutputParser
from langchain_core.prompts import ChatPromptTemplate, PromptTemplate
from langchain_core.retrievers import BaseRetriever
from langchain_core.runnables import ConfigurableField, RunnablePassthrough
from langchain_core.tools import create_retriever_tool
from langchain_tests.integration_tests import RetrieversIntegrationTests
from pydantic import ValidationError

from nlb_integrations.langchain import NLBRetriever
from nlb_retriever import Retriever
from nlb_retriever.errors import LibraryNotFound, QueryError, StoreError
from nlb_retriever.records import LEVELS, Level
from nlb_retriever.store import Condition, Not
from tests.integrations.ticking import run_while_ticking

STORM = "What broke in the November storm?"
OVEN = "How hot is the oven?"

pytest.mark.asyncio(RetrieversIntegrationTests.test_ainvoke_returns_documents)


@pytest.fixture
def nlb(opened: Retriever) -> NLBRetriever:
    return NLBRetriever(library=opened, k=3)


def ids(retriever: BaseRetriever, question: str = STORM, **kwargs: Any) -> list[str | None]:
    return [document.id for document in retriever.invoke(question, **kwargs)]


class TestStandard(RetrieversIntegrationTests):
    """LangChain's own tests of a retriever."""

    @pytest.fixture(autouse=True)
    def use_library(self, opened: Retriever) -> None:
        self.opened = opened

    @property
    def retriever_constructor(self) -> type[BaseRetriever]:
        return NLBRetriever

    @property
    def retriever_constructor_params(self) -> dict[str, Any]:
        return {"library": self.opened}

    @property
    def retriever_query_example(self) -> str:
        return STORM


@pytest.mark.parametrize("level", LEVELS)
def test_documents_are_the_librarys_hits(level: Level, opened: Retriever) -> None:
    found = NLBRetriever(library=opened, level=level, k=4).invoke(STORM)
    hits = opened.search(STORM, level=level, limit=4)
    assert [document.id for document in found] == [hit.id for hit in hits]
    assert [document.page_content for document in found] == [hit.text for hit in hits]
    assert [document.metadata["score"] for document in found] == [pytest.approx(hit.score) for hit in hits]
    for document in found:
        known = document.metadata
        assert document.page_content == opened.store.book_text(known["book_id"])[known["start"] : known["end"]]
        assert known["level"] == level


def test_metadata_name_title_author_and_chapter(nlb: NLBRetriever) -> None:
    best = nlb.invoke(STORM)[0].metadata
    assert (best["title"], best["author"], best["chapter"], best["page_label"]) == (
        "The Lighthouse Keeper",
        "Ann Harbour",
        "CHAPTER II. The Storm",
        None,
    )
    assert best["source"].endswith("lighthouse.txt")


def test_a_chain_answers_from_what_is_found(nlb: NLBRetriever) -> None:
    def told(documents: list[Any]) -> str:
        return "\n".join(document.page_content for document in documents)

    prompt = ChatPromptTemplate.from_template("{context}\n\nQuestion: {question}")
    parrot = ParrotFakeChatModel()  # says what it was asked
    chain = {"context": nlb | told, "question": RunnablePassthrough()} | prompt | parrot | StrOutputParser()
    said = chain.invoke(STORM)
    assert "The storm of that November broke the clock." in said
    assert said.endswith(f"Question: {STORM}")
    assert asyncio.run(chain.ainvoke(STORM)) == said


def test_an_agents_tool_returns_the_texts_with_their_sources(nlb: NLBRetriever) -> None:
    line = PromptTemplate.from_template("{title}, {chapter}, p. {page_label}: {page_content}")
    tool = create_retriever_tool(nlb, "search_books", "Searches books.", document_prompt=line)
    said = tool.invoke({"query": STORM})
    assert said.startswith("The Lighthouse Keeper, CHAPTER II. The Storm, p. None: ")
    assert asyncio.run(tool.ainvoke({"query": STORM})) == said
    with pytest.warns(match="beta"):
        bare = nlb.as_tool(name="search_books", description="Searches books.")
    assert [document.id for document in bare.invoke(STORM)] == ids(nlb)


def test_batches_sync_and_async_find_what_single_questions_find(nlb: NLBRetriever) -> None:
    alone = [ids(nlb, STORM), ids(nlb, OVEN)]
    assert [[document.id for document in found] for found in nlb.batch([STORM, OVEN])] == alone
    assert [[document.id for document in found] for found in asyncio.run(nlb.abatch([STORM, OVEN]))] == alone


def test_the_event_loop_goes_on_while_a_query_runs(nlb: NLBRetriever, monkeypatch: pytest.MonkeyPatch) -> None:
    found = run_while_ticking(monkeypatch, Retriever, "search", lambda: nlb.ainvoke(STORM, k=1))
    assert [document.id for document in found] == ids(nlb, k=1)


@pytest.mark.parametrize("level", LEVELS)
def test_k_of_0_finds_nothing_and_one_larger_than_the_library_everything(level: Level, opened: Retriever) -> None:
    retriever = NLBRetriever(library=opened, level=level, k=0)
    assert ids(retriever) == []
    assert len(ids(retriever, k=1000)) == opened.store.count(level)


def test_book_before_strategy_mode_and_where_are_those_of_the_library(opened: Retriever) -> None:
    for asked in (
        {"book": "lighthouse", "before": "2"},
        {"strategy": "flat"},
        {"mode": "bm25"},
        {"where": Condition("author", "eq", "Peter Miller")},
        {"where": Not((Condition("title", "text_match", "Bread"),))},
    ):
        found = NLBRetriever(library=opened, k=50, **asked)  # type: ignore[arg-type]
        assert ids(found) == [hit.id for hit in opened.search(STORM, limit=50, **asked)]  # type: ignore[arg-type]


def test_k_may_be_left_to_the_configuration_of_a_chain_and_the_library_stays_open(nlb: NLBRetriever) -> None:
    chosen = nlb.configurable_fields(k=ConfigurableField(id="k"))
    found = chosen.invoke(STORM, config={"configurable": {"k": 1}})
    assert [document.id for document in found] == ids(nlb, k=1)
    assert nlb.library is NLBRetriever(library=nlb.library).library


def test_handlers_hear_of_a_search_and_of_its_failure(nlb: NLBRetriever) -> None:
    heard: list[str] = []

    class Listener(BaseCallbackHandler):
        def on_retriever_end(self, documents: Any, **_: Any) -> None:
            heard.append(f"found {len(documents)}")

        def on_retriever_error(self, error: BaseException, **_: Any) -> None:
            heard.append(type(error).__name__)

    nlb.invoke(STORM, config={"callbacks": [Listener()]})
    with pytest.raises(QueryError):
        nlb.invoke(" ", config={"callbacks": [Listener()]})
    assert heard == ["found 3", "QueryError"]


def test_making_one_does_no_work_and_the_first_search_reports_a_missing_library(tmp_path: Path) -> None:
    retriever = NLBRetriever(library=tmp_path / "none")
    assert not (tmp_path / "none").exists()
    with pytest.raises(LibraryNotFound, match="none"):
        retriever.invoke(STORM)
    with pytest.raises(LibraryNotFound, match="none"):
        asyncio.run(retriever.ainvoke(STORM))
    with pytest.raises(StoreError, match="is not a library's name"):
        NLBRetriever(library="my books!")


@pytest.mark.parametrize(
    ("wrong", "complaint"),
    [
        (Condition("colour", "eq", "red"), "cannot filter a passage by 'colour'; known keys: author"),
        (Condition("author", "like", "Ann"), "unknown filter operator 'like'; known: eq"),  # type: ignore[arg-type]
        ({"author": "Ann Harbour"}, "is not a filter: use Condition, And, Or, Not"),
    ],
)
def test_a_wrong_filter_is_reported_by_the_search(wrong: Any, complaint: str, opened: Retriever) -> None:
    with pytest.raises(QueryError, match=complaint):
        NLBRetriever(library=opened, where=wrong).invoke(STORM)


@pytest.mark.parametrize("k", [-1, 2.5, "3", True])
def test_a_k_that_is_no_count_is_refused(k: Any, nlb: NLBRetriever) -> None:
    with pytest.raises(QueryError, match="k must be a whole number from 0"):
        nlb.invoke(STORM, k=k)


@pytest.mark.parametrize(
    ("wrong", "complaint"),
    [
        ({"level": "page"}, "'book', 'section' or 'passage'"),
        ({"mode": "magic"}, "'fused', 'dense' or 'bm25'"),
        ({"k": -1}, "greater than or equal to 0"),
        ({"top_k": 3}, "Extra inputs are not permitted"),
    ],
)
def test_an_argument_that_there_is_not_is_refused(wrong: dict[str, Any], complaint: str, opened: Retriever) -> None:
    with pytest.raises(ValidationError, match=complaint):
        NLBRetriever(library=opened, **wrong)


def test_one_call_has_a_place_conditions_and_a_level_of_its_own(opened: Retriever) -> None:
    miller = Condition("author", "eq", "Peter Miller")
    nlb = NLBRetriever(library=opened, k=50, where=Condition("author", "ne", "Peter Miller"))
    for changes in (
        {"where": miller},
        {"where": miller, "level": "section"},
        {"book": "lighthouse", "before": "2"},
        {"level": "book", "k": 1},
    ):
        wanted = NLBRetriever(library=opened, **{"k": 50, "where": nlb.where, **changes})  # type: ignore[arg-type]
        assert ids(nlb, **changes) == ids(wanted) == asyncio.run(async_ids(nlb, **changes))
    with pytest.raises(TypeError, match="filter"):
        nlb.invoke(STORM, filter={"author": "Peter Miller"})


async def async_ids(retriever: NLBRetriever, **changes: Any) -> list[str | None]:
    return [document.id for document in await retriever.ainvoke(STORM, **changes)]
