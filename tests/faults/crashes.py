"""A writer is killed, loses power or has no space left, again and again, until its steps are done."""

from __future__ import annotations

import contextlib
import os
import random
import resource
import signal
import subprocess
import sys
import time
import traceback
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

from nlb_retriever.errors import LibraryNotFound, NlbError, StoreError
from nlb_retriever.store import open_store
from nlb_retriever.store.backends.head import read_head
from nlb_retriever.store.backends.leftovers import find_rebuild
from tests.faults.changes import Books, Step, make_steps, right_answers, states
from tests.faults.faulty_disk import CUT, FaultyDisk
from tests.faults.tally import Broken, Tally
from tests.store.books import MANIFEST
from tests.store.sample import read_all

_ERROR = 3


def kill_at_call(dice: random.Random, folder: Path, tally: Tally) -> None:
    """A writer is killed at its n-th call that changes files."""
    _crash(dice, folder, tally, lambda library, dice: FaultyDisk(library, dice.randint(1, 80), None, dice))


def cut_power(dice: random.Random, folder: Path, tally: Tally) -> None:
    """Power is lost at the n-th call, and with it what was not synced."""
    after = folder / "after"
    _crash(dice, folder, tally, lambda library, dice: FaultyDisk(library, dice.randint(1, 80), after, dice))


def kill_at_any_time(dice: random.Random, folder: Path, tally: Tally) -> None:
    """A writer is killed after some milliseconds, in whatever it does."""
    _crash(dice, folder, tally, lambda library, dice: None, patience=lambda: dice.random() ** 2 * 0.3)


def fill_disk(dice: random.Random, folder: Path, tally: Tally) -> None:
    """Files cannot grow beyond a size, or the whole disk has no more space."""
    if dice.random() < 0.5 and (disk := _small_disk(folder)):
        with disk:
            size = dice.randint(16, 160)
            subprocess.run(["mount", "-o", f"remount,size={size}k", folder], check=True)
            _crash(dice, folder, tally, lambda library, dice: None, relieve=lambda: _grow(folder))
    else:

        def limit(library: Path, dice: random.Random) -> None:
            resource.setrlimit(resource.RLIMIT_FSIZE, (dice.randint(1, 20_000), resource.RLIM_INFINITY))

        _crash(dice, folder, tally, limit)


def _crash(
    dice: random.Random,
    folder: Path,
    tally: Tally,
    break_something: Callable[[Path, random.Random], object],
    *,
    patience: Callable[[], float] | None = None,
    relieve: Callable[[], object] | None = None,
) -> None:
    """Steps with some crashes on the way, and a look at the library after each."""
    library = folder / "library"
    steps = make_steps(dice, dice.randint(3, 10))
    expected = states(steps)
    done = 0
    for crash in range(4):
        seed = dice.random() if crash < 3 else None
        done, code = _run(library, steps, done, expected, seed, break_something, patience)
        if code == CUT:
            _swap(library, folder / "after", folder / f"before{crash}")
        if code == 0:
            break
        tally.faults += 1
        tally.errors += code == _ERROR
        done = _look(library, steps, done, expected)
        if relieve is not None:
            relieve()
    if done != len(steps):
        raise Broken("wedged", f"step {done} of {steps} fails without any fault")
    with contextlib.suppress(LibraryNotFound):
        open_store(library, writer=True).close()
    _look(library, steps, done, expected)
    _expect_tidy(library)


