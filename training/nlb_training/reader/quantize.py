"""A trained network as the folder that `nlb_retriever.reader.load_reader` reads: int8 for the CPU, fp16 for torch.

Post-training quantization of weights and activations (NNCF, transformer scheme with SmoothQuant), calibrated on
questions with passages of books. Needs the extra: pip install 'nlb-retriever[train]'.
"""

from __future__ import annotations

import json
import sys
import warnings
from collections.abc import Sequence
from contextlib import redirect_stdout
from dataclasses import asdict
from pathlib import Path
from typing import Any

import torch
from safetensors.torch import save_file
from tokenizers import Tokenizer

from nlb_retriever.atomic import write_folder
from nlb_retriever.encoding.openvino_core import load_openvino
from nlb_retriever.reader.files import CONFIG, FORMAT, LAYERS, MODEL, TOKENIZER, WEIGHTS, WORDS
from nlb_retriever.reader.network import ReaderNetwork
from nlb_retriever.reader.pairs import make_rows, pad_rows
from nlb_training.quantize import to_int8
from nlb_training.run_control import hash_file, writing

SMOOTH_QUANT_ALPHA = 0.95
"""How much of the activations' range the weights take over."""
_WORD_VECTORS = "words.weight"


def write_reader(
    network: ReaderNetwork,
    tokenizer: Tokenizer,
    out: Path,
    *,
    name: str,
    calibration: Sequence[tuple[str, str]],
) -> None:
    """Write a reader's folder.

    Args:
        network: trained.
        tokenizer: its own.
        out: the folder to make; an existing one is replaced.
        name: of the reader.
        calibration: questions with passages, 300 or so.

    Raises:
        MissingExtra: NNCF is not installed.
        TrainingError: the folder cannot be written.
    """
    openvino = load_openvino()
    inputs = [_inputs(tokenizer, question, passage) for question, passage in calibration]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of torch's tracer and of NNCF's dependencies
        with redirect_stdout(sys.stderr):  # its bars
            quantized = to_int8(_convert(network.eval().float()), inputs, alpha=SMOOTH_QUANT_ALPHA)
    with writing(out), write_folder(out) as folder:
        openvino.save_model(quantized, folder / MODEL)
        (folder / TOKENIZER).write_text(tokenizer.to_str(pretty=True), encoding="utf-8")
        weights = {key: tensor.detach().half().contiguous() for key, tensor in network.state_dict().items()}
        save_file({_WORD_VECTORS: weights.pop(_WORD_VECTORS)}, folder / WORDS)
        save_file(weights, folder / LAYERS)
        config = {
            "format": FORMAT,
            "name": name,
            "network": asdict(network.config),
            "files": {each: hash_file(folder / each) for each in (MODEL, WEIGHTS, TOKENIZER, WORDS, LAYERS)},
        }
        (folder / CONFIG).write_text(json.dumps(config, indent=2) + "\n", encoding="utf-8")


def _inputs(tokenizer: Tokenizer, question: str, passage: str) -> dict[str, Any]:
    ids, types, mask = pad_rows(make_rows(tokenizer, question, [passage])[:1])
    return {"input_ids": ids, "token_type_ids": types, "attention_mask": mask}


def _convert(network: ReaderNetwork) -> Any:
    """The network as an OpenVINO model for batches and rows of any size."""
    openvino = load_openvino()
    ids = torch.ones(2, 16, dtype=torch.long)
    names = ("input_ids", "token_type_ids", "attention_mask")
    model = openvino.convert_model(
        network,
        example_input=dict(zip(names, (ids, torch.zeros_like(ids), torch.ones_like(ids)), strict=True)),
        input=[(name, [-1, -1], openvino.Type.i64) for name in names],
    )
    for output, name in zip(model.outputs, ("spans", "relevance"), strict=True):
        output.get_tensor().set_names({name})
    return model
