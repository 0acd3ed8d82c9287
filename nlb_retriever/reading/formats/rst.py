"""reStructuredText, as Sphinx has it: plain text without its marks, options and comments.

Docutils' reStructuredText Markup Specification. docutils itself reports and drops what Sphinx added.
"""

from __future__ import annotations

import csv
import re
from collections.abc import Iterable, Iterator, Sequence
from itertools import dropwhile, pairwise

from nlb_retriever.reading.decode import decode
from nlb_retriever.reading.draft import FRONT, Draft, one_line
from nlb_retriever.reading.formats.plain import read_plain
from nlb_retriever.reading.headings.underlined import FEW, find_underlined
from nlb_retriever.reading.limits import Limits
from nlb_retriever.reading.omissions import count_missing

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
_SHOWN_OPTION = re.compile(r"[^\S\n]+:(?:alt|caption):[^\S\n]+(?P<text>.+)")
_CHANGES = {
    "versionadded": "New in version",
    "versionchanged": "Changed in version",
    "deprecated": "Deprecated since version",
    "versionremoved": "Removed in version",
}
_FILE_FIELD = re.compile(r":[\w-]+:.*")
"""Above the title, for Sphinx: ":orphan:"."""
_FIELD = re.compile(r"^(?P<indent>[^\S\n]*):(?P<name>[^\W\d_][^:`\n]{0,80}):(?=[^\S\n]|$)", re.MULTILINE)
_SUBSTITUTION = re.compile(
    r"^[^\S\n]*\.\.[^\S\n]+\|(?P<name>[^|\n]{1,80})\|[^\S\n]+(?:(?:replace|unicode)::[^\S\n]*(?P<text>\S[^\n]*)"
    r"|image::[^\n]*(?:\n[^\S\n]+:(?:alt:[^\S\n]*(?P<alt>[^\n]*)|[^\n]*)){0,8})$",
    re.MULTILINE,
)
_SUBSTITUTED = re.compile(r"\|(?P<name>[^\s|][^|\n]{0,79})\|(?:__?(?!\w))?")
_TARGET_NAME = re.compile(r"^[^\S\n]*\.\.[^\S\n]+_(?P<name>[^:`\n]{1,80}):", re.MULTILINE)
_REFERENCE = re.compile(r"(?<![\w`:|])(?P<name>[^\W_][\w.-]{0,60}?)(?P<marks>__?)(?!\w)")
_NOTE_CALL = re.compile(r"[^\S\n]?\[(?:\d{1,3}|[#*][\w-]{0,40})\]_(?!\w)")
_CITATION = re.compile(r"(\[[^\W\d_][\w.-]{0,40}\])_(?!\w)")
_ESCAPED = re.compile(r"\\(?:[^\S\n]|(?=[*`|_\[\\]))")
_TABLE_RULE = re.compile(r"[^\S\n]*=+(?:[^\S\n]+=+)+[^\S\n]*")
_LITERAL_NEXT = re.compile(r"(?<!:)::[^\S\n]*$", re.MULTILINE)
_TABLE = re.compile(r"(?P<indent>[^\S\n]*)\.\.[^\S\n]+(?P<kind>list-table|csv-table)::.*")
_HEADER = re.compile(r"[^\S\n]+:header:[^\S\n]*(?P<text>.+)")
_BETWEEN = "  "
"""Between the cells of a row."""
_CELL = re.compile(r"[^\S\n]+(?P<first>\*[^\S\n]+)?-(?:[^\S\n]+(?P<text>.*))?")
"""A cell of a list-table; the first of a row has a star."""
_ROLE = re.compile(r"(?<![\w`:]):[A-Za-z][\w+:.-]{0,40}:`([^`]{1,300})`")
_QUOTED = re.compile(r"``([^`\n][^`]{0,300}?)``|`([^`\n][^`]{0,300}?)`_{0,2}(?!\w)")
_EMPHASIS = re.compile(r"(?<![\w*\\])(\*{1,2})(?=[^\s*])([^*]{1,300}?)(?<=\S)\1(?![\w*])")
_COUNTED = re.compile(r"(?P<indent>[^\S\n]*)(?P<number>#|\d{1,4})\.[^\S\n]+(?P<text>\S.*)")
"""An item of a list that Sphinx counts ("#. "), or one with its number."""
_OF_BLOCK = re.compile(r"(?P<indent>[^\S\n]*)\|(?:[^\S\n](?P<text>.*))?")
"""A line of an address or verse."""
_INCLUDE = re.compile(r"[^\S\n]*\.\.[^\S\n]+(?:literal)?include::[^\S\n]+(?P<text>\S.*)")
_TARGET = re.compile(r"(?<=\S)\s*<[^<>]{1,300}>$")

_AUTHOR = re.compile(r"^:authors?:[^\S\n]+([^\n$]+)", re.MULTILINE | re.IGNORECASE)
"""In the fields below a document's title."""
_GRID_RULE = re.compile(r"[+|][-=+|\s]*")
"""Above, between and below the rows of a grid table, some of whose cells may go on ("|     +-----+")."""
_RULED = re.compile(r"^(?P<title>\S[^\n]{0,200})\n(?P<mark>[=~^\"'*+#_:.-])(?P=mark){2,}$", re.MULTILINE)
"""A title, which may be shorter than its rule now."""


