"""The process's one OpenVINO runtime, which is never freed.

OpenVINO's CPU plugin gives the thread that loads it an alternate signal stack and unmaps that stack when its
runtime is freed, whichever thread frees it. The next signal that Python handles in the first thread then ends the
process with a segmentation fault, or overwrites what has been mapped there since (openvino 2026.4).

A process that was forked after it was loaded gets a runtime of its own. What it has of its parent's is never freed,
either: that would wait for threads, or end some, that are not there, and the process would hang at its end, or abort.
"""

from __future__ import annotations

import atexit
import ctypes
import math
import os
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager, nullcontext, suppress
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import openvino

_WRONG_WIDTH = 32
"""On a CPU with bf16, OpenVINO 2025.3 to 2026.4 runs rows of 32 tokens wrongly (int8 MiniLM: cosine 0.73)."""
_CPUS = Path("/proc/cpuinfo")
_OWN_GROUPS, _GROUPS = Path("/proc/self/cgroup"), Path("/sys/fs/cgroup")
_TELEMETRY, _CONVERTER = "openvino_telemetry", "openvino.tools.ovc"
_lock = threading.RLock()
_LAST_CALLS = 10
"""Seconds that a process waits for them at its end."""
_daemons: list[int] = []
"""Daemon threads in `model_call`, by their numbers."""
_is_ending = threading.Event()
_is_child = threading.Event()
"""This process was forked from one that had loaded the runtime."""


@contextmanager
def without_telemetry() -> Iterator[None]:
    """Import OpenVINO or NNCF in it: they would report each import to their makers, from a forked process."""
    with _without(_TELEMETRY):
        yield


@contextmanager
def _without(name: str) -> Iterator[None]:
    """Let the import of a module fail, for which its importers are ready."""
    with _lock:
        was_there, before = name in sys.modules, sys.modules.get(name)
        sys.modules[name] = None  # type: ignore[assignment]
        try:
            yield
        finally:
            del sys.modules[name]
            if was_there:
                sys.modules[name] = before  # type: ignore[assignment]


def load_openvino() -> Any:
    """The package openvino, imported without its telemetry; what converts models, when it is first asked for.

    The converter takes as long to import as all the rest.
    """
    with without_telemetry():
        is_first = "openvino" not in sys.modules
        try:
            with _without(_CONVERTER) if is_first else nullcontext():
                import openvino
        except ImportError as error:
            if isinstance(error.__cause__, KeyboardInterrupt):  # Ctrl-C while its binary part was initialized
                raise error.__cause__ from None
            raise
        if is_first:
            vars(openvino)["__getattr__"] = _import_converter
    return openvino


def _import_converter(name: str) -> Any:
    """Import `openvino.convert_model`, for whoever asks for it."""
    if name != "convert_model":
        raise AttributeError(f"module 'openvino' has no attribute {name!r}")
    with without_telemetry():
        from openvino.tools.ovc import convert_model
    return convert_model


def shared_core() -> openvino.Core:
    """The process's runtime, with its CPU plugin loaded; all calls give the same one."""
    with _lock:
        return _open()


@cache
def _open() -> openvino.Core:
    core: openvino.Core = load_openvino().Core()
    core.get_property("CPU", "FULL_DEVICE_NAME")  # loads the plugin
    atexit.register(_end_calls)
    if _is_child.is_set():
        never_free(core)  # it would end the threads of models that the parent has freed
    return core


def never_free(thing: object) -> None:
    """Keep an object, and all that it holds, beyond the end of the interpreter."""
    ctypes.pythonapi.Py_IncRef(ctypes.py_object(thing))


def _start_anew() -> None:
    """In a forked child: its parent's threads, and what they hold, are not there."""
    global _lock  # noqa: PLW0603 - another thread of the parent may hold it
    _lock = threading.RLock()
    _daemons.clear()
    if _open.cache_info().currsize:
        _is_child.set()
        never_free(_open())
        _open.cache_clear()


os.register_at_fork(after_in_child=_start_anew)


@contextmanager
def model_call() -> Iterator[None]:
    """For all that calls a model or its tokenizer: a process that ends waits for the daemon threads in it.

    Python ends a daemon thread where it comes back from C++ or Rust, whose frames cannot be unwound: the process would
    abort. Other threads are waited for by Python itself.

    Raises:
        SystemExit: the process is ending; it ends this daemon thread.
    """
    if not threading.current_thread().daemon:
        yield
        return
    number = threading.get_ident()
    _daemons.append(number)
    try:
        if _is_ending.is_set():
            raise SystemExit
        yield
    finally:
        _daemons.remove(number)


def _end_calls() -> None:
    """Let no daemon thread begin a call any more, and wait for those that have."""
    _is_ending.set()
    last = time.monotonic() + _LAST_CALLS
    while _daemons and time.monotonic() < last:
        time.sleep(0.01)


def best_precision() -> str:
    """What the shipped models run best in on this CPU: "int8" on an x86 one with VNNI, else "fp32".

    Without VNNI (most of Intel before 2021, AMD before Zen 4) int8 takes more instructions than fp32, and sums of two
    products saturate. On ARM some versions of OpenVINO multiply int8 wrongly (its issue 34673, pull request 36764).
    """
    with suppress(OSError), _CPUS.open(encoding="utf-8", errors="replace") as lines:  # another system has none
        for line in lines:
            if line.startswith("flags"):
                return "int8" if "vnni" in line else "fp32"
    return "fp32"


def usable_cores() -> int:
    """How many cores this process may use; where nobody can say, as on macOS, how many there are."""
    cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    return max(1, int(min(cores, _granted_cores())))


def _granted_cores() -> float:
    """The time of how many cores control groups grant (`docker --cpus`, limits of Kubernetes, systemd's CPUQuota).

    OpenVINO does not look: with a thread for each core of a large machine it would be stopped most of the time.
    """
    granted = math.inf
    with suppress(OSError):  # another system, or nothing is mounted
        for line in _OWN_GROUPS.read_text().splitlines():
            _, controllers, path = line.split(":", 2)
            if controllers and "cpu" not in controllers.split(","):
                continue
            top = _GROUPS / "cpu" if controllers else _GROUPS
            group = top / path.lstrip("/")  # in a container often as it is seen from outside: then only `top` is there
            while group.is_relative_to(top):
                granted = min(granted, _quota(group))
                group = group.parent
    return granted


def _quota(group: Path) -> float:
    """Cores that a control group of version 2 or 1 grants."""
    for names in (("cpu.max",), ("cpu.cfs_quota_us", "cpu.cfs_period_us")):
        with suppress(OSError, ValueError):  # it has no such file; or "max"
            quota, period = map(int, " ".join((group / name).read_text() for name in names).split())
            return quota / period if quota > 0 else math.inf
    return math.inf


def row_width(longest: int, *, step: int) -> int:
    """Tokens that rows are padded to: a multiple, as OpenVINO keeps compiled code for every width that it has seen."""
    width = -(-longest // step) * step
    return width + step if width == _WRONG_WIDTH else width
