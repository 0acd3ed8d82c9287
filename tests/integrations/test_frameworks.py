"""NLBRetriever in what LlamaIndex builds on retrievers, each with a real small library and no real LLM."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import pytest
from llama_index.core import Settings, get_response_synthesizer
from llama_index.core.agent.workflow import FunctionAgent, ReActAgent
from llama_index.core.base.llms.types import (
    ChatMessage,
    CompletionResponse,
    CompletionResponseGen,
    LLMMetadata,
    ToolCallBlock,
)
from llama_index.core.base.response.schema import Response
from llama_index.core.bridge.pydantic import Field
from llama_index.core.evaluation import RetrieverEvaluator
from llama_index.core.llms import CustomLLM, MockLLM
from llama_index.core.llms.callbacks import llm_completion_callback
from llama_index.core.llms.mock import MockFunctionCallingLLM
from llama_index.core.postprocessor import SimilarityPostprocessor
from llama_index.core.query_engine import CitationQueryEngine, RetrieverQueryEngine
from llama_index.core.response_synthesizers import ResponseMode
from llama_index.core.retrievers import QueryFusionRetriever, RouterRetriever
from llama_index.core.retrievers.fusion_retriever import FUSION_MODES
from llama_index.core.schema import QueryBundle
from llama_index.core.selectors import LLMSingleSelector

from nlb_integrations import NLBRetriever
from nlb_integrations.llama_index import ExtractiveQueryEngine
from nlb_retriever import Retriever
from nlb_retriever.errors import QueryError
from nlb_retriever.records import Answer, Citation, ShortAnswer
from nlb_retriever.search.request import SearchRequest

# LlamaIndex's workflows look at every attribute of a pydantic model, deprecated ones too
agents = pytest.mark.filterwarnings("ignore::pydantic.warnings.PydanticDeprecationWarning")

STORM = "What broke in the November storm?"


class ScriptedLLM(CustomLLM):
    """Says its lines in turn, and keeps what it was asked."""

    lines: list[str]
    asked: list[str] = Field(default_factory=list)

    @property
    def metadata(self) -> LLMMetadata:
        return LLMMetadata(context_window=100_000)

    @llm_completion_callback()
    def complete(self, prompt: str, formatted: bool = False, **kwargs: Any) -> CompletionResponse:
        self.asked.append(prompt)
        return CompletionResponse(text=self.lines[len(self.asked) - 1])

    @llm_completion_callback()
    def stream_complete(self, prompt: str, formatted: bool = False, **kwargs: Any) -> CompletionResponseGen:
        whole = self.complete(prompt, formatted, **kwargs)
        yield CompletionResponse(text=whole.text, delta=whole.text)


def test_a_query_engine_hands_the_best_passages_to_the_llm(nlb: NLBRetriever) -> None:
    engine = RetrieverQueryEngine.from_args(nlb, llm=MockLLM(), response_mode=ResponseMode.COMPACT)
    response = engine.query(STORM)
    assert "broke the clock" in str(response)  # MockLLM repeats its prompt
    assert "chapter: CHAPTER II. The Storm" in str(response)
    assert len(response.source_nodes) == 3
    later = asyncio.run(engine.aquery(STORM))
    assert [node.node_id for node in later.source_nodes] == [node.node_id for node in response.source_nodes]


def test_an_engine_without_an_llm_gives_titles_above_the_quotes(nlb: NLBRetriever) -> None:
    response = nlb.as_query_engine().query("In which chapter does the storm break the clock?")
    assert str(response).split("\n\n")[0] == response.metadata["short"] == "CHAPTER II. The Storm"
    assert str(response).endswith(
        str(response.source_nodes[0].metadata and response.metadata["citations"][-1]["quote"])
    )
    assert str(nlb.as_query_engine().query(STORM)).count("\n\n") == 0


@pytest.mark.parametrize(
    ("answer", "shown"), [(None, "4\n\nThe hall had 4 doors."), ((13, 14), "The hall had 4 doors.")]
)
def test_an_engine_without_an_llm_gives_what_the_quotes_say_by_chance_alone(
    nlb: NLBRetriever, monkeypatch: pytest.MonkeyPatch, answer: tuple[int, int] | None, shown: str
) -> None:
    quote = "The hall had 4 doors."
    hit = replace(nlb.library.search(STORM, limit=1)[0], start=0, end=len(quote), text=quote)
    citation = Citation(hit=hit, quote=quote, quote_start=0, quote_end=len(quote), answer=answer)
    short = ShortAnswer(text="4", citation=0)
    told = Answer(question=STORM, found=True, text=quote, citations=(citation,), shorts=(short,))
    monkeypatch.setattr(nlb, "answer", lambda question: told)
    assert str(nlb.as_query_engine().query("How many books are there?")) == shown


def test_as_query_engine_uses_the_llm_that_is_given_or_set_and_keeps_the_engines_options(nlb: NLBRetriever) -> None:
    given = nlb.as_query_engine(ScriptedLLM(lines=["The clock."]))
    assert str(given.query(STORM)) == "The clock."
    Settings._llm = ScriptedLLM(lines=["The great clock."])
    assert str(nlb.as_query_engine().query(STORM)) == "The great clock."
    strict = nlb.as_query_engine(MockLLM(), node_postprocessors=[SimilarityPostprocessor(similarity_cutoff=1e9)]).query(
        STORM
    )
    assert strict.source_nodes == []


def test_without_an_llm_the_query_engine_quotes_and_refuses(nlb: NLBRetriever) -> None:
    engine = nlb.as_query_engine()
    assert isinstance(engine, ExtractiveQueryEngine)
    for response in (engine.query(STORM), asyncio.run(engine.aquery(STORM))):
        assert isinstance(response, Response) and response.metadata
        assert "broke the clock" in str(response)
        assert response.metadata["found"] is True
        quote = response.metadata["citations"][0]["quote"]
        assert quote in response.source_nodes[0].node.get_content()
    nothing = engine.query("How do photovoltaic inverters synchronise with a grid?")
    assert nothing.metadata == {"found": False, "short": None, "citations": []} and nothing.source_nodes == []


@pytest.mark.parametrize(
    "how", [{"mode": "dense"}, {"mode": "bm25"}, {"strategy": "flat"}, {"before": "3", "book": "lig"}]
)
def test_the_quoting_engine_asks_as_its_retriever_does(how: Any, opened: Retriever) -> None:
    retriever = NLBRetriever(opened, similarity_top_k=10, rerank=True, **how)
    response = retriever.as_query_engine().query(STORM)
    assert "broke the clock" in str(response)
    answered = {node.node_id: node.score for node in response.source_nodes}
    assert answered.keys() <= {node.node_id for node in retriever.retrieve(STORM)}
    request = SearchRequest(query=STORM, rerank=True, diversify=False, **how)  # as answers do
    assert answered.items() <= {hit.id: hit.score for hit in opened.run(request).hits}.items()


def test_the_quoting_engine_quotes_no_more_than_its_retriever_finds_and_retrieves_with_it(opened: Retriever) -> None:
    question = "What happened at night?"
    assert len(opened.answer(question).citations) > 1
    for count in (0, 1):
        retriever = NLBRetriever(opened, similarity_top_k=count)
        engine = retriever.as_query_engine()
        response = engine.query(question)
        assert response.metadata and len(response.metadata["citations"]) == count
        assert engine.retrieve(QueryBundle(STORM)) == retriever.retrieve(STORM)


@pytest.mark.parametrize("llm", [None, MockLLM()])
def test_the_retrievers_arguments_are_refused_by_an_engine_of_it(llm: MockLLM | None, nlb: NLBRetriever) -> None:
    with pytest.raises(QueryError, match="takes no similarity_top_k: set it on NLBRetriever"):
        nlb.as_query_engine(llm, similarity_top_k=1)
    with pytest.raises(QueryError, match="takes no nonsense: known: callback_manager, .*streaming"):
        nlb.as_query_engine(llm, nonsense=1)


def test_options_that_need_an_llm_are_refused_without_one_and_a_synthesizer_of_ones_own_is_not(
    nlb: NLBRetriever,
) -> None:
    with pytest.raises(QueryError, match=r"streaming need an LLM: give llm="):
        nlb.as_query_engine(streaming=True)
    own = get_response_synthesizer(llm=MockLLM(), response_mode=ResponseMode.ACCUMULATE)
    assert len(nlb.as_query_engine(response_synthesizer=own).query(STORM).source_nodes) == 3


def test_an_answer_is_streamed(nlb: NLBRetriever) -> None:
    response = nlb.as_query_engine(ScriptedLLM(lines=["The great clock."]), streaming=True).query(STORM)
    assert "".join(response.response_gen) == "The great clock."  # type: ignore[union-attr]


@pytest.mark.parametrize("mode", list(FUSION_MODES))
@pytest.mark.parametrize("use_async", [False, True])
def test_two_levels_are_fused_in_each_mode(mode: FUSION_MODES, use_async: bool, opened: Retriever) -> None:
    parts = [NLBRetriever(opened, level="passage"), NLBRetriever(opened, level="section")]
    fusion = QueryFusionRetriever(
        parts, llm=MockLLM(), mode=mode, num_queries=1, similarity_top_k=4, use_async=use_async
    )
    found = fusion.retrieve(STORM)
    assert len(found) == 4
    assert "broke the clock" in found[0].get_content()
    assert [node.node_id for node in asyncio.run(fusion.aretrieve(STORM))] == [node.node_id for node in found]


@pytest.mark.parametrize(("choice", "level"), [("1", "book"), ("2", "passage")])
def test_a_router_chooses_between_levels(choice: str, level: str, opened: Retriever) -> None:
    tools = [
        NLBRetriever(opened, level="book").as_tool(name="books"),
        NLBRetriever(opened, level="passage").as_tool(name="passages"),
    ]
    llm = ScriptedLLM(lines=[f'[{{"choice": {choice}, "reason": "because"}}]'] * 2)
    router = RouterRetriever(LLMSingleSelector.from_defaults(llm), tools, llm=llm)
    for found in (router.retrieve(STORM), asyncio.run(router.aretrieve(STORM))):
        assert found and {node.metadata["level"] for node in found} == {level}
    assert "Finds books that answer" in llm.asked[0] and "Finds passages from books" in llm.asked[0]


def test_an_evaluator_measures_it_by_stable_ids(nlb: NLBRetriever) -> None:
    best, second = [node.node_id for node in nlb.retrieve(STORM)][:2]
    evaluator = RetrieverEvaluator.from_metric_names(["mrr", "hit_rate", "recall"], retriever=nlb)
    for expected, values in (([best], (1.0, 1.0, 1.0)), ([second], (0.5, 1.0, 1.0)), (["none"], (0.0, 0.0, 0.0))):
        measured = asyncio.run(evaluator.aevaluate(STORM, expected)).metric_vals_dict
        assert (measured["mrr"], measured["hit_rate"], measured["recall"]) == values


def test_a_citation_engine_numbers_the_passages_and_keeps_their_spans(nlb: NLBRetriever) -> None:
    llm = ScriptedLLM(lines=["The great clock broke [1]."])
    response = CitationQueryEngine(nlb, llm=llm, callback_manager=nlb.callback_manager).query(STORM)
    assert str(response) == "The great clock broke [1]."
    later = asyncio.run(CitationQueryEngine(nlb, llm=ScriptedLLM(lines=["As above [1]."])).aquery(STORM))
    assert [node.metadata for node in later.source_nodes] == [node.metadata for node in response.source_nodes]
    assert "Source 1:" in llm.asked[0] and "broke the clock" in llm.asked[0]
    assert len(response.source_nodes) >= 3
    first = response.source_nodes[0]
    assert first.metadata["chapter"] == "CHAPTER II. The Storm"
    assert first.node.ref_doc_id == nlb.library.store.find_book("lighthouse").id


def test_the_tool_is_called_by_name_or_by_position_with_the_bare_question(nlb: NLBRetriever) -> None:
    tool = nlb.as_tool()
    assert tool.metadata.name == "search_library"
    heard: list[str] = []

    class Hearing(NLBRetriever):
        def _retrieve(self, query_bundle: QueryBundle) -> Any:
            heard.append(query_bundle.query_str.strip())
            return super()._retrieve(query_bundle)

        async def _aretrieve(self, query_bundle: QueryBundle) -> Any:
            heard.append(query_bundle.query_str.strip())
            return await super()._aretrieve(query_bundle)

    tool = Hearing(nlb.library).as_tool(name="look_up", description="Looks it up.")
    outputs = [tool(STORM), tool(input=STORM), asyncio.run(tool.acall(input=STORM))]
    assert heard == [STORM] * 3
    assert (tool.metadata.name, tool.metadata.description) == ("look_up", "Looks it up.")
    assert all("title: The Lighthouse Keeper" in output.content for output in outputs)


@agents
@pytest.mark.filterwarnings("ignore:is_running called from within a step:DeprecationWarning")  # by the agent itself
def test_a_react_agent_searches_with_the_tool_and_answers(nlb: NLBRetriever) -> None:
    llm = ScriptedLLM(
        lines=[
            f'Thought: I need to search.\nAction: search_library\nAction Input: {{"input": "{STORM}"}}\n',
            "Thought: I can answer without using any more tools.\nAnswer: The clock broke.",
        ]
    )

    async def run() -> str:
        agent = ReActAgent(tools=[nlb.as_tool()], llm=llm, streaming=False)
        return str(await agent.run(STORM))

    assert asyncio.run(run()) == "The clock broke."
    assert "broke the clock" in llm.asked[1]


@agents
def test_a_function_calling_agent_gets_the_passages_as_the_tools_output(nlb: NLBRetriever) -> None:
    seen: list[str] = []

    def reply(messages: Sequence[ChatMessage], **_: Any) -> ChatMessage:
        if messages[-1].role == "tool":
            seen.append(messages[-1].content or "")
            return ChatMessage(role="assistant", content="The clock broke.")
        call = ToolCallBlock(tool_call_id="1", tool_name="search_library", tool_kwargs={"input": STORM})
        return ChatMessage(role="assistant", blocks=[call])

    async def run() -> str:
        agent = FunctionAgent(
            tools=[nlb.as_tool()], llm=MockFunctionCallingLLM(response_generator=reply), streaming=False
        )
        return str(await agent.run(STORM))

    assert asyncio.run(run()) == "The clock broke."
    assert "broke the clock" in seen[0] and "author: Ann Harbour" in seen[0]
