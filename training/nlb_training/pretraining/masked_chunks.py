"""Masked-chunk pretraining: the trunk learns to guess hidden chunk vectors from those around them.

The recipe of NextLevelBERT (arXiv 2402.17682, section 3): 15% of the chunk vectors, 80/10/10, an MLP head over
the trunk's hidden states, smooth-L1 averaged per sample, packed documents with [SEP], AdamW at 1e-4 with 5%
warm-up and a cosine, the trunk started from the chunk encoder's own weights with new positions. The objective
"contrastive" is SMITH's (arXiv 2004.12297): pick the hidden chunk among all chunks of the batch.

Only the head is thrown away: what comes back is a plain `NextLevelEncoder`, whose residual is untouched.
Shapes: B rows, C slots of a row, D chunk_dim, H hidden, N guesses.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Literal

import torch
from torch import Tensor, nn

from nlb_retriever.encoding import DEFAULT_ENCODER
from nlb_retriever.encoding.load import load_torch_encoder
from nlb_retriever.errors import TrainingError
from nlb_retriever.model.backbone import copy_trunk
from nlb_retriever.model.config import NextLevelConfig
from nlb_retriever.model.next_level import NextLevelEncoder
from nlb_training.pretraining.loop import History, LoopSettings, Observer, run_training
from nlb_training.pretraining.masking import MaskedRows, choose_chunks, mask_chunks
from nlb_training.pretraining.objectives import Objective, average_per_sample, choices, contrasts, distances
from nlb_training.pretraining.sequences import ChunkedBooks, Sequences, pad_rows

if TYPE_CHECKING:
    from transformers import BertModel


@dataclass(frozen=True, kw_only=True)
class PretrainingSettings:
    """What is hidden and how a guess is measured; the defaults are the paper's.

    Raises:
        TrainingError: a number cannot be.
    """

    masking: float = 0.15
    """Share of the chunks to be guessed."""
    as_mask: float = 0.8
    """Probability that the trunk sees [MASK] in such a chunk's place."""
    as_other: float = 0.1
    """Probability that it sees another chunk of the batch; the rest it sees as they are."""
    objective: Objective = "smooth_l1"
    temperature: float = 0.05
    """Of the contrastive objective: cosines are divided by it."""
    start: Literal["chunk_encoder", "random"] = "chunk_encoder"
    """Where a new trunk's weights come from; "chunk_encoder" asks for the backbone "bert" in that encoder's shape."""

    def __post_init__(self) -> None:
        if not 0 < self.masking < 1 or self.temperature <= 0:
            raise TrainingError(
                f"masking ({self.masking}) must lie between 0 and 1, temperature ({self.temperature}) above 0"
            )
        if self.as_mask < 0 or self.as_other < 0 or self.as_mask + self.as_other > 1:
            raise TrainingError(f"as_mask ({self.as_mask}) and as_other ({self.as_other}) must be shares of 1")


class MaskedChunkModel(nn.Module):
    """A next-level encoder with a head that guesses hidden chunk vectors."""

    def __init__(self, encoder: NextLevelEncoder, settings: PretrainingSettings) -> None:
        super().__init__()
        dim, hidden = encoder.config.chunk_dim, encoder.config.hidden
        if not encoder.config.layers or dim is None:
            raise TrainingError("an encoder without layers has nothing to pretrain: give it a trunk")
        self.encoder = encoder
        self.settings = settings
        last = nn.Linear(hidden, dim)
        nn.init.normal_(last.weight, std=hidden**-0.5 * dim**-0.5)  # first guesses are as long as chunk vectors
        nn.init.zeros_(last.bias)
        self.head = nn.Sequential(nn.Linear(hidden, hidden), nn.GELU(), nn.LayerNorm(hidden), last)

    def forward(self, chunks: Tensor, mask: Tensor, separators: Tensor) -> dict[str, Tensor]:
        """Hide some chunks, guess them, and say how far off the guesses are.

        Args:
            chunks: (B, C, D) unit vectors.
            mask: (B, C) bool, True where a slot is used.
            separators: (B, C) bool, True at a [SEP] between two books.

        Returns:
            {"loss": ()}
        """
        rows = self.hide(chunks, mask & ~separators)
        guesses = self.guess(rows, mask, separators)
        return {"loss": self.measure(guesses, chunks, mask & ~separators, rows.chosen)}

    def hide(self, chunks: Tensor, maskable: Tensor, generator: torch.Generator | None = None) -> MaskedRows:
        """Choose and hide chunks, never a special vector; None draws from torch's own generator."""
        settings = self.settings
        chosen = choose_chunks(maskable, settings.masking, generator)
        return mask_chunks(
            chunks, maskable, chosen, as_mask=settings.as_mask, as_other=settings.as_other, generator=generator
        )

    def guess(self, rows: MaskedRows, mask: Tensor, separators: Tensor) -> Tensor:
        """Guesses (N, D) of the chosen chunks, row by row."""
        states = self.encoder.hidden_states(rows.shown, mask, rows.masked, separators)[:, 1:-1]  # (B, C, H)
        guesses: Tensor = self.head(states[rows.chosen])
        return guesses

    def measure(self, guesses: Tensor, chunks: Tensor, maskable: Tensor, chosen: Tensor) -> Tensor:
        """The objective () of guesses (N, D), averaged per sample."""
        kind = self.settings.objective
        if kind == "contrastive":
            candidates, own = chunks[maskable], places_among(maskable, chosen)
            losses = contrasts(guesses.float(), candidates, own, self.settings.temperature)
        else:
            losses = distances(guesses.float(), chunks[chosen], kind)
        return average_per_sample(losses, chosen.nonzero()[:, 0], len(chunks))


