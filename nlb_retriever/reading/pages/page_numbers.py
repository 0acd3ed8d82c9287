"""Page numbers of printed pages: found among the numbers at their edges, as those that count the pages."""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence, Set
from typing import NamedTuple

from nlb_retriever.reading.headings.looks import COUNTED, is_numbered, parse_line
from nlb_retriever.reading.headings.number_words import in_roman, roman

_NUMBER_LINE = re.compile(r"[-–—\[( ]*(?:(?P<arabic>\d{1,4})|(?P<roman>[ivxlcIVXLC]{1,7}))[-–—\]) ]*")
NUMBER = re.compile(r"(?:(?<=[\s|·•\[(–—:-])|^)\d{1,4}(?=[\s|·•\])–—-]|$)")
_HEADING = r"(?:(?:chapter|appendix|section|part)\s+[\dA-Z]{1,4}\b|\d{1,2}(?:\.\d{1,3})+|[A-Z](?:\.\d{1,3})+)[.:]?\s+"
_HEADING_AND_PAGE = re.compile(
    rf"(?!.*(?:\. ?){{3}})(?:{_HEADING}.*[^\W\d_]{{2}}.*\s(?P<last>\d{{1,4}})"
    rf"|(?P<first>\d{{1,4}})\s+{_HEADING}.*[^\W\d_]{{2}}.*)",
    re.IGNORECASE,
)
HEADING_KEY = "heading #"
"""Of all running heads with the number of the chapter or section, its title and the page ("Chapter 2: Bells 31")."""
_WORDS_AND_PAGE = re.compile(
    r"(?=.{,60}$)(?:(?P<first>\d{1,3})[\s|·•–—-]{1,5}(?P<after>[^\W\d_].*)"
    r"|(?P<before>[^\W\d_].*?)[\s|·•–—-]{1,5}(?P<last>\d{1,3}))"
)
_LONGEST = 200
"""Characters of a line with a page's number."""
_AROUND, _LEAST_AROUND = 4, 2
"""On so many pages of so many before and behind numbers that count the pages show which number a page has."""
_PAGE_WORDS = re.compile(r"(?:page|pg|p|seite|página|pagina|pag|blz|folio)\b", re.IGNORECASE)
_DATE_TEXT = """
    january february march april may june july august september october november december januar februar märz mai
    juni juli oktober dezember janvier février mars avril juin juillet août septembre octobre novembre décembre
    enero febrero marzo abril mayo junio julio agosto septiembre octubre noviembre diciembre gennaio febbraio aprile
    maggio giugno luglio settembre ottobre dicembre jan feb mar apr jun jul aug sept sep oct nov dec monday tuesday
    wednesday thursday friday saturday sunday lundi mardi mercredi jeudi vendredi samedi dimanche montag dienstag
    mittwoch donnerstag freitag samstag sonntag
"""
_AUTHORS = 4
"""Words of a head with authors and journal at least: those of others may differ on left and right pages."""
DATE_WORDS = frozenset(_DATE_TEXT.split())
_DATE = re.compile(
    rf"(?:\b\d{{1,2}}\.?\s)?\b(?:{'|'.join(sorted(DATE_WORDS))})\b\.?(?:\s\d{{1,2}}(?:[–-]\d{{1,2}})?,)?\s\d{{4}}\b",
    re.IGNORECASE,
)
"""With its year: "3 May 2021", "August 2021", "June 3–5, 2021"."""
_MOST_PAGES = 0.6
"""Share of the pages that two heads with numbers, on left and right ones, have together, each of them seldom."""
EDGE = 2
"""Lines at a page's top and bottom that are looked at."""
SENTENCE_ENDS = frozenset('.!?”"’»…')
_YEARS, _MANY_PAGES = range(1_000, 2_101), 500
"""A number of these is a year, not a page's, in books of fewer pages than the second."""


class _Count(NamedTuple):
    """A way in which pages are numbered."""

    offset: int
    """A page's number without its index."""
    style: str
    """"i" or "I" where numbers are Roman, in small letters or capitals."""

    def written(self, i: int) -> str:
        """The number of a page."""
        number = i + self.offset
        if not self.style:
            return str(number)
        return in_roman(number) if self.style.islower() else in_roman(number).upper()


