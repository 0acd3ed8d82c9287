"""Compiled OpenVINO models kept on disk between processes, each with its own checksum.

A file holds what OpenVINO exports of a compiled model, then the SHA-256 of it; one that was not used for a month is
deleted. OpenVINO's own cache (CACHE_DIR) reads whatever stands in its files: a damaged one gives wrong vectors without
an error.
"""

from __future__ import annotations

import contextlib
import hashlib
import json
import logging
import os
import threading
import time
import weakref
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from nlb_retriever.atomic import write_file
from nlb_retriever.config import home
from nlb_retriever.encoding.openvino_core import load_openvino, never_free, shared_core
from nlb_retriever.errors import EncoderError

if TYPE_CHECKING:
    import openvino

Settings = Mapping[str, str | int]

_KEPT = 30 * 24 * 3600
"""Seconds after its last use."""
_TRACE = "Exception from "
_DIGEST_SIZE = hashlib.sha256().digest_size
_log = logging.getLogger(__name__)


@dataclass(kw_only=True)
class CompiledModel:
    """A compiled model and what it needs to live, in the order in which they are freed."""

    queue: openvino.AsyncInferQueue | None = None
    """Of requests that run it."""
    model: openvino.CompiledModel
    mapping: np.memmap[Any, Any] | None = None
    """The cache file that an imported model reads its weights from."""


class LazyModel:
    """A model that is loaded at its first use: from the cache, or compiled from its files. `share_model` makes it.

    Threads take turns; the first one loads it, and others wait (`functools.cached_property` lets each of them load it
    since Python 3.12, and a queue whose model's file was unmapped ends the process). A forked child loads its own.
    """

    def __init__(
        self,
        path: Path,
        settings: Settings,
        precision: str,
        files: Mapping[str, str],
        requests: int,
        check: Callable[[], None],
    ) -> None:
        self._path = path
        self._settings = settings
        self._precision = precision
        self._files = files
        self._requests = requests
        self._check = check
        self._start()

    def _start(self) -> None:
        self._loading = threading.Lock()
        self._turn = threading.Lock()
        self._is_ready = False
        self._compiled: CompiledModel | None = None

    def load(self) -> CompiledModel:
        """Load it, once.

        Raises:
            EncoderError: a file is missing or damaged, or this process was forked from one that had freed a model.
        """
        if _is_refused.is_set():
            raise EncoderError(
                "this process was forked from one that had loaded an encoder and freed it: search or index first after"
                " the fork, or start processes by 'spawn'"
            )
        with self._loading:
            if self._compiled is None:
                self._compiled = self._compile()
                weakref.finalize(self._compiled, _freed.set).atexit = False
            return self._compiled

    def run(self, inputs: Iterable[Mapping[str, NDArray[np.int64]]], take: Callable[..., None]) -> None:
        """Run it on some inputs; when this ends, all that were begun have run.

        After Ctrl-C, too: what runs while the process ends reads memory that is gone.

        Args:
            inputs: arrays by the names of the model's inputs.
            take: called with an input's index and the arrays that the model makes of it, one after another in any
                order, in another thread; the arrays are overwritten afterwards.

        Raises:
            EncoderError: OpenVINO could not run it; else as `load`.
        """
        compiled = self.load()
        errors: list[BaseException] = []

        def keep(request: Any, index: int) -> None:
            try:
                take(index, *(tensor.data for tensor in request.output_tensors))
            except BaseException as error:  # a queue would raise it twice, which ends the process
                errors.append(error)

        takers = [keep]
        with self._turn:
            if compiled.queue is None or not self._is_ready:
                compiled.queue = load_openvino().AsyncInferQueue(compiled.model, self._requests)
                compiled.queue.set_callback(_deliver)
            self._is_ready = False  # after an error it raises the same for ever, or lacks a request
            try:
                _run_all(compiled.queue, ((each, (takers, index)) for index, each in enumerate(inputs)))
                self._is_ready = True
            except RuntimeError as error:
                if not str(error).startswith(_TRACE):
                    raise
                reason = reason_of(error)
                raise EncoderError(f"OpenVINO cannot run its model ({reason}): is there enough memory?") from error
            finally:
                takers.clear()  # the queue keeps the list
        if errors:
            raise errors[0]

    def _compile(self) -> CompiledModel:
        cache = cache_path(self._files, self._settings, self._precision)
        if cache and (kept := read_compiled(cache, self._settings)):
            return kept
        self._check()
        try:
            source = shared_core().read_model(self._path)
            if self._precision == "fp32":
                drop_quantization(source)
            model = shared_core().compile_model(source, "CPU", dict(self._settings))
        except RuntimeError as error:
            raise EncoderError(f"OpenVINO cannot load {self._path}: {reason_of(error)}") from error
        if cache:
            write_compiled(model, cache)
        return CompiledModel(model=model)

    def start_anew(self) -> None:
        """In a forked child: forget what was loaded, whose threads are the parent's (`openvino_core`)."""
        never_free(self._compiled)
        self._start()


def _run_all(queue: openvino.AsyncInferQueue, jobs: Iterable[tuple[Mapping[str, NDArray[np.int64]], Any]]) -> None:
    try:
        for inputs, userdata in jobs:
            queue.start_async(inputs, userdata)
    finally:
        try:
            queue.wait_all()
        except RuntimeError:  # of the first that failed: others may run yet
            for request in queue:
                with contextlib.suppress(RuntimeError):
                    request.wait()
            raise


