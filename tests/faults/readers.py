"""Many readers beside a writer: each sees one state of the library after the other, and nobody waits."""

from __future__ import annotations

import contextlib
import os
import random
import signal
import time
import traceback
from collections.abc import Sequence
from pathlib import Path

from nlb_retriever.store import open_store
from tests.faults.changes import Step, make_steps, right_answers, states
from tests.faults.tally import Broken, Tally
from tests.store.books import MANIFEST
from tests.store.sample import read_all

_READERS = 4


def read_and_write(dice: random.Random, folder: Path, tally: Tally) -> None:
    """A writer makes its changes while some readers read again and again, and one is stopped in the middle."""
    steps = [*make_steps(dice, 25), Step("publish", 9)]  # the last state is like no other
    expected = states(steps)
    right = [right_answers(books) for books in expected]
    open_store(folder, create=MANIFEST, writer=True).close()
    stopped = _start(folder, right, is_held=True)
    readers = [_start(folder, right) for _ in range(_READERS)]
    try:
        time.sleep(dice.random() * 0.05)
        os.kill(stopped[0], signal.SIGSTOP)
        with open_store(folder, writer=True) as store:
            for step, books in zip(steps, expected, strict=False):
                step.carry_out(store, books)
        reads = [_finish(*reader) for reader in readers]
    finally:
        for child, _ in (*readers, stopped):
            with contextlib.suppress(ProcessLookupError, ChildProcessError):
                os.kill(child, signal.SIGKILL)
                os.waitpid(child, 0)
    tally.faults += sum(reads)


def _start(folder: Path, right: Sequence[object], *, is_held: bool = False) -> tuple[int, int]:
    """Read in a child until the last state is seen."""
    reading, writing = os.pipe()
    if child := os.fork():
        os.close(writing)
        return child, reading
    code = 1
    try:
        signal.alarm(0)
        seen = reads = 0
        with open_store(folder) as store, store.session() if is_held else contextlib.nullcontext():
            while seen < len(right) - 1 or is_held:
                with store.session():
                    found = read_all(store)
                reads += 1
                if found not in right[seen:]:
                    raise Broken("wrong", f"read {reads}: an answer of no state after {seen}")
                seen += right[seen:].index(found)
        os.write(writing, f"{reads}".encode())
        code = 0
    except BaseException:
        os.write(writing, traceback.format_exc().encode())
    finally:
        os._exit(code)


def _finish(child: int, reading: int) -> int:
    with os.fdopen(reading, "rb") as pipe:
        report = pipe.read().decode()
    _, status = os.waitpid(child, 0)
    if status:
        raise Broken("wrong", report)
    return int(report)
