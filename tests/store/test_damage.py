"""Files that are torn, flipped, lost or not ours, and disks that are full or read-only: one line, or right answers."""

from __future__ import annotations

import os
import random
import shutil
import subprocess
import sys
import traceback
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from nlb_retriever.errors import LibraryDamaged, LibraryNotFound, NlbError, StoreError
from nlb_retriever.records import LEVELS
from nlb_retriever.store import LibraryStore, RescuedLibrary, StoreQuery, open_store
from nlb_retriever.store.backends.array_file import ArrayFile
from tests.conftest import ROOT
from tests.store.books import MANIFEST, make_book

BOOKS = [
    make_book(1),
    make_book(2, edition=1),
    make_book(3, title="Die Räuber", source="/books/r\udce4uber.txt"),
    make_book(4),
]


def make_library(folder: Path) -> None:
    """A library with a segment of several books and one of a single book, a renamed and a removed book."""
    with open_store(folder, create=MANIFEST, writer=True) as store:
        store.publish(*make_book(2).parts)
        store.publish(*make_book(8, sections=80).parts)
        for made in (make_book(7), *BOOKS[:3]):
            store.publish(*made.parts)
        assert store.optimize()
        for number in (7, 8):
            store.remove(make_book(number).book.id)
        store.publish(*BOOKS[3].parts)
        store.rename(BOOKS[0].book.id, "/moved.txt")


def read_all(store: LibraryStore) -> list[object]:
    """Answers of every kind."""
    vector = BOOKS[0].vectors.book
    queries = [StoreQuery(level=level, dense=vector, limit=5) for level in LEVELS]
    queries += [StoreQuery(level=level, text="whale book2", limit=5) for level in LEVELS]
    found = store.search(queries)
    ids = [hit.id for hit in found[2]]
    texts = [(store.book_text(book.id), store.passages(book.id)) for book in store.books()]
    return [found, store.books(), texts, [passage.text for passage in store.get_passages(ids)]]


