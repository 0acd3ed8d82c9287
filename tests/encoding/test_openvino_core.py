"""Encoders come and go without taking the process's signal handling with them."""

from __future__ import annotations

import signal
import subprocess
import sys

import pytest

_ENCODERS_THEN_SIGNAL = """
import gc, os, signal, threading
from nlb_retriever.encoding import load_encoder

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
