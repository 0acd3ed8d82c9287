"""Folders that hold other people's files, and disks that are full or read-only: one line, and nothing is lost."""

from __future__ import annotations

import hashlib
import json
import os
import shutil
import subprocess
import sys
import traceback
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from nlb_retriever.errors import LibraryDamaged, LibraryNotFound, NlbError, StoreError
from nlb_retriever.store import RescuedLibrary, open_store
from tests.conftest import ROOT
from tests.store.books import MANIFEST, make_book
from tests.store.sample import BOOKS, make_library, read_all

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


def test_a_hidden_file_is_in_no_librarys_way(tmp_path: Path) -> None:
    (tmp_path / ".DS_Store").write_text("mine")
    with pytest.raises(LibraryNotFound):
        open_store(tmp_path)
    with open_store(tmp_path, create=MANIFEST, writer=True) as store:
        store.publish(*make_book(1).parts)
    assert (tmp_path / ".DS_Store").read_text() == "mine"


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


def test_a_library_of_a_later_version_is_no_damage(tmp_path: Path) -> None:
    open_store(tmp_path, create=MANIFEST, writer=True).close()
    head = json.loads((tmp_path / "library.json").read_text())
    del head["checksum"]
    head["tags"] = {}
    canonical = json.dumps(head, sort_keys=True, separators=(",", ":")).encode()
    (tmp_path / "library.json").write_text(json.dumps({**head, "checksum": hashlib.sha256(canonical).hexdigest()}))
    for open_it in (open_store, RescuedLibrary):
        with pytest.raises(StoreError, match=r"a later version of nlb \(library.json has tags\)") as caught:
            open_it(tmp_path)
        assert not isinstance(caught.value, LibraryDamaged)


def test_a_link_to_a_drive_that_is_not_mounted_is_named(tmp_path: Path) -> None:
    (tmp_path / "link").symlink_to(tmp_path / "drive")
    for folder in (tmp_path / "link", tmp_path / "link" / "library"):
        with pytest.raises(StoreError, match=r"link is a link to what is not there$"):
            open_store(folder, create=MANIFEST, writer=True)
    assert not (tmp_path / "drive").exists()


def test_removed_text_is_nowhere_after_a_purge(tmp_path: Path) -> None:
    def holds(words: bytes) -> bool:
        return any(words in path.read_bytes() for path in (tmp_path / "segments").iterdir())

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
            lambda: writer.rename({BOOKS[1].book.id: "/x"}),
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
    assert "cannot be written here (Permission denied)" in result
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
