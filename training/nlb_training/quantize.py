"""Turn a sentence-transformers model into the int8 OpenVINO folder that the CPU uses.

    python -m nlb_training.quantize MODEL OUT BOOKS...

For a model trained from all-MiniLM-L6-v2 the folder also has what differs from it, in half precision, for torch, and
the map of terms that was trained with it.

Post-training quantization of weights and activations (NNCF, transformer scheme with SmoothQuant),
calibrated on windows of real books: full-length ones like passages, short ones like queries.
Needs the extra: pip install 'nlb-retriever[quantize]'.
"""

from __future__ import annotations

import hashlib
import json
import shutil
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from nlb_retriever.atomic import write_folder
from nlb_retriever.encoding.base import special_ids
from nlb_retriever.encoding.load import BASE_ENCODER, find_weights, load_torch_encoder
from nlb_retriever.encoding.openvino import (
    CONFIG_FILE,
    LAYERS_FILE,
    MODEL_FILE,
    TERMS_FILE,
    TOKENIZER_FILE,
    WEIGHTS_FILE,
)
from nlb_retriever.encoding.openvino_core import load_openvino, shared_core, without_telemetry
from nlb_retriever.errors import EncoderError, NlbError, extra

if TYPE_CHECKING:
    from nlb_retriever.encoding.torch import TorchEncoder

SAMPLES = 300
"""Calibration windows."""
SHORT_SHARE = 0.25
"""Share of them with the length of a query."""
SMOOTH_QUANT_ALPHA = 0.99
"""See docs/training.md for others."""


def quantize(model: str | Path, out: Path, books: Sequence[Path]) -> None:
    """Write the int8 folder of a sentence-transformers model.

    Args:
        model: its name or folder.
        out: the folder to write; an existing one is replaced.
        books: plain text files to calibrate on.

    Raises:
        EncoderError: the model is not to be found.
        MissingExtra: NNCF is not installed.
    """
    openvino = load_openvino()
    _load_nncf()
    shared_core()  # before NNCF's runtimes, which come and go
    encoder = load_torch_encoder(model)
    windows = _windows(encoder, books, np.random.default_rng(0))
    quantized = to_int8(_convert(encoder), [_inputs(window) for window in windows], alpha=SMOOTH_QUANT_ALPHA)
    with write_folder(out) as folder:
        openvino.save_model(quantized, folder / MODEL_FILE)
        encoder.tokenizer.save(str(folder / TOKENIZER_FILE))
        _write_layers(model, folder)
        _copy_terms(model, folder)
        _write_config(encoder, folder)


def to_int8(model: Any, inputs: Sequence[dict[str, Any]], *, alpha: float) -> Any:
    """Quantize an OpenVINO model's weights and activations.

    Args:
        model: a transformer.
        inputs: what it is calibrated on, one by one.
        alpha: of SmoothQuant: how much of the activations' range the weights take over.

    Raises:
        MissingExtra: NNCF is not installed.
    """
    nncf = _load_nncf()
    return nncf.quantize(
        model,
        nncf.Dataset(list(inputs)),
        model_type=nncf.ModelType.TRANSFORMER,
        preset=nncf.QuantizationPreset.MIXED,
        subset_size=len(inputs),
        advanced_parameters=nncf.AdvancedQuantizationParameters(
            smooth_quant_alphas=nncf.AdvancedSmoothQuantParameters(matmul=alpha)
        ),
    )


def _load_nncf() -> Any:
    with extra("quantize"), without_telemetry():
        import nncf

    return nncf


def _write_layers(model: str | Path, out: Path) -> None:
    """Write the weights for torch, where the model has all-MiniLM-L6-v2's shapes."""
    from safetensors.torch import load_file, save_file

    own, released = (find_weights(each)[1] / "model.safetensors" for each in (model, BASE_ENCODER))
    if not own.is_file():
        return
    weights, base = load_file(own), load_file(released)
    if any(name not in base or weights[name].shape != base[name].shape for name in weights):
        return
    changed = {name: weights[name].half() for name in weights if not weights[name].equal(base[name])}
    if changed:
        save_file(changed, out / LAYERS_FILE)


