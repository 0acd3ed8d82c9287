"""Small novels to index, and all that a library then holds."""

from __future__ import annotations

import json
import random
from pathlib import Path

from nlb_retriever.records import LEVELS
from nlb_retriever.store import open_store

WORDS = """
harbour lantern captain storm letter garden winter brother forest silver bread window promise river
soldier mountain doctor candle journey kitchen shadow market violin daughter bridge secret morning
""".split()


def write_book(path: Path, seed: int, *, chapters: int = 3, sentences: int = 30) -> Path:
    """A small novel of its own words, with chapters."""
    words = random.Random(seed)
    lines = []
    for chapter in range(1, chapters + 1):
        lines.append(f"CHAPTER {chapter}\n")
        for _ in range(sentences // 5):
            lines.append(" ".join(f"The {' '.join(words.choices(WORDS, k=9))} {seed}." for _ in range(5)) + "\n")
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("\n".join(lines), encoding="utf-8")
    return path


def contents(library: Path) -> dict[str, object]:
    """All that a library holds, comparable with another one's."""
    with open_store(library) as store:
        books = sorted((book.id, book.version, book.source, book.title) for book in store.books())
        points = {
            level: sorted(
                (point.id, json.dumps(point.payload, sort_keys=True), point.dense.tobytes())
                for point in store._backend.scan(level)
                if point.dense is not None
            )
            for level in LEVELS
        }
    return {"books": books, "points": points}
