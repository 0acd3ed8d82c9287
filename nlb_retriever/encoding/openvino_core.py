"""The process's one OpenVINO runtime, which is never freed.

OpenVINO's CPU plugin gives the thread that loads it an alternate signal stack and unmaps that stack when its
runtime is freed, whichever thread frees it. The next signal that Python handles in the first thread then ends the
process with a segmentation fault, or overwrites what has been mapped there since (openvino 2026.4).
"""

from __future__ import annotations

import os
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from typing import TYPE_CHECKING, Any

from nlb_retriever.errors import EncoderError

if TYPE_CHECKING:
    import openvino

_WRONG_WIDTH = 32
"""On a CPU with bf16, OpenVINO 2025.3 to 2026.4 runs rows of 32 tokens wrongly (int8 MiniLM: cosine 0.73)."""
_TELEMETRY = "openvino_telemetry"
_lock = threading.RLock()
_opened_in: list[int] = []
"""The process that loaded the runtime."""


@contextmanager
def without_telemetry() -> Iterator[None]:
    """Import OpenVINO or NNCF in it: they would report each import to their makers, from a forked process."""
    with _lock:
        before = sys.modules.get(_TELEMETRY)
        sys.modules[_TELEMETRY] = None  # type: ignore[assignment]  # its import fails, which both are ready for
        try:
            yield
        finally:
            del sys.modules[_TELEMETRY]
            if before:
                sys.modules[_TELEMETRY] = before


def load_openvino() -> Any:
    """The package openvino, imported without its telemetry."""
    with without_telemetry():
        import openvino
    return openvino


def shared_core() -> openvino.Core:
    """The runtime, with its CPU plugin loaded; all calls give the same one.

    Raises:
        EncoderError: this process was forked after it was loaded.
    """
    check_process()
    with _lock:
        return _open()


@cache
def _open() -> openvino.Core:
    core: openvino.Core = load_openvino().Core()
    core.get_property("CPU", "FULL_DEVICE_NAME")  # loads the plugin
    _opened_in.append(os.getpid())
    return core


def check_process() -> None:
    """Refuse to work in a child of the process that loaded the runtime: without its threads all would wait for ever.

    Raises:
        EncoderError: this process was forked after that.
    """
    if _opened_in and _opened_in[0] != os.getpid():
        raise EncoderError(
            "this process was forked from one that had loaded the encoder, whose threads it lacks: search first after"
            " the fork, or start processes by 'spawn'"
        )


def usable_cores() -> int:
    """How many cores this process may use; where nobody can say, as on macOS, how many there are."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def row_width(longest: int, *, step: int) -> int:
    """Tokens that rows are padded to: a multiple, as OpenVINO keeps compiled code for every width that it has seen."""
    width = -(-longest // step) * step
    return width + step if width == _WRONG_WIDTH else width
