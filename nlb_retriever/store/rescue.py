"""What can still be read of a damaged library, so that it can be made anew.

Damage is known to the block of 64 KiB (array_file.py): where a book's text and sections are whole, the book is; where
its passages and vectors are whole too, it need not be encoded again.
"""

from __future__ import annotations

import contextlib
import uuid
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from pathlib import Path

import numpy as np

from nlb_retriever.config import Manifest, missing_library
from nlb_retriever.encoding.packing import Packed
from nlb_retriever.errors import LibraryDamaged, NlbError, counted
from nlb_retriever.records import LEVELS, Book, BookRecord, Level, Passage
from nlb_retriever.store import points
from nlb_retriever.store.backends import disk, rebuild
from nlb_retriever.store.backends.array_file import ArrayFile
from nlb_retriever.store.backends.base import Floats, PassagePart, StoredPoint
from nlb_retriever.store.backends.head import COPY, HEAD, Head, SegmentRef, read_head, write_head
from nlb_retriever.store.backends.reading import SEGMENTS
from nlb_retriever.store.backends.segment import PART_ARRAYS, Segment
from nlb_retriever.store.library import LibraryStore
from nlb_retriever.store.lock import WriterLock

_AGAIN = "index your books again"


@dataclass(frozen=True)
class StoredVectors:
    """A book's vectors, as they were published."""

    passages: Floats
    sections: Floats
    book: Floats
    spans: Sequence[Packed]
    terms: Sequence[Packed]


@dataclass(frozen=True)
class _Found:
    """Where a book is."""

    segment: _Rescued
    index: int
    record: BookRecord


