"""How the runs of a Word document are set by themselves and their styles: size and weight, and which are hidden."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Set
from dataclasses import dataclass
from typing import TYPE_CHECKING

from nlb_retriever.reading.containers.xmltree import attribute, local_name
from nlb_retriever.reading.office.wordprocessing import plain_text
from nlb_retriever.reading.pages.typography import Look

if TYPE_CHECKING:
    from lxml.etree import _Element

_SIZE = 10.0
"""Points where neither a run nor a style says anything."""
_OUTSIDE = frozenset({"tc", "txbxContent", "del", "moveFrom"})
"""What stands in tables and boxes, and what was taken out, is no title."""


@dataclass(frozen=True)
class SetParagraph:
    """A paragraph with words."""

    element: _Element
    text: str
    look: Look
    """The smallest size of its runs, and whether all are bold."""
    style: str
    """Its style's name in small letters."""


@dataclass(frozen=True)
class _Style:
    name: str = ""
    based: str = ""
    size: float | None = None
    bold: bool | None = None
    hidden: bool | None = None


def hidden_styles(styles: _Element | None) -> set[str]:
    """The ids of the styles whose text is hidden."""
    known = _read_styles(styles)
    said = {key: (style.hidden for style in _chain(key, known) if style.hidden is not None) for key in known}
    return {key for key, values in said.items() if next(values, False)}


def hidden_runs(part: _Element, styles: Set[str]) -> set[_Element]:
    """The runs of a part that are hidden.

    Args:
        styles: whose text is hidden.
    """
    found: set[_Element] = set()
    for mark in part.iter("{*}pStyle", "{*}rStyle", "{*}vanish"):  # a paragraph's come before its runs'
        name, parent = local_name(mark), mark.getparent()
        owner = parent.getparent() if parent is not None else None
        if owner is None or (name != "pStyle" and local_name(owner) != "r"):
            continue  # the mark that ends a paragraph
        runs = owner.iterchildren("{*}r") if name == "pStyle" else [owner]
        if name == "vanish" and not _is_on(mark):
            found.difference_update(runs)
        elif name == "vanish" or attribute(mark, "val") in styles:
            found.update(runs)
    return found


def set_paragraphs(root: _Element, styles: _Element | None, hidden: Set[_Element]) -> Iterator[SetParagraph]:
    """The paragraphs of a document that have words, in order, but for those of tables and boxes.

    Args:
        root: of the document's main part.
        styles: its styles.
        hidden: runs that are not shown.
    """
    known = _read_styles(styles)
    default = next((key for key, style in known.items() if style.name == "normal"), "")
    for paragraph in root.iter("{*}p"):
        if any(local_name(above) in _OUTSIDE for above in paragraph.iterancestors()):
            continue
        key = next((attribute(e, "val") for e in paragraph.iterfind("{*}pPr/{*}pStyle")), default)
        runs = [run for run in paragraph.iter("{*}r") if run not in hidden and plain_text(run).strip()]
        if text := " ".join("".join(map(_text, runs)).split()):
            looks = [_look(run, key, known) for run in runs]
            look = Look(min(each.size for each in looks), all(each.bold for each in looks))
            yield SetParagraph(paragraph, text, look, known.get(key, _Style()).name)


def _text(run: _Element) -> str:
    return "".join((e.text or "") if local_name(e) == "t" else " " for e in run.iter("{*}t", "{*}tab", "{*}br"))


def _look(run: _Element, paragraph_style: str, known: Mapping[str, _Style]) -> Look:
    own = _properties(run)
    key = next((attribute(e, "val") for e in run.iterfind("{*}rPr/{*}rStyle")), "")
    chain = [own, *_chain(key, known), *_chain(paragraph_style, known), known.get("", _Style())]
    size = next((style.size for style in chain if style.size is not None), _SIZE)
    return Look(round(2 * size) / 2, next((style.bold for style in chain if style.bold is not None), False))


def _chain(key: str, known: Mapping[str, _Style]) -> Iterator[_Style]:
    """A style and those that it is based on."""
    seen: set[str] = set()
    while key and key in known and key not in seen:
        seen.add(key)
        yield known[key]
        key = known[key].based


def _read_styles(styles: _Element | None) -> dict[str, _Style]:
    """Style id -> style; of "" what holds where no style says anything."""
    known: dict[str, _Style] = {}
    if styles is None:
        return known
    for defaults in styles.iterfind("{*}docDefaults/{*}rPrDefault"):
        known[""] = _properties(defaults)
    for style in styles.iter("{*}style"):
        values = {local_name(e): attribute(e, "val") for e in style.iterchildren("{*}name", "{*}basedOn")}
        own = _properties(style)
        hidden = next(map(_is_on, style.iterfind("{*}rPr/{*}vanish")), None)
        known[attribute(style, "styleId")] = _Style(
            values.get("name", "").strip().lower(), values.get("basedOn", ""), own.size, own.bold, hidden
        )
    return known


def _properties(element: _Element) -> _Style:
    """What the properties right below an element say of its text."""
    size = next((attribute(e, "val") for e in element.iterfind("{*}rPr/{*}sz")), "")
    bold = next(map(_is_on, element.iterfind("{*}rPr/{*}b")), None)
    return _Style(size=int(size) / 2 if size.isdecimal() else None, bold=bold)


def _is_on(mark: _Element) -> bool:
    return attribute(mark, "val").lower() not in {"0", "false", "off"}
