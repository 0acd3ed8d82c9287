"""Running heads of printed pages, found by their repetition, and page numbers: skipped and named."""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from difflib import SequenceMatcher
from itertools import pairwise

from nlb_retriever.errors import counted
from nlb_retriever.reading.draft import one_line
from nlb_retriever.reading.headings.looks import COUNTED, parse_line
from nlb_retriever.reading.omissions import Omissions, count_words
from nlb_retriever.reading.pages.page_numbers import EDGE, HEADING_KEY, NUMBER, SENTENCE_ENDS, PageNumbers, edges

_DENSE = 0.25
"""Share of pages on which a running head stands at least, from its first to its last: often every second one."""
_NEAR, _ALIKE = 4, 0.8
"""Pages behind a running head on which a line that is so much the same is one, too, read wrong by a scanner."""
_LEAST_WORDS = 8
"""Characters of such a line."""

_FEWEST, _MOST_PAGES, _DEEPEST = 3, 0.7, 15
"""Pages, and the share of all, that have a letterhead at least; and its lines at most."""
_DIGITS = re.compile(r"\d+")


def without_letterheads(pages: Sequence[list[str]], omissions: Omissions) -> list[list[str]]:
    """Skip what stands in three lines or more at the top or the foot of most pages, but for lines whose numbers differ.

    Letters, procedures and slides have such lines; fewer are running heads. They stay where they are first at the top,
    and last at the foot, as they may be the text of a form that comes again.

    Args:
        pages: their lines.
        omissions: where what is skipped is noted.
    """
    kept = [*pages]
    skipped: defaultdict[str, list[str]] = defaultdict(list)
    for step in (1, -1):
        block = _block([page[::step] for page in kept])
        parts = [(page[::step][: len(block)], page[::step][len(block) :]) for page in kept]
        having = [
            i for i, (head, rest) in enumerate(parts) if rest and [_DIGITS.sub("#", line) for line in head] == block
        ]
        times = Counter(line for i in having for line in set(parts[i][0]))
        for i in having[::step][1:] if len(block) > EDGE else ():
            head, rest = parts[i]
            gone = [line for line in head if times[line] >= _MOST_PAGES * len(pages)]
            kept[i] = [*(line for line in head if line not in gone), *rest][::step]
            for line in gone:
                skipped[line].append(line)
    _note(skipped, omissions)
    return kept


def _block(pages: Sequence[Sequence[str]]) -> list[str]:
    """What most pages begin with: lines, with "#" for numbers; none twice, no label ("Name:"), no sentence."""
    least = max(_FEWEST, _MOST_PAGES * len(pages))
    block: list[str] = []
    for i in range(_DEEPEST):
        keys = Counter(_DIGITS.sub("#", page[i]) for page in pages if len(page) > i)
        key, count = next(iter(keys.most_common(1)), ("", 0))
        if count < least or key[-1] in ":?" or key in block:
            break
        if key[0].islower():
            return block[:-1]
        block.append(key)
    return block


