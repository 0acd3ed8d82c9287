"""Books that programs give instead of files: the same rules, and the library is the only place they are in."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from nlb_retriever import index_files
from nlb_retriever.errors import EncoderError, MismatchError, NlbError, QueryError, ReadingError, StoreError
from nlb_retriever.indexing.indexer import index_books
from nlb_retriever.reading.text import book_from_text
from nlb_retriever.records import Book, Page, Section
from nlb_retriever.search.retriever import Retriever
from nlb_retriever.store import Condition, open_store
from nlb_retriever.store import library as library_module
from nlb_retriever.store.backends import folder
from tests.doubles import KeywordEncoder
from tests.texts import KITCHEN, LIGHTHOUSE


@pytest.fixture
def library(tmp_path: Path) -> Path:
    return tmp_path / "library"


def lamp(text: str = LIGHTHOUSE) -> Book:
    pages = (
        Page(start=0, number=1, label="i"),
        Page(start=400, number=2, label="ii"),
        Page(start=401, number=3, label="1"),
    )
    return book_from_text(
        text, source="lamp", language="en", year=1901, pages=pages, metadata={"shelf": {"row": 4}, "n": 1}
    )


def bread() -> Book:
    halves = (
        Section(path=("One",), start=0, end=40),
        Section(path=("One", "Deeper"), start=40, end=len(KITCHEN)),
    )
    return book_from_text(KITCHEN, source="bread", title="Bread", sections=halves)


def held(library: Path) -> dict[str, Book]:
    """All books of a library as they were given."""
    with open_store(library) as store:
        assert store.verify() == []
        books = {entry.source: store.read_book(entry) for entry in store.books()}
    return {source: book for source, book in books.items() if book}


def test_one_path_or_book_is_taken_as_one(library: Path, tmp_path: Path) -> None:
    (tmp_path / "ab").mkdir()
    (tmp_path / "ab" / "lamp.txt").write_text(LIGHTHOUSE)
    assert [ref.source for ref in index_files(str(tmp_path / "ab"), library).indexed] == [f"{tmp_path}/ab/lamp.txt"]
    assert index_files(tmp_path / "ab", library).failed == ()
    assert [ref.source for ref in index_books(bread(), library).indexed] == ["bread"]


@pytest.mark.parametrize("paths", [None, 1, b"books", [None], [b"books"], [["books"]]])
def test_what_is_no_path_is_refused(library: Path, paths: Any) -> None:
    with pytest.raises(ReadingError, match="paths must be files, folders or glob patterns, not "):
        index_files(paths, library)


@pytest.mark.parametrize("tokens", [-1, 9, "256", 64.0, True, 10**9])
def test_a_wrong_chunk_length_is_refused_and_makes_no_library(library: Path, tokens: Any) -> None:
    with pytest.raises(
        EncoderError, match=f"chunk_tokens must be a whole number from 10 to 1,000,000, .*not {tokens!r}"
    ):
        index_books(bread(), library, chunk_tokens=tokens)
    assert not library.exists()


@pytest.mark.parametrize("wrong", [{"device": None}, {"chunk_encoder": 1}, {"checkpoint": 1}, {"library": b"library"}])
def test_a_setting_that_is_none_is_refused(library: Path, wrong: dict[str, Any]) -> None:
    with pytest.raises(NlbError, match=r"(device|a name or a folder|a library) (must be|is) .*, not "):
        index_books(bread(), **{"library": library, **wrong})


@pytest.mark.parametrize("books", [None, "text", ["text"], Path("a.txt"), {"a": 1}])
def test_what_is_no_book_is_refused(library: Path, books: Any) -> None:
    with pytest.raises(ReadingError, match="books must be Book records, as book_from_text makes, not "):
        index_books(books, library)


def test_a_given_book_is_read_back_as_it_was_given_with_its_language(library: Path) -> None:
    report = index_books([lamp(), bread()], library)
    assert [ref.source for ref in report.indexed] == ["lamp", "bread"]
    assert held(library) == {"lamp": replace(lamp(), language="en"), "bread": replace(bread(), language="en")}


def test_unchanged_is_no_work_and_changed_is_a_new_version_under_the_same_id(library: Path) -> None:
    first = index_books([lamp(), bread()], library)
    again = index_books([lamp(), bread()], library)
    assert (again.tokens, len(again.unchanged)) == (0, 2)
    changed = index_books([lamp(LIGHTHOUSE.replace("Tobias", "Matthias"))], library)
    assert [(ref.book_id, ref.changed) for ref in changed.indexed] == [(first.indexed[0].book_id, True)]
    assert "Tobias" not in held(library)["lamp"].text


def test_two_sources_of_one_text_are_two_books_and_one_source_twice_is_refused(library: Path) -> None:
    copy = book_from_text(LIGHTHOUSE, source="copy")
    report = index_books([book_from_text(LIGHTHOUSE, source="first"), copy, copy], library)
    assert [ref.source for ref in report.indexed] == ["first", "copy"]
    assert len({ref.book_id for ref in report.indexed}) == 2
    assert [failed.reason for failed in report.failed] == ["copy: is given twice in one run"]


def test_a_book_without_text_stops_nothing(library: Path) -> None:
    report = index_books([book_from_text(" \n", source="empty"), bread()], library)
    assert [failed.reason for failed in report.failed] == ["empty has no passages to encode: it holds no text"]
    assert set(held(library)) == {"bread"}


def test_pruning_removes_given_books_only_from_the_given_folders(library: Path, tmp_path: Path) -> None:
    folder = tmp_path / "books"
    folder.mkdir()
    (folder / "kitchen.txt").write_text(KITCHEN)
    inside = book_from_text(LIGHTHOUSE, source=str(folder / "gone.txt"))
    relative = book_from_text(LIGHTHOUSE, source="books/gone.txt")
    index_books([lamp(), inside, relative], library)
    report = index_files([folder], library, prune=True)
    assert [ref.source for ref in report.removed] == [str(folder / "gone.txt")]
    assert set(held(library)) == {"lamp", "books/gone.txt", str(folder / "kitchen.txt")}


def test_rebuilding_takes_from_the_library_what_is_in_no_file(library: Path, tmp_path: Path) -> None:
    for name, text in (("gone", KITCHEN), ("here", LIGHTHOUSE + "\nThe end.\n")):
        (tmp_path / f"{name}.txt").write_text(text)
    index_files([tmp_path / "gone.txt", tmp_path / "here.txt"], library)
    index_books([lamp(LIGHTHOUSE.upper()), bread()], library)
    index_books([lamp()], library)  # its id is that of its first content
    (tmp_path / "gone.txt").unlink()
    before = held(library)
    with open_store(library) as store:
        ids = {entry.source: entry.id for entry in store.books()}
    report = index_files([], library, chunk_tokens=64, rebuild=True)
    assert (len(report.indexed), report.failed) == (4, ())
    assert held(library) == before
    with open_store(library) as store:
        assert store.manifest.chunk_tokens == 64
        assert {entry.source: entry.id for entry in store.books()} == ids
    index_files([], library, chunk_tokens=256, rebuild=True)
    again = index_books([lamp(), bread()], library)
    assert (again.tokens, len(again.unchanged)) == (0, 2)


def test_rebuilding_keeps_what_can_no_longer_be_read_from_its_file(library: Path, tmp_path: Path) -> None:
    file = tmp_path / "kitchen.txt"
    file.write_text(KITCHEN)
    index_files([file], library)
    index_books([lamp()], library)
    before = held(library)
    file.write_bytes(bytes(1000))
    report = index_files([tmp_path], library, chunk_tokens=64, rebuild=True)
    assert [failed.source for failed in report.failed] == [str(file)]
    assert {ref.source for ref in report.indexed} == {"lamp", str(file)}
    assert held(library) == before


def test_a_rebuilding_that_would_lose_a_given_book_leaves_the_library_as_it_is(
    library: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    index_books([lamp(), bread()], library)
    before = held(library)
    with monkeypatch.context() as patched:
        patched.setattr(library_module.LibraryStore, "read_book", lambda self, entry: None)
        with pytest.raises(StoreError, match="is as it was: .* would be lost: `nlb remove` it"):
            index_files([], library, chunk_tokens=64, rebuild=True)
    assert held(library) == before


@pytest.mark.parametrize(
    ("value", "kept"),
    [
        ("C:\\u0000", "C:\\u0000"),
        ("a\0b\ud800", "ab?"),
        (float("nan"), "nan"),
        (2**70, str(2**70)),
        ({(1, 2): [1.5, True, None]}, {"(1, 2)": [1.5, True, None]}),
        ({"b", "a"}, ["a", "b"]),
    ],
)
def test_metadata_of_any_kind_are_kept_as_plain_values(value: object, kept: object, library: Path) -> None:
    report = index_books([book_from_text(KITCHEN, source="x", metadata={"key": value})], library)
    assert report.failed == ()
    assert held(library)["x"].metadata == {"key": kept}


@pytest.mark.parametrize("spans", [[(1, 9)], [(0, 8)], [(0, 4), (5, 9)], [(0, 5), (4, 9)], [(0, 10)]])
def test_sections_that_do_not_cover_the_text_are_refused(spans: list[tuple[int, int]]) -> None:
    sections = [Section(path=("One",), start=start, end=end) for start, end in spans]
    with pytest.raises(ReadingError, match="x: its sections must cover its 9 characters"):
        book_from_text("Nine char", source="x", sections=sections)


def test_a_file_and_a_text_of_one_source_are_one_book(library: Path, tmp_path: Path) -> None:
    file = tmp_path / "lamp.txt"
    file.write_text(LIGHTHOUSE)
    first = index_files([file], library)
    given = index_books([book_from_text(LIGHTHOUSE, source=str(file), title="As given")], library)
    assert [(ref.book_id, ref.changed) for ref in given.indexed] == [(first.indexed[0].book_id, True)]
    assert [ref.changed for ref in index_files([file], library).indexed] == [True]


def test_what_fails_in_the_middle_of_publishing_leaves_the_old_version(
    library: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    index_books([lamp()], library)
    changed = lamp(LIGHTHOUSE.replace("Tobias", "Matthias"))

    def fail(name: str) -> None:
        if name == "written":
            raise OSError("the power is gone")

    with monkeypatch.context() as patched:
        patched.setattr(folder, "failpoint", fail)
        with pytest.raises(StoreError, match="the power is gone"):
            index_books([changed], library)
    with open_store(library) as store:
        (entry,) = store.books()
        assert store.book_text(entry.id) == LIGHTHOUSE
    assert [ref.changed for ref in index_books([changed], library).indexed] == [True]
    assert held(library)["lamp"].text == changed.text


def test_books_are_filtered_by_what_was_told_of_them(library: Path) -> None:
    index_books([lamp(), bread()], library)
    with Retriever(library) as retriever:
        for condition in (Condition("metadata.n", "eq", 1), Condition("metadata.n", "gte", 1.0)):
            hits = retriever.search("bread and flour", where=condition, limit=50)
            assert {hit.source for hit in hits} == {"lamp"}
        for wrong, message in (
            (Condition("metadata.m", "eq", 1), "which no book has; known keys"),
            (Condition("metadata.n", "in", 1), "list of values"),
            (Condition("metadata.n", "lt", None), "words or a number"),
            (Condition("metadata.n", "text_match", 1), "needs words"),
        ):
            with pytest.raises(QueryError, match=message):
                retriever.search("bread", where=wrong)


def test_an_encoder_that_is_not_the_librarys_is_refused(library: Path) -> None:
    index_books([lamp()], library)
    with pytest.raises(MismatchError, match=r"another chunk encoder \(.*, now 000000000000\)"):
        index_books([bread()], library, load=lambda name: KeywordEncoder("lamp", name=name))
    assert set(held(library)) == {"lamp"}


def test_what_may_pass_of_a_books_metadata_makes_no_new_version(library: Path) -> None:
    def dated(date: str) -> Book:
        return book_from_text(LIGHTHOUSE, source="x", metadata={"date": date, "shelf": "A"}, volatile=["date"])

    index_books([dated("Monday")], library)
    assert index_books([dated("Tuesday")], library).tokens == 0


def test_a_section_keeps_metadata_of_its_own_over_a_rebuild(tmp_path: Path) -> None:
    text = "The lamp burns. The oil is old."
    sections = [
        Section(path=("Lamp",), start=0, end=16, metadata={"topic": "light", "owner": "Ann"}),
        Section(path=("Oil",), start=16, end=len(text)),
    ]
    book = book_from_text(text, source="a", sections=sections, metadata={"owner": "Bob", "town": "Port"})
    assert book.content_hash != book_from_text(text, source="a", metadata={"owner": "Bob", "town": "Port"}).content_hash
    index_books([book], tmp_path / "library")

    def metadata_of(question: str) -> list[dict[str, str]]:
        with Retriever(tmp_path / "library") as retriever:
            return [
                retriever.search(question, level=level, limit=1)[0].metadata["metadata"]  # type: ignore[arg-type]
                for level in ("passage", "section", "book")
            ]

    before = metadata_of("lamp"), metadata_of("oil")
    light = {"topic": "light", "owner": "Ann", "town": "Port"}
    shared = {"owner": "Bob", "town": "Port"}
    assert before == ([light, light, shared], [shared, shared, shared])
    index_files([], tmp_path / "library", rebuild=True)
    assert (metadata_of("lamp"), metadata_of("oil")) == before