class RescuedLibrary:
    """A damaged library, open for reading what is left of it and for being replaced. Use it in `with`."""

    def __init__(self, folder: Path) -> None:
        """Take the right to write to a library, and look through its files.

        Raises:
            LibraryNotFound: there is nothing of a library.
            LibraryBusy: another process writes to it.
            LibraryDamaged: nothing can be read, not even with which encoders it was made.
            StoreError: a file may not be read, which says nothing about what is in it.
        """
        self.location = str(folder)
        self.notes: list[str] = []
        """What is wrong with its files, one line each."""
        self.lost: list[str] = []
        """Which of its books cannot even be named, one line each."""
        self._folder = folder
        if not any((folder / name).exists() for name in (HEAD, COPY, SEGMENTS)):
            raise missing_library(folder)
        self._lock = WriterLock(folder)
        try:
            with disk.errors(self.location, "reading"):
                self._head = head = self._find_head()
                self._mark = (head.library, head.serial) if head else (uuid.uuid4().hex, 0)
                self._is_whole = True
                self._books = self._find_books(head)
        except BaseException:
            self._lock.release()
            raise

    def books(self) -> list[BookRecord]:
        """All books that can be named, by title; the text of some may be damaged."""
        records = (found.record for found in self._books.values())
        return sorted(records, key=lambda record: (record.title.casefold(), record.id))

    def read_book(self, record: BookRecord, *, is_strict: bool = False) -> Book | None:
        """A book as it was published.

        Args:
            record: the book's.
            is_strict: only where all of its text is whole; else one with damaged text has a warning that says where.

        Returns:
            The book; None where it is damaged.
        """
        found = self._books[record.id]
        return found.segment.read_book(found.index, record, is_strict=is_strict)

    def read_vectors(self, record: BookRecord) -> tuple[list[Passage], StoredVectors] | None:
        """A book's passages and vectors; None where some of them are damaged."""
        found = self._books[record.id]
        return found.segment.read_vectors(found.index)

    def restore_head(self) -> bool:
        """Where nothing but the library's head is damaged, put its copy in its place; returns whether that helped."""
        is_whole = self._is_whole and not self.lost
        if self._head is None or not is_whole or any(found.segment.damaged for found in self._books.values()):
            return False
        with disk.errors(self.location, "writing"):
            self._lock.check_place()
            write_head(self._folder, self._head)
        return True

    def start_rebuild(self, manifest: Manifest) -> LibraryStore:
        """A library that is to replace this one, as `LibraryStore.start_rebuild` makes it."""
        return LibraryStore(rebuild.start(self._folder, self._lock, manifest, replaces=self._mark))

    def close(self) -> None:
        self._lock.release()

    def __enter__(self) -> RescuedLibrary:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def _find_head(self) -> Head | None:
        for name in (HEAD, COPY):
            try:
                return read_head(self._folder / name)[0]
            except (LibraryDamaged, FileNotFoundError) as error:
                self.notes.append(f"{name} cannot be read ({_reason(error)})")
        return None

    def _find_books(self, head: Head | None) -> dict[str, _Found]:
        refs = {ref.name: ref for ref in head.segments} if head else {}
        segments = {name: segment for name, ref in refs.items() if (segment := self._open(name, ref, self.lost))}
        if head is None or len(segments) < len(refs):
            segments |= self._open_others(head, refs)
        manifests = [head.manifest] if head else []
        books: dict[str, _Found] = {}
        for name in sorted(segments):  # later ones have later versions
            segment, ref = segments[name], refs.get(name)
            self.notes += [f"{name} is damaged ({array})" for array in segment.damaged]
            if ref is not None and not segment.damaged:
                try:
                    ArrayFile(segment.file.path, ref.seal).find_damage()
                except LibraryDamaged as error:  # all that it holds is whole, but not the file
                    self.notes.append(str(error))
                    self._is_whole = False
            with contextlib.suppress(NlbError, KeyError, TypeError):
                manifests.append(Manifest.from_dict(segment.file.facts["manifest"]))
            for index in set(range(segment.books)).difference(ref.hidden if ref else ()):
                record = segment.read_record(index, head.sources if head else {})
                if record is None:
                    self.lost.append(f"a book of segment {name} is lost: it cannot even be named")
                else:
                    books[record.id] = _Found(segment, index, record)
        if not manifests:
            raise LibraryDamaged(
                f"library {self.location} is damaged beyond repair (nothing of it can be read): remove the folder, "
                f"then {_AGAIN}"
            )
        self.manifest = manifests[0]
        return books

    def _open(self, name: str, ref: SegmentRef | None, lost: list[str]) -> _Rescued | None:
        try:
            return _Rescued(ArrayFile(self._folder / SEGMENTS / name, ref.seal if ref else None, is_strict=False))
        except (LibraryDamaged, FileNotFoundError) as error:
            count = ref.books - len(ref.hidden) if ref else 0
            books = counted(count, "book") if ref else "the books"
            lost.append(f"{books} of segment {name} {'is' if count == 1 else 'are'} lost ({_reason(error)}): {_AGAIN}")
            return None

    def _open_others(self, head: Head | None, refs: Mapping[str, SegmentRef]) -> dict[str, _Rescued]:
        """Segments that the head does not name: in a copy of a library in use it may be older than they, or newer."""
        lost = self.lost if head is None else []  # a writer that was stopped may have left a part of one
        names = sorted(set(self._files()).difference(refs))
        others = {name: segment for name in names if (segment := self._open(name, None, lost))}
        if head:
            others = {name: each for name, each in others.items() if each.file.facts.get("library") == head.library}
        if others:
            self.notes.append("books that were removed or replaced may be back")
        return others

    def _files(self) -> Iterator[str]:
        with contextlib.suppress(FileNotFoundError, NotADirectoryError):
            yield from (path.name for path in (self._folder / SEGMENTS).iterdir() if path.suffix == ".seg")


def _reason(error: Exception) -> str:
    return "it is missing" if isinstance(error, FileNotFoundError) else str(error)


