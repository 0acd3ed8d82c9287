"""Hostile input of commands and of MCP: an answer, or one clear line."""

from __future__ import annotations

import asyncio
import functools
import os
import random
import re
import shutil
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

from mcp import Client
from mcp.types import TextContent
from typer.testing import CliRunner

from nlb_cli.app import app
from nlb_integrations.mcp import make_server
from nlb_retriever import Retriever
from nlb_retriever.store import open_store
from tests.faults.damages import answer_all, shelf
from tests.faults.tally import Broken, Tally

_CONTROL = re.compile(r"[\x00-\x08\x0b\x0c\x0e-\x1f\x7f\x80-\x9f]")
"""What could steer a terminal."""
_UNCLEAR = re.compile(r"Traceback|Error\(|object at 0x|Errno")


def hostile_text(dice: random.Random) -> str:
    """A text that nobody would type."""
    return dice.choice(_TEXTS)(dice)


_TEXTS: tuple[Callable[[random.Random], str], ...] = (
    lambda dice: "",
    lambda dice: " " * dice.randint(1, 50),
    lambda dice: "a\0b",
    lambda dice: "\ud800 half of a pair",
    lambda dice: "\x1b[31m\x1b]0;title\x07red",
    lambda dice: "\u202eright to left",
    lambda dice: "word " * dice.choice((1_000, 30_000)),
    lambda dice: "x" * dice.choice((300, 99_999, 100_001)),
    lambda dice: "".join(chr(dice.choice((*range(1, 0xD800), *range(0xE000, 0x1000)))) for _ in range(40)),
    lambda dice: "".join(dice.choice("*?[]{}()|\\^$.+'\"<>&;%~/") for _ in range(dice.randint(1, 30))),
    lambda dice: f"../{'../' * dice.randint(0, 9)}etc/passwd",
    lambda dice: dice.choice(("-", "--", "-1", "--help-me", "@file", "null", "None", "NaN", "1e400", "0x10")),
    lambda dice: str(dice.choice((-1, 0, 2**31, 2**63, 2**64, 10**30))),
    lambda dice: "9" * dice.choice((30, 5_000)),
    lambda dice: "river soldier lantern",
    lambda dice: "The Book of 3",
)
_NUMBERS = ("0", "1", "-1", "7", "1000000", "1000001", str(2**64), "9" * 5000, "1.5", "NaN", "", "\u0663")


@functools.cache
def _queries_folder() -> Path:
    return Path(tempfile.mkdtemp(prefix="nlb-queries-"))


def _arguments(dice: random.Random, folder: Path) -> list[str]:
    """A command with hostile arguments; one that changes the library changes a copy."""
    text, number = functools.partial(hostile_text, dice), functools.partial(dice.choice, _NUMBERS)
    command = dice.choice(("ask", "search", "search", "show", "remove", "index", "books", "info", "queries"))
    match command:
        case "ask" | "search":
            options = dice.sample(("--limit", "--year", "--book", "--section", "--author", "--language", "--before"), 2)
            more = [each for name in options for each in (name, number() if name in {"--limit", "--year"} else text())]
            level = ["--level", dice.choice(("book", "section", "passage", text()))] if command == "search" else []
            return [command, *dice.choice((more, more[:2], [])), *level, "--", text()]
        case "queries":
            file = _queries_folder() / "queries"
            file.write_bytes(b"\n".join(text().encode("utf-8", "surrogatepass")[:1000] for _ in range(3)))
            return ["search", "--queries", str(file), "--limit", number()]
        case "show":
            return ["show", *dice.choice(([], ["--text"], ["--section", text()], ["--json"])), "--", text()]
        case "remove":
            return ["remove", "--yes", *dice.choice(([], ["--purge"])), "--", f"no such book {text()}"]
        case "index":
            path = dice.choice((f"{folder}/nothing", str(shelf().folder / "books")))
            return ["index", *dice.choice(([], ["--dry-run"], ["--prune"])), "--", f"{path}/{text()}"]
        case _:
            return [command, *dice.choice(([], ["--json"]))]


