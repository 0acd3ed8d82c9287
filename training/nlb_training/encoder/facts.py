"""Tells questions on facts of the world from those on stories (nlb_retriever.search.relevance).

    python -m nlb_training.encoder.facts DATA ENCODER

DATA has eval/squad_dev, fairytaleqa_train, booksum_chapters_train and booksum_books_train as .jsonl.bz2; ENCODER, a
folder of nlb_training.quantize, gets the file.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from itertools import chain, islice
from pathlib import Path

import numpy as np
from sklearn.linear_model import LogisticRegression  # type: ignore[import-untyped]

from nlb_retriever.encoding import ChunkEncoder, Vectors
from nlb_retriever.encoding.openvino import FACTS_FILE
from nlb_training.encoder.arrays import run
from nlb_training.encoder.queries import read_articles, read_summaries, read_tales
from nlb_training.encoder.questions import to_question

SUMMARIES = 8_000
"""Questions made of summaries, the first ones."""
DECAY = 0.01
"""Of the squares of the weights: with less, everyday questions come apart better, those of textbooks worse."""


def fit_facts(folder: Path, encoder: ChunkEncoder) -> Vectors:
    """Logistic regression on vectors of questions: weights and bias (D + 1,) of the logit of "on facts of the world".

    SQuAD's questions on encyclopedia articles against those on tales and on summaries of books, either side with half
    the weight.

    Args:
        folder: of the training data; SQuAD's held-out articles and the tales held out are left out.
        encoder: encodes the questions.

    Raises:
        TrainingError: the data cannot be read.
    """
    facts = [query.text for query in read_articles(folder)[0]]
    stories = [query.text for query, _ in read_tales(folder)]
    summaries = chain(read_summaries(folder, "summary"), read_summaries(folder, "book"))
    made = (to_question(query.text) for query in summaries)
    stories += islice(filter(None, made), SUMMARIES)
    vectors = encoder.encode([*facts, *stories], query=True).astype(np.float64)
    labels = np.arange(len(vectors)) < len(facts)
    shares = np.where(labels, 0.5 / len(facts), 0.5 / len(stories))
    model = LogisticRegression(C=0.5 / DECAY, solver="newton-cholesky", tol=1e-8).fit(vectors, labels, shares)
    return np.append(model.coef_, model.intercept_).astype(np.float32)


def main(arguments: Sequence[str]) -> int:
    """Run as a command: DATA ENCODER."""
    return run("facts", FACTS_FILE, fit_facts, arguments)


if __name__ == "__main__":
    raise SystemExit(main(sys.argv[1:]))
