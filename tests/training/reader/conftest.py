"""Fixtures: the shipped tokenizer and a network small enough to train in a test."""

from __future__ import annotations

import bz2
import json
from collections.abc import Iterator
from pathlib import Path

import pytest
import torch
from tokenizers import Tokenizer

import nlb_retriever
from nlb_retriever.encoding.base import open_tokenizer
from nlb_retriever.reader.network import NetworkConfig, ReaderNetwork


def read_tokenizer() -> Tokenizer:
    assets = Path(nlb_retriever.__file__).parent / "assets" / "reader"
    return open_tokenizer(assets / "tokenizer.json")


def make_network() -> ReaderNetwork:
    with torch.random.fork_rng():
        torch.manual_seed(7)
        return ReaderNetwork(NetworkConfig(hidden=32, layers=2, heads=2, intermediate=64))


@pytest.fixture(scope="session")
def tokenizer() -> Tokenizer:
    return read_tokenizer()


@pytest.fixture(scope="module")
def few_written_questions(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    """Two questions on other books than the small data's in place of the 36,000 written ones: a run reads all."""
    folder = tmp_path_factory.mktemp("written")
    with pytest.MonkeyPatch.context() as patch:
        for name in ("book_questions", "plot_questions"):
            row = {"book_file": "other.txt", "question": "Who?", "answers": ["Anna"], "part": "train"}
            (folder / name).write_bytes(bz2.compress(json.dumps(row).encode()))
            patch.setattr(f"nlb_training.reader.{name}.FILE", folder / name)
        yield


@pytest.fixture
def network() -> ReaderNetwork:
    return make_network()
