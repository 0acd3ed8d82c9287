"""WordprocessingML to HTML: the paragraphs, tables, boxes and formulas of one part of a Word document.

Elements are known by their local names, so that transitional and strict files read alike; those that are not known
are looked through, so that no text is lost by a new one.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Set
from dataclasses import dataclass, field
from html import escape
from typing import TYPE_CHECKING

from nlb_retriever.reading.containers.xmltree import attribute, local_name
from nlb_retriever.reading.office.formulas import to_mathml
from nlb_retriever.reading.office.word_styles import Styles, hidden_runs, outline_level, paragraph_style
from nlb_retriever.reading.omissions import Omissions, count_words

if TYPE_CHECKING:
    from lxml.etree import _Element

_TEXTS = frozenset({"t", "delText"})
_PROPERTIES = frozenset(
    "pPr rPr sectPr tblPr tblPrEx tblGrid trPr tcPr sdtPr sdtEndPr rubyPr fldData instrText delInstrText docPr".split()
)
"""Elements that hold no text."""
_REMOVED = {"del": "deleted stretch", "moveFrom": "moved stretch"}
"""Text that the author took out while changes were recorded."""
_BREAKS = frozenset({"br", "cr"})
_CHARACTERS = {"tab": "\t", "noBreakHyphen": "\u2011", "ptab": "\t"}
_GREEK = dict(
    zip(
        "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz",
        "ΑΒΧΔΕΦΓΗΙϑΚΛΜΝΟΠΘΡΣΤΥςΩΞΨΖαβχδεφγηιϕκλμνοπθρστυϖωξψζ",
        strict=True,
    )
)
"""Letters of the font Symbol."""
_CONTENTS_STYLE = re.compile(r"toc (?:[1-9]|heading)")
_LINKS = 4
"""Paragraphs in a row that are nothing but links: a table of contents."""


@dataclass(frozen=True)
class TitleLine:
    """A paragraph that is a title, or one of several that are, though its style does not say so."""

    level: int
    first: bool
    last: bool


@dataclass
class Rendered:
    """HTML of a part, cut where files of other formats stand in it."""

    pieces: list[str] = field(default_factory=list)
    """HTML, and the relationship ids of such files: even and odd entries take turns."""
    notes: list[tuple[str, str]] = field(default_factory=list)
    """Kind ("footnote") and id of each reference to a note, in order."""


def paragraph_level(paragraph: _Element, styles: Styles) -> int:
    """The heading level of a paragraph by its style or outline level; 0 for text."""
    for element in paragraph.iterfind("{*}pPr/*"):
        name, value = local_name(element), attribute(element, "val")
        level = styles.level(value) if name == "pStyle" else outline_level(value) if name == "outlineLvl" else 0
        if level:
            return min(level, 6)
    return 0


def contents_lines(root: _Element, styles: Styles) -> set[_Element]:
    """The paragraphs of tables of contents: by their styles ("toc 2"), or several in a row that are links to places."""
    found: set[_Element] = set()
    links: list[_Element] = []
    for paragraph in root.iter("{*}p"):
        if _CONTENTS_STYLE.fullmatch(styles.get(paragraph_style(paragraph)).name):
            found.add(paragraph)
        texts = [text for text in paragraph.iter("{*}t") if (text.text or "").strip()]
        if texts and all(_is_link(text) for text in texts):
            links.append(paragraph)
        elif texts:
            found.update(links if len(links) >= _LINKS else ())
            links = []
    return found | set(links if len(links) >= _LINKS else ())


def _is_link(text: _Element) -> bool:
    """Whether a text is a link to a place in the document."""
    return any(attribute(link, "anchor") for link in text.iterancestors("{*}hyperlink"))


def plain_text(element: _Element) -> str:
    """All text of an element, its paragraphs on lines of their own."""
    parts: list[str] = []
    for each in element.iter("{*}t", "{*}delText", "{*}p", "{*}br", "{*}tab", "{*}v"):
        name = local_name(each)
        if name in _TEXTS or (name == "v" and _in_text_cache(each)):
            parts.append((each.text or "") + ("\n" if name == "v" else ""))
        elif name != "v":
            parts.append("\n" if name == "p" else " ")
    return "".join(parts).strip()


def _in_text_cache(value: _Element) -> bool:
    """Whether a chart's value is a name, not a number."""
    point = value.getparent()
    cache = point.getparent() if point is not None else None
    return cache is not None and local_name(cache) == "strCache"


