"""Which headings are numbered in earnest, and which of them lie inside which."""

from __future__ import annotations

from bisect import bisect_right
from collections import Counter, defaultdict
from collections.abc import Sequence
from itertools import pairwise
from statistics import mean, median, pstdev

from nlb_retriever.reading.draft import Heading
from nlb_retriever.reading.headings.looks import KIND_LEVELS, OF_LAWS, UNNUMBERED, Candidate

Chain = list[Candidate]
_CHAPTER, _INNER, _DEEPEST = 4, 5, 7
_NEAR = 420
"""A part's title stands at most this far above its first chapter."""
_OPEN = 40
"""Chains begun this many chains ago are closed: bounds the work on lists of numbers."""
_ASIDE = {"note", "notes", "summary", "argument", "references", "index", "characters", "conclusion", "coda"}


def continue_kinds(found: Sequence[Candidate]) -> None:
    """After "ADVENTURE VI." a line "VII. THE BLUE CARBUNCLE" is of the same kind; "7. A Bell" is a point."""
    latest: dict[str, Candidate] = {}
    counts = Counter(c.kind for c in found)
    named = {(c.kind, c.number) for c in found if c.kind in OF_LAWS}
    for c in found:
        if c.kind == "bare" and c.rest and c.number > 2:
            kinds = [
                k
                for k, last in latest.items()
                if (last.number + 1, last.style) == (c.number, c.style)
                and counts[k] > 2
                and k not in {"volume", "scene"}
                and (k, c.number) not in named  # a paragraph of article 2
            ]
            if kinds:
                c.kind = kinds[-1]
        if c.kind not in UNNUMBERED:
            latest.pop(c.kind, None)
            latest[c.kind] = c


def make_loners_titles(found: Sequence[Candidate]) -> None:
    """One "THE SECOND NIGHT" is a title, not a number: such kinds count from two on."""
    counts = Counter(c.kind for c in found)
    for c in found:
        if counts[c.kind] == 1 and c.kind not in UNNUMBERED and c.kind not in KIND_LEVELS and c.kind != "annex":
            c.kind, c.number, c.rest = "caps" if c.title.isupper() else "plain", 0, c.title


def bare_chains(found: Sequence[Candidate]) -> list[Chain]:
    """Chains of bare numbers that ascend by one, as chapters do and page or list numbers do not."""
    chains: list[Chain] = []
    for c in found:
        recent = [k for k in chains[-_OPEN:] if k[-1].style == c.style and k[-1].number < c.number]
        nexts = [k for k in recent if k[-1].number + 1 == c.number]
        nexts = nexts or [k for k in recent if len(k) > 2 and c.number - k[-1].number <= 3]
        home = nexts[-1] if nexts else None
        if home is not None:
            home.append(c)
        elif c.number <= 2:
            chains.append([c])
    return sorted((k for k in chains if _real(k)), key=lambda k: k[0].start)


def sections_of_titles(numbered: Sequence[Candidate]) -> list[Chain]:
    """The sections, where nothing else has a number but volumes, from each that begins anew; empty where few do."""
    chains: list[Chain] = []
    for c in numbered:
        if c.kind not in {"volume", "section"}:
            return []
        if c.kind == "section" and (not chains or c.number <= chains[-1][-1].number):
            chains.append([])
        if c.kind == "section":
            chains[-1].append(c)
    return chains if sum(chain[0].number == 1 for chain in chains) > 2 else []


def _real(chain: Chain) -> bool:
    bodies = [b.start - a.end for a, b in pairwise(chain)]
    if len(chain) < 2 or median(bodies) < 500:
        return False
    if len(chain) == 2:
        return chain[0].number == 1 and bodies[0] > 2_000
    if chain[0].style == "arabic" and len(chain) > 30 and median(bodies) < 4_000:
        return pstdev(bodies) > 0.4 * mean(bodies)  # else pages of a print
    return True


