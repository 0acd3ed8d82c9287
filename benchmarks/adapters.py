"""What each adapter adds to the library's own search, in milliseconds.

    python benchmarks/adapters.py LIBRARY [--rounds 200]

Every round asks one question by `Retriever.search` and by each adapter over the same open library, in turns, so that
what else the machine does slows down all of them. MCP is measured with the SDK's client, in this process and over
stdio: `nlb mcp`, on a copy of the library, as two processes that search one in turns would open it anew each time.
Needs the extras langchain, haystack and mcp.

Printed are the median, the median of what a round's question took longer than by `Retriever.search`, the fastest,
and by how much that is slower: of use on a machine that does other things.
"""

from __future__ import annotations

import argparse
import asyncio
import os
import shutil
import statistics
import sys
import tempfile
import time
from collections.abc import Awaitable, Callable
from contextlib import AsyncExitStack
from pathlib import Path

from nlb_retriever import Retriever

QUESTIONS = (
    "Who is hunting the white whale, and why?",
    "What does the storm break?",
    "Where do the sisters live after their father's death?",
    "How does the doctor find the comet?",
)
LIMIT = 5
WARMING = 6
"""Rounds that are not counted: they load and warm."""


async def measure(library: str, rounds: int) -> dict[str, list[float]]:
    os.environ["HAYSTACK_TELEMETRY_ENABLED"] = "False"
    from mcp import Client, StdioServerParameters

    from nlb_integrations import NLBRetriever as ForLlamaIndex
    from nlb_integrations.haystack import NLBRetriever as ForHaystack
    from nlb_integrations.langchain import NLBRetriever as ForLangChain
    from nlb_integrations.mcp import make_server

    opened = Retriever(library)
    llama_index = ForLlamaIndex(opened, similarity_top_k=LIMIT)
    langchain, haystack = ForLangChain(library=opened, k=LIMIT), ForHaystack(opened, top_k=LIMIT)
    command = StdioServerParameters(
        command=sys.executable,
        args=["-c", "from nlb_cli.app import main; main()", "mcp", "--library"],
        env={key: os.environ[key] for key in ("PYTHONPATH", "NLB_HOME") if key in os.environ},
    )
    async with AsyncExitStack() as stack:
        copy = shutil.copytree(library, Path(stack.enter_context(tempfile.TemporaryDirectory())) / "library")
        command.args.append(str(copy))
        inside = await stack.enter_async_context(Client(make_server(opened)))
        outside = await stack.enter_async_context(Client(command))

        def by_mcp(client: Client) -> Callable[[str], Awaitable[object]]:
            return lambda question: client.call_tool("search_passages", {"question": question, "limit": LIMIT})

        ways: dict[str, Callable[[str], object]] = {
            "Retriever.search": lambda question: opened.search(question, limit=LIMIT),
            "LlamaIndex": llama_index.retrieve,
            "LangChain": langchain.invoke,
            "Haystack": haystack.run,
            "MCP in process": by_mcp(inside),
            "MCP over stdio": by_mcp(outside),
        }
        seconds: dict[str, list[float]] = {name: [] for name in ways}
        for turn in range(rounds + WARMING):
            first = turn % len(ways)
            for name in (*list(ways)[first:], *list(ways)[:first]):
                ask = ways[name]
                began = time.perf_counter()
                answered = ask(QUESTIONS[turn // len(ways) % len(QUESTIONS)])
                if isinstance(answered, Awaitable):
                    await answered
                if turn >= WARMING:
                    seconds[name].append(time.perf_counter() - began)
    return seconds


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("library")
    parser.add_argument("--rounds", type=int, default=200)
    given = parser.parse_args()
    seconds = asyncio.run(measure(given.library, given.rounds))
    own = seconds["Retriever.search"]
    print(f"{'ms':20}" + "".join(f"{name:>9}" for name in ("p50", "added", "fastest", "added")))
    for name, taken in seconds.items():
        added = statistics.median(one - other for one, other in zip(taken, own, strict=True))
        figures = (statistics.median(taken), added, min(taken), min(taken) - min(own))
        print(f"{name:20}" + "".join(f"{1000 * figure:9.1f}" for figure in figures))


if __name__ == "__main__":
    main()
