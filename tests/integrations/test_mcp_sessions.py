"""The MCP server's tools while another process writes the library."""

from __future__ import annotations

from pathlib import Path

import pytest

from nlb_integrations.mcp import make_server
from nlb_retriever import index_files
from nlb_retriever.records import BookRecord
from nlb_retriever.store import LibraryStore, open_store
from tests.integrations.test_mcp import TRICK, ask, text


@pytest.mark.parametrize("tool", ["list_sections", "read_section"])
def test_a_book_that_is_removed_meanwhile_is_read_as_it_was(
    tool: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "book.txt").write_text(TRICK)
    index_files([tmp_path / "book.txt"], tmp_path / "library")
    real = LibraryStore.find_book

    def remove_meanwhile(store: LibraryStore, name: str) -> BookRecord:
        record = real(store, name)
        with open_store(tmp_path / "library", writer=True) as writer:
            writer.remove(record.id)
        return record

    monkeypatch.setattr(LibraryStore, "find_book", remove_meanwhile)
    (result,) = ask(make_server(tmp_path / "library"), (tool, {"book": "Sly"}))
    assert "CHAPTER I. Orders" in text(result) and not result.is_error
