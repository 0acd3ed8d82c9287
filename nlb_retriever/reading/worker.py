"""A process that reads books for ReaderPool, which starts `main`.

It takes limits, then paths on stdin, and answers each on stdout (wire.py). It ends with its
parent: at the end of stdin, or within a second where it is busy. It never sees Ctrl-C, which is
the parent's to handle.
"""

from __future__ import annotations

import os
import resource
import signal
import sys
import threading
import time
from contextlib import suppress
from pathlib import Path

from nlb_retriever.errors import ReadingError, ReadingLimit
from nlb_retriever.reading.book import read_book
from nlb_retriever.reading.limits import Limits, beyond_memory
from nlb_retriever.reading.wire import book_to_wire, encode, receive


def main(parent: int) -> None:
    """Read what a parent asks for, which has this process number."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    _end_with_parent(parent)
    requests = sys.stdin.buffer
    answers = os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)  # whatever a library prints does not reach the parent
    settings = receive(requests)
    if settings is None:
        return
    limits = Limits(**settings)
    _limit(resource.RLIMIT_AS, limits.memory)
    while (request := receive(requests)) is not None:
        spent = resource.getrusage(resource.RUSAGE_SELF)
        _limit(resource.RLIMIT_CPU, int(spent.ru_utime + spent.ru_stime + limits.seconds) + 2)
        path, exhausted = Path(request["path"]), False
        try:
            answer = encode({"book": book_to_wire(read_book(path, limits=limits))})
        except ReadingError as error:
            exhausted = isinstance(error.__cause__, MemoryError)
            answer = encode({"error": type(error).__name__, "text": str(error)})
        except MemoryError:
            exhausted = True
            answer = encode({"error": ReadingLimit.__name__, "text": beyond_memory(path, limits)})
        answers.write(answer)
        answers.flush()
        if exhausted:
            return  # what it holds is unknown: the parent starts another


def _limit(kind: int, value: int) -> None:
    hard = resource.getrlimit(kind)[1]
    with suppress(OSError, ValueError):  # macOS refuses limits of memory: those of time and size remain
        resource.setrlimit(kind, (value if hard == resource.RLIM_INFINITY else min(value, hard), hard))


def _end_with_parent(parent: int) -> None:
    def watch() -> None:
        while os.getppid() == parent:
            time.sleep(0.5)
        os._exit(1)

    threading.Thread(target=watch, daemon=True).start()
