"""Processes beside each other: one writer, any readers, and nobody waits for anybody."""

from __future__ import annotations

import errno
import fcntl
import gc
import json
import multiprocessing
import os
import shutil
import signal
import subprocess
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path

import pytest

from nlb_retriever.config import Manifest
from nlb_retriever.errors import LibraryBusy, LibraryRebuilt, StoreError
from nlb_retriever.store import LibraryStore, RescuedLibrary, StoreQuery, open_store
from nlb_retriever.store.backends import folder as folder_module
from nlb_retriever.store.backends import merging
from nlb_retriever.store.backends.folder import FolderBackend
from nlb_retriever.store.lock import WriterLock
from tests.store.books import MANIFEST, make_book
from tests.store.test_crash import start


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    path = tmp_path / "library"
    with open_store(path, create=MANIFEST, writer=True) as store:
        store.publish(*make_book(1).parts)
    return path


@contextmanager
def other_process(folder: Path, *command: str) -> Iterator[subprocess.Popen[str]]:
    """A child that has begun its work, or waits in the middle of it."""
    with start(folder, *command) as child:
        assert child.stdout is not None
        while child.stdout.readline().strip() not in ("holding", ""):
            if command[0] == "churn":
                time.sleep(0.6)
                break
        try:
            yield child
        finally:
            child.kill()


def test_a_second_writer_is_told_who_writes(folder: Path) -> None:
    with other_process(folder, "churn") as child:
        with pytest.raises(LibraryBusy, match=f"is being written by process {child.pid} on .* \\(since 20") as caught:
            open_store(folder, writer=True)
        assert "wait for it or stop it" in str(caught.value)
        assert "\n" not in str(caught.value)
    with open_store(folder, writer=True) as store:
        assert store.verify() == [], "a killed writer's lock is gone with it"


def test_two_writers_in_one_process_are_two_too(folder: Path) -> None:
    with open_store(folder, writer=True), pytest.raises(LibraryBusy, match=f"process {os.getpid()} "):
        open_store(folder, writer=True)
    open_store(folder, writer=True).close()


def expect_whole_books(store: LibraryStore) -> None:
    with store.session():
        for book in store.books():
            passages = store.passages(book.id)
            assert {passage.version for passage in passages} == {book.version}
            assert len(passages) == book.passages
            assert "\n".join(passage.text for passage in passages) + "\n" == store.book_text(book.id)
            [hits] = store.search([StoreQuery(level="passage", text=book.title.replace("Title ", "book"), limit=1000)])
            assert {hit.id for hit in hits if hit.book_id == book.id} == {passage.id for passage in passages}


def test_readers_see_whole_editions_while_a_writer_writes(folder: Path) -> None:
    seen: set[str] = set()
    with other_process(folder, "churn") as child, open_store(folder) as kept:
        for _ in range(8):
            with open_store(folder) as fresh:
                for store in (kept, fresh):
                    expect_whole_books(store)
                    seen |= {book.version for book in store.books()}
            time.sleep(0.1)
        assert child.poll() is None, "the writer goes on"
    assert len(seen) > 2, "the writer wrote in between"


@pytest.mark.parametrize("command", ["hold", "idle"])
def test_a_reader_that_was_stopped_is_in_nobodys_way(folder: Path, command: str) -> None:
    with other_process(folder, command) as stopped:
        stopped.send_signal(signal.SIGSTOP)
        with open_store(folder) as reader, open_store(folder, writer=True) as writer:
            for edition in range(12):
                writer.publish(*make_book(2, edition=edition).parts)
                assert reader.find_book("Title 2").version == writer.find_book("Title 2").version
            writer.optimize(purge=True)
            expect_whole_books(reader)


def test_a_writer_that_was_stopped_is_in_no_readers_way(folder: Path) -> None:
    with other_process(folder, "churn") as writer:
        writer.send_signal(signal.SIGSTOP)
        with open_store(folder) as store:
            expect_whole_books(store)


