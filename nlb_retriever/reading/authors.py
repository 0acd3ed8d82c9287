"""Names of authors in the order in which people say them: "Dumas, Alexandre, 1802-1870" is Alexandre Dumas."""

from __future__ import annotations

import re
from collections.abc import Iterable

_WORD = r"[^\W\d_][\w.’'-]*"
_INVERTED = re.compile(
    rf"(?P<last>{_WORD}(?: {_WORD}){{0,3}}), (?P<first>{_WORD}(?: {_WORD}){{0,3}})(?: \([^()\d]+\))?"
    r"(?P<years>(?:, (?P<rank>[^\W\d_]+\.?))?, (?:[a-z]+\.? (?:[a-z]+\.? )?\d{2,4}|\d{0,4}\??[-–])[^,;()]*)?"
)
_INITIAL = re.compile(r"(?:.*[ .-])?[^\W\d_]\.?")
_SEVERAL = re.compile(r"\s*(?:;|\s&\s|\sand\s)\s*")
_BEHIND = frozenset({"inc", "ltd", "llc", "gmbh", "co", "corp", "jr", "sr", "phd", "md", "dd", "lld", "esq"})
"""What stands behind a comma and is no first name."""
_FRONT = 20_000
"""Characters of a text that hold its title page."""


def join_authors(names: Iterable[str]) -> str | None:
    """Several names as one text, without those that come again; None if there are none."""
    names = list(dict.fromkeys(filter(None, names)))
    return ("; " if any("," in name for name in names) else ", ").join(names) or None


def in_spoken_order(authors: str, text: str) -> str:
    """Authors with their first names first, where "Last, First" is surely one person and not two.

    It is where years or an initial follow, where each of several names is of that form, or where the book has the name
    in the other order.

    Args:
        authors: as a file names them.
        text: of the book.
    """
    names = [name for name in _SEVERAL.split(authors) if name]
    found = [_INVERTED.fullmatch(name) for name in names]
    found = [match if match and _bare(match["first"]) not in _BEHIND else None for match in found]
    several = len(names) > 1 and all(match and _is_last_name(match) for match in found)
    turned = [_turn(m) if m and (several or _is_one(m, text)) else name for m, name in zip(found, names, strict=True)]
    return ", ".join(turned) if turned != names else authors


def _turn(name: re.Match[str]) -> str:
    rank = name["rank"] or ""
    return f"{name['first']} {name['last']}" + (f", {rank}" if _bare(rank) in _BEHIND else "")


def _is_one(name: re.Match[str], text: str) -> bool:
    if name["years"] or (_INITIAL.fullmatch(name["first"]) and _is_last_name(name)):
        return True
    said = r"\s+".join(map(re.escape, f"{name['first']} {name['last']}".split()))
    return re.search(rf"\b{said}\b", text[:_FRONT], re.IGNORECASE) is not None


def _is_last_name(name: re.Match[str]) -> bool:
    """Whether what stands before the comma is one word, but for particles: "Isaac Barrow, D.D." is in spoken order."""
    return not any(word[0].isupper() for word in name["last"].split()[:-1])


def _bare(word: str) -> str:
    return word.casefold().replace(".", "")
