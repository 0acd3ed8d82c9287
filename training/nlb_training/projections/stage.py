"""The stage of retrieval training within a run: queries to vectors, a first training with figures, the reranker,
then heads trained on all books.

Its folder keeps heads.npz (written last), figures.json, loss.json and loss.png.
"""

from __future__ import annotations

import json
import zipfile
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
import torch
from torch import Tensor

from nlb_retriever.encoding import ChunkEncoder, Vectors
from nlb_retriever.errors import EncoderError
from nlb_retriever.model.next_level import NextLevelEncoder
from nlb_retriever.model.projections import Heads
from nlb_training.corpus import Corpus, write_whole
from nlb_training.data.dataset import Material, collect
from nlb_training.data.examples import Example
from nlb_training.data.queries import encode_queries
from nlb_training.plots import draw_losses
from nlb_training.pretraining.loop import LOSS_FILE, PLOT_FILE, TrainingEvent
from nlb_training.projections.ranking import measure
from nlb_training.projections.reranking import LEAST_BOOKS, list_candidates, measure_reranker, train_reranker
from nlb_training.projections.trainable import whiten
from nlb_training.projections.training import RetrievalSettings, train_heads

HEADS, FIGURES, QUERIES = "heads.npz", "figures.json", "queries"
_LEAST_BOOKS = 3
"""Of the corpus, for some to be held out."""

Tell = Callable[[TrainingEvent], None]


@dataclass(frozen=True, kw_only=True)
class Trained:
    """What the stage made."""

    heads: Heads
    figures: Mapping[str, Any]
    """As in figures.json: `trained`, `steps` and `order_dim`; numbers of books and examples; where books were held out
    `held_out` (MRR of "raw", "start" and "heads") and `reranker` (MRR before and after)."""


def train_retrieval(
    corpus: Corpus,
    examples: Sequence[Example],
    settings: RetrievalSettings,
    folder: Path,
    *,
    seed: int,
    load: Callable[[], ChunkEncoder],
    encoder: NextLevelEncoder | None = None,
    start: Heads | None = None,
    tell: Tell | None = None,
    show_queries: Callable[[int, int], None] | None = None,
) -> Trained:
    """Train heads and reranker, and leave them in a folder.

    Heads that are worse than their start on books held out, in the mean over the kinds of queries, are not kept:
    then the start is the result, and `figures["trained"]` is False.

    Args:
        corpus: the books, each in the chunking that libraries have.
        examples: each with the `source` of its book as its file.
        settings: of the training.
        folder: of the stage.
        seed: of all that is drawn.
        load: gives the chunk encoder, for queries that are not encoded yet.
        encoder: whose contextual vectors are pooled; None (or one without layers) for chunk vectors as they are.
        start: heads to go on from; None for whitened ones.
        tell: told of every step.
        show_queries: called with the number of queries encoded, and of all.

    Raises:
        TrainingError: vectors or the loss are no numbers.
        EncoderError: the chunk encoder gave no vectors.
        OSError: the folder cannot be written.
    """
    asked = sorted({example.file for example in examples})
    queries = encode_queries(
        [example.query for example in examples],
        corpus.folder / QUERIES,
        identity=corpus.encoder,
        load=load,
        progress=show_queries,
    )
    contextualize = _contextualizer(encoder)
    material = collect(corpus, examples, queries, contextualize=contextualize)
    everything = torch.arange(len(corpus.books))
    aside = _hold_out(corpus, material, settings, seed)
    once = settings.runs * settings.steps
    first = once if len(aside) else 0
    total = first + once
    before = 0

    def step(number: int, _: int, loss: float) -> None:
        if tell:
            tell(TrainingEvent(kind="step", step=before + number, steps=total, loss=loss))

    figures: dict[str, Any] = {
        "books": len(corpus.books),
        "books_with_examples": len(asked),
        "examples": len(examples),
        "start": "earlier heads" if start else "whitened",
    }
    weights = start.reranker if start else None
    worse = False
    if len(aside):
        rest = everything[~torch.isin(everything, aside)]
        begun = start or whiten(material, rest)
        heads, _ = train_heads(material, rest, settings, seed=seed, start=begun, progress=step)
        raw, before_it, mapped = (measure(material, aside, each) for each in (None, begun, heads))
        figures["held_out"] = {"books": len(aside), "raw": raw, "start": before_it, "heads": mapped}
        worse = sum(mapped.values()) < sum(before_it.values())
        heads = begun if worse else heads
        lists = None
        if settings.reranker:
            lists = list_candidates(material, aside, heads, lambda book: corpus.text(corpus.books[book]))
        if lists is not None:
            weights = train_reranker(lists)
            measured = measure_reranker(lists) if len(asked) >= LEAST_BOOKS else None
            figures["reranker"] = {"queries": len(lists.book), "weights": weights.tolist(), **(measured or {})}
        if tell:
            shown = _pairs({"raw": raw, "start": before_it, "heads": mapped})
            tell(TrainingEvent(kind="validation", step=first, steps=first if worse else total, figures=shown))
    before = first
    heads = start or whiten(material, everything)
    losses: list[float] = []
    if not worse:
        heads, losses = train_heads(material, everything, settings, seed=seed, start=heads, progress=step)
    if weights is not None:
        heads = replace(heads, reranker=np.asarray(weights, dtype=np.float32))
    figures |= {"trained": bool(losses), "steps": len(losses), "order_dim": heads.section_dim - material.dim}
    if losses:
        figures |= {"first_loss": losses[0], "last_loss": float(np.mean(losses[-10:]))}
    _write(folder, heads, figures, losses)
    return Trained(heads=heads, figures=figures)