def places_among(maskable: Tensor, chosen: Tensor) -> Tensor:
    """(N,) for each chosen chunk its index among all chunks of the batch."""
    return (maskable.flatten().cumsum(0) - 1)[chosen.flatten()]


def validate_pretraining(
    model: MaskedChunkModel, rows: Sequences, *, batch_size: int, seed: int = 0
) -> dict[str, float]:
    """Figures on held-out books, with the same masks each time.

    Args:
        model: in eval mode.
        rows: of the held-out books.
        batch_size: rows of a batch: the more, the harder to pick the hidden chunk.
        seed: of the masks.

    Returns:
        loss: the objective, as in training.
        cosine: of a guess with the chunk that was hidden, mean over those behind [MASK].
        accuracy: share of those guesses that are nearest to the hidden chunk, of all chunks of the batch.
    """
    device = model.encoder.specials.device
    generator = torch.Generator(device).manual_seed(seed)
    loss = cosine = accuracy = 0.0
    hidden = 0
    for start in range(0, len(rows), batch_size):  # a DataLoader would draw from torch's own generator
        batch = pad_rows([rows[index] for index in range(start, min(start + batch_size, len(rows)))])
        chunks, mask, separators = (batch[key].to(device) for key in ("chunks", "mask", "separators"))
        maskable = mask & ~separators
        masked_rows = model.hide(chunks, maskable, generator)
        guesses = model.guess(masked_rows, mask, separators)  # (N, D)
        loss += float(model.measure(guesses, chunks, maskable, masked_rows.chosen)) * len(chunks)
        behind_mask = masked_rows.masked[masked_rows.chosen]  # (N,)
        own = places_among(maskable, masked_rows.masked)
        guesses = guesses[behind_mask]
        logits = choices(guesses, chunks[maskable], own, 1.0)  # cosines (N, M)
        cosine += float(logits.gather(1, own[:, None]).sum())
        accuracy += float((logits.argmax(1) == own).sum())
        hidden += len(guesses)
    return {"loss": loss / len(rows), "cosine": cosine / max(hidden, 1), "accuracy": accuracy / max(hidden, 1)}


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
        settings: whether its trunk starts from the chunk encoder's own weights.
        chunk_encoder: name or folder of that encoder.
        seed: of all other weights.

    Raises:
        EncoderError: the trunk has not that encoder's shape, or it is not to be found.
    """
    with torch.random.fork_rng():
        torch.manual_seed(seed)
        encoder = NextLevelEncoder(config)
    if settings.start == "chunk_encoder" and config.layers:
        source: BertModel = load_torch_encoder(chunk_encoder).model[0].auto_model  # type: ignore[assignment]
        copy_trunk(source, encoder.trunk)
    return encoder


def pretrain(
    encoder: NextLevelEncoder,
    corpus: ChunkedBooks,
    settings: PretrainingSettings,
    loop: LoopSettings,
    folder: str | Path,
    *,
    held_out: ChunkedBooks | None = None,
    resume: bool = False,
    observer: Observer | None = None,
) -> History:
    """Pretrain an encoder in place, a new one (`new_encoder`) or a trained one on books of another kind.

    Args:
        encoder: left in eval mode on the CPU.
        corpus: chunk vectors of the books to train on.
        settings: of the objective.
        loop: of the run.
        folder: of the run, see `nlb_training.pretraining.loop`.
        held_out: books to report figures on, see `validate_pretraining`.
        resume: go on from the folder's last checkpoint.
        observer: told of every step.

    Raises:
        TrainingInterrupted: stopped before its end; a checkpoint was written.
        TrainingError: no usable book, a broken vector, other settings than those resumed, or see `run_training`.
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
        resume=resume,
        observer=observer,
        validate=validate if held_out_rows else None,
        stage={
            "pretraining": asdict(settings),
            "model": encoder.config.to_dict(),
            "chunk_encoder": corpus.encoder.sha256,
        },
    )
