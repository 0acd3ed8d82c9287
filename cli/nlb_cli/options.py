"""The options that several commands share."""

from __future__ import annotations

import os
import re
import sys
from collections.abc import Collection
from difflib import get_close_matches
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from nlb_retriever.errors import QueryError

if TYPE_CHECKING:
    from nlb_retriever.search.retriever import Retriever
    from nlb_retriever.store import Filter

Library = Annotated[
    str | None,
    typer.Option(
        "--library",
        "-l",
        metavar="LIBRARY",
        help="A folder, a plain name, or http://HOST:6333/NAME. [default: $NLB_LIBRARY, else the library 'default']",
        show_default=False,
    ),
]
Json = Annotated[bool, typer.Option("--json", help="Print one JSON document.")]
Book = Annotated[str, typer.Argument(metavar="BOOK", help="A book's id, title, or the path of its file.")]
InBook = Annotated[
    str | None, typer.Option("--book", "-b", metavar="BOOK", help="Only in this book: its id, title or path.")
]
InSection = Annotated[
    str | None,
    typer.Option(metavar="SECTION", help="With --book: only in this section or part of it: its number, title or id."),
]
Author = Annotated[str | None, typer.Option(metavar="NAME", help="Only in books of this author.")]
Language = Annotated[str | None, typer.Option(metavar="TAG", help="Only in books in this language: en or English.")]
Year = Annotated[
    str | None, typer.Option(metavar="FROM-TO", help="Only in books of these years: 1851, 1800-1850 or 1900-.")
]
Before = Annotated[
    str | None,
    typer.Option(metavar="SECTION", help="No spoilers: only what comes before this section (with --book)."),
]

Reader = Annotated[
    Path | None, typer.Option(metavar="FOLDER", help="A reader of `nlb train-reader`. [default: the released one]")
]
ChunkEncoder = Annotated[
    str | None, typer.Option(metavar="NAME", help="A sentence-transformers model: its name or folder.")
]
Limit = Annotated[int, typer.Option("--limit", "-n", min=1, metavar="N", help="Results at most.")]
Model = Annotated[
    str | None,
    typer.Option(
        "--llm",
        metavar="MODEL",
        envvar="NLB_LLM",
        show_envvar=False,
        help="Let a language model answer in prose: smollm2, ./model.gguf, ollama:NAME, openai:NAME or a server's URL "
        "(http://127.0.0.1:8080/v1). [default: $NLB_LLM, else none]",
        show_default=False,
    ),
]


def question_of(argument: str) -> str:
    """The question, or what stdin holds for "-"; bytes that are not UTF-8 become U+FFFD."""
    raw = sys.stdin.buffer.read() if argument == "-" else os.fsencode(argument)
    return raw.decode("utf-8", "replace").strip()


def years_of(text: str) -> tuple[int | None, int | None]:
    """First and last year of "1851", "1800-1850", "1900-" or "-1899".

    Raises:
        QueryError: it is none of these.
    """
    first, dash, last = (part.strip() for part in text.partition("-"))
    if not all(re.fullmatch(r"\d{0,4}", part) for part in (first, last)) or not (first or last):
        shown = text if len(text) <= 40 else f"{text[:40]}…"
        raise QueryError(f"--year {shown!r} is not a year or a span of years: write 1851, 1800-1850 or 1900-")
    begin = int(first) if first else None
    end = (int(last) if last else None) if dash else begin
    if begin is not None and end is not None and begin > end:
        raise QueryError(f"--year {text!r} ends before it begins: write {end}-{begin}")
    return begin, end


def scope_of(
    retriever: Retriever,
    *,
    book: str | None,
    section: str | None,
    before: str | None,
    author: str | None,
    language: str | None,
    year: str | None,
) -> dict[str, Any]:
    """The part of the library that the options name, as arguments of `Retriever.search` and `answer`.

    Raises:
        QueryError: no book is by that author or in that language, or the year is none.
    """
    from nlb_retriever.search.titles import is_named
    from nlb_retriever.store import And, Condition

    conditions: list[Filter] = []
    if year is not None:
        first, last = years_of(year)
        conditions += [Condition("year", "gte", first)] if first is not None else []
        conditions += [Condition("year", "lte", last)] if last is not None else []
    if author is not None:
        store = retriever.store
        known = {book.author: book for book in store.books() if book.author}
        named = [name for name in known if author.lower() in name.lower() or is_named(author, name)]
        conditions.append(Condition("author", "in", named))
        if not named:
            similar = _find_similar(author, known)
            hint = f"; similar: {'; '.join(similar)}" if similar else ": see `nlb books`"
            raise QueryError(f"no book by {author!r} in library {store.location}{hint}")
    if language is not None:
        from nlb_retriever.reading.gutenberg import LANGUAGES

        store = retriever.store
        tag = LANGUAGES.get(language.lower(), language).lower()
        tags = sorted({book.language for book in store.books() if book.language})
        named = [each for each in tags if f"{each.lower()}-".startswith(f"{tag}-")]  # with a region, too
        conditions.append(Condition("language", "in", named))
        if not named:
            hint = f"; it has {', '.join(tags)}" if tags else ""
            raise QueryError(f"no book in language {language!r} in library {store.location}{hint}")
    where = And(tuple(conditions)) if conditions else None
    return {"book": book, "section": section, "before": before, "where": where}


def _find_similar(name: str, authors: Collection[str]) -> list[str]:
    """The authors one of whose names is like a word of a name."""
    wanted = name.lower().split()
    return sorted(each for each in authors if any(get_close_matches(word, wanted) for word in each.lower().split()))[:3]
