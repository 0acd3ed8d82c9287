from __future__ import annotations

import subprocess
import sys
from collections.abc import Sequence
from dataclasses import replace
from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest
import torch

from nlb_retriever.encoding import Vectors
from nlb_retriever.encoding.terms import TermProjection
from nlb_retriever.errors import EncoderError, MismatchError
from nlb_retriever.model import checkpoint
from nlb_retriever.model.config import NextLevelConfig
from nlb_retriever.model.next_level import NextLevelEncoder
from nlb_retriever.model.projections import KINDS, Projection, Projections
from nlb_retriever.model.reranker import FEATURES
from nlb_retriever.model.vectorizer import MAX_SENTENCES, Vectorizer
from nlb_retriever.model.vectors import BookVectors
from nlb_retriever.records import Book, Section
from nlb_retriever.text.chunking import Chunker
from tests.doubles import KeywordEncoder, vectorize

ENCODER = KeywordEncoder("whale", "duel", "moor")
CHUNKER = Chunker(ENCODER.tokenizer, tokens=0)


def book(*sections: str, paths: Sequence[tuple[str, ...]] = ()) -> Book:
    borders = np.cumsum([0, *map(len, sections)]).tolist()
    return Book(
        id="0" * 16,
        content_hash="0" * 64,
        title="Tales",
        author=None,
        language=None,
        year=None,
        source="/books/tales.txt",
        text="".join(sections),
        sections=tuple(
            Section(path=paths[index] if paths else (f"Chapter {index + 1}",), start=start, end=end)
            for index, (start, end) in enumerate(pairwise(borders))
        ),
    )


def vectors_of(tales: Book, encoder: KeywordEncoder = ENCODER, folder: Path | None = None) -> BookVectors:
    passages = CHUNKER.passages(tales.text, tales.sections)
    return vectorize(Vectorizer(encoder, checkpoint.load(folder or checkpoint.UNTRAINED)), tales, passages)


def unit(*values: float) -> Vectors:
    vector = np.array(values, dtype=np.float32)
    return np.asarray(vector / np.linalg.norm(vector), dtype=np.float32)


def test_sections_and_book_are_the_means_of_their_passages() -> None:
    vectors = vectors_of(book("A whale. A duel. A whale! ", "The moor."))
    np.testing.assert_array_equal(vectors.passages, [[1, 0, 0, 0], [0, 1, 0, 0], [1, 0, 0, 0], [0, 0, 1, 0]])
    np.testing.assert_allclose(vectors.sections, [unit(2, 1, 0, 0), unit(0, 0, 1, 0)], rtol=1e-6)
    np.testing.assert_allclose(vectors.book, unit(2, 1, 1, 0), rtol=1e-6)
    assert {array.dtype for array in (vectors.passages, vectors.sections, vectors.book)} == {np.dtype(np.float32)}


def test_a_section_without_text_has_the_vector_of_its_titles() -> None:
    vectors = vectors_of(book("A whale.\n", " \n", "A duel.", paths=[("One",), ("Two", "The moor"), ("Three",)]))
    np.testing.assert_array_equal(vectors.sections[1], unit(0, 0, 1, 0))
    np.testing.assert_allclose(vectors.book, unit(1, 1, 0, 0), rtol=1e-6)


def test_the_vectors_of_opposite_passages_do_not_cancel_to_nothing() -> None:
    class Mirror(KeywordEncoder):
        def encode(self, texts: Sequence[str], *, query: bool = False) -> Vectors:
            signs = np.array([-1 if "not" in text else 1 for text in texts], dtype=np.float32)
            return super().encode(texts) * signs[:, None]

    np.testing.assert_array_equal(vectors_of(book("A whale. No whale, not one."), Mirror("whale")).book, unit(1, 0))


