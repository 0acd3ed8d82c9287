"""The retrievers that `frameworks.py` compares: LlamaIndex's own pipelines over a library's very passages, and ours.

Each pipeline is built as LlamaIndex' documentation has it, from the same `TextNode`s: a library's passages with
its point ids, and its sections as their parents. What is embedded and counted is a passage's text alone.
"""

from __future__ import annotations

import hashlib
import time
import warnings
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from typing import Any, TypeVar

import numpy as np
import qdrant_client
from baseline_llamaindex import COLLECTION, embedding
from llama_index.core import StorageContext, VectorStoreIndex
from llama_index.core.base.base_retriever import BaseRetriever
from llama_index.core.llms import MockLLM
from llama_index.core.retrievers import AutoMergingRetriever, QueryFusionRetriever
from llama_index.core.retrievers.fusion_retriever import FUSION_MODES
from llama_index.core.schema import BaseNode, NodeRelationship, ObjectType, RelatedNodeInfo, TextNode
from llama_index.core.storage.docstore import SimpleDocumentStore
from llama_index.retrievers.bm25 import BM25Retriever
from llama_index.vector_stores.qdrant import QdrantVectorStore
from Stemmer import Stemmer  # type: ignore[import-not-found]
from transformers.utils.logging import disable_progress_bar

from nlb_integrations import NLBRetriever
from nlb_retriever import Retriever
from nlb_retriever.encoding.load import BASE_ENCODER, load_torch_encoder
from nlb_retriever.records import Level, PassageRecord, SectionRecord
from nlb_retriever.store import open_store

T = TypeVar("T")


@dataclass(frozen=True, kw_only=True)
class System:
    """What answers questions with nodes."""

    name: str
    retriever: BaseRetriever
    level: Level = "passage"
    ours: bool = False
    seconds: float | None = None
    """To build it from nodes with their vectors; None where that was not done in this run."""


@dataclass(frozen=True, kw_only=True)
class LibraryNodes:
    """The passages and sections of a library as nodes."""

    passages: tuple[TextNode, ...]
    """With their vectors."""
    sections: tuple[TextNode, ...]
    seconds: float
    """That the passages' vectors took when they were made, in this run or an earlier one."""


def read_nodes(library: Path, cache: Path) -> LibraryNodes:
    """The nodes of a library, with MiniLM's vectors in fp32: the model that encodes the pipelines' questions.

    Args:
        library: its folder.
        cache: where vectors are kept, a file a book.
    """
    encode = _encoder()
    passages: list[TextNode] = []
    sections: list[TextNode] = []
    seconds = 0.0
    with open_store(library) as store:
        for book in store.books():
            records = store.passages(book.id)
            vectors, took = _vectors([record.text for record in records], cache, encode)
            leaves = [_node(record) for record in records]
            parents = {section.id: _node(section) for section in store.sections(book.id)}
            children: dict[str, list[TextNode]] = {}
            for record, leaf, vector in zip(records, leaves, vectors, strict=True):
                leaf.embedding = vector.tolist()
                children.setdefault(record.section_id, []).append(leaf)
            for parent, own in children.items():
                _relate(parents[parent], own)
            passages += leaves
            sections += [parents[parent] for parent in children]
            seconds += took
    return LibraryNodes(passages=tuple(passages), sections=tuple(sections), seconds=seconds)


