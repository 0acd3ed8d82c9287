"""A writer is killed at every step, and at random times: readers and the next writer see whole books."""

from __future__ import annotations

import os
import random
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from nlb_retriever.records import LEVELS
from nlb_retriever.store import LibraryStore, open_store
from tests.conftest import ROOT
from tests.store.books import MANIFEST, Made, make_book

BEFORE, AFTER = ["written"], ["committed", "published"]
"""Steps of publishing, before and after the one that shows the book."""


def start(folder: Path, *command: str, failpoint: str | None = None) -> subprocess.Popen[str]:
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    if failpoint:
        environment["NLB_FAILPOINT"] = failpoint
    return subprocess.Popen(
        [sys.executable, str(Path(__file__).parent / "worker.py"), str(folder), *command],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env=environment,
    )


def run(folder: Path, *command: str, failpoint: str | None = None) -> int:
    with start(folder, *command, failpoint=failpoint) as child:
        _, errors = child.communicate(timeout=60)
    assert child.returncode in (0, -signal.SIGKILL), errors
    return child.returncode


def contents(store: LibraryStore) -> dict[str, object]:
    """Every point that is to be seen, with its vector."""
    seen: dict[str, object] = {}
    for level in LEVELS:
        for point in store._backend.scan(level):
            assert point.dense is not None
            seen[point.id] = (point.payload, point.dense.tobytes())
    return seen


def expect_whole(store: LibraryStore, *allowed: tuple[Made, ...]) -> None:
    """The library reads as exactly one of these sets of books."""
    texts = {}
    for book in store.books():
        texts[book.id] = store.book_text(book.id)
        assert "\n".join(passage.text for passage in store.passages(book.id)) + "\n" == texts[book.id]
    assert texts in [{made.book.id: made.book.text for made in books} for books in allowed]
    sizes = [store.count(level) for level in LEVELS]
    assert sizes in [
        [len(books), sum(len(made.book.sections) for made in books), sum(len(made.passages) for made in books)]
        for books in allowed
    ]
    assert store.verify() == []


def expect_tidy(folder: Path) -> None:
    """No file is left that the library does not consist of."""
    with open_store(folder) as store:
        named = {ref.name for ref in store._backend._state.head.segments}  # type: ignore[attr-defined]
    segments = folder / "segments"
    assert {path.name for path in segments.iterdir()} == named if segments.is_dir() else named == set()
    assert {path.name for path in folder.iterdir()} <= {"library.json", "library.copy.json", "segments", "writer.lock"}


@pytest.mark.parametrize("failpoint", [*BEFORE, *AFTER])
def test_killed_in_publishing_a_first_edition(tmp_path: Path, failpoint: str) -> None:
    folder, unbroken = tmp_path / "library", tmp_path / "unbroken"
    other, made = make_book(2), make_book(1)
    for path in (folder, unbroken):
        with open_store(path, create=MANIFEST, writer=True) as store:
            store.publish(*other.parts)
    assert run(folder, "publish", "1", "0", failpoint=failpoint) == -signal.SIGKILL
    with open_store(folder) as reader:
        expect_whole(reader, (other, made) if failpoint in AFTER else (other,))
    with open_store(folder, writer=True) as store:
        if failpoint in BEFORE:
            store.publish(*made.parts)
        with open_store(unbroken, writer=True) as model:
            model.publish(*made.parts)
            assert contents(store) == contents(model)
    expect_tidy(folder)


@pytest.mark.parametrize("failpoint", [*BEFORE, *AFTER])
def test_killed_in_publishing_a_second_edition(tmp_path: Path, failpoint: str) -> None:
    old, new = make_book(1, sections=4), make_book(1, edition=1)
    with open_store(tmp_path, create=MANIFEST, writer=True) as store:
        store.publish(*old.parts)
    assert run(tmp_path, "publish", "1", "1", failpoint=failpoint) == -signal.SIGKILL
    shown = new if failpoint in AFTER else old
    with open_store(tmp_path) as reader:
        expect_whole(reader, (shown,))
    with open_store(tmp_path, writer=True) as store:
        expect_whole(store, (shown,))
    expect_tidy(tmp_path)


@pytest.mark.parametrize("failpoint", ["committed", "removed"])
@pytest.mark.parametrize("numbers", [[1], [1, *range(3, 12)]])
def test_killed_in_removing(tmp_path: Path, failpoint: str, numbers: list[int]) -> None:
    with open_store(tmp_path, create=MANIFEST, writer=True) as store:
        for number in (2, *numbers):
            store.publish(*make_book(number).parts)
    books = [make_book(number).book.id for number in numbers]
    assert run(tmp_path, "remove", *books, failpoint=failpoint) == -signal.SIGKILL
    with open_store(tmp_path) as reader:
        expect_whole(reader, (make_book(2),))
    open_store(tmp_path, writer=True).close()
    expect_tidy(tmp_path)


@pytest.mark.parametrize("failpoint", ["committed", "renamed"])
def test_killed_in_renaming(tmp_path: Path, failpoint: str) -> None:
    ids = [make_book(number).book.id for number in range(3)]
    new = {book_id: f"/new/{book_id}.txt" for book_id in ids}
    with open_store(tmp_path, create=MANIFEST, writer=True) as store:
        for number in range(3):
            store.publish(*make_book(number).parts)
    arguments = [each for pair in new.items() for each in pair]
    assert run(tmp_path, "rename", *arguments, failpoint=failpoint) == -signal.SIGKILL
    for writer in (False, True):
        with open_store(tmp_path, writer=writer) as store:
            for book_id, source in new.items():
                records = [*store.sections(book_id), *store.passages(book_id)]
                assert {record.source for record in records} == {source}
                assert store.find_book(source).id == book_id
            assert store.verify() == []


