"""TEI: divisions with heads become sections, notes an end section, page beginnings pages.

TEI P5 Guidelines (chapters 3, 4, 6 and 7) and the Lite customization; P4's names of divisions (`div1`), too.
"""

from __future__ import annotations

import re
from html import escape
from typing import TYPE_CHECKING

from nlb_retriever.reading.authors import join_authors
from nlb_retriever.reading.containers.xmltree import attribute, local_name, text_of
from nlb_retriever.reading.draft import YEAR, Draft, Heading, one_line
from nlb_retriever.reading.formats.html import html_to_text
from nlb_retriever.reading.headings.outline import add_unmarked
from nlb_retriever.reading.omissions import count_words
from nlb_retriever.records import Page

if TYPE_CHECKING:
    from lxml.etree import _Element

_DIVISIONS = frozenset({"div", *(f"div{n}" for n in range(8))})
_BLOCKS = {
    **dict.fromkeys(
        ("p", "ab", "opener", "closer", "dateline", "salute", "signed", "byline", "trailer", "docAuthor", "docDate",
         "docImprint", "titlePart", "castItem", "castGroup", "figDesc", "entry", "postscript", "u", "head"), "p"),
    **dict.fromkeys(("quote", "cit", "epigraph", "argument"), "blockquote"),
    **dict.fromkeys(("lg", "sp", "front", "body", "back", "group", "text", "floatingText", "figure", "castList",
                     "entryFree", "address"), "div"),
    **dict.fromkeys(_DIVISIONS, "div"),
    **dict.fromkeys(("l", "addrLine", "speaker", "item"), "li"),
    "list": "ul", "table": "table", "row": "tr", "cell": "td", "eg": "pre",
}  # fmt: skip
"""What is set apart, as HTML."""
_LINES = frozenset({"p", "ab", "l", "head", "item", "cell"})
"""In which directions for the stage are part of the line."""
_SKIPPED = {"fw": "running head", "rdg": "variant reading", "del": "deleted text"}
_OLDER = {"sic": ("corr", "mistake"), "orig": ("reg", "old spelling"), "abbr": ("expan", "abbreviation")}
"""What is skipped where the other form stands beside it, and what it is called then."""
_CHOICES = frozenset({"choice", "app"})
"""What holds such forms."""
_MATTER = {"titlepage": ("title page", 1_500), "contents": ("table of contents", 20_000),
           "toc": ("table of contents", 20_000)}  # fmt: skip
"""Types of divisions that are skipped, up to how many characters."""
_MAY_BE_APART = frozenset({*_SKIPPED, *_OLDER, "note"})
_BREAKS = frozenset({"lb", "pb", "cb", "gb"})
_HYPHENS = "-\u2010\xac\xad"
_CLOSING = frozenset(".,;:!?)]}\u2019\u201d")
_LONGEST_TITLE = 500
_EDITION = re.compile(
    r"\s*[:;,.\[(-]+\s*(?:an? )?(?:ELTeC|electronic|digital|machine[- ]readable|TEI|XML)\b.*$",
    re.IGNORECASE | re.DOTALL,
)
_LIFE = re.compile(r"\s*[(,]\s*(?:b\.\s*)?\d{3,4}\s*[-–—]?\s*(?:\d{3,4}|\?)?\s*\)?\s*$")
_PARTS = frozenset(
    "volume book part canto act scene chapter letter epistle sermon poem song hymn psalm sonnet ode fable tale essay"
    " speech play".split()
)
"""Types of divisions that are called so where they have no heads, with their numbers: "Book 2"."""
_NUMBER = re.compile(r"[\w.]{1,8}")


def read_tei(root: _Element, draft: Draft) -> Draft:
    """Read a TEI document; of a corpus all its texts."""
    _describe(root, draft)
    writer = _Writer(draft)
    writer.write(root)
    page = html_to_text("".join(writer.out))
    draft.omissions.add(page.omissions)
    headings = page.headings + [
        Heading(page.anchors[anchor], level, title) for anchor, level, title in writer.named if anchor in page.anchors
    ]
    draft.add_page(page.text, sorted(headings, key=lambda heading: (heading.start, heading.level)))
    draft.pages = [Page(start=start, number=i, label=label) for i, (start, label) in enumerate(page.pages, 1)]
    add_unmarked(draft)
    draft.append_notes("\n\n".join(writer.notes))
    return draft


def _describe(root: _Element, draft: Draft) -> None:
    header = next(root.iter("{*}teiHeader"), None)
    if header is None:
        return
    titles = [*header.iterfind("{*}fileDesc/{*}titleStmt/{*}title")]
    main = [title for title in titles if title.get("type") == "main"] or titles
    draft.title = _EDITION.sub("", text_of(main[0])) or None if main else None
    authors = (_LIFE.sub("", text_of(author)) for author in header.iterfind("{*}fileDesc/{*}titleStmt/{*}author"))
    draft.author = join_authors(authors)
    named = [attribute(each, "lang") for each in root.iter("{*}TEI", "{*}TEI.2", "{*}text", "{*}body")]
    named += [each.get("ident") or each.get("id") or "" for each in header.iter("{*}language")]
    draft.language = next(filter(None, named), None)
    sources = [*header.iterfind("{*}fileDesc/{*}sourceDesc")]
    first = [bibl for source in sources for bibl in source.iter("{*}bibl") if bibl.get("type") == "firstEdition"]
    dates = [date for source in first or sources for date in source.iter("{*}date")]
    years = [int(year[0]) for date in dates if (year := YEAR.search(f"{date.get('when')} {text_of(date)}"))]
    draft.year = min(years, default=None)


