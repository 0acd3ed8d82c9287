"""Tells questions on facts of the world from those on stories (nlb_retriever.search.relevance).

    python -m nlb_training.encoder.facts DATA ENCODER

DATA has eval/squad_dev, fairytaleqa_train, booksum_chapters_train and booksum_books_train as .jsonl.bz2; ENCODER, a
folder of nlb_training.quantize, gets the file.
"""

from __future__ import annotations

import random
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
from nlb_training.everyday import read_everyday
from nlb_training.reader.book_questions import read_book_questions
from nlb_training.reader.plot_questions import read_plot_questions

SUMMARIES, PLOTS, BOOKS = 8_000, 8_000, 6_000
"""Questions made of summaries, the first ones; of those on plots and on books, some at random."""
DECAY = 0.0003
"""Of the squares of the weights."""


def fit_facts(folder: Path, encoder: ChunkEncoder) -> Vectors:
    """Logistic regression on vectors of questions: weights and bias (D + 1,) of the logit of "on facts of the world".

    Everyday questions and SQuAD's on encyclopedia articles against those on tales, on summaries of books, on plots and
    on pages of books, each kind with a weight of its own.

    Args:
        folder: of the training data; SQuAD's held-out articles and the tales held out are left out.
        encoder: encodes the questions.

    Raises:
        TrainingError: the data cannot be read.
    """
    summaries = chain(read_summaries(folder, "summary"), read_summaries(folder, "book"))
    made = (to_question(query.text) for query in summaries)
    draw = random.Random(0)
    kinds = (
        (True, 0.4, read_everyday("train")),
        (True, 0.1, [query.text for query in read_articles(folder)[0]]),
        (False, 0.15, [*(query.text for query, _ in read_tales(folder)), *islice(filter(None, made), SUMMARIES)]),
        (False, 0.35, [
            *draw.sample([row["question"] for row in read_plot_questions()], PLOTS),
            *draw.sample([row["question"] for row in read_book_questions("train")], BOOKS),
        ]),
    )  # fmt: skip
    vectors = encoder.encode([text for _, _, texts in kinds for text in texts], query=True).astype(np.float64)
    labels = np.concatenate([np.full(len(texts), on_facts) for on_facts, _, texts in kinds])
    weights = np.concatenate([np.full(len(texts), share / len(texts)) for _, share, texts in kinds])
    model = LogisticRegression(C=0.5 / DECAY, solver="newton-cholesky", tol=1e-8).fit(vectors, labels, weights)
    return np.append(model.coef_, model.intercept_).astype(np.float32)


def main(arguments: Sequence[str]) -> int:
    """Run as a command: DATA ENCODER."""
    return run("facts", FACTS_FILE, fit_facts, arguments)


if __name__ == "__main__":
    raise SystemExit(main(sys.argv[1:]))
