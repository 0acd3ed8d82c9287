"""Filters over payloads, the same for every engine.

A filter is a tree of `Condition`s under `And`, `Or` and `Not`. Engines apply it natively, except
for substring matches, which are checked on the results (`matches`).
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal, get_args

from nlb_retriever.errors import QueryError, brief
from nlb_retriever.records import Level

Operator = Literal[
    "eq", "ne", "gt", "gte", "lt", "lte", "in", "nin", "any", "all", "contains",
    "text_match", "text_match_insensitive", "is_empty",
]  # fmt: skip
OPERATORS: tuple[str, ...] = get_args(Operator)
TEXT_OPERATORS = ("text_match", "text_match_insensitive")
RANGES = ("gt", "gte", "lt", "lte")
LISTS = ("in", "nin", "any", "all")

_BOOK_KEYWORDS = ("book_id", "version", "title", "work", "author", "language", "source")
_SPAN_KEYWORDS = ("section_id", "section_path", "page")
_SPAN_NUMBERS = ("section", "ordinal", "start", "end", "page_number")

KEYWORD_KEYS: Mapping[Level, tuple[str, ...]] = {
    "book": (*_BOOK_KEYWORDS, "content_hash", "kind"),
    "section": (*_BOOK_KEYWORDS, *_SPAN_KEYWORDS),
    "passage": (*_BOOK_KEYWORDS, *_SPAN_KEYWORDS),
}
"""Keys that hold words, by level."""
NUMBER_KEYS: Mapping[Level, tuple[str, ...]] = {
    "book": ("year",),
    "section": ("year", *_SPAN_NUMBERS),
    "passage": ("year", *_SPAN_NUMBERS),
}
BOOK_KEYS = ("title", "work", "author", "language", "year", "source", "content_hash")
"""Keys that belong to a book as a whole: `resolve` turns them into a list of books."""
COMPUTED_KEYS = ("work",)
"""Of these, what no point holds: which files are a work is seen from all of them."""
METADATA = "metadata."
"""Before the keys of `Book.metadata`, which belong to the book as a whole."""
TEXT_KEY = "text"
"""Only for text_match: the words of a section or passage."""


@dataclass(frozen=True)
class Condition:
    """One test of one payload key.

    On a key that holds a list (`section_path`), `eq`, `contains`, `in` and `any` match where one element
    does, `all` where every value is an element, `ne` and `nin` where none is. With a list as value `eq` matches the
    same list; only a book's own metadata are compared with one. A key that is missing or null matches `ne`, `nin`
    and `is_empty` only.
    """

    key: str
    op: Operator = "eq"
    value: Any = None
    """A word or number; a sequence of them for `in`, `nin`, `any` and `all`; nothing for `is_empty`."""


@dataclass(frozen=True)
class And:
    """All children hold."""

    children: tuple[Filter, ...]


@dataclass(frozen=True)
class Or:
    """At least one of the children holds."""

    children: tuple[Filter, ...]


@dataclass(frozen=True)
class Not:
    """None of the children holds."""

    children: tuple[Filter, ...]


Filter = Condition | And | Or | Not


def all_of(*filters: Filter | None) -> Filter | None:
    """Their conjunction, leaving out those that are None."""
    parts = tuple(where for where in filters if where is not None)
    return parts[0] if len(parts) == 1 else And(parts) if parts else None


def check(where: Filter, level: Level) -> Filter:
    """The filter with its values in the keys' own types.

    Raises:
        QueryError: a key, operator or value is not valid at this level.
    """
    if not isinstance(where, Condition):
        if not isinstance(where, And | Or | Not):
            raise QueryError(f"{brief(where)} is not a filter: use Condition, And, Or, Not")
        children = tuple(where.children) if isinstance(where.children, Iterable) else (where.children,)
        if not children:
            raise QueryError(f"a filter's {type(where).__name__} needs at least one condition")
        return type(where)(tuple(check(child, level) for child in children))
    words, numbers = KEYWORD_KEYS[level], NUMBER_KEYS[level]
    if where.op not in OPERATORS:
        raise QueryError(f"unknown filter operator {brief(where.op)}; known: {', '.join(OPERATORS)}")
    if not isinstance(where.key, str):
        raise QueryError(f"a filter's key must be a string, not {brief(where.key)}")
    if where.key.startswith(METADATA):
        return _check_metadata_condition(where)
    wordy = where.key == TEXT_KEY and where.op in TEXT_OPERATORS and level != "book"
    if where.key not in words + numbers and not wordy:
        known = ", ".join(sorted(words + numbers))
        wordy_hint = "" if level == "book" else " (and text, with text_match)"
        raise QueryError(f"cannot filter a {level} by {brief(where.key)}; known keys: {known}{wordy_hint}")
    if where.op == "is_empty":
        return Condition(where.key, "is_empty")
    if where.op in LISTS:
        return Condition(where.key, where.op, tuple(_typed(where, item, numbers) for item in _listed(where)))
    return Condition(where.key, where.op, _typed(where, where.value, numbers))


def _check_metadata_condition(where: Condition) -> Condition:
    """A book's metadata may hold anything; words, numbers, booleans and lists of them can be compared."""
    if where.op in LISTS:
        return Condition(where.key, where.op, _listed(where))
    orderly = str if where.op in TEXT_OPERATORS else str | int | float
    if where.op in (*TEXT_OPERATORS, *RANGES) and not isinstance(where.value, orderly):
        needed = "words" if orderly is str else "words or a number"
        raise QueryError(f"filter {where.key} {where.op} needs {needed}, not {brief(where.value)}")
    return where


