"""The short way of docs/training.md works as shown; its other commands take hours and are only parsed."""

from __future__ import annotations

from pathlib import Path

import pytest

from nlb_training.presets import read_preset
from tests.cli.conftest import InProcess
from tests.docs.pages import blocks, commands, read_page

PAGE = read_page("docs/training.md")


@pytest.mark.timeout(900)
@pytest.mark.usefixtures("few_everyday_questions")
def test_training_on_ones_own_books_and_measuring_run(nlb: InProcess, user: Path) -> None:
    (user / "my-questions.jsonl").write_text(blocks(PAGE, "json")[0], encoding="utf-8")
    shown = commands(PAGE)[:3]
    assert [arguments[0] for arguments in shown] == ["train", "index", "eval"]
    assert nlb("index", "./books").code == 0
    for arguments in shown:
        ran = nlb(*arguments)
        assert ran.code == 0, (arguments, ran.out, ran.err)
    assert "Answers and refusals: own (1 query, 1 group)" in ran.out


def test_its_presets_exist() -> None:
    for arguments in commands(PAGE):
        if "--preset" in arguments:
            assert read_preset(arguments[arguments.index("--preset") + 1], [])
