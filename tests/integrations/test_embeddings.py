"""The library's encoders as LlamaIndex embedding models."""

from __future__ import annotations

import asyncio
import os
import pickle
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from llama_index.core import Document, Settings, VectorStoreIndex
from llama_index.core.schema import QueryBundle

from nlb_integrations import ChunkEmbedding, NextLevelEmbedding, NLBRetriever
from nlb_integrations.llama_index import embeddings
from nlb_integrations.llama_index.embeddings import LocalEmbedding
from nlb_retriever import Retriever
from nlb_retriever.encoding import EncoderIdentity
from nlb_retriever.errors import MismatchError
from nlb_retriever.store import StoreQuery
from tests.integrations.ticking import run_while_ticking
from tests.texts import KITCHEN, LIGHTHOUSE

BOTH = (ChunkEmbedding(), NextLevelEmbedding())


@pytest.mark.parametrize("model", BOTH, ids=lambda model: model.class_name())
def test_a_vector_store_index_finds_documents_with_them(model: LocalEmbedding) -> None:
    documents = [Document(text=LIGHTHOUSE, id_="lamp"), Document(text=KITCHEN, id_="bread")]
    index = VectorStoreIndex.from_documents(documents, embed_model=model)
    retriever = index.as_retriever(similarity_top_k=1)
    assert retriever.retrieve("Who kept the lighthouse?")[0].node.ref_doc_id == "lamp"
    assert asyncio.run(retriever.aretrieve("How is a rye loaf baked?"))[0].node.ref_doc_id == "bread"


@pytest.mark.parametrize("model", BOTH, ids=lambda model: model.class_name())
def test_a_batch_gives_what_single_texts_give_and_all_are_unit_vectors(model: LocalEmbedding) -> None:
    texts = [LIGHTHOUSE, "Rye makes a dark loaf.", "", KITCHEN * 3]
    together = np.array(model.get_text_embedding_batch(texts))
    assert together.shape == (4, 384)
    assert np.allclose(np.linalg.norm(together, axis=1), 1, atol=1e-5)
    alone = np.array([model.get_text_embedding(text) for text in texts])
    assert (together * alone).sum(axis=1).min() > 0.999  # int8 depends a little on a batch's padding
    later = asyncio.run(model.aget_text_embedding_batch(texts))
    assert (together * np.array(later)).sum(axis=1).min() > 0.999


@pytest.mark.parametrize("query", ["", " \n", "\x00"])
def test_an_empty_query_too_gets_a_vector(query: str) -> None:
    for model in (ChunkEmbedding(), NextLevelEmbedding()):
        assert len(model.get_query_embedding(query)) == 384


def test_the_end_of_a_long_text_counts() -> None:
    filler = "The harbour was quiet that day. " * 400
    plain, ending = filler, filler + "Dragons burned the city and its people fled. " * 100
    for model in BOTH:
        question = np.array(model.get_query_embedding("Who burned the city?"))
        assert question @ model.get_text_embedding(ending) > question @ model.get_text_embedding(plain) + 0.05


def test_a_chunk_embedding_is_what_a_retriever_takes_as_a_bundles_embedding(opened: Retriever) -> None:
    retriever = NLBRetriever(opened, similarity_top_k=3, mode="dense")
    text = "red roses along the garden wall"
    bundle = QueryBundle(text, embedding=ChunkEmbedding(device="cpu").get_query_embedding(text))
    assert [n.node_id for n in retriever.retrieve(bundle)] == [n.node_id for n in retriever.retrieve(text)]


def test_a_next_level_query_is_the_librarys_own_question(opened: Retriever) -> None:
    text = "What broke in the November storm?"
    ours = opened.vectorizer.encode_query(text).vector
    assert ours @ np.array(NextLevelEmbedding().get_query_embedding(text)) > 0.9999


def test_a_next_level_text_is_similar_to_the_librarys_own_book(opened: Retriever) -> None:
    book = opened.store.find_book("garden")
    text = opened.store.book_text(book.id)
    vector = np.array(NextLevelEmbedding().get_text_embedding(text), dtype=np.float32)
    books = opened.store.search([StoreQuery(level="book", dense=vector)])[0]
    assert books[0].id == book.uuid
    assert books[0].score > 0.9  # it knows of no chapters


@pytest.mark.parametrize("model", BOTH, ids=lambda model: model.class_name())
def test_they_are_written_down_and_read_back(model: LocalEmbedding) -> None:
    named = type(model)(device="cpu", embed_batch_size=7)
    written = named.to_dict()
    assert (written["class_name"], written["device"], written["embed_batch_size"]) == (model.class_name(), "cpu", 7)
    assert type(model).from_dict(written).to_dict() == written
    assert type(model).from_json(named.to_json()).to_dict() == written
    named.get_text_embedding("loaded")
    again = pickle.loads(pickle.dumps(named))
    assert again.get_text_embedding("Rye.") == named.get_text_embedding("Rye.")


def test_they_can_be_the_settings_embedding_model(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Settings, "_embed_model", None)
    Settings.embed_model = ChunkEmbedding()
    index = VectorStoreIndex.from_documents([Document(text=KITCHEN)])
    assert "Oven" in index.as_retriever().retrieve("oven")[0].node.get_content()


@pytest.mark.parametrize("model", BOTH, ids=lambda model: model.class_name())
def test_the_event_loop_goes_on_while_texts_are_encoded(model: LocalEmbedding, monkeypatch: pytest.MonkeyPatch) -> None:
    model.get_query_embedding("loaded")  # what is remembered does not wait
    embeddings.vectorizer.cache_clear()

    async def all_ways() -> None:
        ways = (model.aget_query_embedding("a"), model.aget_text_embedding("b"), model.aget_text_embedding_batch(["c"]))
        await asyncio.gather(*ways)

    run_while_ticking(monkeypatch, embeddings, "chunk_encoder", all_ways)


def test_a_checkpoint_of_another_encoder_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    class Other:
        identity = EncoderIdentity(name="other", sha256="0" * 64, dim=384, max_tokens=256)

    monkeypatch.setattr(embeddings, "chunk_encoder", lambda name, device: Other())
    embeddings.vectorizer.cache_clear()
    with pytest.raises(MismatchError, match="was trained on vectors of all-MiniLM-L6-v2-books"):
        NextLevelEmbedding(model_name="other").get_text_embedding("text")


def test_making_one_loads_nothing(tmp_path: Path) -> None:
    code = (
        "import sys\nfrom nlb_integrations import ChunkEmbedding, NextLevelEmbedding, NLBIndex, NLBNodeParser\n"
        f"ChunkEmbedding(), NextLevelEmbedding(), NLBNodeParser(), NLBIndex({str(tmp_path / 'none')!r})\n"
        "print(sorted({'torch', 'transformers', 'openvino', 'openai'} & set(sys.modules)))"
    )
    paths = os.pathsep.join(path for path in sys.path if path)
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, env={**os.environ, "PYTHONPATH": paths}
    )
    assert done.stdout.strip() == "[]", done.stderr
