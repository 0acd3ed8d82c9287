"""What reaches a terminal, a pipe or a program: styled, plain or JSON, and never a book's own escapes.

Views make `Line`s; `write_lines` prints them, wrapped and styled on a terminal, one line each and plain on a
pipe. Nothing else in the command line writes to stdout.
"""

from __future__ import annotations

import errno
import io
import json
import os
import re
import shutil
import sys
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import IO, TYPE_CHECKING, Any

if TYPE_CHECKING:
    from rich.console import Console

PROSE_WIDTH = 100
"""Columns beyond which running text gets no wider, however wide the terminal."""
_LEAST_ROOM = 30
"""Columns that a text keeps beside what stands at its right."""

# C0 and C1 controls but tab and newline, what turns the direction of text round, line separators,
# and halves of surrogate pairs: what could steer a terminal, hide text or fail to encode.
_UNSAFE = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u2028\u2029\u202a-\u202e\u2066-\u2069\ud800-\udfff]")
_UNSAFE_IN_JSON = re.compile("[\x7f-\x9f\u2028\u2029\u202a-\u202e\u2066-\u2069\ud800-\udfff]")


class OutputError(Exception):
    """Standard output takes no more: its reader has gone (`gone`), or its disk is full."""

    def __init__(self, error: OSError) -> None:
        super().__init__(error.strerror or str(error))
        self.gone = error.errno in {errno.EPIPE, errno.ESHUTDOWN}


Span = tuple[str, str]
"""Text and its style, in rich's words ("bold", "dim"; "" for none)."""


@dataclass(frozen=True)
class Line:
    """One line of output before it is wrapped."""

    spans: tuple[Span, ...] = ()
    lead: tuple[Span, ...] = ()
    """The start of its first row; the rows that it is wrapped to are indented as far."""
    right: Span = ("", "")
    """At the right border of a terminal, or below where it is too long; after the text on a pipe."""


def line(*spans: str | Span, lead: str | Sequence[Span] = "", right: Span = ("", "")) -> Line:
    """A line of plain texts and (text, style) pairs, all of them made safe to print."""
    first: Sequence[str | Span] = (lead,) if isinstance(lead, str) else lead
    return Line(tuple(map(_safe, spans)), tuple(map(_safe, first)), _safe(right))


def _safe(span: str | Span) -> Span:
    text, style = (span, "") if isinstance(span, str) else span
    return block(text), style


def block(text: str) -> str:
    """A text of any origin made safe to print; as long as before, line by line."""
    return _UNSAFE.sub("\ufffd", text.replace("\r", " "))


def inline(text: str) -> str:
    """A text of any origin as one safe line, its white space made single spaces."""
    return block(" ".join(text.split()))


def exact(text: str) -> str:
    """A path or message as one safe line with all of its spaces."""
    return re.sub("[\n\t]", "\ufffd", block(text))


def is_terminal(stream: IO[str] | None = None) -> bool:
    """Whether a person looks at `stream` (stdout)."""
    stream = stream or sys.stdout
    return stream.isatty() and os.environ.get("TERM") != "dumb"


def is_styled(stream: IO[str] | None = None) -> bool:
    """Whether `stream` (stdout) takes colours, bars and boxes."""
    return is_terminal(stream) and not os.environ.get("NO_COLOR")


def width() -> int:
    """Columns of the terminal."""
    return max(20, shutil.get_terminal_size((80, 24)).columns)


def write(text: str) -> None:
    """Write to stdout.

    Raises:
        OutputError: it cannot be written.
    """
    try:
        sys.stdout.write(text)
        sys.stdout.flush()
    except OSError as error:
        raise OutputError(error) from error


def write_exactly(text: str) -> None:
    """Write a book's text: as it is (in UTF-8) on a pipe, safe to look at on a terminal.

    Raises:
        OutputError: it cannot be written.
    """
    if sys.stdout.isatty():
        write(block(text) if text.endswith("\n") else f"{block(text)}\n")
        return
    try:
        sys.stdout.flush()
        sys.stdout.buffer.write(text.encode("utf-8", "replace"))
        sys.stdout.flush()
    except OSError as error:
        raise OutputError(error) from error


def note(text: str) -> None:
    """Write a line to stderr; a reader of it that has gone is no reason to stop."""
    try:
        print(block(text), file=sys.stderr, flush=True)
    except OSError:
        return


def note_spelling(searched: str | None) -> None:
    """Say that a question was searched for in the books' spelling; None for no such question."""
    if searched:
        note(exact(f"nlb: your books spell it otherwise; searched for: {searched}"))


def to_json(value: Any, *, indent: int | None = 2) -> str:
    """A value as JSON that every terminal, encoding and splitter of lines leaves whole."""
    in_unicode = (sys.stdout.encoding or "").lower().replace("-", "").startswith("utf")
    text = json.dumps(value, ensure_ascii=not in_unicode, indent=indent)
    return _UNSAFE_IN_JSON.sub(lambda match: f"\\u{ord(match[0]):04x}", text)


def write_json(value: Any) -> None:
    """Write one JSON document to stdout."""
    write(f"{to_json(value)}\n")


def write_lines(lines: Iterable[Line]) -> None:
    """Write lines to stdout."""
    rows = _wrapped(lines) if is_terminal() else map(_plain, lines)
    write("".join(f"{row}\n" for row in rows))


def console(file: IO[str], *, styled: bool) -> Console:
    """A rich console that takes nothing for markup, an emoji or a number to colour; bare of styles if wanted."""
    from rich.console import Console

    return Console(
        file=file,
        width=width(),
        force_terminal=styled,
        color_system="auto" if styled else None,
        markup=False,
        emoji=False,
        highlight=False,
    )


def write_rich(renderable: Any) -> None:
    """Write a rich table or tree to a terminal."""
    buffer = io.StringIO()
    console(buffer, styled=is_styled()).print(renderable)
    write("".join(f"{row.rstrip()}\n" for row in buffer.getvalue().rstrip("\n").split("\n")))


def _plain(item: Line) -> str:
    text = "".join(text for text, _ in (*item.lead, *item.spans))
    return f"{text}  {item.right[0]}".rstrip()


def _wrapped(lines: Iterable[Line]) -> list[str]:
    from rich.text import Text

    columns = min(width(), PROSE_WIDTH)
    buffer = io.StringIO()
    out = console(buffer, styled=is_styled())
    for item in lines:
        row, text, right = (Text.assemble(*spans) for spans in (item.lead, item.spans, (item.right,)))
        indent = Text(" " * row.cell_len)
        room = columns - len(indent)
        beside = 0 < right.cell_len <= room - _LEAST_ROOM
        rows = text.wrap(out, max(10, room - (right.cell_len + 2 if beside else 0))) or [Text()]
        for piece in rows:
            piece.rstrip()
        if beside:
            rows[0].pad_right(room - right.cell_len - rows[0].cell_len)
            rows[0].append_text(right)
        elif right:
            rows.append(right)
        for start, piece in zip((row, *(indent,) * len(rows)), rows, strict=False):
            out.print(start + piece, no_wrap=True, overflow="ignore", crop=False)
    return buffer.getvalue().split("\n")[:-1]
