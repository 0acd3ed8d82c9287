"""What docs/postprocessors.md shows works as shown."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

PAGE = Path(__file__).resolve().parents[2] / "docs" / "postprocessors.md"


def test_the_pages_code_runs_from_top_to_bottom(
    library: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "library").symlink_to(library)
    monkeypatch.chdir(tmp_path)
    blocks = re.findall(r"```python\n(.*?)```", PAGE.read_text(encoding="utf-8"), re.DOTALL)
    names: dict[str, object] = {}
    said = []
    for block in blocks:
        exec(compile(block, "docs/postprocessors.md", "exec"), names)
        said.append(capsys.readouterr().out)
    assert len(blocks) == 4
    assert "The Lighthouse Keeper CHAPTER II. The Storm" in said[0]
    assert re.match(r"section \d+ \d+ 0\n", said[1])
    assert said[2] == "CHAPTER II. The Storm\n"
    assert said[3].startswith("CHAPTER II. The Storm ")
    names["retriever"].close()  # type: ignore[attr-defined]
