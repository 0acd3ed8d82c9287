"""Control of a training run: its device, a stop between two steps, and one process in a folder."""

from __future__ import annotations

import fcntl
import hashlib
import re
import shutil
import signal
import threading
import zipfile
import zlib
from collections.abc import Collection, Iterator
from contextlib import contextmanager
from pathlib import Path
from types import FrameType

from safetensors import SafetensorError

from nlb_retriever.atomic import TEMPORARY
from nlb_retriever.errors import TrainingError

_ERRNO = re.compile(r"\[Errno \d+\] ([^:'\"]+)")
LOCK = "lock"
"""Name of a run's lock file; it means nothing when no process has it locked."""


def hash_file(file: Path) -> str:
    """SHA-256 of a file's bytes, hexadecimal.

    Raises:
        OSError: it cannot be read.
    """
    with file.open("rb") as stream:
        return hashlib.file_digest(stream, "sha256").hexdigest()


def find_device(name: str) -> str:
    """The torch device to train on, of "auto" (CUDA where there is any, else the CPU) or a device's name.

    Raises:
        TrainingError: the machine has no such device.
    """
    import torch

    if name == "auto":
        return "cuda" if torch.cuda.is_available() else "cpu"
    try:
        torch.zeros(1, device=name).item()
    except (RuntimeError, AssertionError) as error:  # the second: a torch that was built without CUDA
        raise TrainingError(f"torch cannot use a device {name!r} on this machine: give auto or cpu") from error
    return name


@contextmanager
def catch_stop_signals() -> Iterator[threading.Event]:
    """An event that SIGINT and SIGTERM set during the block; a second SIGINT raises KeyboardInterrupt.

    A signal that the process ignores stays ignored. Outside the main thread the event is never set.
    """
    stopped = threading.Event()
    if threading.current_thread() is not threading.main_thread():
        yield stopped
        return

    def note(number: int, _frame: FrameType | None) -> None:
        if stopped.is_set() and number == signal.SIGINT:
            raise KeyboardInterrupt
        stopped.set()

    before = {number: signal.getsignal(number) for number in (signal.SIGINT, signal.SIGTERM)}
    caught = [number for number, handler in before.items() if handler is not signal.SIG_IGN]
    for number in caught:
        signal.signal(number, note)
    try:
        yield stopped
    finally:
        for number in caught:
            signal.signal(number, before[number])


@contextmanager
def lock_folder(folder: Path) -> Iterator[None]:
    """Make a folder, and let no other process train in it during the block.

    Raises:
        TrainingError: another process trains there, or the folder cannot be written to.
    """
    try:
        folder.mkdir(parents=True, exist_ok=True)
        lock = (folder / LOCK).open("a")
    except OSError as error:
        raise TrainingError(f"{folder} cannot be written to ({error.strerror}): choose another folder") from error
    with lock:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError as error:
            raise TrainingError(f"another process trains in {folder}: wait for it, or choose another folder") from error
        for part in list(folder.rglob(f".*{TEMPORARY}")):  # left by a killed process
            shutil.rmtree(part) if part.is_dir() else part.unlink(missing_ok=True)  # in one deleted before
        yield


def check_folder(out: Path, *, has_run: bool, resume: bool, own: Collection[str] = (LOCK,)) -> None:
    """See that a run may begin, or go on, in a folder, so that nothing of others is deleted.

    Args:
        out: of the run.
        has_run: whether it holds one.
        resume: whether one is to go on.
        own: names of files that it may hold without a run.

    Raises:
        TrainingError: it holds another run or other files, or none to resume.
    """
    if has_run and not resume:
        raise TrainingError(f"{out} holds an earlier run: go on with it (--resume), or name another folder (--out)")
    if resume and not has_run:
        raise TrainingError(f"{out} holds no run to resume: start it without --resume")
    if not has_run and out.is_dir() and any(path.name not in own for path in out.iterdir()):
        raise TrainingError(f"{out} holds other files: name an empty or new folder (--out)")


@contextmanager
def writing(path: Path) -> Iterator[None]:
    """Turn what goes wrong while a file or folder is written into one line.

    Raises:
        TrainingError: in place of what the disk, torch, safetensors or OpenVINO says.
    """
    try:
        yield
    except (OSError, RuntimeError, SafetensorError) as error:
        raise TrainingError(f"{path} cannot be written ({why(error)}): make room, then go on with --resume") from error


def why(error: Exception) -> str:
    """Why a file or folder could not be written, in a few words."""
    reason = getattr(error, "strerror", None) or str(error).strip().partition("\n")[0]
    if found := _ERRNO.search(reason):  # shutil lists all the files that it could not copy
        return found[1]
    return "only a part of it was written" if "inline_container" in reason else reason  # torch names its own source


def check_torch_file(file: Path) -> None:
    """See that what torch has saved is whole by its sums, which torch itself does not compare.

    Raises:
        OSError: it cannot be read.
        ValueError: it is damaged.
    """
    try:
        with zipfile.ZipFile(file) as stored:
            damaged = stored.testzip()
    except (zipfile.BadZipFile, NotImplementedError, EOFError, zlib.error) as error:
        raise ValueError(f"{file.name}: {error}") from error
    if damaged:
        raise ValueError(f"{file.name}: the sum of {damaged} is wrong")


@contextmanager
def report_disk_errors(folder: Path) -> Iterator[None]:
    """Turn an OSError into one line.

    Raises:
        TrainingError: in place of an OSError.
    """
    try:
        yield
    except OSError as error:
        raise TrainingError(
            f"cannot write {folder} ({error.strerror or error}): the results of its stages so far are kept; make "
            "room, then run the same command with --resume"
        ) from error
