"""`nlb books`, `nlb show` and `nlb remove`: what a library holds."""

from __future__ import annotations

import sys
from typing import Annotated

import typer

from nlb_cli.options import Book, Json, Library
from nlb_cli.output.terminal import exact, inline, line, note, write_exactly, write_json, write_lines
from nlb_retriever.config import locate_library
from nlb_retriever.records import path_of

SectionOption = Annotated[
    str | None,
    typer.Option("--section", "-s", metavar="SECTION", help="Print this section, or part: its number, id or title."),
]


def list_books(library: Library = None, as_json: Json = False) -> None:
    """List the books of a library."""
    from nlb_cli.output import books as output
    from nlb_retriever.store import open_store

    with open_store(locate_library(library)) as store:
        books, works = store.books(), store.works()
    if as_json:
        write_json([output.book_json(book) for book in books])
    elif books:
        output.write_books(works)
    else:
        write_lines([line("No books yet: run `nlb index FOLDER`.")])


def show(
    book: Book,
    library: Library = None,
    text: Annotated[bool, typer.Option("--text", help="Print the text as it is, and nothing else.")] = False,
    section: SectionOption = None,
    as_json: Json = False,
) -> None:
    """Show a book's sections as a tree, a section or part, or the whole text."""
    from nlb_cli.output import books as output
    from nlb_retriever.store import open_store
    from nlb_retriever.store.lookup import find_sections

    with open_store(locate_library(library)) as store:
        record = store.find_book(book)
        sections = store.sections(record.id)
    chosen = [sections[index] for index in find_sections(section, sections, record)] if section is not None else []
    if as_json and len(chosen) == 1:
        write_json(output.section_json(record, chosen[0]))
    elif as_json:
        write_json(output.tree_json(record, chosen or sections, text=text or bool(chosen)))
    elif text:
        write_exactly("".join(each.text for each in chosen or sections))
    elif chosen:
        write_lines(output.section_lines(record, chosen, len(sections)))
    else:
        output.write_tree(record, sections)


def remove(
    books: Annotated[list[str], typer.Argument(metavar="BOOK", help="Their ids, titles, or paths of their files.")],
    library: Library = None,
    yes: Annotated[bool, typer.Option("--yes", "-y", help="Do not ask.")] = False,
    purge: Annotated[
        bool, typer.Option("--purge", help="Delete their text from the library's files now, not some time later.")
    ] = False,
) -> None:
    """Remove books from a library; their files stay where they are.

    No command finds a removed book any more. Its text is deleted from the library's files when these are next
    rearranged, which may be long after; --purge does it at once."""
    from nlb_retriever.reading import is_book_file
    from nlb_retriever.store import open_store

    location = locate_library(library)
    with open_store(location) as store:
        found = [*map(store.find_book, books)]
        records = {book.id: book for each in found for book in each.parts or (each,)}
    titles = {book.id: f"{inline(book.title)} ({book.id})" for book in records.values()}
    if not yes and not _confirmed(list(titles.values())):
        note("nlb: nothing is removed")
        raise typer.Exit(2)
    with open_store(location, writer=True) as store:
        store.remove(*titles)
        if purge:
            store.optimize(purge=True)
    write_lines(line(f"Removed {title}.") for title in titles.values())
    left = [book.source for book in records.values() if book.from_file and is_book_file(path_of(book.source))]
    if left:
        more = f" and {len(left) - 1:,} more" if left[1:] else ""
        note(exact(f"nlb: the file stays, and `nlb index` on its folder adds the book again: {left[0]}{more}"))


def _confirmed(titles: list[str]) -> bool:
    """Ask for confirmation; on a pipe that is not possible."""
    if not sys.stdin.isatty():
        note("nlb: removing needs a confirmation: give --yes where there is no terminal")
        return False
    for title in titles:
        note(f"  {title}")
    try:
        return typer.confirm(f"Remove {'this book' if len(titles) == 1 else 'these books'}?", err=True)
    except typer.Abort as error:  # Ctrl-C or Ctrl-D
        note("")
        if isinstance(error.__context__, KeyboardInterrupt):
            raise error.__context__ from None
        return False
