"""AsciiDoc: text without marks and comments, with the title and author of its header; footnotes at the end."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from itertools import pairwise

from nlb_retriever.reading.decode import decode
from nlb_retriever.reading.draft import YEAR, Draft, clean, one_line
from nlb_retriever.reading.headings.outline import find_headings
from nlb_retriever.reading.limits import Limits
from nlb_retriever.reading.markup.adoc_inline import Inline
from nlb_retriever.reading.markup.blocks import Blocks
from nlb_retriever.reading.omissions import count_missing

_COMMENT = re.compile(r"//(?!/)|/{4,}\s*$")
_BLOCK = re.compile(r"(?:-{4,}|\.{4,}|\+{4,}|/{4,}|```.*)\s*$")
"""The line before and behind code, raw text or a comment; the first may also be the rule below a title."""
_LONGER = 2
"""Characters that a rule may be longer or shorter than its title."""
_UNDERLINES = "=-~^+"
_TITLE = re.compile(
    r"(?P<marks>={1,6}|#{1,6})[^\S\n]+(?P<title>\S++(?:[^\S\n]++\S++)*?)(?:[^\S\n]++(?P=marks))?[^\S\n]*"
)
_ATTRIBUTE = re.compile(r":!?(?P<name>\w[\w-]*)!?:(?:[^\S\n]+(?P<value>.*))?")
_ADDRESS = re.compile(r"<[^<>\n]*>")
_NAME = re.compile(r"[^\W\d_][^\n:\[\]]*")
_REVISION = re.compile(r"v?\d[\w.]{0,30}(?:,.*)?")
_LONGEST_NAME = 4
"""Words of an author's name."""
_AROUND = re.compile(r"(?:={4,}|\*{4,}|_{4,}|--|\+)[^\S\n]*")
"""Around a block, or between an item and what belongs to it."""
_TABLE = re.compile(r"[|,:!]={3,}[^\S\n]*")
_STYLE = re.compile(r"\[(?P<style>[^\[\]\n]*(?:\[[^\[\]\n]*\][^\[\]\n]*)*|\[[^\[\]\n]*\])\][^\S\n]*")
_DIRECTIVE = re.compile(
    r"(?P<name>ifdef|ifndef|ifeval|endif|include|toc)::(?P<target>[^\[\n]*)\[(?P<text>[^\n]*)\][^\S\n]*"
)
_CAPTION = re.compile(r"\.(?P<title>[^\s.].*)")
_ITEM = re.compile(r"[^\S\n]*(?:(?P<marks>\*{1,6}|-|\.{1,6}|<(?:\d+|\.)>)|(?P<number>\d{1,4}\.))[^\S\n]+(?P<text>\S.*)")
_TERM = re.compile(r"[^\S\n]*(?P<term>\S.*?)(?:::{1,3}|;;)(?:[^\S\n]+(?P<text>.*))?")
_CELL = re.compile(r"(?:(?:^|(?<=\s))(?:(\d{0,4})(?:\.\d{1,4})?[+*])?[<^>]?(?:\.[<^>])?[adehlmsv]?)?(?<!\\)\|")
"""Where a cell begins, and how many columns it takes."""
_MOST_COLUMNS = 100
_COLUMNS = re.compile(r"cols=(?:\"(?P<quoted>[^\"]*)\"|(?P<plain>[^,\]]*))")
_TIMES = re.compile(r"(\d{1,4})\*")
_BREAK = re.compile(r"(?:'{3,}|<{3,}|-{3}|\*{3})[^\S\n]*")
_QUOTED = re.compile(r"(?:quote|verse)[^,]*,(?P<by>.*)")


def read_adoc(data: bytes, limits: Limits) -> Draft:
    """Read a file of AsciiDoc: titles are its lines that begin with "==", or that are underlined.

    Raises:
        NotABook: the file is binary (message without the path).
    """
    text, note = decode(data)
    text = clean(text)
    draft = Draft("", warnings=[note] if note else [])
    reader = _Reader(draft)
    reader.read(_titles_marked([*_without_comments(text.split("\n"))]))
    blocks = reader.blocks
    blocks.notes = reader.inline.notes
    blocks.fill(draft)
    draft.headings = draft.headings or find_headings(draft.text)
    draft.omissions.skip("header, comments and marks of AsciiDoc", count_missing(text, draft.text))
    return draft


