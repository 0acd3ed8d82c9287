"""LlamaIndex's QdrantVectorStore over the passages of a library on a server."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from llama_index.core import VectorStoreIndex
from llama_index.core.vector_stores.types import FilterOperator, MetadataFilter, MetadataFilters
from llama_index.vector_stores.qdrant import QdrantVectorStore
from qdrant_client import QdrantClient

from nlb_integrations import NextLevelEmbedding
from nlb_retriever import Retriever
from nlb_retriever.reading.text import book_from_text
from nlb_retriever.store import LibraryStore, StoreQuery
from nlb_retriever.store.backends.server_client import Server
from nlb_retriever.store.open import open_on_server
from nlb_retriever.text.chunking import Chunker
from tests.doubles import vectorize
from tests.texts import KITCHEN, LIGHTHOUSE

STORM = "What broke in the November storm?"


@pytest.fixture(scope="module")
def client() -> Iterator[QdrantClient]:
    client = QdrantClient(":memory:")
    yield client
    client.close()


@pytest.fixture(scope="module")
def shelf(client: QdrantClient, opened: Retriever) -> LibraryStore:
    """A library of two books in a Qdrant of its own, as a server holds it."""
    store = open_on_server(Server(client, "shelf"), "shelf", create=opened.store.manifest, writer=True)
    chunker = Chunker(opened.vectorizer.encoder.tokenizer)
    for text, name in ((LIGHTHOUSE, "lamp"), (KITCHEN, "bread")):
        book = book_from_text(text, source=name, metadata={"tenant": name})
        passages = chunker.passages(book.text, book.sections)
        store.publish(book, passages, vectorize(opened.vectorizer, book, passages))
    return store


@pytest.fixture
def index(client: QdrantClient, shelf: LibraryStore) -> VectorStoreIndex:
    vectors = QdrantVectorStore(client=client, collection_name="shelf_passages")
    return VectorStoreIndex.from_vector_store(vectors, embed_model=NextLevelEmbedding())


def test_passages_come_with_their_ids_texts_and_metadata(index: VectorStoreIndex, shelf: LibraryStore) -> None:
    node = index.as_retriever(similarity_top_k=1).retrieve(STORM)[0].node
    (stored,) = shelf.get_passages([node.node_id])
    assert node.get_content() == stored.text
    assert "The storm of that November broke the clock" in node.get_content()
    wanted = {"title": "The Lighthouse Keeper", "author": "Ann Harbour", "section_path": ["CHAPTER II. The Storm"]}
    assert wanted.items() <= node.metadata.items()
    assert LIGHTHOUSE[node.metadata["start"] : node.metadata["end"]] == node.get_content()
    assert "text" not in node.metadata


def test_they_are_ranked_as_the_library_ranks_them_by_meaning(
    index: VectorStoreIndex, shelf: LibraryStore, opened: Retriever
) -> None:
    found = index.as_retriever(similarity_top_k=5).retrieve(STORM)
    vector = opened.vectorizer.encode_query(STORM).vector
    (ours,) = shelf.search([StoreQuery(level="passage", dense=vector, limit=5)])
    assert [node.node_id for node in found] == [point.id for point in ours]
    assert [node.score for node in found] == pytest.approx([point.score for point in ours], abs=1e-3)


def test_they_are_filtered_by_the_librarys_keys_and_by_a_books_metadata(index: VectorStoreIndex) -> None:
    for key, value in (("author", "Peter Miller"), ("metadata.tenant", "bread"), ("section_path", "CHAPTER I. Flour")):
        filters = MetadataFilters(filters=[MetadataFilter(key=key, value=value, operator=FilterOperator.EQ)])
        found = index.as_retriever(similarity_top_k=5, filters=filters).retrieve(STORM)
        assert {node.metadata["title"] for node in found} == {"A Book of Country Bread"}
