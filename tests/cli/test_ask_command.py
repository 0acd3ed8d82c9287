"""`nlb ask`: an answer in the books' words, with its place."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from pathlib import Path

import pytest

from nlb_retriever import open_store
from tests.cli.conftest import InProcess, OnTerminal, Started, environment

QUESTION = "Why did father sell the mare?"


def test_the_answer_is_followed_by_its_citations(nlb: InProcess, shelf: Path) -> None:
    ran = nlb("ask", "Who slept under the telescope?", "--limit", "1", "--library", shelf)
    assert (ran.code, ran.err) == (0, "")
    sentence = (
        "Doctor Sabine Hall discovered the comet on the ninth of March, while her assistant slept under the great"
        " telescope."
    )
    with open_store(shelf) as store:
        book = store.find_book("observatory")
    assert ran.out.replace("\n    slept", " slept") == (
        "her assistant [1] (sure)\n"
        "\n"
        "[1] A NIGHT AT THE OBSERVATORY, Anna Morrow\n"
        f"    CHAPTER I  nlb show {book.id[:8]} --section 1 --library {shelf}\n"
        f"    “{sentence}”\n"
    )


def test_json_holds_quotes_that_are_verbatim_in_the_book(nlb: InProcess, shelf: Path) -> None:
    ran = nlb("ask", QUESTION, "--json", "--library", shelf)
    assert ran.code == 0
    told = json.loads(ran.out)
    assert set(told) == {"question", "searched", "found", "short", "confidence", "answer", "citations"}
    assert (told["question"], told["found"]) == (QUESTION, True)
    assert told["citations"]
    for citation in told["citations"]:
        assert {
            *("level", "book_id", "title", "author", "source", "section", "section_id"),
            *("start", "end", "page", "score", "text", "quote"),
        } <= set(citation)
        text = nlb("show", citation["book_id"], "--text", "--library", shelf).out
        assert citation["quote"] == text[citation["quote_start"] : citation["quote_end"]]
        assert citation["text"] == text[citation["start"] : citation["end"]]


@pytest.mark.parametrize("command", ["ask", "search"])
def test_the_books_spelling_is_named_on_stderr_and_in_json(nlb: InProcess, shelf: Path, command: str) -> None:
    ran = nlb(command, "Where is the Skorry lamp?", "--json", "--library", shelf)
    assert ran.err == "nlb: your books spell it otherwise; searched for: Where is the Skerry lamp?\n"
    document = json.loads(ran.out)
    assert (document["question"], document["searched"]) == ("Where is the Skorry lamp?", "Where is the Skerry lamp?")
    assert nlb(command, "Where is the Skorry lamp?", "--library", shelf).err == ran.err


def test_the_command_of_a_citation_shows_its_section(nlb: InProcess, shelf: Path) -> None:
    told = json.loads(nlb("ask", "Who struck the reef at midnight?", "-n", "1", "--json", "--library", shelf).out)
    printed = nlb("ask", "Who struck the reef at midnight?", "-n", "1", "--library", shelf).out
    command = next(line for line in printed.splitlines() if "nlb show" in line).split("nlb ")[1]
    shown = nlb(*command.split())
    assert shown.code == 0
    assert told["citations"][0]["quote"].split("\n")[0] in shown.out


def test_the_question_may_come_from_a_pipe(nlb: InProcess, shelf: Path) -> None:
    piped = nlb("ask", "-", "--json", "--library", shelf, stdin=f"  {QUESTION}\n")
    given = nlb("ask", QUESTION, "--json", "--library", shelf)
    assert piped == given


@pytest.mark.parametrize("question", ["", "   "])
def test_an_empty_question_is_one_line(nlb: InProcess, shelf: Path, question: str) -> None:
    ran = nlb("ask", question, "--library", shelf)
    assert (ran.code, ran.out) == (2, "")
    assert ran.err.startswith("nlb: the question is empty")
    assert ran.err.count("\n") == 1


@pytest.mark.parametrize(
    ("options", "titles"),
    [
        (("--book", "lamp of skerry"), {"THE LAMP OF SKERRY"}),
        (("--author", "MORROW"), {"THE LAMP OF SKERRY", "A NIGHT AT THE OBSERVATORY"}),
        (("--author", "Morrow, Anna, 1850-1901"), {"THE LAMP OF SKERRY", "A NIGHT AT THE OBSERVATORY"}),
        (("--language", "en"), {"THE LAMP OF SKERRY", "A NIGHT AT THE OBSERVATORY", "Orchard Letters"}),
        (("--language", "EN"), {"THE LAMP OF SKERRY", "A NIGHT AT THE OBSERVATORY", "Orchard Letters"}),
        (("--language", "English"), {"THE LAMP OF SKERRY", "A NIGHT AT THE OBSERVATORY", "Orchard Letters"}),
        (("--year", "1930-1940"), {"Orchard Letters"}),
        (("--year", "1932-"), set()),
        (("--year", "-1930"), set()),
    ],
)
def test_filters_choose_the_books(nlb: InProcess, shelf: Path, options: tuple[str, str], titles: set[str]) -> None:
    name, value = options
    ran = nlb("ask", "What did the letter say?", "-n", "9", f"{name}={value}", "--json", "--library", shelf)
    assert ran.code == 0
    told = json.loads(ran.out)
    assert {citation["title"] for citation in told["citations"]} <= titles
    assert told["found"] == bool(titles)


@pytest.mark.parametrize("command", ["ask", "search"])
@pytest.mark.parametrize(
    ("options", "says"),
    [
        (("--author", "Anna Morow"), "no book by 'Anna Morow' in library {}; similar: Anna Morrow"),
        (("--author", "nobody"), "no book by 'nobody' in library {}: see `nlb books`"),
        (("--language", "de"), "no book in language 'de' in library {}; it has en"),
        (("--language", "German"), "no book in language 'German' in library {}; it has en"),
        (("--language", "e"), "no book in language 'e' in library {}; it has en"),
    ],
)
def test_an_author_or_language_that_no_book_has_is_one_line(
    nlb: InProcess, shelf: Path, command: str, options: tuple[str, str], says: str
) -> None:
    ran = nlb(command, QUESTION, *options, "--library", shelf)
    assert (ran.code, ran.out, ran.err) == (2, "", f"nlb: {says.format(shelf)}\n")


def test_a_language_is_a_whole_tag_or_the_first_part_of_one(nlb: InProcess, tmp_path: Path) -> None:
    for title, language in (("Sea", "en"), ("Inn", "en-US"), ("Mühle", "de")):
        (tmp_path / f"{title}.md").write_text(f"---\nlanguage: {language}\n---\n# {title}\n\nA lamp burns at night.\n")
    nlb("index", tmp_path, "--library", tmp_path / "library")
    search = ("search", "lamp", "--level", "book", "--json", "--library", tmp_path / "library", "--language")
    for tag, titles in (("En", {"Sea", "Inn"}), ("en-us", {"Inn"})):
        assert {hit["title"] for hit in json.loads(nlb(*search, tag).out)["hits"]} == titles
    for tag in ("US", "n"):
        assert nlb(*search, tag).err.endswith("it has de, en, en-US\n")


def test_each_quote_is_shown_once(nlb: InProcess, shelf: Path) -> None:
    args = ("ask", "Did the letter say that the lamp would be put out?", "--library", shelf)
    answer, out = json.loads(nlb(*args, "--json").out), nlb(*args).out
    assert answer["short"] is None and answer["citations"]
    assert out.startswith(f"[1] {answer['citations'][0]['title']}")
    assert all(out.count(" ".join(each["quote"].split())[:40]) == 1 for each in answer["citations"])


def test_no_answer_is_one_line_and_no_failure(nlb: InProcess, shelf: Path) -> None:
    ran = nlb("ask", QUESTION, "--year", "1700", "--library", shelf)
    assert (ran.code, ran.out, ran.err) == (0, "Not in your library.\n", "")


@pytest.mark.parametrize("year", ["soon", "1900-1800", "-", "18x5", "1-2-3"])
def test_a_year_that_is_none_is_one_line(nlb: InProcess, shelf: Path, year: str) -> None:
    ran = nlb("ask", QUESTION, f"--year={year}", "--library", shelf)
    assert (ran.code, ran.out) == (2, "")
    assert ran.err.startswith(f"nlb: --year {year!r}")
    assert ran.err.count("\n") == 1


def test_before_keeps_what_comes_later_from_the_reader(nlb: InProcess, shelf: Path) -> None:
    question = "What happened to the grey mare?"
    args = ("ask", question, "--book", "orchard", "--json", "--library", shelf)
    everything = json.loads(nlb(*args, "-n", "20").out)
    early = json.loads(nlb(*args, "-n", "20", "--before", "Second Letter").out)
    assert {"First Letter"} < {citation["section"][-1] for citation in everything["citations"]}
    assert {citation["section"][-1] for citation in early["citations"]} == {"First Letter"}


def test_it_answers_from_any_folder_by_home_and_by_name(nlb_process: Started, nlb: InProcess, tmp_path: Path) -> None:
    home, elsewhere = tmp_path / "home", tmp_path / "elsewhere"
    elsewhere.mkdir()
    (tmp_path / "cat.txt").write_text("THE CAT\n\nby Jo Lee\n\nCHAPTER I\n\nThe cat Mog ate the red balloon.\n")
    env = {"NLB_HOME": str(home)}
    assert nlb_process("index", "cat.txt", "-l", "pets", env=env, cwd=tmp_path).returncode == 0
    assert [path.name for path in (home / "libraries").iterdir()] == ["pets"]
    for options, more in ((("-l", "pets"), {}), ((), {"NLB_LIBRARY": "pets"})):
        done = nlb_process("ask", "What did the cat eat?", *options, env={**env, **more}, cwd=elsewhere)
        assert done.returncode == 0
        assert b"The cat Mog ate the red balloon." in done.stdout


def test_a_question_of_broken_bytes_is_answered_all_the_same(nlb_process: Started, shelf: Path) -> None:
    done = nlb_process("ask", b"the mare \xff\xfe of the \xed\xa0\x80 miller", "--json", "--library", shelf)
    assert done.returncode == 0, done.stderr
    told = json.loads(done.stdout)
    assert told["found"]


def test_a_terminal_shows_the_quote_amid_its_passage(nlb_terminal: OnTerminal, shelf: Path) -> None:
    ran = nlb_terminal("ask", "Who slept under the telescope?", "--limit", "1", "--library", shelf)
    assert ran.code == 0
    quote = ran.out.split("AT THE OBSERVATORY")[-1]
    unwrapped = re.sub(r"\x1b\[0m\n +\x1b\[1m", " ", quote)  # the line ends between them
    assert "\x1b[1mher assistant\x1b[0m" in unwrapped
    assert "She drew it into the margin" in quote


def test_torch_is_not_loaded_to_answer(shelf: Path) -> None:
    code = "import sys\nfrom nlb_cli.app import main\ntry: main()\nfinally: print('torch' in sys.modules)"
    command = [sys.executable, "-c", code, "ask", QUESTION, "--library", str(shelf)]
    done = subprocess.run(command, env=environment(), capture_output=True, text=True, check=True)
    assert done.stdout.splitlines()[-1] == "False"
