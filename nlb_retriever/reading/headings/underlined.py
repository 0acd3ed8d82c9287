"""Headings that plain text marks: with a rule below ("Install" above "======="), or as "## Install", "== Install"."""

from __future__ import annotations

import re
from collections.abc import Callable

from nlb_retriever.reading.draft import Heading
from nlb_retriever.reading.headings.looks import title_like

_MARKS = "=-~^\"'`*+#_"
_RULE = rf"(?P<mark>[{re.escape(_MARKS)}])(?P=mark){{2,}}[^\S\n]*$"
_TITLE = r"(?P<title>[^\W_][^\n]{0,118}\S)[^\S\n]*\n"
_UNDERLINED = re.compile(rf"^[^\S\n]{{0,60}}{_TITLE}(?P<rule>{_RULE})", re.MULTILINE)
_ANY_RULE = re.compile(rf"\n[^\S\n]*{_RULE}", re.MULTILINE)
"""Few texts have one, and it is found fast."""
_CENTRED = re.compile(rf"(?:[^\S\n]*\n)*[^\S\n]{{10,}}{_TITLE}\s*-{{20,}}")
_BEFORE = re.compile(
    rf"(?:\A|\n[^\S\n]*\n|(?P<over>[{re.escape(_MARKS)}]{{3,}})[^\S\n]*\n)(?:\[\[[^\]\n]*\]\][^\S\n]*\n)?\Z"
)
"""A blank line or a rule, and perhaps an anchor of AsciiDoc."""
_OVER = re.compile(rf"(?:\A|\n[^\S\n]*\n)[^\S\n]*(?P<over>[{re.escape(_MARKS)}]{{3,}})[^\S\n]*\n(?:[^\S\n]*\n)?\Z")
"""A rule, no title's, above one that has the same below."""
_MARKED = re.compile(
    r"(?:\A|\n[^\S\n]*\n)(?:\[[^\]\n]*\]{1,2}[^\S\n]*\n)*"
    r"(?P<line>(?P<marks>#{1,6}|={1,6})[^\S\n]+(?P<title>[^\W_][^\n]{0,118}?)(?:[^\S\n]+(?P=marks))?)[^\S\n]*(?=\n[^\S\n]*\n)"
)
"""Of Markdown, AsciiDoc (perhaps with an anchor above) and wikis: a paragraph of its own."""
_COMMAND = re.compile(r"[|$\\{}<>;=]|--|\s/|[.,:]$")
"""Of a command line after the prompt "#", or of a comment."""
_FOLLOWED = re.compile(r"\n[^\S\n]*\S")
_LONGER, _INDENT = 3, 3
"""Characters that a rule may be longer or shorter than its title, and of blanks before that."""
_LEAST = 3
FEW = 2
"""Titles that tell the sections where the format says that they are titles."""
_LONGEST_RULE = 160
_TITLE_PAGE = 1_500

is_rule = re.compile(rf"\s*{_RULE}").fullmatch


def find_underlined(text: str, least: int = _LEAST) -> list[Heading]:
    """Lines that stand alone above a rule of about their length; empty where there are fewer than `least`.

    Without these, lines between two rules that are alike.

    As in reStructuredText, levels follow from the order in which the characters of the rules first come. A first one
    whose rule comes no more is the book's title, and none of them.
    """
    if not _ANY_RULE.search(text):
        return []
    return _find(text, _find_before, least) or _find(text, _find_rule, least)


def _find(text: str, find_before: Callable[[str, re.Match[str]], re.Match[str] | None], least: int) -> list[Heading]:
    levels: dict[tuple[str, bool], int] = {}
    found: list[tuple[Heading, tuple[str, bool]]] = []
    for match in _UNDERLINED.finditer(text):
        before = find_before(text, match)
        if before is None:
            continue
        look = match["mark"], before["over"] is not None
        level = levels.setdefault(look, len(levels) + 1)
        found.append((Heading(match.start("title"), level, match["title"]), look))
    if found and found[0][1] not in {look for _, look in found[1:]} and _is_first(text, found[0][0].start):
        found = found[1:]
    return [heading for heading, _ in found] if len(found) >= least else []


def part_titles(text: str) -> str:
    """A text with a blank line below the rules of titles, so that no sentence has a title and what follows."""

    def parted(match: re.Match[str]) -> str:
        return match[0] + "\n" if _find_before(text, match) and _FOLLOWED.match(text, match.end()) else match[0]

    return _UNDERLINED.sub(parted, text) if _ANY_RULE.search(text) else text


def _find_before(text: str, match: re.Match[str]) -> re.Match[str] | None:
    """What stands before an underlined title; None where it is none."""
    indent, longer = match.start("title") - match.start(), len(match["rule"].rstrip()) - len(match["title"])
    if indent > _INDENT or abs(longer) > _LONGER:
        return None
    return _BEFORE.search(text, max(0, match.start() - _LONGEST_RULE), match.start())


def _find_rule(text: str, match: re.Match[str]) -> re.Match[str] | None:
    """The same rule above a title, which is no line of code between the rules of AsciiDoc; None where it has none."""
    before = _OVER.search(text, max(0, match.start() - _LONGEST_RULE), match.start())
    same = before is not None and before["over"] == match["rule"].rstrip()
    return before if same and title_like(match["title"]) and not _COMMAND.search(match["title"]) else None


def find_marked(text: str) -> list[Heading]:
    """Paragraphs of one line that begin with "#" or "=", deeper with more; empty where there are fewer than `_LEAST`.

    A first one on a level of its own is the book's title, and none of them. Of the two signs the one with more counts.
    """
    if "\n#" not in text and "\n=" not in text:
        return []
    found: dict[str, list[Heading]] = {"#": [], "=": []}
    for match in _MARKED.finditer(text):
        if not _COMMAND.search(match["title"]):
            level = len(match["marks"])
            found[match["marks"][0]].append(Heading(match.start("line"), level, match["title"]))
    headings = max(found.values(), key=len)
    if headings and headings[0].level < min((heading.level for heading in headings[1:]), default=0):
        headings = headings[1:]
    return headings if len(headings) >= _LEAST else []


def find_title(text: str) -> str | None:
    """The first line of a text, where it is underlined, centred above a rule, or marked "# " or "= " as others are."""
    marked = _MARKED.match(text)
    if marked and len(marked["marks"]) == 1 and find_marked(text):
        return marked["title"]
    if centred := _CENTRED.match(text, 0, _TITLE_PAGE):
        return centred["title"]
    underlined = _UNDERLINED.search(text, 0, _TITLE_PAGE)
    return underlined["title"] if underlined and _is_first(text, underlined.start()) else None


def _is_first(text: str, start: int) -> bool:
    """Whether nothing but a rule stands before."""
    return not text[:start].strip(f"{_MARKS} \n")