def _without_comments(lines: Iterable[str]) -> Iterator[str]:
    block = ""
    """The line that began the block which is open."""
    held: list[str] = []
    """Of a comment: one without an end is text."""
    for before, line in pairwise(["", *lines]):
        is_comment = bool(_COMMENT.match(block or line))
        if is_comment:
            held.append(line)
        if block:
            block = "" if line.rstrip() == block else block
        elif _BLOCK.match(line) and not _is_rule(before, line):
            block = "```" if line.startswith("```") else line.rstrip()
        if not is_comment:
            yield line
        elif not block:
            held.clear()
    yield from held


def _is_rule(before: str, line: str) -> bool:
    """Whether a line of marks is the rule below a title."""
    rule = line.rstrip()
    return before[:1].isalnum() and abs(len(before) - len(rule)) <= _LONGER and len(rule) > _LONGER


def _titles_marked(lines: Sequence[str]) -> Iterator[str]:
    """The lines with "== Title" for a title with a rule below."""
    held: str | None = None
    before, block = "", ""
    for line in lines:
        rule = line.rstrip()
        if block:
            block = "" if rule == block else block
        elif held is not None and not before.strip() and _is_rule(held, line) and rule == rule[0] * len(rule):
            if rule[0] in _UNDERLINES:
                yield f"{'=' * (_UNDERLINES.index(rule[0]) + 1)} {held}"
                before, held = held, None
                continue
        elif _BLOCK.match(line):
            block = "```" if line.startswith("```") else rule
        if held is not None:
            yield held
            before = held
        held = line
    if held is not None:
        yield held


