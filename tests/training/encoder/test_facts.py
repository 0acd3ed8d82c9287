"""What tells questions on facts of the world from those on stories, which comes with the encoder."""

from __future__ import annotations

import shutil
from pathlib import Path

import numpy as np
import pytest

from nlb_retriever.encoding import facts_regression, load_encoder
from nlb_retriever.encoding.load import DEFAULT_FOLDER
from nlb_retriever.encoding.openvino import FACTS_FILE, find_checked
from nlb_retriever.errors import EncoderError
from nlb_training.encoder.facts import main
from nlb_training.encoder.queries import read_articles, read_tales
from tests.training.encoder.small import write_data


def test_the_command_adds_the_regression_to_an_encoder(tmp_path: Path) -> None:
    data, folder = write_data(tmp_path / "data"), tmp_path / "encoder"
    shutil.copytree(DEFAULT_FOLDER, folder)
    assert main([str(data), str(folder)]) == 0
    weights = np.load(find_checked(folder, FACTS_FILE))
    assert weights.shape == (385,) and weights.dtype == np.float32
    assert not np.allclose(weights, facts_regression())
    encoder = load_encoder(folder, device="cpu")
    asked = encoder.encode([query.text for query in read_articles(data)[0]], query=True) @ weights[:-1]
    told = encoder.encode([query.text for query, _ in read_tales(data)], query=True) @ weights[:-1]
    assert asked.mean() > told.mean()
    (folder / FACTS_FILE).write_bytes(b"damaged")
    with pytest.raises(EncoderError, match=r"facts.npy is damaged.*SHA-256"):
        find_checked(folder, FACTS_FILE)


def test_the_command_says_what_it_lacks(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["one"]) == 2
    assert "usage" in capsys.readouterr().err
    assert main([str(tmp_path), str(DEFAULT_FOLDER)]) == 2
    assert "squad_dev.jsonl.bz2 cannot be read" in capsys.readouterr().err


def test_questions_on_the_world_are_told_from_those_on_stories() -> None:
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
    encoder, weights = load_encoder(device="cpu"), facts_regression()
    about_facts, about_stories = (
        encoder.encode(each, query=True) @ weights[:-1] + weights[-1] for each in (facts, stories)
    )
    assert about_facts.min() > 0.1 > about_stories.max()
