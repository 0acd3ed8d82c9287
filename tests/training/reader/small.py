"""A folder of data like the real one, small enough to train a reader on it in a test."""

from __future__ import annotations

import bz2
import io
import json
import random
import tarfile
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from tests.training.reader.questions import NAMES, THINGS

SMALL = (
    *("short.steps=5", "short.tokens=600", "short.checkpoint_every=2"),
    *("passages.steps=4", "passages.tokens=900", "passages.checkpoint_every=2"),
    *("novels.steps=3", "novels.tokens=1500", "novels.checkpoint_every=2"),
    *("altered.steps=2", "altered.tokens=1500", "altered.checkpoint_every=2"),
    *("books.steps=2", "books.tokens=1500", "books.checkpoint_every=2"),
)
"""Changes of the settings for runs of seconds."""
SMALL_TAUGHT = (
    *SMALL,
    *("teacher.steps=2", "teacher.tokens=600", "teacher.checkpoint_every=2"),
    *("distilled.steps=3", "distilled.tokens=900", "distilled.checkpoint_every=2"),
)
"""The same for runs with a teacher."""
_TOWNS = ("Dorn", "Lund", "Ravel", "Skerry")
_LITBANK = "Captain Ahab walked the deck . He broke his wooden leg on the stairs . “ I shall find him , ” he cried ."

_MENTIONS = ("PROP_PER 0 12", "Ahab-1 0 12", "PRON_PER 31 33", "Ahab-1 31 33")


def write_data(folder: Path) -> Path:
    """The files that the reader's recipe reads."""
    tales = {f"tales{number}.txt": "\n\n".join(_tale(10 * number + each)[0] for each in range(5)) for number in (0, 1)}
    books = {"book.txt": "\n\n".join(f"It is a fact that {_tale(each)[0]}" for each in range(30, 60))}
    chapter = "\n\n".join(f"It is a fact that {_tale(each)[0]}" for each in range(30, 36))
    _write_archive(folder / "corpus" / "fairytaleqa.tar.bz2", tales)
    _write_archive(folder / "corpus" / "train-00.tar.bz2", books)
    _write_archive(
        folder / "corpus" / "litbank.tar.bz2",
        {
            "coref/brat/1_whale.txt": _LITBANK,
            "coref/brat/1_whale.ann": "".join(f"T{number}\t{own}\t\n" for number, own in enumerate(_MENTIONS)),
        },
    )
    rows: dict[str, list[dict[str, Any]]] = {
        "fairytaleqa_train": [
            _tale_row(name, text, number, each)
            for number, (name, text) in enumerate(tales.items())
            for each in range(5)
        ],
        "squad_dev": [_paragraph_row(20 + each, "Whales", answered=each % 3 > 0) for each in range(12)],
        "qamr_dev_test": [{"id": f"Wiki:{each % 3}:{each}:0", **_sentence_row(each)} for each in range(12)],
        "booksum_chapters_train": [
            {
                "book_file": "book.txt",
                "start": 0,
                "end": len(chapter),
                "summary": " ".join(
                    f"{_tale(each)[1]} {_tale(each)[1].replace('ied', 'ies')}" for each in range(30, 36)
                ),
                "is_aggregate": False,
            }
        ],
    }
    (folder / "eval").mkdir()
    for name, own in rows.items():
        with bz2.open(folder / "eval" / f"{name}.jsonl.bz2", "wt", encoding="utf-8") as stream:
            stream.writelines(json.dumps(row) + "\n" for row in own)
    return folder


def _tale(number: int) -> tuple[str, str, str]:
    """A tale of several sentences, the one that a question is on, and the name that answers it."""
    draw = random.Random(number)
    name, other = draw.sample(NAMES, 2)
    thing, town = draw.choice(THINGS), draw.choice(_TOWNS)
    fact = f"{name} carried {thing} over the bridge of {town} on day {number}."
    rest = [f"On the next morning {other} of {town} slept under tree {each} and dreamt of rain." for each in range(4)]
    return " ".join([*rest[:2], fact, *rest[2:]]), fact, name


def _tale_row(file: str, text: str, number: int, each: int) -> dict[str, Any]:
    tale, fact, name = _tale(10 * number + each)
    start = text.index(tale)
    evidence = text.index(fact, start)
    return {
        "id": f"{file}-{each}",
        "book_file": file,
        "story_span": [start, start + len(tale)],
        "question": f"Who carried {fact.partition(' carried ')[2].rstrip('.')}?",
        "answers": [name],
        "evidence_spans": [[evidence, evidence + len(fact)]],
    }


def _paragraph_row(number: int, article: str, *, answered: bool) -> dict[str, Any]:
    tale, fact, name = _tale(number)
    answers = [{"start": tale.index(fact), "text": name}] if answered else []
    question = f"Who carried {fact.partition(' carried ')[2].rstrip('.')}?"
    return {"article": article, "paragraph": number, "context": tale, "question": question, "answers": answers}


def _sentence_row(number: int) -> dict[str, Any]:
    _, fact, name = _tale(50 + number)
    return {"context": fact, "question": "Who carried something?", "answers": [{"start": 0, "text": name}]}


def _write_archive(file: Path, texts: Mapping[str, str]) -> None:
    file.parent.mkdir(parents=True, exist_ok=True)
    with tarfile.open(file, "w:bz2") as tar:
        for name, text in texts.items():
            entry = tarfile.TarInfo(f"{file.name.partition('.')[0]}/{name}")
            entry.size = len(text.encode())
            tar.addfile(entry, io.BytesIO(text.encode()))
