"""What docs/prose.md shows works as shown."""

from __future__ import annotations

import re
import shlex
from pathlib import Path
from typing import Any

import pytest

from tests.cli.conftest import InProcess, nlb

__all__ = ["nlb"]

PAGE = (Path(__file__).resolve().parents[2] / "docs" / "prose.md").read_text(encoding="utf-8")


@pytest.fixture(autouse=True)
def default(library: Path, monkeypatch: pytest.MonkeyPatch, smollm2: Any) -> None:
    """The test's library is the user's own, and the model, loaded once, is brief."""
    monkeypatch.setenv("NLB_LIBRARY", str(library))
    monkeypatch.setattr("nlb_integrations.prose.models.ANSWER_TOKENS", 16)
    monkeypatch.setattr("nlb_integrations.prose.open_llm", lambda name: smollm2, raising=False)


def test_its_commands_run(nlb: InProcess) -> None:
    lines = [line for block in re.findall(r"```sh\n(.*?)```", PAGE, re.DOTALL) for line in block.splitlines()]
    commands = [shlex.split(line, comments=True)[1:] for line in lines if line.startswith("nlb ")]
    assert len(commands) == 2
    for command in commands:
        ran = nlb(*command, stdin="What broke in the November storm?\n")
        assert ran.code in {0, 1}, ran.err
        assert ran.out.strip()


def test_its_code_runs(capsys: pytest.CaptureFixture[str]) -> None:
    [code] = re.findall(r"```python\n(.*?)```", PAGE, re.DOTALL)
    exec(compile(code, "prose.md", "exec"), {})
    assert capsys.readouterr().out.strip()


def test_the_models_that_it_names_are_those_that_are_known() -> None:
    from nlb_integrations.prose.models import KNOWN

    for name in ("smollm2", "./model.gguf", "ollama:NAME", "openai:NAME", "http://127.0.0.1:8080/v1"):
        assert f"`{name}`" in PAGE
        assert name in KNOWN