def test_many_changes_are_one_step(tmp_path: Path) -> None:
    ids = [make_book(number).book.id for number in range(4)]
    with open_store(tmp_path, create=MANIFEST, writer=True) as store:
        for number in range(4):
            store.publish(*make_book(number).parts)
        serial = store._backend.head.serial  # type: ignore[attr-defined]
        store.rename(dict.fromkeys(ids, "/new.txt"))
        store.remove(*ids[1:])
        store.remove("unknown")
        assert store._backend.head.serial == serial + 2  # type: ignore[attr-defined]


@pytest.mark.parametrize("failpoint", ["merged", "committed", "swapped"])
@pytest.mark.parametrize("how", [[], ["purge"]])
def test_killed_in_merging(tmp_path: Path, failpoint: str, how: list[str]) -> None:
    large, *small = make_book(5, sections=60), *(make_book(number) for number in (1, 2, 3, 4))
    with open_store(tmp_path, create=MANIFEST, writer=True) as store:
        for made in (large, *small):
            store.publish(*made.parts)
        store.rename({small[1].book.id: "/new.txt"})
        if how:
            assert store.optimize()
            store.remove(small.pop().book.id)
    assert run(tmp_path, "optimize", *how, failpoint=failpoint) == -signal.SIGKILL
    for writer in (False, True):
        with open_store(tmp_path, writer=writer) as store:
            expect_whole(store, (large, *small))
            assert store.find_book("/new.txt").id == small[1].book.id
            assert {section.source for section in store.sections(small[1].book.id)} == {"/new.txt"}
    expect_tidy(tmp_path)


def test_killed_in_making_a_library(tmp_path: Path) -> None:
    folder = tmp_path / "library"
    assert run(folder, "publish", "1", "0", failpoint="made") == -signal.SIGKILL
    with open_store(folder) as store:
        assert store.books() == []
    assert run(folder, "publish", "1", "0") == 0
    with open_store(folder) as store:
        expect_whole(store, (make_book(1),))


def test_killed_before_a_library_was_made(tmp_path: Path) -> None:
    (tmp_path / "writer.lock").touch()
    (tmp_path / ".library.json.4711.part").write_text("{")
    assert run(tmp_path, "publish", "1", "0") == 0
    with open_store(tmp_path) as store:
        expect_whole(store, (make_book(1),))
    expect_tidy(tmp_path)


@pytest.mark.parametrize("failpoint", ["written", "committed", "published", "rebuilt"])
def test_killed_in_rebuilding(tmp_path: Path, failpoint: str) -> None:
    with open_store(tmp_path, create=MANIFEST, writer=True) as store:
        store.publish(*make_book(1).parts)
    assert run(tmp_path, "rebuild", failpoint=failpoint) == -signal.SIGKILL
    shown = make_book(9 if failpoint == "rebuilt" else 1)
    with open_store(tmp_path) as reader:
        expect_whole(reader, (shown,))
    assert run(tmp_path, "rebuild") == 0
    with open_store(tmp_path) as store:
        expect_whole(store, (make_book(9),))
    expect_tidy(tmp_path)


def test_what_an_interrupted_rebuild_left_is_used_only_while_the_library_is_the_same(tmp_path: Path) -> None:
    with open_store(tmp_path, create=MANIFEST, writer=True) as store:
        for number in (1, 2):
            store.publish(*make_book(number).parts)
        with store.start_rebuild(MANIFEST) as fresh:
            fresh.publish(*make_book(1).parts)
    with open_store(tmp_path, writer=True) as store:
        with store.start_rebuild(MANIFEST) as fresh:
            assert [book.title for book in fresh.books()] == ["Title 1"], "it goes on"
        store.remove(make_book(1).book.id)
        with store.start_rebuild(MANIFEST) as fresh:
            assert fresh.books() == [], "a book that was removed since does not come back"
            fresh.take_over()
        assert store.books() == []
    expect_tidy(tmp_path)


def test_killed_at_random_times(tmp_path: Path) -> None:
    dice = random.Random(1)
    kills = changes = 0
    before: set[str] = set()
    open_store(tmp_path, create=MANIFEST, writer=True).close()
    for _ in range(8):
        with start(tmp_path, "churn") as child:
            assert child.stdout is not None
            child.stdout.readline()
            time.sleep(0.35 + dice.random() * 0.5)
            assert child.poll() is None, child.stderr and child.stderr.read()
            child.kill()
        kills += child.returncode == -signal.SIGKILL
        for writer in (False, True):
            with open_store(tmp_path, writer=writer) as store:
                versions = {book.version for book in store.books()}
                for book in store.books():
                    words = [passage.text for passage in store.passages(book.id)]
                    assert "\n".join(words) + "\n" == store.book_text(book.id)
                    assert len(words) == book.passages
                assert store.count("passage") == sum(book.passages for book in store.books())
                assert store.verify() == []
        expect_tidy(tmp_path)
        changes += versions != before
        before = versions
    assert kills == 8
    assert changes >= 2, "the kills came before anything was written"
