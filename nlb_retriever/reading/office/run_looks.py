"""How the paragraphs of a Word document are set, by their runs and styles: size and weight."""

from __future__ import annotations

from collections.abc import Iterator, Set
from dataclasses import dataclass
from typing import TYPE_CHECKING

from nlb_retriever.reading.containers.xmltree import attribute, local_name
from nlb_retriever.reading.office.word_styles import Styles, paragraph_style, read_properties
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


def set_paragraphs(root: _Element, styles: Styles, hidden: Set[_Element]) -> Iterator[SetParagraph]:
    """The paragraphs of a document that have words, in order, but for those of tables and boxes.

    Args:
        root: of the document's main part.
        styles: of the document.
        hidden: runs that are not shown.
    """
    for paragraph in root.iter("{*}p"):
        if any(local_name(above) in _OUTSIDE for above in paragraph.iterancestors()):
            continue
        key = paragraph_style(paragraph, styles.normal)
        runs = [run for run in paragraph.iter("{*}r") if run not in hidden and plain_text(run).strip()]
        if text := " ".join("".join(map(_text, runs)).split()):
            looks = [_look(run, key, styles) for run in runs]
            look = Look(min(each.size for each in looks), all(each.bold for each in looks))
            yield SetParagraph(paragraph, text, look, styles.get(key).name)


def _text(run: _Element) -> str:
    return "".join((e.text or "") if local_name(e) == "t" else " " for e in run.iter("{*}t", "{*}tab", "{*}br"))


def _look(run: _Element, of_paragraph: str, styles: Styles) -> Look:
    key = next((attribute(e, "val") for e in run.iterfind("{*}rPr/{*}rStyle")), "")
    named = (style for each in (key, of_paragraph) for _, style in styles.chain(each))
    chain = [read_properties(run), *named, styles.default]
    size = next((style.size for style in chain if style.size is not None), _SIZE)
    return Look(round(2 * size) / 2, next((style.bold for style in chain if style.bold is not None), False))
