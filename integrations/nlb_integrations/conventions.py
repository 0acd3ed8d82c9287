"""What the adapters to all frameworks share."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from nlb_retriever.errors import QueryError
from nlb_retriever.records import Hit
from nlb_retriever.search.retriever import Retriever
from nlb_retriever.store.filters import KEYWORD_KEYS, METADATA, NUMBER_KEYS, TEXT_KEY

CHAPTER_SEPARATOR = " > "
_OWN = {TEXT_KEY}.union(*KEYWORD_KEYS.values(), *NUMBER_KEYS.values())


def as_retriever(library: str | Path | Retriever | None, device: str = "cpu") -> Retriever:
    """A retriever for a library by its folder, name or URL; one that is given is shared."""
    return library if isinstance(library, Retriever) else Retriever(library, device=device)


def check_count(name: str, count: object) -> int:
    """The most results that are wanted; 0 for none.

    Raises:
        QueryError: it is not a whole number from 0.
    """
    if isinstance(count, bool) or not isinstance(count, int) or count < 0:
        raise QueryError(f"{name} must be a whole number from 0, not {count!r}")
    return count


def to_key(name: str) -> str:
    """The library's filter key for a name of `to_metadata`."""
    if name == "page_label":
        return "page"
    return name if name in _OWN or name.startswith(METADATA) else METADATA + name


def to_metadata(hit: Hit) -> dict[str, Any]:
    """A hit's metadata, with the same keys in all frameworks.

    `page_label` is the page as printed, `page_number` the physical one from 1; `section` counts a book's sections
    from 0, `ordinal` its sections or passages; `start` and `end` are the span in the whole book's text. Metadata
    that a program gave of its book is there too, except under these keys.
    """
    return {
        **hit.metadata.get("metadata", {}),
        "title": hit.title,
        "author": hit.author,
        "chapter": CHAPTER_SEPARATOR.join(hit.section) or None,
        "page_label": hit.page,
        "level": hit.level,
        "book_id": hit.book_id,
        "section_id": hit.section_id,
        "source": hit.source,
        "start": hit.start,
        "end": hit.end,
        **{key: hit.metadata.get(key) for key in ("language", "year", "section", "ordinal", "page_number")},
    }
