"""What an index run tells: its events while it goes, its report at the end."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
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
        return {"book_id": self.book_id, "title": self.title, "source": self.source}


@dataclass(frozen=True, kw_only=True)
class IndexReport:
    """What a run did, or with `dry_run` would do."""

    library: str
    indexed: tuple[BookRef, ...] = ()
    unchanged: tuple[BookRef, ...] = ()
    renamed: tuple[BookRef, ...] = ()
    duplicates: tuple[tuple[str, str], ...] = ()
    """Files left out, and which file or book holds the same bytes."""
    removed: tuple[BookRef, ...] = ()
    failed: tuple[FailedFile, ...] = ()
    skipped: Mapping[str, int] = field(default_factory=dict)
    """Reason -> number of files in folders that are no books."""
    warnings: tuple[tuple[str, str], ...] = ()
    """Files and what was lost or mended in reading them."""
    seconds: float = 0.0
    tokens: int = 0
    """Encoded in this run."""
    dry_run: bool = False

    def to_json(self) -> dict[str, Any]:
        """The report as the keys that programs may rely on."""
        return {
            "library": self.library,
            "indexed": [ref.to_json() for ref in self.indexed],
            "unchanged": [ref.to_json() for ref in self.unchanged],
            "renamed": [ref.to_json() for ref in self.renamed],
            "duplicates": [{"source": source, "same_as": other} for source, other in self.duplicates],
            "removed": [ref.to_json() for ref in self.removed],
            "failed": [{"source": file.source, "reason": file.reason} for file in self.failed],
            "warnings": [{"source": source, "warning": warning} for source, warning in self.warnings],
            "skipped": dict(self.skipped),
            "seconds": round(self.seconds, 3),
            "tokens": self.tokens,
            "dry_run": self.dry_run,
        }


@dataclass(frozen=True, kw_only=True)
class IndexEvent:
    """A moment of a run, for those who watch."""

    kind: Literal["plan", "encoding", "publishing", "done", "failed"]
    source: str = ""
    title: str | None = None
    index: int = 0
    """Number of the book, from 1."""
    total: int = 0
    """Books to do in this run."""
    done_bytes: int = 0
    """Of the files of this run, with this book's share."""
    total_bytes: int = 0
    tokens: int = 0
    """Encoded so far."""
    fraction: float = 0.0
    """Of this book's encoding."""