def _deliver(request: Any, userdata: tuple[Sequence[Callable[[Any, int], None]], int]) -> None:
    """Let a run take its results.

    A queue's one callback: of one that was replaced an OpenVINO thread may hold the last reference, and end the process
    with it if it ends.
    """
    takers, index = userdata
    takers[0](request, index)


_models: weakref.WeakValueDictionary[tuple[Any, ...], LazyModel] = weakref.WeakValueDictionary()
"""Those of this process."""
_sharing = threading.Lock()
_freed = threading.Event()
"""A compiled model was freed: OpenVINO gives its threads to the next one, in a forked child, too, which lacks them."""
_is_refused = threading.Event()


def share_model(
    path: Path,
    settings: Settings,
    *,
    precision: str,
    files: Mapping[str, str],
    requests: int,
    check: Callable[[], None],
) -> LazyModel:
    """A model, the same one for all who use it in this process, as a `Retriever` for each library, while one does.

    Args:
        path: the model.
        settings: what it is compiled with.
        precision: "int8", or "fp32" for `drop_quantization`.
        files: names and SHA-256 of all that is compiled.
        requests: how many run at a time.
        check: called before it is compiled; refuses damaged files.
    """
    key = (path, precision, *sorted(files.items()), *sorted(settings.items()), requests)
    with _sharing:
        return _models.setdefault(key, LazyModel(path, settings, precision, files, requests, check))


def _start_anew() -> None:
    if _freed.is_set():
        _is_refused.set()
    for model in list(_models.values()):
        model.start_anew()
    _sharing.release()


os.register_at_fork(before=_sharing.acquire, after_in_parent=_sharing.release, after_in_child=_start_anew)


def drop_quantization(model: openvino.Model) -> None:
    """Let activations stay in fp32; weights stay int8 in memory, and OpenVINO multiplies with what they stand for."""
    for node in model.get_ops():
        if node.get_type_name() == "FakeQuantize":
            node.output(0).replace(node.input_value(0))


def cache_path(files: Mapping[str, str], settings: Settings, precision: str) -> Path | None:
    """The file that keeps a model as compiled by this OpenVINO for this CPU; None where nothing can be written.

    Args:
        files: names and SHA-256 of the model's files.
        settings: what it is compiled with.
        precision: as of `share_model`.
    """
    folder = home() / "cache" / "openvino"
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError:
        return None
    if not os.access(folder, os.W_OK):
        return None
    cpu = [str(shared_core().get_property("CPU", name)) for name in ("FULL_DEVICE_NAME", "OPTIMIZATION_CAPABILITIES")]
    key = json.dumps([load_openvino().__version__, cpu, precision, dict(files), dict(settings)], sort_keys=True)
    return folder / f"{hashlib.sha256(key.encode()).hexdigest()[:16]}.blob"


def read_compiled(path: Path, settings: Settings) -> CompiledModel | None:
    """Import what `write_compiled` wrote; None where there is nothing or it is damaged."""
    try:
        # Private and writable, as openvino.Tensor wants it; nothing writes.
        mapping = np.memmap(path, dtype=np.uint8, mode="c")
    except FileNotFoundError:
        return None
    except (OSError, ValueError) as error:  # the second: an empty file
        _log.warning("the compiled encoder %s cannot be read (%s): compiling again", path, error)
        return None
    blob, digest = mapping[:-_DIGEST_SIZE], mapping[-_DIGEST_SIZE:]
    if hashlib.sha256(blob.data).digest() != digest.tobytes():
        _log.warning("the compiled encoder %s is damaged: compiling again", path)
        return None
    tensor = load_openvino().Tensor(blob, shared_memory=True)
    try:
        model = shared_core().import_model(tensor, "CPU", dict(settings))
    except RuntimeError as error:
        _log.warning("OpenVINO cannot import the compiled encoder %s (%s): compiling again", path, reason_of(error))
        return None
    with contextlib.suppress(OSError):
        os.utime(path)  # it is used
    return CompiledModel(model=model, mapping=mapping)


def write_compiled(model: openvino.CompiledModel, path: Path) -> None:
    """Keep a compiled model at `path`, replaced in one step; without it the next process compiles again."""
    _remove_unused(path.parent)
    blob = model.export_model().getbuffer()
    digest = hashlib.sha256(blob).digest()
    try:
        write_file(path, lambda stream: (stream.write(blob), stream.write(digest)))
    except OSError as error:
        _log.warning("the compiled encoder cannot be kept in %s (%s)", path.parent, error.strerror)


def _remove_unused(folder: Path) -> None:
    """Delete what former versions, or processes that were killed, left; what cannot be deleted is no error."""
    with contextlib.suppress(OSError):
        for path in folder.glob("*.blob*"):
            with contextlib.suppress(OSError):
                if path.stat().st_mtime < time.time() - _KEPT:
                    path.unlink()


def reason_of(error: Exception) -> str:
    """The first line of an error's message that says something; OpenVINO names the lines of its source before."""
    if "std::bad_alloc" in str(error):  # in any line
        return "there is not enough memory"
    lines = [line.strip() for line in str(error).splitlines() if line.strip()]
    return next((line for line in lines if not line.startswith(_TRACE)), lines[0] if lines else type(error).__name__)
