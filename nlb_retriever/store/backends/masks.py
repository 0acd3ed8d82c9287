"""Which points of a segment fit a filter."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any

import numpy as np

from nlb_retriever.records import Level
from nlb_retriever.store.backends.array_file import Array, Mask
from nlb_retriever.store.backends.segment import INHERITED, NUMBERS, Segment
from nlb_retriever.store.filters import METADATA, And, Condition, Filter, Not, matches

_OF_SECTIONS = ("section_id", "section_path")
"""Keys that a passage has from its section."""


def fitting(where: Filter, segment: Segment, level: Level, source_of: Callable[[int], Mapping[str, Any]]) -> Mask:
    """True for the points that fit a checked filter without text_match.

    Args:
        where: the filter.
        segment: the points' segment.
        level: their level.
        source_of: gives the payload of a book by its index.
    """
    if isinstance(where, Condition):
        return _condition(where, segment, level, source_of)
    children = [fitting(child, segment, level, source_of) for child in where.children]
    mask: Mask = (np.logical_and if isinstance(where, And) else np.logical_or).reduce(children)
    return ~mask if isinstance(where, Not) else mask


def _condition(where: Condition, segment: Segment, level: Level, source_of: Callable[[int], Mapping[str, Any]]) -> Mask:
    key = where.key
    if level == "book" or key in INHERITED or key.startswith(METADATA):
        return segment.spread(level, _of_books(where, segment, source_of))
    if key in NUMBERS:
        return _of_numbers(where, segment.numbers(level, key))
    if level == "passage" and key in _OF_SECTIONS:
        return _of_values(where, segment.values("section", key))[segment.section_rows(np.arange(segment.rows[level]))]
    return _of_values(where, segment.values(level, key))


def _of_books(where: Condition, segment: Segment, source_of: Callable[[int], Mapping[str, Any]]) -> Mask:
    if where.key == "book_id" and where.op in ("eq", "in", "any"):
        mask = np.zeros(segment.books, np.bool_)
        ids = (where.value,) if where.op == "eq" else where.value
        mask[[index for book_id in ids if (index := segment.index_of.get(book_id)) is not None]] = True
        return mask
    return np.array([matches(where, source_of(index)) for index in range(segment.books)], np.bool_)


def _of_values(where: Condition, values: list[Any]) -> Mask:
    inner = replace(where, key="value")
    return np.array([matches(inner, {"value": value}) for value in values], np.bool_)


def _of_numbers(where: Condition, column: Array) -> Mask:
    """A number that is missing, which is negative, fits only what asks for none."""
    there, value = column >= 0, where.value
    mask: Mask
    match where.op:
        case "eq" | "contains":
            mask = there & (column == value)
        case "ne":
            mask = ~(there & (column == value))
        case "gt":
            mask = there & (column > value)
        case "gte":
            mask = there & (column >= value)
        case "lt":
            mask = there & (column < value)
        case "lte":
            mask = there & (column <= value)
        case "in" | "any":
            mask = there & np.isin(column, value)
        case "nin":
            mask = ~(there & np.isin(column, value))
        case "all":
            fits = [there & (column == each) for each in value]
            mask = np.logical_and.reduce([np.ones(len(column), np.bool_), *fits])
        case _:  # is_empty
            mask = ~there
    return mask
