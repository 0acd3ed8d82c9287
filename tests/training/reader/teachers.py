"""A small MPNet encoder with all words of MiniLM, for the tests of teachers."""

from __future__ import annotations

import json
from pathlib import Path

import torch
from transformers import MPNetConfig, MPNetModel

from tests.doubles import minilm_folder


def write_teacher(folder: Path, *, without: str = "") -> Path:
    """An MPNet folder with random weights; its tokenizer lacks the word `without`."""
    read = json.loads((minilm_folder() / "tokenizer.json").read_text(encoding="utf-8"))
    words = [word for word in read["model"]["vocab"] if word != without]
    own = {word: number for number, word in enumerate(["<s>", "<pad>", "</s>", *words, "<mask>"])}
    read["model"]["vocab"] = own
    read |= {"added_tokens": [], "post_processor": None}
    folder.mkdir(parents=True)
    (folder / "tokenizer.json").write_text(json.dumps(read), encoding="utf-8")
    with torch.random.fork_rng():
        torch.manual_seed(3)
        shape = MPNetConfig(
            vocab_size=len(own), hidden_size=24, num_hidden_layers=2, num_attention_heads=2, intermediate_size=32,
            max_position_embeddings=514, initializer_range=0.3,
        )  # fmt: skip
        MPNetModel(shape, add_pooling_layer=False).save_pretrained(folder)
    return folder
