"""RTF: paragraphs by striprtf; outline levels become sections, footnotes an end section.

Rich Text Format Specification, version 1.9.1. What striprtf leaves out or cannot tell is marked in the source before:
each mark is a character of Unicode's private use area.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable

from nlb_retriever.reading.draft import INVISIBLE, Draft, Heading, clean, one_line
from nlb_retriever.reading.headings.outline import add_unmarked
from nlb_retriever.reading.limits import Limits
from nlb_retriever.reading.omissions import count_words
from nlb_retriever.reading.pages.title_page import add_title_page, is_given

_HEX = re.compile(r"[0-9a-fA-F\r\n]{200,}")
"""Of a picture."""
_BAD_CHARACTER = re.compile(r"\\u-?\d{6,}|\\uc(?!\d)")
_OUTLINE = re.compile(r"\\outlinelevel([0-8])(?!\d) ?")
_STYLE = re.compile(r"\{\\s(\d+)(?!\d)(?![^{}]*\\outlinelevel)[^{}]*?\bheading ([1-9]);\}", re.IGNORECASE)
"""Of headings, as LibreOffice writes them: with no outline level."""
_STYLED = re.compile(r"\\pard(?:\\plain)?\s*\\s(\d+)(?!\d) ?")
_LINE = re.compile(r"\\(?:line|row|nestrow)(?![a-z]) ?")
_BETWEEN = r"(?:[{}\s]|\\(?!(?:row|pard|intbl|trowd)(?![a-z]))[a-z]+-?\d*)*+"
"""Control words that tell nothing of tables."""
_LAST_ROW = re.compile(rf"\\row(?![a-z])(?=(?:{_BETWEEN}\\pard(?![a-z]))++(?!{_BETWEEN}\\(?:intbl|trowd)(?![a-z]))) ?")
"""Before a paragraph that is none of a table."""
_CELL = re.compile(r"\\(?:nest)?cell(?![a-z]) ?")
_LAST_IN_CELL = re.compile(r"\\par(?![a-z])([{}\s]*+)(?=\\(?:nest)?cell(?![a-z]))")
"""The end of a cell's last paragraph, which Pandoc writes."""
_APART = re.compile(r"\{(?:\\\*)?\s*\\(footnote|header|footer|annotation)[lrf]?(?![a-z])")
_BRACE = re.compile(r"\\[\\{}]|[{}]")
_HIDES = re.compile(r"\\(?P<kind>deleted|mvf|v|plain)(?![a-z])(?P<value>-?\d*) ?|\\[\\{}]|[{}]")
"""What begins or ends a stretch that is not shown, and the borders of groups."""
_FORMULA = re.compile(r"\\moMath(?![a-zA-Z])")
_OBJECT = re.compile(r"\\objclass ([^{}\\]{0,40})")
_INFO = re.compile(r"\{\\info(?![a-z])")
_FIELD = re.compile(r"\{\\(title|author)(?![a-z])([^{}]{0,2000})\}")
_MARK = 0xE000
"""The character of the first outline level."""
_KINDS = {
    "footnote": chr(_MARK + 16),
    "header": chr(_MARK + 17),
    "footer": chr(_MARK + 17),
    "annotation": chr(_MARK + 18),
}
_END, _BREAK = chr(_MARK + 19), chr(_MARK + 20)
_HIDDEN = {"deleted": chr(_MARK + 21), "mvf": chr(_MARK + 22), "v": chr(_MARK + 23)}
_SHOWN = chr(_MARK + 24)
_SET_APART = re.compile(f"([{chr(_MARK + 16)}-{chr(_MARK + 18)}])([^{chr(_MARK + 16)}-{_END}]*){_END}")
_NOT_SHOWN = re.compile(f"([{_HIDDEN['deleted']}-{_HIDDEN['v']}])([^{_HIDDEN['deleted']}-{_SHOWN}]*){_SHOWN}")
_SKIPPED = {chr(_MARK + 17): "running head", chr(_MARK + 18): "reader's comment"}
_SKIPPED |= {_HIDDEN["deleted"]: "deleted stretch", _HIDDEN["mvf"]: "moved stretch", _HIDDEN["v"]: "hidden stretch"}
_MARKS = re.compile(f"[{chr(_MARK)}-{_SHOWN}]")


