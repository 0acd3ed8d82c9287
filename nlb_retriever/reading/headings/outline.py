"""From lines that look like headings to the headings of a text.

In order: lines are parsed (looks.py), titles on the following line are taken up, a table of
contents and running heads are dropped, numbers must ascend, levels follow from who lies inside
whom. What remains is handed to `structure.partition`.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from itertools import pairwise
from textwrap import shorten

from nlb_retriever.reading.draft import Draft, Heading
from nlb_retriever.reading.headings.clauses import add_clauses
from nlb_retriever.reading.headings.contents import drop_contents, find_listed, normal
from nlb_retriever.reading.headings.entries import with_entries
from nlb_retriever.reading.headings.levels import (
    assign_levels,
    bare_chains,
    continue_kinds,
    make_loners_titles,
    sections_of_titles,
)
from nlb_retriever.reading.headings.lines import line_spans, stand_alone
from nlb_retriever.reading.headings.listed import find_listed_titles, lists_better
from nlb_retriever.reading.headings.looks import (
    CAST,
    KIND_LEVELS,
    MAX_LINE,
    OF_LAWS,
    STAGE,
    UNNUMBERED,
    Candidate,
    has_speaker,
    is_speech,
    parse_line,
    strip_line,
    title_like,
)
from nlb_retriever.reading.headings.manual_pages import find_manual_sections
from nlb_retriever.reading.headings.numbering import is_reference, numbered_lines
from nlb_retriever.reading.headings.series import find_series
from nlb_retriever.reading.headings.titles import (
    UNNUMBERED_LEVEL,
    fill_long_stretches,
    regular_titles,
    without_subtitles,
)
from nlb_retriever.reading.headings.underlined import find_marked, find_underlined
from nlb_retriever.reading.headings.verses import find_chapters_of_verses

_TITLES = {"caps", "plain", "front", "named"}
_CONTAINERS = {"volume", "part", "book", "act", "scene"}
MARKED = 2
"""Headings of a file, or paragraphs in its styles for them, from which they tell the sections."""
_LAW = 0.2
"""Share of a text that half of its articles, those in the middle, take at least."""
_WHOLE_LAW = 0.7
"""The same of all of them, where those in the middle are short: ten amendments."""
_STOP = re.compile(r"\.(?:\s|$)")
_ROMAN_WORD = re.compile(r"I \w")
"""A title that begins with the word "I" looks like a number."""
_FEW = 4
"""Headings outside a chain of section numbers that do not count: a preface, an index."""
_ITEM = re.compile(r"^[^\S\n]*\d{1,3}[.:)][^\S\n]*\S", re.MULTILINE)
_ITEMS, _CHAPTERS = 20, 0.15
"""Lines that begin with a number, and the share of them that chapters have at least: of 650 texts the chapters of none
have between 0.15 and 0.2 of 20 such lines."""
_MIDDLE = re.compile(r"[\w,;]$")
_EMPHASIS = re.compile(r"(?<![^\W_])_([^_]+)_|_([^_]+)_(?![^\W_])|(?<![^\W_])_+|_+(?![^\W_])|=")
"""Marks of italics and bold: not those within "ignore_quotes"."""
_SUMMARY = re.compile("chap", re.IGNORECASE)
_LONGEST_SUMMARY = 400
"""Characters of what stands in a chapter, as its title."""
_FOOTNOTE = re.compile(r"\s?\[(?:\d{1,3}|[A-Z*†])\]")


def find_headings(text: str) -> list[Heading]:
    """The headings of a plain text whose paragraphs stand on one line each; empty if it has none."""
    if of_verses := find_chapters_of_verses(text):
        return of_verses
    if of_manual := find_manual_sections(text):
        return of_manual
    spans = line_spans(text)
    blank = stand_alone(text, spans)
    found = _find(text, _candidates(text, spans, blank))
    series = find_series(text, spans, blank)
    if series and (_of_series(found, series) or _leave_long_stretches(found, len(text))):
        found = _find(text, _candidates(text, spans, blank, series)) or found
    numbered = _numbered(text, spans, blank)
    if numbered and not _leave_long_stretches(numbered, len(text)) and not _outside(numbered, found):
        found = numbered
    marked = max(find_underlined(text), find_marked(text), key=len)
    if 2 * len(marked) >= max(len(found), 1):
        found = marked
    listed, table = find_listed_titles(text, spans, blank)
    if lists_better(listed, found):
        found = table + listed
    found = add_clauses(text, spans, blank, found)
    found = with_entries(text, found)
    return [replace(h, title=_FOOTNOTE.sub("", _EMPHASIS.sub(r"\1\2", h.title))) for h in found]


def add_unmarked(draft: Draft) -> None:
    """Give a draft the headings of its text where its file marks fewer than two as such."""
    if len(draft.headings) < MARKED:
        draft.headings = find_headings(draft.text) or draft.headings


def _of_series(found: Sequence[Heading], series: Sequence[Candidate]) -> bool:
    """Whether most headings are known as lines of a series, too."""
    starts = {candidate.start for candidate in series}
    return 2 * sum(heading.start in starts for heading in found) >= len(found)


def choose_headings(by_look: list[Heading], text: str) -> list[Heading]:
    """Headings by how they are set, unless the words of the text tell better where its sections begin."""
    if by_look and not _leave_long_stretches(by_look, len(text)):
        return by_look
    of_words = find_headings(text)
    return by_look if len(by_look) >= len(of_words) and _leave_long_stretches(of_words, len(text)) else of_words


def _outside(numbered: Sequence[Heading], found: Sequence[Heading]) -> bool:
    """Whether many headings lie before or after a chain of section numbers: of an appendix, or one paper of several."""
    starts = [heading.start for heading in numbered]
    outside = sum(not min(starts) <= heading.start <= max(starts) for heading in found)
    return outside > max(_FEW, len(numbered) // 5)


def _numbered(text: str, spans: Sequence[tuple[int, int]], blank: Sequence[bool]) -> list[Heading]:
    """Headings by section numbers, with parts, chapters, appendices and prefaces; empty if there are none."""
    alone = [span for i, span in enumerate(spans) if blank[i]]
    lines = [text[start : min(end, start + 2 * MAX_LINE)] for start, end in alone]
    chain = numbered_lines(lines)
    if not chain:
        return []
    own = {alone[found.line][0] for found in chain}
    candidates = _candidates(text, spans, blank)
    others = [c for c in candidates if c.start not in own and not is_reference(text[c.start : c.end])]
    others = _drop_repeats(drop_contents(others))
    outermost = {"volume", "part", "book"} & {c.kind for c in others}
    level = len(outermost) + 1
    kinds = {"named"}
    if sum(len(found.number) == 1 for found in chain) < sum(c.kind == "chapter" for c in others):
        kinds = {"named", "chapter"}
        chain = [found for found in chain if len(found.number) > 1]
    return [
        *(Heading(alone[found.line][0], level + len(found.number) - 1, lines[found.line].strip()) for found in chain),
        *(Heading(c.start, level, c.title) for c in others if c.kind in kinds),
        *(Heading(c.start, 1, c.title) for c in others if c.kind in outermost),
    ]


def _find(text: str, found: list[Candidate]) -> list[Heading]:
    if not found:
        return []
    found = _without_decrees(_drop_repeats(drop_contents(found)), len(text))
    continue_kinds(found)
    make_loners_titles(found)
    numbered = [c for c in found if c.kind not in UNNUMBERED]
    chains = _without_lists(text, bare_chains([c for c in found if c.kind == "bare"]))
    caps = regular_titles(_standing_alone(found), len(text), least=3)
    inner = chains if not numbered else sections_of_titles(numbered)
    if len(caps) > 4 and inner and all(_inside_one(chain, caps) for chain in inner):
        tales = [*_level(caps, UNNUMBERED_LEVEL), *_level([c for c in found if c.kind == "named"], UNNUMBERED_LEVEL)]
        volumes = _level([c for c in numbered if c.kind == "volume"], 1)
        return volumes + tales + [h for chain in inner for h in _level(chain, UNNUMBERED_LEVEL + 1)]
    strict = assign_levels(text, found, numbered, chains) if numbered or chains else []
    if strict and not _leave_long_stretches(strict, len(text)):
        return strict
    titles = caps or regular_titles([c for c in found if c.kind in {"plain", "caps"}], len(text), least=5, dense=True)
    if not titles:
        return strict
    if len(strict) >= 5:
        return [*strict, *fill_long_stretches(strict, titles, len(text))]
    named = [c for c in found if c.kind == "named"]
    merged = sorted([*titles, *named], key=lambda c: c.start)
    return _level(without_subtitles(merged), UNNUMBERED_LEVEL)


def _without_lists(text: str, chains: Sequence[list[Candidate]]) -> list[list[Candidate]]:
    """The chains, but for Arabic ones where most paragraphs with such numbers are in none: notes, senses of words."""
    others = [chain for chain in chains if chain[0].style != "arabic"]
    arabic = sum(map(len, chains)) - sum(map(len, others))
    items = sum(1 for _ in _ITEM.finditer(text)) if arabic else 0
    return others if items >= _ITEMS and arabic < _CHAPTERS * items else [*chains]


def _level(found: Sequence[Candidate], level: int) -> list[Heading]:
    return [Heading(c.start, level, c.title) for c in found]


def _standing_alone(found: Sequence[Candidate]) -> list[Candidate]:
    """Title lines in capitals, except those that a number above them took as its title.

    Where three quarters end without a stop, the others are none: names below prefaces and mottoes.
    """
    taken = {c.line for c in found if c.number}
    alone = [c for c in found if c.kind == "caps" and c.line not in taken]
    without = [c for c in alone if not c.title.endswith(".")]
    return without if 4 * len(without) >= 3 * len(alone) else alone


def _inside_one(chain: Sequence[Candidate], titles: Sequence[Candidate]) -> bool:
    """Whether a chain of numbers lies under one title: the chapters of one tale of a collection."""
    return not any(chain[0].start < t.start < chain[-1].start for t in titles)


def _leave_long_stretches(headings: Sequence[Heading], size: int) -> bool:
    """Whether numbered headings leave most of the text without any: a list in an appendix, one "PART II"."""
    starts = sorted(h.start for h in headings)
    longest = max(b - a for a, b in pairwise([0, *starts, size]))
    return longest > max(0.3 * size, 60_000) or longest > 120_000


def _candidates(
    text: str, spans: Sequence[tuple[int, int]], blank: Sequence[bool], series: Sequence[Candidate] = ()
) -> list[Candidate]:
    of_series = {candidate.start: candidate for candidate in series}
    listed = find_listed(text, spans)
    found: list[Candidate] = []
    last_line, chapter, of_cast = -2, 0, False
    for i, (start, end) in enumerate(spans):
        of_cast = CAST.fullmatch(text, start, end) is not None or (of_cast and not blank[i + 1])
        if of_cast:
            continue
        inner = not (blank[i] or last_line == i - 1)
        long = _LONGEST_SUMMARY if blank[i] and blank[i + 1] and _SUMMARY.match(text, start) else MAX_LINE
        if end - start > (24 if inner else long) or start in listed:
            continue
        line = shorten(text[start:end], MAX_LINE, placeholder="…") if end - start > MAX_LINE else text[start:end]
        here = [of_series[start]] if start in of_series else parse_line(line, start, end)
        if end - start > MAX_LINE and not (here and (here[0].kind, here[0].number) == ("chapter", chapter + 1)):
            continue
        chapter = here[0].number if here and here[0].kind == "chapter" else chapter
        if inner and not (here and here[0].kind in _CONTAINERS and not here[0].rest and line.isupper()):
            continue
        if not here and blank[i] and blank[i + 1] and _plain(line):
            title = strip_line(line)
            here = [Candidate(start, end, "plain", 0, title, title)]
        if here and here[0].kind in {"named", "front"} and not blank[i]:
            here = []
        if here and here[0].kind == "bare" and not (here[0].rest or blank[i + 1] or _caps_line(text, spans, i + 1)):
            here = []
        if here and here[0].kind == "caps" and not blank[i + 1] and not _caps_line(text, spans, i + 1):
            here = []
        if not here:
            continue
        last_line = i
        for candidate in here:
            candidate.line = i
        if _interrupts(text, spans, i):
            continue
        _take_title(text, spans, blank, i, here[-1])
        found.extend(here)
    return found


def _plain(line: str) -> bool:
    text = strip_line(line)
    return (
        0 < len(text) <= 90
        and not has_speaker(text)
        and not STAGE.match(text)
        and text[0] not in "“\"‘'(["
        and not text.endswith((".", "!", '"', "”", "'", "’", ")"))
        and title_like(text)
        and (text[-1] != "?" or sum(w[:1].isupper() for w in text.split()) > 0.6 * len(text.split()))
    )


def _caps_line(text: str, spans: Sequence[tuple[int, int]], i: int) -> bool:
    start, end = spans[i]
    return end - start <= MAX_LINE and (line := text[start:end]).isupper() and title_like(line)


def _interrupts(text: str, spans: Sequence[tuple[int, int]], i: int) -> bool:
    """Whether the line stands inside a sentence, as a running head or a page number does."""
    if i == 0 or i + 1 >= len(spans):
        return False
    before = text[max(spans[i - 1][0], spans[i - 1][1] - 8) : spans[i - 1][1]].rstrip()
    long_before = spans[i - 1][1] - spans[i - 1][0] > MAX_LINE
    return long_before and bool(_MIDDLE.search(before)) and text[spans[i + 1][0]].islower()


def _take_title(text: str, spans: Sequence[tuple[int, int]], blank: Sequence[bool], i: int, c: Candidate) -> None:
    """A heading that is only a number takes the short title lines below it as its title."""
    if c.rest or c.kind in {"named", "front", "caps", "plain", "scene"}:
        return
    taken: list[str] = []
    for j in range(i + 1, min(i + 4, len(spans))):
        start, end = spans[j]
        line = strip_line(text[start : min(end, start + MAX_LINE)])
        if (
            end - start > (MAX_LINE if c.kind in OF_LAWS else 130)
            or not line
            or (taken and blank[j])
            or (c.kind in OF_LAWS and _STOP.search(line))
        ):
            break
        below = parse_line(line, start, end)
        if below and below[0].kind != "caps" and not (below[0].rest and _ROMAN_WORD.match(line)):
            break
        alone = blank[j + 1]
        of_law = c.kind in OF_LAWS and alone and not taken and line[0].isupper() and line[-1] not in ",;:"
        is_title = title_like(line, caseless=alone) and (line.isupper() or (alone and not is_speech(line)))
        if not (of_law or is_title):
            break
        taken.append(line)
        c.end, c.line = end, j
    if taken:
        c.rest = " ".join(taken)
        c.title = f"{c.title.rstrip('.:')}. {c.rest}"


def _drop_repeats(found: list[Candidate]) -> list[Candidate]:
    """Remove running heads and speakers' names: the same words over and over."""
    words = Counter(normal(c.title) for c in found if c.kind in _TITLES)
    kept: list[Candidate] = []
    latest: dict[str, Candidate] = {}
    for c in found:
        if c.kind in _TITLES and words[normal(c.title)] > 3:
            continue
        if c.kind in KIND_LEVELS and c.number:
            last = latest.get(c.kind)
            if last and last.number == c.number and last.style == c.style and normal(last.title) == normal(c.title):
                continue  # "BOOK I" printed again above each of its chapters
            latest = {k: v for k, v in latest.items() if KIND_LEVELS[k] < KIND_LEVELS[c.kind]}
            latest[c.kind] = c
        kept.append(c)
    return kept


def _without_decrees(found: list[Candidate], size: int) -> list[Candidate]:
    """Without articles of a short stretch: of a law in a novel or an appendix. In capitals they are titles."""
    of_laws = [c for c in found if c.kind in OF_LAWS and c.kind != "annex"]  # those of a contract stand at its end
    quarter = len(of_laws) // 4
    length = of_laws[-1 - quarter].start - of_laws[quarter].start if of_laws else size
    if length >= _LAW * size or (quarter and of_laws[-1].start - of_laws[0].start >= _WHOLE_LAW * size):
        return found
    for c in of_laws:
        if c.title.isupper():
            c.kind, c.number, c.rest = "caps", 0, c.title
    return [c for c in found if c.kind not in OF_LAWS]
