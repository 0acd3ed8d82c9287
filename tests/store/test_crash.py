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

PUBLISHING = ["marked", "passages", "sections", "book", "flushed", "published"]
DELETING = [f"deleted-{level}" for level in reversed(LEVELS)]
RENAMING = ["renaming", *(f"renamed-{level}" for level in LEVELS)]


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
    """Everything that readers can see, with its vectors."""
    seen: dict[str, object] = {}
    for level in LEVELS:
        for point in store._engine.scroll(level, vectors=True):
            if point.payload.get("kind") != "state":
                assert point.dense is not None
                seen[point.id] = (point.payload, point.dense.tobytes())
    return seen


def expect_whole(store: LibraryStore, *allowed: tuple[Made, ...]) -> None:
    """The library reads as exactly one of the given sets of books."""
    texts = {made.book.id: made.book.text for books in allowed for made in books}
    for entry in store.books():
        texts[entry.id] = store.book_text(entry.id)
        words = [passage.text for passage in store.passages(entry.id)]
        assert "\n".join(words) + "\n" == texts[entry.id]
    state = {entry.id: texts[entry.id] for entry in store.books()}
    assert state in [{made.book.id: made.book.text for made in books} for books in allowed]
    sizes = [store.count(level) for level in LEVELS]
    assert sizes in [
        [len(books), sum(len(made.book.sections) for made in books), sum(len(made.passages) for made in books)]
        for books in allowed
    ]


@pytest.mark.parametrize("failpoint", PUBLISHING)
def test_killed_in_publishing_a_first_edition(tmp_path: Path, failpoint: str) -> None:
    folder, unbroken = tmp_path / "library", tmp_path / "unbroken"
    other, made = make_book(2), make_book(1)
    for place in (folder, unbroken):
        with open_store(place, create=MANIFEST, writer=True) as store:
            store.publish(*other.parts)
    assert run(folder, "publish", "1", "0", failpoint=failpoint) == -signal.SIGKILL
    with open_store(folder) as reader:
        expect_whole(reader, (other, made) if failpoint == "published" else (other,))
    with open_store(folder, writer=True) as store:
        assert store.verify() == []
        if failpoint != "published":
            store.publish(*made.parts)
        with open_store(unbroken, writer=True) as model:
            model.publish(*made.parts)
            assert contents(store) == contents(model)


@pytest.mark.parametrize("failpoint", PUBLISHING + DELETING)
def test_killed_in_publishing_a_second_edition(tmp_path: Path, failpoint: str) -> None:
    old, new = make_book(1, sections=4), make_book(1, edition=1)
    with open_store(tmp_path, create=MANIFEST, writer=True) as store:
        store.publish(*old.parts)
    assert run(tmp_path, "publish", "1", "1", failpoint=failpoint) == -signal.SIGKILL
    shown = new if failpoint in ("published", *DELETING) else old
    with open_store(tmp_path) as reader:
        expect_whole(reader, (shown,))
    with open_store(tmp_path, writer=True) as store:
        assert store.verify() == []
        expect_whole(store, (shown,))
        assert len(contents(store)) == 1 + len(shown.book.sections) + len(shown.passages)


@pytest.mark.parametrize("failpoint", ["removing", *DELETING])
def test_killed_in_removing(tmp_path: Path, failpoint: str) -> None:
    with open_store(tmp_path, create=MANIFEST, writer=True) as store:
        for number in (1, 2):
            store.publish(*make_book(number).parts)
    assert run(tmp_path, "remove", make_book(1).book.id, failpoint=failpoint) == -signal.SIGKILL
    with open_store(tmp_path) as reader:
        expect_whole(reader, (make_book(2),))
    with open_store(tmp_path, writer=True) as store:
        assert store.verify() == []
        assert len(contents(store)) == 16


@pytest.mark.parametrize("failpoint", RENAMING)
def test_killed_in_renaming(tmp_path: Path, failpoint: str) -> None:
    made = make_book(1)
    with open_store(tmp_path, create=MANIFEST, writer=True) as store:
        store.publish(*made.parts)
    assert run(tmp_path, "rename", made.book.id, "/new.txt", failpoint=failpoint) == -signal.SIGKILL
    for writer in (False, True):
        with open_store(tmp_path, writer=writer) as store:
            records = (*store.sections(made.book.id), *store.passages(made.book.id))
            assert {record.source for record in records} == {"/new.txt"}
            assert store.find_book("/new.txt").id == made.book.id
            assert store.verify() == ([] if writer else store.verify())


def test_killed_in_making_a_library(tmp_path: Path) -> None:
    for failpoint in ("made-passage", "made-section", "made-book"):
        folder = tmp_path / failpoint
        assert run(folder, "publish", "1", "0", failpoint=failpoint) == -signal.SIGKILL
        assert run(folder, "publish", "1", "0") == 0
        with open_store(folder) as store:
            expect_whole(store, (make_book(1),))


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
        with open_store(tmp_path) as reader:
            versions = {entry.version for entry in reader.books()}
            changes += versions != before
            before = versions
            for entry in reader.books():
                words = [passage.text for passage in reader.passages(entry.id)]
                assert "\n".join(words) + "\n" == reader.book_text(entry.id)
                assert len(words) == entry.passages
            assert reader.count("passage") == sum(entry.passages for entry in reader.books())
            assert all("interrupted" in line for line in reader.verify())
        with open_store(tmp_path, writer=True) as store:
            assert store.verify() == []
    assert kills == 8
    assert changes >= 2, "the kills came before anything was written"