@pytest.fixture(scope="module")
def library(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("damage") / "library"
    make_library(folder)
    return folder


@pytest.fixture(scope="module")
def right(library: Path) -> list[object]:
    with open_store(library) as store:
        return read_all(store)


@pytest.fixture
def copy(library: Path, tmp_path: Path) -> Path:
    return Path(shutil.copytree(library, tmp_path / "copy"))


def segments(folder: Path) -> list[Path]:
    """The largest last."""
    return sorted((folder / "segments").iterdir(), key=lambda path: path.stat().st_size)


def flip(path: Path, at: int) -> None:
    with path.open("r+b") as file:
        file.seek(at)
        byte = file.read(1)[0]
        file.seek(at)
        file.write(bytes([byte ^ 4]))


def cut(path: Path, at: int) -> None:
    os.truncate(path, at)


def blank(path: Path, at: int) -> None:
    """Zeros, as in a page that was never written."""
    with path.open("r+b") as file:
        file.seek(at)
        file.write(bytes(min(4096, path.stat().st_size - at)))


def grow(path: Path, at: int) -> None:
    with path.open("ab") as file:
        file.write(bytes(at % 7 + 1))


def delete(path: Path, at: int) -> None:
    path.unlink()


DAMAGES = [flip, cut, blank, grow, delete]


@pytest.mark.parametrize("damage", DAMAGES)
def test_every_damage_to_a_segment_is_found_when_the_library_is_opened(
    library: Path, copy: Path, right: list[object], damage: Callable[[Path, int], None]
) -> None:
    dice = random.Random(damage.__name__)
    for segment in segments(copy):
        whole = segment.read_bytes()
        size = len(whole)
        for at in {0, 9, size - 1, *(dice.randrange(size) for _ in range(60))} if damage is not delete else (0,):
            damage(segment, at)
            if segment.exists() and segment.read_bytes() == whole:
                continue  # zeros in a place of zeros
            try:
                with open_store(copy) as store:
                    assert read_all(store) == right, "alignment between arrays means nothing"
            except LibraryDamaged as error:
                assert segment.name in str(error)
                assert "nlb doctor --repair" in str(error)
                assert "\n" not in str(error)
            segment.write_bytes(whole)
    with open_store(copy) as store:
        assert read_all(store) == right


@pytest.mark.parametrize("damage", DAMAGES)
def test_a_damaged_head_is_found(copy: Path, damage: Callable[[Path, int], None]) -> None:
    head = copy / "library.json"
    whole = head.read_bytes()
    dice = random.Random(1)
    for at in [0, *(dice.randrange(len(whole)) for _ in range(60))]:
        damage(head, at)
        with pytest.raises(LibraryDamaged, match="library.json") as caught:
            open_store(copy)
        assert "\n" not in str(caught.value)
        head.write_bytes(whole)
    open_store(copy).close()


def test_what_changed_on_the_disk_by_itself_is_found_by_verify(copy: Path) -> None:
    segment = segments(copy)[-1]
    open_store(copy).close()
    before = segment.stat()
    flip(segment, before.st_size // 2)
    os.utime(segment, ns=(before.st_atime_ns, before.st_mtime_ns))
    with open_store(copy) as store:
        [line] = store.verify()
    assert f"{segment.name} is damaged" in line


def test_a_whole_library_is_not_read_again_before_every_use(copy: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    open_store(copy).close()
    monkeypatch.setattr(ArrayFile, "find_damage", lambda self: pytest.fail("it was read again"))
    open_store(copy).close()


@pytest.mark.parametrize("damage", DAMAGES)
def test_what_is_whole_of_a_damaged_library_is_rescued(copy: Path, damage: Callable[[Path, int], None]) -> None:
    dice = random.Random(damage.__name__)
    expected = {made.book.id: made for made in BOOKS}
    whole = lost = 0
    for segment in segments(copy):
        content = segment.read_bytes()
        for at in {dice.randrange(len(content)) for _ in range(25)} if damage is not delete else (0,):
            damage(segment, at)
            with RescuedLibrary(copy) as rescued:
                found = {record.id: record for record in rescued.books()}
                assert found.keys() <= expected.keys()
                lost += len(expected) - len(found)
                for record in found.values():
                    made = expected[record.id]
                    source = "/moved.txt" if made is BOOKS[0] else made.book.source
                    book = rescued.read_book(record, is_strict=True)
                    if book is None:
                        assert rescued.notes
                        continue
                    assert book == replace(made.book, source=source)
                    if vectors := rescued.read_vectors(record):
                        assert tuple(vectors[0]) == made.passages
                        np.testing.assert_array_equal(vectors[1].passages, made.vectors.passages)
                        np.testing.assert_array_equal(vectors[1].sections, made.vectors.sections)
                        np.testing.assert_array_equal(vectors[1].book, made.vectors.book)
                        whole += 1
            segment.write_bytes(content)
    assert whole > 0 or damage is delete
    assert lost > 0 or damage is not delete


def test_a_book_with_damaged_text_is_kept_with_a_warning(copy: Path) -> None:
    segment = segments(copy)[0]
    text = BOOKS[3].book.text.encode()
    flip(segment, segment.read_bytes().index(text) + 30)
    with RescuedLibrary(copy) as rescued:
        record = next(record for record in rescued.books() if record.id == BOOKS[3].book.id)
        assert rescued.read_book(record, is_strict=True) is None
        book = rescued.read_book(record)
    assert book is not None
    assert sum(one != other for one, other in zip(book.text, BOOKS[3].book.text, strict=True)) == 1
    assert "damaged between its bytes 0 and" in book.warnings[0]


@pytest.mark.parametrize("how", ["head", "both"])
def test_a_library_whose_head_is_lost_is_rescued(copy: Path, right: list[object], how: str) -> None:
    (copy / "library.json").unlink()
    if how == "both":
        (copy / "library.copy.json").write_text("{")
    for create in (None, MANIFEST):
        with pytest.raises(LibraryDamaged, match=r"its library.json is missing.*doctor --repair"):
            open_store(copy, create=create, writer=True)
    with RescuedLibrary(copy) as rescued:
        assert rescued.restore_head() == (how == "head")
        titles = {record.title for record in rescued.books()}
        assert titles >= {made.book.title for made in BOOKS}
        assert any("may be back" in note for note in rescued.notes) == (how == "both")
        assert rescued.manifest == MANIFEST
    if how == "head":
        with open_store(copy) as store:
            assert read_all(store) == right


def test_nothing_but_our_errors_comes_out_of_segments_that_are_nonsense(copy: Path) -> None:
    segment = segments(copy)[0]
    whole = segment.read_bytes()
    for text in (b"", b"x", bytes(100_000), b"nlbarr01", b"nlbarr01" + bytes(8), whole[:200], whole[::-1]):
        segment.write_bytes(text)
        with pytest.raises(LibraryDamaged):
            open_store(copy)
        with RescuedLibrary(copy) as rescued:
            assert len(rescued.books()) == 3
            assert "books of segment" in rescued.notes[0]


def test_a_file_that_a_stranger_made_is_refused_without_a_traceback(tmp_path: Path) -> None:
    """Whatever the index of a file without a seal says, reading it raises our error or gives an array."""
    make_library(tmp_path / "library")
    segment = segments(tmp_path / "library")[0]
    content = segment.read_bytes()
    dice = random.Random(5)
    for _ in range(300):
        at = dice.randrange(16, 3000)
        path = tmp_path / "stranger.seg"
        path.write_bytes(content[:at] + bytes([dice.randrange(32, 127)]) + content[at + 1 :])
        try:
            file = ArrayFile(path, is_strict=False)
            file.find_damage()
            for name in ("text", "passage.dense", "passage.firsts"):
                file[name].sum()
        except (LibraryDamaged, KeyError):
            pass


# -- other people's files -------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["sections/chapter1.tex", "passages/a.txt", "segments/notes.txt", "novel.txt"])
def test_nobody_elses_file_is_touched(tmp_path: Path, name: str) -> None:
    file = tmp_path / "thesis" / name
    file.parent.mkdir(parents=True)
    file.write_text("mine")
    refusal = rf"is no library: it holds other files \({Path(name).parts[0]}"
    for create in (None, MANIFEST):
        with pytest.raises(StoreError, match=refusal):
            open_store(tmp_path / "thesis", create=create, writer=True)
    assert file.read_text() == "mine"
    assert [path.name for path in (tmp_path / "thesis").iterdir()] == [Path(name).parts[0]]


def test_files_that_somebody_puts_into_a_library_stay(tmp_path: Path) -> None:
    make_library(tmp_path)
    for name in ("notes.txt", "segments/notes.txt", "segments/old.seg"):
        (tmp_path / name).write_text("mine")
    with open_store(tmp_path, writer=True) as store:
        store.optimize(purge=True)
        with store.start_rebuild(MANIFEST) as fresh:
            fresh.publish(*make_book(1).parts)
            fresh.take_over()
    for name in ("notes.txt", "segments/notes.txt", "segments/old.seg"):
        assert (tmp_path / name).read_text() == "mine"


def test_a_library_of_an_earlier_version_is_refused_with_the_way_out(tmp_path: Path) -> None:
    for name in ("books", "sections", "passages"):
        (tmp_path / name / "segments").mkdir(parents=True)
    for create in (None, MANIFEST):
        with pytest.raises(StoreError, match="made by an earlier version.*remove the folder, then index your books"):
            open_store(tmp_path, create=create)


def test_removed_text_is_nowhere_after_a_purge(tmp_path: Path) -> None:
    def holds(words: bytes) -> bool:
        return any(words in path.read_bytes() for path in segments(tmp_path))

    with open_store(tmp_path, create=MANIFEST, writer=True) as store:
        for made in (*BOOKS, make_book(8, sections=80)):
            store.publish(*made.parts)
        assert store.optimize()
        store.remove(BOOKS[0].book.id)
        assert holds(b"book1 edition0"), "otherwise this shows nothing"
        assert store.optimize(purge=True)
        assert not holds(b"book1 edition0")
        assert holds(b"book2 edition1")
        assert not store.optimize(purge=True), "there is nothing left to purge"
        assert len(store.books()) == 4
        assert store.verify() == []


# -- disks ----------------------------------------------------------------------------------------


@pytest.fixture
def small_disk(tmp_path: Path) -> Iterator[Path]:
    folder = tmp_path / "disk"
    folder.mkdir()
    command = ["mount", "-t", "tmpfs", "-o", "size=8m", "nlb-test", str(folder)]
    if os.getuid() != 0 or shutil.which("mount") is None or subprocess.run(command, capture_output=True).returncode:
        pytest.skip("cannot mount a small disk (needs root)")
    yield folder
    subprocess.run(["umount", "-l", str(folder)], check=True)


def fill(folder: Path) -> Path:
    filler = folder / "filler"
    with filler.open("wb", buffering=0) as file, pytest.raises(OSError, match="No space"):
        while True:
            file.write(bytes(1 << 12))
    return filler


def test_a_full_disk_stops_writers_in_one_line_and_readers_not_at_all(small_disk: Path) -> None:
    folder = small_disk / "library"
    make_library(folder)
    with open_store(folder) as reader, open_store(folder, writer=True) as writer:
        right = read_all(reader)
        filler = fill(small_disk)
        for write in (
            lambda: writer.publish(*make_book(5).parts),
            lambda: writer.remove(BOOKS[1].book.id),
            lambda: writer.rename(BOOKS[1].book.id, "/x"),
            lambda: writer.optimize(purge=True),
            lambda: writer.start_rebuild(MANIFEST),
        ):
            with pytest.raises(StoreError, match="No space left on device: free some space") as caught:
                write()
            assert "\n" not in str(caught.value)
            assert read_all(reader) == right
        with open_store(folder) as fresh:
            assert read_all(fresh) == right
        filler.unlink()
        writer.publish(*make_book(5).parts)
        writer.remove(make_book(5).book.id)
        assert read_all(reader)[1:] == right[1:]
        assert writer.verify() == []


def test_a_library_that_cannot_be_made_on_a_full_disk_can_be_made_later(small_disk: Path) -> None:
    folder = small_disk / "library"
    folder.mkdir()
    filler = fill(small_disk)
    with pytest.raises(StoreError, match="No space left on device"):
        open_store(folder, create=MANIFEST, writer=True)
    filler.unlink()
    with open_store(folder, create=MANIFEST, writer=True) as store:
        store.publish(*make_book(1).parts)


def test_a_library_that_is_a_mount_point_can_be_rebuilt(small_disk: Path) -> None:
    with open_store(small_disk, create=MANIFEST, writer=True) as store:
        store.publish(*make_book(1).parts)
        with store.start_rebuild(MANIFEST) as fresh:
            fresh.publish(*make_book(2).parts)
            fresh.take_over()
    with open_store(small_disk) as store:
        assert [book.title for book in store.books()] == ["Title 2"]


def as_nobody(folder: Path, work: Callable[[], None]) -> str:
    """What comes of work that is done by a user who may only read the folder."""
    if os.getuid() != 0:
        pytest.skip("needs root, to become somebody who may not write")
    for path in [folder, *folder.rglob("*")]:
        path.chmod(0o555 if path.is_dir() else 0o444)
    for parent in folder.parents:
        if parent.stat().st_mode & 0o001:
            break
        parent.chmod(parent.stat().st_mode | 0o011)
    reading, writing = os.pipe()
    child = os.fork()
    if child == 0:
        try:
            os.setgid(65534)
            os.setuid(65534)
            try:
                work()
                result = "done"
            except NlbError as error:
                result = f"{type(error).__name__}: {error}"
            except BaseException:
                result = traceback.format_exc()
            os.write(writing, result.encode())
        finally:
            os._exit(0)
    os.close(writing)
    with os.fdopen(reading) as pipe:
        result = pipe.read()
    os.waitpid(child, 0)
    return result


@pytest.mark.filterwarnings("ignore:This process:DeprecationWarning")
def test_a_library_that_may_only_be_read_can_be_read_and_nothing_is_written(copy: Path, right: list[object]) -> None:
    before = sorted(copy.rglob("*"))

    def read() -> None:
        with open_store(copy) as store:
            assert read_all(store) == right
            assert store.verify() == []

    assert as_nobody(copy, read) == "done"
    assert sorted(copy.rglob("*")) == before


@pytest.mark.filterwarnings("ignore:This process:DeprecationWarning")
def test_a_library_that_may_only_be_read_refuses_writers_in_one_line(copy: Path) -> None:
    result = as_nobody(copy, lambda: open_store(copy, writer=True).close())
    assert result.startswith("StoreError: ")
    assert "read-only" in result
    assert "\n" not in result
    result = as_nobody(copy, lambda: open_store(copy / "inner", create=MANIFEST, writer=True).close())
    assert result == f"StoreError: cannot use {copy / 'inner'} as a library: Permission denied"


def test_opening_what_is_not_there(tmp_path: Path) -> None:
    with pytest.raises(LibraryNotFound):
        open_store(tmp_path / "none" / "deeper", writer=True)
    assert list(tmp_path.iterdir()) == []
    with pytest.raises(LibraryNotFound):
        RescuedLibrary(tmp_path)


def test_few_open_files_are_enough(library: Path) -> None:
    code = (
        "import resource, sys; from pathlib import Path; from nlb_retriever.store import open_store;"
        "resource.setrlimit(resource.RLIMIT_NOFILE, (24, 24)); store = open_store(Path(sys.argv[1]));"
        "print(sum(len(store.book_text(book.id)) for book in store.books()))"
    )
    run = subprocess.run(
        [sys.executable, "-c", code, str(library)],
        capture_output=True,
        text=True,
        env={**os.environ, "PYTHONPATH": str(ROOT)},
    )
    assert run.stderr == ""
    assert int(run.stdout) == sum(len(made.book.text) for made in BOOKS)
