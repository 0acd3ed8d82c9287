"""Answers in prose, shown while they are written."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING

from nlb_cli.output.terminal import (
    PROSE_WIDTH,
    block,
    exact,
    is_styled,
    is_terminal,
    note,
    note_spelling,
    to_json,
    width,
    write,
    write_lines,
)
from nlb_retriever.errors import LanguageModelError
from nlb_retriever.records import Answer

if TYPE_CHECKING:
    from nlb_integrations.prose.records import Prose
    from nlb_integrations.prose.writer import StreamItem


def show_prose(
    start: Callable[[], Iterator[StreamItem]],
    quote: Callable[[], Answer],
    library: str | None,
    *,
    as_json: bool,
    indent: int | None = 2,
) -> bool:
    """Show a model's answer; where it fails or writes nothing that is supported, the books' own words and why.

    Args:
        start: starts the model's answer.
        quote: answers in the books' own words.
        library: as the user named it.
        as_json: print one JSON document, at the end.
        indent: its indentation; None for one line.

    Returns:
        Whether the model answered.
    """
    from nlb_cli.output.hits import answer_lines, citation_lines
    from nlb_integrations.prose.records import quoted

    typist = None if as_json else Typist()
    try:
        answer = _show(start(), typist)
        reason = "" if answer.supported or not answer.found else f"nothing that {answer.model} wrote is supported"
    except LanguageModelError as error:
        reason = str(error)
    finally:
        if typist:
            typist.end()
    if reason:
        note(exact(f"nlb: {reason}; this is in the books' own words"))
        own = quote()
        answer, lines = quoted(own), answer_lines(own, library, styled=is_styled())
    else:
        lines = citation_lines(answer, library, styled=is_styled())
    note_spelling(answer.searched)
    if as_json:
        write(f"{to_json(answer.to_json(), indent=indent)}\n")
    else:
        write_lines(lines)
    return not reason


def _show(items: Iterator[StreamItem], typist: Typist | None) -> Prose:
    """Show an answer while it is written."""
    from nlb_integrations.prose.records import Prose, ProseSentence

    for item in items:
        if isinstance(item, Prose):
            return item
        if not typist:
            continue
        if isinstance(item, ProseSentence):
            for number in item.citations:
                typist.write(f" [{number}]", "cyan")
            if not item.supported:
                typist.write(" (unsupported)", "yellow")
        else:
            typist.write(item)
    raise AssertionError("a stream ends with the whole answer")


class Typist:
    """Writes a text to stdout as it comes: word by word, wrapped on a terminal, as it is on a pipe."""

    def __init__(self) -> None:
        self._columns = min(width(), PROSE_WIDTH) if is_terminal() else None
        self._styled = is_styled()
        self._column = 0
        self._space = False
        self._word: list[tuple[str, str]] = []

    def write(self, text: str, style: str = "") -> None:
        """Take the next text, of any origin."""
        for piece in re.findall(r"\n|[^\S\n]+|\S+", block(text)):
            if not piece.isspace():
                self._word.append((piece, style))
                continue
            self._flush()
            if piece == "\n":
                write("\n")
                self._column = 0
            self._space = self._column > 0

    def end(self) -> None:
        """End the text and its line."""
        self._flush()
        if self._column:
            write("\n")
        self._column, self._space = 0, False

    def _flush(self) -> None:
        """Write the word that is complete, on a new row where the old one has no room."""
        if not self._word:
            return
        from rich.cells import cell_len

        length = sum(cell_len(text) for text, _ in self._word)
        gap = int(self._space)
        if self._columns and self._column and self._column + gap + length > self._columns:
            write("\n")
            self._column = gap = 0
        write(" " * gap + "".join(map(self._dressed, self._word)))
        self._column += gap + length
        self._word, self._space = [], False

    def _dressed(self, span: tuple[str, str]) -> str:
        from rich.style import Style

        text, style = span
        return Style.parse(style).render(text) if style and self._styled else text
