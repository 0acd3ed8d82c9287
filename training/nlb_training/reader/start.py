"""A reader's network before training: a BERT encoder's weights, and new heads."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

import torch
from safetensors import SafetensorError
from safetensors.torch import load_file
from tokenizers import Tokenizer
from torch import Tensor

from nlb_retriever.encoding.base import special_ids
from nlb_retriever.errors import TrainingError
from nlb_retriever.reader.network import NetworkConfig, ReaderNetwork
from nlb_retriever.reader.pairs import ROW_TOKENS

EMBEDDINGS = {
    "words.weight": "word_embeddings.weight",
    "positions.weight": "position_embeddings.weight",
    "types.weight": "token_type_embeddings.weight",
    "norm.weight": "LayerNorm.weight",
    "norm.bias": "LayerNorm.bias",
}
_VOCABULARY = 1 << 16
"""Rows are stored as 16-bit ids."""
_LAYER = {
    "output": "attention.output.dense",
    "attention_norm": "attention.output.LayerNorm",
    "up": "intermediate.dense",
    "down": "output.dense",
    "norm": "output.LayerNorm",
}
_HEADS = ("query", "key", "value")


def start_network(folder: Path) -> ReaderNetwork:
    """Make a network from a BERT encoder's folder (config.json, model.safetensors); its heads are random,
    the same ones each time.

    Raises:
        TrainingError: the folder holds no BERT encoder.
    """
    with reading_encoder(f"{folder} holds no BERT encoder to start a reader from"):
        config, weights = read_encoder(folder, kind="bert")
        with torch.random.fork_rng():
            torch.manual_seed(0)
            network = ReaderNetwork(config)
        renamed = {ours: weights[f"embeddings.{theirs}"] for ours, theirs in EMBEDDINGS.items()}
        renamed |= rename_layers(weights, config.layers, _LAYER, tuple(f"attention.self.{name}" for name in _HEADS))
        network.load_state_dict(network.state_dict() | renamed)
    return network


@contextmanager
def reading_encoder(refusal: str) -> Iterator[None]:
    """Turn what goes wrong with an encoder's folder into a `TrainingError` that begins with the refusal."""
    try:
        yield
    except KeyError as error:
        raise TrainingError(f"{refusal}: it lacks {error}") from error
    except (OSError, ValueError, TypeError, RuntimeError, SafetensorError) as error:
        raise TrainingError(f"{refusal}: {' '.join(str(error).split())[:200]}") from error


def read_encoder(folder: Path, *, kind: str) -> tuple[NetworkConfig, dict[str, Tensor]]:
    """The shape and the weights of an encoder of a kind ("bert"); raises what `reading_encoder` takes."""
    shape = json.loads((folder / "config.json").read_text(encoding="utf-8"))
    if shape.get("model_type") != kind:
        raise ValueError(f"it is a model of the kind {shape.get('model_type')}")
    config = NetworkConfig(
        vocabulary=shape["vocab_size"],
        positions=shape["max_position_embeddings"],
        hidden=shape["hidden_size"],
        layers=shape["num_hidden_layers"],
        heads=shape["num_attention_heads"],
        intermediate=shape["intermediate_size"],
    )
    return config, load_file(folder / "model.safetensors")


def rename_layers(
    weights: Mapping[str, Tensor], layers: int, names: Mapping[str, str], heads: tuple[str, ...]
) -> dict[str, Tensor]:
    """An encoder's layers under the names of `ReaderNetwork`.

    Args:
        weights: the encoder's.
        layers: how many.
        names: our part of a layer -> theirs.
        heads: their queries, keys and values.
    """
    renamed: dict[str, Tensor] = {}
    for layer in range(layers):
        base = f"encoder.layer.{layer}"
        for part in ("weight", "bias"):
            renamed |= {
                f"layers.{layer}.{ours}.{part}": weights[f"{base}.{name}.{part}"] for ours, name in names.items()
            }
            renamed[f"layers.{layer}.qkv.{part}"] = torch.cat([weights[f"{base}.{name}.{part}"] for name in heads])
    return renamed


def check_start(network: ReaderNetwork, tokenizer: Tokenizer, folder: Path) -> None:
    """See that a network and its tokenizer can read questions with passages.

    Raises:
        TrainingError: they cannot.
    """
    config, tokens = network.config, tokenizer.get_vocab_size()
    if not tokens <= config.vocabulary <= _VOCABULARY:
        raise TrainingError(
            f"{folder} cannot become a reader: its tokenizer has {tokens:,} tokens and its weights are for "
            f"{config.vocabulary:,}; there may be {_VOCABULARY:,}"
        )
    if config.positions < ROW_TOKENS:
        raise TrainingError(
            f"{folder} cannot become a reader: it reads {config.positions} tokens at most, not {ROW_TOKENS}"
        )
    if [len(ids) for ids in special_ids(tokenizer)] != [1, 1]:
        raise TrainingError(f"{folder} cannot become a reader: its tokenizer adds no [CLS] and [SEP]")
