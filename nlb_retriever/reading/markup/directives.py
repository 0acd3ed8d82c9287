"""Blocks that documentation adds to Markdown: directives and roles of MyST, admonitions and tabs of MkDocs, lists of
terms, places of tables of contents."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence

from nlb_retriever.reading.omissions import Omissions, count_words

_FENCE = re.compile(r"(?P<indent>[ \t]*)(?P<marks>`{3,}|~{3,}|:{3,})(?P<info>[^`\n]*)")
_DIRECTIVE = re.compile(r"[ \t]*\{(?P<name>[\w+.:-]{1,60})\}[ \t]*(?P<text>.*)")
_OPTION = re.compile(r"[ \t]*:(?P<name>[\w-]{1,40}):(?:[ \t]+(?P<text>.*))?")
_SHOWN = frozenset({"alt", "caption"})
"""Options that are text."""
_CODE = frozenset(
    "code code-block code-cell sourcecode math mermaid eval-rst parsed-literal raw doctest testcode".split()
)
_WITHOUT_TEXT = frozenset("toctree tableofcontents contents index bibliography".split())
_OF_FILES = _CODE | frozenset("figure image literalinclude include".split())
"""Directives whose arguments are no text."""
_ROLE = re.compile(r"\{[A-Za-z][\w:+.-]{0,40}\}`([^`\n]{1,300})`")
_TARGET = re.compile(r"\s*<[^<>]{1,300}>$")
_LABEL = re.compile(r"\([^\s()]{1,100}\)=[ \t]*|\+{3}(?:[ \t].*)?|%(?:[ \t].*)?")
"""A label, a border of blocks or a comment, on a line of its own."""
_ADMONITION = re.compile(
    r"(?P<indent>[ ]*)(?:!!!|\?\?\?\+?|===[!+]?)[ \t]+(?:[\w-]+[ \t]*)*(?:\"(?P<title>[^\"\n]*)\")?[ \t]*"
)
_INDENT = "    "
_CELL = re.compile(r"[ \t]*(?P<first>\*[ \t]+)?-(?:[ \t]+(?P<text>.*))?")
"""A cell of a list-table; the first of a row has a star."""
_MEANING = re.compile(r" {0,3}:[ \t]+(?P<text>\S.*)")
"""Below a term what it means, or below a table its caption."""
_APART = re.compile(r"(?:\A|(?<=\n\n))((?!\*\s)[^\s:#>|+~-][^\n]{0,80})\n(?=\n {0,3}:[ \t]+\S)")
"""A term with a blank line below."""
_NO_TERM = ("#", "|", ">", "-", "+", "* ")
_CONTENTS = re.compile(r"[ \t]*(?:\[\[?_?TOC_?\]?\]|(?P<kramdown>\{:[ \t]*toc\b[^{}]{0,80}\}))[ \t]*", re.IGNORECASE)
"""Where a program puts a table of contents; kramdown in the place of the item above."""


def without_directives(source: str, omissions: Omissions) -> str:
    """Markdown source with the text of directives and admonitions as that of the page."""
    source = "\n".join(_with_terms(_APART.sub(r"\1", source).split("\n"), omissions))
    if "{list-table}" in source:
        source = "\n".join(_with_list_tables(source.split("\n")))
    if "{" in source and ("```{" in source or ":::{" in source or _ROLE.search(source)):
        lines = _without_directives(source.split("\n"), omissions)
        source = _ROLE.sub(lambda match: _TARGET.sub("", match[1]).lstrip("~!"), "\n".join(lines))
    if "!!! " in source or "??? " in source or "???+ " in source or '=== "' in source:
        source = "\n".join(_without_admonitions(source.split("\n"), omissions))
    return source


def _without_directives(lines: Iterable[str], omissions: Omissions) -> Iterator[str]:
    opened: list[str] = []
    """The marks of the directives that are open."""
    code, skips, options = "", False, False
    """Marks around the code that is open; whether its lines are left out; whether options may come."""
    for line in lines:
        fence = _FENCE.fullmatch(line)
        if options and (option := _OPTION.fullmatch(line)):
            if option["name"] in _SHOWN:
                yield from (option["text"] or "", "")
            else:
                omissions.skip_element("option", count_words(line))
            continue
        if code:
            is_end = fence is not None and fence["marks"].startswith(code) and not fence["info"].strip()
            if options and not is_end and not skips:
                yield code
            options = False
            if not skips:
                yield line
            elif not is_end:
                omissions.skip_element("page list", count_words(line))
            code, skips = ("", False) if is_end else (code, skips)
            continue
        options = False
        if not fence:
            if _LABEL.fullmatch(line):
                omissions.skip_element("label", count_words(line))
            else:
                yield line
        elif directive := _DIRECTIVE.fullmatch(fence["info"]):
            name, options = directive["name"].lower(), True
            text = "" if name in _OF_FILES else directive["text"].strip()
            omissions.skip_element("directive", count_words(fence["info"]) - count_words(text))
            yield from ("", text, "")
            if name in _CODE or name in _WITHOUT_TEXT:
                code, skips = fence["marks"], name in _WITHOUT_TEXT
            else:
                opened.append(fence["marks"])
        elif opened and not fence["info"].strip() and fence["marks"].startswith(opened[-1]):
            opened.pop()
            yield ""
        else:
            code = fence["marks"] if fence["marks"][0] != ":" else ""
            yield line


def _with_list_tables(lines: Iterable[str]) -> Iterator[str]:
    """The lines with tables that are lists of lists as Markdown's."""
    marks = ""
    rows: list[list[str]] = []
    for line in lines:
        fence, cell = _FENCE.fullmatch(line), _CELL.fullmatch(line)
        if not marks:
            yield line
            marks = fence["marks"] if fence and fence["info"].strip().startswith("{list-table}") else ""
        elif fence and fence["marks"].startswith(marks) and not fence["info"].strip():
            yield from (*_table(rows), line)
            marks, rows = "", []
        elif cell and (rows or cell["first"]):
            if cell["first"]:
                rows.append([])
            rows[-1].append((cell["text"] or "").strip())
        elif rows:
            rows[-1][-1] = f"{rows[-1][-1]} {line.strip()}".strip()
        else:
            yield line
    yield from _table(rows)