def read_rtf(data: bytes, limits: Limits) -> Draft:
    """Read a document in Rich Text Format."""
    from striprtf.striprtf import rtf_to_text

    source = _BAD_CHARACTER.sub(r"\\u63", _HEX.sub("", _MARKS.sub("", data.decode("latin-1"))))
    draft = Draft("")
    end = _end_of_group(source, source.find("{"))
    if end is None or source[end:].strip("\0 \r\n}"):
        draft.warnings.append("its braces do not match: some of its text may be missing")
    if "\\shptxt" in source:
        draft.omissions.lose("text boxes", "those of RTF files are not read")
    if formulas := len(_FORMULA.findall(source)):
        draft.omissions.lose(f"{formulas:,} formula{'s' * (formulas > 1)}", "those of RTF files are not read")
    draft.omissions.lose_objects(Counter(_OBJECT.findall(source)))
    _describe(source, draft, rtf_to_text)
    source = source.replace("HYPERLINK", "")  # striprtf would show the addresses
    levels = {style[1]: int(style[2]) for style in _STYLE.finditer(source, 0, max(source.find("\\pard"), 0))}
    source = _STYLED.sub(lambda m: m[0] + (_mark(chr(_MARK + levels[m[1]] - 1)) if m[1] in levels else ""), source)
    source = _OUTLINE.sub(lambda match: _mark(chr(_MARK + int(match[1]))), source)
    source = _LINE.sub(lambda _: _mark(_BREAK), _LAST_ROW.sub(r"\\par ", source))
    source = _CELL.sub("{}  ", _LAST_IN_CELL.sub(r"\1", source))
    text = rtf_to_text(_mark_groups(_mark_hidden(source)), errors="replace")
    text = INVISIBLE.sub("", text.encode("utf-16", "surrogatepass").decode("utf-16", "replace"))
    notes: list[str] = []

    def take(match: re.Match[str]) -> str:
        if kind := _SKIPPED.get(match[1]):
            draft.omissions.skip_element(kind, count_words(match[2]))
        else:
            notes.append(one_line(_MARKS.sub(" ", match[2]), limits.chars))
        return ""

    _add_paragraphs(_SET_APART.sub(take, _NOT_SHOWN.sub(take, text)), draft)
    add_unmarked(draft)
    draft.append_notes("\n\n".join(filter(None, notes)))
    add_title_page(draft)
    return draft


def _add_paragraphs(text: str, draft: Draft) -> None:
    paragraphs: list[str] = []
    start = 0
    for line in clean(text).split("\n"):
        levels = [ord(mark) - _MARK for mark in _MARKS.findall(line) if mark < chr(_MARK + 16)]
        if paragraph := _MARKS.sub("", line.replace(_BREAK, "\n")).strip():
            draft.headings += [Heading(start, levels[0] + 1, one_line(paragraph))] if levels else []
            paragraphs.append(paragraph)
            start += len(paragraph) + 2
    draft.text = "\n\n".join(paragraphs)


def _mark(character: str) -> str:
    return f"{{\\uc1\\u{ord(character)}?}}"


def _mark_groups(source: str) -> str:
    """Show what striprtf leaves out, between marks: notes, running heads and comments."""
    parts: list[str] = []
    at = 0
    for match in _APART.finditer(source):
        if match.start() < at:
            continue
        end = _end_of_group(source, match.start())
        if end is None:
            break
        inner = source[match.end() : end - 1]
        parts += (source[at : match.start()], "{", _mark(_KINDS[match[1]]), inner, _mark(_END), "}")
        at = end
    return "".join([*parts, source[at:]])


def _mark_hidden(source: str) -> str:
    """Mark the stretches that are not shown, each to the end of its group at most, with all groups in it."""
    parts: list[str] = []
    at = depth = outer = 0
    kinds: set[str] = set()
    """Why the stretch that is open is not shown; `outer` is the depth of its group."""
    for match in _HIDES.finditer(source):
        kind, was_open = match["kind"], bool(kinds)
        depth += (match[0] == "{") - (match[0] == "}")
        if was_open and (depth < outer or (kind == "plain" and depth == outer)):
            kinds.clear()
        elif kind in _HIDDEN and (depth == outer or not was_open):
            (kinds.discard if match["value"] == "0" else kinds.add)(kind)
        if was_open and not kinds:
            parts += (source[at : match.start()], _mark(_SHOWN))
            at = match.start()
        elif kinds and not was_open:
            parts += (source[at : match.end()], _mark(_HIDDEN[kind]))
            at, outer = match.end(), depth
    return "".join([*parts, source[at:], _mark(_SHOWN) if kinds else ""])


def _end_of_group(source: str, start: int) -> int | None:
    """Where the group that begins at `start` ends; None where it does not."""
    depth = 0
    for brace in _BRACE.finditer(source, max(start, 0)):
        depth += (brace[0] == "{") - (brace[0] == "}")
        if depth <= 0 and len(brace[0]) == 1:
            return brace.end()
    return None


def _describe(source: str, draft: Draft, to_text: Callable[..., str]) -> None:
    """Title and author by the file's properties."""
    info = _INFO.search(source)
    end = _end_of_group(source, info.start()) if info else None
    for field in _FIELD.finditer(source, info.start(), end) if info and end else ():
        value = to_text(f"{{\\rtf1\\ansi{field[2]}}}", errors="replace").strip()
        if is_given(value):
            setattr(draft, field[1], value)
