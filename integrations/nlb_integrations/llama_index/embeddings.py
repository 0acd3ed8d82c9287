"""The library's encoders as LlamaIndex embedding models: on the CPU, offline, text of any length."""

from __future__ import annotations

import asyncio
from functools import lru_cache
from itertools import pairwise
from typing import Any

import numpy as np
from llama_index.core.base.embeddings.base import BaseEmbedding, Embedding
from llama_index.core.bridge.pydantic import Field

from nlb_retriever.config import DEFAULT_CHUNK_TOKENS
from nlb_retriever.encoding import DEFAULT_ENCODER, ChunkEncoder, load_encoder
from nlb_retriever.model import checkpoint as checkpoints
from nlb_retriever.model.vectorizer import Vectorizer
from nlb_retriever.records import Section
from nlb_retriever.text.chunking import Chunker
from nlb_retriever.text.cleaning import clean_query


class LocalEmbedding(BaseEmbedding):
    """Async work is done in a thread, so that no event loop waits for it."""

    model_name: str = Field(
        default=DEFAULT_ENCODER, description="A sentence-transformers model's name or folder: the chunk encoder."
    )
    device: str = Field(default="auto", description='"auto", "cpu" or a torch device.')
    embed_batch_size: int = Field(default=64, description="Texts that are encoded together.", gt=0, le=2048)

    def _get_text_embedding(self, text: str) -> Embedding:
        return self._get_text_embeddings([text])[0]

    async def _aget_query_embedding(self, query: str) -> Embedding:
        return await asyncio.to_thread(self._get_query_embedding, query)

    async def _aget_text_embedding(self, text: str) -> Embedding:
        return await asyncio.to_thread(self._get_text_embedding, text)

    async def _aget_text_embeddings(self, texts: list[str]) -> list[Embedding]:
        return await asyncio.to_thread(self._get_text_embeddings, texts)


class ChunkEmbedding(LocalEmbedding):
    """The chunk encoder: sentences and passages to vectors of length 1 (384 numbers by default).

    Nothing of a longer text is cut off: it is encoded in windows, and its vector is their mean. A query's embedding
    may be passed to an `NLBRetriever` of the same encoder as `QueryBundle.embedding`. Nothing is loaded before the
    first text; all embeddings of the same model share it. Embedding raises `EncoderError` where there is no such model.
    """

    @classmethod
    def class_name(cls) -> str:
        return "NLBChunkEmbedding"

    def _get_query_embedding(self, query: str) -> Embedding:
        return _to_list(chunk_encoder(self.model_name, self.device).encode([query], query=True)[0])

    def _get_text_embeddings(self, texts: list[str]) -> list[Embedding]:
        return [_to_list(vector) for vector in chunk_encoder(self.model_name, self.device).encode(texts)]


class NextLevelEmbedding(LocalEmbedding):
    """The next-level encoder: a text of any length, up to whole books, to one vector.

    Vectors have length 1, and 384 numbers by default. A text is cut into chunks, which are encoded and pooled; a
    query is encoded as for searching a library. So documents are compared with queries in the space that the
    checkpoint was trained for, and a query's embedding can search the collections of a library on a server, which a
    chunk encoder's alone cannot. Embedding raises `EncoderError` where an encoder is missing or the checkpoint was
    trained on another chunk encoder.
    """

    checkpoint: str | None = Field(
        default=None, description="Folder of a next-level encoder; None for the one that comes with the package."
    )

    @classmethod
    def class_name(cls) -> str:
        return "NLBNextLevelEmbedding"

    def _get_query_embedding(self, query: str) -> Embedding:
        # an empty query too gets a vector, as of any embedding model
        empty = not "".join(filter(str.isprintable, query)).strip()
        return _to_list(self._vectorizer.encode_query("" if empty else clean_query(query)).vector)

    def _get_text_embeddings(self, texts: list[str]) -> list[Embedding]:
        chunks: list[str] = []
        borders = [0]
        for text in texts:
            whole = Section(path=("",), start=0, end=len(text))
            passages = self._chunker.passages(text, [whole])
            # an empty text too gets a vector, as of any embedding model
            chunks += [text[passage.start : passage.end] for passage in passages] or [text]
            borders.append(len(chunks))
        vectors = self._vectorizer.encoder.encode(chunks)
        pooled = (self._vectorizer.pool(vectors[first:last], [(0, last - first)]) for first, last in pairwise(borders))
        return [_to_list(each.book) for each in pooled]

    @property
    def _vectorizer(self) -> Vectorizer:
        return vectorizer(self.model_name, self.checkpoint, self.device)

    @property
    def _chunker(self) -> Chunker:
        trained_on = self._vectorizer.checkpoint.config.chunk_tokens
        return chunker(self.model_name, DEFAULT_CHUNK_TOKENS if trained_on is None else trained_on, self.device)


@lru_cache(maxsize=2)
def chunk_encoder(name: str, device: str) -> ChunkEncoder:
    """A chunk encoder, loaded once."""
    return load_encoder(name, device=device)


@lru_cache(maxsize=4)
def chunker(name: str, tokens: int, device: str) -> Chunker:
    """The chunker of an encoder; it remembers words, so it gets faster."""
    return Chunker(chunk_encoder(name, device).tokenizer, tokens=tokens)


@lru_cache(maxsize=2)
def vectorizer(name: str, checkpoint: str | None, device: str) -> Vectorizer:
    """Both encoders.

    Raises:
        MismatchError: the checkpoint was trained on another chunk encoder.
    """
    return Vectorizer(chunk_encoder(name, device), checkpoints.load(checkpoint))


def _to_list(vector: np.ndarray[Any, Any]) -> Embedding:
    return [float(number) for number in vector]
