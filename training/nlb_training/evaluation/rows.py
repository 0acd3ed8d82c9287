"""Rows of a question and where its answer stands, from JSONL files: users' own, and those of the data folder.

    {"query": "Who rows out alone?", "file": "lamp.txt", "start": 2310, "end": 4105}     a span answers
    {"query": "Who rows out alone?", "file": "lamp.txt", "spans": [[2310, 2400], ...]}   each of these does
    {"query": "A keeper saves sailors", "file": "lamp.txt"}                              the book does

`file` is a name in the folder of books, offsets index the text that `nlb show BOOK --text` prints.
"""

from __future__ import annotations

import bz2
import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from nlb_retriever.errors import QueryError

Span = tuple[int, int]


@dataclass(frozen=True, kw_only=True)
class Keys:
    """What the columns of a file are called."""

    query: tuple[str, ...] = ("query", "question", "summary", "synopsis", "chapter_title")
    """The first of these that a row has."""
    file: tuple[str, ...] = ("file", "book_file")
    spans: tuple[str, ...] = ("spans", "evidence_spans")
    group: tuple[str, ...] = ("group", "story", "module")
    """What is resampled as a whole; the file where a row has none of these."""


KEYS = Keys()


@dataclass(frozen=True, kw_only=True)
class Row:
    """A query and what answers it."""

    query: str
    file: str
    spans: tuple[Span, ...]
    """Spans of the book's text that answer; none where the whole book does."""
    group: str
    """Its rows are right or wrong together: a book, a tale, a section of a textbook."""
    where: str
    """File and line, for messages."""
    values: Mapping[str, Any]
    """All that the line holds."""


@dataclass(frozen=True, kw_only=True)
class Rows:
    """The usable rows of a file, and what is wrong with the others."""

    rows: tuple[Row, ...]
    problems: tuple[str, ...] = ()
    """One line each: file, line, what and what to do."""


def read_rows(file: Path, keys: Keys = KEYS) -> Rows:
    """Read a JSONL file (.jsonl, or .jsonl.bz2).

    Raises:
        QueryError: it cannot be read, is empty, or none of its lines is usable.
    """
    rows: list[Row] = []
    problems: list[str] = []
    for number, line in read_lines(file):
        where = f"{file.name}, line {number}"
        try:
            rows.append(_parse(line, where, keys))
        except QueryError as error:
            problems.append(f"{where}: {error}")
    if not rows:
        reason = problems[0] if problems else f"{file} is empty"
        raise QueryError(f'{reason}: give lines such as {{"query": "...", "file": "book.txt", "start": 0, "end": 99}}')
    return Rows(rows=tuple(rows), problems=tuple(problems))


def keep_within(rows: Sequence[Row], lengths: Mapping[str, int], place: str) -> Rows:
    """Leave out rows whose book is not there or whose spans lie outside of its text.

    Args:
        rows: to look through.
        lengths: characters of every book's text, by file name.
        place: where the books were looked for, for messages.

    Raises:
        QueryError: no row is left.
    """
    kept: list[Row] = []
    problems: list[str] = []
    for row in rows:
        length = lengths.get(row.file)
        if length is None:
            problems.append(f"{row.where}: no book {row.file!r} in {place}: give its folder, or mend the name")
        elif outside := [span for span in row.spans if not 0 <= span[0] < span[1] <= length]:
            first, last = outside[0]
            problems.append(
                f"{row.where}: {first} to {last} is no span of {row.file}, which has {length} characters: "
                "offsets index the text that `nlb show BOOK --text` prints"
            )
        else:
            kept.append(row)
    if rows and not kept:
        raise QueryError(f"{problems[0]} (and so all {len(problems)} rows)")
    return Rows(rows=tuple(kept), problems=tuple(problems))


def read_lines(file: Path) -> Iterator[tuple[int, str]]:
    """The lines of a file that are not blank, with their numbers from 1; .bz2 is unpacked.

    Raises:
        QueryError: it cannot be read or is not UTF-8.
    """
    try:
        opener = bz2.open if file.suffix == ".bz2" else open
        with opener(file, "rt", encoding="utf-8-sig") as lines:
            for number, line in enumerate(lines, 1):
                if line.strip():
                    yield number, line
    except (OSError, EOFError) as error:
        reason = getattr(error, "strerror", None) or error
        raise QueryError(f"{file} cannot be read ({reason}): give a JSONL file of questions") from error
    except UnicodeDecodeError as error:
        raise QueryError(f"{file} is not UTF-8 ({error.reason} at byte {error.start}): save it as UTF-8") from error


def _parse(line: str, where: str, keys: Keys) -> Row:
    try:
        values = json.loads(line)
    except (ValueError, RecursionError) as error:
        raise QueryError(f"no JSON ({error}): write one object a line") from error
    if not isinstance(values, dict):
        raise QueryError(f"{type(values).__name__} where an object should be: write one object a line")
    query, file = _text(values, keys.query), _text(values, keys.file)
    group = next((values[key] for key in keys.group if values.get(key)), file)
    return Row(query=query, file=file, spans=_spans(values, keys), group=str(group), where=where, values=values)


def _text(values: Mapping[str, Any], names: Sequence[str]) -> str:
    value = next((values[name] for name in names if name in values), None)
    if not isinstance(value, str) or not value.strip():
        raise QueryError(f'"{names[0]}" is {value!r}: give a text')
    return value


def _spans(values: Mapping[str, Any], keys: Keys) -> tuple[Span, ...]:
    given = next((values[key] for key in keys.spans if key in values), None)
    if given is None:
        if "start" not in values and "end" not in values:
            return ()
        given = [[values.get("start"), values.get("end")]]
    try:
        spans = tuple((start, end) for start, end in given)
    except (TypeError, ValueError) as error:
        raise QueryError(f'"{keys.spans[0]}" is {given!r}: give pairs of offsets, [[0, 99], ...]') from error
    if not all(type(offset) is int for span in spans for offset in span):
        raise QueryError(f"offsets {given!r} are no whole numbers: give start and end")
    return spans
