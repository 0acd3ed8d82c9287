"""Settings of pretraining; without torch, so that a preset is read quickly."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from nlb_retriever.errors import TrainingError

Objective = Literal["smooth_l1", "l1", "l2", "cosine", "contrastive"]


@dataclass(frozen=True, kw_only=True)
class LoopSettings:
    """How a model is trained: AdamW, a linear warm-up, then a cosine to zero.

    Raises:
        TrainingError: a number is out of range.
    """

    epochs: float = 1.0
    """Passes over the data; used if `steps` is 0."""
    steps: int = 0
    """Of the optimizer; 0: as many as the epochs take."""
    batch_size: int = 16
    """Rows of a batch on one device."""
    accumulate: int = 1
    """Batches of a step."""
    learning_rate: float = 1e-4
    """At its peak."""
    warmup: float = 0.05
    """Share of the steps over which the learning rate rises."""
    weight_decay: float = 0.01
    """Of all weights but biases and norms."""
    clip: float = 1.0
    """Maximum norm of the gradient over all parameters."""
    seed: int = 0
    """Of the order of rows, dropout and masks."""
    checkpoint_every: int = 500
    """Steps."""
    keep: int = 2
    """Number of checkpoints kept, the last ones."""
    validate_every: int = 500
    """Steps."""
    device: Literal["auto", "cpu"] = "auto"
    """"auto": CUDA in bf16 if available, else the CPU in fp32."""

    def __post_init__(self) -> None:
        for key in ("batch_size", "accumulate", "checkpoint_every", "keep", "validate_every"):
            if getattr(self, key) < 1:
                raise TrainingError(f"{key} is {getattr(self, key)}, must be 1 or more")
        for key in ("learning_rate", "clip", "epochs"):
            if not 0 < getattr(self, key) < float("inf"):
                raise TrainingError(f"{key} is {getattr(self, key)}, must be more than 0")
        if self.steps < 0 or self.weight_decay < 0 or not 0 <= self.warmup < 1:
            raise TrainingError(
                f"steps ({self.steps}) and weight_decay ({self.weight_decay}) must be 0 or more, "
                f"warmup ({self.warmup}) a share of the steps below 1"
            )


@dataclass(frozen=True, kw_only=True)
class PretrainingSettings:
    """Masking and objective; the defaults are those of the NextLevelBERT paper.

    Raises:
        TrainingError: a number is out of range.
    """

    masking: float = 0.15
    """Share of the chunks to be predicted."""
    as_mask: float = 0.8
    """Probability that such a chunk is replaced by [MASK]."""
    as_other: float = 0.1
    """Probability that it is replaced by another chunk of the batch; otherwise it is left as it is."""
    objective: Objective = "smooth_l1"
    temperature: float = 0.05
    """Of the contrastive objective: cosines are divided by it."""
    start: Literal["chunk_encoder", "random"] = "chunk_encoder"
    """Initial weights of a new backbone; "chunk_encoder" needs the backbone "bert" in that encoder's shape."""

    def __post_init__(self) -> None:
        if not 0 < self.masking < 1 or self.temperature <= 0:
            raise TrainingError(
                f"masking ({self.masking}) must lie between 0 and 1, temperature ({self.temperature}) above 0"
            )
        if self.as_mask < 0 or self.as_other < 0 or self.as_mask + self.as_other > 1:
            raise TrainingError(
                f"as_mask ({self.as_mask}) and as_other ({self.as_other}) must be 0 or more and at most 1 together"
            )
