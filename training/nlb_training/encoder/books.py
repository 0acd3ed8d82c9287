"""Books as token ids, tokenized once: any passage of any length is a slice of them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from tokenizers import Tokenizer

from nlb_retriever.errors import TrainingError
from nlb_retriever.text.sentences import sentence_spans
from nlb_retriever.text.terms import Terms, find_query_terms, find_terms
from nlb_training.array_files import read_arrays, write_arrays
from nlb_training.encoder.bert import Ids
from nlb_training.run_control import writing

Span = tuple[int, int]
TermIds = NDArray[np.uint32]
"""(N,) of a text's tokens: the term of the word that begins there, `NO_TERM` where none does."""
NO_TERM = 0xFFFFFFFF
_SPECIAL = 2
_QUERY = 254
"""Tokens of a query that are kept."""


@dataclass(frozen=True, kw_only=True)
class TokenizedBook:
    """A text as WordPiece ids, without special tokens."""

    name: str
    text: str
    ids: Ids
    """(N,)"""
    starts: NDArray[np.uint32]
    """(N,) offset of each token's first character."""
    sentences: NDArray[np.int64]
    """(S + 1,) index of each sentence's first token, and N."""
    terms: TermIds
    """(N,)"""

    def find_tokens(self, span: Span) -> Span:
        """Range of the tokens that begin in a span of characters."""
        first, last = np.searchsorted(self.starts, span)
        return int(first), int(last)

    def find_text(self, tokens: Span) -> str:
        """Characters of a range of tokens."""
        end = len(self.text) if tokens[1] >= len(self.ids) else int(self.starts[tokens[1]])
        return self.text[int(self.starts[tokens[0]]) : end].strip()

    def cut(self, limit: int, within: Span | None = None, *, offset: int = 0) -> list[Span]:
        """Passages: ranges of whole sentences of at most `limit` tokens, special ones counted.

        Args:
            limit: tokens of a passage; a longer sentence is cut.
            within: range of tokens that they lie in; default: all.
            offset: sentences that are a passage of their own at the front, so that borders move.
        """
        low, high = within or (0, len(self.ids))
        inner = self.sentences[np.searchsorted(self.sentences, low, "right") : np.searchsorted(self.sentences, high)]
        borders = [low, *inner.tolist(), high]
        longest = limit - _SPECIAL
        spans: list[Span] = []
        start = low
        for index, end in enumerate(borders[1:]):
            if end - start > longest or (offset and index == offset):
                if borders[index] > start:
                    spans.append((start, borders[index]))
                    start = borders[index]
                while end - start > longest:
                    spans.append((start, start + longest))
                    start += longest
        if high > start:
            spans.append((start, high))
        return spans


class TokenizedBooks:
    """Texts by name, tokenized when they are needed and kept on disk and in memory.

    Args:
        tokenizer: BERT's.
        cache: folder of what is tokenized.
        texts: name -> characters.
    """

    def __init__(self, tokenizer: Tokenizer, cache: Path, texts: Mapping[str, str]) -> None:
        self._tokenizer = tokenizer
        self._cache = cache
        self._texts = dict(texts)
        self._books: dict[str, TokenizedBook] = {}

    @property
    def names(self) -> list[str]:
        """Of all texts, sorted."""
        return sorted(self._texts)

    def open(self, name: str) -> TokenizedBook:
        """A text's tokens."""
        if name not in self._books:
            self._books[name] = self._read(name)
        return self._books[name]

    def encode(self, texts: Sequence[str]) -> list[Ids]:
        """Token ids of short texts."""
        encoded = self._tokenizer.encode_batch(list(texts), add_special_tokens=False)
        return [np.array(each.ids[:_QUERY], dtype=np.uint16) for each in encoded]

    def find_query_terms(self, texts: Sequence[str]) -> list[TermIds]:
        """Terms of queries, for the tokens of `encode`."""
        encoded = self._tokenizer.encode_batch(list(texts), add_special_tokens=False)
        starts = [np.array([start for start, _ in each.offsets[:_QUERY]]) for each in encoded]
        return [place_terms(find_query_terms(text), own) for text, own in zip(texts, starts, strict=True)]

    def _read(self, name: str) -> TokenizedBook:
        text = self._texts[name]
        file = self._cache / f"{name.replace('/', '_')}.npz"
        with suppress(OSError, ValueError, KeyError, TypeError):
            parts = read_arrays(file)
            if int(parts.pop("length")) == len(text):
                return TokenizedBook(name=name, text=text, **parts)
        encoded = self._tokenizer.encode(text, add_special_tokens=False)
        ids = np.array(encoded.ids, dtype=np.uint16)
        starts = np.array([start for start, _ in encoded.offsets], dtype=np.uint32)
        begins = np.array([start for start, _ in sentence_spans(text)], dtype=np.int64)
        sentences = np.unique(np.append(np.searchsorted(starts, begins), len(ids)))
        parts = {"ids": ids, "starts": starts, "sentences": sentences, "terms": place_terms(find_terms(text), starts)}
        with writing(file):
            write_arrays(file, **parts, length=np.array(len(text)))
        return TokenizedBook(name=name, text=text, **parts)


def place_terms(found: Terms, starts: NDArray[Any]) -> TermIds:
    """The terms of a text, for its tokens, which begin at some offsets (N,)."""
    placed = np.full(len(starts), NO_TERM, dtype=np.uint32)
    at = np.searchsorted(starts, np.array(found.offsets, dtype=np.int64))
    inside = at < len(starts)
    placed[at[inside]] = np.array(found.ids, dtype=np.uint32)[inside]
    return placed


def check_data(folder: Path) -> None:
    """See that the training data is there.

    Raises:
        TrainingError: it is not.
    """
    if not (folder / "corpus").is_dir() or not (folder / "eval").is_dir():
        raise TrainingError(
            f"{folder} has no corpus/ and eval/: give the folder of the training data (docs/encoder.md)"
        )
