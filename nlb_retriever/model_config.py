"""What rebuilds a next-level encoder besides its weights; free of torch, so that identities are cheap."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, fields
from typing import Any, Literal

from nlb_retriever.errors import EncoderError


@dataclass(frozen=True, kw_only=True)
class NextLevelConfig:
    """Shape of a next-level encoder.

    Raises:
        EncoderError: the numbers do not go together.
    """

    chunk_dim: int | None
    """D, the length of a chunk vector; None for any, which only an encoder without layers can take."""
    hidden: int = 384
    """H, the trunk's width."""
    layers: int = 6
    """Of the trunk; without any, a chunk's contextual vector is its own vector."""
    heads: int = 12
    intermediate: int = 1536
    positions: int = 512
    """Slots of one window, [CLS] and [SEP] among them."""
    dropout: float = 0.1
    backbone: Literal["bert"] = "bert"
    pooling: Literal["mean"] = "mean"
    """How a section's or book's vector is made of its chunks' contextual vectors."""

    def __post_init__(self) -> None:
        if self.backbone != "bert" or self.pooling != "mean":
            raise EncoderError(f"unknown backbone {self.backbone!r} or pooling {self.pooling!r}; known: 'bert', 'mean'")
        if self.layers < 0 or (self.layers and not self.chunk_dim):
            raise EncoderError(f"{self.layers} layers over chunk vectors of length {self.chunk_dim}")
        if self.hidden % self.heads or self.positions < 4:
            raise EncoderError(
                f"hidden {self.hidden} must be a multiple of heads {self.heads}, "
                f"positions ({self.positions}) at least 4"
            )

    def to_dict(self) -> dict[str, Any]:
        return asdict(self)

    @classmethod
    def from_dict(cls, values: Mapping[str, Any]) -> NextLevelConfig:
        """Read back what `to_dict` made.

        Raises:
            EncoderError: a key is unknown or missing, or the numbers do not go together.
        """
        check_keys(values, {field.name for field in fields(cls)}, "the next-level encoder's config")
        return cls(**values)


def check_keys(values: Mapping[str, Any], known: set[str], where: str) -> None:
    """Refuse keys that are not known, and known ones that are missing.

    Raises:
        EncoderError: naming them beside the known ones.
    """
    if wrong := sorted(set(values) - known):
        raise EncoderError(f"{where} has unknown keys {wrong}; known: {sorted(known)}")
    if missing := sorted(known - set(values)):
        raise EncoderError(f"{where} lacks the keys {missing}")
