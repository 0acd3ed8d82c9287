"""Disks that are full, read-only or torn: one line that says so, or right answers."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
import traceback
from collections.abc import Callable, Iterator
from itertools import cycle
from pathlib import Path

import pytest

from nlb_retriever.errors import LibraryNotFound, NlbError, StoreError
from nlb_retriever.records import LEVELS
from nlb_retriever.store import LibraryStore, StoreQuery, edge, open_engine, open_store, shards
from nlb_retriever.store.edge import EdgeEngine
from nlb_retriever.store.ledger import LEDGER
from nlb_retriever.store.lock import LOCK_FILES
from nlb_retriever.store.shards import copy_shard, copy_sparse
from tests.conftest import ROOT
from tests.store.books import MANIFEST, make_book


def make_library(folder: Path) -> None:
    """A library with segments of both kinds: written to, and compacted."""
    folder.mkdir(exist_ok=True)
    with open_engine(EdgeEngine(folder, graph_from=10_000), create=MANIFEST, writer=True) as store:
        store.publish(*make_book(1).parts)
        store.publish(*make_book(2).parts)


def ask(store: LibraryStore) -> list[object]:
    vector = make_book(1).vectors.book
    queries = [StoreQuery(level=level, dense=vector, limit=5) for level in LEVELS]
    queries += [StoreQuery(level=level, text="whale book2", limit=5) for level in LEVELS]
    answers = [[(hit.id, round(hit.score, 4)) for hit in hits] for hits in store.search(queries)]
    return [answers, store.books(), [store.book_text(entry.id) for entry in store.books()]]


@pytest.fixture(scope="module")
def library(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("damage") / "library"
    make_library(folder)
    return folder


def files(folder: Path) -> list[Path]:
    """The engine's files; of the many that are the same for every payload index, those of one index."""
    own = {LEDGER, *LOCK_FILES}
    found = sorted(path for path in folder.rglob("*") if path.is_file() and path.name not in own)
    return [path for path in found if "payload_index" not in path.parts or "book_id-" in str(path)]


def delete(path: Path) -> None:
    path.unlink()


