"""Which segments are merged, by their sizes alone."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import pytest

from nlb_retriever.store.backends.merging import due, worthwhile

BOOK = 60
"""Passages of a book."""


def make_part(passages: int) -> Any:
    return SimpleNamespace(segment=SimpleNamespace(rows={"passage": passages}), hidden=(), mask=lambda level: None)


def size_of(part: Any) -> int:
    size: int = part.segment.rows["passage"]
    return size


@pytest.mark.parametrize("start", [0, 300_000])
def test_books_that_are_added_one_a_run_copy_few_others(start: int) -> None:
    parts = [make_part(start)] if start else []
    copied = most = 0
    for _ in range(1000):
        parts.append(make_part(BOOK))
        for merged in (due(parts), worthwhile(parts, purge=False)):
            if merged:
                size = sum(map(size_of, merged))
                parts = [part for part in parts if part not in merged] + [make_part(size)]
                copied += size
        most = max(most, len(parts))
    assert copied / (1000 * BOOK) < 20
    assert most < 10


def test_the_end_of_a_run_merges_all_that_is_small() -> None:
    parts = [make_part(size) for size in (100_000, 5_000, 90, 700, 60, 60)]
    assert worthwhile(parts, purge=False) == parts[1:]
    assert worthwhile(parts[:2], purge=False) == []
    assert worthwhile([*parts[:2], make_part(BOOK)], purge=False) == [], "nearly all would be copied for one book"
