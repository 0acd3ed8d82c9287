"""What is put beside web pages: by the makers of documentation sites indexes, searches, copies and sources of them, by
browsers that save a page a folder of its parts.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

_MADE = tuple(
    (re.compile(sign), re.compile(names))
    for sign, names in (
        # Sphinx
        (
            r"objects\.inv|searchindex\.js",
            r"(?:genindex(?:-\w+)?|py-modindex|search)\.html|_(?:sources|static|modules)",
        ),
        # mdBook
        (r"(?:book|toc)(?:-[0-9a-f]{6,})?\.js", r"(?:print|toc|404)\.html"),
        # Javadoc: of all its packages, and of one
        (
            r"element-list|package-list",
            r"(?:index-all|all(?:classes|packages)(?:-\w+)?|overview-(?:tree|frame)|constant-values|deprecated-list"
            r"|help-doc|serialized-form|search)\.html|legal|resources|script-dir",
        ),
        (r"package-summary\.html", r"package-(?:tree|use|frame)\.html|class-use"),
        # rustdoc: of all its crates, and of one
        (r"static\.files", r"(?:help|settings)\.html|src|static\.files"),
        (r"sidebar-items[\d.]*\.js", r"all\.html"),
        # MkDocs, Docusaurus and others
        (r"sitemap\.xml", r"404\.html"),
    )
)
"""The name by which a maker is known in a folder, and what it puts there besides pages."""
_REDIRECT = re.compile(rb"""<meta\s+http-equiv=["']?refresh["']?\s+content=["']?\s*[0-5]\s*;""", re.IGNORECASE)
LONGEST_REDIRECT = 4_096
"""Bytes of a page that only leads to another, or includes it, at most."""
_INCLUDES = re.compile(
    rb"\s*(?:\.\.\s+(?:literal)?include::|[`:]{3,}\{(?:literal)?include\}|include::\S[^\n]*\[|-+8<-+\s)[^\n]*"
)
_AROUND_INCLUDES = re.compile(rb"\s*(?:[`:]{3,}|:[\w-]+:[^\n]*|\[//\]: #[^\n]*|<!--[^\n]*-->)?\s*")
"""Lines beside these that are no text: the end of a block, options and comments."""


def made_beside_pages(names: Sequence[str]) -> set[str]:
    """Those of a folder's files and folders that are no pages of a site."""
    made = [others for sign, others in _MADE if any(map(sign.fullmatch, names))]
    parts = {f"{name.rpartition('.')[0]}_files" for name in names if name.lower().endswith((".html", ".htm"))}
    return {name for name in names if name in parts or any(others.fullmatch(name) for others in made)}


def is_redirect(page: bytes) -> bool:
    """Whether a page of HTML only leads to another."""
    return _REDIRECT.search(page) is not None


def only_includes(page: bytes) -> bool:
    """Whether a page of reStructuredText, Markdown or AsciiDoc only includes other files, which stand by themselves."""
    rest = [line for line in page.removeprefix(b"\xef\xbb\xbf").splitlines() if not _AROUND_INCLUDES.fullmatch(line)]
    return bool(rest) and all(map(_INCLUDES.fullmatch, rest))
