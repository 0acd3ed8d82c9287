"""Settings of pretraining; without torch, so that a preset is read quickly."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from nlb_retriever.errors import TrainingError
from nlb_training.settings import check_numbers

Objective = Literal["smooth_l1", "cosine", "contrastive"]


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
        check_numbers(
            self,
            counts=("batch_size", "accumulate", "checkpoint_every", "keep", "validate_every"),
            positive=("learning_rate", "clip", "epochs"),
            shares=("warmup",),
            least_zero=("steps", "weight_decay"),
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
