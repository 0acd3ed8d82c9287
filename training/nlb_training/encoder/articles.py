"""Mean vector of encyclopedia articles, for the judgement whether a library answers (nlb_retriever.search.relevance).

    python -m nlb_training.encoder.articles DATA ENCODER

DATA has eval/squad_dev.jsonl.bz2; ENCODER, a folder of nlb_training.quantize, gets the file.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from pathlib import Path

import numpy as np

from nlb_retriever.encoding import ChunkEncoder, Vectors
from nlb_retriever.encoding.openvino import ARTICLES_FILE
from nlb_training.encoder.arrays import run
from nlb_training.encoder.queries import read_articles


def mean_of_articles(folder: Path, encoder: ChunkEncoder) -> Vectors:
    """Unit vector (D,): the mean of the articles, each the mean of its paragraphs.

    Args:
        folder: of the training data; SQuAD's held-out articles are left out.
        encoder: encodes the paragraphs.

    Raises:
        TrainingError: the data cannot be read.
    """
    _, texts = read_articles(folder)
    means = [_unit(encoder.encode(text.split("\n\n")).mean(axis=0)) for text in texts.values()]
    return _unit(np.mean(means, axis=0))


def _unit(vector: Vectors) -> Vectors:
    return np.asarray(vector / np.linalg.norm(vector), dtype=np.float32)


def main(arguments: Sequence[str]) -> int:
    """Run as a command: DATA ENCODER."""
    return run("articles", ARTICLES_FILE, mean_of_articles, arguments)


if __name__ == "__main__":
    raise SystemExit(main(sys.argv[1:]))
