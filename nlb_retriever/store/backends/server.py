"""A library on a Qdrant server or cluster: three collections, and one point that says what of them is seen.

A new version of a book is written beside the old one and stays hidden until it is complete; one write of the
state then shows it and hides the old one, which is deleted after that. Whatever stops a writer, readers see the
one or the other, and the next writer tidies up.
"""

from __future__ import annotations

import contextlib
import uuid
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, TypeVar

from nlb_retriever.config import Manifest, missing_library
from nlb_retriever.errors import LibraryBusy, LibraryDamaged, StoreError
from nlb_retriever.records import LEVELS, Level
from nlb_retriever.store.backends.base import (
    NewVersion,
    PassageTerms,
    PayloadKeys,
    Point,
    PointQuery,
    StoredPoint,
    View,
)
from nlb_retriever.store.backends.server_client import Server
from nlb_retriever.store.backends.server_points import TERMS, Collections, from_text
from nlb_retriever.store.failpoint import failpoint
from nlb_retriever.store.filters import And, Condition, Filter, Not, all_of
from nlb_retriever.store.points import NAMESPACE

STATE_ID = str(uuid.uuid5(NAMESPACE, "state"))
_READ_TRIES = 5
_BOOKS_ONLY = Condition("kind", "eq", "book")

T = TypeVar("T")


@dataclass(frozen=True, kw_only=True)
class State:
    """What a library says about itself: one point without vectors among its books."""

    manifest: Manifest
    generation: int = 0
    """Grows with every change."""
    hidden: tuple[tuple[str, str], ...] = ()
    """Books' ids with versions that no reader may see, and the next writer deletes."""
    renaming: tuple[str, str] | None = None
    """A book's id and its new source, while not all of its points have it."""
    writer: str = ""
    """Who wrote it last; a stranger's name stops a writer."""

    def to_point(self) -> Point:
        payload = {
            "kind": "state",
            "manifest": self.manifest.to_dict(),
            "generation": self.generation,
            "hidden": [list(pair) for pair in self.hidden],
            "renaming": list(self.renaming) if self.renaming else None,
            "writer": self.writer,
        }
        return Point(id=STATE_ID, payload=payload)

    @classmethod
    def from_payload(cls, payload: Mapping[str, Any]) -> State:
        renaming = payload["renaming"]
        return cls(
            manifest=Manifest.from_dict(payload["manifest"]),
            generation=payload["generation"],
            hidden=tuple((book, version) for book, version in payload["hidden"]),
            renaming=(renaming[0], renaming[1]) if renaming else None,
            writer=payload["writer"],
        )


class ServerView:
    """What readers may see under one state."""

    def __init__(self, collections: Collections, state: State) -> None:
        self._collections = collections
        self.state = state
        hidden = tuple(_version(*pair) for pair in state.hidden)
        self._seen = Not(hidden) if hidden else None

    @property
    def manifest(self) -> Manifest:
        return self.state.manifest

    @cached_property
    def _books(self) -> list[StoredPoint]:
        return list(self.scroll("book"))

    def books(self) -> Sequence[StoredPoint]:
        return self._books

    def count(self, level: Level, where: Filter | None = None) -> int:
        return self._collections.count(level, self._visible(level, where))

    def scroll(
        self, level: Level, where: Filter | None = None, *, payload: PayloadKeys = True, vectors: bool = False
    ) -> Iterator[StoredPoint]:
        found = self._collections.scroll(level, self._visible(level, where), payload=payload, vectors=vectors)
        return map(self._renamed, found)

    def retrieve(
        self, level: Level, ids: Sequence[str], *, payload: PayloadKeys = True, vectors: bool = False
    ) -> list[StoredPoint]:
        hidden = set(self.state.hidden)
        keys = payload
        if hidden and payload is not True:
            keys = tuple({*(payload or ()), "book_id", "version"})
        found = [
            self._renamed(point)
            for point in self._collections.retrieve(level, ids, payload=keys, vectors=vectors)
            if point.id != STATE_ID
            if (point.payload.get("book_id"), point.payload.get("version")) not in hidden
        ]
        return found if payload else [replace(point, payload={}) for point in found]

    def query_batch(self, level: Level, queries: Sequence[PointQuery]) -> list[list[StoredPoint]]:
        """The state itself has no vector, so it is never found."""
        seen = [replace(query, where=all_of(query.where, self._seen)) for query in queries]
        return [list(map(self._renamed, hits)) for hits in self._collections.query_batch(level, seen)]

    def terms(self, passages: Sequence[str]) -> PassageTerms:
        found = self.retrieve("passage", passages, payload=(TERMS,))
        return PassageTerms.of({each.id: from_text(each.payload[TERMS]) for each in found if TERMS in each.payload})

    def _visible(self, level: Level, where: Filter | None) -> Filter | None:
        return all_of(_BOOKS_ONLY if level == "book" else None, where, self._seen)

    def _renamed(self, point: StoredPoint) -> StoredPoint:
        renaming = self.state.renaming
        if not renaming or point.payload.get("book_id") != renaming[0] or "source" not in point.payload:
            return point
        return replace(point, payload={**point.payload, "source": renaming[1]})


