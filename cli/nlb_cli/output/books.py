"""Books and their sections for people, and as JSON."""

from __future__ import annotations

import re
import textwrap
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from nlb_cli.output.terminal import (
    Line,
    block,
    exact,
    inline,
    is_styled,
    is_terminal,
    line,
    width,
    write_lines,
    write_rich,
)
from nlb_retriever.errors import counted
from nlb_retriever.records import page_name

if TYPE_CHECKING:
    from rich.console import JustifyMethod
    from rich.tree import Tree

    from nlb_retriever.records import BookRecord, SectionRecord

_PART = re.compile(r"Part \d+ of \d+")
_OPENING = 60
"""Most characters of the first words that are shown of a section that has no title of its own."""
SHORT_ID = 8
"""Digits of a book's id that are shown to people, and enough for commands."""
_TABLE = 40
"""Columns of a terminal from which on books stand in a table."""
_WHOLE_TABLE = 70
"""Columns of a terminal from which on the table of books has room for its counts."""


def book_json(book: BookRecord) -> dict[str, Any]:
    """A book as the keys that programs may rely on."""
    keys = ("title", "author", "language", "year", "source", "sections", "passages", "chars", "tokens")
    return {
        "book_id": book.id,
        **{key: getattr(book, key) for key in keys},
        "description": book.description,
        "warnings": list(book.warnings),
        "work": book.work,
    }


def tree_json(book: BookRecord, sections: Sequence[SectionRecord], *, text: bool) -> dict[str, Any]:
    """A book with these of its sections, and with their text if wanted."""
    tree = {**book_json(book), "sections": [_section_json(section) for section in sections]}
    return {**tree, "text": "".join(section.text for section in sections)} if text else tree


def section_json(book: BookRecord, section: SectionRecord) -> dict[str, Any]:
    """One section with its text."""
    about = {key: value for key, value in book_json(book).items() if key in {"book_id", "title", "author", "source"}}
    return {**about, **_section_json(section), "text": section.text}


def _section_json(section: SectionRecord) -> dict[str, Any]:
    return {
        "number": section.ordinal + 1,
        "section": list(section.path),
        "section_id": section.id,
        "start": section.start,
        "end": section.end,
        "page": section.page,
    }


def write_books(books: Sequence[BookRecord]) -> None:
    """A table on a terminal, or without room for it a paragraph each; on a pipe, columns with nothing cut off."""
    rows = [
        (
            _code(book),
            inline(book.title),
            inline(book.author or ""),
            str(book.year or ""),
            f"{book.sections:,}",
            f"{book.tokens:,}",
        )
        for book in books
    ]
    head = ("ID", "Title", "Author", "Year", "Sections", "Tokens")
    if not is_terminal():
        from rich.cells import cell_len

        widths = [max(map(cell_len, column)) for column in zip(head, *rows, strict=True)]
        write_lines(_columns(row, widths) for row in (head, *rows))
        return
    if width() < _TABLE:
        write_lines(map(_paragraph, rows))
        return
    from rich import box
    from rich.table import Table
    from rich.text import Text

    table = Table(box=box.SIMPLE_HEAD if is_styled() else None, pad_edge=False, header_style="bold", show_edge=False)
    shown = len(head) if width() >= _WHOLE_TABLE else 4
    for title in head[:shown]:
        justify: JustifyMethod = "left" if title in head[:3] else "right"
        table.add_column(title, justify=justify, no_wrap=title not in {"Title", "Author"})
    for row in rows:
        table.add_row(Text(_shorten(row[0]), "dim"), Text(row[1], "bold"), *map(Text, row[2:shown]))
    write_rich(table)


def write_tree(book: BookRecord, sections: Sequence[SectionRecord]) -> None:
    """What a book is, then its sections by number, nested as its parts are."""
    write_lines(_about(book))
    root = _nest(sections)
    digits = len(str(len(sections)))
    if is_styled():
        from rich.tree import Tree

        tree = Tree("", hide_root=True, guide_style="dim")
        _grow(tree, root, digits)
        write_rich(tree)
    else:
        write_lines(_outline(root, digits, 0))


