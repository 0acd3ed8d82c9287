"""Small books and encoders for the tests of training."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import numpy as np

from nlb_retriever.encoding import Vectors
from tests.doubles import KeywordEncoder

_WORDS = ("whale", "duel", "harpoon", "pistol", "ocean", "meadow")
KEYWORDS = KeywordEncoder(*_WORDS)


def write_books(folder: Path, count: int = 2, *, chapters: int = 3, sentences: int = 12) -> list[Path]:
    """Books of short chapters with titles, each sentence on something else."""
    folder.mkdir(parents=True, exist_ok=True)
    files = []
    for book in range(count):
        random = np.random.default_rng(book)
        parts = [f"# Book number {book}\n"]
        for chapter in range(chapters):
            first, second = random.permutation(_WORDS)[:2]
            parts.append(f"## CHAPTER {chapter + 1}. The {first} and the {second} of book {book}\n")
            lines = [
                f"In the {chapter}.{number}th hour of that long day nobody thought of the {random.choice(_WORDS)}."
                for number in range(sentences)
            ]
            parts.append(" ".join(lines) + "\n")
        files.append(folder / f"book{book}.md")
        files[-1].write_text("\n".join(parts))
    return files


class CountingEncoder(KeywordEncoder):
    """Counts its calls and texts; gives NaN for a text that holds `poison`, and stops at one that holds `stop`."""

    def __init__(self, *, poison: str = "\0", stop: str = "\0") -> None:
        super().__init__(*_WORDS)
        self.calls: list[int] = []
        self.poison, self.stop = poison, stop

    def encode(self, texts: Sequence[str], *, query: bool = False) -> Vectors:
        if any(self.stop in text for text in texts):
            raise KeyboardInterrupt
        self.calls.append(len(texts))
        vectors = super().encode(texts, query=query)
        vectors[[self.poison in text for text in texts]] = np.nan
        return vectors