def build(nodes: LibraryNodes, retriever: Retriever, scratch: Path, *, top: int, books: bool) -> list[System]:
    """All systems over the same passages.

    Args:
        nodes: what the library holds.
        retriever: of that library.
        scratch: an empty folder for Qdrant's local mode.
        top: `similarity_top_k` of them all, and of what they are made from.
        books: also ask ours for books.
    """
    warnings.filterwarnings("ignore", message="Local mode is not recommended|Payload indexes have no effect")
    disable_progress_bar()  # type: ignore[no-untyped-call]  # of reading the weights
    model = embedding()

    def index(client: qdrant_client.QdrantClient) -> VectorStoreIndex:
        store = QdrantVectorStore(client=client, collection_name=COLLECTION)
        context = StorageContext.from_defaults(vector_store=store)
        return VectorStoreIndex(list(nodes.passages), storage_context=context, embed_model=model)

    bare: list[BaseNode] = [passage.model_copy(update={"embedding": None}) for passage in nodes.passages]
    disk, disk_seconds = _timed(lambda: index(qdrant_client.QdrantClient(path=str(scratch))))
    memory, memory_seconds = _timed(lambda: index(qdrant_client.QdrantClient(":memory:")))

    def merging() -> BaseRetriever:
        documents = SimpleDocumentStore()
        documents.add_documents([*bare, *nodes.sections])
        context = StorageContext.from_defaults(docstore=documents)
        return AutoMergingRetriever(disk.as_retriever(similarity_top_k=top), context)  # type: ignore[arg-type]

    def counting() -> BM25Retriever:
        return BM25Retriever.from_defaults(nodes=bare, similarity_top_k=top, stemmer=Stemmer("english"), language="en")

    words, words_seconds = _timed(counting)
    fusion = QueryFusionRetriever(
        [disk.as_retriever(similarity_top_k=top), words],
        llm=MockLLM(),
        mode=FUSION_MODES.RECIPROCAL_RANK,
        similarity_top_k=top,
        num_queries=1,
        use_async=False,
    )
    auto, auto_seconds = _timed(merging)
    systems = [
        System(name="plain", retriever=disk.as_retriever(similarity_top_k=top), seconds=disk_seconds),
        System(name="plain, in memory", retriever=memory.as_retriever(similarity_top_k=top), seconds=memory_seconds),
        System(name="auto-merging", retriever=auto, seconds=disk_seconds + auto_seconds),
        System(name="BM25", retriever=words, seconds=words_seconds),
        System(name="fusion with BM25", retriever=fusion, seconds=disk_seconds + words_seconds),
        System(name="ours", retriever=NLBRetriever(retriever, similarity_top_k=top), ours=True),
    ]
    if books:
        by_book = NLBRetriever(retriever, similarity_top_k=top, level="book")
        systems.append(System(name='ours, level="book"', retriever=by_book, level="book", ours=True))
    return systems


def _timed(work: Callable[[], T]) -> tuple[T, float]:
    began = time.perf_counter()
    return work(), time.perf_counter() - began


def _encoder() -> Callable[[Sequence[str]], Any]:
    """Encodes passages; the model is loaded by the first call."""
    loaded: list[Any] = []

    def encode(texts: Sequence[str]) -> Any:
        if not loaded:
            loaded.append(load_torch_encoder(BASE_ENCODER))
        return loaded[0].encode(texts)

    return encode


def _vectors(texts: Sequence[str], cache: Path, encode: Callable[[Sequence[str]], Any]) -> tuple[Any, float]:
    """Unit vectors (n, D) of a book's passages from the cache, else made and kept; and the seconds it once took."""
    digest = hashlib.sha256("\0".join(texts).encode()).hexdigest()
    file = cache / f"{digest[:24]}.npz"
    if not file.is_file():
        vectors, seconds = _timed(lambda: encode(texts))
        cache.mkdir(parents=True, exist_ok=True)
        part = file.with_suffix(".part.npz")
        np.savez(part, vectors=vectors, seconds=seconds)
        part.rename(file)
    with np.load(file) as kept:
        return kept["vectors"], float(kept["seconds"])


def _node(record: PassageRecord | SectionRecord) -> TextNode:
    book = RelatedNodeInfo(node_id=record.book_id, node_type=ObjectType.DOCUMENT)
    metadata = {"title": record.title, "chapter": " > ".join(record.path), "source": record.source}
    return TextNode(
        id_=record.id,
        text=record.text,
        start_char_idx=record.start,
        end_char_idx=record.end,
        metadata=metadata,
        excluded_embed_metadata_keys=list(metadata),
        relationships={NodeRelationship.SOURCE: book},
    )


def _relate(parent: TextNode, children: Sequence[TextNode]) -> None:
    """Relationships as `HierarchicalNodeParser` gives them: neighbours are of the same parent."""
    parent.relationships[NodeRelationship.CHILD] = [RelatedNodeInfo(node_id=child.node_id) for child in children]
    for child in children:
        child.relationships[NodeRelationship.PARENT] = RelatedNodeInfo(node_id=parent.node_id)
    for before, after in pairwise(children):
        before.relationships[NodeRelationship.NEXT] = RelatedNodeInfo(node_id=after.node_id)
        after.relationships[NodeRelationship.PREVIOUS] = RelatedNodeInfo(node_id=before.node_id)