def section_lines(book: BookRecord, sections: Sequence[SectionRecord], count: int) -> Iterator[Line]:
    """Sections to read."""
    author = f", {inline(book.author)}" if book.author else ""
    yield line((inline(book.title), "bold"), author)
    for index, section in enumerate(sections):
        page = f", {page_name(inline(section.page))}" if section.page else ""
        number = (f"(section {section.ordinal + 1} of {count})", "dim")
        if index:
            yield line()
        yield line(" › ".join(map(inline, section.path)), f"{page} ", number)
        yield line()
        for row in block(section.text).strip("\n").split("\n"):
            yield line(row.rstrip())


@dataclass
class _Node:
    """A part or section of a book; parts without text of their own have no number."""

    title: str = ""
    section: SectionRecord | None = None
    children: list[_Node] = field(default_factory=list)


def _nest(sections: Sequence[SectionRecord]) -> _Node:
    root = _Node()
    open_nodes: list[_Node] = []
    for section in sections:
        parts = section.path[:-1]
        depth = 0
        while depth < min(len(open_nodes), len(parts)) and open_nodes[depth].title == parts[depth]:
            depth += 1
        del open_nodes[depth:]
        for node in (*map(_Node, parts[depth:]), _Node(section.path[-1], section)):
            (open_nodes[-1] if open_nodes else root).children.append(node)
            open_nodes.append(node)
    return root


def _grow(tree: Tree, node: _Node, digits: int) -> None:
    from rich.text import Text

    for child in node.children:
        number = (f"{child.section.ordinal + 1:>{digits}}  ", "cyan") if child.section else ""
        page = (f"  {page_name(inline(child.section.page))}", "dim") if child.section and child.section.page else ""
        title = (inline(child.title), "bold" if child.children else "")
        _grow(tree.add(Text.assemble(number, title, (_opening(child), "dim"), page)), child, digits)


def _outline(node: _Node, digits: int, depth: int) -> Iterator[Line]:
    for child in node.children:
        number = str(child.section.ordinal + 1) if child.section else ""
        page = f", {page_name(inline(child.section.page))}" if child.section and child.section.page else ""
        yield line(f"{inline(child.title)}{_opening(child)}{page}", lead=f"{number:>{digits}}  {'  ' * depth}")
        yield from _outline(child, digits, depth + 1)


def _opening(node: _Node) -> str:
    """The first words of a section that has no title of its own; of others nothing."""
    if node.section is None or not _PART.fullmatch(node.title):
        return ""
    return "  " + textwrap.shorten(inline(node.section.text[: 4 * _OPENING]), _OPENING, placeholder=" …")


def _about(book: BookRecord) -> Iterator[Line]:
    author = f", {inline(book.author)}" if book.author else ""
    yield line((inline(book.title), "bold"), author)
    facts = [str(book.year)] if book.year else []
    facts += [inline(book.language)] if book.language else []
    counts = {"section": book.sections, "passage": book.passages, "character": book.chars}
    facts += [counted(count, noun) for noun, count in counts.items()]
    yield line(", ".join(facts))
    if book.description:
        yield line(inline(book.description))
    yield line((f"{_code(book)}  {exact(book.source)}", "dim"))
    for warning in book.warnings:
        yield line((inline(warning[:1].upper() + warning[1:]), "yellow"))
    yield line()


def _code(book: BookRecord) -> str:
    """A book's id; of a work how many files its chapters are."""
    return counted(len(book.parts), "file") if book.parts else book.id


def _shorten(code: str) -> str:
    return code if " " in code else code[:SHORT_ID]


def _paragraph(row: Sequence[str]) -> Line:
    code, title, author, year = row[:4]
    about = "".join(f", {each}" for each in (author, year) if each)
    return line((title, "bold"), about, right=(_shorten(code), "dim"))


def _columns(row: Sequence[str], widths: Sequence[int]) -> Line:
    from rich.cells import set_cell_size

    left = [set_cell_size(text, size) for text, size in zip(row[:3], widths[:3], strict=True)]
    right = [text.rjust(size) for text, size in zip(row[3:], widths[3:], strict=True)]
    return line("  ".join([*left, *right]))
