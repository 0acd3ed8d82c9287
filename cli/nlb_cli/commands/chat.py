"""`nlb chat`: a conversation about the books."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import suppress
from functools import partial

import typer

from nlb_cli.options import Author, Before, InBook, InSection, Json, Language, Library, Model, Year, scope_of
from nlb_cli.output.terminal import exact, is_terminal, note, write
from nlb_retriever.errors import QueryError

_QUIT = {"/quit", "/exit", "/q"}


def chat(
    library: Library = None,
    llm: Model = None,
    book: InBook = None,
    section: InSection = None,
    author: Author = None,
    language: Language = None,
    year: Year = None,
    before: Before = None,
    as_json: Json = False,
) -> None:
    """Talk with a language model about your books: a question may follow up the last. /quit or Ctrl-D ends it.

    Without a terminal, every line of stdin is a question; with --json every answer is a line of JSON.
    """
    if not llm:
        raise QueryError("a chat needs a language model: name one with --llm, such as --llm smollm2")
    from nlb_cli.output.prose import show_prose
    from nlb_integrations.prose import Chat, Writer, open_llm
    from nlb_integrations.prose.chat import make_query
    from nlb_retriever.search.retriever import Retriever

    live = sys.stdin.isatty() and is_terminal() and not as_json
    failed = False
    with Retriever(library) as retriever:
        retriever.store.count("passage")  # a missing library is an error before the first question
        scope = scope_of(
            retriever, book=book, section=section, before=before, author=author, language=language, year=year
        )
        conversation = Chat(Writer(open_llm(llm), retriever), **scope)
        for question in _typed() if live else _lines():
            quote = partial(retriever.answer, make_query(question, conversation.history), **scope)
            try:
                answered = show_prose(
                    partial(conversation.stream, question), quote, library, as_json=as_json, indent=None
                )
            except QueryError as error:
                note(exact(f"nlb: {error}"))
                failed = True
                continue
            except KeyboardInterrupt:
                if not live:
                    raise
                note("nlb: interrupted; Ctrl-D ends the chat")
                continue
            failed |= not answered
            if not as_json:
                write("\n")
    raise typer.Exit(1 if failed and not live else 0)


def _typed() -> Iterator[str]:
    """Questions typed at a prompt."""
    with suppress(ImportError):  # of a Python that was built without it
        import readline  # noqa: F401  (input() then has line editing and a history)

    while True:
        try:
            text = input("> ").strip()
        except EOFError:
            write("\n")
            return
        if text in _QUIT:
            return
        if text:
            yield text


def _lines() -> Iterator[str]:
    """Questions that come on a pipe, one a line."""
    for raw in sys.stdin.buffer:
        text = raw.decode("utf-8", "replace").strip()
        if text in _QUIT:
            return
        if text:
            yield text
