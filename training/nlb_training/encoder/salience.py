"""Learns which sentences tell what a chapter is about (nlb_retriever.search.answers.digest), by chapters' summaries.

    python -m nlb_training.encoder.salience DATA ENCODER

DATA has eval/booksum_chapters_train.jsonl.bz2 and corpus/train-*.tar.bz2; ENCODER, a folder of nlb_training.quantize,
gets the file.
"""

from __future__ import annotations

import sys
from collections import defaultdict
from collections.abc import Iterator, Sequence
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from nlb_retriever.encoding import ChunkEncoder, Vectors, mean_vector
from nlb_retriever.encoding.openvino import SALIENCE_FILE
from nlb_retriever.errors import TrainingError
from nlb_retriever.text.sentences import sentence_spans
from nlb_training.encoder.arrays import run
from nlb_training.training_data import TRAIN_ARCHIVES, read_archive, read_rows

SHORTEST, LONGEST = 5, 70
"""Words of a sentence that is learnt from."""
FEWEST, MOST_CHARS = 20, 80_000
"""Sentences of a chapter, and its characters."""
MOVED = 0.3
"""Taken from the cosine of a sentence and one of a summary that stands at the other end of it."""
DECAY = 1_000.0
"""Of the squares of the weights, of columns with a variance of 1."""


def fit_salience(folder: Path, encoder: ChunkEncoder) -> Vectors:
    """Ridge regression on sentences of chapters: weights (2, D) as `score_sentences` takes them.

    A sentence is worth its highest cosine with a sentence of the chapter's summary, less `MOVED` of how far the two are
    apart in their texts; the mean over summaries, and within a chapter with mean 0 and variance 1.

    Args:
        folder: of the training data.
        encoder: encodes the sentences.

    Raises:
        TrainingError: the data cannot be read, or no chapter is long enough.
    """
    dim = encoder.identity.dim
    products, sums, count = np.zeros((2 * dim, 2 * dim)), np.zeros(2 * dim), 0
    for text, summaries in read_chapters(folder):
        sentences, places = split(text)
        lengths = np.array([len(sentence.split()) for sentence in sentences])
        learnt = (lengths >= SHORTEST) & (lengths <= LONGEST)
        if learnt.sum() < FEWEST:
            continue
        vectors = encoder.encode(sentences)
        worth = judge(vectors, places, [(encoder.encode(own), at) for own, at in map(split, summaries)])[learnt]
        rows = np.hstack([vectors, vectors * mean_vector(vectors, lengths)])[learnt].astype(np.float64)
        rows -= rows.mean(axis=0)
        products += rows.T @ rows
        sums += rows.T @ ((worth - worth.mean()) / (worth.std() or 1.0))
        count += len(rows)
    if not count:
        raise TrainingError(f"{folder} has no chapter of {FEWEST} sentences: give the folder of the training data")
    scale = np.sqrt(np.diag(products) / count) + 1e-9
    weights = np.linalg.solve(products / np.outer(scale, scale) + DECAY * np.eye(2 * dim), sums / scale) / scale
    return weights.reshape(2, dim).astype(np.float32)


def judge(vectors: Vectors, places: Vectors, summaries: Sequence[tuple[Vectors, Vectors]]) -> NDArray[np.float64]:
    """What sentences (n, D) at some places are worth (n,), by the vectors and places of summaries' sentences."""
    found = [vectors @ own.T - MOVED * np.abs(places[:, None] - at) for own, at in summaries]
    worth: NDArray[np.float64] = np.mean([each.max(axis=1) for each in found], axis=0, dtype=np.float64)
    return worth


def split(text: str) -> tuple[list[str], Vectors]:
    """The sentences of a text, and where in it each begins: 0 to 1."""
    spans = sentence_spans(text)
    places = np.array([start / max(len(text), 1) for start, _ in spans], dtype=np.float32)
    return [text[start:end] for start, end in spans], places


def read_chapters(folder: Path) -> Iterator[tuple[str, list[str]]]:
    """Chapters, each with the summaries of just its span."""
    rows = read_rows(folder, "booksum_chapters_train")
    spans: dict[str, dict[tuple[int, int], list[str]]] = defaultdict(lambda: defaultdict(list))
    for row in rows:
        if not row["is_aggregate"] and row["end"] - row["start"] <= MOST_CHARS and row["summary"].strip():
            spans[row["book_file"]][row["start"], row["end"]].append(row["summary"])
    for archive in TRAIN_ARCHIVES:
        for name, text in read_archive(folder, archive):
            for (start, end), summaries in spans.get(name, {}).items():
                yield text[start:end], summaries


def main(arguments: Sequence[str]) -> int:
    """Run as a command: DATA ENCODER."""
    return run("salience", SALIENCE_FILE, fit_salience, arguments)


if __name__ == "__main__":
    raise SystemExit(main(sys.argv[1:]))
