"""How the states of a chunk encoder's tokens become vectors of terms (nlb_retriever.encoding.terms).

    python -m nlb_training.encoder.terms DATA ENCODER

The principal components of words' states, less their mean: what sets the words of a text apart. DATA has
corpus/train-00 and corpus/fairytaleqa as .tar.bz2 and eval/squad_dev.jsonl.bz2; ENCODER, a folder of
nlb_training.quantize, gets the file.
"""

from __future__ import annotations

import random
import sys
from collections.abc import Iterable, Sequence
from pathlib import Path

import numpy as np

from nlb_retriever.encoding import ChunkEncoder, Vectors
from nlb_retriever.encoding.openvino import TERMS_FILE
from nlb_retriever.encoding.terms import TERM_DIM
from nlb_retriever.text.terms import find_terms
from nlb_training.encoder.arrays import run
from nlb_training.encoder.queries import read_articles
from nlb_training.training_data import read_archive

PARAGRAPHS = 400
"""Of tales, of novels and of articles, each."""
_LENGTHS = range(300, 1200)
"""Characters of these."""


def fit_projection(folder: Path, encoder: ChunkEncoder) -> Vectors:
    """The map (d, D + 1) of `TermProjection`: components in order of variance, and the bias.

    Args:
        folder: of the training data; SQuAD's held-out articles are left out.
        encoder: encodes the paragraphs.

    Raises:
        TrainingError: the data cannot be read.
    """
    _, articles = read_articles(folder)
    texts = [
        *_choose(text for _, text in read_archive(folder, "fairytaleqa")),
        *_choose(text for _, text in read_archive(folder, "train-00")),
        *_choose(articles.values()),
    ]
    offsets = [find_terms(text).offsets for text in texts]
    return find_components(np.concatenate(encoder.encode_parts(texts, [[0]] * len(texts), offsets).states))


def find_components(states: Vectors) -> Vectors:
    """The map of states (n, D) to their principal components: (d, D + 1)."""
    rows = states.astype(np.float64)
    mean = rows.mean(axis=0)
    _, components = np.linalg.eigh(np.cov(rows, rowvar=False))
    weight = components[:, ::-1][:, :TERM_DIM].T
    weight *= np.sign(weight[:, np.abs(weight).argmax(axis=1)].diagonal())[:, None]
    return np.concatenate([weight, -(weight @ mean)[:, None]], axis=1).astype(np.float32)


def _choose(texts: Iterable[str]) -> list[str]:
    """Some paragraphs, the same ones at each run."""
    found = [part for text in texts for part in text.split("\n\n") if len(part) in _LENGTHS]
    return random.Random(0).sample(found, min(PARAGRAPHS, len(found)))


def main(arguments: Sequence[str]) -> int:
    """Run as a command: DATA ENCODER."""
    return run("terms", TERMS_FILE, fit_projection, arguments)


if __name__ == "__main__":
    raise SystemExit(main(sys.argv[1:]))
