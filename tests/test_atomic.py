"""Files and folders are written whole or not at all."""

from __future__ import annotations

import errno
import os
import signal
import stat
import subprocess
import sys
from contextlib import nullcontext
from pathlib import Path
from typing import IO

import pytest

from nlb_retriever.atomic import TEMPORARY, write_file, write_folder


def names(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.iterdir())


def test_a_file_gets_new_content_and_leaves_nothing_beside_it(tmp_path: Path) -> None:
    file = tmp_path / "a.json"
    write_file(file, b"one")
    write_file(file, lambda stream: stream.write(b"two"))
    assert file.read_bytes() == b"two"
    assert names(tmp_path) == ["a.json"]


def test_one_may_write_a_file_while_another_does(tmp_path: Path) -> None:
    """Two threads, or the processes 1 of two containers."""
    file = tmp_path / "a.json"
    write_file(file, lambda stream: (stream.write(b"first"), write_file(file, b"second")))
    assert file.read_bytes() == b"first"
    assert names(tmp_path) == ["a.json"]


def test_a_file_keeps_its_content_where_writing_fails(tmp_path: Path) -> None:
    file = tmp_path / "a.json"
    write_file(file, b"one")

    def fail(stream: IO[bytes]) -> None:
        stream.write(b"half of it")
        raise OSError("No space left on device")

    with pytest.raises(OSError, match="No space"):
        write_file(file, fail)
    assert file.read_bytes() == b"one"
    assert names(tmp_path) == ["a.json"]


@pytest.mark.parametrize("number", [errno.EINVAL, errno.EIO])
def test_a_disk_that_syncs_no_folders_will_do(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, number: int) -> None:
    sync = os.fsync

    def fsync(handle: int) -> None:
        if stat.S_ISDIR(os.fstat(handle).st_mode):
            raise OSError(number, os.strerror(number))
        sync(handle)

    monkeypatch.setattr(os, "fsync", fsync)
    with nullcontext() if number == errno.EINVAL else pytest.raises(OSError, match="Input/output error"):
        write_file(tmp_path / "a.json", b"one")
    assert (tmp_path / "a.json").read_bytes() == b"one"


def test_a_folder_is_replaced_with_all_that_is_in_it(tmp_path: Path) -> None:
    for content in ("one", "two"):
        with write_folder(tmp_path / "new" / "it") as folder:
            (folder / "sub").mkdir()
            (folder / "sub" / content).write_text(content)
    assert names(tmp_path / "new" / "it" / "sub") == ["two"]
    assert names(tmp_path / "new") == ["it"]


def test_a_folder_stays_as_it_was_where_the_block_fails(tmp_path: Path) -> None:
    with write_folder(tmp_path / "it") as folder:
        (folder / "a").write_text("one")
    with pytest.raises(RuntimeError), write_folder(tmp_path / "it") as folder:
        (folder / "a").write_text("two")
        raise RuntimeError
    assert (tmp_path / "it" / "a").read_text() == "one"
    assert names(tmp_path) == ["it"]


KILLED = f"""
import os, signal, sys
from pathlib import Path
from nlb_retriever.atomic import write_file, write_folder
here = Path(sys.argv[1])
with write_folder(here / "it") as folder:
    (folder / "a").write_text("two")
    write_file(here / "b", lambda stream: (stream.write(b"two"), os.kill(os.getpid(), signal.{signal.SIGKILL.name})))
"""


def test_a_killed_process_leaves_the_old_content_under_the_names(tmp_path: Path) -> None:
    (tmp_path / "it").mkdir()
    (tmp_path / "it" / "a").write_text("one")
    (tmp_path / "b").write_text("one")
    done = subprocess.run([sys.executable, "-c", KILLED, str(tmp_path)], check=False, timeout=60)
    assert done.returncode == -signal.SIGKILL
    assert (tmp_path / "it" / "a").read_text() == (tmp_path / "b").read_text() == "one"
    left = [path for path in tmp_path.iterdir() if path.name not in {"it", "b"}]
    assert len(left) == 2
    assert all(path.name.endswith(TEMPORARY) and path.name.startswith(".") for path in left)


def test_a_file_in_a_missing_folder_is_an_os_error_and_makes_nothing(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError):
        write_file(tmp_path / "missing" / "a", b"one")
    assert names(tmp_path) == []