class _Writer:
    """TEI as HTML, but for notes."""

    def __init__(self, draft: Draft) -> None:
        self.draft = draft
        self.out: list[str] = []
        self.notes: list[str] = []
        self.named: list[tuple[str, int, str]] = []
        """Anchor, level and title of divisions without heads."""
        self.depth = 0
        """Of open divisions."""
        self.joins = False
        """Whether a word goes on over the end of a line."""

    def write(self, root: _Element) -> None:
        from lxml.etree import iterwalk

        apart: _Element | None = None
        walker = iterwalk(root, events=("start", "end"))
        for event, element in walker:
            if event == "start":
                if self._is_apart(element):
                    walker.skip_subtree()
                    apart = element
                else:
                    self._start(element)
                    self._text(element.text)
                continue
            if element is not apart:
                self._end(element)
            if element is not root:
                self._text(element.tail)

    def _text(self, text: str | None) -> None:
        if self.joins and text:
            text = text.lstrip()
            self.joins = not text
        self.out.append(escape(text or "", quote=False))

    def _is_apart(self, element: _Element) -> bool:
        """Whether an element is none of the text; then it is noted, or kept apart."""
        name, parent = local_name(element), element.getparent()
        if name == "teiHeader":
            return True
        matter = "titlepage" if name == "titlePage" else (element.get("type") or "").lower().replace("-", "")
        is_matter = matter in _MATTER and name in {*_DIVISIONS, "titlePage"}
        if not (is_matter or name in _MAY_BE_APART):
            return False
        text = " ".join("".join(map(str, element.itertext())).split())
        if name == "note":
            self.notes += [text] if text else []
            return True
        kind = _SKIPPED.get(name, "")
        beside = [local_name(each) for each in parent] if parent is not None and local_name(parent) in _CHOICES else []
        if name == "rdg" and beside and "lem" not in beside and element.getprevious() is None:
            return False
        if name in _OLDER and _OLDER[name][0] in beside:
            kind = _OLDER[name][1]
        if is_matter and len(text) <= _MATTER[matter][1]:
            kind = _MATTER[matter][0]
        if kind:
            self.draft.omissions.skip_element(kind, count_words(text))
        return bool(kind)

    def _start(self, element: _Element) -> None:
        name = local_name(element)
        if name in _DIVISIONS:
            self.depth += 1
            self._name(element)
        if name in _BREAKS:
            self._break(name, element)
        elif name == "pc" and (element.text or "").strip()[:1] in _CLOSING and self.out:
            self.out[-1] = self.out[-1].rstrip()
        elif tag := self._tag(element):
            self.out.append(f"<{tag}>")

    def _name(self, division: _Element) -> None:
        """Give a division without a head the title that its type and number make."""
        kind, number = division.get("subtype") or division.get("type") or "", division.get("n") or ""
        has_head = any(local_name(child) == "head" for child in division)
        if not has_head and kind.lower() in _PARTS and _NUMBER.fullmatch(number):
            anchor = f"division-{len(self.named)}"
            self.named.append((anchor, self.depth, f"{kind.capitalize()} {number}"))
            self.out.append(f'<a id="{anchor}"></a>')

    def _end(self, element: _Element) -> None:
        if tag := self._tag(element):
            self.out.append(f"</{tag}>")
        self.depth -= local_name(element) in _DIVISIONS

    def _tag(self, element: _Element) -> str:
        """The HTML that an element is; empty for one that sets nothing apart."""
        name, parent = local_name(element), element.getparent()
        around = "" if parent is None else local_name(parent)
        if name == "head" and around in _DIVISIONS and len("".join(map(str, element.itertext()))) <= _LONGEST_TITLE:
            return f"h{min(self.depth, 6)}"
        if name == "stage":
            return "" if any(local_name(each) in _LINES for each in element.iterancestors()) else "p"
        if name == "bibl":
            return "li" if around == "listBibl" else ""
        if name == "quote" and around in _LINES and not any(local_name(each) in _BLOCKS for each in element):
            return ""  # within a sentence
        return _BLOCKS.get(name, "")

    def _break(self, name: str, element: _Element) -> None:
        """The beginning of a line, column or page."""
        if element.get("break") == "no" and self.out:
            last = self.out[-1].rstrip()
            self.out[-1] = last[:-1] if last[-1:] in _HYPHENS else last
            self.joins = True
        elif name != "pb":
            self.out.append(" ")
        if name == "pb" and (label := one_line(element.get("n") or "")):
            self.out.append(f'<span role="doc-pagebreak" title="{escape(label)}"></span>')