def without_running_heads(
    pages: Sequence[list[str]], numbers: PageNumbers, omissions: Omissions, numbered: Sequence[Mapping[str, str]] = ()
) -> list[list[str]]:
    """Skip, at the edges of pages, the lines that repeat there, and page numbers.

    A line whose numbers differ repeats only where they count the pages. No page is emptied of words.

    Args:
        pages: their lines.
        numbers: which of their numbers count them.
        omissions: where what is skipped is noted.
        numbered: where lines are numbered, those of each page (`line_numbers`): no running head is one of them,
            nor is a heading without a number, but for verses, whose numbers stand behind them.
    """
    key_of = numbers.key_of
    on_pages: defaultdict[str, list[int]] = defaultdict(list)
    for i, lines in enumerate(pages):
        for key in {key_of(i, line) for line in edges(lines)}:
            on_pages[key].append(i)
    seen = {key: len(on) for key, on in on_pages.items() if not _is_scattered(key, on, pages)}
    within_sentences = {
        key_of(i, page[0])
        for i, (before, page) in enumerate(pairwise(pages), 1)
        if before and len(page) > 1 and before[-1][-1].isalpha() and page[1][0].islower()
    }
    lines_of = ((i, line) for i, lines in enumerate(pages) for line in edges(lines))
    paged = {key for i, line in lines_of if "#" in (key := key_of(i, line)) and "#" not in line}
    twice = paged | within_sentences
    repeated = {key for key, count in seen.items() if count >= (2 if key in twice else numbers.least)}
    met: set[str] = set()
    latest: dict[str, int] = {}  # page on which each was the topmost line
    skipped: defaultdict[str, list[str]] = defaultdict(list)
    kept_pages: list[list[str]] = []
    for i, lines in enumerate(pages):
        text = frozenset(own for line, own in numbered[i].items() if line[0].isdigit()) if numbered else frozenset()

        near = [head for head, at in latest.items() if i - at <= _NEAR]
        head, below = [*lines[:2], "", ""][:2]
        within = head if met and below[:1].islower() else ""  # a sentence: no heading
        parted = head if below and key_of(i, below) == "#" and f"{key_of(i, head)} #" in repeated else ""

        def running(
            line: str,
            i: int = i,
            text: frozenset[str] = text,
            near: Sequence[str] = near,
            within: str = within,
            parted: str = parted,
        ) -> bool:
            if line in text or (line[0].islower() and line[-1] in SENTENCE_ENDS):  # it ends what people write often
                return False
            key = key_of(i, line)
            if key in {"#", HEADING_KEY} or line == parted:
                return True
            first = key not in met and ("#" not in key or not met)  # it may be a heading, or a date
            first = first and not text and line != within and (bool(parse_line(line)) or any(map(str.isdigit, key)))
            if key in repeated:
                return not first
            return any(_is_misread(key, head) for head in near)

        top, bottom = 0, len(lines)
        while top < min(EDGE, bottom) and running(lines[top]):
            top += 1
        while bottom > max(top, len(lines) - EDGE) and running(lines[bottom - 1]):
            bottom -= 1
        met.update(key_of(i, line) for line in edges(lines))
        latest |= {key: i for line in lines[:1] if (key := key_of(i, line)) in repeated}
        gone = lines[:top] + lines[bottom:]
        if top >= bottom and any(key_of(i, line) != "#" for line in gone):
            kept_pages.append(list(lines))
            continue
        for line in gone:
            skipped[key_of(i, line)].append(line)
        kept_pages.append(lines[top:bottom])
    if not any(kept_pages):
        return [list(lines) for lines in pages]
    _note(skipped, omissions)
    return kept_pages


def _is_misread(key: str, head: str) -> bool:
    """Whether a line is nearly a running head, but not its words alone, as the title of a chapter may be."""
    words = head.strip("# ")
    if key == words or abs(len(key) - len(words)) > (1 - _ALIKE) * len(words) + _LEAST_WORDS / 2:
        return False
    return len(words) >= _LEAST_WORDS and SequenceMatcher(None, key, words, autojunk=False).ratio() >= _ALIKE


def _is_scattered(key: str, on: Sequence[int], pages: Sequence[Sequence[str]]) -> bool:
    """Whether a line stands on few of the pages from its first to its last: one that people say ("Certainly.").

    So do the chapters with one number in several works ("Chapter 2").
    """
    if COUNTED.fullmatch(key):
        return all(after - before > _NEAR for before, after in pairwise(on))
    if key[-1:] not in SENTENCE_ENDS or len(on) > _DENSE * (on[-1] - on[0] + 1):
        return False
    return any(line.strip().casefold() == key and not line.isupper() for line in edges(pages[on[0]]))


def _note(skipped: dict[str, list[str]], omissions: Omissions) -> None:
    for key, lines in skipped.items():
        words = sum(map(count_words, lines))
        if key == "#":
            omissions.skip_element("page number", words, times=len(lines))
        else:
            shown = one_line(NUMBER.sub("#", lines[0]) if "#" in key else lines[0], 80)
            omissions.skip(f'"{shown}" on {counted(len(lines), "page")}', words, kind="running head")
