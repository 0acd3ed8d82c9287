"""What docs/llamaindex.md shows works as shown."""

from __future__ import annotations

import re
import shutil
from pathlib import Path

import pytest
import qdrant_client
from qdrant_client import QdrantClient

from nlb_retriever import Retriever
from nlb_retriever.reading.text import book_from_text
from nlb_retriever.store.backends.server_client import Server
from nlb_retriever.store.open import open_on_server
from nlb_retriever.text.chunking import Chunker
from tests.doubles import vectorize
from tests.texts import LIGHTHOUSE

PAGE = Path(__file__).resolve().parents[2] / "docs" / "llamaindex.md"
BLOCKS = re.findall(r"```python\n(.*?)```", PAGE.read_text(encoding="utf-8"), re.DOTALL)
SHOWN = (
    ("The Lighthouse Keeper CHAPTER III. The Niece", "His niece Margaret came from the city and took the lamp"),
    ("[False, False]", "Heat the oven until a pinch of flour browns in a minute.", "'oven', 'wheat']"),
    (),
    (),
    ("CHAPTER 2",),
    ("The Lighthouse Keeper ['CHAPTER III. The Niece']",),
)


@pytest.fixture
def server(opened: Retriever, monkeypatch: pytest.MonkeyPatch) -> None:
    """The library NAME in a Qdrant in memory, which stands where the page has a server."""
    client = QdrantClient(":memory:")
    store = open_on_server(Server(client, "NAME"), "NAME", create=opened.store.manifest, writer=True)
    book = book_from_text(LIGHTHOUSE, source="lamp")
    passages = Chunker(opened.vectorizer.encoder.tokenizer).passages(book.text, book.sections)
    store.publish(book, passages, vectorize(opened.vectorizer, book, passages))
    monkeypatch.setenv("QDRANT_URL", "http://localhost:6333")
    monkeypatch.setattr(qdrant_client, "QdrantClient", lambda url: client)


@pytest.mark.usefixtures("server")
@pytest.mark.parametrize("number", range(len(SHOWN)))
def test_every_block_runs_and_prints_what_it_says(
    number: int, library: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    assert len(BLOCKS) == len(SHOWN)
    shutil.copytree(library, tmp_path / "library")
    monkeypatch.chdir(tmp_path)
    exec(compile(BLOCKS[number], PAGE.name, "exec"), {})
    printed = capsys.readouterr().out
    assert [words for words in SHOWN[number] if words not in printed] == [], printed
