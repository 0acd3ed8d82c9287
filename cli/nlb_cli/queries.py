"""Many questions in one process: a file of lines in, JSON Lines out, in the same order."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable, Iterable
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass, replace
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any

from nlb_cli.output.terminal import to_json, write
from nlb_retriever.errors import QueryError
from nlb_retriever.records import LEVELS, Level

if TYPE_CHECKING:
    from nlb_retriever.search.run import SearchResult

_KEYS = ("question", "level", "book", "limit", "id")
"""What an object on a line may have; "id" is the caller's own, as files of questions have it."""


@dataclass(frozen=True, kw_only=True)
class Query:
    """One question of a file, with what its line may set."""

    question: str
    level: Level
    book: str | None
    limit: int


def open_lines(name: str) -> AbstractContextManager[IO[bytes]]:
    """The lines of a file, or of stdin for "-".

    Raises:
        QueryError: the file cannot be read.
    """
    if name == "-":
        return nullcontext(sys.stdin.buffer)
    try:
        return Path(name).open("rb")
    except OSError as error:
        raise QueryError(
            f"the questions in {name} cannot be read ({error.strerror}): give a file, or - for stdin"
        ) from error


def answer_lines(lines: Iterable[bytes], defaults: Query, search: Callable[[Query], SearchResult]) -> int:
    """Answer every line with one line of JSON, at once.

    A line that cannot be answered gets its line, too, with the reason under "error": the n-th line out
    belongs to the n-th line in.

    Returns:
        How many lines could not be answered.
    """
    failed = 0
    for number, raw in enumerate(lines, 1):
        answer: dict[str, Any] = {"question": defaults.question, "level": defaults.level}
        try:
            query = parse(raw, number, defaults)
            answer = {"question": query.question, "level": query.level}
            answer |= found_json(search(query))
        except QueryError as error:
            failed += 1
            answer |= {"searched": None, "hits": [], "error": str(error)}
        write(f"{to_json(answer, indent=None)}\n")
    return failed


def found_json(result: SearchResult) -> dict[str, Any]:
    """What a search found, as its keys in JSON."""
    return {"searched": result.searched, "hits": [hit.to_json() for hit in result.hits]}


def parse(raw: bytes, number: int, defaults: Query) -> Query:
    """Read a line: the question itself, or a JSON object with "question" and what else it sets.

    Raises:
        QueryError: the line, named by its number, is neither.
    """
    try:
        text = raw.decode("utf-8-sig" if number == 1 else "utf-8").strip()
    except UnicodeDecodeError as error:
        raise QueryError(f"line {number} is not UTF-8 ({error.reason} at byte {error.start})") from error
    if not text.startswith("{"):
        return replace(defaults, question=text)
    try:
        values = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise QueryError(f"line {number} starts like JSON but is not ({error})") from error
    if unknown := sorted(values.keys() - _KEYS):
        known = ", ".join(map(json.dumps, _KEYS))
        raise QueryError(f"line {number} has {json.dumps(unknown[0]):.60}, which is unknown: it may have {known}")
    if not isinstance(values.get("question"), str):
        raise QueryError(f'line {number} has no "question" that is a string')
    level, book, limit = values.get("level"), values.get("book"), values.get("limit")
    if level is not None and level not in LEVELS:
        raise QueryError(f'line {number}: "level" is {level!r}, not one of {", ".join(LEVELS)}')
    if book is not None and not isinstance(book, str):
        raise QueryError(f'line {number}: "book" is {book!r}, not a string')
    if limit is not None and (not isinstance(limit, int) or isinstance(limit, bool) or limit < 1):
        raise QueryError(f'line {number}: "limit" is {limit!r}, not a number from 1 on')
    return Query(
        question=values["question"],
        level=defaults.level if level is None else level,
        book=defaults.book if book is None else book,
        limit=defaults.limit if limit is None else limit,
    )