def _table(rows: Sequence[Sequence[str]]) -> Iterator[str]:
    yield ""
    most = max(map(len, rows), default=0)
    for i, row in enumerate(rows):
        cells = [cell.replace("|", "\\|") for cell in row] + [""] * (most - len(row))
        yield f"| {' | '.join(cells)} |"
        if not i:
            yield "|---" * most + "|"
    yield ""


def _with_terms(lines: Iterable[str], omissions: Omissions) -> Iterator[str]:
    """The lines with what a term means behind the term, and without places of tables of contents."""
    code = ""
    last: str | None = None
    is_term = False
    for line in lines:
        if (fence := _FENCE.fullmatch(line)) and fence["marks"][0] != ":":
            code = "" if code and fence["marks"].startswith(code) else code or fence["marks"]
        if not code and (contents := _CONTENTS.fullmatch(line)):
            of_item = contents["kramdown"] and last
            omissions.skip_element("contents mark", count_words(f"{last if of_item else ''} {line}"))
            last = "" if of_item else last
            continue
        meaning = None if code else _MEANING.fullmatch(line)
        if meaning and last and last.strip() and not last.lstrip().startswith(_NO_TERM):
            if is_term:
                last = f"{last.rstrip()}: {meaning['text']}"
            else:
                yield f"{last.rstrip()}\\"
                last = meaning["text"]
        else:
            if last is not None:
                yield last
            last = meaning["text"] if meaning else line
        is_term = not meaning
    if last is not None:
        yield last


def _without_admonitions(lines: Iterable[str], omissions: Omissions) -> Iterator[str]:
    depth = 0
    """How many admonitions are open, in each other."""
    for whole in lines:
        while depth and whole.strip() and not whole.startswith(_INDENT * depth):
            depth -= 1
        line = whole.removeprefix(_INDENT * depth)
        if (match := _ADMONITION.fullmatch(line)) and not match["indent"]:
            title = match["title"] or ""
            omissions.skip_element("admonition kind", count_words(line) - count_words(title))
            yield from ("", title, "")
            depth += 1
        else:
            yield line
