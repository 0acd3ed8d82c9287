"""A small model of MiniLM's kind and a folder of data like the real one, for the tests of training it."""

from __future__ import annotations

import bz2
import io
import json
import tarfile
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import torch

from nlb_retriever.reader.interface import Reading
from tests.doubles import minilm_folder

DIM, LAYERS = 24, 2
_WORDS = "whale duel harpoon pistol ocean meadow lantern captain baker violin castle thunder orchard garden".split()
_NAMES = "Ahab Eugene Lucy Margaret Silas Dorothea".split()


class WordReader:
    """A reader that finds passages relevant by the words that they share with the question."""

    backend = "words"

    def read(self, question: str, passages: Sequence[str], *, shortest: int = 1) -> list[Reading]:
        own = set(question.lower().split())
        shared = [len(own & set(passage.lower().split())) for passage in passages]
        return [Reading(relevance=float(count - 2), spans=(), no_answer_score=0.0) for count in shared]


def write_model(folder: Path, *, seed: int = 0) -> Path:
    """A sentence-transformers folder with MiniLM's tokenizer and small random weights."""
    import shutil

    from safetensors.torch import save_file

    shutil.copytree(
        minilm_folder(), folder, ignore=shutil.ignore_patterns("*.safetensors", "README.md", "data_config.json")
    )
    config = json.loads((folder / "config.json").read_text())
    config |= {"hidden_size": DIM, "num_hidden_layers": LAYERS, "intermediate_size": 4 * DIM}
    (folder / "config.json").write_text(json.dumps(config))
    pooling = json.loads((folder / "1_Pooling" / "config.json").read_text())
    (folder / "1_Pooling" / "config.json").write_text(json.dumps(pooling | {"word_embedding_dimension": DIM}))
    random = torch.Generator().manual_seed(seed)

    def draw(*shape: int) -> torch.Tensor:
        return torch.randn(*shape, generator=random) * 0.3

    weights = {
        "embeddings.word_embeddings.weight": draw(30522, DIM),
        "embeddings.position_embeddings.weight": draw(512, DIM),
        "embeddings.token_type_embeddings.weight": draw(2, DIM),
        "embeddings.LayerNorm.weight": torch.ones(DIM),
        "embeddings.LayerNorm.bias": torch.zeros(DIM),
    }
    for layer in range(LAYERS):
        stem = f"encoder.layer.{layer}."
        for part in ("attention.self.query", "attention.self.key", "attention.self.value", "attention.output.dense"):
            weights |= {f"{stem}{part}.weight": draw(DIM, DIM), f"{stem}{part}.bias": torch.zeros(DIM)}
        weights |= {f"{stem}intermediate.dense.weight": draw(4 * DIM, DIM)}
        weights |= {f"{stem}intermediate.dense.bias": torch.zeros(4 * DIM)}
        weights |= {f"{stem}output.dense.weight": draw(DIM, 4 * DIM), f"{stem}output.dense.bias": torch.zeros(DIM)}
        for part in ("attention.output", "output"):
            weights |= {f"{stem}{part}.LayerNorm.weight": torch.ones(DIM)}
            weights |= {f"{stem}{part}.LayerNorm.bias": torch.zeros(DIM)}
    save_file(weights, folder / "model.safetensors")
    return folder


def write_data(folder: Path) -> Path:
    """Books, tales, articles and rows, in the layout of the real data."""
    (folder / "corpus").mkdir(parents=True)
    (folder / "eval").mkdir()
    books = {f"book{number}.txt": _book(number) for number in range(4)}
    tales = {f"tales{number}.txt": _book(10 + number) for number in range(3)}
    for archive, own in (
        ("train-00", books),
        ("train-01", {}),
        ("train-02", {}),
        ("fairytaleqa", tales),
    ):
        with tarfile.open(folder / "corpus" / f"{archive}.tar.bz2", "w:bz2") as tar:
            for name, text in own.items():
                entry = tarfile.TarInfo(f"{archive}/{name}")
                entry.size = len(text.encode())
                tar.addfile(entry, io.BytesIO(text.encode()))
    rows: dict[str, list[dict[str, Any]]] = {}
    rows["booksum_chapters_train"] = [
        {
            **_chapter(books, number, half),
            "summary": _summary(number, half) + _found(number),
            "is_aggregate": False,
        }
        for number in range(4)
        for half in (0, 1)
    ]
    rows["booksum_books_train"] = [
        {"book_file": f"book{number}.txt", "summary": _summary(number, 0)} for number in range(4)
    ]
    rows["chapter_titles_train"] = [
        {**_chapter(books, number, half), "chapter_title": f"Of the {_WORDS[number]} and the sea"}
        for number in range(4)
        for half in (0, 1)
    ]
    rows["chapter_synopses_train"] = []
    rows["fairytaleqa_train"] = [
        {
            "book_file": f"tales{story % 3}.txt",
            "story": f"story-{story}",
            "story_span": [0, len(tales[f"tales{story % 3}.txt"])],
            "question": f"Where did {_NAMES[story % 6]} take the {_WORDS[number]}?",
            "evidence_spans": [[number * 300, number * 300 + 200]],
        }
        for story in range(12)
        for number in range(4)
    ]
    rows["squad_dev"] = [
        {
            "article": article,
            "paragraph": paragraph,
            "context": _paragraph(30 + number, paragraph),
            "question": f"What did {_NAMES[paragraph]} say about the {_WORDS[number]}?",
            "answers": [{"start": 4, "text": _paragraph(30 + number, paragraph)[4:20]}] if paragraph else [],
        }
        for number, article in enumerate(["Prime_number", "Whales", "Pistols", "Oceans"])
        for paragraph in range(4)
    ]
    for name, own in rows.items():
        with bz2.open(folder / "eval" / f"{name}.jsonl.bz2", "wt", encoding="utf-8") as stream:
            stream.writelines(json.dumps(row) + "\n" for row in own)
    return folder


def write_plot_questions(folder: Path) -> Path:
    """Questions on plots of the books, as nlb_training.reader has 22,342 of them."""
    file = folder / "plot_questions.jsonl.bz2"
    rows = [
        {"book_file": f"book{number}.txt", "question": f"Who carried the {_WORDS[part]}?", "answers": [_NAMES[part]]}
        for number in range(4)
        for part in range(4)
    ]
    file.write_bytes(bz2.compress("".join(json.dumps(row) + "\n" for row in rows).encode()))
    return file


def _paragraph(number: int, part: int) -> str:
    random = np.random.default_rng([number, part])
    sentences = [
        f"On day {part}.{index} {random.choice(_NAMES)} carried the {random.choice(_WORDS)} past the "
        f"{random.choice(_WORDS)} of town {number}."
        for index in range(8)
    ]
    return " ".join(sentences)


def _book(number: int) -> str:
    people = " ".join(f"There was old {name}." for name in 2 * _NAMES)
    return "\n\n".join([*(_paragraph(number, part) for part in range(20)), *([people] if number < 4 else [])])


def _chapter(texts: dict[str, str], number: int, half: int) -> dict[str, Any]:
    name = f"book{number}.txt"
    middle = texts[name].index("\n\n", len(texts[name]) // 2)
    start, end = (0, middle) if half == 0 else (middle + 2, len(texts[name]))
    return {"book_file": name, "start": start, "end": end}


def _found(number: int) -> str:
    return f" {_NAMES[number]} finds a {_WORDS[number]} in the garden."


def _summary(number: int, half: int) -> str:
    sentences = (part.split(". ")[0] for part in (_paragraph(number, 10 * half + step) for step in range(6)))
    return " ".join(f"{sentence}." for sentence in sentences)
