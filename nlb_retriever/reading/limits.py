"""What reading one file may cost, and how a file is named in a message."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from nlb_retriever.records import source_of


@dataclass(frozen=True, kw_only=True)
class Limits:
    """Upper bounds for one file; beyond them reading raises ReadingLimit."""

    seconds: float = 120.0
    """Wall-clock and processor seconds (enforced by ReaderPool's worker processes)."""
    memory: int = 2 << 30
    """Bytes of address space of a worker process."""
    file_bytes: int = 512 << 20
    """Size of the file itself."""
    inflated: int = 512 << 20
    """Bytes that a zip format (EPUB, DOCX) may inflate to, counted while inflating."""
    ratio: int = 200
    """Inflated bytes to one packed byte, for entries that inflate to more than 8 MiB."""
    entries: int = 20_000
    """Files in one zip."""
    chars: int = 100_000_000
    """Characters of text of one book."""


DEFAULT = Limits()


def shown(path: str | Path) -> str:
    """The path in one printable line, whatever bytes its name holds."""
    text = source_of(path)
    return "".join(c if c.isprintable() else c.encode("unicode_escape").decode() for c in text)


def beyond_memory(path: Path, limits: Limits) -> str:
    """Says that a file is too much for the memory of its reader."""
    return f"{shown(path)}: needs more memory than the limit of {limits.memory >> 20} MiB"
