"""MPNet as a reader's network: it computes what transformers does, and takes no other model."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
import torch
from tokenizers import Tokenizer
from transformers import MPNetModel

from nlb_retriever.errors import TrainingError
from nlb_training.reader.mpnet import start_mpnet
from nlb_training.reader.rows import make_batch, tokenize
from tests.training.reader.questions import make_examples
from tests.training.reader.teachers import write_teacher


def test_it_computes_what_transformers_does(tokenizer: Tokenizer, tmp_path: Path) -> None:
    network = start_mpnet(write_teacher(tmp_path / "teacher"), tokenizer).eval()
    rows = tokenize(make_examples(40), tokenizer, longest=64)
    batch = make_batch(rows, torch.randperm(len(rows)).numpy()[:30])
    long = torch.randint(1000, 30000, (2, 300)), torch.zeros(2, 300, dtype=torch.long), torch.ones(2, 300).long()
    words = Tokenizer.from_file(str(tmp_path / "teacher" / "tokenizer.json")).get_vocab()
    special = {"[CLS]": "<s>", "[SEP]": "</s>", "[PAD]": "<pad>"}
    theirs = MPNetModel.from_pretrained(tmp_path / "teacher", add_pooling_layer=False).eval()
    for ids, types, mask in ((batch.ids, batch.types, batch.mask), long):
        named = [[str(tokenizer.id_to_token(each)) for each in row] for row in ids.tolist()]
        own = torch.tensor([[words[special.get(each, each)] for each in row] for row in named])
        places = torch.arange(ids.shape[1]) + 2
        with torch.no_grad():
            states = theirs(input_ids=own, attention_mask=mask, position_ids=places[None]).last_hidden_state
            spans, _ = network(ids, types, mask)
            wanted = network.span(states)
        assert torch.allclose(spans[mask > 0], wanted[mask > 0], atol=1e-4)
        assert spans[mask > 0].std() > 0.01


def test_another_model_and_other_words_are_one_line(tokenizer: Tokenizer, tmp_path: Path) -> None:
    def refusal(folder: Path) -> str:
        with pytest.raises(TrainingError) as caught:
            start_mpnet(folder, tokenizer)
        assert "\n" not in str(caught.value)
        return str(caught.value)

    assert "its tokenizer lacks 'whale', which the reader's has" in refusal(
        write_teacher(tmp_path / "words", without="whale")
    )
    folder = write_teacher(tmp_path / "teacher")
    config = json.loads((folder / "config.json").read_text())
    (folder / "config.json").write_text(json.dumps(config | {"num_hidden_layers": 3}))
    assert "it lacks 'encoder.layer.2." in refusal(folder)
    (folder / "config.json").write_text(json.dumps(config | {"model_type": "bert"}))
    assert "it is a model of the kind bert" in refusal(folder)
    (folder / "config.json").write_text(json.dumps(config))
    (folder / "model.safetensors").write_bytes(b"nothing")
    assert "holds no MPNet encoder to learn from" in refusal(folder)
    assert "holds no MPNet encoder to learn from" in refusal(tmp_path / "nowhere")
