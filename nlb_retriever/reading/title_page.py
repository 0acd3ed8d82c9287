"""A book's title and authors by how its first page is set."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence, Set
from itertools import pairwise, takewhile

from nlb_retriever.reading.draft import one_line
from nlb_retriever.reading.typography import FOOTNOTE_MARKS, HAS_WORD, LARGER, LONGEST, MOST_LINES, Look

_UNKNOWN = re.compile(
    r"\(?(?:untitled|anonymous|unknown|unspecified|undefined|no (?:title|author) given|python-docx|word document)\)?$"
    r"|untitled|microsoft word|arxiv:|calibre\b|.*\.(?:docx?|tex|indd|pdf|qxd|dvi)$",
    re.IGNORECASE,
)
_BETWEEN = 2
"""Lines from one of a book's title to the next: a subtitle may stand between."""
_NAME = re.compile(
    r"[^\W\d_a-z][\w.’'-]*(?: (?:(?:de|del|der|den|van|von|da|di|dos|la|le|el|al|bin|ibn) )*[^\W\d_a-z][\w.’'-]*){1,3}"
)
_NO_NAME = re.compile(
    r"\b(?:universit\w+|institut\w*|department|school|college|cent(?:er|re)|laborator\w+|edition|manual|guide|report|team"
    r"|project|foundation|version|release|inc|ltd|press|street|conference|proceedings|journal|group|society"
    r"|user|reference|programming|language|system|software|technical|volume|part|chapter|abstract)\b",
    re.IGNORECASE,
)
_MARKS = re.compile(r"(?<=[^\W\d_.])[\d∗*†‡§¶]+(?:,[\d∗*†‡§¶]+)*|[∗*†‡§¶]")
"""Of footnotes, behind a name."""
_SEPARATOR = re.compile(r"\s*(?:,?\s+(?:and|und|et|y|e)\s+|[,;&·])\s*")
_BY = re.compile(r"by:?\s+", re.IGNORECASE)
_BELOW = 2
"""Lines between the title and its authors."""


def is_given(name: str) -> bool:
    """Whether somebody gave a file's title or author, and no program wrote it ("untitled", "report.docx")."""
    return bool(name) and not _UNKNOWN.match(name)


def read_title_page(
    lines: Sequence[str], looks: Sequence[Look | None], headings: Set[str] = frozenset()
) -> tuple[str | None, str | None]:
    """Title, which is what is set largest on the first page, and authors, who are named below it; None each if unknown.

    Args:
        lines: of the page, in order.
        looks: for each line its look, and those of the lines behind the page.
        headings: of sections that begin on the page; what has one of them is no title.
    """
    sizes = Counter(look.size for look in looks if look)
    worded = [
        (i, look) for i, (line, look) in enumerate(zip(lines, looks, strict=False)) if look and HAS_WORD.search(line)
    ]
    largest_size = max((look.size for _, look in worded), default=0.0)
    if not sizes or largest_size <= LARGER * sizes.most_common(1)[0][0]:
        return None, None
    largest = [i for i, look in worded if look.size == largest_size]
    apart = next((i for i, (a, b) in enumerate(pairwise(largest), 1) if b - a > _BETWEEN), len(largest))
    title = one_line(" ".join(lines[i] for i in largest[:apart])).rstrip(FOOTNOTE_MARKS)
    is_title = apart <= MOST_LINES and len(title) <= LONGEST
    if not is_title or any(f" {each} " in f" {title} " for each in headings):
        return None, None
    return title, find_authors([line for line in lines[largest[apart - 1] + 1 :] if any(map(str.isalnum, line))])


def find_authors(lines: Sequence[str]) -> str | None:
    """The names below a title: two or more in lines of nothing else, or one behind "by"; None where there are none.

    Args:
        lines: below the title.
    """
    for start, line in enumerate(lines[: _BELOW + 1]):
        by = _BY.match(f"{line} ")
        below = [line[by.end() :] if by else line, *lines[start + 1 :]]
        found = takewhile(bool, map(_names, below[1:] if by and not below[0] else below))
        names = [name for of_line in found for name in of_line]
        if len(names) > 1 or (names and by):
            return ", ".join(dict.fromkeys(names))
    return None


def _names(line: str) -> list[str]:
    """The names that a line consists of; none where it holds something else."""
    parts = [part for part in _SEPARATOR.split(_MARKS.sub("", line).strip(" ,;&")) if part]
    named = (_NAME.fullmatch(part) and not (part.isupper() or _NO_NAME.search(part)) for part in parts)
    return parts if all(named) else []
