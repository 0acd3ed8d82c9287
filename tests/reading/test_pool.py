"""ReaderPool: order, limits, crashes, and workers that never outlive their parent."""

from __future__ import annotations

import contextlib
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from nlb_retriever.errors import NotABook, ReadingError, ReadingLimit
from nlb_retriever.reading import Limits, ReaderPool, read_book
from nlb_retriever.reading.wire import book_from_wire, book_to_wire, decode, encode
from nlb_retriever.records import Book

ROOT = Path(__file__).resolve().parents[2]


@pytest.fixture
def books(tmp_path: Path) -> list[Path]:
    files = []
    for i in range(6):
        files.append(tmp_path / f"{i}.txt")
        files[-1].write_text(f"Book {i}. Once upon a time.\n")
    return files


def workers_of(pid: int) -> list[int]:
    """Child processes of `pid` by /proc."""
    found = []
    for entry in Path("/proc").iterdir():
        if entry.name.isdigit():
            with contextlib.suppress(OSError, IndexError):
                fields = (entry / "stat").read_text().rpartition(")")[2].split()
                if int(fields[1]) == pid and fields[0] != "Z":
                    found.append(int(entry.name))
    return found


def test_what_cannot_be_opened_is_one_line_each_and_the_rest_is_read(tmp_path: Path, books: list[Path]) -> None:
    odd = [tmp_path / "gone.txt", Path("/" + "x" * 255 + "/y" * 3_000 + ".txt"), tmp_path / ("z" * 300 + ".txt")]
    odd += [tmp_path / "nul\0.txt", tmp_path, books[0] / "below-a-file.txt", tmp_path / "\udcff.txt"]
    with ReaderPool(1) as pool:
        results = [result for _, result in pool.read([*odd, books[0]])]
    assert all(isinstance(result, ReadingError) and "\n" not in str(result) for result in results[:-1])
    assert all("cannot be read" in str(result) or "no regular file" in str(result) for result in results[:-1])
    assert isinstance(results[-1], Book)


@pytest.mark.parametrize("workers", [1, 2])
def test_files_come_back_in_order_with_their_errors(books: list[Path], workers: int) -> None:
    books[2].write_bytes(b"")
    books[4].unlink()
    with ReaderPool(workers) as pool:
        results = list(pool.read(books))
    assert [path for path, _ in results] == books
    assert isinstance(results[2][1], NotABook)
    assert type(results[4][1]) is ReadingError
    assert [r.text for _, r in results if isinstance(r, Book)] == [
        f"Book {i}. Once upon a time.\n" for i in (0, 1, 3, 5)
    ]
    assert results[0][1] == read_book(books[0])


def test_no_more_books_are_read_ahead_than_there_are_workers(books: list[Path]) -> None:
    taken: list[Path] = []

    def files() -> Iterator[Path]:
        for path in books:
            taken.append(path)
            yield path

    with ReaderPool(1) as pool:
        results = pool.read(files())
        next(results)
        assert len(taken) == 2


def test_a_book_survives_the_wire(books: list[Path]) -> None:
    book = read_book(books[0])
    assert book_from_wire(decode(encode(book_to_wire(book))[8:])) == book


@pytest.fixture
def slow_file(tmp_path: Path) -> Path:
    """A text of so many headings that reading it takes minutes."""
    path = tmp_path / "slow.txt"
    path.write_bytes(b"CHAPTER I\n\nText.\n\n" * 2_000_000)
    return path


def test_a_file_that_takes_too_long_is_given_up_and_the_run_goes_on(books: list[Path], slow_file: Path) -> None:
    started = time.monotonic()
    with ReaderPool(1, Limits(seconds=1.5)) as pool:
        results = dict(pool.read([books[0], slow_file, books[1]]))
    assert isinstance(results[slow_file], ReadingLimit)
    assert "took more than 1.5 s" in str(results[slow_file])
    assert isinstance(results[books[1]], Book)
    assert time.monotonic() - started < 10


def test_a_file_that_needs_too_much_memory_is_given_up_and_the_run_goes_on(tmp_path: Path, books: list[Path]) -> None:
    big = tmp_path / "big.txt"
    with big.open("wb") as stream:
        stream.truncate(300 << 20)
    with ReaderPool(1, Limits(memory=420 << 20)) as pool:
        results = dict(pool.read([big, books[0]]))
    assert isinstance(results[big], ReadingLimit)
    assert "memory" in str(results[big])
    assert isinstance(results[books[0]], Book)


