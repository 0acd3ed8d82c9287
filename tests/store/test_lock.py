"""Processes beside each other: one writer, any readers, nobody is turned away for long."""

from __future__ import annotations

import json
import multiprocessing
import os
import shutil
import subprocess
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path

import pytest

from nlb_retriever.config import Manifest
from nlb_retriever.errors import LibraryBusy, NlbError, StoreError
from nlb_retriever.store import StoreQuery, open_store, shards
from nlb_retriever.store.lock import LOCK_FILES, ShardLock, WriterLock
from tests.store.books import MANIFEST, make_book, read_passages
from tests.store.test_crash import start


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    with open_store(tmp_path, create=MANIFEST, writer=True) as store:
        store.publish(*make_book(1).parts)
    return tmp_path


@contextmanager
def other_process(folder: Path, *command: str) -> Iterator[subprocess.Popen[str]]:
    """A child that has begun its work, or holds the shards."""
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


def test_readers_see_whole_editions_while_a_writer_writes(folder: Path) -> None:
    with other_process(folder, "churn") as child:
        seen = set()
        for _ in range(4):
            with open_store(folder) as store, store.session():
                for entry in store.books():
                    words = [passage.text for passage in store.passages(entry.id)]
                    assert len(words) == entry.passages
                    assert "\n".join(words) + "\n" == store.book_text(entry.id)
                    seen.add(entry.version)
            time.sleep(0.2)
        assert child.poll() is None, "the writer goes on"
        assert len(seen) > 1, "the writer wrote in between"


def test_a_reader_waits_for_the_shards_instead_of_failing(folder: Path) -> None:
    with other_process(folder, "hold", "0.7"):
        before = time.monotonic()
        with open_store(folder) as store:
            assert store.count("book") == 1
        assert 0.2 < time.monotonic() - before < 5


def test_a_server_between_two_questions_lets_go_at_once(folder: Path) -> None:
    with other_process(folder, "idle"), open_store(folder, writer=True) as store:
        before = time.monotonic()
        store.publish(*make_book(2).parts)
        assert time.monotonic() - before < 5
        assert store.count("book") == 2


def test_two_servers_take_turns(folder: Path) -> None:
    with open_store(folder) as one, open_store(folder) as two:
        for _ in range(3):
            assert one.count("book") == two.count("book") == 1
        assert [entry.title for entry in one.books()] == ["Title 1"]


def test_shards_stay_open_between_questions_while_nobody_waits(folder: Path) -> None:
    with open_store(folder) as store:
        store.count("passage")
        assert not ShardLock(folder).wanted()
        before = time.perf_counter()
        for _ in range(100):
            store.count("passage")
        assert time.perf_counter() - before < 2


def test_who_waits_too_long_is_told_so(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(shards, "WAIT", 0.3)
    with other_process(folder, "hold", "30"), pytest.raises(LibraryBusy, match="in use by other processes"):
        open_store(folder)
    open_store(folder).close()


def test_lock_files_of_dead_processes_stop_nobody_and_stay(folder: Path) -> None:
    for name in LOCK_FILES:
        (folder / name).write_text(json.dumps({"pid": 1, "since": "2020", "host": "gone"}))
    inodes = {name: (folder / name).stat().st_ino for name in LOCK_FILES}
    with open_store(folder, writer=True) as store:
        store.publish(*make_book(2).parts)
    assert {name: (folder / name).stat().st_ino for name in LOCK_FILES} == inodes


def test_a_failed_opening_leaves_no_lock(folder: Path) -> None:
    (folder / "passages").rename(folder / "elsewhere")
    with open_store(folder, writer=True) as store, pytest.raises(NlbError):
        store.count("passage")
    (folder / "elsewhere").rename(folder / "passages")
    with open_store(folder, writer=True) as store:
        assert store.count("passage") == 12


def test_a_lock_is_given_back(tmp_path: Path) -> None:
    first = WriterLock(tmp_path)
    first.release()
    WriterLock(tmp_path).release()
    lock = ShardLock(tmp_path)
    lock.acquire(1)
    other = ShardLock(tmp_path)
    with pytest.raises(LibraryBusy):
        other.acquire(0.05)
    lock.release()
    other.acquire(1)
    other.release()


def test_many_threads_share_one_library(folder: Path) -> None:
    errors: list[BaseException] = []
    with open_store(folder) as store:
        query = StoreQuery(level="passage", dense=make_book(1).vectors.passages[5], limit=1)

        def ask() -> None:
            try:
                for _ in range(20):
                    assert read_passages(store, store.search([query])[0])[0].ordinal == 5
            except BaseException as error:
                errors.append(error)

        threads = [threading.Thread(target=ask) for _ in range(6)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    assert errors == []


def _ask_in_child(store: object, answers: object) -> None:
    answers.put(store.count("passage"))  # type: ignore[attr-defined]


@pytest.mark.filterwarnings("ignore:This process:DeprecationWarning")  # forking with threads is what is tested
def test_a_forked_child_opens_the_library_anew(folder: Path) -> None:
    context = multiprocessing.get_context("fork")
    with open_store(folder) as store:
        assert store.count("passage") == 12
        answers = context.SimpleQueue()
        child = context.Process(target=_ask_in_child, args=(store, answers))
        child.start()
        child.join(20)
        assert child.exitcode == 0
        assert answers.get() == 12
        assert store.count("passage") == 12


@pytest.mark.parametrize("manifest", [MANIFEST, replace(MANIFEST, chunk_tokens=0)], ids=["same", "other"])
def test_a_server_goes_on_with_a_library_that_took_its_librarys_place(tmp_path: Path, manifest: Manifest) -> None:
    place, fresh = tmp_path / "library", tmp_path / "fresh"
    for folder, number, made_with in ((place, 1, MANIFEST), (fresh, 2, manifest)):
        with open_store(folder, create=made_with, writer=True) as store:
            store.publish(*make_book(number).parts)
    with open_store(place) as server:
        assert [entry.title for entry in server.books()] == ["Title 1"]
        assert server.count("passage") == 12
        place.rename(tmp_path / "old")
        fresh.rename(place)
        shutil.rmtree(tmp_path / "old")
        with open_store(place) as other:
            assert [entry.title for entry in other.books()] == ["Title 2"]
            if manifest == MANIFEST:
                assert [entry.title for entry in server.books()] == ["Title 2"]
            else:
                with pytest.raises(StoreError, match="rebuilt with other encoders meanwhile: open it again"):
                    server.books()
    with open_store(place) as store:
        assert store.verify() == []
