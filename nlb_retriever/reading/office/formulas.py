"""Word's formulas (Office MathML) as the MathML of HTML, which `markup/mathml.py` writes as a line."""

from __future__ import annotations

import re
from html import escape
from typing import TYPE_CHECKING

from nlb_retriever.reading.containers.xmltree import attribute, local_name

if TYPE_CHECKING:
    from lxml.etree import _Element

_TOKEN = re.compile(r"(?P<mn>\d+(?:[.,]\d+)*)|(?P<mi>[^\W\d_]+)|(?P<mo>\S)")
_SCHEMES = {
    "f": ("mfrac", "num den"), "sSup": ("msup", "e sup"), "sSub": ("msub", "e sub"), "rad": ("msqrt", "e"),
    "sSubSup": ("msubsup", "e sub sup"), "limLow": ("munder", "e lim"), "limUpp": ("mover", "e lim"),
    "m": ("mtable", ""), "mr": ("mtr", ""),
}  # fmt: skip
"""Element -> that of MathML, and the children in its order; "" for all."""
_DEEPEST = 60
"""Elements in each other; of what lies deeper only the text is kept."""


def to_mathml(formula: _Element) -> str:
    """The MathML of a formula (m:oMath); what was deleted from it is not in it."""
    return f"<math>{_inside(formula, 0)}</math>"


def _inside(element: _Element, depth: int) -> str:
    return "".join(_write(child, depth + 1) for child in element)


def _write(element: _Element, depth: int) -> str:
    name = local_name(element)
    if name.endswith("Pr") or name in {"del", "moveFrom"}:
        return ""
    if name == "t" or depth > _DEEPEST:
        return _tokens("".join(each.text or "" for each in element.iter("{*}t")), element)
    if name == "nary":
        return _sum(element, depth)
    if name == "d":
        return _brackets(element, depth)
    if name in {"acc", "bar"}:
        return f"<mover>{_part(element, 'e', depth)}<mo>{escape(_value(element, 'chr', '‾'))}</mo></mover>"
    tag, parts = _SCHEMES.get(name, ("mrow", ""))
    degree = _part(element, "deg", depth) if name == "rad" else ""
    inner = "".join(_part(element, part, depth) for part in parts.split()) or _inside(element, depth)
    return f"{degree}<{tag}>{inner}</{tag}>"


def _tokens(text: str, element: _Element) -> str:
    run = element.getparent()
    if run is not None and run.find("{*}rPr/{*}nor") is not None:
        return f"<mtext>{escape(text)}</mtext>"
    return "".join(f"<{match.lastgroup}>{escape(match[0])}</{match.lastgroup}>" for match in _TOKEN.finditer(text))


def _part(element: _Element, name: str, depth: int) -> str:
    part = element.find(f"{{*}}{name}")
    return f"<mrow>{_inside(part, depth + 1) if part is not None else ''}</mrow>"


def _value(element: _Element, name: str, default: str) -> str:
    """A character that the properties of an element name."""
    found = element.find(f"{{*}}{local_name(element)}Pr/{{*}}{name}")
    return default if found is None else attribute(found, "val")


def _sum(element: _Element, depth: int) -> str:
    sign = f"<mo>{escape(_value(element, 'chr', '∫'))}</mo>"
    limits = f"{_part(element, 'sub', depth)}{_part(element, 'sup', depth)}"
    return f"<msubsup>{sign}{limits}</msubsup>{_part(element, 'e', depth)}"


def _brackets(element: _Element, depth: int) -> str:
    separator = f"<mo>{escape(_value(element, 'sepChr', '|'))}</mo>"
    inner = separator.join(f"<mrow>{_inside(each, depth + 1)}</mrow>" for each in element.iterchildren("{*}e"))
    opening, closing = (_value(element, name, default) for name, default in (("begChr", "("), ("endChr", ")")))
    return f"<mrow><mo>{escape(opening)}</mo>{inner}<mo>{escape(closing)}</mo></mrow>"
