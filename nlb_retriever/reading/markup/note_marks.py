"""What Pandoc, Obsidian, Logseq and GitHub add to Markdown: footnotes, wikilinks, comments, callouts, properties."""

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
_COMMENT = re.compile(
    r"(?<!\S)%%([^%\n]{1,2000})%%|^%%[ \t]*((?:[\w-]{1,30}:[\w-]{1,30})?[ \t]*\n(?:[^%\n][^\n]*\n|\n){1,200})%%[ \t]*$",
    re.MULTILINE,
)
"""Also a plugin's settings: "%% kanban:settings"."""
_CALLOUT = re.compile(r"^([ \t]{0,3}(?:>[ \t]?)+)\[!(\w[\w-]{0,30})\][+-]?[ \t]*([^\n]*)$", re.MULTILINE)
_MARKED = re.compile(r"(?<![=\w])==(?=[^\s=])([^=\n]{1,1000})(?<!\s)==(?![=\w])")
_RAISED = re.compile(r"(?<=[\w)\]])\^([+\-−–]?\d{1,4}[+\-−–]?|[+\-−–n])\^")
_LOWERED = re.compile(r"(?<=[^\W_])~(\d{1,3})~(?!~)")
_NAME = re.compile(r"[ \t]\^(?=[\d-]*[a-z])([a-z\d-]{2,60})[ \t]*$", re.MULTILINE)
"""Of a block, to link to it."""
_DAY = re.compile(r"\d{4}[-_]\d\d[-_]\d\d|\d{12,14}")
"""A note that is called by a day or a time."""
_OUTLINER = re.compile(
    r"^[ \t]*(?:[-*+][ \t]+)?(?:id|collapsed)::[ \t]+[\w-]{1,40}[ \t]*(?:\n|\Z)"
    r"|^[ \t]*:LOGBOOK:[ \t]*\n(?:[ \t]*CLOCK:[^\n]{0,200}\n){0,1000}[ \t]*:END:[ \t]*(?:\n|\Z)"
    r"|\{\{(?:query|embed|renderer)\b[^{}\n]{0,300}\}\}"
    r"|\(\([0-9a-f]{8}-[0-9a-f-]{27}\)\)",
    re.MULTILINE,
)
"""What Logseq keeps for itself among the blocks."""
_FIELD = re.compile(
    r"^([ \t]*(?:[-*+][ \t]+)?(?:\*\*|__)?\w[\w /-]{0,40}(?:\*\*|__)?):(:[ \t]+\S[^\n]*)$", re.MULTILINE
)
"""Of Dataview or Logseq: "rating:: 5"."""
_TEMPLATE = re.compile(r"\{\{[<%][^{}\n]{0,500}[%>]\}\}|\{%[^{}%\n]{1,300}%\}")
"""Of Hugo and Jekyll, which put something in its place."""
_SHOWN = re.compile(r"\b(?:title|caption|alt)=\"([^\"\n]{1,300})\"")
_INLINE_NOTE = re.compile(r"(?<=[\w.,;:!?)\"'”’*])\^\[((?:[^\[\]]|\[[^\[\]\n]{0,300}\]){1,2000})\]")
_KEY = r"(?:\*\*|__)?[^\W\d_a-z](?:[\w()/'’&.-]| (?! )){0,40}(?::(?:\*\*|__)|(?:\*\*|__)?:)[ \t]+\S"
_RECORD = re.compile(rf"^[ ]{{0,3}}{_KEY}[^\n]*(?<! )(?=\n[ ]{{0,3}}{_KEY})", re.MULTILINE)
"""A line such as "Network: Kanaal24" above another one: each is a line of its own."""


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
        if not any(map(str.isalpha, shown)) and not _DAY.fullmatch(shown):
            return match[0]
        drop("link target", "" if f"{page}{place}" == shown else f"{page} {place}" if match[3] else place)
        return shown

    def callout(match: re.Match[str]) -> str:
        drop("callout kind", match[2])
        return f"{match[1]}{match[3]}\n{match[1]}" if match[3] else match[1]

    def kept(match: re.Match[str]) -> str:
        return code[int(match[1])]

    def template(match: re.Match[str]) -> str:
        shown = " ".join(_SHOWN.findall(match[0]))
        return drop("template", match[0].replace(shown, "") if shown else match[0]) + shown

    def note(match: re.Match[str]) -> str:
        notes.append(match[1])
        return f"[^note-{len(notes)}]"

    notes: list[str] = []
    source = _TEMPLATE.sub(template, _CODE.sub(keep, source))
    source = _INLINE_NOTE.sub(note, source)
    source += "".join(f"\n\n[^note-{number}]: {' '.join(text.split())}" for number, text in enumerate(notes, 1))
    source = _EMBEDDED.sub(lambda m: drop("embedded file name", m[1]), source)
    source = _LINK.sub(link, source)
    source = _COMMENT.sub(lambda m: drop("comment", _KEPT.sub(kept, m[1] or m[2])), source)
    source = _CALLOUT.sub(callout, source)
    source = _OUTLINER.sub(lambda m: drop("Logseq mark", m[0]), source)
    source = _RECORD.sub(r"\g<0>  ", _FIELD.sub(r"\1\2  ", source))
    source = _NAME.sub(lambda m: drop("block name", m[1]), _MARKED.sub(r"\1", source))
    source = _LOWERED.sub(r"\1", _RAISED.sub(r"<sup>\1</sup>", source))
    lines = source.split("\n")
    if labels := {match[1] for line in lines if (match := _NOTE.match(line))}:
        source = _CALL.sub(
            lambda m: f'<a epub:type="noteref">{m[1].removeprefix("note-")}</a>' if m[1] in labels else m[0],
            "\n".join(_notes_apart(lines)),
        )
    return _KEPT.sub(kept, source)


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
            yield from (
                "",
                '<aside epub:type="footnote">',
                "",
                f'<a epub:type="backlink">{match[1].removeprefix("note-")}</a> {match[2]}',
            )
            is_note = True
        else:
            yield _INDENT.sub("", line, count=1) if is_note else line
        is_behind_blank = not line.strip()
    if is_note:
        yield from ("", "</aside>")
