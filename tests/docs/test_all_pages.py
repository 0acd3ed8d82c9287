"""What holds of every page: its links lead somewhere, and its commands exist as they are written."""

from __future__ import annotations

import re

import pytest
from typer.main import get_command

from nlb_cli.app import app
from tests.docs.pages import ROOT, commands, read_page

PAGES = ["README.md", *sorted(f"docs/{page.name}" for page in (ROOT / "docs").glob("*.md"))]


def anchors(page: str) -> set[str]:
    """The fragments that GitHub makes of the headings of a page."""
    headings = re.findall(r"^#+ (.*)$", read_page(page), re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-") for heading in headings}


@pytest.mark.parametrize("page", PAGES)
def test_its_links_lead_to_files_and_headings(page: str) -> None:
    folder = (ROOT / page).parent
    for link in re.findall(r"\]\(([^)\s]+)\)", read_page(page)):
        if link.startswith("https://"):
            continue
        path, _, anchor = link.partition("#")
        target = (folder / path).resolve() if path else ROOT / page
        assert target.exists(), link
        if anchor:
            assert anchor in anchors(str(target.relative_to(ROOT))), link


@pytest.mark.parametrize("page", PAGES)
def test_its_commands_have_the_options_that_they_are_written_with(page: str) -> None:
    group = get_command(app)
    for arguments in commands(read_page(page)):
        context = group.make_context("nlb", list(arguments))
        name, command, rest = group.resolve_command(context, list(arguments))
        assert command is not None, arguments
        command.make_context(name, rest, parent=context)
