"""Examples from JSONL files: a query and the spans of a book that answer it.

One JSON object a line, in a .jsonl or .jsonl.bz2 file. The keys of your own rows:

    query     a question, a title, a summary or a sentence
    file      name of the book's file (`moby-dick.txt`); with folders if two files have that name
    start, end            span of the book's text (as printed by `nlb show BOOK --text`) that answers the query;
    or spans: [[s, e]]    several spans as `spans`; neither if the whole book answers it
    level     "book", "section" or "passage", the level of the spans; default: section, or book without spans
    group     optional: rows of one chapter or story have the same group
    answers   optional: what people answer, each in a few words, for `nlb eval`

The rows of BookSum, FairytaleQA, LiteraryQA and OpenStax, as prepared for this project, are read too.
"""

from __future__ import annotations

import bz2
import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path, PurePath
from typing import Any, Literal, get_args

import numpy as np
from numpy.typing import NDArray

from nlb_retriever.atomic import write_file
from nlb_retriever.config import expand
from nlb_retriever.errors import TrainingError
from nlb_retriever.records import LEVELS, Level

Kind = Literal["summary", "title", "synopsis", "question", "book-summary"]
Span = tuple[int, int]

_QUERIES: Mapping[str, Kind] = {
    "summary": "summary",
    "chapter_title": "title",
    "synopsis": "synopsis",
    "question": "question",
}
"""Key of the query in prepared rows -> its kind."""
_GROUPS = ("group", "chapter_id", "story", "module", "document_id", "bid")
_NAMES = ("file", "book_file")
_OF_LEVEL: Mapping[str, Kind] = {"book": "book-summary", "section": "summary", "passage": "question"}


@dataclass(frozen=True, kw_only=True)
class Example:
    """A query and the spans that answer it."""

    query: str
    kind: Kind
    file: str
    """Name of the book's file, with folders if the row has them."""
    spans: tuple[Span, ...]
    """Spans of the book's text that answer it, in order; empty if the whole book does."""
    group: str | None = None
    """The same for rows on the same chapter or story, which are not negatives of each other."""
    level: Level = "section"
    """Of the spans."""
    within: Span | None = None
    """The story of a collection that the spans are in."""
    origin: str = ""
    """File and line, as in "rows.jsonl line 3"; empty for synthetic examples."""


@dataclass(frozen=True, kw_only=True)
class Problem:
    """A row that cannot be used, and why."""

    origin: str
    reason: str

    def __str__(self) -> str:
        return f"{self.origin}: {self.reason}"


def read_examples(file: str | Path) -> tuple[list[Example], list[Problem]]:
    """Read the rows of a .jsonl or .jsonl.bz2 file; rows that cannot be used are returned as problems.

    Raises:
        TrainingError: the file cannot be read.
    """
    file = expand(file)
    examples: list[Example] = []
    problems: list[Problem] = []
    try:
        for number, line in enumerate(read_lines(file), start=1):
            text = line.strip().lstrip("\ufeff")
            if not text:
                continue
            origin = f"{file} line {number}"
            try:
                examples.append(parse_row(json.loads(text), origin=origin))
            except json.JSONDecodeError as error:
                problems.append(Problem(origin=origin, reason=f"is not JSON ({error.msg} at column {error.colno})"))
            except (ValueError, RecursionError) as error:
                problems.append(Problem(origin=origin, reason=str(error)))
    except UnicodeDecodeError as error:
        raise TrainingError(
            f"{file} is not UTF-8 text ({error.reason} at byte {error.start}): save it as UTF-8"
        ) from error
    except (OSError, EOFError) as error:
        why = getattr(error, "strerror", None) or error
        raise TrainingError(f"examples {file} cannot be read ({why}): give a .jsonl or .jsonl.bz2 file") from error
    return examples, problems


def parse_row(row: Any, *, origin: str = "") -> Example:
    """Convert a row to an example.

    Raises:
        ValueError: it cannot be used; the message says why.
    """
    if not isinstance(row, dict):
        raise ValueError(f"is not a JSON object but {json.dumps(row)[:40]}")
    query, kind = _query(row)
    file = next((row[name] for name in _NAMES if name in row), None)
    if not isinstance(file, str) or not file.strip():
        raise ValueError("has no `file`: name the book's file")
    spans = _spans(row)
    level = row.get("level") or ("book" if not spans else "passage" if "evidence_spans" in row else "section")
    if level not in LEVELS:
        raise ValueError(f"has the level {level!r}; known: {', '.join(LEVELS)}")
    if level == "book":
        spans = ()
    elif not spans:
        raise ValueError(f"has the level {level} and no span: it needs `start` and `end`, or `spans`")
    if kind == "summary" and level == "book":
        kind = "book-summary"
    within = _span(row["story_span"], "story_span") if row.get("story_span") else None
    group = next((str(row[name]) for name in _GROUPS if row.get(name)), None)
    return Example(
        query=query,
        kind=kind or _OF_LEVEL[level],
        file=file,
        spans=spans,
        group=group,
        level=level,
        within=within,
        origin=origin,
    )


