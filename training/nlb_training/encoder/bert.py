"""MiniLM for training: bfloat16 matrix products over float32 weights, in batches of like lengths.

The same computation as transformers' BertModel with mean pooling, without dropout and with frozen embedding tables.
PyTorch's fused attention is not used: on a CPU its backward pass in bfloat16 takes twenty times as long as plain
matrix products.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor
from torch.nn import functional

from nlb_retriever.errors import TrainingError

Ids = NDArray[np.uint16]

Places = Sequence[Sequence[int]]
"""Of each group of a text's tokens, which tokens."""

CPU_TOKENS, GPU_TOKENS = 4096, 32_768
"""Tokens that go through the model together; on a CPU more do not fit in a core's cache."""
_WIDTH_STEP = 8
_HEADS = 12
_EPSILON = 1e-12
_CLS, _SEP = 101, 102


@dataclass(frozen=True)
class Encoded:
    """What a microbatch gives, with its graph."""

    numbers: list[int]
    """Of its texts and spans."""
    vectors: Tensor
    """(rows, D) of these, of unit length."""
    groups: list[int]
    """Numbers of its groups of tokens."""
    states: Tensor
    """(rows, D) mean states of these."""


class Bert:
    """Float32 weights, trained, and the bfloat16 copy of them that computes.

    Args:
        weights: as all-MiniLM-L6-v2's model.safetensors names them.
        device: a torch device to compute on.
    """

    def __init__(self, weights: dict[str, Tensor], device: str = "cpu") -> None:
        if "embeddings.word_embeddings.weight" not in weights:
            raise KeyError("embeddings.word_embeddings.weight")
        self.device = torch.device(device)
        weights = {name: tensor.to(self.device) for name, tensor in weights.items()}
        self.layers = sum(name.endswith("attention.self.query.weight") for name in weights)
        self.masters = {
            name: tensor.float().clone()
            for name, tensor in weights.items()
            if name.startswith(("embeddings.LayerNorm", "encoder."))
        }
        self._others = {name: tensor for name, tensor in weights.items() if name not in self.masters}
        self._frozen = {name: tensor.bfloat16() for name, tensor in self._others.items() if ".dense." not in name}
        self._working = {
            name: tensor.bfloat16().requires_grad_() for name, tensor in _fuse(self.masters, self.layers).items()
        }

    @classmethod
    def load(cls, folder: Path, device: str = "cpu") -> Bert:
        """Read a sentence-transformers folder's weights.

        Raises:
            TrainingError: they are missing, damaged or of another architecture.
        """
        from safetensors import SafetensorError
        from safetensors.torch import load_file

        file = folder / "model.safetensors"
        try:
            weights = load_file(file)
            return cls(weights, device)
        except (OSError, SafetensorError) as error:
            raise TrainingError(f"{file} cannot be read ({error}): give a whole model") from error
        except KeyError as error:
            raise TrainingError(f"{file} is no MiniLM (it lacks {error}): start from all-MiniLM-L6-v2") from error

    def weights(self) -> dict[str, Tensor]:
        """All weights, as they were named."""
        return {**self._others, **self.masters}

    def refresh(self) -> None:
        """Bring the copy that computes up to date with the trained weights."""
        with torch.no_grad():
            for name, tensor in _fuse(self.masters, self.layers).items():
                self._working[name].copy_(tensor)

    def encode(self, texts: Sequence[Ids]) -> NDArray[np.float32]:
        """Unit vectors (n, D) of texts, given as token ids without special tokens."""
        return self.encode_spans(texts, ())[0]

    def encode_spans(
        self, texts: Sequence[Ids], starts: Sequence[Sequence[int]]
    ) -> tuple[NDArray[np.float32], NDArray[np.float32]]:
        """Unit vectors of texts (n, D) and of their spans (s, D), which begin at given tokens, the first at 0."""
        dim = self.masters["embeddings.LayerNorm.weight"].shape[0]
        result = np.empty((len(texts) + sum(map(len, starts)), dim), dtype=np.float32)
        with torch.no_grad():
            for part in self._encode(texts, starts):
                result[part.numbers] = part.vectors.cpu().numpy()
        return result[: len(texts)], result[len(texts) :]

    def encode_with_grad(
        self, texts: Sequence[Ids], starts: Sequence[Sequence[int]] = (), groups: Sequence[Places] = ()
    ) -> list[Encoded]:
        """Unit vectors and mean states of groups of tokens, with their graphs, by microbatches.

        Args:
            texts: n of them.
            starts: the tokens at which each one's spans begin, the first 0; spans are numbered on from n.
            groups: of each text; numbered from 0.
        """
        return list(self._encode(texts, starts, groups))

    def _encode(
        self, texts: Sequence[Ids], starts: Sequence[Sequence[int]], groups: Sequence[Places] = ()
    ) -> Iterator[Encoded]:
        own, pooled = starts or [()] * len(texts), groups or [()] * len(texts)
        firsts = np.cumsum([len(texts), *map(len, own)]).tolist()
        numbers = np.cumsum([0, *map(len, pooled)]).tolist()
        for rows in microbatches(texts, CPU_TOKENS if self.device.type == "cpu" else GPU_TOKENS):
            states, mask = self._states([texts[row] for row in rows])
            yield Encoded(
                numbers=rows + [number for row in rows for number in range(firsts[row], firsts[row + 1])],
                vectors=_pool(states, mask, [len(texts[row]) for row in rows], [own[row] for row in rows]),
                groups=[number for row in rows for number in range(numbers[row], numbers[row + 1])],
                states=_pool_groups(states, [pooled[row] for row in rows]),
            )

    def collect_grads(self) -> None:
        """Add the copy's gradients to those of the trained weights and forget them."""
        with torch.no_grad():
            for name, grad in _split({n: t.grad for n, t in self._working.items() if t.grad is not None}).items():
                master = self.masters[name]
                if master.grad is None:
                    master.grad = grad.float()
                else:
                    master.grad.add_(grad)
        for tensor in self._working.values():
            tensor.grad = None

    def _states(self, texts: Sequence[Ids]) -> tuple[Tensor, Tensor]:
        """States of tokens (n, width, D) as float32, special ones and padding among them, and the mask (n, width)."""
        ids, mask = (each.to(self.device) for each in _pad(texts))
        weights = self._working
        count, width = ids.shape
        embedded = functional.embedding(ids, self._frozen["embeddings.word_embeddings.weight"])
        embedded = embedded + self._frozen["embeddings.position_embeddings.weight"][:width]
        embedded = embedded + self._frozen["embeddings.token_type_embeddings.weight"][0]
        dim = embedded.shape[2]
        hidden = functional.layer_norm(
            embedded,
            (dim,),
            weights["embeddings.LayerNorm.weight"],
            weights["embeddings.LayerNorm.bias"],
            _EPSILON,
        ).view(count * width, dim)
        hides: Tensor | None = None
        if bool((mask == 0).any()):
            hides = ((mask - 1) * 1e4).bfloat16()[:, None, None, :].expand(count, _HEADS, width, width)
            hides = hides.reshape(count * _HEADS, width, width)
        for layer in range(self.layers):
            hidden = self._layer(hidden, hides, f"encoder.layer.{layer}.", count, width)
        return hidden.view(count, width, dim).float(), mask

    def _layer(self, hidden: Tensor, hides: Tensor | None, name: str, count: int, width: int) -> Tensor:
        weights = self._working
        dim = hidden.shape[1]
        size = dim // _HEADS

        def linear(inputs: Tensor, part: str) -> Tensor:
            return functional.linear(inputs, weights[f"{name}{part}.weight"], weights[f"{name}{part}.bias"])

        def norm(inputs: Tensor, part: str) -> Tensor:
            scale, shift = weights[f"{name}{part}.LayerNorm.weight"], weights[f"{name}{part}.LayerNorm.bias"]
            return functional.layer_norm(inputs, (dim,), scale, shift, _EPSILON)

        joint = linear(hidden, "attention.self.qkv").view(count, width, 3, _HEADS, size)
        query, key, value = joint.permute(2, 0, 3, 1, 4).reshape(3, count * _HEADS, width, size)
        if hides is None:
            scores = torch.bmm(query, key.transpose(1, 2)) / math.sqrt(size)
        else:
            scores = torch.baddbmm(hides, query, key.transpose(1, 2), alpha=1 / math.sqrt(size))
        mixed = torch.bmm(torch.softmax(scores, -1), value)
        mixed = mixed.view(count, _HEADS, width, size).transpose(1, 2).reshape(count * width, dim)
        hidden = norm(hidden + linear(mixed, "attention.output.dense"), "attention.output")
        inner = functional.gelu(linear(hidden, "intermediate.dense"))
        return norm(hidden + linear(inner, "output.dense"), "output")


