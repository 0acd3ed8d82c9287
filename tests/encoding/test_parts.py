"""Vectors of spans and states of words, on the default encoder's two back ends."""

from __future__ import annotations

import numpy as np
import pytest
import torch

from nlb_retriever.encoding import ChunkEncoder, load_encoder
from nlb_retriever.encoding.load import load_torch_encoder
from nlb_retriever.encoding.torch import TorchEncoder


@pytest.fixture(scope="module")
def int8() -> ChunkEncoder:
    return load_encoder(device="cpu")


@pytest.fixture(scope="module")
def fp32() -> TorchEncoder:
    return load_torch_encoder()


def test_spans_are_pooled_from_the_pass_over_the_whole_text(int8: ChunkEncoder, fp32: TorchEncoder) -> None:
    storm, bread = "The lamp broke in the storm. Tomas mended it by hand.", "Flour and water rise overnight in the pot."
    texts, starts = [storm, f"{bread} {storm}", "Late."], [[0, 29], [0, len(bread) + 1], [0]]
    for encoder in (int8, fp32):
        parts = encoder.encode_parts(texts, starts)
        whole, spans = parts.whole, parts.spans
        np.testing.assert_allclose(whole, encoder.encode(texts), atol=1e-6)
        assert [own.shape for own in spans] == [(2, 384), (2, 384), (1, 384)]
        np.testing.assert_allclose([np.linalg.norm(row) for own in spans for row in own], 1, atol=1e-5)
        storm_vector, bread_vector = encoder.encode([storm, bread], query=True)
        assert spans[1][1] @ storm_vector > whole[1] @ storm_vector > spans[1][0] @ storm_vector
        assert spans[1][0] @ bread_vector > whole[1] @ bread_vector > spans[1][1] @ bread_vector
    alone = fp32.encode_parts(texts[:1], starts[:1]).spans[0]
    np.testing.assert_allclose(fp32.encode_parts(texts, starts).spans[0], alone, atol=1e-5)


def test_a_span_is_the_mean_of_its_tokens_states(fp32: TorchEncoder) -> None:
    text = "The lamp broke. Tomas mended it."
    [spans] = fp32.encode_parts([text], [[0, 16]]).spans
    encoding = fp32.tokenizer.encode(text)
    with torch.inference_mode():
        states = fp32.model[0].model(input_ids=torch.tensor([encoding.ids])).last_hidden_state[0].numpy()
    second = [at for at, (start, end) in enumerate(encoding.offsets) if start >= 16 and end > start]
    mean = states[second].mean(axis=0)
    np.testing.assert_allclose(spans[1], mean / np.linalg.norm(mean), atol=1e-5)


def test_spans_of_a_text_longer_than_the_models_input_go_on_in_the_next_window(int8: ChunkEncoder) -> None:
    sentence = "The keeper climbed the ninety steps to the lamp with a can of oil and wrote down the weather. "
    text = sentence * 30
    starts = [10 * number * len(sentence) for number in range(3)]
    words = [at for at in range(len(text)) if text.startswith("weather", at)]
    parts = int8.encode_parts([text], [starts], [words])
    [spans], [states] = parts.spans, parts.states
    np.testing.assert_array_equal(parts.whole, int8.encode([text]))
    assert spans.shape == (3, 384)
    assert (spans @ int8.encode([sentence])[0] > 0.8).all()
    assert states.shape == (30, 384)
    unit = states / np.linalg.norm(states, axis=1, keepdims=True)
    assert (unit @ unit.T > 0.5).all()


def test_spans_without_a_token_have_no_vector(int8: ChunkEncoder) -> None:
    parts = int8.encode_parts(["The lamp broke.   ", "", " \n "], [[0, 16], [0], [0]])
    assert [len(own) for own in parts.spans] == [1, 0, 0]
    assert [own.shape for own in parts.states] == [(0, 384)] * 3


def test_the_state_of_a_word_is_that_of_its_first_token(fp32: TorchEncoder) -> None:
    text = "The lamp-lighter mended it unhurriedly."
    encoding = fp32.tokenizer.encode(text)
    with torch.inference_mode():
        states = fp32.model[0].model(input_ids=torch.tensor([encoding.ids])).last_hidden_state[0].numpy()
    offsets = [text.index(word) for word in ("lamp", "lighter", "unhurriedly")]
    first = [next(at for at, (start, end) in enumerate(encoding.offsets) if start == own < end) for own in offsets]
    [found] = fp32.encode_parts([text], [[0]], [offsets], query=True).states
    np.testing.assert_allclose(found, states[first], atol=1e-5)


def test_a_model_that_makes_its_vectors_in_another_way_makes_none_of_spans(
    fp32: TorchEncoder, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(fp32.model[1], "pooling_mode", "cls")
    parts = fp32.encode_parts(["The lamp broke."], [[0]], [[4]])
    assert parts.spans == parts.states == []
    np.testing.assert_array_equal(parts.whole, fp32.encode(["The lamp broke."]))