def write_examples(file: Path, examples: Iterable[Example]) -> None:
    """Write examples as rows that `read_examples` reads back.

    Raises:
        OSError: the file cannot be written.
    """
    rows = []
    for example in examples:
        row: dict[str, Any] = {"query": example.query, "kind": example.kind, "level": example.level}
        row |= {"file": example.file, "spans": example.spans or None}
        row |= {"group": example.group, "story_span": example.within}
        rows.append(json.dumps({key: value for key, value in row.items() if value is not None}) + "\n")
    write_file(file, "".join(rows).encode())


def match_examples(
    examples: Iterable[Example], books: Mapping[str, int]
) -> tuple[list[tuple[Example, str]], list[Problem]]:
    """Find each example's book.

    Args:
        examples: of any files.
        books: path of each book -> characters of its text.

    Returns:
        Each usable example with the path of its book, and the problems of the others.
    """
    by_name: dict[str, list[str]] = {}
    for path in books:
        by_name.setdefault(PurePath(path).name, []).append(path)
    matched: list[tuple[Example, str]] = []
    problems: list[Problem] = []
    for example in examples:
        parts = PurePath(example.file).parts
        fitting = [path for path in by_name.get(parts[-1], ()) if PurePath(path).parts[-len(parts) :] == parts]
        last = max((end for _, end in example.spans), default=0)
        origin = example.origin or repr(example.query[:40])
        if not fitting:
            problems.append(Problem(origin=origin, reason=f"its book {example.file} is not among the books"))
        elif len(fitting) > 1:
            reason = f"{len(fitting)} books are called {example.file}: write more of the path"
            problems.append(Problem(origin=origin, reason=reason))
        elif last > books[fitting[0]]:
            reason = f"ends at {last}, but {example.file} has {books[fitting[0]]} characters"
            problems.append(Problem(origin=origin, reason=reason))
        else:
            matched.append((example, fitting[0]))
    return matched, problems


def find_borders(examples: Iterable[Example]) -> dict[str, list[int]]:
    """For each book's file name the offsets that no chunk may cross: borders of sections and stories.

    Not those of passages, which are unknown when a library is chunked.
    """
    borders: dict[str, set[int]] = {}
    for example in examples:
        spans = [*example.spans] if example.level == "section" else []
        spans += [example.within] if example.within else []
        borders.setdefault(PurePath(example.file).name, set()).update(offset for span in spans for offset in span)
    return {name: sorted(offsets) for name, offsets in borders.items() if offsets}


def find_chunks(example: Example, spans: NDArray[np.int32]) -> NDArray[np.int64]:
    """Indexes of the chunks that answer an example.

    Chunks that lie completely in one of its spans; for a span without such a chunk the one that overlaps it most.

    Args:
        example: on the book of these chunks.
        spans: (C, 2) start and end of each chunk, in order.
    """
    starts, ends = spans[:, 0], spans[:, 1]
    if not example.spans:
        return np.arange(len(spans))
    chosen = np.zeros(len(spans), dtype=np.bool_)
    for start, end in example.spans:
        inside = (starts >= start) & (ends <= end)
        if not inside.any():
            shared = np.minimum(ends, end) - np.maximum(starts, start)
            inside[np.argmax(shared)] = shared.max() > 0
        chosen |= inside
    return np.flatnonzero(chosen)


def _query(row: Mapping[str, Any]) -> tuple[str, Kind | None]:
    key = next((key for key in ("query", *_QUERIES) if key in row), None)
    if key is None:
        raise ValueError(f"has no query: it has none of the keys query, {', '.join(_QUERIES)}")
    query = row[key]
    if not isinstance(query, str) or not query.strip():
        raise ValueError(f"has no query: its `{key}` is {'empty' if isinstance(query, str) else 'no text'}")
    kind = row.get("kind") if key == "query" else _QUERIES[key]
    if kind is not None and kind not in get_args(Kind):
        raise ValueError(f"has the kind {kind!r}; known: {', '.join(get_args(Kind))}")
    return replace_broken(query.strip()), kind


def replace_broken(text: str) -> str:
    """A text whose lone surrogates, half of a character each, are replaced by "?": no tokenizer takes them."""
    return text.encode("utf-8", "replace").decode("utf-8")


def _spans(row: Mapping[str, Any]) -> tuple[Span, ...]:
    for key in ("spans", "evidence_spans"):
        if row.get(key) is not None:
            values = row[key]
            if not isinstance(values, Sequence) or isinstance(values, str):
                raise ValueError(f"its `{key}` is not a list of [start, end]")
            return tuple(sorted(_span(value, key) for value in values))
    start, end = row.get("start"), row.get("end")
    if (start is None) != (end is None):
        raise ValueError(f"has only `{'end' if start is None else 'start'}`: write both `start` and `end`")
    return () if start is None else (_span((start, end), "start, end"),)


def _span(value: Any, key: str) -> Span:
    match value:
        case [int(start), int(end)] if 0 <= start < end:
            return start, end
    raise ValueError(f"its `{key}` {json.dumps(value)} is not a span: write start and end, 0 <= start < end")


def read_lines(file: Path) -> Iterator[str]:
    """Lines of a text file, compressed (.bz2) or not.

    Raises:
        OSError, EOFError, UnicodeDecodeError: it cannot be read.
    """
    if file.suffix == ".bz2":
        with bz2.open(file, "rt", encoding="utf-8") as stream:
            yield from stream
    else:
        with file.open(encoding="utf-8") as stream:
            yield from stream
