"""`nlb index`: what it prints, what it leaves in the library, and how it ends."""

from __future__ import annotations

import json
import os
import random
import re
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from nlb_retriever import open_store
from tests.cli.conftest import RUN, InProcess, OnTerminal, environment

DEFAULT = Path("libraries", "default")


def masked(text: str) -> str:
    """Output without what differs from run to run."""
    return re.sub(r"in [\d.]+ s:", "in S:", text)


def titles(library: Path) -> list[str]:
    with open_store(library) as store:
        return [book.title for book in store.books()]


def test_it_reports_what_it_did_and_the_library_holds_it(nlb: InProcess, books: Path, own_home: Path) -> None:
    ran = nlb("index", books)
    assert ran.code == 0
    assert masked(ran.out) == f"Indexed 3 books in S: 409 tokens.\nLibrary: {own_home / DEFAULT}\n"
    assert ran.err == "[1/3] A NIGHT AT THE OBSERVATORY\n[2/3] THE LAMP OF SKERRY\n[3/3] Orchard Letters\n"
    with open_store(own_home / DEFAULT) as store:
        rows = [(book.title, book.author, book.year, book.sections, book.source) for book in store.books()]
    assert rows == [
        ("A NIGHT AT THE OBSERVATORY", "Anna Morrow", None, 2, str(books / "comet.txt")),
        ("Orchard Letters", "Paul Linden", 1931, 3, str(books / "orchard.md")),
        ("THE LAMP OF SKERRY", "Anna Morrow", None, 4, str(books / "lamp.txt")),
    ]


def test_a_second_run_tells_new_changed_renamed_and_gone_books(nlb: InProcess, books: Path, own_home: Path) -> None:
    nlb("index", books)
    (books / "comet.txt").rename(books / "night.txt")
    (books / "lamp.txt").write_text((books / "lamp.txt").read_text() + "\nAnd they sent a cake.\n")
    (books / "orchard.md").unlink()
    (books / "copy.txt").write_bytes((books / "night.txt").read_bytes())
    (books / "picture.png").write_bytes(b"\x89PNG")

    plan = nlb("index", books, "--prune", "--dry-run")
    assert plan.code == 0
    assert plan.out == (
        "Nothing is done yet; without --dry-run this would be:\n"
        f"  update  {books}/lamp.txt\n"
        f"  rename  {books}/copy.txt\n"
        f"  remove  {books}/orchard.md\n"
        "  keep    0 books unchanged\n"
        f"Left out: {books}/night.txt is the same as {books}/copy.txt.\n"
        "Skipped in folders: 1 no book's suffix.\n"
        f"Library: {own_home / DEFAULT}\n"
    )
    assert titles(own_home / DEFAULT) == ["A NIGHT AT THE OBSERVATORY", "Orchard Letters", "THE LAMP OF SKERRY"]

    ran = nlb("index", books, "--prune")
    assert masked(ran.out) == (
        "Indexed 1 book (1 of them changed) in S: 217 tokens.\n"
        "1 book renamed, 1 book removed.\n"
        f"Left out: {books}/night.txt is the same as {books}/copy.txt.\n"
        "Skipped in folders: 1 no book's suffix.\n"
        f"Library: {own_home / DEFAULT}\n"
    )
    assert titles(own_home / DEFAULT) == ["A NIGHT AT THE OBSERVATORY", "THE LAMP OF SKERRY"]


def test_nothing_new_is_nothing_to_do(nlb: InProcess, books: Path, own_home: Path) -> None:
    nlb("index", books)
    ran = nlb("index", books)
    assert (ran.code, ran.err) == (0, "")
    assert ran.out == f"Nothing to do.\n3 books unchanged.\nLibrary: {own_home / DEFAULT}\n"


def test_a_bad_file_is_named_and_the_rest_is_indexed(nlb: InProcess, books: Path, own_home: Path) -> None:
    (books / "broken.epub").write_bytes(b"PK\x03\x04 no more")
    ran = nlb("index", books)
    assert ran.code == 1
    assert "[1/4] broken.epub failed\n" in ran.err
    last = ran.err.splitlines()[-1]
    assert last.startswith(f"nlb: failed: {books / 'broken.epub'}: ")
    assert last.count(str(books)) == 1
    assert len(titles(own_home / DEFAULT)) == 3


def test_where_everything_failed_the_exit_code_is_2(nlb: InProcess, tmp_path: Path) -> None:
    (tmp_path / "empty.txt").write_bytes(b"")
    ran = nlb("index", tmp_path / "empty.txt", tmp_path / "missing.epub")
    assert ran.code == 2
    assert ran.out.startswith("Nothing is indexed.\n")
    failures = [line for line in ran.err.splitlines() if line.startswith("nlb: failed: ")]
    assert len(failures) == 2
    assert any("missing.epub: there is no such file or folder" in line for line in failures)


