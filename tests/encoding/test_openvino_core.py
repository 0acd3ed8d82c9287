"""Encoders come and go without taking the process's signal handling with them."""

from __future__ import annotations

import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest

from nlb_retriever.encoding import load_encoder, openvino_core
from nlb_retriever.encoding.base import pad
from nlb_retriever.encoding.openvino import OpenVinoEncoder
from nlb_retriever.encoding.openvino_core import best_precision, load_openvino, shared_core, usable_cores
from nlb_retriever.reader import find_reader, load_reader

_ENCODERS_THEN_SIGNAL = """
import gc, os, signal, threading
from nlb_retriever.encoding import load_encoder, openvino_core

handled = []
signal.signal(signal.SIGTERM, lambda number, frame: handled.append(number))
encoders = [load_encoder(device="cpu"), load_encoder(use="ask")]
for encoder in encoders:
    encoder.encode(["Call me Ishmael."])
del encoder


def free():
    while encoders:
        encoders.pop(0)
        gc.collect()


{free}
os.kill(os.getpid(), signal.SIGTERM)
print(handled)
"""


@pytest.mark.parametrize(
    "free",
    ["free()", "thread = threading.Thread(target=free); thread.start(); thread.join()"],
    ids=["in the thread that made them", "in another thread"],
)
def test_a_signal_is_handled_after_all_encoders_were_freed(free: str) -> None:
    done = subprocess.run(
        [sys.executable, "-c", _ENCODERS_THEN_SIGNAL.format(free=free)], capture_output=True, text=True, timeout=120
    )
    assert (done.returncode, done.stdout) == (0, f"[{int(signal.SIGTERM)}]\n"), done.stderr


_ENCODER_THEN_FORK = """
import os, sys
from nlb_retriever.encoding import load_encoder
from nlb_retriever.reader import find_reader, load_reader

encoder, reader = load_encoder(use="ask"), load_reader(find_reader())
before = encoder.encode(["Call me Ishmael."])
reader.read("Who sings?", ["Ishmael sings."])
for use in (lambda: encoder, lambda: load_encoder(use="ask"), None):
    if child := os.fork():
        print(os.waitpid(child, 0)[1], flush=True)
        continue
    if use:
        print(bool((use().encode(["Call me Ishmael."]) == before).all()), flush=True)
        reader.read("Who sings?", ["Ishmael sings."])
    sys.exit()
"""


def test_a_forked_child_loads_its_own_models_and_ends_well() -> None:
    command = [sys.executable, "-W", "ignore::DeprecationWarning", "-c", _ENCODER_THEN_FORK]
    done = subprocess.run(command, capture_output=True, text=True, timeout=100)
    assert (done.stdout.split(), done.stderr) == (["True", "0", "True", "0", "0"], "")


_ENCODER_FREED_THEN_FORK = """
import os, sys
from nlb_retriever.encoding import load_encoder
from nlb_retriever.errors import EncoderError

load_encoder(use="ask").encode(["Call me Ishmael."])
if child := os.fork():
    sys.exit(os.waitpid(child, 0)[1])
try:
    load_encoder(use="ask").encode(["Call me Ishmael."])
except EncoderError as error:
    print(error)
"""


def test_a_child_of_a_process_that_freed_a_model_is_refused_and_does_not_wait() -> None:
    command = [sys.executable, "-W", "ignore::DeprecationWarning", "-c", _ENCODER_FREED_THEN_FORK]
    done = subprocess.run(command, capture_output=True, text=True, timeout=60)
    assert (done.returncode, done.stdout[:30], done.stderr) == (0, "this process was forked from o", "")


_DAEMONS_AT_WORK = """
import atexit, threading
from nlb_retriever.encoding import load_encoder
from nlb_retriever.reader import find_reader, load_reader

encoder, reader = load_encoder(use="ask"), load_reader(find_reader())
atexit.register(lambda: print(encoder.encode(["Call me Ishmael."]).shape))
begun = threading.Barrier(5)


def work(call):
    call()
    begun.wait()
    while True:
        call()


calls = [lambda: encoder.encode_parts(["Ahab."], [[0]]), lambda: reader.read("Who sings?", ["Ishmael sings."])]
for call in calls * 2:
    threading.Thread(target=work, args=(call,), daemon=True).start()
begun.wait()
"""


def test_a_process_ends_well_while_daemon_threads_encode_and_read() -> None:
    done = subprocess.run([sys.executable, "-c", _DAEMONS_AT_WORK], capture_output=True, text=True, timeout=60)
    assert (done.returncode, done.stdout, done.stderr) == (0, "(1, 384)\n", "")


