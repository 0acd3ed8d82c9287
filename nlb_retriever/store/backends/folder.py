"""A library in a folder: immutable segments, and one head that names them.

    library.json        the head; replaced in one step by every change
    library.copy.json   a copy of it
    rebuild.json        head of a rebuild that is not finished
    segments/           the segments
    writer.lock         held by the one process that writes

Readers take no lock, write nothing and are in nobody's way: they open the segments that the head names, and
look at the head before each use. A segment that is no longer named is deleted; those who have it open keep
reading it until they see the new head.
"""

from __future__ import annotations

import contextlib
import secrets
import threading
import uuid
from collections import ChainMap
from collections.abc import Callable, Iterator, Mapping, Sequence, Set
from dataclasses import replace
from pathlib import Path
from typing import TypeVar

from nlb_retriever.atomic import sync_folder
from nlb_retriever.config import Manifest
from nlb_retriever.errors import LibraryDamaged, NlbError, StoreError
from nlb_retriever.records import Level
from nlb_retriever.store.backends import disk, merging
from nlb_retriever.store.backends.array_file import ArrayFile, Column, write_arrays
from nlb_retriever.store.backends.base import NewVersion, PayloadKeys, StoredPoint, View
from nlb_retriever.store.backends.compose import merged_columns, new_columns, runs_of
from nlb_retriever.store.backends.head import HEAD, UNREAD, Head, SegmentRef, read_head, write_copy, write_head
from nlb_retriever.store.backends.leftovers import clean
from nlb_retriever.store.backends.reading import SEGMENTS, Reader, State
from nlb_retriever.store.backends.segment import Segment
from nlb_retriever.store.backends.snapshot import Part, Snapshot
from nlb_retriever.store.failpoint import failpoint
from nlb_retriever.store.lock import WriterLock, replaced

T = TypeVar("T")