def assign_levels(
    text: str, found: Sequence[Candidate], numbered: Sequence[Candidate], chains: Sequence[Chain]
) -> list[Heading]:
    """Levels for all that is numbered, with preface, epilogue and part titles around it."""
    kinds: dict[str, Chain] = defaultdict(list)
    for c in numbered:
        kinds[c.kind].append(c)
    levels = {id(c): level for kind, level in _kind_levels(kinds).items() for c in kinds[kind]}
    for chain in chains:
        level = _bare_level(chain, chains, kinds, len(text))
        levels |= {id(c): level for c in chain}
    levels |= {id(c): min(levels.values()) for c in kinds["annex"]}
    main = sorted((c for c in found if id(c) in levels), key=lambda c: c.start)
    parts = _part_titles(found, main, levels)
    top = min(levels.values())
    leaf = max((v for v in levels.values() if v <= _CHAPTER), default=top)
    starts = [c.start for c in main]
    headings = [Heading(c.start, levels[id(c)], c.title) for c in main]
    headings += [Heading(c.start, level, c.title) for c, level in parts]
    if parts:
        top = min(top, *(level for _, level in parts))
    by_start = {h.start: h.level for h in sorted(headings, key=lambda h: -h.level)}
    for c in found:
        if c.kind != "named":
            continue
        aside = c.title.casefold().split()[0].strip(".:") in _ASIDE
        i = bisect_right(starts, c.start)
        behind = leaf if aside else top
        level = behind if i == len(main) else _DEEPEST if aside and i else by_start[starts[i]]
        headings.append(Heading(c.start, level, c.title))
    return headings


def _kind_levels(kinds: dict[str, Chain]) -> dict[str, int]:
    levels = {kind: KIND_LEVELS.get(kind, _CHAPTER) for kind in kinds}
    if "book" in kinds and "part" in kinds:
        fewer = "book" if len(kinds["book"]) < len(kinds["part"]) else "part"
        levels |= {"book": 3, "part": 3, fewer: 2}
    if len(kinds.get("article", ())) > len(kinds.get("section", ())) > 0:
        levels["article"] = _INNER + 1  # of the European Union's laws; those of a constitution have sections
    chapters = kinds.get("chapter", [])
    if len(chapters) < 3:
        return levels
    restarts = sum(c.number == 1 for c in chapters)
    for kind, members in kinds.items():
        inside = [c for c in members if chapters[0].start < c.start < chapters[-1].start]
        if kind in {"volume", "part", "book"}:
            if len(members) > 2 and sum(c.number == 1 for c in members) > max(1, restarts):
                levels[kind] = _INNER  # parts of chapters
        elif levels[kind] == _CHAPTER and kind != "chapter" and len(inside) > 0.5 * len(members):
            levels[kind] = _INNER
    return levels


def _bare_level(chain: Chain, chains: Sequence[Chain], kinds: dict[str, Chain], size: int) -> int:
    level = _CHAPTER
    start, end = chain[0].start, chain[-1].start
    for kind, members in kinds.items():
        if KIND_LEVELS.get(kind, _CHAPTER) < 3 or len(members) < 2 or members[0].start > start:
            continue
        if members[-1].start < start and end - start > 0.3 * size:
            continue  # a few letters, then all the chapters
        level = _INNER + 1
    nested = sum(
        any(a.start < start and end < b.start for a, b in pairwise(other))
        for other in chains[:_OPEN]
        if other is not chain and len(other) > 2
    )
    return min(level + nested, _DEEPEST)


def _part_titles(
    found: Sequence[Candidate], main: Sequence[Candidate], levels: dict[int, int]
) -> list[tuple[Candidate, int]]:
    """Titles of parts above a restart of the numbering; "Part 2" where a restart has none."""
    lowest = min(levels.values())
    leading = Counter(c.kind for c in main if levels[id(c)] == lowest).most_common(1)[0][0]
    firsts = [
        (i, c)
        for i, c in enumerate(main)
        if c.number == 1 and c.kind == leading and levels[id(c)] == lowest and lowest > 2
    ]
    runs = [b - a for a, b in pairwise([i for i, _ in firsts] + [len(main)])]
    if len(firsts) < 2 or sum(run > 1 for run in runs) < 2:
        return []
    titles = [c for c in found if c.kind in {"caps", "plain"}]
    title_starts = [t.start for t in titles]
    taken: list[tuple[Candidate, int]] = []
    missing: list[tuple[int, Candidate]] = []
    for n, (i, c) in enumerate(firsts, 1):
        floor = main[i - 1].end if i else -1
        near = titles[bisect_right(title_starts, max(floor, c.start - 2 * _NEAR)) : bisect_right(title_starts, c.start)]
        above = [t for t in near if 0 <= c.start - t.end <= _NEAR]
        if above:
            taken.append((above[0], lowest - 1))
        else:
            missing.append((n, c))
    if len(taken) < len(missing):
        taken, missing = [], [(n, c) for n, (_, c) in enumerate(firsts, 1)]
    taken += [(Candidate(c.start, c.start, "part", n, f"Part {n}"), lowest - 1) for n, c in missing]
    return taken
