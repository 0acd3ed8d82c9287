"""Chains of lines that follow each other, each known by its last link: many have the same beginning."""

from __future__ import annotations

from typing import Generic, NamedTuple, TypeVar

T = TypeVar("T")


class Link(NamedTuple, Generic[T]):
    """The last link of a chain."""

    item: T
    before: Link[T] | None
    length: int
    """Of the chain."""


def link(item: T, before: Link[T] | None) -> Link[T]:
    """A chain with one more item."""
    return Link(item, before, before.length + 1 if before else 1)


def items_of(last: Link[T] | None) -> list[T]:
    """The items of a chain in order; none without a last link."""
    items: list[T] = []
    while last:
        items.append(last.item)
        last = last.before
    return items[::-1]
