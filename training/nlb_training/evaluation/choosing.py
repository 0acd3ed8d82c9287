"""The small classifier of multiple choice: [document; question and option] -> one score an option."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import torch
from torch import Tensor, nn
from torch.nn.functional import cross_entropy

from nlb_retriever.encoding import Vectors
from nlb_training.evaluation.metrics import Values
from nlb_training.evaluation.multiple_choice import Choice, by_scores, folds


@dataclass(frozen=True, kw_only=True)
class ChoosingSettings:
    """One hidden layer; the numbers suit some hundred to some thousand questions."""

    hidden: int = 128
    dropout: float = 0.3
    epochs: int = 20
    batch: int = 128
    rate: float = 2e-3
    weight_decay: float = 0.05


def by_classifier(
    choices: Sequence[Choice],
    pairs: Sequence[Vectors],
    documents: Vectors | None,
    seed: int,
    settings: ChoosingSettings | None = None,
) -> Values:
    """Train and judge over all folds.

    Args:
        choices: Q questions.
        pairs: for each question (options, D) vectors of it joined to each option.
        documents: (Q, D) vectors of their documents; None leaves the document out.
        seed: of folds, weights and order.
        settings: of the classifier.

    Returns:
        (Q,), 1 where the right option has the highest score.
    """
    chosen = settings or ChoosingSettings()
    most = max(len(own) for own in pairs)
    parts = 1 if documents is None else 2
    dim = pairs[0].shape[1]
    features = np.zeros((len(pairs), most, parts * dim), dtype=np.float32)
    mask = np.zeros((len(pairs), most), dtype=np.bool_)
    for index, own in enumerate(pairs):
        features[index, : len(own), -dim:] = own
        if documents is not None:
            features[index, : len(own), :dim] = documents[index]
        mask[index, : len(own)] = True
    inputs, there = torch.from_numpy(features * dim**0.5), torch.from_numpy(mask)
    targets = torch.tensor([choice.gold for choice in choices])
    scores = torch.zeros(len(pairs), most)
    with torch.random.fork_rng(devices=[]):
        for fold, (some, others) in enumerate(folds(choices, seed)):
            torch.manual_seed(1000 * seed + fold)
            model = _train(inputs[some], there[some], targets[some], chosen)
            with torch.inference_mode():
                scores[others] = _scores(model, inputs[others], there[others])
    return by_scores([own[: len(pair)].numpy() for own, pair in zip(scores, pairs, strict=True)], choices)


def _train(inputs: Tensor, there: Tensor, targets: Tensor, settings: ChoosingSettings) -> nn.Module:
    model = nn.Sequential(
        nn.Linear(inputs.shape[-1], settings.hidden),
        nn.GELU(),
        nn.Dropout(settings.dropout),
        nn.Linear(settings.hidden, 1),
    )
    optimizer = torch.optim.AdamW(model.parameters(), lr=settings.rate, weight_decay=settings.weight_decay)
    for _ in range(settings.epochs):
        for places in torch.split(torch.randperm(len(inputs)), settings.batch):
            loss = cross_entropy(_scores(model, inputs[places], there[places]), targets[places])
            optimizer.zero_grad()
            loss.backward()  # type: ignore[no-untyped-call]
            optimizer.step()
    return model.eval()


def _scores(model: nn.Module, inputs: Tensor, there: Tensor) -> Tensor:
    """(Q, options) scores; places without an option get none."""
    scores: Tensor = model(inputs)[..., 0].masked_fill(~there, -torch.inf)
    return scores