def read_trained(folder: Path, dim: int) -> Trained | None:
    """What the stage left; None where it is not done.

    Args:
        folder: of the stage.
        dim: D.
    """
    try:
        with np.load(folder / HEADS) as stored:
            heads = Heads.from_tensors({name: stored[name] for name in stored.files}, dim)
        figures = json.loads((folder / FIGURES).read_text(encoding="utf-8"))
    except (OSError, ValueError, EncoderError, zipfile.BadZipFile):
        return None
    return Trained(heads=heads, figures=figures)


def _write(folder: Path, heads: Heads, figures: Mapping[str, Any], losses: Sequence[float]) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    if losses:
        history = {"steps": len(losses), "losses": list(losses), "validation": []}
        write_whole(folder / LOSS_FILE, (json.dumps(history, indent=1) + "\n").encode())
        draw_losses(losses, [], folder / PLOT_FILE)
    write_whole(folder / FIGURES, (json.dumps(figures, indent=1) + "\n").encode())
    write_whole(folder / HEADS, lambda stream: np.savez(stream, **heads.tensors()))  # type: ignore[arg-type]


def _hold_out(corpus: Corpus, material: Material, settings: RetrievalSettings, seed: int) -> Tensor:
    """Numbers, in order, of the books that the first training leaves out: some of those with examples."""
    used = sorted(material.used_books(), key=lambda book: corpus.books[book].content_hash)
    count = round(settings.held_out * len(used))
    if len(used) < _LEAST_BOOKS or not settings.steps or count == len(used):
        count = 0
    drawn = np.random.default_rng(seed).permutation(np.array(used, dtype=np.int64))[:count]
    return torch.from_numpy(np.sort(drawn))


def _contextualizer(encoder: NextLevelEncoder | None) -> Callable[[Vectors], Vectors] | None:
    if encoder is None or not encoder.config.layers:
        return None

    def contextualize(chunks: Vectors) -> Vectors:
        return np.asarray(encoder.contextualize(torch.from_numpy(chunks)).numpy(), dtype=np.float32)

    return contextualize


def _pairs(measured: Mapping[str, Mapping[str, float]]) -> dict[str, float]:
    """Figures of all, each under its own name."""
    return {f"{name} ({which})": of[name] for name in measured["raw"] for which, of in measured.items()}
