"""A library that is rebuilt with other settings while a retriever has it open."""

from __future__ import annotations

import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest

from nlb_retriever import EncodedQuery, Retriever, Vectorizer, book_from_text, index_books, index_files
from nlb_retriever.errors import LibraryRebuilt
from nlb_retriever.search import retriever as retriever_module
from nlb_retriever.search.run import SearchResult
from nlb_retriever.store import open_store
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


_SEARCH_THEN_FORK = """
import os, sys
from nlb_retriever import Retriever

retriever = Retriever(sys.argv[1])
store, hits = retriever.store, retriever.search("the lamp")
with retriever._opening:  # as another thread may hold it
    if not (child := os.fork()):
        sys.exit(retriever.store is store or retriever.search("the lamp") != hits)
sys.exit(os.waitpid(child, 0)[1] or retriever.store is not store)
"""


def test_a_forked_child_opens_the_library_itself(tmp_path: Path) -> None:
    place = tmp_path / "library"
    index_books([book_from_text(LIGHTHOUSE, source="lamp")], place)
    command = [sys.executable, "-W", "ignore::DeprecationWarning", "-c", _SEARCH_THEN_FORK, str(place)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=60)
    assert (done.returncode, done.stderr) == (0, "")


@pytest.mark.parametrize("question", ["Who is Margaret?", "Who took the lamp?"])
def test_a_book_that_is_removed_while_a_question_is_answered_is_quoted_as_it_was(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, question: str
) -> None:
    place = tmp_path / "library"
    index_books([book_from_text(LIGHTHOUSE, source="lamp")], place)
    real = retriever_module.run_search

    def remove_after(*args: Any) -> SearchResult:
        result = real(*args)
        with open_store(place, writer=True) as writer:
            writer.remove(*(book.id for book in writer.books()))
        return result

    monkeypatch.setattr(retriever_module, "run_search", remove_after)
    with Retriever(place) as retriever:
        assert "Margaret" in retriever.answer(question).text
        assert retriever.store.books() == []