class FolderBackend:
    """Backend over a folder. For several threads, and in forked children for reading."""

    def __init__(self, folder: Path, *, lock: WriterLock | None = None, head: str = HEAD) -> None:
        """Open a library.

        Args:
            folder: its folder.
            lock: the right to write to it.
            head: name of its head.

        Raises:
            LibraryNotFound: there is none.
            LibraryDamaged: its files are not what was written.
            StoreError: it cannot be read.
        """
        self.location = str(folder)
        self.folder = folder
        self.lock = lock
        self._name = head
        self._reader = Reader(folder, head)
        self._pinned = threading.local()
        self._writing = threading.Lock()
        self._state = self._reader.read()
        if lock is not None and head == HEAD:
            lock.library = self._state.head.library
            write_copy(folder, self._state.head)
            clean(folder, self._state.head)

    @property
    def head(self) -> Head:
        """What the library consists of, as it was last read or written."""
        return self._state.head

    @staticmethod
    def make(folder: Path, manifest: Manifest) -> None:
        """Make an empty library, in one step, in a folder that nobody else writes to."""
        with disk.errors(str(folder), "making it"):
            write_head(folder, Head(library=uuid.uuid4().hex, serial=0, manifest=manifest))
        failpoint("made")

    # -- reading --------------------------------------------------------------------------------

    @contextlib.contextmanager
    def session(self) -> Iterator[None]:
        if getattr(self._pinned, "snapshot", None) is not None:
            yield
            return
        self._state = state = self._reader.read(self._state)
        self._pinned.snapshot = state.snapshot
        try:
            yield
        finally:
            self._pinned.snapshot = None

    def read(self, work: Callable[[View], T]) -> T:
        with self.session():
            try:
                return work(self._pinned.snapshot)
            except (KeyError, IndexError, TypeError, ValueError, OverflowError) as error:
                if problems := self.verify():
                    raise self._reader.damaged(problems[0]) from error
                raise

    def verify(self) -> list[str]:
        problems = []
        for segment in self._reader.read(self._state).segments.values():
            try:
                problems += [f"{segment.name} is damaged ({name})" for name in sorted(segment.file.find_damage())]
            except LibraryDamaged as error:
                problems.append(str(error))
        return problems

    def scan(self, level: Level, *, payload: PayloadKeys = True) -> Iterator[StoredPoint]:
        with self.session():
            yield from self._pinned.snapshot.scroll(level, payload=payload, vectors=True)

    def drop(self, book_id: str, version: str) -> None:
        self.remove(book_id)

    # -- writing --------------------------------------------------------------------------------

    def publish(self, book_id: str, compose: Callable[[str | None], NewVersion]) -> None:
        with self._change() as state:
            segment = self._write(new_columns(compose(None)), state)
            failpoint("written")
            head = _without(state, {book_id})
            now = self._commit(state, replace(head, segments=(*head.segments, _ref(segment))), (segment,))
            failpoint("published")
            self._merge(now, merging.due(now.snapshot.parts))

    def remove(self, *book_ids: str) -> None:
        with self._change() as state:
            head = _without(state, set(book_ids))
            if head.segments != state.head.segments:
                self._commit(state, head)
                failpoint("removed")

    def rename(self, sources: Mapping[str, str]) -> None:
        with self._change() as state:
            books = ChainMap(*(part.segment.index_of for part in state.snapshot.parts))
            if renamed := {book_id: source for book_id, source in sources.items() if book_id in books}:
                self._commit(state, replace(state.head, sources={**state.head.sources, **renamed}))
                failpoint("renamed")

    def optimize(self, *, purge: bool = False) -> bool:
        with self._change() as state:
            return self._merge(state, merging.worthwhile(state.snapshot.parts, purge=purge))

    def _merge(self, state: State, parts: Sequence[Part]) -> bool:
        """Let one segment take the place of several."""
        if not parts:
            return False
        runs = [run for part in parts for run in runs_of(part.segment, part.books())]
        old = {part.segment.file.seal.digest for part in parts}
        kept = [ref for ref in state.head.segments if ref.seal.digest not in old]
        sources, fresh = dict(state.head.sources), []
        if runs:
            fresh = [self._write(merged_columns(runs, sources), state)]
            failpoint("merged")
            for book_id in fresh[0].index_of:
                sources.pop(book_id, None)
        self._commit(state, replace(state.head, segments=(*kept, *map(_ref, fresh)), sources=sources), fresh)
        failpoint("swapped")
        return True

    @contextlib.contextmanager
    def _change(self) -> Iterator[State]:
        """The library before a change: nobody else changes it meanwhile."""
        if self.lock is None or not self.lock.is_held:
            raise StoreError(f"library {self.location} was opened for reading: open it with writer=True")
        with self._writing, disk.errors(self.location, "writing"):
            self._state = state = self._reader.read(self._state)
            self.lock.check_place()
            if self._name == HEAD and state.head.library != self.lock.library:
                raise replaced(self.folder)
            yield state  # a thread that reads may put an older one into its place

    def _write(self, columns: Mapping[str, Column], state: State) -> Segment:
        folder = self.folder / SEGMENTS
        folder.mkdir(exist_ok=True)
        path = folder / f"{state.head.serial + 1:08x}-{secrets.token_hex(4)}.seg"
        facts = {"library": state.head.library, "serial": state.head.serial, "manifest": state.head.manifest.to_dict()}
        seal = write_arrays(path, columns, facts)
        sync_folder(folder)
        file = ArrayFile(path, seal)
        self._reader.vouch(file, state.head.library)
        return Segment(file)

    def _commit(self, before: State, head: Head, fresh: Sequence[Segment] = ()) -> State:
        """Let this be the library, and delete what only the one before consisted of."""
        head = replace(head, serial=before.head.serial + 1)
        try:
            if self.lock is not None:
                self.lock.check_place()
            write_head(self.folder, head, name=self._name)
        except BaseException:
            self._forsake(fresh)
            raise
        failpoint("committed")
        known = {**before.segments, **{segment.file.seal.digest: segment for segment in fresh}}
        self._state = state = self._reader.open(head, self._reader.mark(), known)
        if getattr(self._pinned, "snapshot", None) is not None:
            self._pinned.snapshot = state.snapshot
        if self._name == HEAD:
            write_copy(self.folder, head)
        for digest, segment in before.segments.items():
            if digest not in state.segments:
                disk.remove(segment.file.path)
        return state

    def _forsake(self, fresh: Sequence[Segment]) -> None:
        """Delete segments that could not be committed, unless they were after all."""
        with contextlib.suppress(NlbError, OSError):
            named = {ref.name for ref in read_head(self.folder / self._name)[0].segments}
            for segment in fresh:
                if segment.name not in named:
                    disk.remove(segment.file.path)

    def close(self) -> None:
        """Let go of the segments; a later call opens them again."""
        head = self._state.head
        self._state = State(UNREAD, head, Snapshot(head.manifest, ()), {})


def _ref(segment: Segment) -> SegmentRef:
    return SegmentRef(name=segment.name, seal=segment.file.seal, books=segment.books, rows=segment.rows["passage"])


def _without(state: State, book_ids: Set[str]) -> Head:
    """The head with books hidden; segments that hold no other are left out."""
    kept = []
    for ref, part in zip(state.head.segments, state.snapshot.parts, strict=True):
        indexes = part.segment.index_of
        hidden = {*part.hidden, *(indexes[book_id] for book_id in book_ids if book_id in indexes)}
        if len(hidden) < part.segment.books:
            kept.append(replace(ref, hidden=tuple(sorted(hidden))))
    sources = {book_id: source for book_id, source in state.head.sources.items() if book_id not in book_ids}
    return replace(state.head, segments=tuple(kept), sources=sources)