def read_rst(data: bytes, limits: Limits) -> Draft:
    """Read a file of reStructuredText: titles are its underlined lines.

    Raises:
        NotABook: the file is binary (message without the path).
    """
    text, note = decode(data)
    lines = [line.expandtabs() for line in text.splitlines()]
    lines = [*dropwhile(lambda line: not line.strip() or _FILE_FIELD.fullmatch(line), lines)]
    included = [match["text"] for match in map(_INCLUDE.fullmatch, lines) if match]
    unmarked = "\n".join(_counted(_without_marks(_without_grids([*_with_rows(lines)]))))
    unmarked = _substituted(unmarked, text)
    shown = _QUOTED.sub(_show_quoted, _ROLE.sub(_show_role, unmarked))
    shown = _EMPHASIS.sub(r"\2", shown)
    shown = _LITERAL_NEXT.sub(":", _FIELD.sub(r"\g<indent>\g<name>:", shown))
    shown = _without_references(shown, text)
    shown = _RULED.sub(lambda m: f"{m['title']}\n{m['mark'] * max(len(m['title']), 3)}", shown)
    draft = read_plain(shown.encode("utf-8", "surrogatepass"), limits)
    draft.is_marked = True
    draft.headings = draft.headings or find_underlined(draft.text, FEW)
    if author := _AUTHOR.search(text, 0, FRONT):
        draft.author = one_line(author[1])
    draft.warnings += [note] if note else []
    for name in included:
        draft.omissions.lose(one_line(name), "included files are read by themselves")
    draft.omissions.skip("marks, options and comments of reStructuredText", count_missing(text, shown))
    return draft


def _substituted(text: str, source: str) -> str:
    """A text with what its substitutions stand for."""
    known = {match["name"]: match["text"] or match["alt"] or "" for match in _SUBSTITUTION.finditer(source)}
    return _SUBSTITUTED.sub(lambda m: known.get(m["name"], m[0]), text) if known else text


def _without_references(text: str, source: str) -> str:
    """A text without the marks of references and escapes."""
    names = {match["name"].casefold() for match in _TARGET_NAME.finditer(source)}

    def show(match: re.Match[str]) -> str:
        is_one = match["marks"] == "__" or match["name"].casefold() in names
        return match["name"] if is_one else match[0]

    text = _CITATION.sub(r"\1", _NOTE_CALL.sub("", text))
    return _ESCAPED.sub("", _REFERENCE.sub(show, text) if names or "__" in text else text)


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
            if shown := _SHOWN_OPTION.fullmatch(line):
                yield f"   {shown['text']}"
            continue
        options = False
        if line.startswith("__ ") or _TABLE_RULE.fullmatch(line):
            yield ""
            continue
        if not (explicit := _EXPLICIT.fullmatch(line)):
            yield line
            continue
        rest = explicit["rest"] or ""
        if rest.startswith("|"):  # a substitution
            skipped = indent
            yield ""
        elif directive := _DIRECTIVE.fullmatch(rest):
            options = True
            if directive["name"] in _WITHOUT_TEXT:
                skipped = indent
            text = "" if directive["name"] in _OF_FILES else directive["text"]
            if directive["name"] in _CHANGES:
                text = f"{_CHANGES[directive['name']]} {text or ''}".strip() + ":"
            yield f"{explicit['indent']}   {text}" if text else ""
        elif _FOOTNOTE.match(rest):
            yield f"{explicit['indent']}   {rest}"
        else:
            skipped = indent
            yield ""


def _counted(lines: Iterable[str]) -> Iterator[str]:
    """The lines with the numbers of items that Sphinx counts, and those of line blocks without their bars."""
    counts: dict[int, int] = {}
    """The last number of the list at each indent."""
    for line in lines:
        item, shown = _COUNTED.fullmatch(line), line
        indent = len(line) - len(line.lstrip())
        if item:
            counts[indent] = counts.get(indent, 0) + 1 if item["number"] == "#" else int(item["number"])
            shown = f"{item['indent']}{counts[indent]}. {item['text']}"
        elif verse := _OF_BLOCK.fullmatch(line):
            shown = f"{verse['indent']}{(verse['text'] or '').rstrip()}"
        if line.strip():
            counts = {at: count for at, count in counts.items() if at < indent or (item and at == indent)}
        yield shown


def _with_rows(lines: Iterable[str]) -> Iterator[str]:
    """The lines with each row of a list-table and csv-table on one."""
    kind, margin, header = "", "", ""
    row: list[str] = []
    for line in lines:
        is_outside = line.strip() and len(line) - len(line.lstrip()) <= len(margin)
        cell = _CELL.fullmatch(line) if kind == "list-table" else None
        if row and (is_outside or (cell and cell["first"])):
            yield f"{margin}   {_BETWEEN.join(row)}"
            row = []
            if is_outside:
                yield ""
        if is_outside:
            table = _TABLE.fullmatch(line)
            kind, margin = (table["kind"], table["indent"]) if table else ("", "")
            yield line
        elif cell and (row or cell["first"]):
            row.append((cell["text"] or "").strip())
        elif row:
            row[-1] = f"{row[-1]} {line.strip()}".strip()
        elif kind == "csv-table" and line.strip() and not _OPTION.fullmatch(line):
            if header:
                yield from ("", f"{margin}   {header}")
            header = ""
            yield f"{margin}   {_of_csv(line)}"
        elif kind == "csv-table" and (option := _HEADER.fullmatch(line)):
            header = _of_csv(option["text"])
        else:
            yield line
    if row:
        yield f"{margin}   {_BETWEEN.join(row)}"


def _of_csv(line: str) -> str:
    """The cells of a line of comma-separated values."""
    try:
        return _BETWEEN.join(cell.strip() for row in csv.reader([line], skipinitialspace=True) for cell in row)
    except csv.Error:  # a cell of more than 131,072 characters
        return line.strip()


def _show_role(match: re.Match[str]) -> str:
    text = _TARGET.sub("", match[1])
    return text.rpartition(".")[2] if text.startswith("~") else text.lstrip("!.")


def _show_quoted(match: re.Match[str]) -> str:
    return match[1] or _TARGET.sub("", match[2])