def check_metadata(where: Filter, books: Iterable[Mapping[str, Any]]) -> None:
    """Refuse a key that no book has, which is probably misspelt.

    Raises:
        QueryError: with the known keys.
    """
    wanted = {leaf.key for leaf in conditions(where) if leaf.key.startswith(METADATA)}
    if not wanted:
        return
    known = {METADATA + key for book in books for key in book.get("metadata", ())}
    if unknown := sorted(wanted - known):
        keys = sorted(known | {key for level in (KEYWORD_KEYS, NUMBER_KEYS) for keys in level.values() for key in keys})
        raise QueryError(f"cannot filter by {brief(unknown[0])}, which no book has; known keys: {', '.join(keys)}")


def _listed(where: Condition) -> tuple[Any, ...]:
    if isinstance(where.value, str) or not isinstance(where.value, Iterable):
        raise QueryError(f"filter {where.key} {where.op} needs a list of values, not {brief(where.value)}")
    return tuple(where.value)


def _typed(where: Condition, value: Any, numbers: Sequence[str]) -> Any:
    if where.op in TEXT_OPERATORS:
        if where.key in numbers or not isinstance(value, str):
            raise QueryError(f"filter {where.key} {where.op} needs a key and a value of words, not {brief(value)}")
        return value
    if where.key not in numbers:
        if where.op in RANGES:
            raise QueryError(f"filter {where.key} {where.op}: only numbers have an order ({', '.join(numbers)})")
        if isinstance(value, str | int):
            return str(value)
        raise QueryError(f"filter {where.key} {where.op} needs words, not {brief(value)}")
    try:
        number = float(value)
    except (TypeError, ValueError, OverflowError):
        number = math.nan
    if not math.isfinite(number) or isinstance(value, bool):
        raise QueryError(f"filter {where.key} {where.op} needs a number, not {brief(value)}")
    return int(number) if number.is_integer() else number


def weaken(where: Filter | None, keep: Callable[[Condition], bool]) -> Filter | None:
    """The strongest filter, of kept conditions only, that holds wherever this one holds; None: always."""
    if where is None or isinstance(where, Condition):
        return where if where is None or keep(where) else None
    if isinstance(where, And):
        return all_of(*(weaken(child, keep) for child in where.children))
    if isinstance(where, Or):
        children = tuple(weaken(child, keep) for child in where.children)
        return None if None in children else Or(tuple(child for child in children if child is not None))
    kept = tuple(child for child in where.children if all(keep(condition) for condition in conditions(child)))
    return Not(kept) if kept else None


