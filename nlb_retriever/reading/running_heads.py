"""Running heads and page numbers of printed pages: found by their repetition, skipped and named."""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Callable, Iterator, Sequence

from nlb_retriever.reading.draft import one_line
from nlb_retriever.reading.headings import parse_line
from nlb_retriever.reading.number_words import roman
from nlb_retriever.reading.omissions import Omissions, count_words

_NUMBER_LINE = re.compile(r"[-–—\[( ]*(?:(?P<arabic>\d{1,4})|(?P<roman>[ivxlcIVXLC]{1,7}))[-–—\]) ]*")
_NUMBER = re.compile(r"(?:(?<=[\s|·•\[(–—:-])|^)\d{1,4}(?=[\s|·•\])–—-]|$)")
_HEADING = r"(?:(?:chapter|appendix|section|part)\s+[\dA-Z]{1,4}\b|\d{1,2}(?:\.\d{1,3})+|[A-Z](?:\.\d{1,3})+)[.:]?\s+"
_HEADING_AND_PAGE = re.compile(
    rf"(?!.*(?:\. ?){{3}})(?:{_HEADING}.*[^\W\d_]{{2}}.*\s(?P<last>\d{{1,4}})"
    rf"|(?P<first>\d{{1,4}})\s+{_HEADING}.*[^\W\d_]{{2}}.*)",
    re.IGNORECASE,
)
_HEADING_KEY = "heading #"
"""Of all running heads with the number of the chapter or section, its title and the page ("Chapter 2: Bells 31")."""
_WORDS_AND_PAGE = re.compile(
    r"(?=.{,60}$)(?:(?P<first>\d{1,3})[\s|·•–—-]{1,5}(?P<after>[^\W\d_].*)"
    r"|(?P<before>[^\W\d_].*?)[\s|·•–—-]{1,5}(?P<last>\d{1,3}))"
)
_AROUND, _LEAST_AROUND = 4, 2
"""On so many pages of so many before and behind numbers that count the pages show which number a page has."""
_COUNTED = re.compile(r"[A-Z][a-z]+\W*\d+\W*")
"""A name with a number ("Psalm 12", "Figure 3") is no running head, whatever the page."""
_PAGE_WORDS = re.compile(r"(?:page|pg|p|seite|página|pagina|pag|blz|folio)\b", re.IGNORECASE)
_DATE_TEXT = """
    january february march april may june july august september october november december januar februar märz mai
    juni juli oktober dezember janvier février mars avril juin juillet août septembre octobre novembre décembre
    enero febrero marzo abril mayo junio julio agosto septiembre octubre noviembre diciembre gennaio febbraio aprile
    maggio giugno luglio settembre ottobre dicembre jan feb mar apr jun jul aug sept sep oct nov dec monday tuesday
    wednesday thursday friday saturday sunday lundi mardi mercredi jeudi vendredi samedi dimanche montag dienstag
    mittwoch donnerstag freitag samstag sonntag
"""
DATE_WORDS = frozenset(_DATE_TEXT.split())
_EDGE = 2
"""Lines at a page's top and bottom that are looked at."""
_SENTENCE_ENDS = frozenset('.!?”"’»…')
_DENSE = 0.25
"""Share of pages on which a running head stands at least, from its first to its last: often every second one."""
_YEAR, _MANY_PAGES = 1_000, 500
"""A number from the first on is a year, not a page's, in books of fewer pages than the second."""


def without_running_heads(pages: Sequence[list[str]], labels: Sequence[str], omissions: Omissions) -> list[list[str]]:
    """Skip, at the edges of pages, the lines that repeat there, and page numbers.

    A line whose numbers differ repeats only where they count the pages. No page is emptied of words.

    Args:
        pages: their lines.
        labels: the page numbers as the file gives them; may be empty strings.
        omissions: where what is skipped is noted.
    """
    key_of = _keys(pages, labels)
    on_pages: defaultdict[str, list[int]] = defaultdict(list)
    for i, lines in enumerate(pages):
        for key in {key_of(i, line) for line in _edges(lines)}:
            on_pages[key].append(i)
    seen = {key: len(on) for key, on in on_pages.items() if not _is_scattered_sentence(key, on, pages)}
    least = _least(len(pages))
    met: set[str] = set()
    skipped: defaultdict[str, list[str]] = defaultdict(list)
    kept_pages: list[list[str]] = []
    for i, lines in enumerate(pages):

        def running(line: str, i: int = i) -> bool:
            key = key_of(i, line)
            if key in {"#", _HEADING_KEY}:
                return True
            first = key not in met and (bool(parse_line(line, 0, 0)) or any(map(str.isdigit, key)))
            return seen.get(key, 0) >= least and not first  # the first may be a heading, or a date

        top, bottom = 0, len(lines)
        while top < min(_EDGE, bottom) and running(lines[top]):
            top += 1
        while bottom > max(top, len(lines) - _EDGE) and running(lines[bottom - 1]):
            bottom -= 1
        met.update(key_of(i, line) for line in _edges(lines))
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


