"""Which chunks the trunk has to guess, and what it sees in their places.

BERT's recipe on chunk vectors, as in NextLevelBERT (arXiv 2402.17682, section 3): of each row a share of the
chunks is chosen; of those 80% are shown as [MASK], 10% as another chunk of the batch, 10% as they are.
Pure functions of their arguments and a generator. Shapes: B rows, C chunks, D chunk_dim.
"""

from __future__ import annotations

from dataclasses import dataclass

import torch
from torch import Tensor


@dataclass(frozen=True, kw_only=True)
class MaskedRows:
    """Rows of chunks as the trunk is to see them."""

    chosen: Tensor
    """(B, C) bool: chunks to be guessed."""
    masked: Tensor
    """(B, C) bool: those of them in whose place the trunk sees [MASK]."""
    shown: Tensor
    """(B, C, D): the chunks, some of the chosen ones replaced by others of the batch."""


def choose_chunks(maskable: Tensor, share: float, generator: torch.Generator | None = None) -> Tensor:
    """Choose the chunks to be guessed.

    Args:
        maskable: (B, C) bool, True where there is a chunk (no padding, no special vector).
        share: of each row's chunks, rounded to a whole number of them, at least one.
        generator: of the choice; None for torch's own.

    Returns:
        (B, C) bool.
    """
    noise = torch.rand(maskable.shape, generator=generator, device=maskable.device)
    ranks = noise.masked_fill(~maskable, 2).argsort(dim=1).argsort(dim=1)  # (B, C), chunks before all else
    wanted = (maskable.sum(1) * share).round().clamp(min=1)  # (B,)
    return maskable & (ranks < wanted[:, None])


def mask_chunks(
    chunks: Tensor,
    maskable: Tensor,
    chosen: Tensor,
    *,
    as_mask: float = 0.8,
    as_other: float = 0.1,
    generator: torch.Generator | None = None,
) -> MaskedRows:
    """Hide the chosen chunks: most behind [MASK], some behind another chunk, the rest not at all.

    Args:
        chunks: (B, C, D) chunk vectors.
        maskable: (B, C) bool, True where there is a chunk that may stand in for another.
        chosen: (B, C) bool, of `choose_chunks`.
        as_mask: probability that a chosen chunk is shown as [MASK].
        as_other: probability that it is shown as another chunk of the batch, never itself.
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