class _Reader:
    """Reads lines one by one; what is open waits for its end."""

    def __init__(self, draft: Draft) -> None:
        self.draft = draft
        self.blocks = Blocks()
        self.inline = Inline()
        self.end = ""
        """The line that ends the code which is open."""
        self.style = ""
        """In brackets above the block that comes."""
        self.is_verse = False
        self.awaits = False
        """Whether a term has no text yet."""
        self.columns = 0
        """Of the table that is open; 0 where its first row has not said how many."""
        self.cells: list[str] | None = None
        self.header = 1
        """2 while the line below the title may name the authors."""

    def read(self, lines: Iterable[str]) -> None:
        for line in lines:
            if self.cells is not None:
                self._in_table(line)
            elif self.end:
                self._in_code(line)
            elif not self._is_meta(line) and not self._is_header(line):
                self._read(line)
                self.style = "" if line.strip() else self.style
        self._end_table()

    def _in_code(self, line: str) -> None:
        if line.rstrip() == self.end:
            self.end = ""
            self.blocks.end()
        else:
            self.blocks.keep(line)

    def _is_header(self, line: str) -> bool:
        """Whether a line names the authors, right below the document's title."""
        was, self.header = self.header, 0
        if was == 2 and _NAME.fullmatch(line):
            names = [one_line(name) for name in _ADDRESS.sub("", line).split(";")]
            if all(0 < len(name.split()) <= _LONGEST_NAME for name in names):
                self.draft.author = self.draft.author or ", ".join(names)
                self.header = 3
                return True
        if was == 3 and _REVISION.fullmatch(line):
            year = YEAR.search(line)
            self.draft.year = int(year[0]) if year else None
            return True
        return False

    def _is_meta(self, line: str) -> bool:
        """Whether a line is none of the text."""
        if attribute := _ATTRIBUTE.fullmatch(line):
            name, value = attribute["name"].lower(), (attribute["value"] or "").strip()
            self.inline.attributes.setdefault(name, value)
            if name == "author":
                self.draft.author = self.draft.author or one_line(value) or None
            elif name == "description":
                self.draft.description = self.draft.description or value
            elif name == "lang":
                self.draft.language = self.draft.language or value or None
            return True
        if style := _STYLE.fullmatch(line):
            self.style = style["style"]
            self.blocks.end()
            if quoted := _QUOTED.match(self.style):
                self.blocks.keep(self.inline.show(quoted["by"].strip()))
            self.is_verse = self.style.startswith("verse")
            return True
        if directive := _DIRECTIVE.fullmatch(line):
            if directive["name"] in {"ifdef", "ifndef"} and directive["text"]:
                self.blocks.add(self.inline.show(directive["text"]))
            elif directive["name"] == "include":
                self.draft.omissions.lose(one_line(directive["target"]), "included files are read by themselves")
            return True
        if _BREAK.fullmatch(line):
            self.blocks.end()
            return True
        return False

    def _read(self, line: str) -> None:
        if title := _TITLE.fullmatch(line):
            self._title(title)
        elif _BLOCK.match(line):
            self.blocks.end()
            self.end = "```" if line.startswith("```") else line.rstrip()
        elif _TABLE.fullmatch(line):
            self.blocks.end()
            self.cells, self.columns = [], _columns(self.style)
        elif _AROUND.fullmatch(line):
            self.blocks.end()
            self.awaits = False
        elif item := _ITEM.fullmatch(line):
            marks = item["marks"] or item["number"]
            text, self.awaits = self.inline.show(item["text"]), False
            kept = f"{marks} " if marks[0] == "<" or item["number"] else ""
            self.blocks.item(f"{kept}{text}", len(marks), counted=marks[0] == "." and not item["number"])
        elif caption := _CAPTION.fullmatch(line):
            self.blocks.end()
            self.blocks.keep(self.inline.show(caption["title"]))
        elif line.startswith("image::"):
            self.blocks.end()
            self.blocks.keep(self.inline.show(line))
            self.blocks.end()
        elif term := _TERM.fullmatch(line):
            shown = self.inline.show(term["term"])
            self.blocks.item(f"{shown}{'' if shown.endswith('?') else ':'} {self.inline.show(term['text'] or '')}")
            self.awaits = not term["text"]
        elif not line.strip():
            if not self.awaits:
                self.blocks.end()
            self.is_verse = False
        elif self.is_verse or (line[:1].isspace() and not self.blocks.is_open):
            self.blocks.keep(self.inline.show(line) if self.is_verse else line)
        else:
            self._text(line)

    def _text(self, line: str) -> None:
        self.awaits = False
        shown = self.inline.show(line.removesuffix(" +"))
        self.blocks.add(shown)
        if line.endswith(" +"):
            self.blocks.is_open = False

    def _title(self, match: re.Match[str]) -> None:
        level = len(match["marks"]) - 1
        shown = self.inline.show(match["title"])
        if not level and not self.blocks.headings and not self.draft.title:
            self.draft.title = one_line(shown)
            self.header = 2
        if self.style.startswith(("discrete", "float")):
            self.blocks.end()
            self.blocks.keep(shown)
            self.blocks.end()
        else:
            self.blocks.heading(level, shown)

    def _in_table(self, line: str) -> None:
        assert self.cells is not None
        if _TABLE.fullmatch(line):
            self._end_table()
            return
        if "|" not in line:
            if self.cells and line.strip():
                self.cells[-1] += f" {line.strip()}"
            elif line.strip():  # of comma-separated values
                self.blocks.keep(self.inline.show(line))
            return
        first, *others = _CELL.split(line)
        if first.strip() and self.cells:
            self.cells[-1] += f" {first.strip()}"
        for times, cell in zip(others[::2], others[1::2], strict=True):
            self.cells += [cell.strip(), *[""] * (min(int(times or 1), _MOST_COLUMNS) - 1)]
        self.columns = self.columns or len(others) // 2

    def _end_table(self) -> None:
        if self.cells is None:
            return
        cells = [self.inline.show(cell.replace("\\|", "|")) for cell in self.cells]
        width = max(self.columns, 1)
        for start in range(0, len(cells), width):
            self.blocks.keep("  ".join(filter(None, cells[start : start + width])))
        self.blocks.end()
        self.cells = None


def _columns(style: str) -> int:
    """How many columns the attributes of a table name."""
    match = _COLUMNS.search(style)
    if not match:
        return 0
    parts = re.split(r"[,;]", (match["quoted"] or match["plain"] or "").strip())
    return sum(min(int(times[1]), _MOST_COLUMNS) if (times := _TIMES.match(part.strip())) else 1 for part in parts)
