"""The network: BERT's states, whatever stands in the padding."""

from __future__ import annotations

from pathlib import Path

import pytest
import torch
from transformers import BertConfig, BertModel

from nlb_retriever.errors import TrainingError
from nlb_retriever.reader.network import ReaderNetwork
from nlb_training.reader.start import start_network


def test_it_starts_with_the_states_of_the_encoder_it_comes_from(tmp_path: Path) -> None:
    torch.manual_seed(3)
    config = BertConfig(
        vocab_size=50, hidden_size=32, num_hidden_layers=2, num_attention_heads=4, intermediate_size=64,
        max_position_embeddings=40,
    )  # fmt: skip
    bert = BertModel(config, add_pooling_layer=False).eval()
    bert.save_pretrained(tmp_path)
    network = start_network(tmp_path).eval()
    seen: list[torch.Tensor] = []
    network.layers[-1].register_forward_hook(lambda _module, _inputs, output: seen.append(output))
    ids, types, mask = torch.randint(0, 50, (3, 20)), torch.zeros(3, 20, dtype=torch.long), torch.ones(3, 20)
    types[:, 8:] = 1
    mask[1, 12:] = 0
    with torch.no_grad():
        network(ids, types, mask.long())
        wanted = bert(input_ids=ids, token_type_ids=types, attention_mask=mask).last_hidden_state
    assert torch.allclose(seen[0][mask.bool()], wanted[mask.bool()], atol=1e-5)


def test_a_folder_without_an_encoder_is_refused(tmp_path: Path) -> None:
    with pytest.raises(TrainingError, match="holds no BERT encoder"):
        start_network(tmp_path)


def test_padding_changes_no_score(network: ReaderNetwork) -> None:
    network.eval()
    ids = torch.randint(1000, 2000, (1, 12))
    types, mask = torch.zeros_like(ids), torch.ones_like(ids)
    more = torch.nn.functional.pad(ids, (0, 9), value=5)
    with torch.no_grad():
        spans, relevance = network(ids, types, mask)
        padded, same = network(more, torch.zeros_like(more), torch.nn.functional.pad(mask, (0, 9)))
    assert torch.allclose(spans, padded[:, :12], atol=1e-5)
    assert torch.allclose(relevance, same, atol=1e-5)
