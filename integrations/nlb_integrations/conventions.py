"""What the adapters to all frameworks share."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from nlb_retriever.errors import QueryError, brief
from nlb_retriever.records import Hit, Level
from nlb_retriever.search.retriever import Retriever
from nlb_retriever.store import And, Condition, Filter, Not, Or
from nlb_retriever.store.filters import (
    KEYWORD_KEYS,
    METADATA,
    NUMBER_KEYS,
    TEXT_KEY,
    Operator,
    check,
    conditions,
    matches,
)

CHAPTER_SEPARATOR = " > "
EXCLUDED = ("excluded_llm_metadata_keys", "excluded_embed_metadata_keys")
"""Among a book's own metadata: which of them LlamaIndex shows to no language model, and to no embedding model."""
_IDS = ("book_id", "section_id", "ordinal")
"""Always the library's, whatever a book's own metadata are."""
_EQUALITIES = ("eq", "ne", "in", "nin", "any", "all", "contains")
_OWN = {TEXT_KEY}.union(*KEYWORD_KEYS.values(), *NUMBER_KEYS.values())


def as_retriever(library: str | Path | Retriever | None, device: str = "cpu") -> Retriever:
    """A retriever for a library by its folder, name or URL; one that is given is shared."""
    return library if isinstance(library, Retriever) else Retriever(library, device=device)


@dataclass(frozen=True)
class Keys:
    """What a filter can name at one level of a library."""

    level: Level
    own: frozenset[str]
    """Keys of all books' own metadata."""

    @classmethod
    def of(cls, library: Retriever, level: Level) -> Keys:
        """A library's, which is opened for them."""
        return cls(level, frozenset(key for book in library.store.books() for key in book.metadata) - {*EXCLUDED})


def to_key(name: str) -> str:
    """The library's filter key for a name of `to_metadata`."""
    if name == "page_label":
        return "page"
    return name if name in _OWN or name.startswith(METADATA) else METADATA + name


def to_condition(name: str, op: Operator, value: Any, keys: Keys | None) -> Filter:
    """A test of what `to_metadata` has under a name.

    So it is of a book's own metadata where the book has some under that name, else of the library's field. "metadata."
    before the name means the book's own alone.

    Args:
        name, op, value: the test.
        keys: None where the library is not open yet: then all names are the library's, or of no book.

    Raises:
        QueryError: no book has such metadata, or the test is none for the library's field.
    """
    if keys is None or name in _IDS or name.startswith(METADATA):
        return Condition(to_key(name), op, value)
    field = _of_library(name, op, value, keys.level)
    if name not in keys.own:
        if isinstance(field, Condition) and field.key.startswith(METADATA):
            known = sorted({*keys.own, *KEYWORD_KEYS[keys.level], *NUMBER_KEYS[keys.level]})
            raise QueryError(f"cannot filter by {brief(name)}, which no book has; known keys: {', '.join(known)}")
        return _checked(field, name, keys.level)
    own, missing = Condition(METADATA + name, op, value), Condition(METADATA + name, "is_empty")
    try:
        check(field, keys.level)
    except QueryError:  # words for the user's key, numbers for the library's
        return own
    return Or((And((Not((missing,)), own)), And((missing, field))))


def _of_library(name: str, op: Operator, value: Any, level: Level) -> Filter:
    """A test of the library's field of a name."""
    if name == "level":  # not stored: it holds for all or for none
        held = matches(check(Condition(METADATA + name, op, value), level), {"metadata": {"level": level}})
        return Condition("book_id", "nin" if held else "in", ())
    return _of_chapter(op, value, level) if name == "chapter" else Condition(to_key(name), op, value)


def _of_chapter(op: Operator, value: Any, level: Level) -> Filter:
    """A test of a section's titles, joined as in `to_metadata`, which also fits what is below that section."""
    if op not in _EQUALITIES:
        return Condition("section_path", op, value)
    value = check(Condition(METADATA + "chapter", op, value), level).value  # type: ignore[union-attr]  # one condition
    chapters = [str(each).split(CHAPTER_SEPARATOR) for each in (value if isinstance(value, tuple) else (value,))]
    tests = [And(tuple(Condition("section_path", "eq", title) for title in chapter)) for chapter in chapters]
    found = And(tuple(tests)) if op == "all" and tests else Or((Condition("section_path", "in", ()), *tests))
    return Not((found,)) if op in {"ne", "nin"} else found


def _checked(field: Filter, name: str, level: Level) -> Filter:
    """A test as it is.

    Raises:
        QueryError: it is not valid; with the key that was given in place of the library's.
    """
    try:
        check(field, level)
    except QueryError as error:
        key = next(iter(conditions(field))).key
        message = str(error).replace(f"by {key!r}", f"by {name!r}").replace(f"filter {key} ", f"filter {name} ")
        raise QueryError(message) from error
    return field


def with_own(fields: Mapping[str, Any], own: Mapping[str, Any]) -> dict[str, Any]:
    """The library's fields and a book's own metadata, which come first where both have a value."""
    shown = {key: value for key, value in own.items() if key not in EXCLUDED}
    return {**fields, **{key: value for key, value in shown.items() if value is not None or key not in fields}}


def to_metadata(hit: Hit) -> dict[str, Any]:
    """A hit's metadata, with the same keys in all frameworks.

    `page_label` is the page as printed, `page_number` the physical one from 1; `section` counts a book's sections
    from 0, `ordinal` its sections or passages; `start` and `end` are the span in the whole book's text; `work` is the
    title of the work that the book is a chapter of. Metadata
    that a program gave of its book is there too, also in place of these, but for `book_id`, `section_id` and `ordinal`.
    """
    ids = {"book_id": hit.book_id, "section_id": hit.section_id, "ordinal": hit.metadata.get("ordinal")}
    fields = {
        "title": hit.title,
        "work": hit.work,
        "author": hit.author,
        "chapter": CHAPTER_SEPARATOR.join(hit.section) or None,
        "page_label": hit.page,
        "level": hit.level,
        "source": hit.source,
        "start": hit.start,
        "end": hit.end,
        **{key: hit.metadata.get(key) for key in ("language", "year", "section", "page_number")},
    }
    return with_own(fields, hit.metadata.get("metadata", {})) | ids
