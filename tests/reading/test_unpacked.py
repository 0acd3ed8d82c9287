"""EPUB books as folders, as Apple Books keeps them: each is one book."""

from __future__ import annotations

import zipfile
from collections.abc import Callable
from pathlib import Path

import pytest

from nlb_retriever.errors import ReadingError
from nlb_retriever.indexing.plan import collect_inputs, make_plan
from nlb_retriever.reading import Limits, discover, hash_file, read_book


@pytest.fixture
def folder(simple_epub: Callable[..., Path], tmp_path: Path) -> Path:
    packed = simple_epub()
    folder = tmp_path / "shelf" / "Book.epub"
    with zipfile.ZipFile(packed) as archive:
        archive.extractall(folder)
    (folder / ".DS_Store").write_bytes(b"\0\1")
    (folder / "cover.jpg").write_bytes(b"\xff\xd8\xff")
    return folder


def test_a_folder_that_is_an_epub_is_read_as_its_archive(folder: Path, tmp_path: Path) -> None:
    book = read_book(folder)
    packed = read_book(next(path for path in tmp_path.glob("*.epub") if path.is_file()))
    assert (book.title, book.text, book.sections, book.warnings) == (
        packed.title,
        packed.text,
        packed.sections,
        packed.warnings,
    )
    assert book.content_hash == hash_file(folder)


@pytest.mark.parametrize("named", [".", "Book.epub", "*.epub"])
def test_it_is_found_as_one_file(folder: Path, named: str) -> None:
    found = discover([str(folder.parent / named)])
    assert found.files == (folder,)
    assert not found.failed
    plan = make_plan(collect_inputs(found), [])
    assert [task.input.source for task in plan.tasks] == [str(folder)]
    assert not found.has_lost(str(folder))


def test_a_changed_chapter_is_a_change_and_a_picture_is_none(folder: Path) -> None:
    before = hash_file(folder)
    (folder / "cover.jpg").write_bytes(b"\xff\xd8\xff\xff")
    assert hash_file(folder) == before
    chapter = next(folder.rglob("*.xhtml"))
    chapter.write_text(chapter.read_text().replace("</body>", "<p>More.</p></body>"))
    assert hash_file(folder) != before


def test_one_that_is_too_large_is_named(folder: Path) -> None:
    with pytest.raises(ReadingError, match=r"Book.epub: is larger than 0 MiB"):
        read_book(folder, limits=Limits(file_bytes=100))


def test_another_folder_of_that_name_is_a_folder(tmp_path: Path) -> None:
    folder = tmp_path / "drafts.epub"
    folder.mkdir()
    (folder / "a.txt").write_text("Words of a book.")
    assert discover([tmp_path]).files == (folder / "a.txt",)
