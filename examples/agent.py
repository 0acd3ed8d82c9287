"""An agent that searches a library: python examples/agent.py LIBRARY "Who took the lamp?" ollama:llama3.2

It decides itself when to look for a book and when for a passage, and how often. The model is any that `nlb ask --llm`
takes, or any LLM of LlamaIndex's given to `main`: one that calls functions is asked to, any other is led step by step
(ReAct). It has to be one that keeps to such steps, as models from about 7 billion parameters do; "smollm2" runs with no
network and no server, but answers without searching, which the last line then tells.
"""

import asyncio
import sys

from llama_index.core.agent.workflow import AgentWorkflow, ToolCallResult
from llama_index.core.llms import LLM
from llama_index.core.tools import ToolOutput

from llama_index.retrievers.nlb import NLBRetriever
from nlb_retriever import Retriever

INSTRUCTIONS = (
    "Answer from the user's own books only. Search before you answer, and say in which book and chapter it stands. "
    "If the search finds nothing that answers, say so."
)


async def main(library: str, question: str, llm: LLM) -> None:
    with Retriever(library) as shared:
        tools = [
            NLBRetriever(shared, level="book", similarity_top_k=5).as_tool(name="find_books"),
            NLBRetriever(shared, level="passage", similarity_top_k=3).as_tool(name="find_passages"),
        ]
        agent = AgentWorkflow.from_tools_or_functions(tools, llm=llm, system_prompt=INSTRUCTIONS)
        run = agent.run(question, max_iterations=5)
        searched = False
        async for event in run.stream_events():
            if isinstance(event, ToolCallResult):
                searched = True
                print(f"{event.tool_name}({event.tool_kwargs}): {sources(event.tool_output)}")
        print(await run)
        if not searched:
            print("(This was answered without looking into any book.)")


def sources(output: ToolOutput) -> str:
    """Where what a tool found stands, or what was wrong with how it was called."""
    if output.is_error:
        return output.content
    return "; ".join(
        f"{node.metadata['title']}, {node.metadata['chapter'] or 'whole book'}" for node in output.raw_output
    )


if __name__ == "__main__":
    from nlb_integrations.prose import open_llm

    asyncio.run(main(sys.argv[1], sys.argv[2], open_llm(sys.argv[3])))
