"""The styles of a Word document: how their text is set, and which of them are headings, numbered or hidden."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

from nlb_retriever.reading.containers.xmltree import attribute, local_name

if TYPE_CHECKING:
    from lxml.etree import _Element

_HEADING = re.compile(r"heading ([1-9])")
_LEVELS = 9


@dataclass(frozen=True)
class Style:
    """What one style says itself, or the properties of a run; None and 0 where they say nothing."""

    name: str = ""
    """In small letters."""
    based: str = ""
    """Id of the style that it is based on."""
    level: int = 0
    """Of headings, from 1."""
    place: tuple[str, int] | None = None
    """List and level of its paragraphs, as `read_place` gives them."""
    size: float | None = None
    bold: bool | None = None
    hidden: bool | None = None


class Styles:
    """The styles of a document by their ids."""

    def __init__(self, part: _Element | None) -> None:
        styles = () if part is None else part.iter("{*}style")
        defaults = None if part is None else part.find("{*}docDefaults/{*}rPrDefault")
        self._known = {attribute(style, "styleId"): _read_style(style) for style in styles}
        self.default = Style() if defaults is None else read_properties(defaults)
        """What holds where no style says anything."""
        self.normal = next((key for key, style in self._known.items() if style.name == "normal"), "")
        """Id of the style of paragraphs that name none."""

    def chain(self, key: str) -> Iterator[tuple[str, Style]]:
        """A style and those that it is based on, each with its id."""
        seen: set[str] = set()
        while key and key not in seen:
            seen.add(key)
            style = self.get(key)
            yield key, style
            key = style.based

    def get(self, key: str) -> Style:
        return self._known.get(key, Style())

    def level(self, key: str) -> int:
        """The heading level of a style, from 1; 0 for text."""
        return next((style.level for _, style in self.chain(key) if style.level), 0)

    def is_hidden(self, key: str) -> bool:
        return next((style.hidden for _, style in self.chain(key) if style.hidden is not None), False)


def _read_style(style: _Element) -> Style:
    values = {local_name(e): attribute(e, "val") for e in style.iter("{*}name", "{*}basedOn", "{*}outlineLvl")}
    name, outline = values.get("name", "").strip().lower(), values.get("outlineLvl", "")
    heading = _HEADING.fullmatch(name)
    own = read_properties(style)
    return Style(
        name,
        values.get("basedOn", ""),
        int(heading[1]) if heading else outline_level(outline),
        next(map(read_place, style.iterfind("{*}pPr/{*}numPr")), None),
        own.size,
        own.bold,
        own.hidden,
    )


def read_properties(element: _Element) -> Style:
    """What the properties right below an element say of its text."""
    size = next((attribute(e, "val") for e in element.iterfind("{*}rPr/{*}sz")), "")
    bold, hidden = (next(map(is_on, element.iterfind(f"{{*}}rPr/{{*}}{name}")), None) for name in ("b", "vanish"))
    return Style(size=int(size) / 2 if size.isdecimal() else None, bold=bold, hidden=hidden)


def read_place(properties: _Element) -> tuple[str, int]:
    """The list of a paragraph or style, empty where it says none, and the level; -1 where it says none."""
    values = {local_name(each): attribute(each, "val") for each in properties}
    level = values.get("ilvl", "")
    return values.get("numId", ""), int(level) if level.isdecimal() and len(level) < _LEVELS else -1


def outline_level(value: str) -> int:
    """A level of Word's outline from 1; 0 for text."""
    return int(value) + 1 if value.isdecimal() and int(value) < _LEVELS else 0


def is_on(mark: _Element) -> bool:
    return attribute(mark, "val").lower() not in {"0", "false", "off"}


def paragraph_style(paragraph: _Element, default: str = "") -> str:
    """The id of a paragraph's style."""
    return next((attribute(each, "val") for each in paragraph.iterfind("{*}pPr/{*}pStyle")), default)


def hidden_runs(part: _Element, styles: Styles) -> set[_Element]:
    """The runs of a part that are hidden, by themselves or by their styles."""
    found: set[_Element] = set()
    for mark in part.iter("{*}pStyle", "{*}rStyle", "{*}vanish"):  # a paragraph's come before its runs'
        name, parent = local_name(mark), mark.getparent()
        owner = parent.getparent() if parent is not None else None
        if owner is None or (name != "pStyle" and local_name(owner) != "r"):
            continue  # the mark that ends a paragraph
        runs = owner.iterchildren("{*}r") if name == "pStyle" else [owner]
        if name == "vanish" and not is_on(mark):
            found.difference_update(runs)
        elif name == "vanish" or styles.is_hidden(attribute(mark, "val")):
            found.update(runs)
    return found
