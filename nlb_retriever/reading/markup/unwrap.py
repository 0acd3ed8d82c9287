"""Hard-wrapped text to paragraphs on one line each; verse, tables and addresses keep their lines.

A line break is the wrapping's, not the author's, if the next line's first word would not have
fitted on the line. A block whose breaks are nearly all of that kind is a paragraph.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from itertools import groupby, pairwise

from nlb_retriever.reading.headings.underlined import is_rule

_BLANK = re.compile(r"\n(?:[ \t]*\n)+")
_TERMINAL = re.compile(r"[.!?:;…]['\"”’»“«)\]_*]*$")
_SAMPLE_LINES = 20_000
_TERM = 0.6
"""Share of the width that a term on a line of its own takes at most, above what it means."""
_CUT = "\0"
"""Behind a hyphen at the end of a line; no text has it after `clean`."""
_WORD = re.compile(r"[^\W\d_]+(?:-[^\W\d_]+)*")
_CUT_WORD = re.compile(rf"(?<![^\W\d_])(?<!-)({_WORD.pattern})-{_CUT}({_WORD.pattern})")
_CUT_LINE = re.compile(rf"-[^\S\n]*\n\s*({_WORD.pattern})")
_GAP_IN_WORD = re.compile(r"-\n(?<=[^\W\d_]-\n)(?:[^\S\n]{0,9}\n){1,5}(?=[a-zß-öø-ÿ])")
"""Between the columns of a page."""
_FIRST_PART = re.compile(rf"(?<![^\W\d_])({_WORD.pattern})-$")
_LONGEST = 60
"""Characters before a hyphen in which the first part of a word lies."""


def wrap_width(text: str) -> int | None:
    """The width at which text is hard-wrapped, or None where it is not.

    Wrapped means: of the lines that another line follows directly, most end within a word of a
    width that is the same all over the text.
    """
    head = text[:2_000_000]
    if len(head) > 400 * (head.count("\n") + 1):
        return None
    lines = [line.rstrip() for line in head.split("\n")[:_SAMPLE_LINES]]
    pairs = [(a, b) for a, b in pairwise(lines) if a and b and not a.startswith(("    ", "\t"))]
    if len(pairs) < 8:
        return None
    width = sorted(len(a) for a, _ in pairs)[int(0.98 * (len(pairs) - 1))]
    if not 45 <= width <= 120 or sum(len(line) for line in lines if len(line) > width + 20) > 0.05 * len(head):
        return None
    if sum(_verse_like(b) for _, b in pairs) > 0.6 * len(pairs):
        return None
    return width if sum(_full(a, b, width) for a, b in pairs) > 0.6 * len(pairs) else None


def _verse_like(line: str) -> bool:
    """Whether a line begins with a capital, as nearly all of a poem do and few of a paragraph."""
    return line.lstrip(" \t\"'“‘([_—-")[:1].isupper()


def _full(line: str, following: str, width: int) -> bool:
    """Whether the next line's first word would not have fitted, or is the rest of one: the break is the wrapping's."""
    if len(line) > width + 12:
        return False
    first = following.split(maxsplit=1)[0]
    return width - 5 < len(line) + 1 + len(first) or (line[-1] == "-" and line[-2:-1].isalpha() and first[0].islower())


def unwrap(text: str, width: int) -> str:
    """Join the lines of each paragraph; paragraphs stay apart by their blank lines, but none ends within a word."""
    text = _GAP_IN_WORD.sub("-\n", text)
    parts: list[str] = []
    position = 0
    for gap in _BLANK.finditer(text):
        parts.append(_join_between_rules(text[position : gap.start()], width))
        parts.append("\n" * min(gap[0].count("\n"), 5))
        position = gap.end()
    parts.append(_join_between_rules(text[position:], width))
    return _join_words("".join(parts), text)


def _join_between_rules(block: str, width: int) -> str:
    """Join the lines between rules such as "-----", which stay apart; below one begins a paragraph."""
    lines = block.split("\n")
    if not any(map(is_rule, lines)):
        return _join_block(block, width)
    groups = groupby(lines, key=lambda line: is_rule(line) is not None)
    parts = [("\n".join(group) + "\n") if rules else _join_block("\n".join(group), width) for rules, group in groups]
    return "\n".join(parts).removesuffix("\n")


def _join_block(block: str, width: int) -> str:
    lines = [stripped for line in block.split("\n") if (stripped := line.rstrip())]
    if len(lines) < 2:
        return "\n".join(lines)
    indents = [len(line) - len(line.lstrip()) for line in lines]
    base = min(indents)
    if len(lines) > 2 and indents[0] > base and all(i == base for i in indents[1:]):
        indents[0] = base  # an indented first line only
    full = [_full(line, following, width) for line, following in pairwise(lines)]
    share = sum(full) / len(full)
    steady = all(i == base for i in indents[:-1])
    if base >= 8 or any("  " in line.strip().replace(".  ", ". ") and re.search(r"\S {4,}\S", line) for line in lines):
        return "\n".join(lines)  # centred, a table
    narrow = _narrow_paragraph(lines) if share < 0.6 and steady and len(lines) >= 3 else False
    if len(lines) >= 4 and all(_verse_like(line) for line in lines):
        return "\n".join(lines)
    if steady and (share >= 0.6 or narrow):
        if len(lines) >= 8 and not narrow and share < 0.97:
            return _join_where(lines, full)
        return _glue(lines)
    is_term = not full[0] and len(lines[0]) < _TERM * width and all(i == indents[1] > base for i in indents[1:])
    if share >= 0.75 and is_term:
        return f"{lines[0]}\n{_glue(lines[1:])}"
    if share >= 0.75:  # paragraphs set apart by indents alone
        return _join_where(lines, [f and indents[i + 1] == base for i, f in enumerate(full)])
    return "\n".join(lines)


def _narrow_paragraph(lines: list[str]) -> bool:
    """A paragraph wrapped narrower than the rest: greedy breaks at its own width, prose inside."""
    own = max(len(line) for line in lines)
    if own < 40 or any(not line[0].islower() for line in lines[1:] if line) > 0.5 * len(lines):
        return False
    breaks = [len(a) + 1 + len(b.split(maxsplit=1)[0]) > own - 3 for a, b in pairwise(lines)]
    lower = sum(line.lstrip()[:1].islower() for line in lines[1:])
    return all(breaks) and lower >= 0.5 * (len(lines) - 1)


def _join_where(lines: list[str], joined: list[bool]) -> str:
    """Join full lines; a short one that ends a sentence ends its paragraph."""
    groups: list[list[str]] = [[lines[0]]]
    for i, line in enumerate(lines[1:]):
        if joined[i] or not _TERMINAL.search(lines[i]):
            groups[-1].append(line)
        else:
            groups.append([line])
    return "\n".join(_glue(group) for group in groups)


def _glue(lines: list[str]) -> str:
    parts = [lines[0]]
    for line in map(str.strip, lines[1:]):
        last = parts[-1]
        hyphen = len(last) > 1 and last[-1] == "-" and last[-2].isalpha() and line[:1].islower()
        if hyphen:
            parts.append(_CUT)
        elif not last.endswith(("--", "—")):
            parts.append(" ")
        parts.append(line)
    return "".join(parts)


def _join_words(text: str, wrapped: str) -> str:
    """A text without the hyphens that only part words at the ends of lines."""
    if _CUT not in text:
        return text
    whole = find_cut_words([(match[1], match[2]) for match in _CUT_WORD.finditer(text)], wrapped)

    def join(match: re.Match[str]) -> str:
        return f"{match[1]}{'' if (match[1], match[2]) in whole else '-'}{match[2]}"

    return _CUT_WORD.sub(join, text).replace(_CUT, "")


def find_cut_words(pairs: Sequence[tuple[str, str]], text: str) -> set[tuple[str, str]]:
    """Of pairs of what stands before and behind a hyphen at the end of a line those that are one word.

    These are words that the text has whole elsewhere. One that it has neither whole nor with a hyphen is taken as most
    of the others are; those of Project Gutenberg keep their hyphens.
    """
    counts = Counter(word.casefold() for word in _WORD.findall(text))

    def lead(pair: tuple[str, str]) -> int:
        """How much oftener the word comes whole."""
        return counts["".join(pair).casefold()] - counts["-".join(pair).casefold()]

    leads = [lead(pair) for pair in pairs]
    parted = sum(each > 0 for each in leads) > sum(each < 0 for each in leads)
    return {pair for pair, each in zip(pairs, leads, strict=True) if each > 0 or (parted and each == 0)}


def cut_words(text: str) -> set[tuple[str, str]]:
    """The words that a text has parted by a hyphen at the ends of lines, each as its two parts."""
    cuts = [parts_of_word(text[max(0, m.start() - _LONGEST) : m.start() + 1], m[1]) for m in _CUT_LINE.finditer(text)]
    pairs = [pair for pair in cuts if pair]
    return find_cut_words(pairs, text) if pairs else set()


def parts_of_word(before: str, after: str) -> tuple[str, str] | None:
    """The last word of a text that ends with a hyphen, and the first of the next, in small letters, which may go on."""
    first, rest = _FIRST_PART.search(before[-_LONGEST:]), _WORD.match(after)
    return (first[1], rest[0]) if first and rest and after[0].islower() else None
