"""Which elements of an HTML page are no text, or may be menus or tables of contents, by what they are called."""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from selectolax.lexbor import LexborNode

SKIPPED: Mapping[str, tuple[str, int]] = {
    "button": ("<button> element", 200),
    "x-select": ("<select> element", 500),
    "x-textarea": ("<textarea> element", 200),
    "del": ("deleted stretch", 2_000),
    "rt": ("<rt> element", 60),
    "rp": ("<rp> element", 5),
    "annotation": ("formula source", 5_000),
    "annotation-xml": ("formula source", 20_000),
    ".katex-html": ("formula copy", 5_000),
    ".mw-editsection": ("edit link", 60),
    ".headerlink": ("permalink", 5),
    ".mw-cite-backlink": ("permalink", 30),
    ".linenum": ("line number", 10),
    ".linenos": ("line number", 20_000),
    ".wst-linenum": ("line number", 10),
    ".noprint": ("noprint element", 500),
    ".navbox": ("menu", 20_000),
    ".catlinks": ("menu", 2_000),
    ".printfooter": ("menu", 500),
}
"""Elements, and classes of elements, that are skipped, by what name, up to how many characters."""
_BEGIN, _END = r"(?:^|[\s_-])(?:", r")(?=$|[\s_-])"
_MENUS = re.compile(
    rf"{_BEGIN}(?:doc)?nav(?:igation|bar|header|footer)?|[^\W_]*menu|breadcrumbs?|sphinxsidebar(?:wrapper)?{_END}",
    re.IGNORECASE,
)
"""Of DocBook, Publican and Sphinx, too."""
_CONTENTS = re.compile(
    rf"{_BEGIN}toc\d?|toctree|(?<!table-)(?<!figure-)(?<!example-)(?:short|table-?of-?)?contents"
    rf"|(?:chapter|section)?index|related|sidebar|header|footer{_END}",
    re.IGNORECASE,
)
"""Of DocBook, Sphinx and Texinfo, too; DocBook's `table-contents` is what a table holds."""
_SAME = 2
"""Elements of the same classes around one, from which on their name means nothing."""
_TAGS = frozenset("div ul ol dl table p section header footer aside".split())


def name_menu(tag: str, names: str) -> tuple[str, bool]:
    """What an element is called in the page's omissions, if it is one of links; "" where its names do not say so.

    Args:
        tag: of the element.
        names: its classes and id.

    Returns:
        Its name, and whether it is a menu, which may have a few words besides links: DocBook's `navheader` has the
        chapter's title. `toc`, `index`, `sidebar` (in books a box of text) and the like are only a list of links.
    """
    if tag == "nav":
        return "<nav> element", True
    if tag not in _TAGS:
        return "", False
    if _MENUS.search(names):
        return "menu", True
    return ("link list" if _CONTENTS.search(names) else ""), False


def lists_notes(kinds: Collection[str], node: LexborNode) -> bool:
    """Whether an element is the list of a page's footnotes, as Pandoc and Python-Markdown make it."""
    if not {"doc-endnotes", ".footnotes", ".footnote"} & set(kinds) or node.css_first("h1, h2, h3, h4, h5, h6"):
        return False
    child = node.first_child
    while child is not None and child.tag in {"-text", "hr"}:
        child = child.next
    return child is not None and child.tag == "ol"


def is_everywhere(node: LexborNode, classes: str | None) -> bool:
    """Whether elements around one have its classes, too: Calibre gives one name to all that look alike."""
    same, around = 0, node.parent
    while classes and same < _SAME and around is not None:
        same += around.attributes.get("class") == classes
        around = around.parent
    return same == _SAME