def at_level(where: Filter | None, level: Level) -> Filter | None:
    """A filter for a coarser level: without its conditions on keys that this level does not have.

    A book that does not match the result has no passage that matches the filter.
    """
    span = {*_SPAN_KEYWORDS, *_SPAN_NUMBERS, TEXT_KEY}
    fine = {"book": span, "section": {"page", "page_number", "ordinal", "start", "end", TEXT_KEY}, "passage": set()}
    return weaken(where, lambda condition: condition.key not in fine[level])


def resolve(where: Filter, find_books: Callable[[Filter], Iterable[str]]) -> Filter:
    """The filter with its conditions on whole books replaced by the ids of the matching books."""
    leaves = list(conditions(where))
    whole = [_is_whole(condition) for condition in leaves]
    if all(whole):
        return Condition("book_id", "in", tuple(find_books(where)))
    if isinstance(where, Condition) or not any(whole):
        return where
    return type(where)(tuple(resolve(child, find_books) for child in where.children))


def is_searched(condition: Condition) -> bool:
    """Whether engines apply it themselves, or once `resolve` has made ids of books of it."""
    return is_native(condition) or _is_whole(condition)


def _is_whole(condition: Condition) -> bool:
    return condition.key in BOOK_KEYS or condition.key.startswith(METADATA)


def conditions(where: Filter) -> Iterable[Condition]:
    """The tree's leaves."""
    if isinstance(where, Condition):
        yield where
    else:
        for child in where.children:
            yield from conditions(child)


def is_native(condition: Condition) -> bool:
    """Whether engines apply it themselves."""
    return condition.op not in TEXT_OPERATORS


def matches(where: Filter, payload: Mapping[str, Any]) -> bool:
    """Whether a checked filter holds for a payload."""
    if isinstance(where, And):
        return all(matches(child, payload) for child in where.children)
    if isinstance(where, Or):
        return any(matches(child, payload) for child in where.children)
    if isinstance(where, Not):
        return not any(matches(child, payload) for child in where.children)
    metadata = where.key.startswith(METADATA)
    held = payload.get("metadata", {}).get(where.key[len(METADATA) :]) if metadata else payload.get(where.key)
    values = held if isinstance(held, list | tuple) else [] if held is None else [held]
    return _TESTS[where.op](values, where.value)


def _like(held: Sequence[Any], value: Any) -> list[Any]:
    """What can be compared with a value: words with words, numbers with numbers."""
    kind = str if isinstance(value, str) else int | float
    return [item for item in held if isinstance(item, kind)]


def _equals(held: Sequence[Any], value: Any) -> bool:
    """Whether one element is the value, or all of them in this order are a value that is a list."""
    return value in held or (bool(held) and isinstance(value, list | tuple) and list(held) == list(value))


_TESTS: Mapping[str, Callable[[Sequence[Any], Any], bool]] = {
    "eq": _equals,
    "contains": lambda held, value: value in held,
    "ne": lambda held, value: not _equals(held, value),
    "in": lambda held, value: any(item in value for item in held),
    "any": lambda held, value: any(item in value for item in held),
    "nin": lambda held, value: not any(item in held for item in value),
    "all": lambda held, value: all(item in held for item in value),
    "gt": lambda held, value: any(item > value for item in _like(held, value)),
    "gte": lambda held, value: any(item >= value for item in _like(held, value)),
    "lt": lambda held, value: any(item < value for item in _like(held, value)),
    "lte": lambda held, value: any(item <= value for item in _like(held, value)),
    "text_match": lambda held, value: any(value in item for item in _like(held, value)),
    "text_match_insensitive": lambda held, value: any(
        value.casefold() in item.casefold() for item in _like(held, value)
    ),
    "is_empty": lambda held, _: not held,
}