def test_what_runs_is_waited_for_after_an_interrupt(monkeypatch: pytest.MonkeyPatch) -> None:
    encoder = load_encoder(use="ask")
    assert isinstance(encoder, OpenVinoEncoder)
    rows = iter(range(2))
    taken: list[int] = []

    def interrupt(*args: Any, **kwargs: Any) -> Any:
        if next(rows):
            raise KeyboardInterrupt
        return pad(*args, **kwargs)

    monkeypatch.setattr("nlb_retriever.encoding.openvino.pad", interrupt)
    with pytest.raises(KeyboardInterrupt):
        encoder._run([[[101, *[2000] * 250, 102]] * 64] * 2, lambda index, *_: taken.append(index))
    assert taken == [0]


def read_aloud() -> Callable[[], object]:
    folder = find_reader()
    assert folder
    reader = load_reader(folder)
    return lambda: reader.read("Who kept the lighthouse?", ["Old Tobias kept the lighthouse."])


def encode() -> Callable[[], object]:
    encoder = load_encoder(use="ask")
    return lambda: encoder.encode_parts(["Who kept the lighthouse?"], [[0]])


@pytest.mark.parametrize("model", [encode, read_aloud])
@pytest.mark.usefixtures("no_locks")
def test_one_of_several_threads_loads_a_model(
    model: Callable[[], Callable[[], object]], monkeypatch: pytest.MonkeyPatch
) -> None:
    loading: set[int] = set()

    def load_slowly() -> Any:
        loading.add(threading.get_ident())
        time.sleep(0.05)
        return shared_core()

    use = model()
    monkeypatch.setattr("nlb_retriever.encoding.compiled.shared_core", load_slowly)
    together = threading.Barrier(6)

    def start(_: int) -> None:
        together.wait()
        use()

    with ThreadPoolExecutor(6) as threads:
        list(threads.map(start, range(6)))
    assert len(loading) == 1


def test_an_interrupt_while_it_is_imported_is_an_interrupt(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """Its binary part turns the KeyboardInterrupt into an ImportError."""
    code = 'raise ImportError("initialization failed") from KeyboardInterrupt()'
    (tmp_path / "openvino.py").write_text(code)
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.delitem(sys.modules, "openvino", raising=False)
    with pytest.raises(KeyboardInterrupt):
        load_openvino()


@pytest.mark.parametrize(
    ("own", "files", "cores"),
    [
        ("0::/\n", {"cpu.max": "200000 100000"}, 2),
        ("0::/\n", {"cpu.max": "max 100000"}, 16),
        ("0::/\n", {"cpu.max": "50000 100000"}, 1),
        ("0::/\n", {}, 16),
        ("0::/a/b.service\n", {"a/cpu.max": "300000 100000", "a/b.service/cpu.max": "max 100000"}, 3),
        ("0::/a\n", {"a/cpu.max": "9900000 100000"}, 16),
        ("0::/../../kubepods/x\n", {"cpu.max": "799000 100000"}, 7),
        (
            "3:memory:/x\n2:cpu,cpuacct:/docker/x\n0::/\n",
            {"cpu/cpu.cfs_quota_us": "400000", "cpu/cpu.cfs_period_us": "100000"},
            4,
        ),
        ("2:cpuset:/\n1:cpu:/\n", {"cpu/cpu.cfs_quota_us": "-1", "cpu/cpu.cfs_period_us": "100000"}, 16),
    ],
)
def test_no_more_cores_are_used_than_a_container_is_granted(
    own: str, files: dict[str, str], cores: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "own").write_text(own)
    for name, content in files.items():
        (tmp_path / "groups" / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / "groups" / name).write_text(content + "\n")
    monkeypatch.setattr(openvino_core, "_OWN_GROUPS", tmp_path / "own")
    monkeypatch.setattr(openvino_core, "_GROUPS", tmp_path / "groups")
    monkeypatch.setattr("os.sched_getaffinity", lambda _: set(range(16)), raising=False)
    assert usable_cores() == cores


@pytest.mark.parametrize(
    ("lines", "precision"),
    [
        ("model name\t: of 2019\nflags\t\t: fma avx2 avx512f avx512_vnni\n", "int8"),
        ("flags\t\t: fma avx2 avx_vnni\n", "int8"),
        ("flags\t\t: fma avx2\nmodel name\t: vnni\nflags\t\t: fma avx2\n", "fp32"),
        ("processor\t: 0\nFeatures\t: fp asimd asimddp i8mm\n", "fp32"),
        (None, "fp32"),
    ],
)
def test_models_run_in_int8_where_the_cpu_has_instructions_for_it(
    lines: str | None, precision: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    if lines is not None:
        (tmp_path / "cpuinfo").write_text(lines)
    monkeypatch.setattr(openvino_core, "_CPUS", tmp_path / "cpuinfo")
    assert best_precision() == precision
