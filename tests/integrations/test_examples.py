"""The examples run as they are, and say what they should."""

from __future__ import annotations

import asyncio
import json
import runpy
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from nlb_retriever import Retriever
from tests.integrations.test_frameworks import ScriptedLLM, agents

EXAMPLES = Path(__file__).resolve().parents[2] / "examples"


@pytest.fixture
def run(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Callable[..., str]:
    """Runs an example as a command would, and returns what it printed."""

    def run(name: str, *arguments: str) -> str:
        monkeypatch.setattr(sys, "argv", [name, *arguments])
        runpy.run_path(str(EXAMPLES / name), run_name="__main__")
        return capsys.readouterr().out

    return run


def test_a_rag_application_of_20_lines_answers_from_a_folder_of_books(library: Path, run: Callable[..., str]) -> None:
    said = run("rag_in_20_lines.py", str(library.parent / "books"), "What broke in the November storm?")
    assert "In the books' own words: The storm of that November broke the clock." in said
    assert "[1] The Lighthouse Keeper, CHAPTER II. The Storm" in said


@pytest.mark.parametrize(
    ("question", "first"),
    [
        ("Which book is about bread and flour?", "book: A Book of Country Bread, whole book"),
        ("In which chapter does the frost take the buds?", "section: The Walled Garden, CHAPTER II. Frost"),
        ("Who took the lamp when Tobias died?", "passage: The Lighthouse Keeper, CHAPTER III. The Niece"),
    ],
)
def test_a_router_takes_each_question_to_its_level(
    question: str, first: str, library: Path, run: Callable[..., str]
) -> None:
    assert run("router.py", str(library), question).splitlines()[0] == first


def place(library: Retriever, book: str, query: str, quote: str) -> dict[str, Any]:
    entry = library.store.find_book(book)
    start = library.store.book_text(entry.id).index(quote)
    return {"query": query, "file": entry.source, "start": start, "end": start + len(quote)}


def test_the_levels_and_modes_are_measured_on_a_file_of_questions(
    opened: Retriever, library: Path, tmp_path: Path, run: Callable[..., str]
) -> None:
    rows = [
        place(opened, "lighthouse", "What broke in the November storm?", "The storm of that November broke the clock."),
        place(opened, "bread", "How long must a loaf be baked?", "needs three quarters of an hour"),
        place(opened, "garden", "mpffg", "red roses along the wall"),  # a word that is nowhere: none is found by words
        place(opened, "garden", "bread flour oven", "red roses along the wall"),  # words of another book
    ]
    questions = tmp_path / "questions.jsonl"
    questions.write_text("".join(json.dumps(row) + "\n" for row in rows))
    said = run("evaluation.py", str(library), str(questions)).splitlines()
    assert said[0].split() == ["level", "mode", "mrr", "hit_rate"]
    table = {line[:26].strip(): [float(value) for value in line[26:].split()] for line in said[1:]}
    assert len(table) == 10 and "section  dense, reranked" in table
    for level in ("book", "section", "passage"):
        assert table[f"{level:9}bm25"] == [0.5, 0.5]
        assert table[f"{level:9}dense"][1] == 1, "ten are asked for, and there are fewer"
        assert 0.5 <= table[f"{level:9}fused"][0] < 1
    questions.write_text(json.dumps({**rows[0], "start": 10**6, "end": 10**6 + 5}))
    with pytest.raises(SystemExit, match="there is no section from 1000000 to 1000005 in .*lighthouse.txt"):
        run("evaluation.py", str(library), str(questions))


REACT = """\
Thought: I need to look it up.
Action: {tool}
Action Input: {{"input": "{question}"}}
"""
FOUND = "Thought: I can answer without using any more tools.\nAnswer: Margaret (The Lighthouse Keeper, III)."


def agent(library: Path, *lines: str) -> ScriptedLLM:
    """Runs the example as a program would that brings its own model."""
    llm = ScriptedLLM(lines=list(lines))
    names = runpy.run_path(str(EXAMPLES / "agent.py"), run_name="example")
    asyncio.run(names["main"](str(library), "Who took the lamp?", llm))
    return llm


@agents
@pytest.mark.filterwarnings("ignore:is_running called from within a step:DeprecationWarning")  # by the agent itself
def test_an_agent_looks_for_a_book_then_for_a_passage_then_answers(
    library: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    searches = [
        REACT.format(tool="find_books", question=""),
        REACT.format(tool="find_books", question="A book about a lighthouse"),
        REACT.format(tool="find_passages", question="Who took the lamp when Tobias died?"),
    ]
    llm = agent(library, *searches, FOUND)
    said = capsys.readouterr().out.splitlines()
    assert "question is empty: ask in words" in said.pop(0)
    assert said[0].startswith("find_books({'input': 'A book about a lighthouse'}): The Lighthouse Keeper, whole book;")
    assert said[1].split("): ")[1].startswith("The Lighthouse Keeper, CHAPTER III. The Niece;")
    assert said[2:] == ["Margaret (The Lighthouse Keeper, III)."]
    assert "Search before you answer" in llm.asked[0] and "Margaret came from the city" in llm.asked[3]


@agents
@pytest.mark.filterwarnings("ignore:is_running called from within a step:DeprecationWarning")
def test_an_agent_that_did_not_search_is_distinguished_from_one_that_did(
    library: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    agent(library, FOUND)
    assert capsys.readouterr().out.splitlines()[1:] == ["(This was answered without looking into any book.)"]
