"""What docs/integrations.md shows works as shown."""

from __future__ import annotations

import asyncio
import json
import os
import re
import sys
from pathlib import Path

import pytest
from mcp import Client, StdioServerParameters

from nlb_integrations.conventions import to_metadata
from nlb_retriever import Retriever

ROOT = Path(__file__).resolve().parents[2]
PAGE = (ROOT / "docs" / "integrations.md").read_text(encoding="utf-8")
RUN = "from nlb_cli.app import main; main()"


def blocks(section: str, language: str) -> list[str]:
    """The code of one section of the page."""
    text = re.split(r"^## ", PAGE, flags=re.MULTILINE)[1:]
    (own,) = [each for each in text if each.startswith(section)]
    return re.findall(rf"```{language}\n(.*?)```", own, re.DOTALL)


@pytest.mark.parametrize("section", ["LangChain", "Haystack", "MCP"])
def test_the_python_of_a_section_runs_and_finds_the_passage(
    section: str,
    library: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    (tmp_path / "library").symlink_to(library)
    monkeypatch.chdir(tmp_path)
    names: dict[str, object] = {}
    for code in blocks(section, "python"):
        exec(compile(code, "docs/integrations.md", "exec"), names)
    printed = capsys.readouterr().out
    if section == "MCP":
        assert names["server"]
    else:
        assert "The storm of that November broke the clock." in printed
        assert "Question: What broke in the November storm?" in printed


def test_the_configuration_of_an_assistant_starts_a_server_with_the_tools_of_the_table(library: Path) -> None:
    (configuration,) = blocks("MCP", "json")
    (server,) = json.loads(configuration)["mcpServers"].values()
    assert server["command"] == "nlb"
    assert server["args"][:-1] == ["mcp", "--library"]
    paths = os.pathsep.join(str(ROOT / name) for name in ("", "cli", "integrations"))
    command = StdioServerParameters(
        command=sys.executable, args=["-c", RUN, *server["args"][:-1], str(library)], env={"PYTHONPATH": paths}
    )

    async def run() -> set[str]:
        async with Client(command) as client:
            return {tool.name for tool in (await client.list_tools()).tools}

    rows = "\n".join(line.split("|")[1] for line in PAGE.splitlines() if line.startswith("| `"))
    assert asyncio.run(run()) == set(re.findall("`(.*?)`", rows))


def test_the_metadata_that_the_page_names_are_those_that_there_are(opened: Retriever) -> None:
    paragraph = PAGE.partition("All have the same metadata:")[2].partition("\n\n")[0]
    assert set(re.findall("`(.*?)`", paragraph)) == set(to_metadata(opened.search("the storm", limit=1)[0]))
