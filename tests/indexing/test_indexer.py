"""Indexing real files into a real library: incremental, whole or not at all, and nothing lost."""

from __future__ import annotations

import os
import shutil
from pathlib import Path

import pytest

from nlb_retriever.config import UNTRAINED
from nlb_retriever.encoding import DEFAULT_ENCODER, Parts
from nlb_retriever.errors import EncoderError, MismatchError
from nlb_retriever.indexing import indexer, request
from nlb_retriever.indexing.indexer import index_files
from nlb_retriever.indexing.report import IndexEvent, IndexReport
from nlb_retriever.model.vectorizer import Vectorizer
from nlb_retriever.model.vectors import PassageBatch
from nlb_retriever.store import open_store
from tests.doubles import KeywordEncoder
from tests.indexing.novels import contents, write_book


def sources(refs: object) -> list[str]:
    return [Path(ref.source).name for ref in refs]  # type: ignore[attr-defined]


def test_every_book_of_a_folder_is_indexed_with_its_sections_and_passages(books: Path, library: Path) -> None:
    report = index_files([books], library)
    assert sources(report.indexed) == [f"book-{number}.txt" for number in range(4)]
    assert report.failed == ()
    assert report.tokens > 1000
    with open_store(library) as store:
        for entry in store.books():
            text = Path(entry.source).read_text()
            assert store.book_text(entry.id) == text
            sections = store.sections(entry.id)
            paths = [section.path for section in sections]
            assert paths == [(f"CHAPTER {number}",) for number in (1, 2, 3)]


def test_unchanged_books_are_no_work(books: Path, library: Path) -> None:
    index_files([books], library)
    before = contents(library)
    report = index_files([books], library)
    assert len(report.unchanged) == 4
    assert (report.indexed, report.tokens) == ((), 0)
    assert contents(library) == before


def test_a_moved_book_is_not_encoded_again(books: Path, library: Path) -> None:
    titled = books / "titled.md"
    titled.write_text("# The Lamp\n\nThe keeper lit the lamp.")
    index_files([books], library)
    (books / "sub").mkdir()
    (books / "book-1.txt").rename(books / "sub" / "book-1.txt")
    titled.rename(books / "sub" / "renamed.md")
    report = index_files([books], library)
    assert sources(report.renamed) == ["book-1.txt", "renamed.md"]
    assert (report.tokens, len(report.unchanged), report.indexed) == (0, 3, ())
    with open_store(library) as store:
        assert store.find_book(str(books / "sub" / "book-1.txt")).source == str(books / "sub" / "book-1.txt")
        assert len(store.books()) == 5


@pytest.mark.parametrize(
    ("former", "now", "text"),
    [
        ("Meeting with Ann.md", "Meeting with Ben.md", "The roof costs 300 crowns."),
        ("plan.txt", "plan.md", "# Plan\n\nThe *kayak* is red."),
    ],
)
def test_a_name_that_says_something_else_of_a_book_makes_it_as_a_new_library_has_it(
    tmp_path: Path, library: Path, former: str, now: str, text: str
) -> None:
    folder = tmp_path / "notes"
    folder.mkdir()
    (folder / "z.md").write_text("Another note.")
    (folder / former).write_text(text)
    first = index_files([folder], library)
    (folder / former).rename(folder / now)
    report = index_files([folder], library)
    assert [(ref.book_id, ref.changed) for ref in report.indexed] == [(first.indexed[0].book_id, True)]
    assert (report.renamed, report.removed) == ((), ())
    index_files([folder], tmp_path / "new")
    assert _known(library) == _known(tmp_path / "new")


def _known(library: Path) -> list[tuple[object, ...]]:
    with open_store(library) as store:
        return [
            (book.title, book.source, store.book_text(book.id), store.sections(book.id)[0].path)
            for book in store.books()
        ]


def test_a_changed_book_keeps_its_id_and_loses_its_old_text(books: Path, library: Path) -> None:
    first = index_files([books], library)
    write_book(books / "book-2.txt", 99, chapters=2)
    report = index_files([books], library)
    assert sources(report.indexed) == ["book-2.txt"]
    assert report.indexed[0].changed
    assert report.indexed[0].book_id == first.indexed[2].book_id
    with open_store(library) as store:
        assert store.book_text(report.indexed[0].book_id) == (books / "book-2.txt").read_text()
        assert store.verify() == []


