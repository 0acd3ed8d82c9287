"""Books and queries to vectors: chunk encoder, next-level encoder and pooling."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import cached_property
from itertools import pairwise
from typing import TYPE_CHECKING

import numpy as np

from nlb_retriever.config import Manifest
from nlb_retriever.encoding import ChunkEncoder, Parts, Vectors, find_term_projection
from nlb_retriever.encoding.packing import Packed, pack_all
from nlb_retriever.encoding.terms import NO_TERMS, TermProjection, pack_terms
from nlb_retriever.errors import EncoderError, MismatchError
from nlb_retriever.model import checkpoint as checkpoints
from nlb_retriever.model.checkpoint import Checkpoint
from nlb_retriever.model.dct import dct_coefficients
from nlb_retriever.model.vectors import BookVectors, EncodedQuery, PackedParts, PassageBatch, PooledVectors, RawQuery
from nlb_retriever.records import Book, Passage
from nlb_retriever.text.sentences import sentence_spans
from nlb_retriever.text.spans import span_starts
from nlb_retriever.text.terms import find_query_terms, find_terms

if TYPE_CHECKING:
    from nlb_retriever.model.next_level import NextLevelEncoder
    from nlb_retriever.model.projections import Indexes

_TEXTS_AT_ONCE = 256
MAX_SENTENCES = 300
"""Sentences of a query that are encoded one by one: a long question costs as much as a chapter, not as a book."""


class Vectorizer:
    """Makes the vectors of all three levels, and those of queries, in one space."""

    def __init__(self, encoder: ChunkEncoder, checkpoint: Checkpoint, terms: TermProjection | None = None) -> None:
        """Bring the encoders together; without `terms` no vectors of terms are made.

        Raises:
            MismatchError: the checkpoint was trained on another chunk encoder.
        """
        checkpoint.check(encoder.identity)
        self.encoder = encoder
        self.checkpoint = checkpoint
        self.projections = checkpoint.projections
        self._terms = terms

    @classmethod
    def of_library(cls, location: str, manifest: Manifest, load: Callable[[], ChunkEncoder]) -> Vectorizer:
        """The encoders that a library was made with.

        Args:
            location: of the library, for messages.
            manifest: the library's.
            load: loads its chunk encoder; not called where its checkpoint has changed, since then that of a former
                version need not be on this machine any more.

        Raises:
            EncoderError: one cannot be found.
            MismatchError: one of the two has changed since.
        """
        checkpoint = checkpoints.pinned(manifest.checkpoint)
        _compare(location, "checkpoint", manifest.checkpoint, checkpoint.sha256, manifest.checkpoint_sha256)
        encoder = load()
        _compare(
            location, "chunk encoder", manifest.chunk_encoder, encoder.identity.sha256, manifest.chunk_encoder_sha256
        )
        terms = find_term_projection(manifest.chunk_encoder_sha256)
        return cls(encoder, checkpoint, terms if terms and terms.sha256 == manifest.terms_sha256 else None)

    @property
    def section_dim(self) -> int:
        """Numbers of a section's vector."""
        return self.projections.section_dim if self.projections else self.encoder.identity.dim

    def batches(self, book: Book, passages: Sequence[Passage]) -> Iterator[PassageBatch]:
        """A book's passages as they are encoded together.

        Raises:
            EncoderError: there are none.
        """
        if not passages:
            raise EncoderError(f"{book.source} has no passages to encode: it holds no text")
        starts = range(0, len(passages), _TEXTS_AT_ONCE)
        return (self._batch(book, passages[start : start + _TEXTS_AT_ONCE]) for start in starts)

    def _batch(self, book: Book, passages: Sequence[Passage]) -> PassageBatch:
        texts = [book.text[passage.start : passage.end] for passage in passages]
        return PassageBatch(
            texts=texts,
            names=[f"{book.source}, characters {passage.start} to {passage.end}" for passage in passages],
            spans=[span_starts(text) for text in texts],
            terms=[find_terms(text) for text in texts] if self._terms else [],
            tokens=sum(passage.tokens for passage in passages),
        )

    def encode(self, batch: PassageBatch) -> Parts:
        """Encode the passages of a batch.

        Raises:
            EncoderError: the encoder gave a vector that is not a unit vector (NaN).
        """
        parts = self.encoder.encode_parts(batch.texts, batch.spans, [own.offsets for own in batch.terms])
        self._check(parts.whole, batch.names)
        return parts

    def pack(self, batch: PassageBatch, parts: Parts) -> PackedParts:
        """The encoded passages of a batch as they are kept."""
        spans = pack_all([own if len(own) else row[None] for own, row in zip(parts.spans, parts.whole, strict=False)])
        terms: list[Packed] = []
        if self._terms and parts.states:  # a model's folder of a former version gives none
            ids = [own.ids for own in batch.terms]
            sentences = [own.in_sentences(text) for own, text in zip(batch.terms, batch.texts, strict=True)]
            terms = pack_terms(self._terms.pool(parts.states, ids), ids, sentences)
        return PackedParts(whole=parts.whole, spans=spans, terms=terms)

    def encode_titles(self, book: Book, passages: Sequence[Passage]) -> dict[int, Vectors]:
        """Vectors (D,) of the titles of sections without a passage, by their numbers; raises what `encode` does."""
        empty = sorted(set(range(len(book.sections))) - {passage.section for passage in passages})
        if not empty:
            return {}
        titles = [" ".join((book.title, *book.sections[index].path)) for index in empty]
        names = self._encode(titles, [f"{book.source}, the title {title!r}" for title in titles])
        return dict(zip(empty, names, strict=True))

    def join(
        self, book: Book, passages: Sequence[Passage], packed: Sequence[PackedParts], titles: Mapping[int, Vectors]
    ) -> BookVectors:
        """Pool a book's passages over its sections and the whole.

        Args:
            book: the book.
            passages: all of its passages, in order; at least one.
            packed: its batches, in order.
            titles: as `encode_titles` gives them.
        """
        vectors = np.concatenate([own.whole for own in packed])
        owners = np.fromiter((passage.section for passage in passages), dtype=np.int64, count=len(passages))
        borders = np.searchsorted(owners, np.arange(len(book.sections) + 1)).tolist()
        filled = [index for index, (first, last) in enumerate(pairwise(borders)) if first < last]
        pooled = self.pool(vectors, [(borders[index], borders[index + 1]) for index in filled])
        sections = np.zeros((len(book.sections), self.section_dim), dtype=np.float32)
        sections[filled] = pooled.sections
        if titles:
            names = np.stack(list(titles.values()))
            sections[list(titles), : vectors.shape[1]] = self.projections.passage(names) if self.projections else names
        return BookVectors(
            passages=self.passages(vectors, owners),
            sections=sections,
            book=pooled.book,
            spans=[row for own in packed for row in own.spans],
            terms=[row for own in packed for row in own.terms],
        )

    def passages(self, chunks: Vectors, sections: Indexes) -> Vectors:
        """What is stored for a book's passages.

        Args:
            chunks: (n, D) their chunk vectors, in order.
            sections: (n,) number of each one's section.
        """
        return self.projections.project_passages(chunks, sections) if self.projections else chunks

    def pool(self, chunks: Vectors, ranges: Sequence[tuple[int, int]]) -> PooledVectors:
        """Section and book vectors of a book whose chunks are encoded.

        Args:
            chunks: (C, D) vectors of all chunks of the book, in order.
            ranges: for each section its first chunk and the one behind its last; they may overlap.
        """
        contextual = self._contextualize(np.asarray(chunks, dtype=np.float32))
        sections = np.empty((len(ranges), chunks.shape[1]), dtype=np.float32)
        for index, (first, last) in enumerate(ranges):
            sections[index] = _mean(contextual[first:last])
        book = _mean(contextual)
        if projections := self.projections:
            coefficients = np.empty((len(ranges), projections.frequencies, chunks.shape[1]), dtype=np.float32)
            for index, (first, last) in enumerate(ranges):
                coefficients[index] = dct_coefficients(contextual[first:last], projections.frequencies)
            sections, book = projections.project_sections(sections, coefficients), projections.book(book)
        return PooledVectors(sections=sections, book=book)

    def raw_queries(self, texts: Sequence[str]) -> list[RawQuery]:
        """Encode queries, and their sentences (of many, `MAX_SENTENCES` evenly spaced), with the chunk encoder alone.

        Args:
            texts: cleaned (`text.cleaning.clean_query`).

        Raises:
            EncoderError: the encoder gave a vector that is not a unit vector.
        """
        parts: list[str] = []
        counts: list[int] = []
        for text in texts:
            sentences = query_sentences(text)
            sentences = sentences if len(sentences) > 1 else []
            parts += [text, *sentences]
            counts.append(1 + len(sentences))
        firsts = np.cumsum([0, *counts[:-1]]).tolist()
        words = {first: find_query_terms(parts[first]) for first in firsts} if self._terms else {}
        names = [f"the query {part[:60]!r}" for part in parts]
        if self._terms:
            offsets = [words[row].offsets if row in words else [] for row in range(len(parts))]
            found = self.encoder.encode_parts(parts, [[0]] * len(parts), offsets, query=True)
            vectors, states = self._check(found.whole, names), found.states
        else:
            vectors, states = self._encode(parts, names, query=True), []
        queries = []
        for first, own in zip(firsts, np.split(vectors, firsts[1:]), strict=True):
            terms = self._terms.pool([states[first]], [words[first].ids])[0] if self._terms and states else NO_TERMS
            queries.append(RawQuery(whole=own[0], sentences=own[1:] if len(own) > 1 else own, terms=terms))
        return queries

    def project_query(self, raw: RawQuery) -> EncodedQuery:
        """Map a query's chunk vectors to the space of the library's vectors."""
        if self.projections is None:
            vector, sentences = raw.whole, raw.sentences
        else:
            vector = self.projections.project_query(raw.whole, raw.sentences)
            sentences = self.projections.short_query(raw.sentences)
        vector, order = np.split(vector, [self.encoder.identity.dim])
        return EncodedQuery(vector=vector, order=order, sentences=sentences, whole=raw.whole, terms=raw.terms)

    def encode_query(self, text: str) -> EncodedQuery:
        """Encode a cleaned query of any length; raises what `raw_queries` does."""
        return self.project_query(self.raw_queries([text])[0])

    def _encode(self, texts: Sequence[str], names: Sequence[str], *, query: bool = False) -> Vectors:
        return self._check(self.encoder.encode(texts, query=query), names)

    def _check(self, vectors: Vectors, names: Sequence[str]) -> Vectors:
        """Refuse what is not a unit vector: the store would accept a NaN silently."""
        bad = np.flatnonzero(~(np.abs(np.linalg.norm(vectors, axis=1) - 1) < 1e-2))
        if len(bad):
            raise EncoderError(
                f"{self.encoder.identity.name} on {self.encoder.backend} gave no unit vector for "
                f"{names[bad[0]]} ({len(bad)} of {len(names)} texts): run `nlb doctor`"
            )
        return vectors

    def _contextualize(self, vectors: Vectors) -> Vectors:
        """Contextual vectors (n, D) of all passages of a book (n, D)."""
        if not self.checkpoint.config.model.layers:
            return vectors
        import torch

        return np.asarray(self._next_level.contextualize(torch.from_numpy(vectors)).numpy(), dtype=np.float32)

    @cached_property
    def _next_level(self) -> NextLevelEncoder:
        return self.checkpoint.build()


def query_sentences(text: str) -> list[str]:
    """The sentences of a query; of many, `MAX_SENTENCES` evenly spaced, the first and the last among them."""
    spans = sentence_spans(text)
    if len(spans) > MAX_SENTENCES:
        spans = [spans[index] for index in np.linspace(0, len(spans) - 1, MAX_SENTENCES).round().astype(int).tolist()]
    return [text[start:end] for start, end in spans]


def _mean(vectors: Vectors) -> Vectors:
    """Mean of unit rows (n, D), of unit length; summed in float64, so that no order of summing shows."""
    mean = vectors.mean(axis=0, dtype=np.float64)
    norm = np.linalg.norm(mean)
    if norm < 1e-6:  # opposite vectors cancel out
        mean, norm = vectors[0], np.float64(1)
    return np.asarray(mean / norm, dtype=np.float32)


def _compare(location: str, what: str, name: str, sha256: str, pinned: str) -> None:
    if sha256 != pinned:
        raise MismatchError(
            f"library {location} was made with another {what} ({name}, SHA-256 {pinned[:12]}, now {sha256[:12]}): "
            "run `nlb index --rebuild`, or restore the one it was made with"
        )
