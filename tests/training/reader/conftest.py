"""Fixtures: the shipped tokenizer and a network small enough to train in a test."""

from __future__ import annotations

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


@pytest.fixture
def network() -> ReaderNetwork:
    return make_network()