def test_a_file_that_took_a_renamed_books_place_is_a_book_of_its_own(books: Path, library: Path) -> None:
    first = index_files([books], library)
    (books / "sub").mkdir()
    (books / "book-0.txt").rename(books / "sub" / "book-0.txt")
    write_book(books / "book-0.txt", 77)
    report = index_files([books], library)
    assert sources(report.renamed) == ["book-0.txt"]
    assert sources(report.indexed) == ["book-0.txt"]
    assert report.indexed[0].book_id != first.indexed[0].book_id
    assert report.renamed[0].book_id == first.indexed[0].book_id


def test_a_book_whose_first_content_returns_elsewhere_has_another_id(books: Path, library: Path) -> None:
    index_files([books], library)
    original = (books / "book-0.txt").read_text()
    write_book(books / "book-0.txt", 55)
    index_files([books], library)
    (books / "copy-of-first.txt").write_text(original)
    index_files([books], library)
    with open_store(library) as store:
        texts = {entry.id: store.book_text(entry.id) for entry in store.books()}
    assert len(texts) == 5
    assert sorted(texts.values()) == sorted(file.read_text() for file in books.glob("*.txt"))


def test_a_copy_of_a_book_is_named_and_not_indexed_twice(books: Path, library: Path) -> None:
    shutil.copy(books / "book-0.txt", books / "copy.txt")
    report = index_files([books], library)
    assert report.duplicates == ((str(books / "copy.txt"), str(books / "book-0.txt")),)
    again = index_files([books], library)
    assert again.duplicates == report.duplicates
    assert (len(again.unchanged), again.renamed) == (4, ())


def test_prune_removes_only_books_of_the_given_folders_that_are_gone(
    books: Path, library: Path, tmp_path: Path
) -> None:
    other = write_book(tmp_path / "elsewhere" / "other.txt", 8)
    index_files([books, other], library)
    (books / "book-3.txt").unlink()
    other.unlink()
    kept = index_files([books], library)
    assert kept.removed == ()
    report = index_files([books], library, prune=True)
    assert sources(report.removed) == ["book-3.txt"]
    with open_store(library) as store:
        assert sorted(Path(entry.source).name for entry in store.books()) == [
            "book-0.txt", "book-1.txt", "book-2.txt", "other.txt",
        ]  # fmt: skip
        assert store.verify() == []


def test_a_dry_run_says_what_would_be_done_and_does_nothing(books: Path, library: Path) -> None:
    planned = index_files([books], library, dry_run=True)
    assert (len(planned.indexed), planned.dry_run) == (4, True)
    assert not library.exists()
    index_files([books], library)
    before = contents(library)
    write_book(books / "book-1.txt", 21)
    (books / "book-0.txt").unlink()
    write_book(books / "new.txt", 22)
    planned = index_files([books], library, dry_run=True, prune=True)
    assert sources(planned.indexed) == ["book-1.txt", "new.txt"]
    assert sources(planned.removed) == ["book-0.txt"]
    assert contents(library) == before


def test_a_bad_file_stops_nothing_and_is_named(books: Path, library: Path) -> None:
    (books / "broken.epub").write_bytes(b"PK\x03\x04 no zip")
    (books / "empty.txt").touch()
    report = index_files([books, books / "empty.txt"], library)
    assert len(report.indexed) == 4
    assert sorted(Path(failed.source).name for failed in report.failed) == ["broken.epub", "empty.txt"]
    assert all("\n" not in failed.reason for failed in report.failed)


def test_a_book_that_can_no_longer_be_read_keeps_its_old_version(books: Path, library: Path) -> None:
    index_files([books], library)
    old = (books / "book-0.txt").read_text()
    (books / "book-0.txt").write_bytes(b"\x00\x01\x02\xff" * 500)
    report = index_files([books], library, prune=True)
    assert [Path(failed.source).name for failed in report.failed] == ["book-0.txt"]
    with open_store(library) as store:
        assert store.book_text(store.find_book(str(books / "book-0.txt")).id) == old


def test_a_missing_path_makes_no_library(library: Path, tmp_path: Path) -> None:
    report = index_files([tmp_path / "nowhere"], library)
    assert len(report.failed) == 1
    assert not library.exists()


def test_another_encoder_is_refused_and_changes_nothing(books: Path, library: Path) -> None:
    index_files([books], library)
    before = contents(library)
    with pytest.raises(MismatchError, match=r"chunk_tokens 256 in the library, 64 requested.*--rebuild"):
        index_files([books], library, chunk_tokens=64)
    assert contents(library) == before


@pytest.fixture
def keywords(monkeypatch: pytest.MonkeyPatch) -> KeywordEncoder:
    """A chunk encoder that the released checkpoint was not trained on, under any name but the default's."""
    encoder = KeywordEncoder("lantern", "storm")
    default = request.identify_encoder
    monkeypatch.setattr(
        request, "identify_encoder", lambda name: default(name) if name == DEFAULT_ENCODER else encoder.identity
    )
    monkeypatch.setattr(indexer, "load_encoder", lambda name, *, device: encoder)
    return encoder