def _copy_terms(model: str | Path, out: Path) -> None:
    """Take the map of terms along, where the model was trained with one."""
    file = find_weights(model)[1] / TERMS_FILE
    if file.is_file():
        shutil.copyfile(file, out / TERMS_FILE)


def _inputs(ids: list[int]) -> dict[str, Any]:
    return {"input_ids": np.array([ids]), "attention_mask": np.ones((1, len(ids)), np.int64)}


def _windows(encoder: TorchEncoder, books: Sequence[Path], random: np.random.Generator) -> list[list[int]]:
    """Token ids of random windows of random books."""
    before, after = special_ids(encoder.tokenizer)
    longest = encoder.identity.max_tokens - len(before) - len(after)
    windows: list[list[int]] = []
    for _ in range(20 * SAMPLES):
        if len(windows) == SAMPLES:
            return windows
        text = books[int(random.integers(len(books)))].read_text(encoding="utf-8", errors="replace")
        start = int(random.integers(max(1, len(text) - 12 * longest)))
        length = int(random.integers(6, 60)) if random.random() < SHORT_SHARE else longest
        ids = encoder.tokenizer.encode(text[start : start + 24 * longest], add_special_tokens=False).ids[:length]
        if len(ids) == length:
            windows.append([*before, *ids, *after])
    raise EncoderError(f"the books have too little text to calibrate on: only {len(windows)} of {SAMPLES} windows")


def _convert(encoder: TorchEncoder) -> Any:
    """The whole sentence-transformers pipeline as one OpenVINO model: ids and mask to unit vectors and token states."""
    import torch

    openvino = load_openvino()

    class Pipeline(torch.nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.modules_of_model = encoder.model

        def forward(self, input_ids: torch.Tensor, attention_mask: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
            found = self.modules_of_model({"input_ids": input_ids, "attention_mask": attention_mask})
            vectors = torch.nn.functional.normalize(found["sentence_embedding"], dim=-1)
            return vectors, found["token_embeddings"]

    ids = torch.ones(2, 16, dtype=torch.long)
    any_shape = [-1, -1]
    return openvino.convert_model(
        Pipeline(),
        example_input={"input_ids": ids, "attention_mask": torch.ones_like(ids)},
        input=[("input_ids", any_shape, openvino.Type.i64), ("attention_mask", any_shape, openvino.Type.i64)],
    )


def _write_config(encoder: TorchEncoder, folder: Path) -> None:
    names = MODEL_FILE, WEIGHTS_FILE, TOKENIZER_FILE, LAYERS_FILE, TERMS_FILE
    files = [name for name in names if (folder / name).is_file()]
    config = {
        "name": encoder.identity.name,
        "sha256": encoder.identity.sha256,
        "dim": encoder.identity.dim,
        "max_tokens": encoder.identity.max_tokens,
        "padding_id": encoder.padding_id,
        "query_prompt": encoder.prompt(query=True),
        "passage_prompt": encoder.prompt(query=False),
        "files": {name: hashlib.sha256((folder / name).read_bytes()).hexdigest() for name in files},
    }
    (folder / CONFIG_FILE).write_text(json.dumps(config, indent=2) + "\n", encoding="utf-8")


def main(arguments: Sequence[str]) -> int:
    """Run as a command: MODEL OUT BOOKS..., where books are text files or folders of them."""
    if len(arguments) < 3:
        print("usage: python -m nlb_training.quantize MODEL OUT BOOKS...", file=sys.stderr)
        return 2
    model, out, *paths = arguments
    books: list[Path] = []
    for path in map(Path, paths):
        books += sorted(path.rglob("*.txt")) if path.is_dir() else [path]
    try:
        quantize(model, Path(out), books)
    except (NlbError, OSError) as error:
        print(f"quantize: {error}", file=sys.stderr)
        return 2
    return 0


if __name__ == "__main__":
    raise SystemExit(main(sys.argv[1:]))
