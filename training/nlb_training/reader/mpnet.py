"""MPNet as a network that reads: the larger one that the reader learns from.

MPNet (arXiv 2004.09297) has BERT's words, behind four tokens of its own, and a learned bias of attention for the
distance of two tokens (T5's, arXiv 1910.10683, section 2.1). It reads the rows that are made for the reader, token for
token, so that its scores are those of the reader's own tokens.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from pathlib import Path

import torch
from tokenizers import Tokenizer
from torch import Tensor, nn

from nlb_retriever.reader.network import NetworkConfig, ReaderNetwork
from nlb_training.reader.start import EMBEDDINGS, read_encoder, reading_encoder, rename_layers
from nlb_training.start_model import read_tokenizer

_BUCKETS, _FARTHEST = 32, 128
_FIRST_PLACE = 2
_SPECIAL = {"[CLS]": "<s>", "[SEP]": "</s>", "[PAD]": "<pad>", "[MASK]": "<mask>"}
_LAYER = {
    "output": "attention.attn.o",
    "attention_norm": "attention.LayerNorm",
    "up": "intermediate.dense",
    "down": "output.dense",
    "norm": "output.LayerNorm",
}


class MpnetNetwork(ReaderNetwork):
    """MPNet with the reader's heads, for BERT's ids."""

    def __init__(self, config: NetworkConfig, ids: Tensor) -> None:
        """Make it with random weights.

        Args:
            config: its shape.
            ids: (BERT's words,) their ids in MPNet.
        """
        super().__init__(config)
        self.distances = nn.Embedding(_BUCKETS, config.heads)
        self.ids: Tensor
        self.register_buffer("ids", ids)

    def embed(self, input_ids: Tensor, token_type_ids: Tensor) -> Tensor:
        """See `ReaderNetwork.embed`."""
        places = torch.arange(input_ids.shape[1], device=input_ids.device) + _FIRST_PLACE
        vectors: Tensor = self.words(self.ids[input_ids]) + self.positions(places) + self.types(token_type_ids)
        return vectors

    def attention_bias(self, attention_mask: Tensor) -> Tensor:
        """See `ReaderNetwork.attention_bias`."""
        buckets = _distance_buckets(attention_mask.shape[1]).to(attention_mask.device)
        near: Tensor = self.distances(buckets).permute(2, 0, 1)[None]
        return super().attention_bias(attention_mask) + near


def start_mpnet(folder: Path, tokenizer: Tokenizer) -> MpnetNetwork:
    """Make a network from an MPNet encoder's folder (config.json, model.safetensors, tokenizer.json).

    Args:
        folder: of the encoder, as sentence-transformers/all-mpnet-base-v2.
        tokenizer: the reader's.

    Raises:
        TrainingError: the folder holds no MPNet encoder, or one of other words than the reader's.
    """
    with reading_encoder(f"{folder} holds no MPNet encoder to learn from"):
        config, weights = read_encoder(folder, kind="mpnet")
        with torch.random.fork_rng():
            torch.manual_seed(0)
            network = MpnetNetwork(config, _match_words(tokenizer, read_tokenizer(folder)))
        network.load_state_dict(network.state_dict() | _rename(weights, config))
    return network


def _match_words(ours: Tokenizer, theirs: Tokenizer) -> Tensor:
    known = theirs.get_vocab()
    words = ours.get_vocab()
    ids = torch.zeros(len(words), dtype=torch.long)
    for word, number in words.items():
        match = known.get(_SPECIAL.get(word, word))
        if match is None:
            raise ValueError(f"its tokenizer lacks {word!r}, which the reader's has")
        ids[number] = match
    return ids


def _rename(weights: Mapping[str, Tensor], config: NetworkConfig) -> dict[str, Tensor]:
    renamed = {ours: weights[f"embeddings.{theirs}"] for ours, theirs in EMBEDDINGS.items() if ours != "types.weight"}
    renamed["types.weight"] = torch.zeros(2, config.hidden)  # MPNet tells question and passage by what separates them
    renamed["distances.weight"] = weights["encoder.relative_attention_bias.weight"]
    return renamed | rename_layers(weights, config.layers, _LAYER, tuple(f"attention.attn.{name}" for name in "qkv"))


def _distance_buckets(length: int) -> Tensor:
    """(L, L) bucket of each pair's distance: half of them for tokens behind; exact when near, then logarithmic."""
    places = torch.arange(length)
    distances = places[:, None] - places[None, :]
    half = _BUCKETS // 2
    near = half // 2
    far = distances.abs().float().clamp(min=1)
    logarithmic = near + (torch.log(far / near) / math.log(_FARTHEST / near) * (half - near)).long()
    buckets = torch.where(distances.abs() < near, distances.abs(), logarithmic.clamp(max=half - 1))
    return buckets + half * (distances < 0).long()