def test_a_trained_checkpoint_moves_sections_but_not_passages(tmp_path: Path) -> None:
    torch.manual_seed(3)
    config = NextLevelConfig(chunk_dim=4, hidden=8, layers=1, heads=2, intermediate=8, positions=6)
    encoder = NextLevelEncoder(config).eval()
    torch.nn.init.normal_(encoder.residual.weight)
    checkpoint.save(encoder, tmp_path / "c", name="c", chunk_encoder=ENCODER.identity, chunk_tokens=0)
    tales = book("A whale. A duel. A whale! " * 4, "The moor. " * 5)  # 17 passages, 4 a window
    plain, moved = vectors_of(tales), vectors_of(tales, folder=tmp_path / "c")
    np.testing.assert_array_equal(moved.passages, plain.passages)
    contextual = encoder.contextualize(torch.from_numpy(plain.passages)).numpy()
    np.testing.assert_allclose(moved.book, unit(*contextual.mean(0)), rtol=1e-4, atol=1e-6)
    np.testing.assert_allclose(moved.sections[1], unit(*contextual[12:].mean(0)), rtol=1e-4, atol=1e-6)
    assert plain.book @ moved.book < 0.99


def test_an_untrained_backbone_gives_the_means_too(tmp_path: Path) -> None:
    config = NextLevelConfig(chunk_dim=4, hidden=8, layers=1, heads=2, intermediate=8, positions=6)
    checkpoint.save(NextLevelEncoder(config), tmp_path / "c", name="c", chunk_encoder=ENCODER.identity, chunk_tokens=0)
    tales = book("A whale. A duel. A whale! " * 4, "The moor. " * 5)
    plain, zero = vectors_of(tales), vectors_of(tales, folder=tmp_path / "c")
    np.testing.assert_allclose(zero.sections, plain.sections, atol=1e-6)
    np.testing.assert_allclose(zero.book, plain.book, atol=1e-6)


def test_every_passage_of_a_long_book_is_in_one_batch() -> None:
    tales = book("A whale. A duel. " * 3000)
    passages = CHUNKER.passages(tales.text, tales.sections)
    vectorizer = Vectorizer(ENCODER, checkpoint.load(checkpoint.UNTRAINED))
    batches = list(vectorizer.batches(tales, passages))
    assert len(batches) > 1 and sum(len(batch.texts) for batch in batches) == len(passages) == 6000
    assert sum(batch.tokens for batch in batches) == sum(passage.tokens for passage in passages)
    vectors = vectorize(vectorizer, tales, passages)
    np.testing.assert_array_equal(vectors.passages[::2], np.tile(unit(1, 0, 0, 0), (3000, 1)))


def test_a_passage_leans_towards_its_neighbours_of_the_same_section() -> None:
    same = Projection(center=np.zeros(4, dtype=np.float32), matrix=np.eye(4, dtype=np.float32))
    projections = Projections(
        **dict.fromkeys(KINDS, same),
        gate=np.array([0, 0, 1], dtype=np.float32),
        reranker=np.zeros(len(FEATURES), dtype=np.float32),
        context=np.array([0.25], dtype=np.float32),
    )
    whale, duel, moor = np.eye(3, 4, dtype=np.float32)
    found = projections.project_passages(np.stack([whale, duel, moor, whale]), np.array([0, 0, 0, 1]))
    wanted = [unit(1, 0.25, 0, 0), unit(0.25, 1, 0.25, 0), unit(0, 0.25, 1, 0), whale]
    np.testing.assert_allclose(found, wanted, atol=1e-6)
    alone = replace(projections, context=np.zeros(1, dtype=np.float32))
    np.testing.assert_array_equal(alone.project_passages(np.stack([whale, duel]), np.array([0, 0])), [whale, duel])


def test_a_vector_that_is_none_is_refused_naming_book_and_place() -> None:
    class Broken(KeywordEncoder):
        def encode(self, texts: Sequence[str], *, query: bool = False) -> Vectors:
            vectors = super().encode(texts)
            vectors[["duel" in text for text in texts]] = np.nan
            return vectors

    with pytest.raises(EncoderError, match=r"no unit vector for /books/tales.txt, characters 9 to 16 \(1 of 2"):
        vectors_of(book("A whale. A duel."), Broken("whale", "duel", "moor"))
    with pytest.raises(EncoderError, match="no unit vector for the query 'a duel'"):
        Vectorizer(Broken("whale"), checkpoint.load(checkpoint.UNTRAINED)).encode_query("a duel")


