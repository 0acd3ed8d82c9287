"""`nlb ask --llm` and `nlb chat`: prose shown while it is written, and the books' own words where a model fails."""

from __future__ import annotations

import json
import os
import re
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from nlb_cli.commands import chat
from tests.cli.conftest import RUN, InProcess, OnTerminal, environment, nlb, nlb_terminal
from tests.prose.conftest import Server, free_port

__all__ = ["nlb", "nlb_terminal"]

Serve = Callable[..., Server]
STORM = "What did the storm of November break?"
FALSE = "Nobody ever flew to the moon of Jupiter with a Spanish admiral."


@pytest.fixture(autouse=True)
def paths(monkeypatch: pytest.MonkeyPatch) -> None:
    """Commands in a process of their own find all packages."""
    root = Path(__file__).resolve().parents[2]
    monkeypatch.setattr(
        "tests.cli.conftest.environment",
        lambda extra=None: (
            environment(extra) | {"PYTHONPATH": os.pathsep.join(map(str, (root, root / "cli", root / "integrations")))}
        ),
    )


def test_ask_prints_prose_then_its_citations(nlb: InProcess, library: Path, serve: Serve) -> None:
    url = serve(f"It broke the clock [1]. {FALSE} [9]").url
    ran = nlb("ask", STORM, "--llm", url, "--library", library)
    assert (ran.code, ran.err) == (0, "")
    answer, empty, title, place, quote = ran.out.splitlines()
    assert answer == f"It broke the clock. [1] {FALSE} (unsupported)"
    assert (empty, title) == ("", "[1] The Lighthouse Keeper, Ann Harbour")
    assert place.startswith("    CHAPTER II. The Storm  nlb show ")
    assert quote == "    “The storm of that November broke the clock.”"


def test_ask_gives_one_json_document(nlb: InProcess, library: Path, serve: Serve) -> None:
    url = serve(f"It broke the clock [1]. {FALSE}").url
    answer = json.loads(nlb("ask", STORM, "--llm", url, "--json", "--library", library).out)
    assert list(answer) == [
        "question",
        "searched",
        "found",
        "short",
        "confidence",
        "answer",
        "citations",
        "sentences",
        "model",
    ]
    assert answer["answer"] == f"It broke the clock. [1] {FALSE}"
    assert answer["sentences"] == [
        {"text": "It broke the clock.", "citations": [1], "supported": True},
        {"text": FALSE, "citations": [], "supported": False},
    ]
    assert (answer["found"], answer["model"]) == (True, "tiny")
    text = nlb("show", answer["citations"][0]["book_id"], "--text", "--library", library).out
    for citation in answer["citations"]:
        assert citation["quote"] == text[citation["quote_start"] : citation["quote_end"]]


def test_a_model_that_is_down_leaves_the_books_own_words(nlb: InProcess, library: Path) -> None:
    with free_port() as port:
        ran = nlb("ask", STORM, "--llm", f"http://127.0.0.1:{port}/v1", "--library", library)
    assert ran.code == 1
    assert ran.out == nlb("ask", STORM, "--library", library).out
    assert ran.err == (
        f"nlb: no server can be reached at http://127.0.0.1:{port}/v1: start it, or name another model; "
        "this is in the books' own words\n"
    )


@pytest.mark.parametrize(("text", "why"), [("", "tiny wrote nothing"), (FALSE, "nothing that tiny wrote is supported")])
def test_nothing_and_nonsense_leave_the_books_own_words(
    nlb: InProcess, library: Path, serve: Serve, text: str, why: str
) -> None:
    url = serve(text).url
    ran = nlb("ask", STORM, "--llm", url, "--library", library)
    assert ran.code == 1
    assert ran.err.startswith(f"nlb: {why}") and ran.err.count("\n") == 1
    shown = ran.out.removeprefix(f"{FALSE} (unsupported)\n") if text else ran.out
    assert shown == nlb("ask", STORM, "--library", library).out
    answer = json.loads(nlb("ask", STORM, "--llm", url, "--json", "--library", library).out)
    assert answer["model"] is None
    assert all(sentence["supported"] for sentence in answer["sentences"])
    assert answer["citations"]


def test_what_is_not_in_the_library_costs_no_model(nlb: InProcess, library: Path, serve: Serve) -> None:
    server = serve("Sure!")
    question = "How do I configure a Kubernetes ingress controller?"
    ran = nlb("ask", question, "--llm", server.url, "--library", library)
    assert (ran.code, ran.out, ran.err) == (0, "Not in your library.\n", "")
    assert server.asked == []


@pytest.mark.parametrize("model", ["gpt", "./none.gguf"])
def test_a_model_of_no_known_name_is_one_line(nlb: InProcess, library: Path, model: str) -> None:
    ran = nlb("ask", STORM, "--llm", model, "--library", library)
    assert (ran.code, ran.out) == (2, "")
    assert ran.err.startswith("nlb: no ") and ran.err.count("\n") == 1


