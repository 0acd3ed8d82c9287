"""What tells which sentences say most of a chapter, which comes with the encoder."""

from __future__ import annotations

import shutil
from pathlib import Path

import numpy as np
import pytest

from nlb_retriever.encoding import find_salience, identify_encoder, load_encoder, score_sentences
from nlb_retriever.encoding.load import DEFAULT_ENCODER, DEFAULT_FOLDER
from nlb_retriever.encoding.openvino import SALIENCE_FILE, find_checked
from nlb_training.encoder.salience import judge, main, read_chapters, split
from tests.training.encoder.small import write_data


def test_the_command_adds_the_weights_to_an_encoder(tmp_path: Path) -> None:
    data, folder = write_data(tmp_path / "data"), tmp_path / "encoder"
    shutil.copytree(DEFAULT_FOLDER, folder)
    assert main([str(data), str(folder)]) == 0
    weights = np.load(find_checked(folder, SALIENCE_FILE))
    assert weights.shape == (2, 384) and weights.dtype == np.float32
    released = find_salience(identify_encoder(DEFAULT_ENCODER).sha256)
    assert released is not None and not np.allclose(weights, released)
    encoder = load_encoder(folder, device="cpu")
    agreement = []
    for text, summaries in read_chapters(data):
        sentences, places = split(text)
        vectors = encoder.encode(sentences)
        worth = judge(vectors, places, [(encoder.encode(own), at) for own, at in map(split, summaries)])
        scores = score_sentences(vectors, [len(sentence.split()) for sentence in sentences], weights)
        agreement.append(np.corrcoef(scores, worth)[0, 1])
    assert np.mean(agreement) > 0.2


def test_the_command_says_what_it_lacks(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main([str(tmp_path), str(DEFAULT_FOLDER)]) == 2
    assert "booksum_chapters_train.jsonl.bz2 cannot be read" in capsys.readouterr().err


def test_a_sentence_is_worth_what_a_summary_says_at_its_place() -> None:
    east, north = np.eye(2, dtype=np.float32)
    vectors, places = np.stack([east, north, east]), np.array([0.0, 0.5, 1.0], dtype=np.float32)
    summary = (east[None], np.array([1.0], dtype=np.float32))
    assert judge(vectors, places, [summary]) == pytest.approx([0.7, -0.15, 1.0])
    assert judge(vectors, places, [summary, (north[None], places[:1])]) == pytest.approx([0.35, 0.35, 0.35])


def test_sentences_that_tell_what_happens_are_told_from_others() -> None:
    text = [
        "The next morning Elizabeth left the house with her sister and took the coach to London.",
        "Well, well, I never!",
        "It was as it always had been, and as it would be.",
        "Darcy wrote her a letter in which he confessed that he had paid Wickham's debts.",
        "Oh, you know how such things are.",
    ]
    encoder, weights = load_encoder(device="cpu"), find_salience(identify_encoder(DEFAULT_ENCODER).sha256)
    scores = score_sentences(encoder.encode(text), [len(sentence.split()) for sentence in text], weights)
    assert set(np.argsort(-scores)[:2]) == {0, 3}