class HtmlRenderer:
    """Renders parts of one document."""

    def __init__(
        self,
        styles: Styles,
        drawing: Callable[[str], str],
        omissions: Omissions,
        titles: Mapping[_Element, TitleLine],
        contents: Set[_Element],
        labels: Mapping[_Element, str],
    ) -> None:
        """
        Args:
            styles: of the document.
            drawing: gives the text of the diagram or chart with a relationship id.
            omissions: where what is skipped is noted.
            titles: paragraphs that are titles whatever their styles.
            contents: paragraphs of tables of contents.
            labels: numbers that are counted, of paragraphs.
        """
        self._styles = styles
        self._titles = titles
        self._contents = contents
        self._labels = labels
        self._drawing = drawing
        self._omissions = omissions

    def render(self, root: _Element) -> Rendered:
        """The HTML of all that lies under an element."""
        from lxml.etree import iterwalk

        rendered = Rendered()
        self._out: list[str] = []
        self._outer: list[list[str]] = []
        """Outputs of the paragraphs around the boxes that are open."""
        self._boxes: list[str] = []
        """HTML of boxes to stand behind the paragraph in which they are anchored."""
        self._cells: list[int] = []
        """Paragraphs so far in each open table cell."""
        self._goes_on = False
        """Whether the next paragraph is the rest of the last one."""
        hidden = hidden_runs(root, self._styles)
        walker = iterwalk(root, events=("start", "end"))
        for event, element in walker:
            name = local_name(element)
            if event == "end":
                self._end(name, element)
            elif name == "altChunk":
                rendered.pieces += ("".join(self._out), attribute(element, "id"))
                self._out = []
            elif name == "oMath":
                self._out.append(to_mathml(element))
                walker.skip_subtree()
            elif name in _PROPERTIES or not name:
                walker.skip_subtree()
            elif name in _REMOVED:
                self._omissions.skip_element(_REMOVED[name], count_words(plain_text(element)))
                walker.skip_subtree()
            elif element in hidden:
                self._omissions.skip_element("hidden stretch", count_words(plain_text(element)))
                walker.skip_subtree()
            elif element in self._contents:
                self._omissions.skip_element("contents line", count_words(plain_text(element)))
                walker.skip_subtree()
            elif name == "Fallback" and _has_choice(element):
                walker.skip_subtree()
            elif name in {"footnoteReference", "endnoteReference"}:
                rendered.notes.append((name.removesuffix("Reference"), attribute(element, "id")))
            else:
                self._start(name, element)
        rendered.pieces.append("".join([*self._out, *self._boxes]))
        return rendered

    def _start(self, name: str, element: _Element) -> None:
        if name in _TEXTS:
            self._out.append(escape(element.text or "", quote=False))
        elif name in _BREAKS:
            self._out.append("<br>")
        elif name in _CHARACTERS:
            self._out.append(_CHARACTERS[name])
        elif name == "r" and _is_raised(element):
            self._out.append("<sup>")
        elif name == "sym":
            self._out.append(_symbol(element))
        elif name == "p":
            self._out.append(self._paragraph_tag(element))
            if label := self._labels.get(element):
                self._out.append(f"{escape(label, quote=False)} ")
        elif name == "tbl":
            self._cells.append(0)
            self._out.append("<table>")
        elif name in {"tr", "rt"}:
            self._out.append(f"<{name}>")
        elif name == "tc":
            if self._cells:
                self._cells[-1] = 0
            self._out.append("<td>")
        elif name == "txbxContent":
            self._outer.append(self._out)
            self._out = []
            self._cells.append(-1)
        elif name == "textpath":
            self._out.append(f" {escape(attribute(element, 'string'), quote=False)} ")
        elif name in {"relIds", "chart"} and (target := attribute(element, "dm" if name == "relIds" else "id")):
            self._boxes += (f"<p>{escape(line, quote=False)}</p>" for line in self._drawing(target).split("\n") if line)

    def _end(self, name: str, element: _Element) -> None:
        if name == "p":
            self._out.append(self._paragraph_end(element))
            if not self._outer and not self._cells:
                self._out += self._boxes
                self._boxes = []
        elif name == "tbl":
            if self._cells:
                self._cells.pop()
            self._out.append("</table>")
        elif name in {"tr", "rt"}:
            self._out.append(f"</{name}>")
        elif name == "r" and _is_raised(element):
            self._out.append("</sup>")
        elif name == "tc":
            self._out.append("</td>")
        elif name == "txbxContent" and self._outer:
            self._boxes.append("".join(self._out))
            self._out = self._outer.pop()
            self._cells.pop()

    def _paragraph_tag(self, paragraph: _Element) -> str:
        goes_on, self._goes_on = self._goes_on, False
        if not self._in_cell(paragraph):
            if goes_on or ((title := self._titles.get(paragraph)) and not title.first):
                return ""
            level = self._level(paragraph)
            return f"<h{level}>" if level else "<p>"
        self._cells[-1] += 1
        return "<br>" if self._cells[-1] > 1 else ""

    def _paragraph_end(self, paragraph: _Element) -> str:
        if self._in_cell(paragraph):
            return ""
        self._goes_on = self._is_begun(paragraph)
        if self._goes_on:
            return ""
        if (title := self._titles.get(paragraph)) and not title.last:
            return " "
        level = self._level(paragraph)
        return f"</h{level}>" if level else "</p>"

    def _in_cell(self, paragraph: _Element) -> bool:
        """Whether a paragraph is a line of a table's cell; a heading in a cell that is alone in its row is none."""
        if not self._cells or self._cells[-1] < 0:
            return False
        cell = paragraph.getparent()
        alone = cell is not None and not any(
            next(cell.itersiblings("{*}tc", preceding=before), None) is not None for before in (False, True)
        )
        return not (alone and self._level(paragraph))

    def _is_begun(self, paragraph: _Element) -> bool:
        """Whether the next paragraph is its rest: behind a large first letter, or where the end between was deleted."""
        following = paragraph.getnext()
        begun = paragraph.find("{*}pPr/{*}rPr/{*}del") is not None or any(
            attribute(frame, "dropCap") in {"drop", "margin"} for frame in paragraph.iterfind("{*}pPr/{*}framePr")
        )
        return (
            begun
            and following is not None
            and local_name(following) == "p"
            and self._level(following) == self._level(paragraph)
        )

    def _level(self, paragraph: _Element) -> int:
        title = self._titles.get(paragraph)
        return title.level if title else paragraph_level(paragraph, self._styles)


def _is_raised(run: _Element) -> bool:
    raised = run.find("{*}rPr/{*}vertAlign")
    return raised is not None and attribute(raised, "val") == "superscript"


def _has_choice(fallback: _Element) -> bool:
    """Whether the same content stands beside it for newer programs."""
    return any(
        plain_text(choice) or any(local_name(e) in {"relIds", "chart", "textpath"} for e in choice.iter())
        for choice in fallback.itersiblings("{*}Choice", preceding=True)
    )


def _symbol(element: _Element) -> str:
    code = attribute(element, "char")
    try:
        char = chr(int(code, 16))
    except (ValueError, OverflowError):
        return " "
    if "\uf000" <= char <= "\uf0ff":  # a picture font's own
        letter = chr(ord(char) - 0xF000)
        return _GREEK.get(letter, " ") if attribute(element, "font").casefold() == "symbol" else " "
    return escape(char, quote=False)