def test_the_environment_names_a_model_for_all_questions(
    nlb: InProcess, library: Path, serve: Serve, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("NLB_LLM", serve("It broke the clock.").url)
    assert nlb("ask", STORM, "--library", library).out.startswith("It broke the clock. [1]\n")
    without = nlb("ask", STORM, "--llm", "", "--library", library).out
    monkeypatch.delenv("NLB_LLM")
    assert without == nlb("ask", STORM, "--library", library).out
    assert "[1] The Lighthouse Keeper" in without


def test_all_passages_are_for_no_model(nlb: InProcess, library: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("NLB_LLM", "smollm2")
    refused = nlb("ask", STORM, "--all", "--library", library)
    assert refused.code == 2
    assert '--llm "" uses none, nor the one that NLB_LLM names' in " ".join(refused.err.replace("│", " ").split())
    assert nlb("ask", STORM, "--all", "--llm", "", "--library", library).code == 0


def test_a_section_bounds_the_answer(nlb: InProcess, library: Path, serve: Serve) -> None:
    server = serve("It broke the clock.")
    options = ("--book", "The Lighthouse Keeper", "--section", "2", "--library", library)
    nlb("ask", STORM, "--llm", server.url, *options)
    sent = server.asked[0]["messages"][-1]["content"]
    assert "broke the clock" in sent and "herring" not in sent
    answer = json.loads(nlb("ask", STORM, "--json", *options).out)
    assert {citation["section"][-1] for citation in answer["citations"]} == {"CHAPTER II. The Storm"}


def test_the_real_model_answers_from_the_command_line(nlb: InProcess, library: Path, smollm2: object) -> None:
    options = ("--book", "The Lighthouse Keeper", "--section", "2", "--library", library)
    answer = json.loads(nlb("ask", STORM, "--llm", "smollm2", "--json", *options).out)
    assert answer["answer"]
    assert {number for sentence in answer["sentences"] for number in sentence["citations"]} == set(
        range(1, len(answer["citations"]) + 1)
    )


def test_a_chat_on_a_pipe_is_plain_and_keeps_its_turns(nlb: InProcess, library: Path, serve: Serve) -> None:
    server = serve("It broke the clock [1].")
    ran = nlb(
        "chat", "--llm", server.url, "--library", library, stdin=f"{STORM}\n\nAnd what did he do then?\n/quit\nNo?\n"
    )
    assert (ran.code, ran.err) == (0, "")
    assert ran.out.count("It broke the clock. [1]\n\n[1] The Lighthouse Keeper") == 2
    assert "> " not in ran.out
    first, second = ([message["content"] for message in body["messages"]] for body in server.asked)
    assert second[:-1] == [first[0], f"Question: {STORM}", "It broke the clock."]


def test_a_chat_gives_a_line_of_json_for_each_question(nlb: InProcess, library: Path, serve: Serve) -> None:
    url = serve("It broke the clock [1].").url
    ran = nlb("chat", "--llm", url, "--json", "--library", library, stdin=f"{STORM}\nAnd what did he do then?\n")
    rows = [json.loads(row) for row in ran.out.splitlines()]
    assert [row["question"] for row in rows] == [STORM, "And what did he do then?"]


def test_a_chat_goes_on_after_a_question_that_failed(nlb: InProcess, library: Path, serve: Serve) -> None:
    url = serve("It broke the clock [1].").url
    ran = nlb("chat", "--llm", url, "--library", library, stdin=f"{STORM * 900}\n{STORM}\n")
    assert ran.code == 1
    assert "shorten it" in ran.err and ran.err.count("\n") == 1
    assert ran.out.startswith("It broke the clock. [1]")


@pytest.mark.parametrize(
    ("args", "said"),
    [((), "a chat needs a language model"), (("--llm", "smollm2", "--library", "nowhere"), "no library at")],
)
def test_a_chat_without_a_model_or_a_library_is_one_line(nlb: InProcess, args: tuple[str, ...], said: str) -> None:
    ran = nlb("chat", *args)
    assert (ran.code, ran.out) == (2, "")
    assert said in ran.err and ran.err.count("\n") == 1


@pytest.mark.parametrize("columns", [40, 120])
def test_a_terminal_wraps_what_is_written(nlb_terminal: OnTerminal, library: Path, serve: Serve, columns: int) -> None:
    url = serve(f"It broke the clock [1]. {FALSE} {FALSE.replace('Nobody', 'Someone')}").url
    ran = nlb_terminal("ask", STORM, "--llm", url, "--library", library, columns=columns)
    assert ran.code == 0
    plain = re.sub(r"\x1b\[[0-9;]*m", "", ran.out)
    rows = plain.split("\n\n")[0].splitlines()
    assert max(map(len, rows)) <= min(columns, 100)
    assert " ".join(rows).startswith(f"It broke the clock. [1] {FALSE} (unsupported) Someone")
    assert "\x1b[36m[1]\x1b[0m" in ran.out


def test_a_chat_on_a_terminal_prompts_until_it_is_quit(nlb_terminal: OnTerminal, library: Path, serve: Serve) -> None:
    url = serve("It broke the clock [1].").url
    ran = nlb_terminal("chat", "--llm", url, "--library", library, typed=f"{STORM}\n/quit\n")
    assert ran.code == 0
    assert ran.out.count("> ") == 2
    assert "It broke the clock." in ran.out
    assert "Traceback" not in ran.out


def test_a_python_without_readline_can_chat(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "readline", None)
    monkeypatch.setattr("builtins.input", lambda _: "Who?")
    assert next(chat._typed()) == "Who?"


def test_ctrl_c_ends_a_chat_on_a_pipe_in_one_line(library: Path, serve: Serve) -> None:
    server = serve("It broke.", silence=60)
    command = [
        sys.executable,
        "-c",
        RUN,
        "chat",
        "--llm",
        server.url,
        "--library",
        str(library),
    ]
    root = Path(__file__).resolve().parents[2]
    env = environment() | {"PYTHONPATH": os.pathsep.join(map(str, (root, root / "cli", root / "integrations")))}
    started = subprocess.Popen(
        command, env=env, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    )
    assert started.stdin is not None
    started.stdin.write(f"{STORM}\n")
    started.stdin.flush()
    while not server.asked:  # the question has come through
        assert started.poll() is None
        time.sleep(0.05)
    started.send_signal(signal.SIGINT)
    out, err = started.communicate(timeout=60)
    assert (started.returncode, out, err) == (130, "", "nlb: interrupted\n")
