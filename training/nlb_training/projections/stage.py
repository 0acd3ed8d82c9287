"""The retrieval stage of a run: encode queries, train and validate projections and reranker, train on all books.

Its folder holds projections.npz (written last), figures.json, loss.json and loss.png.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
import torch
from torch import Tensor

from nlb_retriever.encoding import ChunkEncoder, Vectors
from nlb_retriever.errors import EncoderError
from nlb_retriever.model.next_level import NextLevelEncoder
from nlb_retriever.model.projections import Projections
from nlb_training.array_files import read_arrays, write_arrays
from nlb_training.corpus import Corpus
from nlb_training.data.dataset import RetrievalDataset, build_dataset
from nlb_training.data.examples import Example
from nlb_training.data.queries import encode_queries
from nlb_training.events import QueryEvent, TrainingEvent
from nlb_training.plots import draw_losses
from nlb_training.pretraining.history import LOSS_FILE, PLOT_FILE, History
from nlb_training.projections.ranking import measure
from nlb_training.projections.reranking import MIN_BOOKS, list_candidates, measure_reranker, train_reranker
from nlb_training.projections.settings import RetrievalSettings
from nlb_training.projections.trainable import whiten
from nlb_training.projections.training import train_projections
from nlb_training.settings import write_json

PROJECTIONS, FIGURES, QUERIES = "projections.npz", "figures.json", "queries"
_MIN_BOOKS_HELD_OUT = 3
"""Of the corpus; with fewer, none are held out."""


@dataclass(frozen=True, kw_only=True)
class RetrievalResult:
    """The result of the stage."""

    projections: Projections
    figures: Mapping[str, Any]
    """As in figures.json: `trained`, `steps` and `order_dim`; numbers of books and examples; if books were held out
    `held_out` (MRR of "raw", "start" and "trained") and `reranker` (MRR before and after)."""


def train_retrieval(
    corpus: Corpus,
    examples: Sequence[Example],
    settings: RetrievalSettings,
    folder: Path,
    *,
    seed: int,
    load: Callable[[], ChunkEncoder],
    encoder: NextLevelEncoder | None = None,
    start: Projections | None = None,
    observer: Callable[[TrainingEvent | QueryEvent], None] | None = None,
) -> RetrievalResult:
    """Train projections and reranker, and write them to a folder.

    If the trained projections are worse than their start on held-out books, in the mean over the kinds of queries,
    the start is the result, and `figures["trained"]` is False.

    Args:
        corpus: the books, each in the chunking of libraries.
        examples: each with the `source` of its book as its file.
        settings: of the training.
        folder: of the stage.
        seed: of all random choices.
        load: loads the chunk encoder; called if a query is not cached.
        encoder: whose contextual vectors are pooled; None (or one without layers) for the chunk vectors.
        start: initial projections; None for whitened ones.
        observer: called as queries are encoded, and at every step.

    Raises:
        TrainingError: vectors or the loss are NaN or infinite.
        EncoderError: the chunk encoder cannot be loaded, or gave no unit vectors.
        OSError: the folder cannot be written.
    """
    queries = encode_queries(
        [example.query for example in examples],
        corpus.folder / QUERIES,
        identity=corpus.encoder,
        load=load,
        progress=observer and (lambda done, total: observer(QueryEvent(done=done, total=total))),
    )
    dataset = build_dataset(corpus, examples, queries, contextualize=_contextualizer(encoder))
    all_books = torch.arange(len(corpus.books))
    held_out = _hold_out(corpus, dataset, settings, seed)
    once = settings.runs * settings.steps
    first = once if len(held_out) else 0
    total = first + once
    done = 0

    def report(number: int, loss: float) -> None:
        if observer:
            observer(TrainingEvent(kind="step", step=done + number, steps=total, loss=loss))

    books_with_examples = len({example.file for example in examples})
    figures: dict[str, Any] = {
        "books": len(corpus.books),
        "books_with_examples": books_with_examples,
        "examples": len(examples),
        "start": "earlier projections" if start else "whitened",
    }
    weights = start.reranker if start else None
    worse = False
    unseen: tuple[Tensor, Projections] | None = None  # books that these projections have not learnt from
    if len(held_out):
        rest = all_books[~torch.isin(all_books, held_out)]
        initial = start or whiten(dataset, rest)
        projections, _ = train_projections(dataset, rest, settings, seed=seed, start=initial, progress=report)
        raw, before, after = (measure(dataset, held_out, each) for each in (None, initial, projections))
        measured = {"raw": raw, "start": before, "trained": after}
        figures["held_out"] = {"books": len(held_out), **measured}
        worse = sum(after.values()) < sum(before.values())
        unseen = held_out, initial if worse else projections
        if observer:
            shown = _flatten(measured)
            observer(TrainingEvent(kind="validation", step=first, steps=first if worse else total, figures=shown))
    elif start and not settings.steps:
        unseen = all_books, start
    lists = None
    if settings.reranker and unseen:
        lists = list_candidates(corpus, dataset, *unseen)
    if lists is not None:
        weights = train_reranker(lists)
        reranked = measure_reranker(lists) if books_with_examples >= MIN_BOOKS else None
        figures["reranker"] = {"queries": len(lists.book), "weights": weights.tolist(), **(reranked or {})}
    done = first
    projections = start or whiten(dataset, all_books)
    losses: list[float] = []
    if not worse:
        projections, losses = train_projections(
            dataset, all_books, settings, seed=seed, start=projections, progress=report
        )
    if weights is not None:
        projections = replace(projections, reranker=np.asarray(weights, dtype=np.float32))
    figures |= {"trained": bool(losses), "steps": len(losses), "order_dim": projections.section_dim - dataset.dim}
    if losses:
        figures |= {"first_loss": losses[0], "last_loss": float(np.mean(losses[-10:]))}
    _write(folder, projections, figures, losses)
    return RetrievalResult(projections=projections, figures=figures)


def read_result(folder: Path, dim: int) -> RetrievalResult | None:
    """The result in the stage's folder; None if the stage is not done.

    Args:
        folder: of the stage.
        dim: D.
    """
    try:
        projections = Projections.from_tensors(read_arrays(folder / PROJECTIONS), dim)
        figures = json.loads((folder / FIGURES).read_text(encoding="utf-8"))
    except (OSError, ValueError, EncoderError):
        return None
    return RetrievalResult(projections=projections, figures=figures)


def _write(folder: Path, projections: Projections, figures: Mapping[str, Any], losses: Sequence[float]) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    if losses:
        write_json(folder / LOSS_FILE, asdict(History(steps=len(losses), losses=list(losses))))
        draw_losses(losses, [], folder / PLOT_FILE)
    write_json(folder / FIGURES, figures)
    write_arrays(folder / PROJECTIONS, **projections.tensors())


def _hold_out(corpus: Corpus, dataset: RetrievalDataset, settings: RetrievalSettings, seed: int) -> Tensor:
    """Indexes, in order, of the books that the first training leaves out: a random share of those with examples."""
    used = sorted(dataset.used_books(), key=lambda book: corpus.books[book].content_hash)
    count = round(settings.held_out * len(used))
    if len(used) < _MIN_BOOKS_HELD_OUT or not settings.steps or count == len(used):
        count = 0
    drawn = np.random.default_rng(seed).permutation(np.array(used, dtype=np.int64))[:count]
    return torch.from_numpy(np.sort(drawn))


def _contextualizer(encoder: NextLevelEncoder | None) -> Callable[[Vectors], Vectors] | None:
    if encoder is None or not encoder.config.layers:
        return None

    def contextualize(chunks: Vectors) -> Vectors:
        return np.asarray(encoder.contextualize(torch.from_numpy(chunks)).numpy(), dtype=np.float32)

    return contextualize


def _flatten(measured: Mapping[str, Mapping[str, float]]) -> dict[str, float]:
    """All figures in one table, as "section, title (raw)"."""
    return {f"{name} ({which})": of[name] for name in measured["raw"] for which, of in measured.items()}
