"""A library that is rebuilt with other settings while a retriever has it open."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from nlb_retriever import EncodedQuery, Retriever, Vectorizer, book_from_text, index_books, index_files
from nlb_retriever.errors import LibraryRebuilt
from tests.texts import LIGHTHOUSE


def test_a_library_that_is_rebuilt_with_other_settings_is_opened_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    place = tmp_path / "library"
    index_books([book_from_text(LIGHTHOUSE, source="lamp")], place)
    with Retriever(place) as retriever:
        assert retriever.search("the lamp")
        index_files([], place, chunk_tokens=32, rebuild=True)
        assert [book.source for book in retriever.store.books()] == ["lamp"]
        assert retriever.search("the lamp")
        with retriever.store.session():
            index_files([], place, chunk_tokens=48, rebuild=True)
            assert retriever.store.manifest.chunk_tokens == 32, "a session goes on"
        real, tokens = Vectorizer.encode_query, iter([64, 32])

        def rebuild_meanwhile(self: Vectorizer, query: str) -> EncodedQuery:
            if chunk_tokens := next(tokens, None):
                index_files([], place, chunk_tokens=chunk_tokens, rebuild=True)
            return real(self, query)

        monkeypatch.setattr(Vectorizer, "encode_query", rebuild_meanwhile)
        with pytest.raises(LibraryRebuilt):
            retriever.search("the lamp")
        assert retriever.search("the lamp")
        tokens = iter([64])
        assert retriever.answer("Who kept the lamp?").found
        assert retriever.store.manifest.chunk_tokens == 64


def test_threads_go_on_while_a_library_is_rebuilt_with_other_settings(tmp_path: Path) -> None:
    place = tmp_path / "library"
    index_books([book_from_text(LIGHTHOUSE, source="lamp")], place)
    with Retriever(place) as retriever, ThreadPoolExecutor(2) as threads:
        for chunk_tokens in (32, 64):
            searches = [threads.submit(retriever.search, "the lamp") for _ in range(40)]
            index_files([], place, chunk_tokens=chunk_tokens, rebuild=True)
            assert all(search.result() for search in searches)
            assert retriever.store.manifest.chunk_tokens == chunk_tokens
