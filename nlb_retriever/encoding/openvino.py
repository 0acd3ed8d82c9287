"""The chunk encoder, quantized to int8, through OpenVINO: the fast way on a CPU, and no torch."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Sequence
from functools import partial
from pathlib import Path
from typing import Any

from nlb_retriever.encoding.base import (
    EncoderIdentity,
    Parts,
    Take,
    Vectors,
    encode_parts,
    encode_windows,
    open_tokenizer,
    pad,
)
from nlb_retriever.encoding.compiled import share_model
from nlb_retriever.encoding.openvino_core import best_precision, model_call, row_width, shared_core, usable_cores
from nlb_retriever.errors import EncoderError

CONFIG_FILE = "encoder.json"
MODEL_FILE = "model.xml"
WEIGHTS_FILE = "model.bin"
TOKENIZER_FILE = "tokenizer.json"
LAYERS_FILE = "layers.safetensors"
"""For torch, in half precision: the weights that differ from all-MiniLM-L6-v2's. May be left out."""
FACTS_FILE = "facts.npy"
"""What tells questions on facts of the world, a float32 array (D + 1,). The default encoder's alone is used."""
SALIENCE_FILE = "salience.npy"
"""What tells which sentences say most of a text, a float32 array (2, D). The default encoder's alone is used."""
TERMS_FILE = "terms.npy"
"""The `TermProjection`. The default encoder's alone is used."""

_BATCH_TOKENS = 8 * 256
"""Tokens a batch: measured best with one stream a core (benchmarks/encoder.py); its activations
fit in a core's cache."""

_MANY = 32
"""So many texts, as the sentences of a chapter, are taken together by one stream, too: twice as fast as one by one."""
_WIDTH_STEP = 8
_SHAPES_KEPT = 64
"""OpenVINO keeps compiled code and memory for every shape of input that it has seen. Rows are padded to a
multiple of the first, and the second bounds how much is kept: as fast, and nothing grows."""


def read_identity(folder: Path) -> EncoderIdentity:
    """Read which model an OpenVINO folder holds, without loading it.

    Raises:
        EncoderError: the folder's description is missing or damaged.
    """
    return _identity(_read_config(folder), folder)


