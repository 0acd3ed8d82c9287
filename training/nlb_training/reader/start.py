"""A reader's network before training: a BERT encoder's weights, and new heads."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path

import torch
from safetensors.torch import load_file
from torch import Tensor

from nlb_retriever.errors import TrainingError
from nlb_retriever.reader.network import NetworkConfig, ReaderNetwork

_EMBEDDINGS = {
    "words.weight": "word_embeddings.weight",
    "positions.weight": "position_embeddings.weight",
    "types.weight": "token_type_embeddings.weight",
    "norm.weight": "LayerNorm.weight",
    "norm.bias": "LayerNorm.bias",
}
_LAYER = {
    "output": "attention.output.dense",
    "attention_norm": "attention.output.LayerNorm",
    "up": "intermediate.dense",
    "down": "output.dense",
    "norm": "output.LayerNorm",
}


def start_network(folder: Path, *, seed: int) -> ReaderNetwork:
    """Make a network from a BERT encoder's folder (config.json, model.safetensors); its heads are random.

    Raises:
        TrainingError: the folder holds no BERT encoder.
    """
    try:
        shape = json.loads((folder / "config.json").read_text(encoding="utf-8"))
        weights = load_file(folder / "model.safetensors")
        config = NetworkConfig(
            vocabulary=shape["vocab_size"],
            positions=shape["max_position_embeddings"],
            hidden=shape["hidden_size"],
            layers=shape["num_hidden_layers"],
            heads=shape["num_attention_heads"],
            intermediate=shape["intermediate_size"],
        )
        with torch.random.fork_rng():
            torch.manual_seed(seed)
            network = ReaderNetwork(config)
        network.load_state_dict(network.state_dict() | _rename(weights, config.layers))
    except (OSError, ValueError, KeyError, RuntimeError) as error:
        raise TrainingError(f"{folder} holds no BERT encoder to start a reader from: {error}") from error
    return network


def _rename(weights: Mapping[str, Tensor], layers: int) -> dict[str, Tensor]:
    renamed = {ours: weights[f"embeddings.{theirs}"] for ours, theirs in _EMBEDDINGS.items()}
    for layer in range(layers):
        base = f"encoder.layer.{layer}"
        for part in ("weight", "bias"):
            renamed |= {
                f"layers.{layer}.{ours}.{part}": weights[f"{base}.{name}.{part}"] for ours, name in _LAYER.items()
            }
            heads = [weights[f"{base}.attention.self.{name}.{part}"] for name in ("query", "key", "value")]
            renamed[f"layers.{layer}.qkv.{part}"] = torch.cat(heads)
    return renamed
