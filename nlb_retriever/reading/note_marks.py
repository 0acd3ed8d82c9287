"""What Pandoc, Obsidian and GitHub add to Markdown: footnotes, wikilinks, comments, callouts, marked words."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from nlb_retriever.reading.omissions import Omissions, count_words

_CODE = re.compile(
    r"^ {0,3}(?P<fence>`{3,}|~{3,})[^\n]*(?:\n.*?(?:^ {0,3}(?P=fence)[`~]*[ \t]*$|\Z)|\Z)"
    r"|(?<![`\\])(`{1,3})(?!`)[^`\n]+\2(?!`)",
    re.MULTILINE | re.DOTALL,
)
_KEPT = re.compile("\x02(\\d+)\x03")
"""In place of code: cleaned text holds neither character."""
_NOTE = re.compile(r" {0,3}\[\^([^\[\]\s]{1,60})\]:[ \t]*(.*)")
_CALL = re.compile(r"(?<!\\)\[\^([^\[\]\s]{1,60})\]")
_INDENT = re.compile(r" {4}|\t")
_EMBEDDED = re.compile(r"!\[\[([^\[\]\n]{1,300})\]\]")
_LINK = re.compile(
    r"(?<![!\[\\])\[\[(?!\s)([^\[\]\n|#]{0,200})(#[^\[\]\n|]{1,200})?(?:\|([^\[\]\n]{1,200}))?(?<!\s)\]\](?![(\[])"
)
_COMMENT = re.compile(r"(?<!\S)%%([^%\n]{1,2000})%%|^%%[ \t]*\n((?:[^%\n][^\n]*\n|\n){1,200})%%[ \t]*$", re.MULTILINE)
_CALLOUT = re.compile(r"^([ \t]{0,3}(?:>[ \t]?)+)\[!(\w[\w-]{0,30})\][+-]?[ \t]*", re.MULTILINE)
_MARKED = re.compile(r"(?<![=\w])==(?=[^\s=])([^=\n]{1,1000})(?<!\s)==(?![=\w])")
_NAME = re.compile(r"[ \t]\^(?=[\d-]*[a-z])([a-z\d-]{2,60})[ \t]*$", re.MULTILINE)
"""Of a block, to link to it."""


def without_note_marks(source: str, omissions: Omissions) -> str:
    """Markdown source with these marks as HTML or gone; what is left out is noted."""
    code: list[str] = []

    def keep(match: re.Match[str]) -> str:
        code.append(match[0])
        return f"\x02{len(code) - 1}\x03"

    def drop(name: str, words: str) -> str:
        omissions.skip_element(name, count_words(words))
        return ""

    def link(match: re.Match[str]) -> str:
        page, place, shown = match[1], (match[2] or "").strip("#"), match[3]
        shown = shown or page or place
        if not any(map(str.isalpha, shown)):
            return match[0]
        drop("link target", "" if f"{page}{place}" == shown else f"{page} {place}" if match[3] else place)
        return shown

    source = _CODE.sub(keep, source)
    source = _EMBEDDED.sub(lambda m: drop("embedded file name", m[1]), source)
    source = _LINK.sub(link, source)
    source = _COMMENT.sub(lambda m: drop("comment", m[1] or m[2]), source)
    source = _CALLOUT.sub(lambda m: f"{m[1]}{drop('callout kind', m[2])}", source)
    source = _NAME.sub(lambda m: drop("block name", m[1]), _MARKED.sub(r"\1", source))
    lines = source.split("\n")
    if labels := {match[1] for line in lines if (match := _NOTE.match(line))}:
        source = _CALL.sub(
            lambda m: f'<a epub:type="noteref">{m[1]}</a>' if m[1] in labels else m[0], "\n".join(_notes_apart(lines))
        )
    return _KEPT.sub(lambda match: code[int(match[1])], source)


def _notes_apart(lines: Sequence[str]) -> Iterator[str]:
    """Lines in which a footnote, with the indented ones below it, is an element of HTML."""
    is_note = is_behind_blank = False
    for line in lines:
        match = _NOTE.match(line)
        is_apart = line[:1] == "#" or (line.strip() and is_behind_blank and not _INDENT.match(line))
        if is_note and (match or is_apart):
            yield from ("", "</aside>", "")
            is_note = False
        if match:
            yield from ("", '<aside epub:type="footnote">', "", f'<a epub:type="backlink">{match[1]}</a> {match[2]}')
            is_note = True
        else:
            yield _INDENT.sub("", line, count=1) if is_note else line
        is_behind_blank = not line.strip()
    if is_note:
        yield from ("", "</aside>")
