"""An installation without a reader: answers are sentences, and what needs one says so."""

from __future__ import annotations

from pathlib import Path

import pytest

from nlb_retriever import Retriever, index_files
from nlb_retriever.errors import EncoderError
from nlb_retriever.search import retriever as retrievers
from tests.texts import LIGHTHOUSE

STORM = "What broke in the November storm?"


@pytest.fixture
def retriever(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Retriever:
    monkeypatch.setattr(retrievers, "find_reader", lambda: None)
    (tmp_path / "lighthouse.txt").write_text(LIGHTHOUSE, encoding="utf-8")
    index_files([tmp_path / "lighthouse.txt"], tmp_path / "library")
    return Retriever(tmp_path / "library")


def test_an_answer_is_made_of_sentences(retriever: Retriever) -> None:
    assert not retriever.has_reader
    found = retriever.answer(STORM)
    assert (found.short, found.shorts, found.confidence) == (None, (), None)
    assert "broke the clock" in found.citations[0].quote
    assert all(citation.answer is None for citation in found.citations)


def test_all_passages_are_those_with_most_of_the_questions_words_in_reading_order(retriever: Retriever) -> None:
    citations = retriever.answer("Tobias and his lamp", all_passages=True).citations
    assert len(citations) > 1
    starts = [citation.quote_start for citation in citations]
    assert starts == sorted(starts)
    assert all("lamp" in citation.quote or "Tobias" in citation.quote for citation in citations)


def test_reranking_names_what_is_missing(retriever: Retriever) -> None:
    with pytest.raises(EncoderError, match="no reader"):
        retriever.search(STORM, rerank=True)


def test_a_folder_without_a_reader_is_named(retriever: Retriever, tmp_path: Path) -> None:
    with (
        Retriever(retriever.store.location, reader=tmp_path) as other,
        pytest.raises(EncoderError, match=r"holds no reader: it has no reader\.json"),
    ):
        other.answer(STORM)
