"""What a writer does to a library, step by step, and what the library must answer after each step."""

from __future__ import annotations

import functools
import random
import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from nlb_retriever.store import LibraryStore, open_store
from tests.store.books import MANIFEST, Made, make_book
from tests.store.sample import read_all

Books = Mapping[int, tuple[int, str]]
"""Numbers of books with their edition and source."""


@dataclass(frozen=True)
class Step:
    """One change."""

    kind: str
    number: int = 0
    edition: int = 0

    def after(self, books: Books) -> Books:
        """The books after it."""
        source = f"/moved/{self.edition}.txt"
        match self.kind:
            case "publish":
                return {**books, self.number: (self.edition, f"/books/{self.number}.txt")}
            case "remove":
                return {number: each for number, each in books.items() if number != self.number}
            case "rename" if self.number in books:
                return {**books, self.number: (books[self.number][0], source)}
            case _:
                return books

    def carry_out(self, store: LibraryStore, books: Books) -> None:
        """Do it to a library that holds these books."""
        match self.kind:
            case "publish":
                store.publish(*_make(self.number, self.edition, f"/books/{self.number}.txt").parts)
            case "remove":
                store.remove(f"{self.number:016x}")
            case "rename":
                store.rename({f"{self.number:016x}": f"/moved/{self.edition}.txt"})
            case "optimize" | "purge":
                store.optimize(purge=self.kind == "purge")
            case "rebuild":
                with store.start_rebuild(MANIFEST) as fresh:
                    done = {book.id for book in fresh.books()}
                    for number, each in books.items():
                        if f"{number:016x}" not in done:
                            fresh.publish(*_make(number, *each).parts)
                    fresh.take_over()


def make_steps(dice: random.Random, count: int) -> list[Step]:
    """A first book, then changes of all kinds to six books."""
    kinds = dice.choices(
        ("publish", "remove", "rename", "optimize", "purge", "rebuild"), (12, 3, 2, 2, 1, 1), k=count - 1
    )
    return [Step(kind, dice.randrange(1, 7), dice.randrange(5)) for kind in ("publish", *kinds)]


def states(steps: Sequence[Step]) -> list[Books]:
    """The books before the first step and after each."""
    result: list[Books] = [{}]
    for step in steps:
        result.append(step.after(result[-1]))
    return result


def right_answers(books: Books) -> list[object]:
    """What an unbroken library of these books answers."""
    return _answers(tuple(sorted((number, *each) for number, each in books.items())))


@functools.lru_cache(maxsize=500)
def _answers(books: tuple[tuple[int, int, str], ...]) -> list[object]:
    with (
        tempfile.TemporaryDirectory() as folder,
        open_store(Path(folder) / "library", create=MANIFEST, writer=True) as store,
    ):
        for number, edition, source in books:
            store.publish(*_make(number, edition, source).parts)
        return read_all(store)


def _make(number: int, edition: int, source: str) -> Made:
    return make_book(
        number, edition=edition, sections=1 + (number + edition) % 4, passages=2 + number % 3, source=source
    )