def test_a_book_without_passages_is_refused_by_name() -> None:
    with pytest.raises(EncoderError, match=r"/books/tales.txt has no passages"):
        vectors_of(book(" \n "))


def test_a_checkpoint_of_another_encoder_is_refused_at_the_door(tmp_path: Path) -> None:
    encoder = NextLevelEncoder(NextLevelConfig(chunk_dim=4, layers=0))
    checkpoint.save(encoder, tmp_path / "c", name="c", chunk_encoder=ENCODER.identity, chunk_tokens=0)
    with pytest.raises(MismatchError, match="takes 4-d chunk vectors of keywords, short gives 2-d"):
        Vectorizer(KeywordEncoder("whale", name="short"), checkpoint.load(tmp_path / "c"))


def test_a_query_lies_in_the_space_of_the_passages() -> None:
    vectorizer = Vectorizer(ENCODER, checkpoint.load(checkpoint.UNTRAINED))
    np.testing.assert_array_equal(vectorizer.encode_query("Who hunts the whale?").vector, unit(1, 0, 0, 0))
    np.testing.assert_allclose(vectorizer.encode_query("x" * 100_000 + " duel").vector, unit(0, 1, 0, 0))


def test_of_a_very_long_query_300_sentences_are_encoded_evenly_from_the_first_to_the_last() -> None:
    vectorizer = Vectorizer(ENCODER, checkpoint.load(checkpoint.UNTRAINED))
    text = "A whale. " + "A moor and a duel. " * 2_000 + "A whale."
    [raw] = vectorizer.raw_queries([text])
    assert raw.sentences.shape == (MAX_SENTENCES, ENCODER.identity.dim)
    [short] = vectorizer.raw_queries(["A whale. A moor and a duel."])
    whale, other = short.sentences
    np.testing.assert_array_equal(raw.sentences, np.stack([whale, *[other] * (MAX_SENTENCES - 2), whale]))


def test_torch_is_not_imported_where_the_checkpoint_has_no_layers() -> None:
    code = (
        "import sys\n"
        "from nlb_retriever.model import checkpoint\n"
        "from nlb_retriever.model.vectorizer import MAX_SENTENCES, Vectorizer\n"
        "from tests.doubles import KeywordEncoder, vectorize\n"
        "from nlb_retriever.records import Book, Passage, Section\n"
        "book = Book(id='', content_hash='', title='', author=None, language=None, year=None, source='',\n"
        "            text='a whale', sections=(Section(path=('x',), start=0, end=7),))\n"
        "vectorizer = Vectorizer(KeywordEncoder('whale'), checkpoint.load(checkpoint.UNTRAINED))\n"
        "vectorize(vectorizer, book, [Passage(start=0, end=7, section=0, tokens=2)])\n"
        "vectorizer.encode_query('whale?')\n"
        "print('torch' in sys.modules, 'transformers' in sys.modules)\n"
    )
    root = Path(__file__).resolve().parent.parent.parent
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, cwd=root)
    assert done.stdout == "False False\n"


def test_the_same_book_gives_the_same_vectors_however_it_is_batched(monkeypatch: pytest.MonkeyPatch) -> None:
    tales = book("A whale. A duel. A whale! " * 40, "The moor. " * 5)
    whole = vectors_of(tales)
    monkeypatch.setattr("nlb_retriever.model.vectorizer._TEXTS_AT_ONCE", 7)
    parts = vectors_of(tales)
    for one, other in ((whole.passages, parts.passages), (whole.sections, parts.sections), (whole.book, parts.book)):
        np.testing.assert_array_equal(one, other)


def test_an_encoder_that_gives_no_states_makes_no_terms() -> None:
    projection = TermProjection(weight=np.eye(2, 4, dtype=np.float32), bias=np.zeros(2, np.float32), sha256="0" * 64)
    vectorizer = Vectorizer(ENCODER, checkpoint.load(checkpoint.UNTRAINED), projection)
    tales = book("The whale sounded at dawn.")
    vectors = vectorize(vectorizer, tales, CHUNKER.passages(tales.text, tales.sections))
    assert (len(vectors.spans), len(vectors.terms)) == (1, 0)
    assert len(vectorizer.encode_query("Where is the whale?").terms) == 0
