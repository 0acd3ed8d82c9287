"""The fast MiniLM computes what transformers' computes."""

from __future__ import annotations

from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest
import torch

from nlb_training.encoder.bert import Bert, microbatches
from tests.doubles import bare_tokenizer, minilm_folder
from tests.training.encoder.small import DIM, write_model

TEXTS = [
    "Who hunts?",
    "The whale was seen off the coast, and the captain gave orders to lower the boats.",
    "A sail! " * 70,
]


def ids_of(texts: list[str]) -> list[np.ndarray]:
    tokenizer = bare_tokenizer()
    return [np.array(tokenizer.encode(text, add_special_tokens=False).ids, dtype=np.uint16) for text in texts]


def test_vectors_are_those_of_sentence_transformers() -> None:
    from sentence_transformers import SentenceTransformer

    theirs = SentenceTransformer(str(minilm_folder()), device="cpu").encode(TEXTS, normalize_embeddings=True)
    ours = Bert.load(minilm_folder()).encode(ids_of(TEXTS))
    assert (ours * theirs).sum(axis=1).min() > 0.9998


def test_gradients_are_those_of_transformers(tmp_path: Path) -> None:
    from transformers import BertModel

    folder = write_model(tmp_path / "model")
    texts = ids_of(TEXTS)
    goal = torch.randn(len(texts), DIM, generator=torch.Generator().manual_seed(1))
    ours = Bert.load(folder)
    for part in ours.encode_with_grad(texts):
        (part.vectors * goal[part.numbers]).sum().backward()
        ours.collect_grads()
    theirs = BertModel.from_pretrained(folder, add_pooling_layer=False, attn_implementation="eager").eval()
    for row, text in enumerate(texts):
        ids = torch.tensor([[101, *text.tolist(), 102]])
        mean = theirs(input_ids=ids).last_hidden_state.mean(dim=1)
        (torch.nn.functional.normalize(mean, dim=-1)[0] * goal[row]).sum().backward()
    expected = {name: tensor.grad for name, tensor in theirs.named_parameters()}
    for name, master in ours.masters.items():
        grad = expected[name]
        assert master.grad is not None and grad is not None
        if grad.norm() > 1e-3:  # a key's bias has no effect
            assert torch.nn.functional.cosine_similarity(master.grad.flatten(), grad.flatten(), dim=0) > 0.98, name


def test_spans_are_means_of_the_states_of_one_pass(tmp_path: Path) -> None:
    from transformers import BertModel

    folder = write_model(tmp_path / "model")
    texts = ids_of(TEXTS)
    starts = [[0, 2] if index % 2 else [] for index in range(len(texts))]
    whole, spans = Bert.load(folder).encode_spans(texts, starts)
    theirs = BertModel.from_pretrained(folder, add_pooling_layer=False, attn_implementation="eager").eval()
    expected = []
    for text, own in zip(texts, starts, strict=True):
        states = theirs(input_ids=torch.tensor([[101, *text.tolist(), 102]])).last_hidden_state[0].detach().numpy()
        expected += [states[a + 1 : b + 1].mean(axis=0) for a, b in pairwise([*own, len(text)] if own else [])]
    assert len(spans) == len(expected) == 2 * (len(texts) // 2)
    for ours, other in zip(spans, expected, strict=True):
        assert ours @ other / np.linalg.norm(other) > 0.999
    assert np.array_equal(whole, Bert.load(folder).encode(texts))


def test_groups_are_means_of_the_states_of_their_tokens(tmp_path: Path) -> None:
    from transformers import BertModel

    folder = write_model(tmp_path / "model")
    texts = ids_of(TEXTS)
    groups = [[[0], [0, 1]], [], [[2, 3, 5]]]
    found = {
        number: row.detach().numpy()
        for part in Bert.load(folder).encode_with_grad(texts, groups=groups)
        for number, row in zip(part.groups, part.states, strict=True)
    }
    theirs = BertModel.from_pretrained(folder, add_pooling_layer=False, attn_implementation="eager").eval()
    expected = []
    for text, own in zip(texts, groups, strict=True):
        states = theirs(input_ids=torch.tensor([[101, *text.tolist(), 102]])).last_hidden_state[0].detach().numpy()
        expected += [states[[place + 1 for place in places]].mean(axis=0) for places in own]
    assert sorted(found) == [0, 1, 2]
    for number, other in enumerate(expected):
        np.testing.assert_allclose(found[number], other, atol=0.05)


def test_each_text_goes_through_once_beside_others_of_its_length() -> None:
    random = np.random.default_rng(0)
    texts = [np.zeros(int(length), dtype=np.uint16) for length in random.integers(1, 254, 300)]
    groups = list(microbatches(texts, 4096))
    assert sorted(row for rows in groups for row in rows) == list(range(300))
    assert all(len(rows) * (max(len(texts[row]) for row in rows) + 2) <= 4096 for rows in groups)


@pytest.mark.parametrize("damage", ["missing", "cut", "other"])
def test_weights_that_are_no_minilm_are_refused_in_one_line(tmp_path: Path, damage: str) -> None:
    from safetensors.torch import save_file

    from nlb_retriever.errors import TrainingError

    folder = write_model(tmp_path / "model")
    file = folder / "model.safetensors"
    if damage == "missing":
        file.unlink()
    elif damage == "cut":
        file.write_bytes(file.read_bytes()[:1000])
    else:
        save_file({"layers.0.weight": torch.zeros(3, 3)}, file)
    with pytest.raises(TrainingError, match=r"model\.safetensors") as caught:
        Bert.load(folder)
    assert "\n" not in str(caught.value)
