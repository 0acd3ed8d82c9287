"""Books read in worker processes, so that no file can take the run down."""

from __future__ import annotations

import logging
import os
import select
import signal
import subprocess
import sys
import threading
import time
from collections import deque
from collections.abc import Iterable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import suppress
from dataclasses import asdict
from pathlib import Path

from nlb_retriever.errors import ReadingError, ReadingLimit
from nlb_retriever.reading.limits import DEFAULT, Limits, beyond_memory, shown
from nlb_retriever.reading.wire import HEADER_BYTES, body_length, book_from_wire, decode, encode, error_from_wire
from nlb_retriever.records import Book

logger = logging.getLogger(__name__)

_AHEAD = 1
"""Books each worker may have read before they are asked for."""
_ROOT = Path(__file__).resolve().parents[2]
_MAIN = "from nlb_retriever.reading.worker import main; main"


class ReaderPool:
    """Reads files in order, some of them ahead, each in a process with limits.

    A file that crashes, hangs or exhausts its worker gives a ReadingError; the worker is replaced
    and the run goes on. Use as a context manager: leaving it ends the workers at once.
    """

    def __init__(self, workers: int = 1, limits: Limits = DEFAULT) -> None:
        self._limits = limits
        self._count = max(1, workers)
        self._idle: deque[_Worker] = deque()
        self._all: list[_Worker] = []
        self._lock = threading.Lock()
        self._threads: ThreadPoolExecutor | None = None
        self._closed = False

    def __enter__(self) -> ReaderPool:
        self._threads = ThreadPoolExecutor(self._count, thread_name_prefix="reader")
        return self

    def __exit__(self, *_: object) -> None:
        self._closed = True
        if self._threads:
            self._threads.shutdown(wait=False, cancel_futures=True)
        with self._lock:
            for worker in self._all:
                worker.kill()
        if self._threads:
            self._threads.shutdown(wait=True)

    def read(self, files: Iterable[Path]) -> Iterator[tuple[Path, Book | ReadingError]]:
        """Yield every file with its book, or with why there is none, in the order of `files`."""
        if self._threads is None:
            raise RuntimeError("use ReaderPool in a with statement")
        pending: deque[tuple[Path, Future[Book | ReadingError]]] = deque()
        todo = iter(files)
        try:
            for path in todo:
                pending.append((path, self._threads.submit(self._read, path)))
                if len(pending) > self._count * _AHEAD:
                    done, future = pending.popleft()
                    yield done, future.result()
            while pending:
                done, future = pending.popleft()
                yield done, future.result()
        finally:
            for _, future in pending:
                future.cancel()

    def _read(self, path: Path) -> Book | ReadingError:
        with self._lock:
            if self._closed:
                return ReadingError(f"{shown(path)}: reading was stopped")
            try:
                worker = self._idle.popleft() if self._idle else _Worker(self._limits)
            except OSError as error:
                return ReadingError(f"{shown(path)}: no process could be started to read it ({error.strerror})")
            if worker not in self._all:
                self._all.append(worker)
        result = worker.read(path)
        with self._lock:
            if worker.alive():
                self._idle.append(worker)
            else:
                self._all.remove(worker)
        return result


class _Worker:
    """One worker process and the pipe to it."""

    def __init__(self, limits: Limits) -> None:
        self._limits = limits
        self._process = subprocess.Popen(
            [_interpreter(), "-c", f"import sys; sys.path[:] = {_module_paths()!r}; {_MAIN}({os.getpid()})"],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            cwd=_ROOT,
            start_new_session=True,
        )
        self._send(encode(asdict(limits)))

    def read(self, path: Path) -> Book | ReadingError:
        path = Path(os.path.abspath(path))  # noqa: PTH100 - the worker has another folder
        self._send(encode({"path": os.fspath(path)}))
        body = self._receive(time.monotonic() + self._limits.seconds)
        if body is None:
            self.kill()
            return ReadingLimit(f"{shown(path)}: took more than {self._limits.seconds:g} s to read")
        if not body:
            return self._died(path)
        message = decode(body)
        if "book" in message:
            return book_from_wire(message["book"])
        error = error_from_wire(message["error"], message["text"])
        if str(error) == beyond_memory(path, self._limits):  # it ends itself
            self.kill()
        return error

    def alive(self) -> bool:
        return self._process.poll() is None

    def kill(self) -> None:
        if self._process.poll() is None:
            self._process.kill()
        self._process.wait()
        for pipe in (self._process.stdin, self._process.stdout):
            if pipe:
                with suppress(OSError):
                    pipe.close()

    def _send(self, message: bytes) -> None:
        assert self._process.stdin
        with suppress(OSError, ValueError):  # it died: the answer will not come
            self._process.stdin.write(message)
            self._process.stdin.flush()

    def _receive(self, deadline: float) -> bytes | None:
        """The answer's body; empty where the worker died, None where time ran out."""
        assert self._process.stdout
        buffer = bytearray()
        length: int | None = None
        while length is None or len(buffer) < HEADER_BYTES + length:
            left = deadline - time.monotonic()
            try:
                ready = left > 0 and select.select([self._process.stdout], [], [], left)[0]
                if not ready:
                    return None
                piece = os.read(self._process.stdout.fileno(), 1 << 20)
            except (OSError, ValueError):
                return b""
            if not piece:
                return b""
            buffer += piece
            if length is None and len(buffer) >= HEADER_BYTES:
                length = body_length(bytes(buffer[:HEADER_BYTES]))
        return bytes(buffer[HEADER_BYTES:])

    def _died(self, path: Path) -> ReadingError:
        self.kill()
        code = self._process.returncode
        if code == -signal.SIGXCPU:
            return ReadingLimit(f"{shown(path)}: took more than {self._limits.seconds:g} s of processor time to read")
        how = signal.Signals(-code).name if code < 0 else f"exit status {code}"
        logger.debug("worker died reading %s: %s", shown(path), how)
        return ReadingLimit(f"{shown(path)}: its reader crashed ({how}); the file is damaged or needs too much memory")


def _interpreter() -> str:
    """Python: not the program that holds it, such as uWSGI, which `sys.executable` may name."""
    own = Path(sys.executable or "")
    installed = Path(sys.prefix, "bin", f"python{sys.version_info.major}.{sys.version_info.minor}")
    return str(own if own.name.lower().startswith(("python", "pypy")) or not installed.exists() else installed)


def _module_paths() -> list[str]:
    """Where this process finds its modules, whoever set it; the script's folder and the current one last."""
    users = {Path(getattr(sys.modules["__main__"], "__file__", None) or "/").absolute().parent}
    with suppress(OSError):  # it was removed
        users.add(Path.cwd())
    paths = sorted((Path(path).absolute() for path in sys.path if path), key=users.__contains__)
    return [str(path) for path in dict.fromkeys([_ROOT, *paths])]
