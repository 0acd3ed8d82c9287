"""Built on a retriever: a query engine that answers in the books' own words, and a tool for agents."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from llama_index.core.base.base_query_engine import BaseQueryEngine
from llama_index.core.base.response.schema import RESPONSE_TYPE, Response
from llama_index.core.callbacks.schema import CBEventType, EventPayload
from llama_index.core.instrumentation.events.retrieval import RetrievalEndEvent, RetrievalStartEvent
from llama_index.core.prompts.mixin import PromptMixinType
from llama_index.core.schema import NodeWithScore, QueryBundle
from llama_index.core.tools import RetrieverTool, ToolOutput

from nlb_integrations.llama_index.events import dispatcher
from nlb_integrations.llama_index.nodes import to_nodes
from nlb_retriever.records import Answer

if TYPE_CHECKING:
    from nlb_integrations.llama_index.retriever import NLBRetriever


class ExtractiveQueryEngine(BaseQueryEngine):
    """Answers with sentences of the library, cited; no language model takes part, so nothing is made up.

    A short answer that they do not say, such as a book's title, stands above them.
    The response's `source_nodes` are the passages that are quoted; its `metadata` says whether anything was
    `found`, and holds the `short` answer and the `citations`, each with its verbatim `quote` (the keys of
    `nlb ask --json`). At most so many sentences are quoted as the retriever's `similarity_top_k`; they are of passages,
    whatever its `level`.
    """

    def __init__(self, retriever: NLBRetriever) -> None:
        super().__init__(callback_manager=retriever.callback_manager)
        self._retriever = retriever

    def _get_prompt_modules(self) -> PromptMixinType:
        return {}

    def retrieve(self, query_bundle: QueryBundle) -> list[NodeWithScore]:
        """The retriever's nodes."""
        return self._retriever.retrieve(query_bundle)

    async def aretrieve(self, query_bundle: QueryBundle) -> list[NodeWithScore]:
        """The same beside the event loop."""
        return await self._retriever.aretrieve(query_bundle)

    @dispatcher.span
    def _query(self, query_bundle: QueryBundle) -> RESPONSE_TYPE:
        with self._reported(query_bundle) as responses:
            responses.append(self._answer(query_bundle))
        return responses[0]

    @dispatcher.span
    async def _aquery(self, query_bundle: QueryBundle) -> RESPONSE_TYPE:
        with self._reported(query_bundle) as responses:
            responses.append(await asyncio.to_thread(self._answer, query_bundle))
        return responses[0]

    @contextmanager
    def _reported(self, query_bundle: QueryBundle) -> Iterator[list[Response]]:
        """Sends the events of a query engine and its retriever around what puts the response into the list."""
        responses: list[Response] = []
        payload: dict[str, Any] = {EventPayload.QUERY_STR: query_bundle.query_str}
        with self.callback_manager.event(CBEventType.QUERY, payload=payload) as query:
            with self.callback_manager.event(CBEventType.RETRIEVE, payload=payload) as retrieval:
                dispatcher.event(RetrievalStartEvent(str_or_query_bundle=query_bundle))
                yield responses
                nodes = responses[0].source_nodes
                dispatcher.event(RetrievalEndEvent(str_or_query_bundle=query_bundle, nodes=nodes))
                retrieval.on_end(payload={EventPayload.NODES: nodes})
            query.on_end(payload={EventPayload.RESPONSE: responses[0]})

    def _answer(self, query_bundle: QueryBundle) -> Response:
        answer = self._retriever.answer(query_bundle.query_str)
        quoted = list({citation.hit.id: citation.hit for citation in answer.citations}.values())
        text = answer.text if _is_said(answer) else f"{answer.short}\n\n{answer.text}"
        return Response(
            response=text or "Empty Response",  # as LlamaIndex's engines say it
            source_nodes=to_nodes(quoted, self._retriever.library.store) if quoted else [],
            metadata={key: value for key, value in answer.to_json().items() if key in {"found", "short", "citations"}},
        )


def _is_said(answer: Answer) -> bool:
    """Whether the quotes say the short answer, if any: "I" in them may be no chapter, "4" no number of books."""
    if not answer.shorts:
        return True
    short = answer.shorts[0]
    if " " in short.text:
        return short.text in answer.text
    citation = answer.citations[short.citation]
    start, end = citation.answer or (citation.quote_start, citation.quote_start)
    return citation.quote[start - citation.quote_start : end - citation.quote_start] == short.text


class SearchTool(RetrieverTool):
    """A retriever for an agent; its query is the argument's value alone, without the parameter's name before it."""

    def call(self, *args: Any, **kwargs: Any) -> ToolOutput:
        return super().call(*args, *kwargs.values())

    async def acall(self, *args: Any, **kwargs: Any) -> ToolOutput:
        return await super().acall(*args, *kwargs.values())
