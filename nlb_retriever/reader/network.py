"""The reader's network: a BERT cross-encoder with a head for spans and a head for relevance.

The span head is that of BERT for SQuAD (arXiv 1810.04805, section 4.2): one score for each token as the answer's
first and one as its last. [CLS] stands for "no answer here" (SQuAD 2.0, section 4.3). The relevance head reads [CLS].
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import torch
from torch import Tensor, nn

EXCLUDED = -1e4
"""Score of what cannot be chosen: finite, so that nothing becomes NaN in half precision."""


@dataclass(frozen=True, kw_only=True)
class NetworkConfig:
    """Shape of the network; the defaults are all-MiniLM-L6-v2's."""

    vocabulary: int = 30522
    positions: int = 512
    hidden: int = 384
    layers: int = 6
    heads: int = 12
    intermediate: int = 1536
    dropout: float = 0.1
    """In training, of what attention and feed-forward layers add."""


class _Layer(nn.Module):
    """A transformer layer with the norm behind, as in BERT; attention by batched products.

    On a CPU with bf16 units batched products are 1.4 times as fast in training as torch's fused attention, whose
    backward pass is slow for heads of 32 numbers.
    """

    def __init__(self, config: NetworkConfig) -> None:
        super().__init__()
        size = config.hidden
        self.heads = config.heads
        self.qkv = nn.Linear(size, 3 * size)
        self.output = nn.Linear(size, size)
        self.attention_norm = nn.LayerNorm(size, eps=1e-12)
        self.up = nn.Linear(size, config.intermediate)
        self.down = nn.Linear(config.intermediate, size)
        self.norm = nn.LayerNorm(size, eps=1e-12)
        self.dropout = nn.Dropout(config.dropout)

    def forward(self, states: Tensor, bias: Tensor) -> Tensor:
        batch, length, size = states.shape
        width = size // self.heads
        qkv = self.qkv(states).view(batch, length, 3, self.heads, width)
        query, key, value = qkv.permute(2, 0, 3, 1, 4).reshape(3, batch * self.heads, length, width).unbind(0)
        scores = torch.bmm(query * (1 / math.sqrt(width)), key.transpose(1, 2)).view(batch, self.heads, length, length)
        weights = torch.softmax(scores + bias, dim=-1).view(batch * self.heads, length, length)
        mixed = torch.bmm(weights, value).view(batch, self.heads, length, width).transpose(1, 2)
        states = self.attention_norm(states + self.dropout(self.output(mixed.reshape(batch, length, size))))
        inner = self.down(nn.functional.gelu(self.up(states)))
        result: Tensor = self.norm(states + self.dropout(inner))
        return result


class ReaderNetwork(nn.Module):
    """Scores passages, and spans in them, for a question.

    Its word vectors stay those of the encoder that it starts from: labelled questions are too few to move them.
    """

    def __init__(self, config: NetworkConfig) -> None:
        super().__init__()
        self.config = config
        self.words = nn.Embedding(config.vocabulary, config.hidden)
        self.words.weight.requires_grad_(False)
        self.positions = nn.Embedding(config.positions, config.hidden)
        self.types = nn.Embedding(2, config.hidden)
        self.norm = nn.LayerNorm(config.hidden, eps=1e-12)
        self.dropout = nn.Dropout(config.dropout)
        self.layers = nn.ModuleList(_Layer(config) for _ in range(config.layers))
        self.span = nn.Linear(config.hidden, 2)
        self.pool = nn.Linear(config.hidden, config.hidden)
        self.relevance = nn.Linear(config.hidden, 1)
        for head in (self.span, self.relevance):
            nn.init.normal_(head.weight, std=0.02)
            nn.init.zeros_(head.bias)

    def forward(self, input_ids: Tensor, token_type_ids: Tensor, attention_mask: Tensor) -> tuple[Tensor, Tensor]:
        """Score a batch.

        Args:
            input_ids: (B, L) tokens of "[CLS] question [SEP] passage [SEP]".
            token_type_ids: (B, L) 0 up to the first [SEP], 1 for the passage and its [SEP].
            attention_mask: (B, L) 1 for tokens, 0 for padding.

        Returns:
            (B, L, 2) scores of each token as first and as last of the answer, [CLS] for none, and (B,) relevance.
        """
        states = self.dropout(self.norm(self.embed(input_ids, token_type_ids)))
        bias = self.attention_bias(attention_mask).to(states.dtype)
        for layer in self.layers:
            states = layer(states, bias)
        pooled = torch.tanh(self.pool(states[:, 0]))
        relevance: Tensor = self.relevance(pooled)
        return self.span(states), relevance[:, 0]

    def embed(self, input_ids: Tensor, token_type_ids: Tensor) -> Tensor:
        """(B, L, hidden) sums of the vectors of words, places and kinds, before their norm."""
        places = torch.arange(input_ids.shape[1], device=input_ids.device)
        vectors: Tensor = self.words(input_ids) + self.positions(places) + self.types(token_type_ids)
        return vectors

    def attention_bias(self, attention_mask: Tensor) -> Tensor:
        """What is added to all layers' attention scores, of a shape that broadcasts to (B, heads, L, L)."""
        return (1 - attention_mask)[:, None, None, :] * EXCLUDED