def test_json_is_one_document_with_the_promised_keys(nlb: InProcess, books: Path) -> None:
    (books / "broken.pdf").write_bytes(b"%PDF-1.7 and nothing")
    ran = nlb("index", books, "--json")
    assert ran.code == 1
    told = json.loads(ran.out)
    assert {"indexed", "unchanged", "removed", "renamed", "failed", "skipped", "seconds", "tokens"} <= set(told)
    assert [book["title"] for book in told["indexed"]] == [
        "A NIGHT AT THE OBSERVATORY",
        "THE LAMP OF SKERRY",
        "Orchard Letters",
    ]
    assert [file["source"] for file in told["failed"]] == [str(books / "broken.pdf")]
    assert told["tokens"] == 409


def test_quiet_says_nothing_where_nothing_is_wrong(nlb: InProcess, books: Path) -> None:
    ran = nlb("index", books, "--quiet")
    assert (ran.code, ran.out, ran.err) == (0, "", "")


def test_rebuild_needs_no_paths_and_keeps_the_books(nlb: InProcess, books: Path, own_home: Path) -> None:
    nlb("index", books)
    before = titles(own_home / DEFAULT)
    ran = nlb("index", "--rebuild", "--chunk-tokens", "0")
    assert ran.code == 0
    assert "Indexed 3 books" in ran.out
    assert titles(own_home / DEFAULT) == before
    with open_store(own_home / DEFAULT) as store:
        assert store.manifest.chunk_tokens == 0


def test_other_chunks_than_the_library_has_are_refused_in_one_line(nlb: InProcess, books: Path) -> None:
    nlb("index", books)
    ran = nlb("index", books, "--chunk-tokens", "64")
    assert (ran.code, ran.out) == (2, "")
    assert ran.err.count("\n") == 1
    assert "chunk_tokens 256 in the library, 64 asked for" in ran.err


def test_a_terminal_shows_the_books_and_the_time_while_it_works(nlb_terminal: OnTerminal, books: Path) -> None:
    ran = nlb_terminal("index", books)
    assert ran.code == 0
    assert "of 3 books" in ran.out
    assert "━" in ran.out
    assert ran.out.endswith("default\n")


def test_no_colour_means_no_bars_either(nlb_terminal: OnTerminal, books: Path) -> None:
    ran = nlb_terminal("index", books, env={"NO_COLOR": "1"})
    assert ran.code == 0
    assert "\x1b" not in ran.out
    assert "━" not in ran.out
    assert "[3/3] Orchard Letters\n" in ran.out


def write_novel(path: Path, seed: int) -> None:
    """About 10,000 tokens."""
    words = random.Random(seed)
    names = "harbour lantern captain storm letter garden winter brother forest silver bread window".split()
    lines = [f"The {' '.join(words.choices(names, k=9))}." for _ in range(900)]
    path.write_text("\n\n".join([f"CHAPTER {seed}", *lines]), encoding="utf-8")


@pytest.mark.parametrize("whole_group", [True, False], ids=["from the terminal", "from kill -INT"])
def test_after_ctrl_c_the_same_command_goes_on(tmp_path: Path, whole_group: bool) -> None:
    novels, library = tmp_path / "novels", tmp_path / "library"
    novels.mkdir()
    for seed in range(1, 5):
        write_novel(novels / f"novel{seed}.txt", seed)
    command = [sys.executable, "-c", RUN, "index", str(novels), "--library", str(library)]
    process = subprocess.Popen(
        command,
        env=environment(),
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
    )
    assert process.stderr is not None
    assert process.stderr.readline() == "[1/4] novel1\n"
    (os.killpg if whole_group else os.kill)(process.pid, signal.SIGINT)
    out, err = process.communicate(timeout=60)
    assert process.returncode == 130
    assert out == ""
    last = err.splitlines()[-1]
    told = re.fullmatch(
        r"nlb: interrupted: ([123]) of 4 books (is|are) published; the same command goes on from there", last
    )
    assert told
    assert "Traceback" not in err
    assert len(titles(library)) == int(told[1])

    again = subprocess.run(command, env=environment(), capture_output=True, text=True, timeout=60, check=False)
    assert again.returncode == 0
    assert f"Indexed {4 - int(told[1])} book" in again.stdout
    assert titles(library) == ["novel1", "novel2", "novel3", "novel4"]
    with open_store(library) as store:
        assert store.verify() == []
