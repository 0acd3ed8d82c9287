"""Rebuilding a library: the same books under the same ids, none twice and none that was removed."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from nlb_retriever import book_from_text, index_books, index_files, open_store
from nlb_retriever.errors import LibraryNotFound
from nlb_retriever.indexing.report import IndexEvent
from tests.texts import KITCHEN, LIGHTHOUSE


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Two books as files."""
    (tmp_path / "books").mkdir()
    (tmp_path / "books" / "kitchen.txt").write_text(KITCHEN)
    (tmp_path / "books" / "lighthouse.txt").write_text(LIGHTHOUSE)
    return tmp_path / "books"


@pytest.fixture
def library(tmp_path: Path) -> Path:
    return tmp_path / "library"


def ids(library: Path) -> dict[str, str]:
    """File name -> id of every book."""
    with open_store(library) as store:
        assert store.verify() == []
        books = store.books()
    assert len({book.source for book in books}) == len(books)
    return {Path(book.source).name: book.id for book in books}


def test_a_file_that_was_moved_is_rebuilt_once_under_its_id(folder: Path, library: Path) -> None:
    index_files([folder], library)
    before = ids(library)
    (folder / "kitchen.txt").rename(folder / "moved.txt")
    report = index_files([folder], library, chunk_tokens=64, rebuild=True)
    assert report.failed == ()
    assert ids(library) == {"moved.txt": before["kitchen.txt"], "lighthouse.txt": before["lighthouse.txt"]}


def test_a_changed_book_keeps_its_lasting_id(folder: Path, library: Path) -> None:
    index_files([folder], library)
    before = ids(library)
    (folder / "kitchen.txt").write_text(KITCHEN + "\nThe end.\n")
    index_files([folder], library)
    index_files([], library, chunk_tokens=64, rebuild=True)
    assert ids(library) == before


def test_a_book_that_was_removed_after_an_interruption_does_not_come_back(folder: Path, library: Path) -> None:
    index_files([folder], library)
    index_books([book_from_text(KITCHEN.upper(), source="text")], library)

    def stop(event: IndexEvent) -> None:
        if event.kind == "done" and event.index == 2:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        index_files([folder], library, chunk_tokens=64, rebuild=True, observer=stop)
    before = ids(library)
    with open_store(library, writer=True) as store:
        store.remove(before.pop("kitchen.txt"))
    (folder / "kitchen.txt").unlink()
    index_files([folder], library, chunk_tokens=64, rebuild=True)
    assert ids(library) == before


def test_a_new_file_that_is_gone_after_an_interruption_is_no_book(folder: Path, library: Path) -> None:
    index_files([folder / "kitchen.txt"], library)
    before = ids(library)
    (folder / "other.txt").write_text(LIGHTHOUSE.upper())

    def stop(event: IndexEvent) -> None:
        if event.kind == "done" and event.index == 2:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        index_files([folder], library, chunk_tokens=64, rebuild=True, observer=stop)
    for name in ("lighthouse.txt", "other.txt"):
        (folder / name).unlink()
    index_files([folder], library, chunk_tokens=64, rebuild=True)
    assert ids(library) == before


def test_a_dry_run_names_every_book_and_changes_nothing(folder: Path, library: Path) -> None:
    with pytest.raises(LibraryNotFound, match="no library at .* to rebuild"):
        index_files([folder], library, rebuild=True, dry_run=True)
    index_files([folder / "kitchen.txt"], library)
    before = ids(library)
    report = index_files([folder], library, chunk_tokens=64, rebuild=True, dry_run=True)
    assert sorted(Path(ref.source).name for ref in report.indexed) == ["kitchen.txt", "lighthouse.txt"]
    assert ids(library) == before
    assert [path.name for path in library.parent.iterdir() if "rebuild" in path.name] == []


def test_pruning_reports_what_it_removes_and_keeps_what_is_only_out_of_sight(folder: Path, library: Path) -> None:
    index_files([folder], library)
    before = ids(library)
    (folder / "kitchen.txt").unlink()
    report = index_files([folder], library, chunk_tokens=64, rebuild=True, prune=True)
    assert [Path(ref.source).name for ref in report.removed] == ["kitchen.txt"]
    assert ids(library) == {"lighthouse.txt": before["lighthouse.txt"]}
    (folder / "lighthouse.txt").unlink()
    report = index_files([folder], library, chunk_tokens=256, rebuild=True, prune=True)
    assert ([Path(ref.source).name for ref in report.kept], report.removed) == (["lighthouse.txt"], ())
    assert ids(library) == {"lighthouse.txt": before["lighthouse.txt"]}


def test_books_that_a_damaged_library_has_lost_are_reported_as_failed(folder: Path, library: Path) -> None:
    index_files([folder], library)
    index_books([book_from_text(KITCHEN.upper(), source="text")], library)
    *_, segment = sorted((library / "segments").iterdir())
    os.truncate(segment, 1000)
    for dry_run in (True, False):
        [failed] = index_files([folder], library, rebuild=True, dry_run=dry_run).failed
        assert failed.reason.startswith(f"{library}: 1 book of segment {segment.name} is lost (")
    assert ids(library).keys() == {"kitchen.txt", "lighthouse.txt"}
    assert index_files([folder], library, rebuild=True).failed == ()


@pytest.mark.parametrize("is_named", [True, False])
def test_a_book_whose_file_now_is_a_copy_of_another_stops_no_rebuild(
    folder: Path, library: Path, is_named: bool
) -> None:
    index_files([folder], library)
    (folder / "kitchen.txt").write_text(LIGHTHOUSE)
    report = index_files([folder] if is_named else [], library, chunk_tokens=64, rebuild=True)
    assert [Path(ref.source).name for ref in report.removed] == ["kitchen.txt"]
    assert ids(library).keys() == {"lighthouse.txt"}


def test_two_books_of_one_file_are_rebuilt_as_the_one_that_the_file_has(folder: Path, library: Path) -> None:
    index_files([folder], library)
    before = ids(library)
    (folder / "kitchen.txt").rename(folder / "lighthouse.txt")
    with open_store(library, writer=True) as store:  # as former versions did
        store.rename({before["kitchen.txt"]: str(folder / "lighthouse.txt")})
    report = index_files([], library, chunk_tokens=64, rebuild=True)
    assert [ref.book_id for ref in report.removed] == [before["lighthouse.txt"]]
    assert ids(library) == {"lighthouse.txt": before["kitchen.txt"]}


def test_pruning_keeps_the_id_of_a_file_that_was_moved(folder: Path, library: Path) -> None:
    index_files([folder], library)
    before = ids(library)
    (folder / "kitchen.txt").rename(folder / "moved.txt")
    report = index_files([folder], library, chunk_tokens=64, rebuild=True, prune=True)
    assert (report.removed, ids(library)["moved.txt"]) == ((), before["kitchen.txt"])


def test_a_book_whose_folder_may_not_be_entered_is_rebuilt_from_the_library(bound_folder: Path) -> None:
    book, library = bound_folder / "locked" / "kitchen.txt", bound_folder / "library"
    book.parent.mkdir()
    book.write_text(KITCHEN)
    index_files([book], library)
    before = ids(library)
    book.parent.chmod(0)
    try:
        index_files([], library, chunk_tokens=64, rebuild=True)
    finally:
        book.parent.chmod(0o700)
    assert ids(library) == before


def test_a_rebuild_keeps_the_chunk_length(folder: Path, library: Path) -> None:
    index_files([folder], library, chunk_tokens=64)
    index_files([], library, rebuild=True)
    with open_store(library) as store:
        assert store.manifest.chunk_tokens == 64
