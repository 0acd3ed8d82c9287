"""A library's manifest: closed, comparable, and refused where it is not this version's; and its address."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from nlb_retriever.config import FORMAT, Manifest, locate_library
from nlb_retriever.errors import MismatchError, StoreError

MANIFEST = Manifest(
    chunk_encoder="all-MiniLM-L6-v2",
    chunk_encoder_sha256="1" * 64,
    dim=384,
    chunk_tokens=256,
    checkpoint="released",
    checkpoint_sha256="2" * 64,
    order_dim=384,
)


def test_it_has_these_keys_and_is_read_back() -> None:
    assert MANIFEST.to_dict() == {
        "chunk_encoder": "all-MiniLM-L6-v2",
        "chunk_encoder_sha256": "1" * 64,
        "dim": 384,
        "chunk_tokens": 256,
        "checkpoint": "released",
        "checkpoint_sha256": "2" * 64,
        "order_dim": 384,
        "format": FORMAT,
    }
    assert Manifest.from_dict(MANIFEST.to_dict()) == MANIFEST


@pytest.mark.parametrize(
    ("values", "message"),
    [
        ({"encoder": "x", "format": 1}, "has format 1, this version reads 2: use the version that made it"),
        ({}, "has format None"),
        (
            {**MANIFEST.to_dict(), "colour": "red"},
            r"wrong or missing keys \['colour'\]: use the version that made it",
        ),
        ({"format": FORMAT}, "wrong or missing keys .*'dim'"),
    ],
)
def test_another_version_or_key_is_refused(values: dict[str, Any], message: str) -> None:
    with pytest.raises(MismatchError, match=message):
        Manifest.from_dict(values)


def test_the_folder_of_a_model_does_not_matter_but_what_it_is_does() -> None:
    moved = replace(MANIFEST, chunk_encoder="/models/minilm", checkpoint="/models/books")
    MANIFEST.check(moved, "library")
    assert moved.fingerprint() == MANIFEST.fingerprint()
    other = replace(moved, chunk_encoder_sha256="3" * 64, chunk_tokens=64)
    with pytest.raises(
        MismatchError,
        match=r"with all-MiniLM-L6-v2, not /models/minilm \(chunk_encoder_sha256 111111111111 in the library, "
        r"333333333333 requested; chunk_tokens 256 in the library, 64 requested\).*--rebuild",
    ):
        MANIFEST.check(other, "library")


def test_a_library_without_terms_is_as_former_versions_made_it() -> None:
    with_terms = replace(MANIFEST, terms_sha256="4" * 64)
    assert "terms_sha256" not in MANIFEST.to_dict()
    assert Manifest.from_dict(with_terms.to_dict()) == with_terms
    assert with_terms.fingerprint() != MANIFEST.fingerprint() == "622058d3a32af2a3"


def test_a_librarys_address_has_a_port_and_its_scheme_in_small_letters() -> None:
    assert locate_library("HTTP://Host:6333/shelf") == "http://Host:6333/shelf"
    assert locate_library("https://host/shelf/") == "https://host/shelf/"
    for port in ("abc", "99999", "0", ""):
        with pytest.raises(StoreError, match="is not a library's URL: write http://HOST:6333/NAME"):
            locate_library(f"http://host:{port}/shelf")
