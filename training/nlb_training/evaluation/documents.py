"""Vectors of long documents, for classification and multiple choice."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from nlb_retriever.encoding import Vectors
from nlb_retriever.model.checkpoint import Checkpoint
from nlb_retriever.model.vectorizer import Vectorizer
from nlb_training.evaluation.vectors import ChunkVectors


@dataclass(frozen=True, kw_only=True)
class Document:
    """A long text."""

    name: str
    text: str


def encode_documents(chunks: ChunkVectors, documents: Sequence[Document]) -> list[Vectors]:
    """Chunk vectors (C, D) of each document; equal texts are encoded once."""
    return [chunks.book(document.name, document.text, ()).vectors for document in documents]


def pool_documents(books: Sequence[Vectors], chunks: ChunkVectors, checkpoint: Checkpoint) -> Vectors:
    """(n, D), the checkpoint's book vector of each document.

    Raises:
        MismatchError: the checkpoint is not for this chunk encoder.
    """
    vectorizer = Vectorizer(chunks.encoder, checkpoint)
    return np.stack([vectorizer.pool(book, [(0, len(book))]).book for book in books])
