"""Places in books: points of the store as hits, and what lies around a hit."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from nlb_retriever.records import Hit, Level
from nlb_retriever.store import LibraryStore, StoredPoint
from nlb_retriever.store.points import point_id

_IN_HIT = {"book_id", "title", "author", "source", "section_path", "section_id", "start", "end", "page", "text"}


@dataclass(frozen=True, kw_only=True)
class Surroundings:
    """Ids of what a hit lies in and between, as hits at that level have them."""

    parent: str | None
    """A passage's section, a section's book; None for a book."""
    previous: str | None
    """The section or passage before it in its book, if there is one."""
    next: str | None


def to_hit(point: StoredPoint, level: Level, score: float, *, book: StoredPoint | None = None) -> Hit:
    """A point with its whole payload as a hit; a `book` is shown by the passage that the point is."""
    payload = point.payload
    whole: dict[str, Any] = book.payload if book else payload
    return Hit(
        level=level,
        id=book.id if book else point.id,
        book_id=payload["book_id"],
        title=payload["title"],
        author=payload["author"],
        source=payload["source"],
        section=() if book else tuple(payload["section_path"]),
        section_id=None if book else payload["section_id"],
        start=payload["start"],
        end=payload["end"],
        page=payload["page"],
        score=score,
        text=payload["text"],
        metadata={key: value for key, value in whole.items() if key not in _IN_HIT},
    )


def find_surroundings(hits: Sequence[Hit], store: LibraryStore) -> list[Surroundings]:
    """What lies around hits of one level, in their order."""
    around = [(_neighbour(hit, -1), _neighbour(hit, 1)) for hit in hits]
    wanted = sorted({point for pair in around for point in pair if point})
    there = {point.id for point in store.retrieve(hits[0].level, wanted, payload=False)} if wanted else set()
    return [
        Surroundings(
            parent=_parent(hit), previous=before if before in there else None, next=after if after in there else None
        )
        for hit, (before, after) in zip(hits, around, strict=True)
    ]


def _neighbour(hit: Hit, step: int) -> str | None:
    if hit.level == "book" or hit.metadata["ordinal"] + step < 0:
        return None
    return point_id(hit.book_id, hit.metadata["version"], hit.level, hit.metadata["ordinal"] + step)


def _parent(hit: Hit) -> str | None:
    if hit.level == "section":
        return point_id(hit.book_id, hit.metadata["version"], "book", 0)
    return hit.section_id
