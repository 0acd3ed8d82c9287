"""What docs/python.md shows works as shown."""

from __future__ import annotations

import pytest

from tests.docs.pages import blocks, read_page

CODE = blocks(read_page("docs/python.md"), "python")


@pytest.mark.usefixtures("user")
def test_the_code_runs_from_top_to_bottom(capsys: pytest.CaptureFixture[str]) -> None:
    printed = []
    for code in CODE:
        exec(compile(code, "docs/python.md", "exec"), {})
        printed.append(capsys.readouterr().out)
    assert printed[0].startswith("2 books, ")
    assert "Ahab is hunting the white whale" in printed[0]
    assert printed[1].endswith("His niece Margaret took the lamp.\n")
    assert printed[2] == "The Keeper\n"
    assert len(printed) == 3
