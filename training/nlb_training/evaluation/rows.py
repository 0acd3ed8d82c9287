"""Evaluation rows: a query and the spans that answer it, checked against their books.

`nlb_training.data.examples` describes the keys of a row. Here each also keeps all other keys (options, labels), and
its group for the bootstrap.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path, PurePath
from typing import Any

from nlb_retriever.config import expand
from nlb_retriever.errors import QueryError
from nlb_retriever.text.cleaning import clean_query
from nlb_training.data.examples import Span, parse_row, replace_broken
from nlb_training.data.examples import read_lines as lines_of

_GROUPS = ("group", "story", "module")
"""Keys of the group; without any, the group of a row is its file."""


@dataclass(frozen=True, kw_only=True)
class Row:
    """A query and the spans that answer it."""

    query: str
    file: str
    spans: tuple[Span, ...]
    """Spans of the book's text that answer it; none if the whole book does."""
    group: str
    """A book, a tale or a section of a textbook; resampled as a whole."""
    where: str
    """File and line, for messages."""
    values: Mapping[str, Any]
    """All keys of the line."""


@dataclass(frozen=True, kw_only=True)
class Rows:
    """The usable rows of a file, and the problems of the others."""

    rows: tuple[Row, ...]
    problems: tuple[str, ...] = ()
    """One line each."""


def read_rows(file: Path, query: str | None = None) -> Rows:
    """Read a JSONL file (.jsonl, or .jsonl.bz2).

    Args:
        file: to read.
        query: key that is used as the query, as in "label"; None for the usual ones.

    Raises:
        QueryError: it cannot be read, is empty, or none of its lines is usable.
    """
    rows: list[Row] = []
    problems: list[str] = []
    for number, line in read_lines(file):
        where = f"{file.name}, line {number}"
        try:
            values = json.loads(line)
            if query and isinstance(values, dict):
                values |= {"query": values.get(query)}
            example = parse_row(values, origin=where)
            clean_query(example.query)  # search takes it
            if values.get("answers") is not None:
                values["answers"] = _answers(values["answers"])
        except json.JSONDecodeError as error:
            problems.append(f"{where}: is not JSON ({error.msg} at column {error.colno})")
            continue
        except (ValueError, RecursionError, QueryError) as error:
            problems.append(f"{where}: {error}")
            continue
        name = str(PurePath(example.file))  # "./tale.txt" is "tale.txt"
        group = next((str(values[key]) for key in _GROUPS if values.get(key)), name)
        rows.append(Row(query=example.query, file=name, spans=example.spans, group=group, where=where, values=values))
    if not rows:
        reason = problems[0] if problems else f"{file} is empty"
        raise QueryError(f'{reason}: give lines such as {{"query": "...", "file": "book.txt", "start": 0, "end": 99}}')
    return Rows(rows=tuple(rows), problems=tuple(problems))


def _answers(value: Any) -> list[str]:
    """Human answers that mean the same; one may stand by itself, and none may be known."""
    answers = [value] if isinstance(value, str) else value
    if not isinstance(answers, list) or not all(isinstance(each, str) and each.strip() for each in answers):
        raise ValueError(f"has the answers {json.dumps(value)[:40]}: give a list of strings")
    return [replace_broken(each) for each in answers]


def keep_within(
    rows: Sequence[Row], texts: Mapping[str, str], folder: str, unusable: Mapping[str, str] | None = None
) -> Rows:
    """Skip rows without a book, or with spans that are outside of its text or blank.

    Args:
        rows: to check.
        texts: every book's, by file name.
        folder: of the books, for messages.
        unusable: why there is no text of other file names.

    Raises:
        QueryError: no row is left.
    """
    kept: list[Row] = []
    problems: list[str] = []
    for row in rows:
        text = texts.get(row.file)
        if text is None:
            missing = f"no book {row.file!r} in {folder}: name its folder, or correct the name"
            problems.append(f"{row.where}: {(unusable or {}).get(row.file, missing)}")
        elif outside := [span for span in row.spans if not 0 <= span[0] < span[1] <= len(text)]:
            first, last = outside[0]
            problems.append(
                f"{row.where}: {first} to {last} is not a span of {row.file}, which has {len(text)} characters: "
                "offsets are those of the text that `nlb show BOOK --text` prints"
            )
        elif blank := [span for span in row.spans if text[slice(*span)].isspace()]:
            first, last = blank[0]
            problems.append(f"{row.where}: {first} to {last} of {row.file} is blank: name a span that answers")
        else:
            kept.append(row)
    if rows and not kept:
        raise QueryError(f"{problems[0]} (and so all {len(problems)} rows)")
    return Rows(rows=tuple(kept), problems=tuple(problems))


def read_lines(file: Path) -> Iterator[tuple[int, str]]:
    """The lines of a file that are not blank, with their numbers from 1; .bz2 is decompressed.

    Raises:
        QueryError: it cannot be read or is not UTF-8.
    """
    try:
        for number, line in enumerate(lines_of(expand(file)), 1):
            if text := line.strip().lstrip("\ufeff"):
                yield number, text
    except UnicodeDecodeError as error:
        raise QueryError(f"{file} is not UTF-8 ({error.reason} at byte {error.start}): save it as UTF-8") from error
    except (OSError, EOFError) as error:
        reason = getattr(error, "strerror", None) or error
        raise QueryError(f"{file} cannot be read ({reason}): give a JSONL file of questions") from error
