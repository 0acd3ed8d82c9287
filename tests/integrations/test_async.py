"""NLBRetriever in an event loop, under the dispatcher, and beside the bare search."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from typing import Any

import pytest
from llama_index.core.bridge.pydantic import Field
from llama_index.core.callbacks import CallbackManager, LlamaDebugHandler
from llama_index.core.callbacks.schema import CBEventType, EventPayload
from llama_index.core.instrumentation import get_dispatcher
from llama_index.core.instrumentation.event_handlers import BaseEventHandler
from llama_index.core.instrumentation.events.retrieval import RetrievalEndEvent
from llama_index.core.instrumentation.span_handlers import SimpleSpanHandler

from nlb_integrations import NLBRetriever
from nlb_integrations.llama_index import SearchEvent
from nlb_retriever import Retriever, SearchRequest, SearchResult
from nlb_retriever.model.vectors import RawQuery
from tests.integrations.ticking import run_while_ticking

STORM = "What broke in the November storm?"


def ids(retriever: NLBRetriever, question: str) -> list[str]:
    return [node.node_id for node in retriever.retrieve(question)]


def test_the_event_loop_goes_on_while_a_query_runs(nlb: NLBRetriever, monkeypatch: pytest.MonkeyPatch) -> None:
    nodes = run_while_ticking(monkeypatch, Retriever, "run", lambda: nlb.aretrieve(STORM))
    assert [node.node_id for node in nodes] == ids(nlb, STORM)


def test_many_queries_at_once_find_what_they_find_alone(nlb: NLBRetriever) -> None:
    questions = [STORM, "Who took the lamp?", "How hot is the oven?", "Which flowers stood by the pond?"] * 4

    async def ask() -> list[Any]:
        return await asyncio.gather(*(nlb.aretrieve(question) for question in questions))

    together = asyncio.run(ask())
    assert [[node.node_id for node in nodes] for nodes in together] == [ids(nlb, question) for question in questions]


class Listener(BaseEventHandler):
    heard: list[Any] = Field(default_factory=list)

    def handle(self, event: Any, **_: Any) -> None:
        self.heard.append(event)


@pytest.mark.parametrize("way", ["sync", "async"])
def test_spans_and_events_go_through_the_dispatcher(way: str, nlb: NLBRetriever) -> None:
    root, listener, spans = get_dispatcher(), Listener(), SimpleSpanHandler()
    root.add_event_handler(listener)
    root.add_span_handler(spans)
    try:
        if way == "sync":
            nlb.retrieve(STORM)
        else:
            asyncio.run(nlb.aretrieve(STORM))
    finally:
        root.event_handlers.remove(listener)
        root.span_handlers.remove(spans)
    searches = [event for event in listener.heard if isinstance(event, SearchEvent)]
    assert [(event.level, event.strategy, event.similarity_top_k, event.results) for event in searches] == [
        ("passage", "coarse-to-fine", 3, 3)
    ]
    assert searches[0].seconds > 0 and searches[0].library == nlb.library.store.location
    assert any(isinstance(event, RetrievalEndEvent) for event in listener.heard)
    inner = "NLBRetriever._retrieve" if way == "sync" else "NLBRetriever._aretrieve"
    named = [span for span in spans.completed_spans if span.id_.startswith(inner)]
    assert len(named) == 1 and searches[0].span_id == named[0].id_


@pytest.mark.parametrize("way", ["sync", "async"])
def test_the_quoting_engine_sends_the_events_of_a_query_engine(way: str, opened: Retriever) -> None:
    handler = LlamaDebugHandler(print_trace_on_end=False)
    engine = NLBRetriever(opened, callback_manager=CallbackManager([handler])).as_query_engine()
    root, listener = get_dispatcher(), Listener()
    root.add_event_handler(listener)
    try:
        response = engine.query(STORM) if way == "sync" else asyncio.run(engine.aquery(STORM))
    finally:
        root.event_handlers.remove(listener)
    retrieved = [event for event in listener.heard if isinstance(event, RetrievalEndEvent)]
    assert response.source_nodes and [event.nodes for event in retrieved] == [response.source_nodes]
    (query,), (retrieval,) = map(handler.get_event_pairs, (CBEventType.QUERY, CBEventType.RETRIEVE))
    assert query[1].payload == {EventPayload.RESPONSE: response}
    assert retrieval[1].payload == {EventPayload.NODES: response.source_nodes}


def test_the_adapter_searches_once_and_encodes_nothing_more(nlb: NLBRetriever, monkeypatch: pytest.MonkeyPatch) -> None:
    """What it adds in time is measured by benchmarks/frameworks.py."""
    nlb.retrieve(STORM)
    searched, encoded = [], []
    run, encode = nlb.library.run, nlb.library.vectorizer.raw_queries

    def count_run(request: SearchRequest) -> SearchResult:
        searched.append(request.query)
        return run(request)

    def count_encode(texts: Sequence[str]) -> list[RawQuery]:
        encoded.extend(texts)
        return encode(texts)

    monkeypatch.setattr(nlb.library, "run", count_run)
    monkeypatch.setattr(nlb.library.vectorizer, "raw_queries", count_encode)
    nlb.retrieve(STORM)
    assert (searched, encoded) == ([STORM], [STORM])
