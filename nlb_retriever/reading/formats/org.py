"""Org files of Emacs: text without marks, drawers and comments; headlines are sections."""

from __future__ import annotations

import re
from collections.abc import Iterable

from nlb_retriever.reading.decode import decode
from nlb_retriever.reading.draft import YEAR, Draft, clean, one_line
from nlb_retriever.reading.limits import Limits
from nlb_retriever.reading.markup.blocks import Blocks
from nlb_retriever.reading.omissions import count_words

_HEADLINE = re.compile(
    r"(?P<stars>\*+)[ \t]+(?P<title>(?=\S)[^ \t]++(?:[ \t]++[^ \t]++)*?)(?P<tags>[ \t]++:[\w@#%:]+:)?[ \t]*"
)
_TODO = re.compile(r"(?:TODO|DONE|NEXT|WAITING|HOLD|CANCELL?ED|STARTED|SOMEDAY)[ \t]+(?=\S)|\[#[A-Z0-9]\][ \t]*")
_COOKIE = re.compile(r"(?<![ \t])[ \t]*\[(?:\d*/\d*|\d*%)\]")
"""How many items of a list are done."""
_KEYWORD = re.compile(r"[ \t]*#\+(?P<name>[\w-]+)(?:\[[^\]\n]*\])?:[ \t]*(?P<value>.*)")
_BEGIN = re.compile(r"[ \t]*#\+begin_(?P<kind>\w+)\b.*", re.IGNORECASE)
_DRAWER = re.compile(r"[ \t]*:(?P<name>[\w-]+):[ \t]*")
_PLANNED = re.compile(r"[ \t]*(?:(?:SCHEDULED|DEADLINE|CLOSED|CLOCK):[ \t]*[<\[][^>\]\n]*[>\]][^A-Z\n]*)+")
_ITEM = re.compile(
    r"(?P<indent>[ \t]*)(?:[-+]|(?<=[ \t])\*|(?P<number>(?:\d{1,4}|[A-Za-z])[.)]))(?:[ \t]+\[@\d+\])?[ \t]+(?P<text>.*)"
)
_TERM = re.compile(r"(?<![ \t])[ \t]+::(?:[ \t]+|$)")
_ROW = re.compile(r"[ \t]*\|(?P<cells>.*)")
_NOTE = re.compile(r"\[fn:(?P<label>[\w-]+)\][ \t]*(?P<text>.*)")
_CALL = re.compile(r"\[fn:(?P<label>[\w-]*)(?::(?P<text>(?:[^\[\]]|\[[^\[\]]*\]){1,2000}))?\]")
_LINK = re.compile(r"\[\[(?P<target>[^\[\]\n]{1,400})\](?:\[(?P<shown>[^\[\]]{1,400})\])?\]")
_LONG_LINK = re.compile(r"\[\[[^\[\]]{1,400}\]\[[^\[\]]{1,400}\]\]")
"""It may go on in the next line."""
_PICTURE = re.compile(r"(?:file:)?[^\s]*\.(?:png|jpe?g|gif|svg|webp|pdf)", re.IGNORECASE)
_SCHEME = re.compile(r"(?:file|id|info|elisp|help|attachment):|^[*#]")
_MARKED = re.compile(r"(?<![^\s\-({'\"—])([*/_+=~])(?=\S)([^\n]{0,400}?\S)\1(?![^\s\-.,;:!?'\")}\[—])")
_STAMP = re.compile(r"[<\[](\d{4}-\d\d-\d\d)(?: [^\W\d]+\.?)?([^<>\[\]\n]{0,40})[>\]]")
_MACRO = re.compile(r"\{\{\{[\w-]+(?:\(([^{}\n]{0,400})\))?\}\}\}")
_SHOWN_KEYWORDS = frozenset({"caption", "subtitle"})
_VERBATIM = frozenset({"src", "example", "export", "comment", "verse"})
_FOOTNOTES = "Footnotes"
"""Headline of the section that Org puts them in."""
_MARKS_IN_MARKS = 3
_BLANKS = re.compile(r"(?<=\S)  +(?=\S)")


def read_org(data: bytes, limits: Limits) -> Draft:
    """Read an Org file.

    Raises:
        NotABook: the file is binary (message without the path).
    """
    source, note = decode(data)
    draft = Draft("", warnings=[note] if note else [])
    reader = _Reader(draft)
    reader.read(_LONG_LINK.sub(lambda match: " ".join(match[0].split()), clean(source)).split("\n"))
    return reader.blocks.fill(draft)


