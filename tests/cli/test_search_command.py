"""`nlb search`: hits of every level, and whole files of questions."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

from nlb_cli.output.snippets import marked, pattern_of, snippet
from nlb_retriever import open_store
from tests.cli.conftest import InProcess, OnTerminal, Started

HIT_KEYS = {
    *("level", "book_id", "title", "author", "source", "section", "section_id"),
    *("start", "end", "page", "score", "text"),
}


def test_hits_have_a_rank_a_section_a_score_and_a_snippet(nlb: InProcess, shelf: Path) -> None:
    ran = nlb("search", "the schooner on the reef", "--limit", "1", "--library", shelf)
    assert (ran.code, ran.err) == (0, "")
    with open_store(shelf) as store:
        book = store.find_book("lamp")
    assert re.sub(r"\d\.\d{3}\n", "SCORE\n", ran.out) == (
        " 1  THE LAMP OF SKERRY, Anna Morrow  SCORE\n"
        f"    PART TWO › CHAPTER III. The Wreck  nlb show {book.id[:8]} --section 3 --library {shelf}\n"
        "    PART TWO CHAPTER III. The Wreck The schooner Marigold struck the reef at midnight. Tomas rowed out alone"
        " and brought eleven sailors home in a boat that was made for four.\n"
    )


@pytest.mark.parametrize("level", ["book", "section", "passage"])
def test_json_has_the_question_the_level_and_the_hits(nlb: InProcess, shelf: Path, level: str) -> None:
    ran = nlb("search", "a comet", "--level", level, "--json", "--library", shelf)
    assert (ran.code, ran.err) == (0, "")
    told = json.loads(ran.out)
    assert (told["question"], told["level"]) == ("a comet", level)
    assert told["hits"][0]["title"] == "A NIGHT AT THE OBSERVATORY"
    for hit in told["hits"]:
        assert set(hit) >= HIT_KEYS
        assert hit["level"] == level


@pytest.mark.parametrize("options", [("--mode", "dense"), ("--mode", "bm25"), ("--flat",), ("--neighbours", "1")])
def test_every_way_of_searching_finds_the_comet(nlb: InProcess, shelf: Path, options: tuple[str, ...]) -> None:
    ran = nlb("search", "comet", *options, "--json", "--library", shelf)
    assert ran.code == 0
    assert json.loads(ran.out)["hits"][0]["title"] == "A NIGHT AT THE OBSERVATORY"


def test_book_takes_an_id_a_title_or_a_path(nlb: InProcess, shelf: Path) -> None:
    with open_store(shelf) as store:
        book = store.find_book("orchard")
    for name in (book.id, "orchard letters", book.source, Path(book.source).name, Path(book.source).stem):
        told = json.loads(nlb("search", "storm", "--book", name, "--json", "--library", shelf).out)
        assert {hit["title"] for hit in told["hits"]} == {"Orchard Letters"}


def test_neighbours_are_shown_whole(nlb: InProcess, shelf: Path) -> None:
    args = ("search", "comet", "--neighbours", "2", "-n", "1", "--library", shelf)
    [hit] = json.loads(nlb(*args, "--json").out)["hits"]
    assert " ".join(hit["text"].split()) in " ".join(nlb(*args).out.split())
    assert " ".join(hit["text"].split()) not in " ".join(nlb("search", "comet", "-n", "1", "-l", shelf).out.split())


def test_no_hits_are_one_line(nlb: InProcess, shelf: Path) -> None:
    ran = nlb("search", "comet", "--year", "1700", "--library", shelf)
    assert (ran.code, ran.out) == (0, "Nothing found.\n")


def test_a_file_of_questions_is_answered_line_by_line_in_order(nlb: InProcess, shelf: Path, tmp_path: Path) -> None:
    lines = [
        "Who discovered the comet?",
        '{"question": "the grey mare", "level": "book", "limit": 1, "id": 7}',
        '{"question": "the wreck", "level": "section", "book": "lamp"}',
        "",
        '{"question": ',
        '{"question": "x", "level": "page"}',
        '{"question": "x", "book": "no such book"}',
        '{"question": "x", "limit": 0}',
        '{"level": "book"}',
        '{"question": "x", "lmit": 1}',
        "“The lamp”, naïve?",
    ]
    file = tmp_path / "questions.jsonl"
    file.write_text("\n".join(lines), encoding="utf-8-sig")
    ran = nlb("search", "--queries", file, "--limit", "2", "--library", shelf)
    assert ran.code == 1
    told = [json.loads(line) for line in ran.out.splitlines()]
    assert [answer["question"] for answer in told] == [
        "Who discovered the comet?",
        "the grey mare",
        "the wreck",
        "",
        "",
        "",
        "x",
        "",
        "",
        "",
        "“The lamp”, naïve?",
    ]
    assert [len(answer["hits"]) for answer in told] == [2, 1, 2, 0, 0, 0, 0, 0, 0, 0, 2]
    assert [answer["level"] for answer in told[:3]] == ["passage", "book", "section"]
    assert told[1]["hits"][0]["title"] == "Orchard Letters"
    assert {hit["title"] for hit in told[2]["hits"]} == {"THE LAMP OF SKERRY"}
    assert all(answer["searched"] is None for answer in told)
    assert [("error" in answer) for answer in told] == [False] * 3 + [True] * 7 + [False]
    assert told[4]["error"].startswith("line 5 starts like JSON")
    assert "no such book" in told[6]["error"]
    assert (
        told[9]["error"]
        == 'line 10 has "lmit", which is unknown: it may have "question", "level", "book", "limit", "id"'
    )
    assert ran.err == 'nlb: 7 of the lines could not be answered; their "error" says why\n'


def test_a_bad_line_costs_only_itself(nlb: InProcess, shelf: Path) -> None:
    bad = [
        {"question": "x", "book": "a\0b"},
        {"question": "x", "book": "\ud800"},
        {"question": "x", "book": "a" * 2_000},
        {"question": "x", "limit": 10**29},
        {"question": "x", "limit": 2**64},
        {"question": "whale " * 20_000},
        {"question": "\0"},
        {"question": ["x"]},
        {"question": "x", "level": ["book"]},
        {"question": "x", "k" * 5_000: 1},
    ]
    good = [{"question": "the comet a\0b"}, {"question": "the \ud800 comet"}, {"question": "comet"}]
    lines = [*map(json.dumps, [*bad, *good]), f'{{"question": "x", "limit": {"9" * 5_000}}}', "[" * 100_000]
    ran = nlb("search", "--queries", "-", "--limit", "1", "--library", shelf, stdin="\n".join(lines))
    assert ran.code == 1
    answers = [json.loads(line) for line in ran.out.splitlines()]
    assert [bool(answer.get("error")) for answer in answers] == [True] * 10 + [False] * 3 + [True, False]
    assert [len(answer["hits"]) for answer in answers] == [0] * 10 + [1] * 3 + [0, 1]
    assert all(len(answer.get("error", "")) < 300 for answer in answers)
    assert answers[3]["error"] == "limit must be a whole number from 0 to 1,000,000, not 1" + 29 * "0"


@pytest.mark.parametrize(
    "args",
    [
        ("search", "comet", "--limit", str(2**64)),
        ("search", "comet", "--neighbours", str(2**64)),
        ("search", "comet", "--book", "lamp", "--section", "9" * 5_000),
        ("search", "comet", "--book", "x" * 5_000),
        ("search", "comet " * 20_000),
    ],
)
def test_what_is_too_large_is_one_line(nlb: InProcess, shelf: Path, args: tuple[str, ...]) -> None:
    ran = nlb(*args, "--library", shelf)
    assert (ran.code, ran.out) == (2, "")
    assert ran.err.count("\n") == 1
    assert len(ran.err) < 300


def test_questions_come_from_a_pipe_and_answers_equal_those_of_single_runs(nlb: InProcess, shelf: Path) -> None:
    questions = ["the comet", "the mare"]
    many = nlb("search", "--queries", "-", "--library", shelf, stdin="\n".join(questions) + "\n")
    assert (many.code, many.err) == (0, "")
    single = [json.loads(nlb("search", question, "--json", "--library", shelf).out) for question in questions]
    assert [json.loads(line) for line in many.out.splitlines()] == single


BROKEN = b'the comet\n\xff\xfe\n{"question": "the mare \\ud800"}\n'


def test_bytes_that_are_no_text_cost_only_their_line(nlb_process: Started, shelf: Path) -> None:
    done = nlb_process("search", "--queries", "-", "--library", shelf, stdin=BROKEN)
    assert done.returncode == 1
    told = [json.loads(line) for line in done.stdout.splitlines()]
    assert [bool(answer["hits"]) for answer in told] == [True, False, True]
    assert told[2]["question"] == "the mare \ud800"
    assert told[1]["error"].startswith("line 2 is not UTF-8")


def test_a_missing_file_of_questions_is_one_line(nlb: InProcess, shelf: Path, tmp_path: Path) -> None:
    ran = nlb("search", "--queries", tmp_path / "none.txt", "--library", shelf)
    assert (ran.code, ran.out) == (2, "")
    assert ran.err.count("\n") == 1
    assert "none.txt cannot be read (No such file or directory)" in ran.err


def test_a_terminal_shows_matching_words_in_bold_within_its_width(nlb_terminal: OnTerminal, shelf: Path) -> None:
    ran = nlb_terminal("search", "drowned sailors", "--library", shelf, columns=60)
    assert ran.code == 0
    assert "\x1b[1mdrowned\x1b[0m" in ran.out
    plain = re.sub(r"\x1b\[[\d;]*m", "", ran.out)
    rows = [row for row in plain.splitlines() if "nlb show" not in row]
    assert max(map(len, rows)) <= 60


def test_a_snippet_is_cut_round_the_words_of_the_question() -> None:
    text = f"{'Nothing here. ' * 40}Then the whales were hunted by Ahab.{' Nothing there.' * 40}"
    pieces = snippet(text, pattern_of("Who is hunting the whale?"))
    shown = "".join(piece for piece, _ in pieces)
    assert [piece for piece, matches in pieces if matches] == ["whales", "hunted"]
    assert shown.startswith("…")
    assert shown.endswith("…")
    assert len(shown) <= 220


def test_marking_a_text_leaves_it_as_it_is() -> None:
    text = "A whale is a whale; WHALING is not."
    pieces = marked(text, pattern_of("whales"))
    assert "".join(piece for piece, _ in pieces) == text
    assert [piece for piece, matches in pieces if matches] == ["whale", "whale", "WHALING"]


@pytest.mark.parametrize("question", ["", "?!", "()[]{}*+\\"])
def test_a_question_without_words_marks_nothing(question: str) -> None:
    assert snippet("Some text.", pattern_of(question)) == [("Some text.", False)]
