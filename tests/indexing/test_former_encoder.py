"""A library of a former version's encoders, which are no longer on this machine."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest

from nlb_retriever import Retriever, index_files
from nlb_retriever.encoding.load import DEFAULT_ENCODER, DEFAULT_FOLDER
from nlb_retriever.errors import MismatchError
from nlb_retriever.model import checkpoint
from nlb_retriever.store import open_store


@pytest.fixture
def former(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The library; its book is in "books" beside it."""
    (tmp_path / "books").mkdir()
    (tmp_path / "books" / "lamp.txt").write_text("The keeper lit the lamp of the lighthouse at dusk. " * 20)
    encoder, released = tmp_path / "encoder", tmp_path / "released"
    shutil.copytree(DEFAULT_FOLDER, encoder)
    shutil.copytree(checkpoint.RELEASED, released)
    config = json.loads((released / "config.json").read_text())
    (released / "config.json").write_text(json.dumps({**config, "name": "former"}))
    with monkeypatch.context() as patch:
        patch.setattr(checkpoint, "RELEASED", released)
        index_files([tmp_path / "books"], tmp_path / "library", chunk_encoder=encoder)
    shutil.rmtree(encoder)
    return tmp_path / "library"


def test_its_search_is_refused_with_the_way_out(former: Path) -> None:
    refusal = r"made with another checkpoint \(released.*--rebuild"
    with Retriever(former) as retriever, pytest.raises(MismatchError, match=refusal):
        retriever.search("lamp")


def test_indexing_into_it_is_refused_with_the_way_out(former: Path) -> None:
    with pytest.raises(MismatchError, match=rf"not {DEFAULT_ENCODER} .*--rebuild"):
        index_files([former.parent / "books"], former)


def test_a_rebuild_brings_it_to_the_encoders_of_today(former: Path) -> None:
    assert not index_files([former.parent / "books"], former, rebuild=True).failed
    with open_store(former) as store:
        assert store.manifest.chunk_encoder == DEFAULT_ENCODER
    with Retriever(former) as retriever:
        assert "lamp" in retriever.search("Who lit the lamp?")[0].text
