"""Masked-chunk pretraining: the backbone learns to predict masked chunk vectors from those around them.

The recipe of NextLevelBERT (arXiv 2402.17682, section 3): 15% of the chunk vectors, 80/10/10, an MLP head over
the backbone's hidden states, smooth-L1 averaged per sample, packed documents with [SEP], AdamW at 1e-4 with 5%
warm-up and a cosine, the backbone started from the chunk encoder's own weights with new positions. The objective
"contrastive" is SMITH's (arXiv 2004.12297): pick the masked chunk among all chunks of the batch.

The result is a plain `NextLevelEncoder`: the head is dropped, the residual layer is unchanged.
Shapes: B rows, C slots of a row, D chunk_dim, H hidden, N predictions.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING

import torch
from torch import Tensor, nn

from nlb_retriever.encoding import DEFAULT_ENCODER
from nlb_retriever.encoding.load import load_torch_encoder
from nlb_retriever.errors import TrainingError
from nlb_retriever.model.backbone import copy_backbone
from nlb_retriever.model.config import NextLevelConfig
from nlb_retriever.model.next_level import NextLevelEncoder
from nlb_training.corpus import Corpus
from nlb_training.events import StepObserver
from nlb_training.pretraining.history import History
from nlb_training.pretraining.loop import run_training
from nlb_training.pretraining.masking import MaskedRows, choose_chunks, mask_chunks
from nlb_training.pretraining.objectives import (
    average_per_sample,
    candidate_logits,
    contrast_candidates,
    measure_distances,
)
from nlb_training.pretraining.sequences import Sequences, pad_rows
from nlb_training.pretraining.settings import LoopSettings, PretrainingSettings

if TYPE_CHECKING:
    from transformers import BertModel


class MaskedChunkModel(nn.Module):
    """A next-level encoder with a head that predicts masked chunk vectors."""

    def __init__(self, encoder: NextLevelEncoder, settings: PretrainingSettings) -> None:
        super().__init__()
        dim, hidden = encoder.config.chunk_dim, encoder.config.hidden
        if not encoder.config.layers or dim is None:
            raise TrainingError("an encoder without layers has nothing to pretrain: give it a backbone")
        self.encoder = encoder
        self.settings = settings
        last = nn.Linear(hidden, dim)
        nn.init.normal_(last.weight, std=hidden**-0.5 * dim**-0.5)  # about unit length
        nn.init.zeros_(last.bias)
        self.head = nn.Sequential(nn.Linear(hidden, hidden), nn.GELU(), nn.LayerNorm(hidden), last)

    def forward(self, chunks: Tensor, mask: Tensor, separators: Tensor) -> dict[str, Tensor]:
        """Mask some chunks, predict them, and compute the loss.

        Args:
            chunks: (B, C, D) unit vectors.
            mask: (B, C) bool, True at used slots.
            separators: (B, C) bool, True at [SEP] between two books.

        Returns:
            {"loss": ()}
        """
        rows = self.mask(chunks, mask & ~separators)
        predictions = self.predict(rows, mask, separators)
        return {"loss": self.compute_loss(predictions, chunks, mask & ~separators, rows.chosen)}

    def mask(self, chunks: Tensor, maskable: Tensor, generator: torch.Generator | None = None) -> MaskedRows:
        """Choose and mask chunks, never special vectors; a generator of None is torch's own."""
        settings = self.settings
        chosen = choose_chunks(maskable, settings.masking, generator)
        return mask_chunks(
            chunks, maskable, chosen, as_mask=settings.as_mask, as_other=settings.as_other, generator=generator
        )

    def predict(self, rows: MaskedRows, mask: Tensor, separators: Tensor) -> Tensor:
        """Predictions (N, D) of the chosen chunks, row by row."""
        states = self.encoder.hidden_states(rows.shown, mask, rows.masked, separators)[:, 1:-1]  # (B, C, H)
        predictions: Tensor = self.head(states[rows.chosen])
        return predictions

    def compute_loss(self, predictions: Tensor, chunks: Tensor, maskable: Tensor, chosen: Tensor) -> Tensor:
        """The objective () of predictions (N, D), averaged per sample."""
        kind = self.settings.objective
        if kind == "contrastive":
            candidates, own = chunks[maskable], index_among(maskable, chosen)
            losses = contrast_candidates(predictions.float(), candidates, own, self.settings.temperature)
        else:
            losses = measure_distances(predictions.float(), chunks[chosen], kind)
        return average_per_sample(losses, chosen.nonzero()[:, 0], len(chunks))


def index_among(maskable: Tensor, chosen: Tensor) -> Tensor:
    """(N,), the index of each chosen chunk among all chunks of the batch."""
    return (maskable.flatten().cumsum(0) - 1)[chosen.flatten()]


