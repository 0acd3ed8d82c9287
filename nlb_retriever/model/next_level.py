"""The next-level encoder: a transformer whose tokens are the vectors of text chunks.

After NextLevelBERT (arXiv 2402.17682). It adds a residual to each chunk's vector, whose last layer is
initialised with zeros: an untrained encoder returns the chunk vectors, a trained one stays in the chunk
encoder's space, where queries are too. Shapes: B books (or windows), C chunks, D chunk_dim, H hidden.
"""

from __future__ import annotations

import torch
from torch import Tensor, nn
from torch.nn.functional import normalize

from nlb_retriever.model.backbone import build_backbone
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
        # [CLS], [SEP], [MASK] in chunk space, of about unit length.
        self.specials = nn.Parameter(torch.randn(3, dim) * dim**-0.5)
        self.project = nn.Identity() if dim == hidden else nn.Linear(dim, hidden)
        self.backbone = build_backbone(config)
        self.residual = nn.Linear(hidden, dim)
        nn.init.zeros_(self.residual.weight)
        nn.init.zeros_(self.residual.bias)

    @property
    def window(self) -> int:
        """Most chunks of one `forward`: the slots without [CLS] and [SEP]."""
        return self.config.slots - 2

    def forward(self, chunks: Tensor, mask: Tensor) -> Tensor:
        """Contextual vectors of at most `window` chunks.

        Args:
            chunks: (B, C, D) chunk vectors.
            mask: (B, C) bool, True at chunks; each row's chunks come before its padding.

        Returns:
            (B, C, D) unit vectors; those of padding are meaningless.
        """
        if not self.config.layers:
            return chunks
        hidden = self.hidden_states(chunks, mask)[:, 1:-1]  # (B, C, H)
        return normalize(chunks + self.residual(hidden), dim=-1)

    def hidden_states(
        self, chunks: Tensor, mask: Tensor, masked: Tensor | None = None, separators: Tensor | None = None
    ) -> Tensor:
        """The backbone's last hidden states of [CLS], chunks and [SEP].

        Args:
            chunks: (B, C, D) chunk vectors.
            mask: (B, C) bool, True at chunks.
            masked: (B, C) bool, True at chunks that are replaced by [MASK].
            separators: (B, C) bool, True at slots that are [SEP]: between books packed into one row, which attend
                to each other, as in the paper.

        Returns:
            (B, C + 2, H): [CLS] at 0, chunk i at i + 1, [SEP] after each row's last chunk.
        """
        books, _, dim = chunks.shape
        if masked is not None:
            chunks = torch.where(masked[..., None], self.specials[MASK], chunks)
        if separators is not None:
            chunks = torch.where(separators[..., None], self.specials[SEP], chunks)
        cls = self.specials[CLS].expand(books, 1, dim)
        slots = torch.cat([cls, chunks, chunks.new_zeros(books, 1, dim)], dim=1)  # (B, C + 2, D)
        lengths = mask.sum(1)  # (B,)
        positions = torch.arange(slots.shape[1], device=slots.device)  # (C + 2,)
        is_sep = positions == lengths[:, None] + 1  # (B, C + 2)
        slots = torch.where(is_sep[..., None], self.specials[SEP], slots)
        attended = (positions <= lengths[:, None] + 1).long()
        states: Tensor = self.backbone(inputs_embeds=self.project(slots), attention_mask=attended).last_hidden_state
        return states

    @torch.inference_mode()
    def contextualize(self, chunks: Tensor) -> Tensor:
        """Contextual vectors of a book of any length, through overlapping windows.

        Windows overlap by half; a chunk's vectors are averaged with weights that fall from a window's middle to its
        ends, where context is missing on one side. Call it in eval mode.

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
        positions = torch.arange(width, device=chunks.device)
        weights = torch.minimum(positions + 1, width - positions)[:, None].to(chunks.dtype)  # (W, 1)
        total = torch.zeros_like(chunks)
        for batch in torch.split(starts, _WINDOWS_AT_ONCE):
            indexes = batch[:, None] + positions  # (B, W)
            contextual = self(chunks[indexes], torch.ones_like(indexes, dtype=torch.bool))  # (B, W, D)
            total.index_add_(0, indexes.flatten(), (contextual * weights).flatten(0, 1))
        return normalize(total, dim=-1)
