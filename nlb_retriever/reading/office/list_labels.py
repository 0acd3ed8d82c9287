"""Numbers that a program counts itself: of headings, clauses and lists ("2.1", "(a)"); no text holds them.

WordprocessingML: ISO/IEC 29500-1, 17.9 (numbering). OpenDocument 1.3, 16.30 (lists) and 16.34 (outlines). HTML: `ol`.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from nlb_retriever.reading.containers.xmltree import attribute
from nlb_retriever.reading.headings.number_words import in_roman
from nlb_retriever.reading.office.word_styles import Styles, paragraph_style, read_place

if TYPE_CHECKING:
    from lxml.etree import _Element

_PLACE = re.compile(r"%([1-9])")
_LEVELS = 9
_LETTERS = 26
_LONGEST = 40
"""Characters of a label; a longer one is text of a template."""
_MOST = 3_999
"""The largest Roman number; larger ones and those below 1 are written with digits."""
_KINDS = {"a": "lowerLetter", "A": "upperLetter", "i": "lowerRoman", "I": "upperRoman"}
"""Of a list in HTML or OpenDocument, by its type."""
_NO_LABEL = re.compile(r"list-style[^;]*\bnone\b|\bbreadcrumb|\btoc\b", re.IGNORECASE)
_LABELLED = re.compile(r"\W{0,2}(?:\d{1,4}|[A-Za-z]|[ivxIVX]{1,6})(?:\.\d{1,3})*[.):\]](?!\d)")
_CLAUSE = re.compile(r"\d{1,4}(?:\.\d{1,3})*\.(\d{1,3})\s")
"""The number of a clause without a mark behind it, "5.2", where its last one is that of the item; else it is text."""
_Key = tuple[str, int]


@dataclass(frozen=True)
class _Level:
    start: int
    kind: str
    """Format of the number: "decimal", "lowerLetter", "bullet"."""
    text: str
    """With "%1" for the number of the first level."""
    legal: bool
    """Whether the numbers of all levels are written with digits."""


@dataclass
class _List:
    levels: dict[int, _Level] = field(default_factory=dict)
    counts: dict[int, int] = field(default_factory=dict)
    styles: dict[str, int] = field(default_factory=dict)
    """Level of the paragraphs of a style."""


class HtmlLists:
    """The open lists of an HTML document, and the label of the item that has no text yet."""

    def __init__(self) -> None:
        self._open: list[tuple[int, str] | None] = []
        """The next number and its kind; None for a list without numbers."""
        self._label = ""

    def enter(self, tag: str, attributes: Mapping[str, str | None]) -> None:
        """Note the beginning of an element `ol`, `ul` or `li`."""
        if tag != "li":
            names = f"{attributes.get('style') or ''} {attributes.get('class') or ''}"
            counts = tag == "ol" and "reversed" not in attributes and not _NO_LABEL.search(names)
            kind = _KINDS.get(attributes.get("type") or "", "decimal")
            self._open.append((_number(attributes.get("start") or "", 1), kind) if counts else None)
        elif self._open and (counted := self._open[-1]):
            number = _number(attributes.get("value") or "", counted[0])
            self._open[-1] = number + 1, counted[1]
            self._label = f"{_write(number, counted[1])}. "
        else:
            self._label = ""

    def leave(self, tag: str) -> None:
        """Note the end of such an element."""
        if tag != "li" and self._open:
            self._open.pop()
        self._label = ""

    def take_label(self, text: str) -> str:
        """What stands before the first text of an item; empty before others, and where the text has a number itself."""
        label, self._label = self._label, ""
        if not label or _LABELLED.match(text):
            return ""
        clause = _CLAUSE.match(text)
        return "" if clause and label == f"{clause[1]}. " else label


def word_labels(root: _Element, numbering: _Element | None, styles: Styles) -> dict[_Element, str]:
    """The numbers that stand before the paragraphs of a Word document, as it shows them; bullets are none.

    Args:
        root: of the document's main part.
        numbering: its part of lists, if there is one.
        styles: of the document.
    """
    if numbering is None:
        return {}
    lists, used = _lists(numbering, styles)
    starts = {
        (attribute(num, "numId"), level): start
        for num in numbering.iterchildren("{*}num")
        for override in num.iterchildren("{*}lvlOverride")
        for level in [_number(attribute(override, "ilvl"), 0)]
        for element in override.iterchildren("{*}startOverride")
        for start in [_number(attribute(element, "val"), 1)]
    }
    labels: dict[_Element, str] = {}
    for paragraph in root.iter("{*}p"):
        place = _place(paragraph, styles, lists, used)
        if place is None:
            continue
        key, level = place
        numbered = lists[used[key]]
        if (start := starts.pop((key, level), None)) is not None:
            numbered.counts[level] = start - 1
        label = _count(numbered, level)
        if label and any((text.text or "").strip() for text in paragraph.iter("{*}t")):
            labels[paragraph] = label
    return labels


def open_document_labels(root: _Element, styles: _Element | None) -> dict[_Element, str]:
    """The numbers that stand before the paragraphs and headings of an OpenDocument text; bullets are none.

    Args:
        root: of its content.
        styles: its part of styles, if there is one.
    """
    trees = [tree for tree in (styles, root) if tree is not None]
    lists = {attribute(each, "name"): _read_list(each) for tree in trees for each in tree.iter("{*}list-style")}
    outline = next((_read_list(each) for tree in trees for each in tree.iter("{*}outline-style")), _List())
    begun: set[_Element] = set()
    labels: dict[_Element, str] = {}
    for paragraph in root.iter("{*}p", "{*}h"):
        item = paragraph.getparent()
        if item is not None and item.tag.endswith("}list-item"):
            if next(item.iterchildren("{*}p", "{*}h")) is not paragraph:
                continue
            inside = list(item.iterancestors("{*}list"))
            owner = next((each for each in inside if attribute(each, "style-name")), inside[-1])
            numbered, level = lists.get(attribute(owner, "style-name"), _List()), len(inside) - 1
            if owner not in begun and not _continues(owner):
                outermost = len(inside) - 1 - inside.index(owner)
                numbered.counts = {at: count for at, count in numbered.counts.items() if at < outermost}
            begun.add(owner)
            if start := attribute(item, "start-value"):
                numbered.counts[level] = _number(start, 1) - 1
        elif paragraph.tag.endswith("}h"):
            numbered, level = outline, _number(attribute(paragraph, "outline-level"), 1) - 1
        else:
            continue
        if level in numbered.levels and (label := _count(numbered, level)):
            labels[paragraph] = label
    return labels


def _lists(numbering: _Element, styles: Styles) -> tuple[dict[str, _List], dict[str, str]]:
    """The lists by their definition, and which definition a number of a list uses."""
    used = {
        attribute(num, "numId"): attribute(each, "val")
        for num in numbering.iterchildren("{*}num")
        for each in num.iterchildren("{*}abstractNumId")
    }
    lists: dict[str, _List] = {}
    linked: dict[str, str] = {}
    for definition in numbering.iterchildren("{*}abstractNum"):
        key = attribute(definition, "abstractNumId")
        lists[key] = _List()
        for level in definition.iterchildren("{*}lvl"):
            index = _number(attribute(level, "ilvl"), 0)
            values = {each.tag.rpartition("}")[2]: each for each in level if isinstance(each.tag, str)}
            value = {name: attribute(each, "val") for name, each in values.items()}
            lists[key].levels[index] = _Level(
                _number(value.get("start", ""), 1),
                value.get("numFmt", "decimal"),
                value.get("lvlText", ""),
                "isLgl" in value and value["isLgl"] not in {"0", "false", "off"},
            )
            if "pStyle" in value:
                lists[key].styles[value["pStyle"]] = index
        for link in definition.iterchildren("{*}numStyleLink"):
            linked[key] = attribute(link, "val")
    for key, style in linked.items():
        if (place := styles.get(style).place) and used.get(place[0]) in lists:
            lists[key] = lists[used[place[0]]]
    return lists, {key: name for key, name in used.items() if name in lists}


def _place(paragraph: _Element, styles: Styles, lists: dict[str, _List], used: dict[str, str]) -> _Key | None:
    """The list and level that a paragraph is in, by itself or by its style; None where it is in none."""
    key, level = next(map(read_place, paragraph.iterfind("{*}pPr/{*}numPr")), ("", -1))
    for name, style in styles.chain(paragraph_style(paragraph)):
        if style.place and not key:
            key, inherited = style.place
            level = inherited if level < 0 else level
        if level < 0 and key in used:
            level = lists[used[key]].styles.get(name, -1)
    level = max(level, 0)
    return (key, level) if key in used and level in lists[used[key]].levels else None


def _count(numbered: _List, level: int) -> str:
    """Count one paragraph; its label, empty for a bullet."""
    counts, own = numbered.counts, numbered.levels[level]
    counts[level] = counts.get(level, own.start - 1) + 1
    for deeper in range(level + 1, _LEVELS):
        counts.pop(deeper, None)
    if own.kind == "bullet":
        return ""

    def written(match: re.Match[str]) -> str:
        at = int(match[1]) - 1
        if at not in numbered.levels:
            return ""
        number = counts.get(at, numbered.levels[at].start)
        return _write(number, "decimal" if own.legal else numbered.levels[at].kind)

    label = _PLACE.sub(written, own.text).strip()
    return label if len(label) <= _LONGEST else ""


def _write(number: int, kind: str) -> str:
    match kind:
        case "none" | "bullet":
            return ""
        case "lowerRoman" | "upperRoman" if 0 < number <= _MOST:
            text = in_roman(number)
            return text.upper() if kind == "upperRoman" else text
        case "lowerLetter" | "upperLetter" if 0 < number <= _LETTERS * _LONGEST:
            text = chr(ord("a") + (number - 1) % _LETTERS) * ((number - 1) // _LETTERS + 1)
            return text.upper() if kind == "upperLetter" else text
        case "decimalZero":
            return f"{number:02}"
        case _:
            return str(number)


def _number(text: str, default: int) -> int:
    return int(text) if text.isdecimal() and len(text) < _LEVELS else default


def _continues(element: _Element) -> bool:
    return attribute(element, "continue-numbering") == "true" or bool(attribute(element, "continue-list"))


def _read_list(style: _Element) -> _List:
    """The levels of a list's style of OpenDocument."""
    found = _List()
    for each in style:
        level = _number(attribute(each, "level"), 1)
        kind = attribute(each, "num-format")
        shown = range(level + 1 - min(_number(attribute(each, "display-levels"), 1), level), level + 1)
        numbers = ".".join(f"%{k}" for k in shown)
        text = f"{attribute(each, 'num-prefix')}{numbers}{attribute(each, 'num-suffix')}" if kind else ""
        start = _number(attribute(each, "start-value"), 1)
        found.levels[level - 1] = _Level(start, _KINDS.get(kind, "decimal"), text, legal=False)
    return found
