"""The backbones of a next-level encoder: transformers over vectors with attention in both directions.

All are models of the transformers library, with `inputs_embeds` in place of token ids:

    bert        BERT, as in NextLevelBERT (arXiv 2402.17682): learned positions, GELU, post-norm
    modernbert  ModernBERT (arXiv 2412.13663): RoPE, GeGLU, pre-norm; every third layer attends to all slots, the
                others to those within 64 positions
    neobert     the block of NeoBERT (arXiv 2502.19587): RoPE, pre-RMSNorm, SwiGLU, for deep and narrow models;
                run as EuroBERT's model, which has the same block. Dropout is in its attention only

`stretch` is position interpolation (arXiv 2306.15595): a backbone trained on `positions` slots takes `stretch`
times as many, with positions scaled into the range it was trained on. BERT's learned positions are interpolated
between neighbours, RoPE's angles divided; ModernBERT's local layers need neither. The weights do not depend on it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import torch
from torch import Tensor, nn

from nlb_retriever.errors import EncoderError

if TYPE_CHECKING:
    from transformers import BertModel

    from nlb_retriever.model.config import NextLevelConfig

_ROPE_THETA = {"modernbert": 160_000.0, "neobert": 10_000.0}
"""Base of the angles; for ModernBERT of its global layers."""


def build_backbone(config: NextLevelConfig) -> nn.Module:
    """Build a backbone with random weights; it takes `inputs_embeds` (B, S, H) and `attention_mask` (B, S)."""
    backbone: nn.Module = {"bert": _bert, "modernbert": _modernbert, "neobert": _neobert}[config.backbone](config)
    backbone.get_input_embeddings().requires_grad_(False)  # type: ignore[operator]  # unused: inputs are vectors
    return backbone


def copy_backbone(source: BertModel, backbone: nn.Module) -> None:
    """Initialise a BERT backbone with a chunk encoder's weights.

    Copied are the layers, the norm before them and the type embedding; not the positions, which a chunk encoder
    learned for words.

    Args:
        source: the chunk encoder's transformer.
        backbone: of a next-level encoder with the backbone "bert".

    Raises:
        EncoderError: the two differ in kind or shape.
    """
    own, other = _shape(backbone), _shape(source)
    if own != other:
        raise EncoderError(
            f"the backbone is {own} and cannot start from the chunk encoder's weights, which are {other}: "
            "give it that shape, or start it at random"
        )
    new = {"embeddings.word_embeddings.weight", "embeddings.position_embeddings.weight"}
    target = backbone.state_dict()
    with torch.no_grad():
        for name, tensor in source.state_dict().items():
            if name in target and name not in new:
                target[name].copy_(tensor[: len(target[name])])


def _shape(model: nn.Module) -> str:
    config: Any = model.config
    words = [f"{getattr(config, key, '?')} {key}" for key in ("hidden_size", "num_hidden_layers")]
    words += [f"{getattr(config, key, '?')} {key}" for key in ("num_attention_heads", "intermediate_size")]
    return " ".join([config.model_type, *words])


class _StretchedPositions(nn.Embedding):
    """A table of positions with more slots than rows; slots between two rows are interpolated."""

    def __init__(self, rows: int, dim: int, slots: int) -> None:
        super().__init__(rows, dim)
        nn.init.normal_(self.weight, std=0.02)  # BERT's
        self.slots = slots

    def forward(self, input: Tensor) -> Tensor:
        positions = input * ((self.num_embeddings - 1) / (self.slots - 1))
        before = positions.long().clamp(max=self.num_embeddings - 2)
        share = (positions - before)[..., None].to(self.weight.dtype)
        return torch.lerp(super().forward(before), super().forward(before + 1), share)


def _bert(config: NextLevelConfig) -> Any:
    from transformers import BertConfig, BertModel

    backbone = BertModel(
        BertConfig(
            vocab_size=1,
            type_vocab_size=1,
            hidden_size=config.hidden,
            num_hidden_layers=config.layers,
            num_attention_heads=config.heads,
            intermediate_size=config.intermediate,
            max_position_embeddings=config.slots,
            hidden_dropout_prob=config.dropout,
            attention_probs_dropout_prob=config.dropout,
        ),
        add_pooling_layer=False,
    )
    if config.slots != config.positions:
        stretched = _StretchedPositions(config.positions, config.hidden, config.slots)
        backbone.embeddings.position_embeddings = stretched
    return backbone


def _modernbert(config: NextLevelConfig) -> Any:
    from transformers import ModernBertConfig, ModernBertModel

    return ModernBertModel(
        ModernBertConfig(
            vocab_size=1,
            pad_token_id=0,
            bos_token_id=None,
            eos_token_id=None,
            cls_token_id=None,
            sep_token_id=None,
            hidden_size=config.hidden,
            num_hidden_layers=config.layers,
            num_attention_heads=config.heads,
            intermediate_size=config.intermediate,
            max_position_embeddings=config.slots,
            rope_parameters={
                "full_attention": _rope(config),
                "sliding_attention": {"rope_type": "default", "rope_theta": 10_000.0},
            },
            embedding_dropout=config.dropout,
            attention_dropout=config.dropout,
            mlp_dropout=config.dropout,
        )
    )


def _neobert(config: NextLevelConfig) -> Any:
    from transformers import EuroBertConfig, EuroBertModel

    return EuroBertModel(
        EuroBertConfig(
            vocab_size=1,
            pad_token_id=None,
            bos_token_id=None,
            eos_token_id=None,
            mask_token_id=0,
            hidden_size=config.hidden,
            num_hidden_layers=config.layers,
            num_attention_heads=config.heads,
            intermediate_size=config.intermediate,
            max_position_embeddings=config.slots,
            rope_parameters=_rope(config),
            attention_dropout=config.dropout,
        )
    )


def _rope(config: NextLevelConfig) -> dict[str, Any]:
    theta = _ROPE_THETA[config.backbone]
    if config.slots == config.positions:
        return {"rope_type": "default", "rope_theta": theta}
    return {"rope_type": "linear", "rope_theta": theta, "factor": config.stretch}