class PageNumbers:
    """The numbers at the edges of pages that count them."""

    def __init__(self, pages: Sequence[Sequence[str]], labels: Sequence[str]) -> None:
        """Count.

        Args:
            pages: their lines.
            labels: the page numbers as the file gives them; may be empty strings.
        """
        self.least = max(3, len(pages) // 40)
        """How often a line must stand at pages' edges to be a running head."""
        self._pages, self._labels = pages, labels
        self._offsets: defaultdict[str, Counter[int]] = defaultdict(Counter)
        before, behind = set[str](), set[str]()
        for i, lines in enumerate(pages):
            for line in set(edges(lines)):
                for pattern, number in _numbers(line):
                    self._offsets[pattern][number - i] += 1
                    (before if line.startswith(str(number)) else behind).add(pattern)
        self._both_sides = before & behind
        """Words with a number before them on some pages and behind them on others, as no year stands."""
        self._counting = self._repeated(self.least)
        if not any(self._counting.values()):
            self._counting = self._on_both_sides()
        self._known = [
            {number - i for line in edges(lines) for _, number in self._counted(i, line)}
            for i, lines in enumerate(pages)
        ]
        self._again = Counter(
            key for i, lines in enumerate(pages) for line in set(edges(lines)) if (key := _page_at_end(i, line))
        )

    def _repeated(self, least: int) -> dict[str, set[int]]:
        """For each pattern the differences from number to page that it has so often."""
        return {
            pattern: {offset for offset, count in counts.items() if count >= least}
            for pattern, counts in self._offsets.items()
        }

    def _on_both_sides(self) -> dict[str, set[int]]:
        """The same of words that stand on two pages at least, where most pages have that difference with such words."""
        twice = {pattern: offsets for pattern, offsets in self._repeated(2).items() if pattern != "#"}
        pages = sum((self._offsets[pattern] for pattern in twice), Counter[int]())
        enough = max(self.least, _MOST_PAGES * len(self._pages))
        return {pattern: {o for o in offsets if pages[o] >= enough} for pattern, offsets in twice.items()}

    def _counted(self, i: int, line: str) -> Iterator[tuple[str, int]]:
        if _NUMBER_LINE.fullmatch(line) and line.strip("-–—[]() ") == self._labels[i]:
            yield "#", i
        for pattern, number in _numbers(line):
            if number - i in self._counting.get(pattern, ()) and self._may_be_page(pattern, number):
                yield pattern, number

    def _may_be_page(self, pattern: str, number: int) -> bool:
        return number not in _YEARS or len(self._pages) > _MANY_PAGES or pattern in self._both_sides

    def key_of(self, i: int, line: str) -> str:
        """What a line is compared by on a page: its words, with "#" for the number of the page.

        "#" alone is a page number.
        """
        for pattern, _ in self._counted(i, line):
            return pattern
        if (match := _NUMBER_LINE.fullmatch(line)) and match["arabic"] and self._is_between(i, int(match["arabic"])):
            return "#"
        if not self._known[i] and (key := _page_at_end(i, line)):
            offset = key[1]
            around = sum(offset in known for known in self._known[max(0, i - _AROUND) : i + _AROUND + 1])
            if around >= _LEAST_AROUND and (self._again[key] > 1 or not _may_count(line, offset + i)):
                return HEADING_KEY
        return line.strip("# |·•-–—").casefold() if not is_numbered(line) else line

    def _is_between(self, i: int, number: int) -> bool:
        """Whether pages before and behind have the number that a page has then in a line with other words.

        Of the last page two before do.
        """
        before, behind = self._known[max(0, i - _AROUND) : i], self._known[i + 1 : i + _AROUND + 1]
        has, follow = (sum(number - i in known for known in pages) for pages in (before, behind))
        return has > 0 and (follow > 0 if behind else has >= _LEAST_AROUND)

    def printed(self) -> list[str]:
        """The number of each page: as the file gives it, else as it is printed, else that of the sheet.

        A printed one counts where pages around agree; a page between two of one count has a number of it, too.
        """
        counts = [{*self._counts(i)} for i in range(len(self._pages))]
        chosen = [_choose(counts, i) for i in range(len(counts))]
        before = 0
        for i, count in enumerate(chosen):
            if count:
                if chosen[before] == count:
                    chosen[before:i] = [count] * (i - before)
                before = i
        return [
            label or (count.written(i) if count else str(i + 1))
            for i, (label, count) in enumerate(zip(self._labels, chosen, strict=True))
        ]

    def _counts(self, i: int) -> Iterator[_Count]:
        for line in edges(self._pages[i]):
            letter = "" if any(map(str.isdigit, line)) else line.strip("-–—[]() ")[:1]
            for pattern, number in _numbers(line):
                if self._offsets[pattern][number - i] > _LEAST_AROUND and self._may_be_page(pattern, number):
                    yield _Count(number - i, "" if not letter else "i" if letter.islower() else "I")


def _choose(counts: Sequence[Set[_Count]], i: int) -> _Count | None:
    """The count of a page that pages around have, too, and more than twice as often as another of its counts."""
    around = counts[max(0, i - _AROUND) : i + _AROUND + 1]
    others = sorted(((sum(count in each for each in around) - 1, count) for count in counts[i]), reverse=True)
    if not others or others[0][0] < _LEAST_AROUND or others[0][0] <= 2 * sum(times for times, _ in others[1:2]):
        return None
    return others[0][1]


def edges(lines: Sequence[str]) -> Sequence[str]:
    """The lines at a page's top and bottom; all of a short page."""
    return [*lines[:EDGE], *lines[-EDGE:]] if len(lines) > 2 * EDGE else lines


def _page_at_end(i: int, line: str) -> tuple[str, int] | None:
    """The words of a short line that begins or ends with a number, and how far this is from the page's index."""
    match = _WORDS_AND_PAGE.fullmatch(line)
    if not match or DATE_WORDS & {word.casefold() for word in re.findall(r"[^\W\d_]+", line)}:
        return None
    words = match["before"] or match["after"]
    is_text = words[-1] in SENTENCE_ENDS or (match["before"] and words[0].islower())
    if is_text and not words.isupper() and not is_numbered(words):
        return None
    return words.casefold(), int(match["last"] or match["first"]) - i


def _may_count(line: str, page: int) -> bool:
    """Whether a line may have the number of a page by chance, as "Psalm 12" and "Chapter 1" may."""
    found = parse_line(line)
    return bool(COUNTED.fullmatch(line)) or (bool(found) and found[0].number == page)


def _has_own_number(line: str) -> bool:
    """Whether a line begins as "Chapter 3" or is "3. Act"; the number before "ESSAY ON MAN" may be the page's."""
    return is_numbered(line) and not (line[0].isdigit() and parse_line(line)[0].rest)


def _numbers(line: str) -> Iterator[tuple[str, int]]:
    """The numbers of a line that may be its page's, each with the line's other words around a "#"."""
    if len(line) > _LONGEST:
        return
    if match := _NUMBER_LINE.fullmatch(line):
        yield "#", int(match["arabic"]) if match["arabic"] else roman(match["roman"])
        return
    if not any(map(str.isdigit, line)):
        return
    if match := _HEADING_AND_PAGE.fullmatch(line):
        yield HEADING_KEY, int(match["last"] or match["first"])
        return
    dates = [match.span() for match in _DATE.finditer(line)]
    words = [word.casefold() for word in re.findall(r"[^\W\d_]+", _DATE.sub(" ", line))]
    rest = line.lstrip("0123456789 |·•-–—[](),.")
    if not words or not rest[:1].isalpha() or DATE_WORDS & set(words):
        return
    if _has_own_number(line) or (COUNTED.fullmatch(line) and not _PAGE_WORDS.match(line)):
        return
    for match in NUMBER.finditer(line):
        if any(start <= match.start() < end for start, end in dates):
            continue
        pattern = f"{line[: match.start()]}#{line[match.end() :]}".strip(" |·•-–—").casefold()
        if pattern[0] == "#" and len(words) >= _AUTHORS:  # on left pages before the words, on right ones behind them
            pattern = f"{pattern[1:].strip(' |·•-–—')} #"
        yield pattern, int(match[0])