@pytest.mark.parametrize("how", [signal.SIGKILL, signal.SIGSEGV])
def test_a_worker_that_crashes_costs_one_file(books: list[Path], slow_file: Path, how: signal.Signals) -> None:
    with ReaderPool(1) as pool:
        results = pool.read([books[0], slow_file, books[1], books[2]])
        next(results)
        time.sleep(0.5)
        for child in workers_of(os.getpid()):
            os.kill(child, how)
        rest = list(results)
    assert isinstance(rest[0][1], ReadingLimit)
    assert how.name in str(rest[0][1])
    assert all(isinstance(result, Book) for _, result in rest[1:])


def test_leaving_the_pool_ends_its_workers(books: list[Path], slow_file: Path) -> None:
    before = set(workers_of(os.getpid()))
    started = time.monotonic()
    with ReaderPool(2) as pool:
        next(pool.read([books[0], slow_file, slow_file]))
    assert set(workers_of(os.getpid())) <= before
    assert time.monotonic() - started < 5


def parent(folder: Path, code: str) -> subprocess.Popen[bytes]:
    start = "from pathlib import Path\nfrom nlb_retriever.reading import ReaderPool\n"
    script = f"{start}files = sorted(Path({str(folder)!r}).iterdir())\n{code}"
    return subprocess.Popen(
        [sys.executable, "-c", script],
        env={**os.environ, "PYTHONPATH": str(ROOT)},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    )


def wait_for(condition: Callable[[], object], seconds: float = 8) -> bool:
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        if condition():
            return True
        time.sleep(0.05)
    return False


BUSY = "with ReaderPool(1) as pool:\n    for _ in pool.read(files):\n        pass\n"


def test_workers_die_when_their_parent_is_killed(slow_file: Path) -> None:
    process = parent(slow_file.parent, BUSY)
    assert wait_for(lambda: workers_of(process.pid))
    time.sleep(0.6)  # busy inside native code
    children = workers_of(process.pid)
    process.kill()
    process.communicate()
    assert wait_for(lambda: not any(Path(f"/proc/{child}").exists() for child in children))


def test_a_worker_whose_parent_is_gone_before_it_starts_ends() -> None:
    start = "from nlb_retriever.reading.worker import main; main(0)"
    with subprocess.Popen([sys.executable, "-c", start], stdin=subprocess.PIPE) as worker:  # whose pipe is still open
        assert worker.wait(timeout=60) == 1


def test_ctrl_c_ends_the_parent_and_its_workers_quietly(slow_file: Path) -> None:
    process = parent(
        slow_file.parent,
        f"try:\n    {BUSY.replace(chr(10), chr(10) + '    ')}\nexcept KeyboardInterrupt:\n    print('stopped')\n",
    )
    assert wait_for(lambda: workers_of(process.pid))
    time.sleep(0.6)
    children = workers_of(process.pid)
    process.send_signal(signal.SIGINT)
    out, err = process.communicate(timeout=10)
    assert (out, err) == (b"stopped\n", b"")
    assert wait_for(lambda: not any(Path(f"/proc/{child}").exists() for child in children))


@pytest.mark.parametrize("place", ["the current folder", "the first of the path", "the script's"])
def test_a_folder_full_of_python_files_is_never_imported(
    place: str, tmp_path: Path, books: list[Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "json.py").write_text("raise SystemExit('imported from the user')")
    if place == "the script's":
        monkeypatch.setattr(sys.modules["__main__"], "__file__", str(tmp_path / "script.py"), raising=False)
    else:
        monkeypatch.chdir(tmp_path)
    if place != "the current folder":
        monkeypatch.setattr(sys, "path", [str(tmp_path), *sys.path])
    with ReaderPool(1) as pool:
        assert isinstance(next(pool.read([tmp_path / "0.txt"]))[1], Book)


def test_modules_are_found_where_the_parent_finds_them(
    tmp_path: Path, books: list[Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    """As in pex files, layers of AWS Lambda and mod_wsgi's python-path."""
    bare = tmp_path / "bare" / "bin" / "python3"
    bare.parent.mkdir(parents=True)
    bare.write_text(f'#!/bin/sh\nexec {sys.executable} -S "$@"\n')
    bare.chmod(0o755)
    monkeypatch.setattr(sys, "executable", str(bare))
    with ReaderPool(1) as pool:
        assert isinstance(next(pool.read(books))[1], Book)


@pytest.mark.parametrize("executable", ["/usr/sbin/uwsgi", "", None])
def test_a_server_that_holds_python_is_not_started_again(
    executable: str | None, books: list[Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sys, "executable", executable)
    with ReaderPool(1) as pool:
        assert isinstance(next(pool.read(books))[1], Book)