def test_a_session_sees_one_moment_though_all_of_its_files_are_replaced(folder: Path) -> None:
    with open_store(folder) as reader, open_store(folder, writer=True) as writer:
        with reader.session():
            before = [passage.text for passage in reader.passages(make_book(1).book.id)]
            writer.publish(*make_book(1, edition=1).parts)
            writer.publish(*make_book(2).parts)
            writer.optimize(purge=True)
            assert [passage.text for passage in reader.passages(make_book(1).book.id)] == before
            assert len(reader.books()) == 1
        assert len(reader.books()) == 2
        assert [passage.text for passage in reader.passages(make_book(1).book.id)] != before


def test_a_lock_file_of_a_dead_process_stops_nobody_and_stays(folder: Path) -> None:
    lock = folder / "writer.lock"
    lock.write_text(json.dumps({"pid": 1, "since": "2020", "host": "gone"}))
    inode = lock.stat().st_ino
    with open_store(folder, writer=True) as store:
        store.publish(*make_book(2).parts)
    assert lock.stat().st_ino == inode


@pytest.mark.parametrize("change", ["publish", "commit", "take over", "restore"])
def test_a_writer_does_not_go_on_in_a_library_that_took_the_place_of_its_own(folder: Path, change: str) -> None:
    def replace_folder() -> None:
        folder.rename(folder.with_name("aside"))
        with open_store(folder, create=MANIFEST, writer=True) as other:
            other.publish(*make_book(5).parts)

    def replace_once(name: str) -> None:
        patch.undo()
        replace_folder()

    refused = pytest.raises(StoreError, match=f"library {folder} was replaced meanwhile")
    if change == "restore":
        (folder / "library.json").unlink()
        with RescuedLibrary(folder) as rescued:
            replace_folder()
            with refused:
                rescued.restore_head()
    else:
        with open_store(folder, writer=True) as store, store.start_rebuild(MANIFEST) as fresh:
            if change == "publish":
                replace_folder()
                with refused:
                    store.publish(*make_book(2).parts)
            elif change == "commit":
                with pytest.MonkeyPatch.context() as patch, refused:
                    patch.setattr(folder_module, "failpoint", replace_once)
                    store.publish(*make_book(2).parts)
            else:
                replace_folder()
                with refused:
                    fresh.take_over()
    with open_store(folder) as other:
        assert [book.title for book in other.books()] == ["Title 5"]
    assert len(list((folder / "segments").iterdir())) == 1


def test_a_writer_does_not_go_on_in_a_library_that_was_put_into_its_folder(folder: Path, tmp_path: Path) -> None:
    open_store(tmp_path / "other", create=MANIFEST, writer=True).close()
    with open_store(folder, writer=True) as store:
        shutil.copy(tmp_path / "other" / "library.json", folder)
        with pytest.raises(StoreError, match="was replaced meanwhile"):
            store.publish(*make_book(2).parts)
        assert store.books() == []


def test_a_writer_goes_on_in_the_library_that_it_rebuilt(folder: Path) -> None:
    with open_store(folder, writer=True) as store:
        with store.start_rebuild(MANIFEST) as fresh:
            fresh.take_over()
        store.publish(*make_book(2).parts)
        assert [book.title for book in store.books()] == ["Title 2"]


def test_a_lock_is_given_back(tmp_path: Path) -> None:
    lock = WriterLock(tmp_path)
    assert lock.is_held
    lock.release()
    assert not lock.is_held
    WriterLock(tmp_path).release()


