"""reStructuredText, as Sphinx has it: plain text without its marks, options and comments.

Docutils' reStructuredText Markup Specification. docutils itself reports and drops what Sphinx added.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from itertools import pairwise
from pathlib import Path

from nlb_retriever.reading.decode import decode
from nlb_retriever.reading.draft import FRONT, Draft, one_line
from nlb_retriever.reading.formats.plain import read_plain
from nlb_retriever.reading.headings.underlined import FEW, find_underlined
from nlb_retriever.reading.limits import Limits
from nlb_retriever.reading.omissions import count_words

_EXPLICIT = re.compile(r"(?P<indent>[^\S\n]*)\.\.(?:[^\S\n]+(?P<rest>.*))?")
"""A directive, target, footnote or comment."""
_DIRECTIVE = re.compile(r"(?:\|[^|\n]{1,80}\|[^\S\n]+)?(?P<name>[\w+.:-]{1,60}?)::(?:[^\S\n]+(?P<text>.*))?")
_FOOTNOTE = re.compile(r"\[[^\]\n]{1,40}\](?:[^\S\n]|$)")
_OPTION = re.compile(r"[^\S\n]+:[\w-][^:\n]{0,60}:(?:[^\S\n].*)?")
_OF_FILES = frozenset(
    "code code-block sourcecode highlight image figure include literalinclude raw toctree contents index meta"
    " module currentmodule autosummary default-role only tabularcolumns".split()
)
"""Directives whose arguments are no text."""
_WITHOUT_TEXT = frozenset("toctree index meta raw autosummary".split())
"""And whose content is none."""
_ROLE = re.compile(r"(?<![\w`:]):[A-Za-z][\w+:.-]{0,40}:`([^`]{1,300})`")
_QUOTED = re.compile(r"``([^`\n][^`]{0,300}?)``|`([^`\n][^`]{0,300}?)`_{0,2}(?!\w)")
_EMPHASIS = re.compile(r"(?<![\w*\\])(\*{1,2})(?=[^\s*])([^*]{1,300}?)(?<=\S)\1(?![\w*])")
_TARGET = re.compile(r"(?<=\S)\s*<[^<>]{1,300}>$")

_AUTHOR = re.compile(r"^:authors?:[^\S\n]+([^\n$]+)", re.MULTILINE | re.IGNORECASE)
"""In the fields below a document's title."""
_GRID_RULE = re.compile(r"[+|][-=+|\s]*")
"""Above, between and below the rows of a grid table, some of whose cells may go on ("|     +-----+")."""
_RULED = re.compile(r"^(?P<title>\S[^\n]{0,200})\n(?P<mark>[=~^\"'*+#_:.-])(?P=mark){2,}$", re.MULTILINE)
"""A title, which may be shorter than its rule now."""


def read_rst(data: bytes, path: Path, limits: Limits) -> Draft:
    """Read a file of reStructuredText: titles are its underlined lines.

    Raises:
        NotABook: the file is binary (message without the path).
    """
    text, note = decode(data)
    unmarked = "\n".join(_without_marks(_without_grids(text.splitlines())))
    shown = _QUOTED.sub(_show_quoted, _ROLE.sub(_show_role, unmarked))
    shown = _EMPHASIS.sub(r"\2", shown)
    shown = _RULED.sub(lambda m: f"{m['title']}\n{m['mark'] * max(len(m['title']), 3)}", shown)
    draft = read_plain(shown.encode("utf-8", "surrogatepass"), path, limits)
    draft.headings = draft.headings or find_underlined(draft.text, FEW)
    if author := _AUTHOR.search(text, 0, FRONT):
        draft.author = one_line(author[1])
    draft.warnings += [note] if note else []
    words = count_words(text) - count_words(shown)
    draft.omissions.skip("marks, options and comments of reStructuredText", max(words, 0))
    return draft


def _without_grids(lines: Sequence[str]) -> Iterator[str]:
    """The lines with the rows of grid tables apart, and without their outer bars."""
    inside = False
    for before, line in pairwise(["", *lines]):
        row = line.strip()
        rule = ("+-" in row or "+=" in row) and _GRID_RULE.fullmatch(row)
        inside = row.startswith(("|", "+")) if inside else bool(rule) and not before.strip()
        yield line if not inside else "" if rule else line.replace("|", " ", 1).rstrip(" |")


def _without_marks(lines: Iterable[str]) -> Iterator[str]:
    """The lines without comments, targets, options and names of directives."""
    skipped: int | None = None
    """Indent of the comment or directive whose content is skipped."""
    options = False
    for line in lines:
        indent = len(line) - len(line.lstrip())
        if skipped is not None and (not line.strip() or indent > skipped):
            yield ""
            continue
        skipped = None
        if options and _OPTION.fullmatch(line):
            continue
        options = False
        if not (explicit := _EXPLICIT.fullmatch(line)):
            yield line
            continue
        rest = explicit["rest"] or ""
        if directive := _DIRECTIVE.fullmatch(rest):
            options = True
            if directive["name"] in _WITHOUT_TEXT:
                skipped = indent
            text = "" if directive["name"] in _OF_FILES else directive["text"]
            yield f"{explicit['indent']}   {text}" if text else ""
        elif _FOOTNOTE.match(rest):
            yield f"{explicit['indent']}   {rest}"
        else:
            skipped = indent
            yield ""


def _show_role(match: re.Match[str]) -> str:
    text = _TARGET.sub("", match[1])
    return text.rpartition(".")[2] if text.startswith("~") else text.lstrip("!.")


def _show_quoted(match: re.Match[str]) -> str:
    return match[1] or _TARGET.sub("", match[2])
