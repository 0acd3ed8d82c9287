"""Raised numbers as characters: "10²³", "cm³", "Na⁺", which are not 1023, cm3 and Na+."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from nlb_retriever.reading.containers.xmltree import attribute, local_name

if TYPE_CHECKING:
    from lxml.etree import _Element

_RAISED = str.maketrans("0123456789+-−–n∘", "⁰¹²³⁴⁵⁶⁷⁸⁹⁺⁻⁻⁻ⁿ°")
_POWER = re.compile(r"[+\-−–]?\d{1,4}|\d{0,4}[+\-−–]|[n∘]")
ENDS = {"<sup>": "</sup>", "^(": ")"}
"""What ends that which `mark_raised` begins."""


def raise_behind(before: str, text: str) -> str:
    """A raised text, in raised characters where it is a number, a charge, a degree or an "n" directly behind a letter,
    a digit or a bracket."""
    is_power = before[-1:].isalnum() or before[-1:] in {")", "]"}
    return text.translate(_RAISED) if is_power and _POWER.fullmatch(text) else text


def mark_raised(name: str, element: _Element) -> str:
    """In HTML the beginning of a raised run ("r") of Word, or in a formula of what is above ("sup"); else ""."""
    if name == "r":
        raised = element.find("{*}rPr/{*}vertAlign")
        return "<sup>" if raised is not None and attribute(raised, "val") == "superscript" else ""
    text = "".join(each.text or "" for each in element.iter("{*}t"))
    parent = element.getparent()
    is_of_sum = parent is not None and local_name(parent) == "nary"
    return "" if not text else "<sup>" if _POWER.fullmatch(text) and not is_of_sum else "^("
