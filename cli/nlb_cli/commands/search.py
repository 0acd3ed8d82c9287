"""`nlb search`: a question, or a file of them, to ranked hits."""

from __future__ import annotations

from collections.abc import Callable
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
    Limit,
    Reader,
    Year,
    question_of,
    scope_of,
)
from nlb_cli.output.terminal import line, note, note_spelling, write_json, write_lines
from nlb_retriever.records import Level, Mode

if TYPE_CHECKING:
    from nlb_cli.queries import Query
    from nlb_retriever.search.retriever import Retriever
    from nlb_retriever.search.run import SearchResult

Queries = Annotated[
    str | None,
    typer.Option(
        metavar="FILE",
        help="Answer every line of a file (- for stdin) with a line of JSON: a line is a question, or an object "
        'with "question" and, if wanted, "level", "book", "limit".',
    ),
]


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
    mode: Annotated[
        Mode, typer.Option(help="fused: by meaning and words; dense: meaning alone; bm25: words alone.")
    ] = "fused",
    flat: Annotated[bool, typer.Option("--flat", help="Use the scores of that level alone.")] = False,
    neighbours: Annotated[
        int, typer.Option(min=0, metavar="N", help="Show N more passages before and after each.")
    ] = 0,
    rerank: Annotated[bool, typer.Option("--rerank", help="Let the reader put passages or sections in order.")] = False,
    reader: Reader = None,
    limit: Limit = 10,
    queries: Queries = None,
    as_json: Json = False,
) -> None:
    """Find books, sections or passages, the best first."""
    from nlb_cli.output.hits import hit_lines
    from nlb_cli.queries import Query, found_json
    from nlb_retriever.search.retriever import Retriever

    if (question is None) == (queries is None):
        raise typer.BadParameter("give a question, or a file of them with --queries", param_hint="QUESTION")
    query = Query(question=question_of(question or ""), level=level, book=book, limit=limit)
    with Retriever(library, reader=reader) as retriever:
        scope = scope_of(
            retriever, book=book, section=section, before=before, author=author, language=language, year=year
        )
        options = {
            **scope,
            "mode": mode,
            "strategy": "flat" if flat else "coarse-to-fine",
            "neighbours": neighbours,
            "rerank": rerank,
        }
        find = partial(_find, retriever, options)
        if queries is not None:
            raise typer.Exit(_answer_file(queries, query, find))
        result = find(query)
    note_spelling(result.searched)
    if as_json:
        write_json({"question": query.question, "level": level, **found_json(result)})
    elif result.hits:
        write_lines(hit_lines(result.request.query, result.hits, library, whole=neighbours > 0))
    else:
        write_lines([line("Nothing found.")])


def _find(retriever: Retriever, options: dict[str, Any], query: Query) -> SearchResult:
    from nlb_retriever.search.request import SearchRequest

    own = {"query": query.question, "level": query.level, "book": query.book, "limit": query.limit}
    return retriever.run(SearchRequest(**{**options, **own}))


def _answer_file(name: str, defaults: Query, find: Callable[[Query], SearchResult]) -> int:
    """Answer a file of questions; the exit code."""
    from nlb_cli.queries import answer_lines, open_lines

    with open_lines(name) as lines:
        failed = answer_lines(lines, defaults, find)
    if failed:
        note(f'nlb: {failed} of the lines could not be answered; their "error" says why')
    return 1 if failed else 0
