"""What a reader leaves out of a book, and the warnings that say so.

Every word of a file is in the book's text, or a warning names what was left out and why. There are two kinds:
"left out: ..." is text that could not be read or has no place in the book; "boilerplate skipped: ..." is what
is not the author's (a license, a cover page, running heads, menus). Both give the number of words.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field

LEFT_OUT = "left out: "
BOILERPLATE = "boilerplate skipped: "
LONGEST = 300
"""Characters of one warning."""
_MOST = 40
"""Lines of each kind; what is beyond them is added up in one more."""
_WORD = re.compile(r"[^\W_]+")


def count_words(text: str) -> int:
    """Runs of letters and digits."""
    return len(_WORD.findall(text))


def count_missing(text: str, kept: str) -> int:
    """Words of a text that another has not, or has less often."""
    return (Counter(_WORD.findall(text)) - Counter(_WORD.findall(kept))).total()


@dataclass
class Omissions:
    """Collects what one reader leaves out."""

    losses: dict[str, list[tuple[str, int | None]]] = field(default_factory=dict)
    """Reason -> names of what was lost, each with its words where they can be counted."""
    boilerplate: list[tuple[str, int]] = field(default_factory=list)
    elements: dict[str, tuple[int, int]] = field(default_factory=dict)
    """What is skipped many times over ("page number"): how often, and words in all."""

    def lose(self, name: str, reason: str, words: int | None = None) -> None:
        """Note text that could not be read or has no place in the book."""
        if words != 0:
            self.losses.setdefault(reason, []).append((name, words))

    def lose_objects(self, kinds: Mapping[str, int]) -> None:
        """Note files of other programs inside a document, by their kinds ("Equation.3") and how many there are."""
        for kind, times in kinds.items():
            name = kind or "object"
            self.lose(f"{times:,} × {name}" if times > 1 else name, "files inside the document are not read")

    def skip(self, name: str, words: int, *, kind: str = "") -> None:
        """Note a stretch that is not the author's text."""
        if words:
            self.boilerplate.append((f"{name} ({kind}{', ' if kind else ''}{_words(words)})", words))

    def skip_element(self, name: str, words: int, *, times: int = 1) -> None:
        """Note one of many small things that are skipped ("page number", "<nav> element")."""
        if words:
            before = self.elements.get(name, (0, 0))
            self.elements[name] = before[0] + times, before[1] + words

    def add(self, other: Omissions) -> None:
        for reason, items in other.losses.items():
            self.losses.setdefault(reason, []).extend(items)
        self.boilerplate += other.boilerplate
        for name, (times, words) in other.elements.items():
            self.skip_element(name, words, times=times)

    def warnings(self) -> list[str]:
        """One line or more for every reason, losses first."""
        lost = [
            (f"{LEFT_OUT}{names}: {reason}", words)
            for reason, items in self.losses.items()
            for names, words in _joined(_lost_items(items), LONGEST - len(LEFT_OUT) - len(reason) - 2)
        ]
        elements = (
            (f"{times:,} {_plural(name, times)} ({_words(words)})", words)
            for name, (times, words) in self.elements.items()
        )
        skipped = [
            (f"{BOILERPLATE}{names}", words)
            for names, words in _joined([*self.boilerplate, *elements], LONGEST - len(BOILERPLATE))
        ]
        return [*_bounded(lost, LEFT_OUT), *_bounded(skipped, BOILERPLATE)]


def _words(count: int) -> str:
    return f"{count:,} {_plural('word', count)}"


def _plural(name: str, count: int) -> str:
    return name if count == 1 else f"{name}{'es' if name.endswith('ch') else 's'}"


def _lost_items(items: Iterable[tuple[str, int | None]]) -> Iterator[tuple[str, int]]:
    for name, words in items:
        yield (name, 0) if words is None else (f"{name} ({_words(words)})", words)


def _joined(items: Iterable[tuple[str, int]], longest: int) -> Iterator[tuple[str, int]]:
    """Items joined to lines of at most `longest` characters, each with its words in all."""
    names, words = "", 0
    for name, count in items:
        if names and len(names) + 2 + len(name) > longest:
            yield names, words
            names, words = "", 0
        names += f", {name}" if names else name
        words += count
    if names:
        yield names, words


def _bounded(lines: list[tuple[str, int]], prefix: str) -> list[str]:
    """Lines, each with its words, of which those beyond the most are one."""
    shown, rest = [line for line, _ in lines[:_MOST]], [words for _, words in lines[_MOST:]]
    more = f"{prefix}more of this kind in {len(rest):,} further lines ({_words(sum(rest))})"
    return [*shown, more] if rest else shown
