"""Raised numbers as characters: "10²³", "cm³", "Na⁺", which are not 1023, cm3 and Na+."""

from __future__ import annotations

import re

_RAISED = str.maketrans("0123456789+-−–n∘", "⁰¹²³⁴⁵⁶⁷⁸⁹⁺⁻⁻⁻ⁿ°")
_POWER = re.compile(r"[+\-−–]?\d{1,4}|\d{0,4}[+\-−–]|[n∘]")


def raise_behind(before: str, text: str) -> str:
    """A raised text, in raised characters where it is a number, a charge, a degree or an "n" directly behind a letter,
    a digit or a bracket."""
    is_power = before[-1:].isalnum() or before[-1:] in {")", "]"}
    return text.translate(_RAISED) if is_power and _POWER.fullmatch(text) else text