def validate_pretraining(model: MaskedChunkModel, rows: Sequences, *, batch_size: int) -> dict[str, float]:
    """Figures on held-out books, with the same masks each time.

    Args:
        model: in eval mode.
        rows: of the held-out books.
        batch_size: rows of a batch; more rows make the accuracy harder.

    Returns:
        loss: the objective, as in training.
        cosine: of predictions with the masked chunks, mean over those replaced by [MASK].
        accuracy: share of those predictions that are nearest to their chunk, of all chunks of the batch.
    """
    device = model.encoder.specials.device
    generator = torch.Generator(device).manual_seed(0)
    loss = cosine = accuracy = 0.0
    count = 0
    for start in range(0, len(rows), batch_size):  # a DataLoader would use torch's own generator
        batch = pad_rows([rows[index] for index in range(start, min(start + batch_size, len(rows)))])
        chunks, mask, separators = (batch[key].to(device) for key in ("chunks", "mask", "separators"))
        maskable = mask & ~separators
        masked_rows = model.mask(chunks, maskable, generator)
        predictions = model.predict(masked_rows, mask, separators)  # (N, D)
        loss += float(model.compute_loss(predictions, chunks, maskable, masked_rows.chosen)) * len(chunks)
        masked = masked_rows.masked[masked_rows.chosen]  # (N,)
        own = index_among(maskable, masked_rows.masked)
        predictions = predictions[masked]
        logits = candidate_logits(predictions, chunks[maskable], own, 1.0)  # cosines (N, M)
        cosine += float(logits.gather(1, own[:, None]).sum())
        accuracy += float((logits.argmax(1) == own).sum())
        count += len(predictions)
    return {"loss": loss / len(rows), "cosine": cosine / max(count, 1), "accuracy": accuracy / max(count, 1)}


def new_encoder(
    config: NextLevelConfig,
    settings: PretrainingSettings,
    *,
    chunk_encoder: str | Path = DEFAULT_ENCODER,
    seed: int = 0,
) -> NextLevelEncoder:
    """Build an encoder to be pretrained.

    Args:
        config: its shape.
        settings: whether its backbone starts from the chunk encoder's weights.
        chunk_encoder: name or folder of that encoder.
        seed: of all other weights.

    Raises:
        EncoderError: the backbone differs from that encoder in shape, or the encoder is not found.
    """
    with torch.random.fork_rng():
        torch.manual_seed(seed)
        encoder = NextLevelEncoder(config)
    if settings.start == "chunk_encoder" and config.layers:
        source: BertModel = load_torch_encoder(chunk_encoder).model[0].auto_model  # type: ignore[assignment]
        copy_backbone(source, encoder.backbone)
    return encoder


def pretrain(
    encoder: NextLevelEncoder,
    corpus: Corpus,
    settings: PretrainingSettings,
    loop: LoopSettings,
    folder: str | Path,
    *,
    held_out: Corpus | None = None,
    observer: StepObserver | None = None,
) -> History:
    """Pretrain an encoder in place: a new one (`new_encoder`) or a trained one on other books.

    A run that was stopped goes on from the folder's last checkpoint.

    Args:
        encoder: left in eval mode on the CPU.
        corpus: chunk vectors of the books to train on.
        settings: of the objective.
        loop: of the run.
        folder: of the run, see `nlb_training.pretraining.loop`.
        held_out: books to validate on, see `validate_pretraining`.
        observer: called at every step.

    Raises:
        TrainingInterrupted: stopped before its end; a checkpoint was written.
        TrainingError: no usable book, a broken vector, or see `run_training`.
    """
    if corpus.encoder.dim != encoder.config.chunk_dim:
        raise TrainingError(
            f"the corpus holds {corpus.encoder.dim}-d vectors of {corpus.encoder.name}, the encoder takes "
            f"{encoder.config.chunk_dim}-d ones: encode the books again, or change chunk_dim"
        )
    with torch.random.fork_rng():
        torch.manual_seed(loop.seed)
        model = MaskedChunkModel(encoder, settings)
    rows = Sequences(corpus, encoder.window, seed=loop.seed)
    held_out_rows = Sequences(held_out, encoder.window) if held_out else None

    def validate(trained: nn.Module) -> Mapping[str, float]:
        assert held_out_rows is not None and isinstance(trained, MaskedChunkModel)
        return validate_pretraining(trained, held_out_rows, batch_size=loop.batch_size)

    return run_training(
        model,
        rows,
        pad_rows,
        loop,
        folder,
        observer=observer,
        validate=validate if held_out_rows else None,
    )
