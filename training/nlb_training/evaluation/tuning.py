"""Fine-tuning of a next-level encoder with a linear head, to classify long documents as in the paper.

A document's chunk vectors go through the encoder; the mean of the contextual vectors goes through a linear
layer to the labels. In training, one random window of a document is used; in prediction, consecutive windows, whose
logits are averaged.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import torch
from torch import Tensor, nn
from torch.nn.functional import cross_entropy, normalize

from nlb_retriever.encoding import Vectors
from nlb_retriever.model.checkpoint import Checkpoint
from nlb_training.evaluation.classification import Classify


@dataclass(frozen=True, kw_only=True)
class TuningSettings:
    """A few epochs are enough for some hundred documents."""

    epochs: int = 5
    batch: int = 8
    backbone_rate: float = 5e-5
    head_rate: float = 5e-3
    weight_decay: float = 0.01


def classify_fine_tuned(
    books: Sequence[Vectors], checkpoint: Checkpoint, settings: TuningSettings | None = None
) -> Classify:
    """A classifier that fine-tunes the checkpoint on the documents' chunk vectors, each (C, D)."""
    chosen = settings or TuningSettings()

    def classify(training: Sequence[int], labels: Sequence[str], others: Sequence[int], seed: int) -> Sequence[str]:
        names = sorted({*labels})
        with torch.random.fork_rng(devices=[]):
            torch.manual_seed(seed)
            model = _Classifier(checkpoint, books[0].shape[1], len(names))
            targets = torch.tensor([names.index(label) for label in labels])
            _train(model, [torch.from_numpy(books[index]) for index in training], targets, chosen)
        model.eval()
        with torch.inference_mode():
            scores = [model.predict(torch.from_numpy(books[index])) for index in others]
        return [names[int(score.argmax())] for score in scores]

    return classify


class _Classifier(nn.Module):
    def __init__(self, checkpoint: Checkpoint, dim: int, labels: int) -> None:
        super().__init__()
        self.encoder = checkpoint.build()
        self.head = nn.Linear(dim, labels)
        self.scale = dim**0.5
        """Scales the numbers of a unit vector to about one."""

    def forward(self, chunks: Tensor, mask: Tensor) -> Tensor:
        """Logits (B, labels) of windows (B, C, D) with their mask (B, C)."""
        contextual = self.encoder(chunks, mask) * mask[..., None]  # (B, C, D)
        logits: Tensor = self.head(normalize(contextual.sum(1), dim=-1) * self.scale)
        return logits

    def predict(self, chunks: Tensor) -> Tensor:
        """Logits (labels,) of a document (C, D)."""
        windows = list(torch.split(chunks, self.encoder.window))
        return torch.stack([self(window[None], _whole(window)[None])[0] for window in windows]).mean(0)


def _train(model: _Classifier, books: Sequence[Tensor], targets: Tensor, settings: TuningSettings) -> None:
    counts = torch.bincount(targets)
    weights = len(targets) / (len(counts) * counts.clamp(min=1))  # balanced, as for frozen vectors
    optimizer = torch.optim.AdamW(
        [
            {"params": model.encoder.parameters(), "lr": settings.backbone_rate},
            {"params": model.head.parameters(), "lr": settings.head_rate},
        ],
        weight_decay=settings.weight_decay,
    )
    model.train()
    for _ in range(settings.epochs):
        for batch in torch.split(torch.randperm(len(books)), settings.batch):
            windows = [_window(books[index], model.encoder.window) for index in batch.tolist()]
            chunks = nn.utils.rnn.pad_sequence(windows, batch_first=True)  # (B, C, D)
            mask = nn.utils.rnn.pad_sequence([_whole(window) for window in windows], batch_first=True)  # (B, C)
            loss = cross_entropy(model(chunks, mask), targets[batch], weight=weights)
            optimizer.zero_grad()
            loss.backward()  # type: ignore[no-untyped-call]
            optimizer.step()


def _window(chunks: Tensor, longest: int) -> Tensor:
    """A random run of at most `longest` chunks."""
    start = int(torch.randint(0, max(1, len(chunks) - longest + 1), ()))
    return chunks[start : start + longest]


def _whole(chunks: Tensor) -> Tensor:
    return torch.ones(len(chunks), dtype=torch.bool)
