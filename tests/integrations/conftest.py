"""A real small library for the adapters, opened once, and no network."""

from __future__ import annotations

import os
import socket
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from llama_index.core import Settings
from llama_index.core.schema import NodeWithScore

from nlb_integrations import NLBRetriever
from nlb_retriever import Retriever, index_files
from tests.texts import KITCHEN, LIGHTHOUSE, TALES

os.environ["HAYSTACK_TELEMETRY_ENABLED"] = "False"  # read when Haystack is imported

GARDEN = """\
The Walled Garden

by Clara Bloom

CHAPTER I. Roses

The old gardener planted red roses along the wall in spring, and white lilies by the pond.

CHAPTER II. Frost

One night in May the frost took every bud, and he covered the roots with straw and waited for the next year.
"""

BOOKS = {"lighthouse": LIGHTHOUSE, "bread": KITCHEN, "garden": GARDEN}


@pytest.fixture(scope="session")
def library(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("integrations")
    (folder / "books").mkdir()
    for name, text in BOOKS.items():
        (folder / "books" / f"{name}.txt").write_text(text, encoding="utf-8")
    index_files([folder / "books"], folder / "library")
    return folder / "library"


@pytest.fixture(scope="session")
def opened(library: Path) -> Iterator[Retriever]:
    """One open library, so that the encoder is loaded once."""
    with Retriever(library) as retriever:
        yield retriever


@pytest.fixture(scope="session")
def tales(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Retriever]:
    """One book of four chapters, each of several passages."""
    folder = tmp_path_factory.mktemp("tales")
    (folder / "tales.txt").write_text(TALES)
    index_files([folder / "tales.txt"], folder / "library", chunk_tokens=48)
    with Retriever(folder / "library") as retriever:
        yield retriever


@pytest.fixture(scope="session")
def chapter(tales: Retriever) -> list[NodeWithScore]:
    """All passages of the third chapter, in reading order, with falling scores."""
    everything = NLBRetriever(tales, similarity_top_k=1000).retrieve("What was in the mill?")
    own = [node for node in everything if node.metadata["section"] == 2]
    own.sort(key=lambda node: node.metadata["ordinal"])
    assert len(own) >= 4
    return [NodeWithScore(node=node.node, score=1 - place / 10) for place, node in enumerate(own)]


@pytest.fixture
def nlb(opened: Retriever) -> NLBRetriever:
    return NLBRetriever(opened, similarity_top_k=3)


@pytest.fixture(autouse=True)
def network(monkeypatch: pytest.MonkeyPatch) -> Iterator[list[str]]:
    """No test here may reach for a network, a key, or a language model that was not given.

    Holds what was asked for, even where the asker took the refusal for a server that is down.
    """
    asked: list[str] = []

    def refuse(*args: Any, **_: Any) -> None:
        asked.append(str(args))
        raise ConnectionRefusedError(f"no network in tests: {args}")

    monkeypatch.setattr(socket.socket, "connect", refuse)
    monkeypatch.setattr(socket, "getaddrinfo", refuse)
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)
    monkeypatch.setattr(Settings, "_llm", None)
    monkeypatch.setattr(Settings, "_embed_model", None)
    yield asked
    assert not asked
