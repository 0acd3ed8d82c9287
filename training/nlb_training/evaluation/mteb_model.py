"""A checkpoint as a model of the `mteb` package, to compare it on public tasks.

    import mteb
    from nlb_training.evaluation.mteb_model import CheckpointModel

    mteb.evaluate(CheckpointModel(), mteb.get_tasks(["LEMBNarrativeQARetrieval"]))

A document of several chunks has its book vector, so that a task may pass whole books; one of a single chunk has its
passage vector. Vectors alone: no BM25, no passages of a longer document, no reranker. Texts without a prompt type (of
tasks that are not about retrieval) are documents.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import torch

from nlb_retriever.config import DEFAULT_CHUNK_TOKENS
from nlb_retriever.encoding import DEFAULT_ENCODER, ChunkEncoder, Vectors, load_encoder
from nlb_retriever.errors import QueryError
from nlb_retriever.model import checkpoint as checkpoints
from nlb_retriever.model.vectorizer import Vectorizer
from nlb_retriever.records import Section
from nlb_retriever.text.chunking import Chunker
from nlb_retriever.text.cleaning import MAX_CHARS, clean_query

if TYPE_CHECKING:
    from mteb.models.model_meta import ModelMeta


class CheckpointModel:
    """Implements `mteb.models.EncoderProtocol`.

    Args:
        model_name: folder of the checkpoint; None for the released one.
        revision: not used; mteb passes it.
        device: where the chunk encoder runs, as of `load_encoder`.
        encoder: chunk encoder to use; None for the checkpoint's own.

    Raises:
        EncoderError: there is no such checkpoint or chunk encoder.
        MismatchError: the two do not fit together.
    """

    def __init__(
        self,
        model_name: str | Path | None = None,
        revision: str | None = None,
        *,
        device: str | None = None,
        encoder: ChunkEncoder | None = None,
        **_: Any,
    ) -> None:
        checkpoint = checkpoints.load(model_name)
        name = checkpoint.config.chunk_encoder or DEFAULT_ENCODER
        self._vectorizer = Vectorizer(encoder or load_encoder(name, device=device or "auto"), checkpoint)
        tokens = checkpoint.config.chunk_tokens
        self._tokens = DEFAULT_CHUNK_TOKENS if tokens is None else tokens
        self._dim = self._vectorizer.encoder.identity.dim

    def encode(self, inputs: Iterable[Mapping[str, Any]], *, prompt_type: object = None, **_: Any) -> Vectors:
        """Encode the texts of all batches: (n, D), unit vectors; zero for empty texts.

        Args:
            inputs: batches with "text".
            prompt_type: mteb's PromptType: "query" for queries.
        """
        texts = [text for batch in inputs for text in batch["text"]]
        encode = self._encode_query if str(prompt_type).endswith("query") else self._encode_document
        return np.stack([encode(text) for text in texts]) if texts else np.zeros((0, self._dim), dtype=np.float32)

    def similarity(self, embeddings1: Any, embeddings2: Any) -> torch.Tensor:
        """Dot products (n, m); a tensor, since mteb makes a number of one that has a single element."""
        first, second = (np.atleast_2d(np.asarray(each, dtype=np.float32)) for each in (embeddings1, embeddings2))
        return torch.from_numpy(first @ second.T)

    def similarity_pairwise(self, embeddings1: Any, embeddings2: Any) -> torch.Tensor:
        """Dot products (n,) of pairs."""
        first, second = (np.atleast_2d(np.asarray(each, dtype=np.float32)) for each in (embeddings1, embeddings2))
        return torch.from_numpy((first * second).sum(axis=1))

    @cached_property
    def mteb_model_meta(self) -> ModelMeta:
        """Metadata for mteb's results."""
        from mteb.models.model_meta import ModelMeta

        checkpoint = self._vectorizer.checkpoint
        values: dict[str, Any] = {"name": f"nlb-retriever/{checkpoint.name}", "revision": checkpoint.sha256[:16]}
        values |= {"embed_dim": self._dim, "similarity_fn_name": "dot", "languages": ["eng-Latn"]}
        return ModelMeta.create_empty(overwrites={**values, "modalities": ["text"]})

    @cached_property
    def _chunker(self) -> Chunker:
        return Chunker(self._vectorizer.encoder.tokenizer, tokens=self._tokens)

    def _encode_query(self, text: str) -> Vectors:
        try:
            return self._vectorizer.encode_query(clean_query(text[:MAX_CHARS])).vector
        except QueryError:  # empty
            return np.zeros(self._dim, dtype=np.float32)

    def _encode_document(self, text: str) -> Vectors:
        passages = self._chunker.passages(text, [Section(path=("",), start=0, end=len(text))])
        if not passages:
            return np.zeros(self._dim, dtype=np.float32)
        chunks = self._vectorizer.encoder.encode([text[passage.start : passage.end] for passage in passages])
        if len(chunks) == 1:
            row: Vectors = self._vectorizer.passages(chunks, np.zeros(1, dtype=np.int64))[0]
            return row
        return self._vectorizer.pool(chunks, [(0, len(chunks))]).book