class _Rescued(Segment):
    """A segment of which parts may be damaged."""

    def __init__(self, file: ArrayFile) -> None:
        self.damaged = file.find_damage()
        super().__init__(file)

    def _is_whole(self, name: str, first: int, last: int) -> bool:
        """Whether some rows of an array are as they were written."""
        array = self.file[name]
        width = array.itemsize * (array.shape[1] if array.ndim > 1 else 1)
        first, last = max(0, first) * width, last * width
        return not any(start < last and first < end for start, end in self.damaged.get(name, ()))

    def _is_meta_whole(self, level: Level, first: int, last: int) -> bool:
        ends = f"{level}.meta_ends"
        if not self._is_whole(ends, first - 1, last):
            return False
        borders = self.file[ends]
        start, end = (int(borders[at - 1]) if at else 0 for at in (first, last))
        return self._is_whole(f"{level}.meta", start, end)

    def _rows(self, level: Level, index: int) -> tuple[int, int] | None:
        """The first row of a book and the first after it; None where that is not known."""
        if not self._is_whole(f"{level}.firsts", index, index + 2):
            return None
        first, last = self.firsts[level][index : index + 2].tolist()
        return first, last

    def read_record(self, index: int, sources: Mapping[str, str]) -> BookRecord | None:
        """A book's record; None where it is damaged."""
        if not self._is_meta_whole("book", index, index + 1):
            return None
        payload = self.book(index)
        uuid_ = points.point_id(payload["book_id"], payload["version"], "book", 0)
        record = points.to_book_record(StoredPoint(id=uuid_, payload=payload))
        return replace(record, source=sources.get(record.id, record.source))

    def read_book(self, index: int, record: BookRecord, *, is_strict: bool) -> Book | None:
        """A book by its index and record; None where it is damaged (`RescuedLibrary.read_book`)."""
        rows = self._rows("section", index)
        if rows is None or not self._is_meta_whole("section", *rows):
            return None
        needed = [("section.numbers", *rows), ("section.text", *rows), ("text_firsts", index, index + 2)]
        if not all(self._is_whole(*each) for each in needed):
            return None
        first, last = self.file["text_firsts"][index : index + 2].tolist()
        bad = [
            (max(start, first), min(end, last))
            for start, end in self.damaged.get("text", ())
            if start < last and first < end
        ]
        if bad and is_strict:
            return None
        data = self.file["text"][first:last].tobytes()
        text = data.decode("utf-8", "replace" if bad else "surrogatepass")
        if len(text) != record.chars:
            return None
        payloads = self.payloads("section", np.arange(*rows))
        sections = [points.to_section_record(StoredPoint(id="", payload=payload)) for payload in payloads]
        warnings = tuple(
            f"the stored text is damaged between its bytes {start - first:,} and {end - first:,}" for start, end in bad
        )
        book = points.to_book(record, sections)
        return replace(book, text=text, warnings=(*book.warnings, *warnings))

    def read_vectors(self, index: int) -> tuple[list[Passage], StoredVectors] | None:
        """A book's passages and vectors; None where some of them are damaged."""
        found: dict[Level, tuple[int, int]] = {}
        for level in LEVELS:
            rows = self._rows(level, index)
            if rows is None or not self._is_whole(f"{level}.dense", *rows):
                return None
            found[level] = rows
        rows = found["passage"]
        if not (self._is_whole("passage.numbers", *rows) and self._is_meta_whole("passage", *rows)):
            return None
        payloads = self.payloads("passage", np.arange(*rows), ("start", "end", "section", "tokens"))
        passages = [Passage(**payload) for payload in payloads]
        dense = {level: np.array(self.dense(level)[slice(*found[level])]) for level in LEVELS}
        spans, terms = self._read_parts("span", *rows), self._read_parts("term", *rows)
        if spans is None or terms is None:
            return None
        return passages, StoredVectors(dense["passage"], dense["section"], dense["book"][0], spans, terms)

    def _read_parts(self, part: PassagePart, first: int, last: int) -> Sequence[Packed] | None:
        """The vectors of parts of some passages, empty where they have none; None where they are damaged."""
        if not self.has(part):
            return ()
        vectors, of_passages = PART_ARRAYS[part]
        if not self._is_whole(of_passages, first, last + 1):
            return None
        firsts = self.file[of_passages][first : last + 1].tolist()
        if not self._is_whole(vectors, firsts[0], firsts[-1]):
            return None
        if firsts[0] == firsts[-1]:
            return ()
        return [np.array(self.file[vectors][low:high]) for low, high in pairwise(firsts)]