def run_commands(dice: random.Random, folder: Path, tally: Tally) -> None:
    """One command with hostile arguments, on the library or a hostile one."""
    library = str(shelf().folder / "library")
    arguments = _arguments(dice, folder)
    if dice.random() < 0.2:
        library = dice.choice((hostile_text(dice), str(folder), str(folder / "none"), "http://[", "http://x:1:2/a"))
    elif arguments[0] in {"index", "remove"}:
        library = str(shutil.copytree(library, folder / "library"))
    arguments = [_possible(argument) for argument in arguments]
    library = _possible(library)
    at = arguments.index("--") if "--" in arguments else len(arguments)
    arguments[at:at] = ["--library", library]
    tally.faults += 1
    result = CliRunner().invoke(
        app, arguments, prog_name="nlb", input="", env={"NLB_HOME": str(folder), "COLUMNS": "100"}
    )
    what = repr(arguments)[:500]
    if result.exception is not None and not isinstance(result.exception, SystemExit):
        raise Broken("traceback", f"{what}: {result.exception!r}")
    if result.exit_code not in (0, 1, 2):
        raise Broken("traceback", f"{what}: exit code {result.exit_code}")
    if _UNCLEAR.search(result.stderr):
        raise Broken("traceback", f"{what}: {result.stderr[-500:]}")
    if _CONTROL.search(result.stderr):
        raise Broken("wrong", f"{what}: control characters on stderr: {result.stderr[-300:]!r}")
    tally.errors += result.exit_code != 0
    _expect_unchanged()


def _possible(argument: str) -> str:
    """What a process gets for it: bytes without NUL, those that are no UTF-8 as half surrogates."""
    return os.fsdecode(argument.encode("utf-8", "surrogatepass").replace(b"\0", b"\xff"))


@functools.cache
def _opened() -> Retriever:
    return Retriever(shelf().folder / "library")


def call_tools(dice: random.Random, folder: Path, tally: Tally) -> None:
    """Five hostile calls of the tools of an MCP server, then one that must be answered."""
    calls = [(name := dice.choice(list(_TOOLS)), _TOOLS[name](dice)) for _ in range(5)]

    async def call() -> list[Any]:
        async with Client(make_server(_opened())) as client:
            results = []
            for name, arguments in [*calls, ("search_passages", {"question": "river soldier lantern"})]:
                results.append(await client.call_tool(name, arguments))
            return results

    *results, last = asyncio.run(call())
    for (name, arguments), result in zip(calls, results, strict=True):
        tally.faults += 1
        tally.errors += result.is_error
        for content in result.content:
            if isinstance(content, TextContent) and result.is_error and _UNCLEAR.search(content.text):
                raise Broken("traceback", f"{name} {arguments!r}"[:500] + f": {content.text[-500:]}")
    if last.is_error:
        raise Broken("wedged", f"a right call is refused after {calls!r}"[:900])
    _expect_unchanged()


def _optional(dice: random.Random, **values: object) -> dict[str, Any]:
    return {key: value for key, value in values.items() if dice.random() < 0.6}


def _any(dice: random.Random) -> object:
    text = hostile_text(dice).encode("utf-8", "replace").decode()
    return dice.choice((text, text, dice.choice((-1, 0, 3, 2**64)), None, [], {"a": 1}, True, 1.5))


_TOOLS: dict[str, Callable[[random.Random], dict[str, Any]]] = {
    "search_passages": lambda dice: {
        "question": _any(dice),
        **_optional(dice, limit=_any(dice), book=_any(dice), before=_any(dice)),
    },
    "search_books": lambda dice: {"question": _any(dice), **_optional(dice, limit=_any(dice))},
    "list_books": lambda dice: _optional(dice, offset=_any(dice), limit=_any(dice)),
    "list_sections": lambda dice: {"book": _any(dice), **_optional(dice, offset=_any(dice))},
    "read_section": lambda dice: {
        "book": dice.choice((_any(dice), "The Book of 3")),
        **_optional(dice, section=_any(dice), start=_any(dice), characters=_any(dice)),
    },
}


def _expect_unchanged() -> None:
    with open_store(shelf().folder / "library") as store:
        if answer_all(store) != shelf().answers:
            raise Broken("wrong", "the library changed")