def _pool(states: Tensor, mask: Tensor, lengths: Sequence[int], starts: Sequence[Sequence[int]]) -> Tensor:
    """Unit vectors of texts (n, D), followed by those of their spans."""
    summed = (states * mask[:, :, None]).sum(1)
    if any(starts):
        spans = [
            states[row, first + 1 : last + 1].sum(0)
            for row, own in enumerate(starts)
            for first, last in pairwise([*own, lengths[row]])
        ]
        summed = torch.cat([summed, torch.stack(spans)])
    return functional.normalize(summed, dim=-1)


def _pool_groups(states: Tensor, groups: Sequence[Places]) -> Tensor:
    """Mean states (g, D) of groups of tokens."""
    width, dim = states.shape[1:]
    sizes = torch.tensor([len(places) for own in groups for places in own], device=states.device).long()
    tokens = [row * width + 1 + place for row, own in enumerate(groups) for places in own for place in places]
    owners = torch.repeat_interleave(torch.arange(len(sizes), device=states.device), sizes)
    picked = states.reshape(-1, dim)[torch.tensor(tokens, dtype=torch.long, device=states.device)]
    return torch.zeros(len(sizes), dim, device=states.device).index_add(0, owners, picked) / sizes[:, None]


def microbatches(texts: Sequence[Ids], tokens: int) -> Iterator[list[int]]:
    """Row numbers of texts that go through the model together: of like length, at most so many tokens padded."""
    order = sorted(range(len(texts)), key=lambda row: (len(texts[row]), row), reverse=True)
    start = 0
    while start < len(order):
        width = _width(len(texts[order[start]]))
        count = max(1, tokens // width)
        yield order[start : start + count]
        start += count


def _width(length: int) -> int:
    return -(-(length + 2) // _WIDTH_STEP) * _WIDTH_STEP


def _pad(texts: Sequence[Ids]) -> tuple[Tensor, Tensor]:
    """Ids (n, width) with special tokens, and the mask of what is real as float32."""
    width = _width(max(len(text) for text in texts))
    ids = np.zeros((len(texts), width), dtype=np.int32)
    mask = np.zeros((len(texts), width), dtype=np.float32)
    for row, text in enumerate(texts):
        ids[row, 0] = _CLS
        ids[row, 1 : len(text) + 1] = text
        ids[row, len(text) + 1] = _SEP
        mask[row, : len(text) + 2] = 1
    return torch.from_numpy(ids), torch.from_numpy(mask)


def _fuse(masters: dict[str, Tensor], layers: int) -> dict[str, Tensor]:
    """Query, key and value of each layer as one matrix; all else as it is."""
    fused = {name: tensor for name, tensor in masters.items() if ".attention.self." not in name}
    for layer in range(layers):
        stem = f"encoder.layer.{layer}.attention.self."
        for kind in ("weight", "bias"):
            parts = [masters[f"{stem}{part}.{kind}"] for part in ("query", "key", "value")]
            fused[f"{stem}qkv.{kind}"] = torch.cat(parts)
    return fused


def _split(grads: dict[str, Tensor]) -> dict[str, Tensor]:
    """The reverse of `_fuse`."""
    result: dict[str, Tensor] = {}
    for name, grad in grads.items():
        if ".attention.self.qkv." in name:
            for part, piece in zip(("query", "key", "value"), grad.chunk(3), strict=True):
                result[name.replace(".qkv.", f".{part}.")] = piece
        else:
            result[name] = grad
    return result
