"""The config of a next-level encoder; without torch, so that reading one is cheap."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, fields
from typing import Any, Literal, get_args

from nlb_retriever.errors import EncoderError

Backbone = Literal["bert", "modernbert", "neobert"]
_LATER = {"stretch": 1.0}
"""Fields that the first checkpoints lack, and what that means. At these values they are not written either, so
that a checkpoint's identity is the same whichever version made it."""


@dataclass(frozen=True, kw_only=True)
class NextLevelConfig:
    """Shape of a next-level encoder.

    Raises:
        EncoderError: the numbers do not fit together.
    """

    chunk_dim: int | None
    """D, the length of a chunk vector; None for any, which needs layers=0."""
    hidden: int = 384
    """H, the backbone's width."""
    layers: int = 6
    """Of the backbone; 0: a chunk's contextual vector is its own vector."""
    heads: int = 12
    """Attention heads of a layer."""
    intermediate: int = 1536
    positions: int = 512
    """Slots of one window in training, including [CLS] and [SEP]."""
    dropout: float = 0.1
    backbone: Backbone = "bert"
    """The kind of backbone, see `nlb_retriever.model.backbone`."""
    pooling: Literal["mean"] = "mean"
    """How the contextual vectors of a section or book are pooled."""
    stretch: float = 1.0
    """Factor by which a window is longer than `positions`, by position interpolation; may be raised on a trained
    encoder. Longer books go through several windows in any case."""

    def __post_init__(self) -> None:
        if self.backbone not in get_args(Backbone) or self.pooling != "mean":
            raise EncoderError(
                f"unknown backbone {self.backbone!r} or pooling {self.pooling!r}; "
                f"known: {', '.join(map(repr, get_args(Backbone)))}; 'mean'"
            )
        if self.layers < 0 or (self.layers and not self.chunk_dim):
            raise EncoderError(f"{self.layers} layers over chunk vectors of length {self.chunk_dim}")
        if self.hidden % self.heads or self.positions < 4:
            raise EncoderError(
                f"hidden {self.hidden} must be a multiple of heads {self.heads}, "
                f"positions ({self.positions}) at least 4"
            )
        if self.backbone != "bert" and self.hidden // self.heads % 2:
            raise EncoderError(
                f"{self.backbone} rotates pairs of numbers: hidden {self.hidden} / heads {self.heads} must be even"
            )
        if not 1 <= self.stretch < float("inf"):
            raise EncoderError(f"stretch {self.stretch} must be 1 or more")

    @property
    def slots(self) -> int:
        """Slots of one window, stretched."""
        return int(self.positions * self.stretch)

    def to_dict(self) -> dict[str, Any]:
        return {key: value for key, value in asdict(self).items() if key not in _LATER or value != _LATER[key]}

    @classmethod
    def from_dict(cls, values: Mapping[str, Any]) -> NextLevelConfig:
        """Read back what `to_dict` gave.

        Raises:
            EncoderError: a key is unknown or missing, or the numbers do not fit together.
        """
        values = {**_LATER, **values}
        check_keys(values, {field.name for field in fields(cls)}, "the next-level encoder's config")
        return cls(**values)


def check_keys(values: Mapping[str, Any], known: set[str], where: str) -> None:
    """Refuse unknown and missing keys.

    Raises:
        EncoderError: naming them and the known ones.
    """
    if wrong := sorted(set(values) - known):
        raise EncoderError(f"{where} has unknown keys {wrong}; known: {sorted(known)}")
    if missing := sorted(known - set(values)):
        raise EncoderError(f"{where} lacks the keys {missing}")