class ServerBackend:
    """Backend over a server."""

    def __init__(self, server: Server, name: str, *, writer: bool = False) -> None:
        """Open a library.

        Args:
            server: where it lies.
            name: its name there.
            writer: also to change it; whoever opened it so before may no longer.

        Raises:
            LibraryNotFound: there is none.
            StoreError: the server refuses, or does not answer.
        """
        self.location = server.location
        self.collections = Collections(server, name)
        self._server = server
        self._writer = uuid.uuid4().hex if writer else None
        self._view: ServerView | None = None
        if not self.collections.exist():
            raise missing_library(self.location)
        state = self.state()
        if writer:
            self.write(state, is_ours=True)
            self._mend()

    @staticmethod
    def make(server: Server, name: str, manifest: Manifest) -> None:
        """Make an empty library where there is none, or only what was left when making one was interrupted."""
        collections = Collections(server, name)
        if not collections.exist() or not collections.retrieve("book", [STATE_ID]):
            collections.create(manifest.dims)
            collections.upsert("book", [State(manifest=manifest).to_point()])

    @contextlib.contextmanager
    def session(self) -> Iterator[None]:
        yield

    def read(self, work: Callable[[View], T]) -> T:
        for _ in range(_READ_TRIES):
            state, view = self.state(), self._view
            if view is None or view.state != state:
                self._view = view = ServerView(self.collections, state)
            result = work(view)
            if self.state().generation == state.generation:
                break
        return result

    def publish(self, book_id: str, compose: Callable[[str | None], NewVersion]) -> None:
        state = self._mend()
        old = self._versions(book_id)
        new = compose(old[0] if old else None)
        state = self.write(replace(state, hidden=((book_id, new.version),)))
        failpoint("marked")
        for level in reversed(LEVELS):
            self.collections.upsert(level, new.points[level])
            failpoint(f"written-{level}")
        self.write(replace(state, hidden=tuple((book_id, version) for version in old)))
        failpoint("published")
        self._mend()

    def remove(self, *book_ids: str) -> None:
        state = self._mend()
        for book_id in book_ids:
            if hidden := tuple((book_id, version) for version in self._versions(book_id)):
                self.write(replace(state, hidden=hidden))
                failpoint("removed")
                state = self._mend()

    def rename(self, sources: Mapping[str, str]) -> None:
        state = self._mend()
        for renaming in sources.items():
            self.write(replace(state, renaming=renaming))
            failpoint("renamed")
            state = self._mend()

    def optimize(self, *, purge: bool = False) -> bool:
        """Nothing to do: a server optimizes on its own, and deletes what was removed when it does."""
        self._require_writer()
        return False

    def verify(self) -> list[str]:
        state = self.state()
        lines = [
            f"an interrupted run left points of book {book_id} (version {version}): the next `nlb index` removes them"
            for book_id, version in state.hidden
            if any(self.collections.count(level, _version(book_id, version)) for level in LEVELS)
        ]
        if state.renaming:
            lines.append(f"an interrupted run left book {state.renaming[0]} half renamed: the next `nlb index` ends it")
        return lines

    def scan(self, level: Level, *, payload: PayloadKeys = True) -> Iterator[StoredPoint]:
        found = self.collections.scroll(level, payload=payload, vectors=True)
        return (point for point in found if point.id != STATE_ID)

    def drop(self, book_id: str, version: str) -> None:
        state = self._mend()
        for level in LEVELS:
            self.collections.delete(level, _version(book_id, version))
        self.write(state)

    def state(self) -> State:
        """What the library says about itself now."""
        found = self.collections.retrieve("book", [STATE_ID])
        if not found:
            raise LibraryDamaged(
                f"library {self.location} is damaged (it has lost its manifest): index your books under another name"
            )
        return State.from_payload(found[0].payload)

    def write(self, state: State, *, is_ours: bool = False) -> State:
        """Let this be the state."""
        state = replace(state, generation=state.generation + 1)
        if is_ours:
            state = replace(state, writer=self._writer or "")
        self.collections.upsert("book", [state.to_point()])
        return state

    def _mend(self) -> State:
        """Finish or undo what a writer left unfinished; returns the state, with nothing pending."""
        self._require_writer()
        state = self.state()
        if state.writer != self._writer:
            raise LibraryBusy(f"library {self.location} is being written by another process: wait for it or stop it")
        if state.renaming:
            book_id, source = state.renaming
            for level in LEVELS:
                self.collections.set_payload(level, Condition("book_id", "eq", book_id), {"source": source})
                failpoint(f"renamed-{level}")
        for pair in state.hidden:
            for level in reversed(LEVELS):
                self.collections.delete(level, _version(*pair))
                failpoint(f"deleted-{level}")
        if not state.renaming and not state.hidden:
            return state
        return self.write(replace(state, hidden=(), renaming=None))

    def _require_writer(self) -> None:
        if self._writer is None:
            raise StoreError(f"library {self.location} was opened for reading: open it with writer=True")

    def _versions(self, book_id: str) -> list[str]:
        """The versions of a book that are there while nothing is pending: one, or none."""
        where = And((Condition("book_id", "eq", book_id), _BOOKS_ONLY))
        return [point.payload["version"] for point in self.collections.scroll("book", where, payload=("version",))]

    def close(self) -> None:
        self._server.close()


def _version(book_id: str, version: str) -> Filter:
    return And((Condition("book_id", "eq", book_id), Condition("version", "eq", version)))
