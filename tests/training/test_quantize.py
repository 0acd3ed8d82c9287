"""Making the int8 encoder that the CPU uses."""

from __future__ import annotations

import os
import random
import shutil
from pathlib import Path

import pytest

from nlb_retriever.encoding import load_encoder
from nlb_retriever.encoding.load import BASE_ENCODER, DEFAULT_FOLDER, load_torch_encoder
from nlb_retriever.encoding.openvino import TERMS_FILE, OpenVinoEncoder, find_checked
from nlb_retriever.encoding.terms import TERM_DIM, TermProjection
from nlb_retriever.errors import EncoderError
from nlb_training import quantize as quantizing
from tests.doubles import minilm_folder


@pytest.fixture
def books(tmp_path: Path) -> Path:
    words = "the old captain looked at sea and sky while storm wind rose over harbour town lamp light burned".split()
    choose = random.Random(0)
    folder = tmp_path / "calibration"
    folder.mkdir()
    for number in range(3):
        sentences = [" ".join(choose.choices(words, k=12)).capitalize() + "." for _ in range(600)]
        (folder / f"{number}.txt").write_text(" ".join(sentences))
    return folder


@pytest.mark.filterwarnings("ignore")  # of torch's tracer and of the quantizer's own dependencies
def test_a_quantized_folder_is_an_encoder_of_the_same_identity(
    books: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    pytest.importorskip("nncf", reason="quantizing needs the extra 'quantize'")
    monkeypatch.setattr(quantizing, "SAMPLES", 12)
    out, model = tmp_path / "int8", tmp_path / BASE_ENCODER
    shutil.copytree(minilm_folder(), model, copy_function=os.symlink)
    (model / TERMS_FILE).write_bytes((DEFAULT_FOLDER / TERMS_FILE).read_bytes())
    assert quantizing.main([str(model), str(out), str(books)]) == 0
    assert TermProjection.read(find_checked(out, TERMS_FILE)).weight.shape == (TERM_DIM, 384)
    made, original = load_encoder(out, device="cpu"), load_torch_encoder(BASE_ENCODER)
    assert isinstance(made, OpenVinoEncoder)
    assert made.identity == original.identity
    texts = [(books / "0.txt").read_text()[:900], "Where did the lamp burn?"]
    assert (made.encode(texts) * original.encode(texts)).sum(axis=1).min() > 0.97
    starts = [[0, 300, 600], [0]]
    spans, right_spans = (encoder.encode_parts(texts, starts).spans for encoder in (made, original))
    for own, right in zip(spans, right_spans, strict=True):
        assert (own * right).sum(axis=1).min() > 0.97
    with pytest.raises(EncoderError):
        quantizing.quantize(tmp_path / "nothing", out, [books / "0.txt"])
    assert load_encoder(out, device="cpu").identity == original.identity  # what was there is still there


def test_too_little_text_is_one_line(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    pytest.importorskip("nncf", reason="quantizing needs the extra 'quantize'")
    (tmp_path / "short.txt").write_text("Too short.")
    assert quantizing.main(["all-MiniLM-L6-v2", str(tmp_path / "out"), str(tmp_path / "short.txt")]) == 2
    assert "too little text to calibrate on" in capsys.readouterr().err
    assert not (tmp_path / "out").exists()


def test_wrong_arguments_show_the_usage(capsys: pytest.CaptureFixture[str]) -> None:
    assert quantizing.main(["only-one"]) == 2
    assert "usage" in capsys.readouterr().err
