"""`nlb ask`: a question to a cited answer."""

from __future__ import annotations

from functools import partial
from typing import Annotated

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
    Reader,
    Year,
    question_of,
    scope_of,
)
from nlb_cli.output.terminal import is_styled, note_spelling, write_json, write_lines


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
    limit: Annotated[
        int | None,
        typer.Option(
            "--limit",
            "-n",
            min=1,
            metavar="N",
            help="How many sentences at most, of the books' own. [default: 5, in about 90 words]",
        ),
    ] = None,
    everything: Annotated[
        bool, typer.Option("--all", help="Quote every passage that says something on it, in reading order.")
    ] = False,
    reader: Reader = None,
    as_json: Json = False,
) -> None:
    """Answer a question with your books' own sentences, or with a language model's, and cite them."""
    from nlb_cli.output.hits import answer_lines
    from nlb_retriever.search.retriever import Retriever

    text = question_of(question)
    if llm and everything:
        raise typer.BadParameter(
            "a language model answers from the best passages alone: leave --all out, or name no model: "
            '--llm "" uses none, nor the one that NLB_LLM names'
        )
    with Retriever(library, reader=reader) as retriever:
        scope = scope_of(
            retriever, book=book, section=section, before=before, author=author, language=language, year=year
        )
        quote = partial(retriever.answer, text, limit=limit, all_passages=everything, **scope)
        if llm:
            from nlb_cli.output.prose import show_prose
            from nlb_integrations.prose import Writer, open_llm

            answered = show_prose(
                lambda: Writer(open_llm(llm), retriever).stream(text, **scope), quote, library, as_json=as_json
            )
            raise typer.Exit(0 if answered else 1)
        answer = quote()
    note_spelling(answer.searched)
    if as_json:
        write_json(answer.to_json())
    else:
        write_lines(answer_lines(answer, library, styled=is_styled()))
