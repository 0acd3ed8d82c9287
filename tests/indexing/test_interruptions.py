"""Runs that are stopped or killed, and other processes meanwhile: nothing is lost or half written."""

from __future__ import annotations

import os
import random
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest

from nlb_retriever.encoding import Parts
from nlb_retriever.errors import LibraryBusy, StoreError
from nlb_retriever.indexing.indexer import index_files
from nlb_retriever.indexing.report import IndexEvent
from nlb_retriever.model.vectorizer import Vectorizer
from nlb_retriever.model.vectors import PassageBatch
from nlb_retriever.records import Book, Passage, Section
from nlb_retriever.store import LibraryStore, open_store
from nlb_retriever.text.chunking import Chunker
from tests.indexing.novels import contents


def test_an_interrupted_rebuild_leaves_the_old_library_and_goes_on(books: Path, library: Path) -> None:
    index_files([books], library)
    before = contents(library)

    def stop(event: IndexEvent) -> None:
        if event.kind == "done" and event.index == 2:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        index_files([books], library, chunk_tokens=64, rebuild=True, observer=stop)
    assert contents(library) == before
    report = index_files([books], library, chunk_tokens=64, rebuild=True)
    assert (len(report.indexed), len(report.unchanged)) == (2, 2)
    with open_store(library) as store:
        assert (store.manifest.chunk_tokens, len(store.books())) == (64, 4)


def test_an_interrupted_run_goes_on_and_equals_an_unbroken_one(books: Path, library: Path, tmp_path: Path) -> None:
    done: list[int] = []

    def stop(event: IndexEvent) -> None:
        if event.kind == "publishing" and event.index == 3:
            raise KeyboardInterrupt
        if event.kind == "done":
            done.append(event.index)

    with pytest.raises(KeyboardInterrupt):
        index_files([books], library, observer=stop)
    assert done == [1, 2]
    with open_store(library) as store:
        assert len(store.books()) == 2
    report = index_files([books], library)
    assert (len(report.unchanged), len(report.indexed)) == (2, 2)
    index_files([books], tmp_path / "unbroken")
    assert contents(library) == contents(tmp_path / "unbroken")