def test_a_chunk_encoder_that_the_released_checkpoint_does_not_fit_gets_the_untrained_one(
    books: Path, library: Path, keywords: KeywordEncoder
) -> None:
    assert not index_files([books], library, chunk_encoder="keywords").failed
    with open_store(library) as store:
        assert (store.manifest.checkpoint, store.manifest.dim) == (UNTRAINED, keywords.identity.dim)
    assert not index_files([books], library).indexed  # it is the library's own from now on


def test_a_folder_here_that_is_called_as_the_default_encoder_is_not_taken_for_it(
    books: Path, library: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / DEFAULT_ENCODER).mkdir()
    monkeypatch.chdir(tmp_path)
    assert not index_files([books], library).failed
    with open_store(library) as store:
        assert store.manifest.chunk_encoder == DEFAULT_ENCODER


def test_another_chunk_encoder_than_the_librarys_is_refused_with_the_way_out(
    books: Path, library: Path, keywords: KeywordEncoder
) -> None:
    index_files([books], library, chunk_encoder="keywords")
    with pytest.raises(MismatchError, match=r"dim 3 in the library, 384 requested.*--rebuild"):
        index_files([books], library, chunk_encoder=DEFAULT_ENCODER)


@pytest.mark.usefixtures("keywords")
def test_a_rebuild_keeps_a_chunk_encoder_of_ones_own(books: Path, library: Path) -> None:
    index_files([books], library, chunk_encoder="keywords")
    index_files([], library, rebuild=True)
    with open_store(library) as store:
        assert (store.manifest.chunk_encoder, store.manifest.dim) == ("keywords", 3)


def test_rebuild_encodes_every_book_anew_wherever_it_lies(books: Path, library: Path, tmp_path: Path) -> None:
    elsewhere = write_book(tmp_path / "elsewhere" / "other.txt", 8)
    index_files([books, elsewhere], library)
    report = index_files([books], library, chunk_tokens=64, rebuild=True)
    assert len(report.indexed) == 5
    with open_store(library) as store:
        assert store.manifest.chunk_tokens == 64
        assert len(store.books()) == 5
        assert store.verify() == []
    assert index_files([books], library).tokens == 0
    assert list(tmp_path.rglob("*rebuild*")) == []


def test_events_tell_book_stage_rate_and_end(books: Path, library: Path) -> None:
    events: list[IndexEvent] = []
    report = index_files([books], library, observer=events.append)
    assert events[0].kind == "plan"
    assert events[0].total == 4
    assert [event.index for event in events if event.kind == "done"] == [1, 2, 3, 4]
    assert events[-1].done_bytes == events[-1].total_bytes == sum(file.stat().st_size for file in books.iterdir())
    assert events[-1].tokens == report.tokens
    done = [event.done_bytes for event in events if event.kind != "plan"]
    assert done == sorted(done)


def test_names_of_any_bytes_are_indexed_and_found_again(library: Path, tmp_path: Path) -> None:
    folder = tmp_path / "odd"
    for name in (b"new\nline.txt", "emoji 📚.txt".encode(), b"latin-\xe9.txt", b"-dash.txt"):
        write_book(folder / "x.txt", len(name) + name[0])
        (folder / "x.txt").rename(Path(os.fsdecode(os.fsencode(folder) + b"/" + name)))
    report = index_files([folder], library)
    assert len(report.indexed) == 4, report.failed
    again = index_files([folder], library)
    assert (len(again.unchanged), again.renamed, again.indexed) == (4, (), ())


def test_nan_from_an_encoder_fails_that_book_only(books: Path, library: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    encode = Vectorizer.encode

    def broken(self: Vectorizer, batch: PassageBatch) -> Parts:
        if "book-1.txt" in batch.names[0]:
            raise EncoderError("the encoder gave no unit vector for passage 3")
        return encode(self, batch)

    monkeypatch.setattr(Vectorizer, "encode", broken)
    report: IndexReport = index_files([books], library)
    assert [Path(failed.source).name for failed in report.failed] == ["book-1.txt"]
    assert len(report.indexed) == 3


def test_an_encoder_that_cannot_be_loaded_leaves_no_library(tmp_path: Path) -> None:
    (tmp_path / "book.txt").write_text("Ahab hunts the white whale. " * 20)
    with pytest.raises(EncoderError):
        index_files([tmp_path / "book.txt"], tmp_path / "library", device="cuda:99")
    assert not (tmp_path / "library").exists()
