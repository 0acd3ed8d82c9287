"""AsciiDoc: plain text without its comments and attributes, with the title and author of its header."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from itertools import pairwise
from pathlib import Path

from nlb_retriever.reading.decode import decode
from nlb_retriever.reading.draft import Draft, one_line
from nlb_retriever.reading.formats.plain import read_plain
from nlb_retriever.reading.headings.underlined import FEW, find_marked
from nlb_retriever.reading.limits import Limits
from nlb_retriever.reading.omissions import count_words

_COMMENT = re.compile(r"//(?!/)|/{4,}\s*$")
_BLOCK = re.compile(r"(?:-{4,}|\.{4,}|\+{4,}|/{4,}|```.*)\s*$")
"""The line before and behind code, raw text or a comment; the first may also be the rule below a title."""
_LONGER = 2
"""Characters that a rule may be longer or shorter than its title."""
_HEADER = re.compile(
    r"\s*(?P<line>=[^\S\n]+(?P<title>\S[^\n]*))\n(?P<author>[^\W\d_][^\n:]*(?:\n|\Z))?(?P<rest>(?:\S[^\n]*(?:\n|\Z))*)"
)
_ATTRIBUTE = re.compile(r"^:[^\n]*\n?", re.MULTILINE)
_ADDRESS = re.compile(r"<[^<>\n]*>")
_LONGEST_NAME = 4
"""Words of an author's name."""


def read_adoc(data: bytes, path: Path, limits: Limits) -> Draft:
    """Read a file of AsciiDoc: titles are its lines that begin with "==", or that are underlined.

    Raises:
        NotABook: the file is binary (message without the path).
    """
    text, note = decode(data)
    shown = "".join(_without_comments(text.splitlines(keepends=True)))
    header = _HEADER.match(shown)
    if header:
        about = (header["author"] or "") + _ATTRIBUTE.sub("", header["rest"])
        shown = f"{header['line']}\n\n{about}{shown[header.end() :]}"
    draft = read_plain(shown.encode("utf-8", "surrogatepass"), path, limits)
    if header:
        draft.title = one_line(header["title"])
        names = [one_line(name) for name in _ADDRESS.sub("", header["author"] or "").split(";")]
        if all(0 < len(name.split()) <= _LONGEST_NAME for name in names):
            draft.author = ", ".join(names)
    draft.headings = draft.headings or find_marked(draft.text, FEW)
    draft.warnings += [note] if note else []
    draft.omissions.skip("comments and attributes of AsciiDoc", max(count_words(text) - count_words(shown), 0))
    return draft


def _without_comments(lines: Iterable[str]) -> Iterator[str]:
    block = ""
    """The line that began the block which is open."""
    held: list[str] = []
    """Of a comment: one without an end is text."""
    for before, line in pairwise(["", *lines]):
        is_comment = bool(_COMMENT.match(block or line))
        is_rule = before[:1].isalnum() and abs(len(before) - len(line)) <= _LONGER
        if is_comment:
            held.append(line)
        if block:
            block = "" if line.rstrip() == block else block
        elif _BLOCK.match(line) and not is_rule:
            block = "```" if line.startswith("```") else line.rstrip()
        if not is_comment:
            yield line
        elif not block:
            held.clear()
    yield from held