def test_a_disk_without_locks_is_named(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(fd: int, how: int) -> None:
        raise OSError(errno.EOPNOTSUPP, os.strerror(errno.EOPNOTSUPP))

    monkeypatch.setattr(fcntl, "flock", refuse)
    there = len([*Path("/dev/fd").iterdir()])
    with pytest.raises(StoreError, match=r"cannot be locked on its file system \(Operation not supported\)"):
        open_store(folder, writer=True)
    assert len([*Path("/dev/fd").iterdir()]) == there
    with open_store(folder) as store:
        assert len(store.books()) == 1


def test_a_closed_writer_writes_no_more(folder: Path) -> None:
    store = open_store(folder, writer=True)
    store.close()
    with pytest.raises(StoreError, match="writer=True"):
        store.publish(*make_book(2).parts)
    assert len(store.books()) == 1


def test_many_threads_share_one_library(folder: Path) -> None:
    errors: list[BaseException] = []
    with open_store(folder) as store:
        query = StoreQuery(level="passage", dense=make_book(1).vectors.passages[5], limit=1)
        [[expected]] = store.search([query])

        def search() -> None:
            try:
                for _ in range(20):
                    assert store.search([query])[0] == [expected]
            except BaseException as error:
                errors.append(error)

        threads = [threading.Thread(target=search) for _ in range(6)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    assert errors == []


def test_a_reading_thread_that_is_late_brings_no_old_version_back(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Between two steps of a writer it may remember the library as it was."""
    with open_store(folder, writer=True) as store:
        backend = store._backend
        assert isinstance(backend, FolderBackend)
        before = backend._state
        monkeypatch.setattr(folder_module, "failpoint", lambda name: setattr(backend, "_state", before))
        monkeypatch.setattr(merging, "due", list)
        store.publish(*make_book(1, edition=1).parts)
    with open_store(folder) as store:
        assert [book.version for book in store.books()] == [store.passages(f"{1:016x}")[0].version]
        assert store.book_text(f"{1:016x}") == make_book(1, edition=1).book.text
        assert store.verify() == []


def test_a_closed_library_keeps_no_file_open(folder: Path) -> None:
    store = open_store(folder)
    there = Path("/proc/self/maps")
    if not there.exists():
        pytest.skip("needs Linux, to see which files are open")
    assert ".seg" in there.read_text()
    store.books()
    store.close()
    gc.collect()
    assert str(folder) not in there.read_text()
    assert len(store.books()) == 1, "a later call opens it again"


def test_threads_that_publish_take_turns(folder: Path) -> None:
    with open_store(folder, writer=True) as store:
        threads = [
            threading.Thread(target=lambda number=number: store.publish(*make_book(number).parts))
            for number in range(2, 8)
        ]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert len(store.books()) == 7
        assert store.verify() == []


def _count_in_child(store: LibraryStore, answers: multiprocessing.SimpleQueue[object]) -> None:
    try:
        store.publish(*make_book(2).parts)
    except StoreError:
        answers.put(store.count("passage"))


@pytest.mark.filterwarnings("ignore:This process:DeprecationWarning")  # forking with threads is what is tested
def test_a_forked_child_may_read_and_not_write(folder: Path) -> None:
    context = multiprocessing.get_context("fork")
    with open_store(folder, writer=True) as store:
        assert store.count("passage") == 12
        answers = context.SimpleQueue()
        child = context.Process(target=_count_in_child, args=(store, answers))
        child.start()
        child.join(20)
        assert child.exitcode == 0
        assert answers.get() == 12
        store.publish(*make_book(2).parts)
        assert store.count("passage") == 24


@pytest.mark.parametrize("manifest", [MANIFEST, replace(MANIFEST, chunk_tokens=0)], ids=["same", "other"])
def test_a_server_goes_on_with_a_library_that_was_rebuilt(folder: Path, manifest: Manifest) -> None:
    with open_store(folder) as server:
        assert [book.title for book in server.books()] == ["Title 1"]
        with open_store(folder, writer=True) as writer, writer.start_rebuild(manifest) as fresh:
            fresh.publish(*make_book(2).parts)
            assert [book.title for book in server.books()] == ["Title 1"], "the old one answers until the end"
            fresh.take_over()
        if manifest == MANIFEST:
            assert [book.title for book in server.books()] == ["Title 2"]
        else:
            with pytest.raises(LibraryRebuilt, match="rebuilt with other settings meanwhile: open it again"):
                server.books()
        assert server.is_current() == (manifest == MANIFEST)
        with open_store(folder) as other:
            assert [book.title for book in other.books()] == ["Title 2"]
            assert other.manifest == manifest


def test_a_library_behind_a_link_stays_behind_it(tmp_path: Path, folder: Path) -> None:
    link = tmp_path / "link"
    link.symlink_to(folder)
    with open_store(link, writer=True) as store, store.start_rebuild(MANIFEST) as fresh:
        fresh.publish(*make_book(2).parts)
        fresh.take_over()
    assert link.is_symlink()
    with open_store(folder) as store:
        assert [book.title for book in store.books()] == ["Title 2"]


def test_a_library_that_was_deleted_is_named(folder: Path) -> None:
    with open_store(folder) as store:
        shutil.rmtree(folder)
        with pytest.raises(StoreError, match=f"no library at {folder}"):
            store.books()
