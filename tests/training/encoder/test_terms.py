"""The projection of terms that comes with the encoder."""

from __future__ import annotations

import shutil
from pathlib import Path

import numpy as np
import pytest

from nlb_retriever.encoding.load import DEFAULT_FOLDER
from nlb_retriever.encoding.openvino import TERMS_FILE, find_checked
from nlb_retriever.encoding.terms import TERM_DIM, TermProjection
from nlb_training.encoder import terms
from tests.training.encoder.small import write_data


def test_the_command_adds_it_to_an_encoder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(terms, "_LENGTHS", range(20, 1200))
    data, folder = write_data(tmp_path / "data"), tmp_path / "encoder"
    shutil.copytree(DEFAULT_FOLDER, folder)
    assert terms.main([str(data), str(folder)]) == 0
    made = TermProjection.read(find_checked(folder, TERMS_FILE))
    np.testing.assert_allclose(made.weight @ made.weight.T, np.eye(TERM_DIM), atol=1e-5)
    assert made.sha256 != TermProjection.read(DEFAULT_FOLDER / TERMS_FILE).sha256
    first = (folder / TERMS_FILE).read_bytes()
    assert terms.main([str(data), str(folder)]) == 0
    assert (folder / TERMS_FILE).read_bytes() == first


def test_the_command_says_what_it_lacks(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert terms.main(["one"]) == 2
    assert "usage: python -m nlb_training.encoder.terms" in capsys.readouterr().err
    assert terms.main([str(tmp_path), str(DEFAULT_FOLDER)]) == 2
    assert "terms: " in capsys.readouterr().err
