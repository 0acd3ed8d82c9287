"""`nlb books`, `nlb show` and `nlb remove`."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from types import SimpleNamespace

import pytest
import typer

from nlb_retriever import book_from_text, index_books, open_store
from nlb_retriever.records import BookRecord
from tests.cli.conftest import InProcess, OnTerminal, Started

AGAIN = "nlb: the file stays, and `nlb index` on its folder adds the book again: "


def book(library: Path, name: str) -> BookRecord:
    with open_store(library) as store:
        return store.find_book(name)


@pytest.fixture
def copied(shelf: Path, tmp_path: Path) -> Path:
    """A library that may be changed."""
    return Path(shutil.copytree(shelf, tmp_path / "copied"))


def test_books_are_listed_in_columns_on_a_pipe(nlb: InProcess, shelf: Path) -> None:
    ran = nlb("books", "--library", shelf)
    ids = [book(shelf, name).id for name in ("observatory", "orchard", "lamp")]
    assert (ran.code, ran.err) == (0, "")
    assert ran.out == (
        "ID                Title                       Author       Year  Sections  Tokens\n"
        f"{ids[0]}  A NIGHT AT THE OBSERVATORY  Anna Morrow               2      84\n"
        f"{ids[1]}  Orchard Letters             Paul Linden  1931         3     113\n"
        f"{ids[2]}  THE LAMP OF SKERRY          Anna Morrow               4     212\n"
    )


def test_books_as_json_are_the_rows_of_the_store(nlb: InProcess, shelf: Path) -> None:
    told = json.loads(nlb("books", "--json", "--library", shelf).out)
    assert len(told) == 3
    with open_store(shelf) as store:
        for row, entry in zip(told, store.books(), strict=True):
            assert row == {
                "book_id": entry.id,
                "title": entry.title,
                "author": entry.author,
                "language": entry.language,
                "year": entry.year,
                "source": entry.source,
                "sections": entry.sections,
                "passages": entry.passages,
                "chars": entry.chars,
                "tokens": entry.tokens,
                "description": entry.description,
                "warnings": list(entry.warnings),
                "work": None,
            }


def test_a_terminal_gets_a_table_that_fits(nlb_terminal: OnTerminal, shelf: Path) -> None:
    ran = nlb_terminal("books", "--library", shelf, columns=80)
    assert ran.code == 0
    assert "─" * 40 in ran.out
    assert "\x1b[1mOrchard Letters" in ran.out


def test_one_thing_is_no_several(nlb: InProcess, tmp_path: Path) -> None:
    index_books(book_from_text("Rye makes a dark loaf.", source="rye", title="On Rye"), tmp_path / "library")
    ran = nlb("show", "rye", "--library", tmp_path / "library")
    assert "\n1 section, 1 passage, 22 characters\n" in ran.out.replace("en, ", "")
    ran = nlb("show", "rye", "--section", "2", "--library", tmp_path / "library")
    assert "On Rye has 1 section, no number 2" in ran.err


def test_a_book_is_shown_as_its_tree_of_sections(nlb: InProcess, shelf: Path) -> None:
    ran = nlb("show", "lamp", "--library", shelf)
    entry = book(shelf, "lamp")
    assert (ran.code, ran.err) == (0, "")
    assert ran.out == (
        "THE LAMP OF SKERRY, Anna Morrow\n"
        f"en, 4 sections, 4 passages, {entry.chars:,} characters\n"
        f"{entry.id}  {entry.source}\n"
        "\n"
        "   PART ONE\n"
        "1    CHAPTER I. The Keeper\n"
        "2    CHAPTER II. The Letter\n"
        "   PART TWO\n"
        "3    CHAPTER III. The Wreck\n"
        "4    CHAPTER IV. Spring\n"
    )


def test_a_text_without_headings_is_shown_with_the_first_words_of_its_sections(
    nlb: InProcess, nlb_terminal: OnTerminal, tmp_path: Path
) -> None:
    day = "On the day the lamp was mended nobody came. " * 100
    with (tmp_path / "log.txt").open("w") as file:
        file.write("\n\n* * *\n\n".join(f"{name} kept the log. {day * 2}" for name in ("Jonas", "Margaret", "Anna")))
    assert nlb("index", tmp_path / "log.txt", "--library", tmp_path / "library").code == 0
    plain = nlb("show", "log", "--library", tmp_path / "library").out
    styled = nlb_terminal("show", "log", "--library", tmp_path / "library", env={"NO_COLOR": "1"}).out
    for number, name in enumerate(("Jonas", "Margaret", "Anna"), 1):
        assert f"{number}  Part {number} of 3  {name} kept the log. On the day the lamp was" in plain
        assert f"{number}  Part {number} of 3  {name} kept the log. On the day the lamp was" in styled


def test_a_narrow_terminal_keeps_the_titles_and_leaves_out_the_counts(nlb_terminal: OnTerminal, shelf: Path) -> None:
    ran = nlb_terminal("books", "--library", shelf, columns=50, env={"NO_COLOR": "1"})
    assert "Title" in ran.out and "Tokens" not in ran.out and "…" not in ran.out


def test_a_terminal_without_room_for_a_table_shows_the_same_words(nlb_terminal: OnTerminal, shelf: Path) -> None:
    ran = nlb_terminal("books", "--library", shelf, columns=20, env={"NO_COLOR": "1"})
    entry = book(shelf, "lamp")
    assert f"THE LAMP OF SKERRY, Anna Morrow {entry.id[:8]}" in " ".join(ran.out.split())
    assert "…" not in ran.out
    shown = nlb_terminal("show", "lamp", "--library", shelf, columns=20, env={"NO_COLOR": "1"})
    assert "1    CHAPTER I. The\n     Keeper\n" in shown.out.replace("\r", "")


def test_a_terminal_draws_the_tree(nlb_terminal: OnTerminal, shelf: Path) -> None:
    ran = nlb_terminal("show", "lamp", "--library", shelf, env={"COLORTERM": ""})
    assert "PART ONE" in ran.out
    assert "├── " in ran.out
    assert "└── " in ran.out


def test_the_text_is_byte_for_byte_the_books(nlb_process: Started, nlb: InProcess, shelf: Path) -> None:
    entry = book(shelf, "orchard")
    with open_store(shelf) as store:
        text = store.book_text(entry.id)
    done = nlb_process("show", "orchard", "--text", "--library", shelf)
    assert (done.returncode, done.stderr) == (0, b"")
    assert done.stdout == text.encode()
    told = json.loads(nlb("show", "orchard", "--text", "--json", "--library", shelf).out)
    assert told["text"] == text
    assert [text[each["start"] : each["end"]].split("\n")[0] for each in told["sections"]] == [
        "First Letter",
        "Second Letter",
        "Third Letter",
    ]


@pytest.mark.parametrize("name", ["2", "Second Letter", "second", "ID"])
def test_a_section_is_shown_by_number_title_or_id(nlb: InProcess, shelf: Path, name: str) -> None:
    entry = book(shelf, "orchard")
    with open_store(shelf) as store:
        section = store.sections(entry.id)[1]
    args = ("show", "orchard", "--section", section.id if name == "ID" else name, "--library", shelf)
    ran = nlb(*args)
    assert ran.code == 0
    assert ran.out == (f"Orchard Letters, Paul Linden\nSecond Letter (section 2 of 3)\n\n{section.text.strip()}\n")
    assert nlb(*args, "--text").out == section.text
    told = json.loads(nlb(*args, "--json").out)
    assert told == {
        "book_id": entry.id,
        "title": "Orchard Letters",
        "author": "Paul Linden",
        "source": entry.source,
        "number": 2,
        "section": ["Second Letter"],
        "section_id": section.id,
        "start": section.start,
        "end": section.end,
        "page": None,
        "text": section.text,
    }


def test_a_part_is_shown_with_all_of_its_sections(nlb: InProcess, shelf: Path) -> None:
    with open_store(shelf) as store:
        keeper, letter, *_ = store.sections(book(shelf, "lamp").id)
    args = ("show", "lamp", "--section", "part one", "--library", shelf)
    heads = ("PART ONE › CHAPTER I. The Keeper (section 1 of 4)", "PART ONE › CHAPTER II. The Letter (section 2 of 4)")
    texts = (keeper.text.strip(), letter.text.strip())
    shown = "\n\n".join(part for pair in zip(heads, texts, strict=True) for part in pair)
    assert nlb(*args).out == f"THE LAMP OF SKERRY, Anna Morrow\n{shown}\n"
    assert nlb(*args, "--text").out == keeper.text + letter.text
    told = json.loads(nlb(*args, "--json").out)
    assert [each["number"] for each in told["sections"]] == [1, 2]
    assert told["text"] == keeper.text + letter.text


@pytest.mark.parametrize(
    ("args", "complaint"),
    [
        (("show", "Moby-Dick"), "no book 'Moby-Dick'"),
        (("show", "lamp", "--section", "9"), "no number 9"),
        (("show", "lamp", "--section", "Epilogue"), "no section 'Epilogue'"),
        (("remove", "Moby-Dick", "--yes"), "no book 'Moby-Dick'"),
    ],
)
def test_what_is_not_there_is_one_line(nlb: InProcess, shelf: Path, args: tuple[str, ...], complaint: str) -> None:
    ran = nlb(*args, "--library", shelf)
    assert (ran.code, ran.out) == (2, "")
    assert ran.err.count("\n") == 1
    assert complaint in ran.err


def test_removed_books_are_gone_from_the_library(nlb: InProcess, copied: Path) -> None:
    lamp, orchard = book(copied, "lamp"), book(copied, "orchard")
    ran = nlb("remove", lamp.id, "orchard", "THE LAMP OF SKERRY", "--yes", "--library", copied)
    assert (ran.code, ran.err) == (0, f"{AGAIN}{lamp.source} and 1 more\n")
    assert ran.out == f"Removed THE LAMP OF SKERRY ({lamp.id}).\nRemoved Orchard Letters ({orchard.id}).\n"
    with open_store(copied) as store:
        assert [entry.title for entry in store.books()] == ["A NIGHT AT THE OBSERVATORY"]
        assert store.sections(lamp.id) == []
    assert Path(lamp.source).is_file()


def test_one_unknown_name_keeps_all_books(nlb: InProcess, copied: Path) -> None:
    assert nlb("remove", "lamp", "no such book", "--yes", "--library", copied).code == 2
    with open_store(copied) as store:
        assert len(store.books()) == 3


def test_on_a_pipe_nothing_is_removed_without_yes(nlb: InProcess, copied: Path) -> None:
    ran = nlb("remove", "lamp", "--library", copied, stdin="y\n")
    assert (ran.code, ran.out) == (2, "")
    assert "--yes" in ran.err
    with open_store(copied) as store:
        assert len(store.books()) == 3


@pytest.mark.parametrize(("answer", "code", "left"), [("n\n", 2, 3), ("y\n", 0, 2)])
def test_on_a_terminal_a_person_confirms(
    nlb_terminal: OnTerminal, copied: Path, answer: str, code: int, left: int
) -> None:
    ran = nlb_terminal("remove", "lamp", "--library", copied, typed=answer)
    assert "THE LAMP OF SKERRY" in ran.out
    assert "Remove this book?" in ran.out
    assert ran.code == code
    with open_store(copied) as store:
        assert len(store.books()) == left


@pytest.mark.parametrize(("key", "code"), [(KeyboardInterrupt, 130), (EOFError, 2)])
def test_ctrl_c_at_the_question_is_an_interruption(
    nlb: InProcess, copied: Path, monkeypatch: pytest.MonkeyPatch, key: type[BaseException], code: int
) -> None:
    def confirm(*_: object, **__: object) -> bool:
        try:
            raise key
        except key:
            raise typer.Abort from None

    monkeypatch.setattr("nlb_cli.commands.books.typer.confirm", confirm)
    terminal = SimpleNamespace(stdin=SimpleNamespace(isatty=lambda: True))
    monkeypatch.setattr("nlb_cli.commands.books.sys", terminal)
    ran = nlb("remove", "lamp", "--library", copied)
    assert (ran.code, "nlb: interrupted" in ran.err) == (code, code == 130)
    with open_store(copied) as store:
        assert len(store.books()) == 3


def test_a_removed_book_whose_file_is_still_there_may_come_back(nlb: InProcess, tmp_path: Path) -> None:
    library, file = tmp_path / "library", tmp_path / "books" / "lamp.txt"
    file.parent.mkdir()
    file.write_text("The keeper lit the lamp.")
    for expected in (f"{AGAIN}{file}\n", ""):
        assert nlb("index", tmp_path / "books", "--library", library).code == 0
        if not expected:
            file.unlink()
        assert nlb("remove", "lamp", "--yes", "--library", library).err == expected
