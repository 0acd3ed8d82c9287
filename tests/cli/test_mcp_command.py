"""`nlb mcp` as an assistant's host runs it: a process that speaks the protocol on stdin and stdout."""

from __future__ import annotations

import asyncio
import json
import os
import pty
import signal
import subprocess
import sys
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

import pytest
from mcp import Client, StdioServerParameters, stdio_client

from tests.cli.conftest import ROOT, RUN, InProcess, environment

PATHS = {"PYTHONPATH": os.pathsep.join(str(ROOT / name) for name in ("", "cli", "integrations"))}


def converse(library: Path, errors: Path, talk: Callable[[Client], Awaitable[Any]]) -> Any:
    """Start `nlb mcp` and talk to it by the SDK's client."""
    command = StdioServerParameters(
        command=sys.executable,
        args=["-c", RUN, "mcp", "--library", str(library)],
        env={**PATHS, "NLB_HOME": os.environ["NLB_HOME"]},
        cwd=errors.parent,
    )

    async def run() -> Any:
        with errors.open("w") as log:
            async with Client(stdio_client(command, errlog=log)) as client:
                return await talk(client)

    return asyncio.run(run())


def test_an_assistant_lists_searches_and_reads(shelf: Path, tmp_path: Path) -> None:
    async def talk(client: Client) -> None:
        assert client.server_info.name == "nlb-retriever"
        assert "never instructions" in (client.instructions or "")
        tools = (await client.list_tools()).tools
        assert all(tool.annotations and tool.annotations.read_only_hint for tool in tools)

        async def call(name: str, **arguments: Any) -> dict[str, Any]:
            result = await client.call_tool(name, arguments)
            assert not result.is_error, result.content
            assert result.structured_content is not None
            return result.structured_content

        assert (await call("list_books"))["total"] == 3
        best = (await call("search_passages", question="Who struck the reef at midnight?", limit=1))["quotations"][0]
        assert best["title"] == "THE LAMP OF SKERRY"
        assert best["chapter"] == "PART TWO > CHAPTER III. The Wreck"
        read = await call("read_section", book=best["book_id"], section=best["section"])
        assert "The schooner Marigold struck the reef at midnight." in read["quotation"]
        assert (await call("search_books", question="a comet and a telescope"))["quotations"][0]["author"]
        wrong = await client.call_tool("read_section", {"book": "nothing like it"})
        assert wrong.is_error and "no book 'nothing like it'" in str(wrong.content)

    converse(shelf, tmp_path / "errors", talk)
    assert (tmp_path / "errors").read_text() == ""


def test_nothing_but_the_protocol_is_on_stdout(shelf: Path) -> None:
    """The older handshake by hand, down to the bytes."""
    asked: list[dict[str, Any]] = [
        {
            "id": 1,
            "method": "initialize",
            "params": {
                "protocolVersion": "2025-06-18",
                "capabilities": {},
                "clientInfo": {"name": "test", "version": "1"},
            },
        },
        {"method": "notifications/initialized"},
        {
            "id": 2,
            "method": "tools/call",
            "params": {"name": "search_passages", "arguments": {"question": "the comet"}},
        },
    ]
    with subprocess.Popen(
        [sys.executable, "-c", RUN, "mcp", "--library", str(shelf)],
        env=environment(PATHS),
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    ) as process:
        assert process.stdin and process.stdout and process.stderr
        for message in asked:
            process.stdin.write(json.dumps({"jsonrpc": "2.0", **message}).encode() + b"\n")
        process.stdin.flush()
        answers = [json.loads(process.stdout.readline()) for _ in range(2)]
        process.stdin.close()
        assert process.stdout.read() == b""
        assert process.stderr.read() == b""
        assert process.wait(timeout=20) == 0
    assert {answer["id"] for answer in answers} == {1, 2}
    result = next(answer for answer in answers if answer["id"] == 2)["result"]
    assert result["structuredContent"]["quotations"]
    assert result["content"][0]["type"] == "text"


def test_a_library_that_is_not_there_does_not_keep_the_server_from_starting(tmp_path: Path) -> None:
    async def talk(client: Client) -> str:
        result = await client.call_tool("search_books", {"question": "anything"})
        assert result.is_error
        return str(result.content)

    assert f"no library at {tmp_path / 'none'}" in converse(tmp_path / "none", tmp_path / "errors", talk)


def test_a_person_on_a_terminal_sees_what_it_waits_for_and_ctrl_c_ends_it(tmp_path: Path) -> None:
    ours, theirs = pty.openpty()
    process = subprocess.Popen(
        [sys.executable, "-c", RUN, "mcp", "--library", str(tmp_path / "none")],
        env=environment(PATHS),
        stdin=theirs,
        stdout=theirs,
        stderr=theirs,
    )
    os.close(theirs)
    assert os.read(ours, 4096).startswith(b"nlb: waiting for an MCP client on stdin")
    process.send_signal(signal.SIGINT)
    assert process.wait(timeout=20) in {130, -signal.SIGINT}
    os.close(ours)


def test_an_impossible_name_for_a_library_is_one_line(nlb: InProcess) -> None:
    ran = nlb("mcp", "--library", "my books!")
    assert (ran.code, ran.out) == (2, "")
    assert ran.err.startswith("nlb: 'my books!' is not a library's name")
    assert ran.err.count("\n") == 1


def test_the_extra_that_is_missing_is_named_in_one_line(nlb: InProcess, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in [name for name in sys.modules if name.partition(".")[0] == "mcp" or "nlb_integrations.mcp" in name]:
        monkeypatch.delitem(sys.modules, name)
    monkeypatch.setitem(sys.modules, "mcp", None)
    ran = nlb("mcp")
    assert (ran.code, ran.out) == (2, "")
    assert ran.err == "nlb: mcp is not installed: run `pip install 'nlb-retriever[mcp]'`\n"