def cut(path: Path) -> None:
    os.truncate(path, path.stat().st_size // 2)


def grow(path: Path) -> None:
    os.truncate(path, path.stat().st_size + 1)


def test_every_torn_or_lost_file_is_named_or_does_not_matter(library: Path, tmp_path: Path) -> None:
    with open_store(library) as store:
        right = ask(store)
    named = 0
    for path, damage in zip(files(library), cycle([delete, cut, delete, grow, cut]), strict=False):
        kept = tmp_path / "kept"
        copy_sparse(path, kept)
        damage(path)
        if path.exists() and path.stat().st_size == kept.stat().st_size:
            continue  # an empty file cannot be cut
        try:
            with open_store(library) as store:
                assert ask(store) == right, path
        except StoreError as error:
            named += 1
            assert path.name in str(error), error
            assert "\n" not in str(error)
            assert "--rebuild" in str(error)
        finally:
            kept.replace(path)
    assert named > 50
    with open_store(library) as store:
        assert ask(store) == right


@pytest.mark.parametrize("name", ["books", "sections", "passages"])
def test_a_lost_shard_is_named(tmp_path: Path, name: str) -> None:
    make_library(tmp_path)
    shutil.rmtree(tmp_path / name)
    with pytest.raises(StoreError, match=f"its {name} index is missing") as caught, open_store(tmp_path) as store:
        ask(store)
    assert not isinstance(caught.value, LibraryNotFound)


def test_nothing_but_our_errors_comes_out_of_files_that_are_nonsense(tmp_path: Path) -> None:
    make_library(tmp_path / "whole")
    damaged = 0
    for path in files(tmp_path / "whole"):
        if path.suffix == ".json" and "segments" in path.parts and path.name == "segment.json":
            folder = tmp_path / f"copy{damaged}"
            copy_shard(tmp_path / "whole", folder)
            for ledger in folder.rglob(LEDGER):
                ledger.unlink()
            (folder / path.relative_to(tmp_path / "whole")).write_text("{nonsense")
            with pytest.raises(NlbError) as caught, open_store(folder) as store:
                ask(store)
            assert "\n" not in str(caught.value)
            damaged += 1
    assert damaged >= 3


def test_a_ledger_is_only_there_while_nobody_has_the_shard_open(tmp_path: Path) -> None:
    make_library(tmp_path)
    ledger = tmp_path / "passages" / LEDGER
    assert ledger.exists()
    with open_store(tmp_path) as store:
        assert ledger.exists(), "passages are opened when they are asked for"
        store.count("passage")
        assert not ledger.exists()
    assert ledger.exists()


def test_a_full_disk_stops_a_book_before_anything_is_written(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    make_library(tmp_path)
    with open_store(tmp_path, writer=True) as store:
        monkeypatch.setattr(edge, "RESERVE", 1 << 60)
        with pytest.raises(StoreError, match=r"the disk is full \(\d+ MB free, \d+ MB needed\)"):
            store.publish(*make_book(3).parts)
        monkeypatch.undo()
        assert store.count("book") == 2
        assert store.verify() == []
        store.publish(*make_book(3).parts)


FILL = """
import sys
from pathlib import Path
from nlb_retriever.store import edge, open_store
from tests.store.books import MANIFEST, make_book
edge.RESERVE = -(1 << 60)
folder = Path(sys.argv[1])
with open_store(folder, writer=True) as store, (folder.parent / "filler").open("wb", buffering=0) as filler:
    try:
        while True:
            filler.write(bytes(1 << 20))
    except OSError:
        filler.truncate(filler.tell() - (2 << 20))
    for number in range(3, 400):
        store.publish(*make_book(number, passages=100).parts)
"""


@pytest.fixture
def small_disk(tmp_path: Path) -> Iterator[Path]:
    folder = tmp_path / "disk"
    folder.mkdir()
    command = ["mount", "-t", "tmpfs", "-o", "size=260m", "nlb-test", str(folder)]
    if os.getuid() != 0 or shutil.which("mount") is None or subprocess.run(command, capture_output=True).returncode:
        pytest.skip("cannot mount a small disk (needs root)")
    yield folder
    subprocess.run(["umount", "-l", str(folder)], check=True)


def test_a_disk_that_fills_up_unforeseen_leaves_what_was_published(
    small_disk: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The engine then dies of SIGBUS in the middle of writing: that is a crash like any other."""
    folder = small_disk / "library"
    monkeypatch.setattr(edge, "RESERVE", 0)
    make_library(folder)
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    filling = subprocess.run([sys.executable, "-c", FILL, str(folder)], env=environment, capture_output=True)
    assert filling.returncode != 0, "the disk was not filled"
    target = small_disk.parent / "rescued"
    copy_shard(folder, target)
    with open_store(target, writer=True) as store:
        assert store.verify() == []
        assert {make_book(1).book.id, make_book(2).book.id} <= {entry.id for entry in store.books()}
        store.publish(*make_book(1, edition=1).parts)
        assert store.verify() == []


def as_nobody(folder: Path, work: Callable[[], None]) -> str:
    """What `work` says when done by a user who may only read the folder."""
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
                said = "done"
            except NlbError as error:
                said = f"{type(error).__name__}: {error}"
            except BaseException:
                said = traceback.format_exc()
            os.write(writing, said.encode())
        finally:
            os._exit(0)
    os.close(writing)
    with os.fdopen(reading) as pipe:
        said = pipe.read()
    os.waitpid(child, 0)
    return said


@pytest.mark.filterwarnings("ignore:This process:DeprecationWarning")
def test_a_library_that_may_only_be_read_can_be_read(tmp_path: Path) -> None:
    folder = tmp_path / "library"
    make_library(folder)
    with open_store(folder) as store:
        right = ask(store)

    def read() -> None:
        with open_store(folder) as store:
            assert ask(store) == right

    assert as_nobody(folder, read) == "done"


@pytest.mark.filterwarnings("ignore:This process:DeprecationWarning")
def test_a_library_that_may_only_be_read_refuses_writers_in_one_line(tmp_path: Path) -> None:
    folder = tmp_path / "library"
    make_library(folder)

    def write() -> None:
        with open_store(folder, writer=True) as store:
            store.publish(*make_book(3).parts)

    said = as_nobody(folder, write)
    assert said.startswith("StoreError: ")
    assert "read-only" in said
    assert "\n" not in said
    said = as_nobody(folder, lambda: open_store(folder / "inner", create=MANIFEST, writer=True).close())
    assert said == f"StoreError: cannot use {folder / 'inner'} as a library: Permission denied"


@pytest.mark.filterwarnings("ignore:This process:DeprecationWarning")
def test_a_read_only_library_too_large_to_copy_says_so(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = tmp_path / "library"
    make_library(folder)
    monkeypatch.setattr(shards, "COPY_LIMIT", 1000)
    said = as_nobody(folder, lambda: open_store(folder).close())
    assert re.search(r"is read-only and with \d\.\d GB too large to copy for reading", said)


def test_a_sparse_copy_holds_the_same_bytes_on_fewer_blocks(tmp_path: Path) -> None:
    source = tmp_path / "source"
    with source.open("wb") as file:
        file.seek(3_000_000)
        file.write(b"middle")
        file.truncate(9_000_000)
    copy_sparse(source, tmp_path / "target")
    assert (tmp_path / "target").read_bytes() == source.read_bytes()
    assert (tmp_path / "target").stat().st_blocks <= source.stat().st_blocks + 16
