"""What a campaign counts, and how one of its rounds says what went wrong."""

from __future__ import annotations

import contextlib
import random
import shutil
import signal
import tempfile
import time
import traceback
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path

KINDS = ("lost", "doubled", "orphan", "wrong", "wedged", "traceback")
"""Ways in which a round can go wrong."""
WEDGED = 280
"""Seconds after which a round is taken to hang."""


class Broken(Exception):
    """A round in which a promise was broken."""

    def __init__(self, kind: str, what: str) -> None:
        super().__init__(f"{kind}: {what}")
        assert kind in KINDS
        self.kind = kind


@dataclass(kw_only=True)
class Tally:
    """What came of one campaign."""

    name: str
    rounds: int = 0
    faults: int = 0
    """Kills, power cuts, damages, failed writes, hostile inputs."""
    errors: int = 0
    """Of them answered by one clear line."""
    broken: Counter[str] = field(default_factory=Counter)
    details: list[str] = field(default_factory=list)

    def row(self) -> tuple[object, ...]:
        """For the table."""
        return (self.name, self.rounds, self.faults, self.errors, *(self.broken[kind] for kind in KINDS))


Round = Callable[[random.Random, Path, Tally], None]
"""Does one round in a folder of its own; raises `Broken`."""


def repeat(tally: Tally, one: Round, *, seed: int, rounds: int | None = None, seconds: float | None = None) -> Tally:
    """Run rounds until there were so many, or so much time has gone by; each has dice and a folder of its own."""
    end = time.monotonic() + seconds if seconds is not None else float("inf")
    first = tally.rounds
    while (rounds is None or tally.rounds - first < rounds) and time.monotonic() < end:
        name = f"{seed}/{tally.name}/{tally.rounds}"
        folder = Path(tempfile.mkdtemp(prefix="nlb-fault-"))
        try:
            with alarm():
                one(random.Random(name), folder, tally)
        except Broken as error:
            tally.broken[error.kind] += 1
            tally.details.append(f"{name}: {error}")
        except Exception:
            tally.broken["traceback"] += 1
            tally.details.append(f"{name}: {traceback.format_exc()}")
        finally:
            tally.rounds += 1
            shutil.rmtree(folder, ignore_errors=True)
    return tally


@contextlib.contextmanager
def alarm(seconds: int = WEDGED) -> Iterator[None]:
    """End what takes longer as wedged."""

    def ring(*_: object) -> None:
        raise Broken("wedged", f"more than {seconds} s")

    before = signal.signal(signal.SIGALRM, ring)
    signal.alarm(seconds)
    try:
        yield
    finally:
        signal.alarm(0)
        signal.signal(signal.SIGALRM, before)