def test_a_book_that_is_being_written_is_published_when_the_next_is_interrupted(
    books: Path, library: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    events: list[IndexEvent] = []
    encode = Vectorizer.encode

    def stop(self: Vectorizer, batch: PassageBatch) -> Parts:
        assert events[-1].kind in {"encoding", "publishing"}  # the first book is named before it is encoded
        if "book-1.txt" in batch.names[0]:
            raise KeyboardInterrupt
        return encode(self, batch)

    monkeypatch.setattr(Vectorizer, "encode", stop)
    with pytest.raises(KeyboardInterrupt):
        index_files([books], library, observer=events.append)
    assert [event.kind for event in events] == ["plan", "encoding", "encoding", "publishing", "done"]
    with open_store(library) as store:
        assert [Path(entry.source).name for entry in store.books()] == ["book-0.txt"]


def test_a_run_that_is_interrupted_while_it_waits_for_a_book_counts_it(
    books: Path, library: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    waited: list[Future[None]] = []
    result = Future.result

    def stop(self: Future[None], timeout: float | None = None) -> None:
        if sys._getframe(1).f_code.co_name == "finish" and not waited:
            waited.append(self)
            raise KeyboardInterrupt
        return result(self, timeout)

    done: list[int] = []
    monkeypatch.setattr(Future, "result", stop)
    with pytest.raises(KeyboardInterrupt):
        index_files([books], library, observer=lambda event: done.extend([event.index] * (event.kind == "done")))
    assert done == [1]
    with open_store(library) as store:
        assert len(store.books()) == 1


def test_a_run_that_is_interrupted_as_it_hands_a_book_over_counts_it(
    books: Path, library: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    submit = ThreadPoolExecutor.submit

    def stop(self: ThreadPoolExecutor, call: Any, *arguments: Any) -> Future[Any]:
        handed = submit(self, call, *arguments)
        if call.__name__ == "_write":
            raise KeyboardInterrupt
        return handed

    done: list[int] = []
    monkeypatch.setattr(ThreadPoolExecutor, "submit", stop)
    with pytest.raises(KeyboardInterrupt):
        index_files([books], library, observer=lambda event: done.extend([event.index] * (event.kind == "done")))
    assert done == [1]
    with open_store(library) as store:
        assert len(store.books()) == 1


def test_a_book_is_published_while_the_next_is_still_read(
    books: Path, library: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    published, waited = threading.Event(), []
    passages = Chunker.passages

    def slow(self: Chunker, text: str, sections: Sequence[Section]) -> tuple[Passage, ...]:
        if text == (books / "book-1.txt").read_text():
            waited.append(published.wait(60))
        return passages(self, text, sections)

    def see(event: IndexEvent) -> None:
        if event.kind == "done" and event.index == 1:
            published.set()

    monkeypatch.setattr(Chunker, "passages", slow)
    assert len(index_files([books], library, observer=see).indexed) == 4
    assert waited == [True]


def test_a_book_that_cannot_be_written_ends_the_run(
    books: Path, library: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    publish = LibraryStore.publish

    def full(self: LibraryStore, book: Book, *others: Any) -> None:
        if book.source.endswith("book-1.txt"):
            raise StoreError("no space left on device")
        publish(self, book, *others)

    events: list[IndexEvent] = []
    monkeypatch.setattr(LibraryStore, "publish", full)
    with pytest.raises(StoreError, match="no space left"):
        index_files([books], library, observer=events.append)
    assert [event.index for event in events if event.kind == "done"] == [1]
    with open_store(library) as store:
        assert len(store.books()) == 1


RUN = "import sys; from nlb_retriever.indexing.indexer import index_files; index_files([sys.argv[1]], sys.argv[2])"


def test_a_run_killed_at_any_time_goes_on_and_equals_an_unbroken_one(
    books: Path, library: Path, tmp_path: Path
) -> None:
    index_files([books], tmp_path / "unbroken")
    expected = contents(tmp_path / "unbroken")
    published_between = 0
    delays = random.Random(0)
    for _ in range(12):
        process = subprocess.Popen([sys.executable, "-c", RUN, str(books), str(library)])
        # Wait until it has begun to write, then a little longer.
        started = time.monotonic()
        while not library.exists() and process.poll() is None and time.monotonic() - started < 30:
            time.sleep(0.01)
        time.sleep(delays.uniform(0, 1.2))
        process.send_signal(signal.SIGKILL)
        process.wait()
        if (library / "library.json").exists():  # until then it is no library
            with open_store(library) as store:
                count = len(store.books())
                published_between += 0 < count < 4
                for entry in store.books():
                    assert store.book_text(entry.id) == Path(entry.source).read_text()
    index_files([books], library)
    assert contents(library) == expected
    with open_store(library) as store:
        assert store.verify() == []


def test_a_second_writer_gets_one_clear_line(books: Path, library: Path) -> None:
    busy: list[str] = []

    def second(event: IndexEvent) -> None:
        if event.kind == "encoding" and not busy:
            with pytest.raises(LibraryBusy) as error:
                index_files([books], library)
            busy.append(str(error.value))

    index_files([books], library, observer=second)
    assert str(os.getpid()) in busy[0]
    assert "\n" not in busy[0]


def test_readers_see_published_books_while_others_are_encoded(books: Path, library: Path) -> None:
    seen: list[int] = []

    def read(event: IndexEvent) -> None:
        if event.kind in {"encoding", "publishing"} and event.fraction == 1.0:
            with open_store(library) as store:
                seen.append(len(store.books()))

    index_files([books], library, observer=read)
    assert seen == sorted(seen)
    assert {0, 1, 2, 3} <= set(seen)
