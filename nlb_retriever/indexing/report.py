"""What an index run reports: events while it runs, a report at its end."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import accumulate
from typing import Any, Literal

from nlb_retriever.records import FailedFile


@dataclass(frozen=True, kw_only=True)
class BookRef:
    """A book in a report."""

    book_id: str
    title: str
    source: str
    changed: bool = False
    """Whether it replaced an older version of itself."""

    def to_json(self) -> dict[str, Any]:
        """The book as the keys that programs may rely on (docs/cli.md)."""
        return {"book_id": self.book_id, "title": self.title, "source": self.source}


@dataclass(frozen=True, kw_only=True)
class IndexReport:
    """What a run did, or with `dry_run` would do."""

    library: str
    indexed: tuple[BookRef, ...] = ()
    unchanged: tuple[BookRef, ...] = ()
    renamed: tuple[BookRef, ...] = ()
    duplicates: tuple[tuple[str, str], ...] = ()
    """Files left out, each with the file or book that has the same bytes."""
    removed: tuple[BookRef, ...] = ()
    kept: tuple[BookRef, ...] = ()
    """Books of the named folders whose files are gone, without pruning, or where it is not certain that they are."""
    failed: tuple[FailedFile, ...] = ()
    skipped: Mapping[str, int] = field(default_factory=dict)
    """Reason -> number of files in folders that are not books."""
    suffixes: Mapping[str, int] = field(default_factory=dict)
    """No book's suffix -> number of such files in folders; documents first, then the most frequent ones."""
    warnings: tuple[tuple[str, str], ...] = ()
    """Files, each with what was lost or repaired in reading it."""
    seconds: float = 0.0
    tokens: int = 0
    """Encoded in this run."""
    dry_run: bool = False

    def to_json(self) -> dict[str, Any]:
        """The report as the keys that programs may rely on (docs/cli.md)."""
        return {
            "library": self.library,
            "indexed": [ref.to_json() for ref in self.indexed],
            "unchanged": [ref.to_json() for ref in self.unchanged],
            "renamed": [ref.to_json() for ref in self.renamed],
            "duplicates": [{"source": source, "same_as": other} for source, other in self.duplicates],
            "removed": [ref.to_json() for ref in self.removed],
            "kept": [ref.to_json() for ref in self.kept],
            "failed": [{"source": file.source, "reason": file.reason} for file in self.failed],
            "warnings": [{"source": source, "warning": warning} for source, warning in self.warnings],
            "skipped": dict(self.skipped),
            "suffixes": dict(self.suffixes),
            "seconds": round(self.seconds, 3),
            "tokens": self.tokens,
            "dry_run": self.dry_run,
        }


EventKind = Literal["plan", "encoding", "publishing", "done", "failed"]


@dataclass(frozen=True, kw_only=True)
class IndexEvent:
    """One step of a run."""

    kind: EventKind
    source: str = ""
    title: str | None = None
    """None until the book has been read."""
    index: int = 0
    """Number of the book, from 1."""
    total: int = 0
    """Books to index in this run."""
    done_bytes: int = 0
    """Of the files of this run, with this book's share."""
    total_bytes: int = 0
    tokens: int = 0
    """Encoded so far in this run."""
    fraction: float = 0.0
    """Share of this book that is encoded."""


Observer = Callable[[IndexEvent], None]
"""Called at every step of a run."""


class Progress:
    """How far a run has come; it makes every event of the run."""

    def __init__(self, sizes: Sequence[int], observer: Observer | None) -> None:
        """Announce the run.

        Args:
            sizes: bytes of each book, in order.
            observer: gets the events.
        """
        self.tokens = 0
        """Encoded so far."""
        self._observer = observer
        self._sizes = sizes
        self._ends = list(accumulate(sizes, initial=0))
        self._index = 0
        self._source = ""
        self._title: str | None = None
        self._book_tokens = self._book_total = 0
        self._send("plan")

    def start(self, source: str) -> None:
        """Go on to the next book."""
        self._index += 1
        self._source, self._title = source, None

    def encoding(self, title: str, tokens: int) -> None:
        """The book is read, and encoding begins.

        Args:
            title: the book's.
            tokens: in all of its passages.
        """
        self._title, self._book_tokens, self._book_total = title, 0, tokens
        self._send("encoding")

    def encoded(self, tokens: int) -> None:
        """So many more tokens of the book are encoded."""
        self.tokens += tokens
        self._book_tokens += tokens
        self._send("encoding", self._book_tokens / max(1, self._book_total))

    def publishing(self) -> None:
        """The book is encoded, and is being written."""
        self._send("publishing", 1.0)

    def finish(self, *, failed: bool) -> None:
        """The book is published, or is left out."""
        self._send("failed" if failed else "done", 1.0)

    def _send(self, kind: EventKind, fraction: float = 0.0) -> None:
        if self._observer is None:
            return
        done = 0
        if self._index:
            done = self._ends[self._index - 1] + int(fraction * self._sizes[self._index - 1])
        self._observer(
            IndexEvent(
                kind=kind,
                source=self._source,
                title=self._title,
                index=self._index,
                total=len(self._sizes),
                done_bytes=done,
                total_bytes=self._ends[-1],
                tokens=self.tokens,
                fraction=fraction,
            )
        )