class OpenVinoEncoder:
    """A sentence encoder as OpenVINO IR: token ids and mask in, unit vectors and token states out. Threads take turns.

    Args:
        folder: holds encoder.json, model.xml, model.bin and tokenizer.json, as
            nlb_training.quantize writes them.
        latency: optimise for one short text (a question) rather than for many.

    Raises:
        EncoderError: encoder.json or the tokenizer is missing or damaged. The model's own files are checked when they
            are compiled, at the first text.
    """

    def __init__(self, folder: Path, *, latency: bool = False) -> None:
        self._folder = folder
        self._config = _read_config(folder)
        self.identity = _identity(self._config, folder)
        precision = best_precision()
        self.backend = f"openvino {precision}"
        threads = usable_cores()
        self._streams = 1 if latency else threads
        self._model = share_model(
            folder / MODEL_FILE,
            {
                "NUM_STREAMS": self._streams,
                "INFERENCE_NUM_THREADS": threads,
                "CPU_RUNTIME_CACHE_CAPACITY": _SHAPES_KEPT,
                "PERFORMANCE_HINT": "LATENCY" if self._streams == 1 else "THROUGHPUT",
            },
            precision=precision,
            files=self._config["files"],
            # of several streams none waits while results are taken: 3% faster
            requests=self._streams + 1 if self._streams > 1 else 1,
            check=partial(_check_files, folder, self._config),
        )
        # Here rather than at the first text: what is left then needs no interpreter, so that a caller can open
        # its library in another thread meanwhile.
        shared_core()
        check_file(folder, TOKENIZER_FILE, self._config)
        self.tokenizer = open_tokenizer(folder / TOKENIZER_FILE)

    @model_call()
    def encode(self, texts: Sequence[str], *, query: bool = False) -> Vectors:
        """See `ChunkEncoder.encode`."""
        options = self._input(query=query)
        if len(texts) >= _MANY and not query:
            options["batch_tokens"] = max(options["batch_tokens"], _BATCH_TOKENS // 2)
        return encode_windows(texts, self.tokenizer, forward=self._forward, **options)

    @model_call()
    def encode_parts(
        self,
        texts: Sequence[str],
        starts: Sequence[Sequence[int]],
        offsets: Sequence[Sequence[int]] = (),
        *,
        query: bool = False,
    ) -> Parts:
        """See `ChunkEncoder.encode_parts`."""
        if len(self._model.load().model.outputs) == 1:  # made by a former version
            return Parts(whole=self.encode(texts, query=query), spans=[], states=[])
        return encode_parts(texts, starts, offsets, self.tokenizer, forward=self._run, **self._input(query=query))

    def _input(self, *, query: bool) -> dict[str, Any]:
        return {
            "identity": self.identity,
            "prompt": self._config["query_prompt" if query else "passage_prompt"],
            "batch_tokens": _BATCH_TOKENS if self._streams > 1 else 1,
        }

    def _forward(self, batches: list[list[list[int]]]) -> list[Vectors]:
        results: list[Any] = [None] * len(batches)

        def keep(batch: int, vectors: Vectors, _: Sequence[Vectors] = ()) -> None:
            results[batch] = vectors.copy()

        self._run(batches, keep)
        return results

    def _run(self, batches: list[list[list[int]]], take: Take) -> None:
        """Run batches; what `take` gets of each is overwritten afterwards."""
        width_of = partial(row_width, step=_WIDTH_STEP)
        padded = (pad(rows, self._config["padding_id"], width_of=width_of) for rows in batches)
        self._model.run(({"input_ids": ids, "attention_mask": mask} for ids, mask in padded), take)

    def check_files(self) -> None:
        """Compare the model's files with encoder.json, as is done before they are compiled.

        Raises:
            EncoderError: one is missing or damaged.
        """
        _check_files(self._folder, self._config)


def _check_files(folder: Path, config: dict[str, Any]) -> None:
    for name in (MODEL_FILE, WEIGHTS_FILE, TOKENIZER_FILE):
        check_file(folder, name, config)


def check_file(folder: Path, name: str, config: dict[str, Any]) -> None:
    """See that a file is what encoder.json says.

    Raises:
        EncoderError: it is not.
    """
    path = folder / name
    try:
        digest = hashlib.sha256(path.read_bytes()).hexdigest()
    except OSError as error:
        raise EncoderError(f"{path} cannot be read ({error.strerror}): reinstall nlb-retriever") from error
    if digest != (expected := config["files"].get(name)):
        raise EncoderError(
            f"{path} is damaged: its SHA-256 is {digest[:12]}, {CONFIG_FILE} says {str(expected)[:12]}: "
            "reinstall nlb-retriever, or make the encoder again"
        )


def find_checked(folder: Path, name: str) -> Path:
    """A file beside the model that has the SHA-256 that encoder.json gives.

    Raises:
        EncoderError: it is missing or damaged.
    """
    check_file(folder, name, _read_config(folder))
    return folder / name


def _read_config(folder: Path) -> dict[str, Any]:
    path = folder / CONFIG_FILE
    try:
        config = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        raise EncoderError(f"{path} is missing or damaged ({error}): reinstall nlb-retriever") from error
    wanted = {"name", "sha256", "dim", "max_tokens", "padding_id", "query_prompt", "passage_prompt", "files"}
    if not isinstance(config, dict) or wanted - set(config):
        raise EncoderError(f"{path} lacks some of {sorted(wanted)}: make the encoder again")
    return config


def _identity(config: dict[str, Any], folder: Path) -> EncoderIdentity:
    try:
        return EncoderIdentity(
            name=str(config["name"]),
            sha256=str(config["sha256"]),
            dim=int(config["dim"]),
            max_tokens=int(config["max_tokens"]),
        )
    except (TypeError, ValueError) as error:
        raise EncoderError(f"{folder / CONFIG_FILE} is damaged: {error}") from error
