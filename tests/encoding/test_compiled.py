"""Compiled encoders are kept between processes, and a damaged one is never used."""

from __future__ import annotations

import gc
import hashlib
import logging
import os
import shutil
import time
import weakref
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any, Literal
from unittest.mock import Mock

import numpy as np
import pytest

from nlb_retriever.encoding import Vectors, compiled, load_encoder
from nlb_retriever.encoding.compiled import reason_of
from nlb_retriever.encoding.load import DEFAULT_FOLDER, load_torch_encoder
from nlb_retriever.encoding.openvino import OpenVinoEncoder
from nlb_retriever.encoding.openvino_core import load_openvino
from nlb_retriever.errors import EncoderError

TEXTS = ["Call me Ishmael.", "The sky above the port was grey, and the harbour lay still."]


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Where compiled encoders are kept; empty at first."""
    monkeypatch.setenv("NLB_HOME", str(tmp_path))
    return tmp_path / "cache" / "openvino"


def encode() -> Vectors:
    return load_encoder(use="ask").encode(TEXTS)


def the_file(folder: Path) -> Path:
    (file,) = folder.iterdir()
    return file


def test_a_compiled_encoder_is_not_made_twice(folder: Path) -> None:
    first = encode()
    inode = the_file(folder).stat().st_ino
    np.testing.assert_array_equal(encode(), first)
    assert the_file(folder).stat().st_ino == inode


def test_int8_and_fp32_are_kept_apart_and_near_the_original(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    exact = load_torch_encoder().encode(TEXTS)
    cosines = {}
    for precision in ("int8", "fp32"):
        monkeypatch.setattr("nlb_retriever.encoding.openvino.best_precision", lambda found=precision: found)
        encoder = load_encoder(device="cpu", use="ask")
        assert encoder.backend == f"openvino {precision}"
        cosines[precision] = (encoder.encode(TEXTS) * exact).sum(axis=1)
    assert len(list(folder.iterdir())) == 2
    assert cosines["int8"].min() > 0.99
    assert cosines["fp32"].mean() > cosines["int8"].mean()


def test_what_was_not_used_for_a_month_is_deleted_when_another_is_made(folder: Path) -> None:
    encode()
    used = the_file(folder)
    os.utime(used, (0, 0))
    encode()
    assert used.stat().st_mtime > time.time() - 60
    week, month = time.time() - 7 * 24 * 3600, time.time() - 31 * 24 * 3600
    for name, used_at in (("0.blob", month), (".1.blob.77.part", month), ("2.blob", week), ("notes.txt", month)):
        (folder / name).write_bytes(b"")
        os.utime(folder / name, (used_at, used_at))
    (folder / "3.blob").mkdir()  # nothing can unlink it
    os.utime(folder / "3.blob", (month, month))
    used.unlink()
    encode()
    assert {path.name for path in folder.iterdir()} == {used.name, "2.blob", "3.blob", "notes.txt"}


def zero_a_part(content: bytes) -> bytes:
    middle = len(content) // 2
    return content[:middle] + bytes(1 << 16) + content[middle + (1 << 16) :]


def flip_a_bit(content: bytes) -> bytes:
    position = len(content) // 3
    return content[:position] + bytes([content[position] ^ 1]) + content[position + 1 :]


@pytest.mark.parametrize(
    "damage",
    [zero_a_part, flip_a_bit, lambda content: content[: len(content) // 2], lambda content: content[:9], lambda _: b""],
    ids=["64 KB of zeros", "a flipped bit", "cut in half", "shorter than a checksum", "empty"],
)
def test_a_damaged_file_is_made_again(
    damage: Callable[[bytes], bytes], folder: Path, caplog: pytest.LogCaptureFixture
) -> None:
    first = encode()
    whole = the_file(folder).read_bytes()
    the_file(folder).write_bytes(damage(whole))
    with caplog.at_level(logging.WARNING):
        np.testing.assert_array_equal(encode(), first)
    assert "compiling again" in caplog.text
    made = the_file(folder).read_bytes()  # OpenVINO's export differs by some bytes from time to time
    assert hashlib.sha256(made[:-32]).digest() == made[-32:]
    caplog.clear()
    np.testing.assert_array_equal(encode(), first)
    assert not caplog.text


def test_what_openvino_cannot_import_is_made_again(folder: Path, caplog: pytest.LogCaptureFixture) -> None:
    first = encode()
    alien = b"not a compiled model"
    the_file(folder).write_bytes(alien + hashlib.sha256(alien).digest())
    with caplog.at_level(logging.WARNING):
        np.testing.assert_array_equal(encode(), first)
    assert "cannot import" in caplog.text


def test_a_folder_that_cannot_be_written_is_no_obstacle(folder: Path) -> None:
    folder.parent.write_text("a file where the folder should be")
    assert encode().shape == (2, 384)


def test_a_full_disk_while_writing_leaves_nothing_behind(
    folder: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    def fail(self: Path, target: Path) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(Path, "replace", fail)
    with caplog.at_level(logging.WARNING):
        assert encode().shape == (2, 384)
    assert "No space left on device" in caplog.text
    assert list(folder.iterdir()) == []


def test_the_check_of_a_models_files_needs_no_compiling(folder: Path, tmp_path: Path) -> None:
    copy = tmp_path / "model"
    shutil.copytree(DEFAULT_FOLDER, copy)
    first = load_encoder(copy, use="ask").encode(TEXTS)
    (copy / "model.bin").write_bytes(b"damaged")
    encoder = load_encoder(copy, use="ask")
    assert isinstance(encoder, OpenVinoEncoder)
    with pytest.raises(EncoderError, match=r"model.bin is damaged"):
        encoder.check_files()
    np.testing.assert_array_equal(encoder.encode(TEXTS), first)
    assert the_file(folder).exists()


class _Queue:
    """Requests that OpenVINO cannot run."""

    message = ""

    def __init__(self, *_: object) -> None: ...
    def set_callback(self, take: object) -> None: ...
    def start_async(self, *_: object) -> None: ...
    def __iter__(self) -> Iterator[Any]:
        return iter(())

    def wait_all(self) -> None:
        raise RuntimeError(self.message)


def test_a_request_that_cannot_be_run_is_one_line_that_says_why(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    encoder = load_encoder(use="ask")
    monkeypatch.setattr(load_openvino(), "AsyncInferQueue", _Queue)
    _Queue.message = (
        "Exception from src/infer_request.cpp:246:\nException from src/node.cpp:823:\n[CPU] Add can't alloc\n"
    )
    with pytest.raises(EncoderError, match=r"model \(\[CPU\] Add can't alloc\): is there enough memory\?$"):
        encoder.encode(TEXTS)
    _Queue.message = "our own"
    with pytest.raises(RuntimeError, match="our own"):
        encoder.encode(TEXTS)


@pytest.mark.parametrize("use", ["ask", "index"])
def test_after_an_error_a_model_runs_again(folder: Path, use: Literal["ask", "index"]) -> None:
    encoder = load_encoder(use=use)
    assert isinstance(encoder, OpenVinoEncoder)
    first = encoder.encode(TEXTS)
    rows = np.ones((1, 8), np.int64)
    fitting = {"input_ids": rows, "attention_mask": rows}

    def fail(*_: object) -> None:
        raise MemoryError("no room for the results")

    for odd in (np.ones((1, 16), np.int64), np.ones(7, np.int64)):  # refused as it runs, and before
        begun: list[int] = []
        with pytest.raises((EncoderError, RuntimeError)):
            encoder._model.run(
                [{**fitting, "attention_mask": odd}, *[fitting] * 5], lambda index, *_, begun=begun: begun.append(index)
            )
        count = len(begun)
        np.testing.assert_array_equal(encoder.encode(TEXTS), first)
        assert len(begun) == count, "what was begun had ended"
        with pytest.raises(MemoryError, match="no room"):
            encoder._model.run([fitting] * 5, fail)
        np.testing.assert_array_equal(load_encoder(use=use).encode(TEXTS), first)


def test_encoders_of_one_model_share_it_while_one_of_them_lives(folder: Path) -> None:
    encoders = [load_encoder(use="ask") for _ in range(2)]
    with ThreadPoolExecutor(2) as threads:
        vectors = list(threads.map(lambda encoder: encoder.encode(TEXTS), encoders))
    np.testing.assert_array_equal(*vectors)
    (model,) = compiled._models.values()
    load_encoder(use="index").encode(TEXTS)
    assert list(compiled._models.values()) == [model], "another's settings differ, and it is gone"
    del model
    encoders.pop().encode(TEXTS)
    assert len(compiled._models) == 1
    encoders.clear()
    gc.collect()
    assert not compiled._models


def test_results_are_taken_one_after_another(folder: Path) -> None:
    encoder = load_encoder(use="index")
    assert isinstance(encoder, OpenVinoEncoder)
    rows = np.ones((1, 8), np.int64)
    taking: list[int] = []
    beside: list[int] = []

    def take(index: int, *_: object) -> None:
        taking.append(index)
        time.sleep(0.01)
        beside.append(len(taking))
        taking.remove(index)

    encoder._model.run([{"input_ids": rows, "attention_mask": rows}] * 20, take)
    assert beside == [1] * 20


def test_what_a_model_gave_is_not_kept(folder: Path) -> None:
    encoder = load_encoder(use="ask")
    assert isinstance(encoder, OpenVinoEncoder)
    rows = np.ones((1, 8), np.int64)
    take = Mock()
    taken = weakref.ref(take)
    encoder._model.run([{"input_ids": rows, "attention_mask": rows}], take)
    take.assert_called_once()
    del take
    gc.collect()
    assert taken() is None


@pytest.mark.parametrize(
    ("message", "reason"),
    [
        ("Exception from core.cpp:1:\nException from file.cpp:2:\nThe file is empty.\n\n", "The file is empty."),
        ("Exception from core.cpp:1:\n[Fuse] END: node (f32[1]) HAS THROWN: std::bad_alloc\n", "not enough memory"),
        (
            "Exception from core.cpp:1:\n[Fuse] END: node\nException from a.cpp:7:\nstd::bad_alloc\n",
            "not enough memory",
        ),
    ],
)
def test_an_error_of_openvino_says_its_reason(message: str, reason: str) -> None:
    assert reason_of(RuntimeError(message)).endswith(reason)
