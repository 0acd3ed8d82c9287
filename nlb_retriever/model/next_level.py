"""The next-level encoder: a transformer whose tokens are the vectors of text chunks.

After NextLevelBERT (arXiv 2402.17682). What it adds to a chunk's vector is a residual whose last
layer starts at zero: an untrained encoder gives back the chunk vectors, a trained one stays in the
chunk encoder's space, where questions live too. Shapes: B books (or windows), C chunks, D chunk_dim,
H hidden.
"""

from __future__ import annotations

import torch
from torch import Tensor, nn
from torch.nn.functional import normalize

from nlb_retriever.model.backbone import build_trunk
from nlb_retriever.model.config import NextLevelConfig

_WINDOWS_AT_ONCE = 8
CLS, SEP, MASK = 0, 1, 2


class NextLevelEncoder(nn.Module):
    """Chunk vectors in reading order -> contextual vectors of the same chunks."""

    def __init__(self, config: NextLevelConfig) -> None:
        super().__init__()
        self.config = config
        if not config.layers or config.chunk_dim is None:
            return
        dim, hidden = config.chunk_dim, config.hidden
        # [CLS], [SEP], [MASK] in chunk space, about as long as a chunk's vector.
        self.specials = nn.Parameter(torch.randn(3, dim) * dim**-0.5)
        self.project = nn.Identity() if dim == hidden else nn.Linear(dim, hidden)
        self.trunk = build_trunk(config)
        self.residual = nn.Linear(hidden, dim)
        nn.init.zeros_(self.residual.weight)
        nn.init.zeros_(self.residual.bias)

    @property
    def window(self) -> int:
        """Most chunks of one `forward`: the slots without those of [CLS] and [SEP]."""
        return self.config.slots - 2

    def forward(self, chunks: Tensor, mask: Tensor) -> Tensor:
        """Contextual vectors of at most `window` chunks.

        Args:
            chunks: (B, C, D) chunk vectors.
            mask: (B, C) bool, True where there is a chunk; each row's chunks come before its padding.

        Returns:
            (B, C, D) unit vectors; those of padding mean nothing.
        """
        if not self.config.layers:
            return chunks
        hidden = self.hidden_states(chunks, mask)[:, 1:-1]  # (B, C, H)
        return normalize(chunks + self.residual(hidden), dim=-1)

    def hidden_states(
        self, chunks: Tensor, mask: Tensor, masked: Tensor | None = None, separators: Tensor | None = None
    ) -> Tensor:
        """The trunk's last hidden states of [CLS], chunks and [SEP].

        Args:
            chunks: (B, C, D) chunk vectors.
            mask: (B, C) bool, True where there is a chunk.
            masked: (B, C) bool, True where the trunk sees [MASK] in the chunk's place.
            separators: (B, C) bool, True where it sees a [SEP]: between books packed into one row, which see
                each other (as in the paper, whose packed documents share their attention).

        Returns:
            (B, C + 2, H): [CLS] at 0, chunk i at i + 1, [SEP] behind each row's last chunk.
        """
        books, _, dim = chunks.shape
        if masked is not None:
            chunks = torch.where(masked[..., None], self.specials[MASK], chunks)
        if separators is not None:
            chunks = torch.where(separators[..., None], self.specials[SEP], chunks)
        cls = self.specials[CLS].expand(books, 1, dim)
        slots = torch.cat([cls, chunks, chunks.new_zeros(books, 1, dim)], dim=1)  # (B, C + 2, D)
        lengths = mask.sum(1)  # (B,)
        places = torch.arange(slots.shape[1], device=slots.device)  # (C + 2,)
        is_sep = places == lengths[:, None] + 1  # (B, C + 2)
        slots = torch.where(is_sep[..., None], self.specials[SEP], slots)
        attended = (places <= lengths[:, None] + 1).long()
        states: Tensor = self.trunk(inputs_embeds=self.project(slots), attention_mask=attended).last_hidden_state
        return states

    @torch.inference_mode()
    def contextualize(self, chunks: Tensor) -> Tensor:
        """Contextual vectors of a book of any length, through overlapping windows.

        Each window covers half of the one before; where windows overlap, a chunk's vectors are
        averaged with weights that fall from a window's middle to its ends, where context is lopsided.
        Call it in eval mode.

        Args:
            chunks: (C, D) unit vectors of all chunks of the book, in order.

        Returns:
            (C, D) unit vectors.
        """
        count, width = len(chunks), self.window
        if not self.config.layers or count == 0:
            return chunks
        if count <= width:
            alone: Tensor = self(chunks[None], torch.ones(1, count, dtype=torch.bool, device=chunks.device))
            return alone[0]
        steps = -(-(count - width) // (width // 2))
        starts = torch.linspace(0, count - width, steps + 1, device=chunks.device).round().long()
        places = torch.arange(width, device=chunks.device)
        weights = torch.minimum(places + 1, width - places)[:, None].to(chunks.dtype)  # (W, 1)
        total = torch.zeros_like(chunks)
        for some in torch.split(starts, _WINDOWS_AT_ONCE):
            indexes = some[:, None] + places  # (B, W)
            contextual = self(chunks[indexes], torch.ones_like(indexes, dtype=torch.bool))  # (B, W, D)
            total.index_add_(0, indexes.flatten(), (contextual * weights).flatten(0, 1))
        return normalize(total, dim=-1)  # unit length: dividing by the sum of weights would change nothing
