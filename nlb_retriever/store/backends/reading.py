"""Reading a folder library: its head, and the segments that the head names."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from nlb_retriever.config import missing_library
from nlb_retriever.errors import LibraryDamaged, StoreError
from nlb_retriever.store.backends.array_file import ArrayFile
from nlb_retriever.store.backends.head import Head, Mark, SegmentRef, mark_of, read_head
from nlb_retriever.store.backends.segment import Segment
from nlb_retriever.store.backends.snapshot import Part, Snapshot
from nlb_retriever.store.backends.stamps import Stamps

SEGMENTS = "segments"
_TRIES = 1000
"""Of reading a library whose writer replaces segments meanwhile."""


@dataclass(frozen=True)
class State:
    """A library as it was read."""

    mark: Mark
    head: Head
    snapshot: Snapshot
    segments: Mapping[str, Segment]
    """By their digests."""


class Reader:
    """Opens what a head names. For several threads."""

    def __init__(self, folder: Path, head: str) -> None:
        """Of a library's folder and the name of its head."""
        self._folder = folder
        self._path = folder / head
        self._stamps: Stamps | None = None

    def read(self, known: State | None = None) -> State:
        """The library as it is now; what is known of it is not opened again.

        Raises:
            LibraryNotFound: there is none.
            LibraryDamaged: its files are not what was written.
            StoreError: it cannot be read.
        """
        if known is not None and self._mark() == known.mark:
            return known
        for _ in range(_TRIES):
            head, mark = self._read_head()
            try:
                return self.open(head, mark, known.segments if known else {})
            except FileNotFoundError as error:
                if self._mark() == mark:
                    raise self.damaged(f"its file {Path(error.filename).name} is missing") from error
        raise StoreError(f"library {self._folder} changes faster than it can be read: try again")

    def open(self, head: Head, mark: Mark, known: Mapping[str, Segment]) -> State:
        """Open a head's segments.

        Raises:
            FileNotFoundError: one is gone.
        """
        segments, parts = {}, []
        for ref in head.segments:
            digest = ref.seal.digest
            segments[digest] = known.get(digest) or self._open_segment(ref, head.library)
            parts.append(Part(segments[digest], ref.hidden, head.sources))
        self._stamps_of(head.library).save(segment.file for segment in segments.values())
        return State(mark, head, Snapshot(head.manifest, parts), segments)

    def vouch(self, file: ArrayFile, library: str) -> None:
        """Remember that a file is as it was written."""
        self._stamps_of(library).add(file)

    def _stamps_of(self, library: str) -> Stamps:
        if self._stamps is None or self._stamps.library != library:
            self._stamps = Stamps(library)
        return self._stamps

    def mark(self) -> Mark:
        return mark_of(self._path.stat())

    def _mark(self) -> Mark | None:
        try:
            return self.mark()
        except OSError:
            return None

    def _read_head(self) -> tuple[Head, Mark]:
        try:
            return read_head(self._path)
        except FileNotFoundError as error:
            raise missing_library(self._folder) from error
        except LibraryDamaged as error:
            raise self.damaged(f"its {error}") from error
        except OSError as error:
            raise StoreError(f"library {self._folder} cannot be read: {error.strerror or error}") from error

    def _open_segment(self, ref: SegmentRef, library: str) -> Segment:
        try:
            file = ArrayFile(self._folder / SEGMENTS / ref.name, ref.seal)
            stamps = self._stamps_of(library)
            if file not in stamps:
                if found := file.find_damage():
                    raise LibraryDamaged(f"{file.path.name} is damaged ({', '.join(sorted(found))})")
                stamps.add(file)
            return Segment(file)
        except LibraryDamaged as error:
            raise self.damaged(str(error)) from error
        except FileNotFoundError:
            raise
        except OSError as error:
            raise StoreError(f"library {self._folder} cannot be read: {error.strerror or error}") from error

    def damaged(self, what: str) -> LibraryDamaged:
        return LibraryDamaged(
            f"library {self._folder} is damaged ({what}): run `nlb doctor --repair`, or `nlb index --rebuild` on "
            "your books"
        )
