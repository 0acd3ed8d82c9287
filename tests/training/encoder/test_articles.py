"""The mean vector of encyclopedia articles that comes with the encoder."""

from __future__ import annotations

import shutil
from pathlib import Path

import numpy as np
import pytest

from nlb_retriever.encoding import load_encoder, mean_article
from nlb_retriever.encoding.load import DEFAULT_FOLDER
from nlb_retriever.encoding.openvino import ARTICLES_FILE, find_checked
from nlb_retriever.errors import EncoderError
from nlb_training.encoder.articles import main
from tests.training.encoder.small import write_data


def test_the_command_adds_the_vector_to_an_encoder(tmp_path: Path) -> None:
    data, folder = write_data(tmp_path / "data"), tmp_path / "encoder"
    shutil.copytree(DEFAULT_FOLDER, folder)
    assert main([str(data), str(folder)]) == 0
    vector = np.load(find_checked(folder, ARTICLES_FILE))
    assert vector.shape == (384,)
    assert np.linalg.norm(vector) == pytest.approx(1, abs=1e-5)
    assert not np.allclose(vector, mean_article())
    (folder / ARTICLES_FILE).write_bytes(b"damaged")
    with pytest.raises(EncoderError, match=r"articles.npy is damaged.*SHA-256"):
        find_checked(folder, ARTICLES_FILE)


def test_the_command_says_what_it_lacks(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["one"]) == 2
    assert "usage" in capsys.readouterr().err
    assert main([str(tmp_path), str(DEFAULT_FOLDER)]) == 2
    assert "squad_dev.jsonl.bz2 cannot be read" in capsys.readouterr().err


def test_questions_on_the_world_are_more_similar_to_it_than_those_on_stories() -> None:
    facts = [
        "What is the largest organ of the human body?",
        "Which century saw the invention of the steam engine?",
        "How does a central bank control inflation?",
    ]
    stories = [
        "Why does Lucy refuse to open the door?",
        "What did the old woman give to the prince?",
        "Who finds the letter in the chest?",
    ]
    encoder = load_encoder(device="cpu")
    facts_apart, stories_apart = (encoder.encode(each, query=True) @ mean_article() for each in (facts, stories))
    assert facts_apart.min() > 0.1 > stories_apart.max()