def _is_scattered_sentence(key: str, on: Sequence[int], pages: Sequence[Sequence[str]]) -> bool:
    """Whether a line is one that people say ("Certainly."): on few of the pages from its first to its last."""
    if key[-1:] not in _SENTENCE_ENDS or len(on) > _DENSE * (on[-1] - on[0] + 1):
        return False
    return any(line.strip().casefold() == key and not line.isupper() for line in _edges(pages[on[0]]))


def _note(skipped: dict[str, list[str]], omissions: Omissions) -> None:
    for key, lines in skipped.items():
        words = sum(map(count_words, lines))
        if key == "#":
            omissions.skip_element("page number", words, times=len(lines))
        else:
            shown = one_line(_NUMBER.sub("#", lines[0]) if "#" in key else lines[0], 80)
            omissions.skip(f'"{shown}" on {len(lines):,} pages', words, kind="running head")


def _least(pages: int) -> int:
    """How often a line must stand at pages' edges to be a running head."""
    return max(3, pages // 40)


def _edges(lines: Sequence[str]) -> Sequence[str]:
    return [*lines[:_EDGE], *lines[-_EDGE:]] if len(lines) > 2 * _EDGE else lines


def _keys(pages: Sequence[Sequence[str]], labels: Sequence[str]) -> Callable[[int, str], str]:
    """What a line is compared by on a page: its words, with "#" for the number of the page.

    "#" alone is a page number.
    """
    offsets: defaultdict[str, Counter[int]] = defaultdict(Counter)
    for i, lines in enumerate(pages):
        for line in set(_edges(lines)):
            for pattern, number in _numbers(line):
                offsets[pattern][number - i] += 1
    least = _least(len(pages))
    counting = {
        pattern: {offset for offset, count in counts.items() if count >= least} for pattern, counts in offsets.items()
    }

    def counted(i: int, line: str) -> Iterator[tuple[str, int]]:
        if _NUMBER_LINE.fullmatch(line) and line.strip("-–—[]() ") == labels[i]:
            yield "#", i
        for pattern, number in _numbers(line):
            if number - i in counting.get(pattern, ()) and (number < _YEAR or len(pages) > _MANY_PAGES):
                yield pattern, number

    known = [{number - i for line in _edges(lines) for _, number in counted(i, line)} for i, lines in enumerate(pages)]
    again = Counter(
        key for i, lines in enumerate(pages) for line in set(_edges(lines)) if (key := _page_at_end(i, line))
    )

    def key_of(i: int, line: str) -> str:
        for pattern, _ in counted(i, line):
            return pattern
        if not known[i] and (key := _page_at_end(i, line)):
            offset = key[1]
            around = sum(offset in offsets for offsets in known[max(0, i - _AROUND) : i + _AROUND + 1])
            if around >= _LEAST_AROUND and (again[key] > 1 or not _may_count(line, offset + i)):
                return _HEADING_KEY
        return line.strip("# |·•-–—").casefold() if not _is_numbered_heading(line) else line

    return key_of


def _page_at_end(i: int, line: str) -> tuple[str, int] | None:
    """The words of a short line that begins or ends with a number, and how far this is from the page's index."""
    match = _WORDS_AND_PAGE.fullmatch(line)
    if not match or DATE_WORDS & {word.casefold() for word in re.findall(r"[^\W\d_]+", line)}:
        return None
    words = match["before"] or match["after"]
    is_text = words[-1] in _SENTENCE_ENDS or (match["before"] and words[0].islower())
    if is_text and not words.isupper() and not _is_numbered_heading(words):
        return None
    return words.casefold(), int(match["last"] or match["first"]) - i


def _may_count(line: str, page: int) -> bool:
    """Whether a line may have the number of a page by chance, as "Psalm 12" and "Chapter 1" may."""
    found = parse_line(line, 0, 0)
    return bool(_COUNTED.fullmatch(line)) or (bool(found) and found[0].number == page)


def _numbers(line: str) -> Iterator[tuple[str, int]]:
    """The numbers of a line that may be its page's, each with the line's other words around a "#"."""
    if match := _NUMBER_LINE.fullmatch(line):
        yield "#", int(match["arabic"]) if match["arabic"] else roman(match["roman"])
        return
    if match := _HEADING_AND_PAGE.fullmatch(line):
        yield _HEADING_KEY, int(match["last"] or match["first"])
        return
    words = [word.casefold() for word in re.findall(r"[^\W\d_]+", line)]
    rest = line.lstrip("0123456789 |·•-–—[](),.")
    if not words or not rest[:1].isalpha() or DATE_WORDS & set(words):
        return
    if _is_numbered_heading(line) or (_COUNTED.fullmatch(line) and not _PAGE_WORDS.match(line)):
        return
    for match in _NUMBER.finditer(line):
        pattern = f"{line[: match.start()]}#{line[match.end() :]}".strip(" |·•-–—").casefold()
        yield pattern, int(match[0])


def _is_numbered_heading(line: str) -> bool:
    found = parse_line(line, 0, 0)
    return bool(found) and found[0].number > 0 and found[0].kind != "bare"