class _Reader:
    """Reads lines one by one; what is open waits for its end."""

    def __init__(self, draft: Draft) -> None:
        self.draft = draft
        self.blocks = Blocks()
        self.end = ""
        """What ends the block or drawer that is open."""
        self.kind = ""
        """Of that; "" for a drawer."""
        self.label: str | None = None
        """Of the footnote that is open."""
        self.note: list[str] = []

    def read(self, lines: Iterable[str]) -> None:
        for line in lines:
            if self.end:
                self._inside(line)
            else:
                self._read(line)
        self._close_note()

    def _inside(self, line: str) -> None:
        if line.strip().lower() == self.end:
            self.end = ""
            self.blocks.end()
        elif self.kind in {"", "comment", "export"}:
            self._skip("drawer" if not self.kind else self.kind, line)
        else:
            line = line.replace(",*", "*", 1) if line.lstrip().startswith(",*") else line
            self.blocks.keep(self._inline(line) if self.kind == "verse" else line)

    def _read(self, line: str) -> None:
        if headline := _HEADLINE.fullmatch(line):
            self._close_note()
            self._headline(headline)
        elif self._is_meta(line):
            pass
        elif note := _NOTE.fullmatch(line):
            self._close_note()
            self.label, self.note = note["label"], [note["text"]]
        elif self.label is not None and line.strip():
            self.note.append(line)
        elif self.label is not None:
            self._close_note()
        elif row := _ROW.fullmatch(line):
            if not row["cells"].startswith("-"):
                cells = filter(None, map(str.strip, row["cells"].split("|")))
                self.blocks.keep("  ".join(map(self._inline, cells)))
        elif item := _ITEM.fullmatch(line):
            text = _COOKIE.sub("", _TERM.sub(": ", item["text"], count=1))
            number = f"{item['number']} " if item["number"] else ""
            self.blocks.item(number + self._inline(text))
        elif line.lstrip().startswith(": "):
            self.blocks.keep(line.lstrip()[2:])
        elif not line.strip() or re.fullmatch(r"[ \t]*-{5,}[ \t]*", line):
            self.blocks.end()
        else:
            self.blocks.add(self._inline(line))

    def _headline(self, match: re.Match[str]) -> None:
        title = _COOKIE.sub("", match["title"])
        while mark := _TODO.match(title):
            self._skip("headline state", mark[0])
            title = title[mark.end() :]
        self._skip("tag", match["tags"] or "")
        if title == _FOOTNOTES:
            self._skip("headline", title)
            return
        self.blocks.heading(len(match["stars"]), self._inline(title))

    def _is_meta(self, line: str) -> bool:
        """Whether a line is none of the text; begins blocks and drawers."""
        if keyword := _KEYWORD.fullmatch(line):
            self._keyword(keyword["name"].lower(), keyword["value"].strip(), line)
            return True
        if begin := _BEGIN.fullmatch(line):
            self.blocks.end()
            kind = begin["kind"].lower()
            if kind in _VERBATIM:
                self.end, self.kind = f"#+end_{kind}", kind
            self._skip("option", line.partition("_")[2].partition(" ")[2])
            return True
        if re.fullmatch(r"[ \t]*#\+\w+.*|[ \t]*#(?:[ \t].*)?", line):
            if line.strip().lower().startswith("#+end_"):
                self.blocks.end()
            else:
                self._skip("comment", line)
            return True
        if (drawer := _DRAWER.fullmatch(line)) and drawer["name"].upper() != "END":
            self._skip("drawer", line)
            self.end, self.kind = ":end:", ""
            return True
        if _PLANNED.fullmatch(line):
            self._skip("task time", line)
            return True
        return False

    def _keyword(self, name: str, value: str, line: str) -> None:
        if name == "title":
            self.draft.title = self.draft.title or one_line(self._inline(value)) or None
        elif name == "author":
            self.draft.author = self.draft.author or one_line(value) or None
        elif name == "language":
            self.draft.language = self.draft.language or value or None
        elif name == "description":
            self.draft.description = self.draft.description or value
        elif name == "date" and (year := YEAR.search(value)):
            self.draft.year = self.draft.year or int(year[0])
        elif name in _SHOWN_KEYWORDS:
            self.blocks.end()
            self.blocks.keep(self._inline(value))
            return
        self._skip("keyword", line)

    def _close_note(self) -> None:
        if self.label is not None:
            self.blocks.note(self.label, self._inline(" ".join(map(str.strip, self.note))))
            self.label = None

    def _inline(self, text: str) -> str:
        """A line without its marks."""
        text = _CALL.sub(self._call, text)
        text = _LINK.sub(self._link, text)
        text = _STAMP.sub(lambda m: f"{m[1]}{m[2]}".strip(), _MACRO.sub(lambda m: m[1] or "", text))
        for _ in range(_MARKS_IN_MARKS):
            text = _MARKED.sub(r"\2", text)
        return _BLANKS.sub(" ", text)

    def _call(self, match: re.Match[str]) -> str:
        if match["text"]:
            self.blocks.note(match["label"], match["text"])
        self._skip("note reference", "" if match["text"] else match["label"])
        return ""

    def _link(self, match: re.Match[str]) -> str:
        target, shown = match["target"], match["shown"]
        if shown or _PICTURE.fullmatch(target):
            self._skip("link target", target)
            return shown or ""
        return _SCHEME.sub("", target)

    def _skip(self, name: str, text: str) -> None:
        self.draft.omissions.skip_element(name, count_words(text))