def _run(
    library: Path,
    steps: Sequence[Step],
    done: int,
    expected: Sequence[Books],
    seed: float | None,
    break_something: Callable[[Path, random.Random], object],
    patience: Callable[[], float] | None,
) -> tuple[int, int]:
    """Carry out the steps that are left in a child; returns how many are done in all, and its exit code."""
    reading, writing = os.pipe()
    library.mkdir(exist_ok=True)
    child = os.fork()
    if not child:
        os.close(reading)
        code = 1
        try:
            signal.alarm(0)
            code = _work(library, steps, done, expected, seed, break_something, writing)
        except BaseException:
            os.write(writing, traceback.format_exc().encode())
        finally:
            os._exit(code)
    os.close(writing)
    try:
        if seed is not None and patience is not None:
            time.sleep(patience())
            os.kill(child, signal.SIGKILL)
        with os.fdopen(reading, "rb") as pipe:
            report = pipe.read()
    finally:
        with contextlib.suppress(ProcessLookupError):
            if sys.exc_info()[0] is not None:
                os.kill(child, signal.SIGKILL)
        _, status = os.waitpid(child, 0)
    code = os.waitstatus_to_exitcode(status)
    if code not in (0, -signal.SIGKILL, CUT, _ERROR):
        raise Broken("traceback", f"exit code {code}: {report.decode(errors='replace')}")
    return done + report.count(b"\0"), code


def _work(
    library: Path,
    steps: Sequence[Step],
    done: int,
    expected: Sequence[Books],
    seed: float | None,
    break_something: Callable[[Path, random.Random], object],
    report: int,
) -> int:
    if seed is not None:
        break_something(library, random.Random(seed))
    try:
        with open_store(library, create=MANIFEST, writer=True) as store:
            for at in range(done, len(steps)):
                steps[at].carry_out(store, expected[at])
                os.write(report, b"\0")
    except StoreError as error:
        if "\n" in str(error):
            raise
        return _ERROR
    return 0


def _look(library: Path, steps: Sequence[Step], done: int, expected: Sequence[Books]) -> int:
    """What a reader sees is what there was before the step that was interrupted, or after it; returns which."""
    try:
        with open_store(library) as store:
            found, problems = read_all(store), store.verify()
    except LibraryNotFound:
        if done:
            raise Broken("lost", f"no library after {steps[:done]}") from None
        return 0
    except NlbError as error:
        raise Broken("lost", f"{error} after {steps[: done + 1]}") from error
    if problems:
        raise Broken("wrong", f"{problems} after {steps[: done + 1]}")
    for after in (done + 1, done):
        if after < len(expected) and found == right_answers(expected[after]):
            return after
    raise _difference(found, expected[done], steps[: done + 1])


def _difference(found: list[object], books: Books, steps: Sequence[Step]) -> Broken:
    records = found[1]
    assert isinstance(records, list)
    ids = [record.id for record in records]
    if len(set(ids)) < len(ids):
        return Broken("doubled", f"{ids} after {steps}")
    if {f"{number:016x}" for number in books} - set(ids):
        return Broken("lost", f"{ids} instead of {books} after {steps}")
    return Broken("wrong", f"{ids} instead of {books} after {steps}")


def _expect_tidy(library: Path) -> None:
    """No file is left that the library, or a rebuild of it that can go on, does not consist of."""
    head, _ = read_head(library / "library.json")
    rebuild = find_rebuild(library, (head.library, head.serial))
    named = {ref.name for each in (head, rebuild) if each for ref in each.segments}
    known = {"library.json", "library.copy.json", "segments", "writer.lock", *(["rebuild.json"] if rebuild else [])}
    files = {path.name for path in (library / "segments").iterdir()} if (library / "segments").is_dir() else set()
    if files != named or not {path.name for path in library.iterdir()} <= known:
        raise Broken("orphan", f"{sorted(files - named)} {sorted(path.name for path in library.iterdir())}")


def _swap(library: Path, after: Path, before: Path) -> None:
    library.rename(before)
    after.rename(library)


def _small_disk(folder: Path) -> contextlib.AbstractContextManager[None] | None:
    """A disk of its own for a folder; None where this user may not mount one."""
    command = ["mount", "-t", "tmpfs", "-o", "size=300k", "tmpfs", str(folder)]
    if os.geteuid() or subprocess.run(command, capture_output=True).returncode:
        return None

    @contextlib.contextmanager
    def mounted() -> Iterator[None]:
        try:
            yield
        finally:
            subprocess.run(["umount", "-l", folder], check=True)

    return mounted()


def _grow(folder: Path) -> None:
    subprocess.run(["mount", "-o", "remount,size=64m", folder], check=True)
