"""Which chunks are to be predicted, and what replaces them in the input.

BERT's masking on chunk vectors, as in NextLevelBERT (arXiv 2402.17682, section 3): of each row a share of the
chunks is chosen; 80% of these are replaced by [MASK], 10% by another chunk of the batch, 10% stay as they are.
Pure functions of their arguments and a generator. Shapes: B rows, C chunks, D chunk_dim.
"""

from __future__ import annotations

from dataclasses import dataclass

import torch
from torch import Tensor


@dataclass(frozen=True, kw_only=True)
class MaskedRows:
    """Rows of chunks as input of the backbone."""

    chosen: Tensor
    """(B, C) bool: chunks to be predicted."""
    masked: Tensor
    """(B, C) bool: those of them that are replaced by [MASK]."""
    shown: Tensor
    """(B, C, D): the chunks, some of the chosen ones replaced by others of the batch."""


def choose_chunks(maskable: Tensor, share: float, generator: torch.Generator | None = None) -> Tensor:
    """Choose the chunks to be predicted.

    Args:
        maskable: (B, C) bool, True at chunks (not at padding or special vectors).
        share: of each row's chunks, rounded to a whole number of them, at least one.
        generator: of the choice; None for torch's own.

    Returns:
        (B, C) bool.
    """
    noise = torch.rand(maskable.shape, generator=generator, device=maskable.device)
    ranks = noise.masked_fill(~maskable, 2).argsort(dim=1).argsort(dim=1)  # (B, C), chunks first
    counts = (maskable.sum(1) * share).round().clamp(min=1)  # (B,)
    return maskable & (ranks < counts[:, None])


def mask_chunks(
    chunks: Tensor,
    maskable: Tensor,
    chosen: Tensor,
    *,
    as_mask: float = 0.8,
    as_other: float = 0.1,
    generator: torch.Generator | None = None,
) -> MaskedRows:
    """Replace the chosen chunks: most by [MASK], some by another chunk, the rest not at all.

    Args:
        chunks: (B, C, D) chunk vectors.
        maskable: (B, C) bool, True at chunks that may replace another.
        chosen: (B, C) bool, of `choose_chunks`.
        as_mask: probability that a chosen chunk is replaced by [MASK].
        as_other: probability that it is replaced by another chunk of the batch, never itself.
        generator: of all choices; None for torch's own.
    """
    draw = torch.rand(chosen.shape, generator=generator, device=chosen.device)
    masked = chosen & (draw < as_mask)
    swapped = chosen & ~masked & (draw < as_mask + as_other)
    pool = maskable.flatten().nonzero()[:, 0]  # (N,) all chunks of the batch
    shown = chunks
    if len(pool) > 1:
        # A step of 1 to N - 1 around the pool never leads back to the chunk itself.
        steps = torch.randint(1, len(pool), pool.shape, generator=generator, device=pool.device)
        others = pool[(torch.arange(len(pool), device=pool.device) + steps) % len(pool)]
        flat = chunks.flatten(0, 1)
        replaced = flat.index_copy(0, pool, flat[others]).view_as(chunks)
        shown = torch.where(swapped[..., None], replaced, chunks)
    return MaskedRows(chosen=chosen, masked=masked, shown=shown)
