"""Formulas in MathML as lines: "v² = v_0² + 2a(x − x_0)"."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import TYPE_CHECKING

from nlb_retriever.reading.omissions import Omissions, count_words
from nlb_retriever.reading.raised import raise_behind

if TYPE_CHECKING:
    from selectolax.lexbor import LexborNode

_SOURCES = frozenset({"annotation", "annotation-xml"})
"""Elements that hold a formula again, as its author wrote it."""
_TOKENS = frozenset({"mi", "mn", "mo", "mtext", "ms", "-text"})
_DEEPEST = 60
"""Elements in each other; of what lies deeper only the words are kept."""
_TIGHT = re.compile(r"[()\[\]{}|⟨⟩‖′″!./^_]*")
"""An operator without blanks around it."""
_AS_IS = frozenset(("", "′", "″", "*", "†"))
"""What is raised anyway."""
_STOPS = frozenset(",;:")
_INVISIBLE = frozenset("\u2061\u2062\u2063\u2064")
_SIMPLE = re.compile(r"[\d.,]*|\w⃗?(?:_\w+)?[′ⁿ⁰¹²³⁴-⁻]*|\([^()]*\)|√\w")
_FUNCTION = re.compile(r"(?:arc)?(?:sin|cos|tan|cot|sec)h?|log|ln|exp|lim|max|min|sup|inf|det|dim|ker|mod")
_LOWERED = frozenset({"msub", "munder", "msubsup", "munderover"})
_SCHEMES = _LOWERED | {"mfrac", "msup", "mover"}
_ARROWS = frozenset("→⃗")


def read_math(node: LexborNode, omissions: Omissions) -> str:
    """The line of a formula; what is left out of it is noted."""
    for source in node.css(", ".join(_SOURCES)):
        omissions.skip_element("formula source", count_words(source.text()))
    return write_math(node)


def write_math(node: LexborNode, depth: int = 0) -> str:
    """The line of an element of MathML."""
    tag = node.tag or ""
    if tag in _SOURCES:
        return ""
    if tag in _TOKENS or depth > _DEEPEST:
        return " ".join(((node.text_content if tag == "-text" else node.text()) or "").split())
    children = [each for each in _children(node) if each.tag not in _SOURCES]
    if tag in _SCHEMES:
        return _write_scheme(tag, [write_math(each, depth + 1) for each in children])
    row = _write_row(children, depth)
    return f"√{_group(row)}" if tag == "msqrt" else row


def _children(node: LexborNode) -> Iterator[LexborNode]:
    child = node.first_child
    while child is not None:
        if child.tag != "-comment" and (child.tag != "-text" or (child.text_content or "").strip()):
            yield child
        child = child.next


def _unwrap(node: LexborNode) -> LexborNode:
    """What an element around one other stands for."""
    while node.tag in {"mrow", "mstyle"} and len(inner := [*_children(node)]) == 1:
        node = inner[0]
    return node


def _write_scheme(tag: str, parts: list[str]) -> str:
    first, *rest = [*parts, ""]
    if tag == "mfrac":
        return "/".join(map(_group, parts))
    if tag == "mover" and parts[1:] and parts[1] in _ARROWS:
        return f"{first}⃗" if len(first) == 1 else first + parts[1]
    lowered = rest.pop(0) if tag in _LOWERED else ""
    below = f"_{lowered if lowered.isalnum() else _group(lowered)}" if lowered else ""
    above = rest[0]
    raised = raise_behind(first, above)
    return first + below + (raised if raised != above or above in _AS_IS else f"^{_group(above)}")


def _write_row(children: list[LexborNode], depth: int) -> str:
    line = ""
    parts = [_unwrap(each) for each in children]
    texts = [write_math(each, depth + 1) for each in parts]
    for each, text, following in zip(parts, texts, [*texts[1:], ""], strict=False):
        is_apart = each.tag in {"mtext", "mtr"} or _FUNCTION.fullmatch(text)
        if each.tag == "mo" and text in _STOPS:
            line += f"{text} "
        elif is_apart or (each.tag == "mo" and line and not _TIGHT.fullmatch(text) and text not in _INVISIBLE):
            line += f" {text} "
        elif each.tag == "mfrac" and following[:1].isalnum():
            line += f"({text})"
        else:
            line += f"{text} " if each.tag in _LOWERED and following[:1].isalnum() else text
    return " ".join("".join(char for char in line if char not in _INVISIBLE).split())


def _group(text: str) -> str:
    return text if _SIMPLE.fullmatch(text) else f"({text})"
