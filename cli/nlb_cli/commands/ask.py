"""`nlb ask` and `nlb search`: questions to answers and to hits."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import TYPE_CHECKING, Annotated, Any

import typer

from nlb_cli.options import (
    Author,
    Before,
    InBook,
    InSection,
    Json,
    Language,
    Library,
    Model,
    Year,
    question_of,
    years_of,
)
from nlb_cli.output.terminal import is_styled, line, note, write_json, write_lines
from nlb_retriever.records import Hit, Level, Mode

if TYPE_CHECKING:
    from nlb_cli.queries import Query
    from nlb_retriever.search.retriever import Retriever
    from nlb_retriever.store import Filter

Limit = Annotated[int, typer.Option("--limit", "-n", min=1, metavar="N", help="How many at most.")]
Queries = Annotated[
    str | None,
    typer.Option(
        metavar="FILE",
        help="Answer every line of a file (- for stdin) with a line of JSON: a line is a question, or an object "
        'with "question" and, if wanted, "level", "book", "limit".',
    ),
]


def ask(
    question: Annotated[str, typer.Argument(metavar="QUESTION", help="What to answer; - reads it from stdin.")],
    library: Library = None,
    llm: Model = None,
    book: InBook = None,
    section: InSection = None,
    author: Author = None,
    language: Language = None,
    year: Year = None,
    before: Before = None,
    limit: Limit = 3,
    as_json: Json = False,
) -> None:
    """Answer a question with your books' own sentences, or with a language model's, and cite them."""
    from nlb_retriever.search.retriever import Retriever

    text = question_of(question)
    where = filter_of(author, language, year)
    scope: dict[str, Any] = {"book": book, "section": section, "before": before, "where": where}
    with Retriever(library) as retriever:
        quote = partial(retriever.answer, text, limit=limit, **scope)
        if llm:
            from nlb_cli.output.prose import tell, write_prose

            written = partial(write_prose, llm, retriever, text, scope)
            raise typer.Exit(0 if tell(written, quote, library, as_json=as_json) else 1)
        answer = quote()
    if as_json:
        write_json(answer.to_json())
    else:
        from nlb_cli.output.hits import answer_lines

        write_lines(answer_lines(answer, library, styled=is_styled()))


def search(
    question: Annotated[str | None, typer.Argument(metavar="QUESTION", help="What to look for; - for stdin.")] = None,
    library: Library = None,
    level: Annotated[Level, typer.Option("--level", "-L", help="What to find.")] = "passage",
    book: InBook = None,
    section: InSection = None,
    author: Author = None,
    language: Language = None,
    year: Year = None,
    before: Before = None,
    mode: Annotated[Mode, typer.Option(help="Meaning and words, or one of them.")] = "fused",
    flat: Annotated[bool, typer.Option("--flat", help="Rank all at that level, not book by book.")] = False,
    neighbours: Annotated[int, typer.Option(min=0, metavar="N", help="Also show N passages around each.")] = 0,
    limit: Limit = 10,
    queries: Queries = None,
    as_json: Json = False,
) -> None:
    """Find books, sections or passages, the best first."""
    from nlb_cli.queries import Query
    from nlb_retriever.search.retriever import Retriever

    if (question is None) == (queries is None):
        raise typer.BadParameter("give a question, or a file of them with --queries", param_hint="QUESTION")
    asked = Query(question=question_of(question or ""), level=level, book=book, limit=limit)
    with Retriever(library) as retriever:
        find = partial(
            _search,
            retriever,
            where=filter_of(author, language, year),
            section=section,
            before=before,
            mode=mode,
            strategy="flat" if flat else "coarse-to-fine",
            neighbours=neighbours,
        )
        if queries is not None:
            raise typer.Exit(_answer_file(queries, asked, find))
        hits = find(asked)
    if as_json:
        write_json({"question": asked.question, "level": level, "hits": [hit.to_json() for hit in hits]})
    else:
        _show_hits(asked.question, hits, library)


def _search(retriever: Retriever, query: Query, **how: Any) -> list[Hit]:
    return retriever.search(query.question, level=query.level, book=query.book, limit=query.limit, **how)


def _answer_file(name: str, defaults: Query, find: Callable[[Query], list[Hit]]) -> int:
    """Answer a file of questions; the exit code."""
    from nlb_cli.queries import answer_lines, open_lines

    with open_lines(name) as lines:
        failed = answer_lines(lines, defaults, find)
    if failed:
        note(f'nlb: {failed} of the lines could not be answered; their "error" says why')
    return 1 if failed else 0


def _show_hits(question: str, hits: Sequence[Hit], library: str | None) -> None:
    from nlb_cli.output.hits import hit_lines

    if hits:
        write_lines(hit_lines(question, hits, library))
    else:
        write_lines([line("Nothing found.")])


def filter_of(author: str | None, language: str | None, year: str | None) -> Filter | None:
    """The options as one filter; None where none is given."""
    from nlb_retriever.store import And, Condition, Or

    conditions: list[Filter] = []
    if author is not None:
        conditions.append(Condition("author", "text_match_insensitive", author))
    if language is not None:
        regional = Condition("language", "text_match_insensitive", f"{language}-")
        conditions.append(Or((Condition("language", "eq", language), regional)))
    if year is not None:
        first, last = years_of(year)
        conditions += [Condition("year", "gte", first)] if first is not None else []
        conditions += [Condition("year", "lte", last)] if last is not None else []
    return And(tuple(conditions)) if conditions else None
