"""One question, the right level: python examples/router.py LIBRARY "Which book is about bread?"

A RouterRetriever over three retrievers that share one open library. A rule of thumb chooses here, so that it runs
with no language model; with one, use LLMSingleSelector.from_defaults(llm), which reads the tools' descriptions.
"""

import sys
from collections.abc import Sequence

from llama_index.core.base.base_selector import BaseSelector, SelectorResult, SingleSelection
from llama_index.core.llms import MockLLM
from llama_index.core.retrievers import RouterRetriever
from llama_index.core.schema import QueryBundle
from llama_index.core.tools import ToolMetadata

from llama_index.retrievers.nlb import NLBRetriever
from nlb_retriever import Retriever

SIGNS = {"books": ("which book", "what book", "novel"), "sections": ("which chapter", "what chapter", "scene")}


class SignSelector(BaseSelector):
    """Takes the tool whose signs stand in the question, else the last."""

    def _select(self, choices: Sequence[ToolMetadata], query: QueryBundle) -> SelectorResult:
        question = query.query_str.casefold()
        fitting = [any(sign in question for sign in SIGNS.get(choice.name or "", ())) for choice in choices]
        index = fitting.index(True) if any(fitting) else len(choices) - 1
        return SelectorResult(selections=[SingleSelection(index=index, reason="its signs are in the question")])

    async def _aselect(self, choices: Sequence[ToolMetadata], query: QueryBundle) -> SelectorResult:
        return self._select(choices, query)

    def _get_prompts(self) -> dict[str, object]:
        return {}

    def _update_prompts(self, prompts_dict: dict[str, object]) -> None:
        pass


def main(library: str, question: str) -> None:
    with Retriever(library) as shared:
        tools = [
            NLBRetriever(shared, level="book").as_tool(name="books"),
            NLBRetriever(shared, level="section").as_tool(name="sections"),
            NLBRetriever(shared, level="passage").as_tool(name="passages"),
        ]
        router = RouterRetriever(SignSelector(), tools, llm=MockLLM())
        for node in router.retrieve(question):
            print(f"{node.metadata['level']}: {node.metadata['title']}, {node.metadata['chapter'] or 'whole book'}")


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2])
