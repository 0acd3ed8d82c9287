"""Where a book begins and ends, and its chapters: by the titles of its sections."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from functools import lru_cache
from itertools import dropwhile
from typing import TypeVar

from nlb_retriever.records import Citation, Hit, SectionRecord, ShortAnswer
from nlb_retriever.search.answers.quotes import Quote, Quoted, cite, is_prose
from nlb_retriever.search.scope import Scope, sections_with
from nlb_retriever.search.titles import holds_words, main_title, name_words, split_byline, title_words
from nlb_retriever.store import LibraryStore
from nlb_retriever.store.lookup import differ, is_below_back, read_number, read_series
from nlb_retriever.text.languages import number_of_words
from nlb_retriever.text.sentences import sentence_spans

Part = TypeVar("Part")
LEAST, MOST = 40, 90
"""Words of a beginning or an ending: sentences are added up to the first, but for one that would pass the second."""
UNTITLED, TITLE_PAGE = 2_000, 100
"""Words: more before the first heading are a chapter without one; fewer in a first section are a title page."""
_NUMERAL = r"(?:\d{1,3}|(?=[IVXLC])(?:XC|XL|L?X{0,4}|C{1,3}L?X{0,4})(?:IX|IV|V?I{0,4}))(?!\w)"
_CHAPTER = re.compile(r"(?:chapter|chap\b|letter|stave|canto|adventure)\W", re.IGNORECASE)
_NUMBERED = re.compile(rf"(?:{_NUMERAL}|[一二三四五六七八九十百]{{1,5}})(?:[.:)、\s—–-]|$)")
_FRONT = re.compile(
    r"(?:(?:\w+ )?(?:(?:preface|foreword)(?: to .*)?|dedication|contents|illustrations|acknowledge?ments|epigraph"
    r"|etymology|extracts|advertisement)|(?:translator|editor|publisher|author)['’]s \w+|note to .*|to the reader)\W*",
    re.IGNORECASE,
)
_INTRODUCTION = re.compile(r"introduct(?:ion|ory)\b.*", re.IGNORECASE)
_ABSTRACT = re.compile(r"^[^\w\n]*(?:abstract|summary)\W*?(?:[.:—–]\s*|-\s|\n)", re.IGNORECASE | re.MULTILINE)
_ABSTRACT_WITHIN = 6
"""Passages of a paper that an abstract is looked for in."""
_BACK = re.compile(
    r"(?:[\dA-Z]{1,3}\W+)?(?:(?:end|foot)?notes|appendix(?: .*)?|glossary|bibliography|index(?: (?:of|to) .*)?"
    r"|references|colophon|acknowledge?ments|about the author|transcriber['’]s notes?|advertisements?)\W*",
    re.IGNORECASE,
)
_EXERCISES = re.compile(
    r"(?:[\d.]{1,6}\W+)?(?:(?:review|practice|discussion|study|section|chapter|short|key) )?"
    r"(?:exercises?|questions|problems|quiz|answers?|assignments?|terms|vocabulary|glossary)\W*",
    re.IGNORECASE,
)
"""The title of a part of a textbook's chapter that is no text."""
NUMBERED = tuple(
    "acts scenes parts volumes cantos letters books staves articles amendments lectures lessons units modules".split()
)
"""Parts of books that have numbers, beside chapters."""
FOUND = 100
"""Best sections by their words among which one of a title or author is looked for in the whole library."""
NTH_TALE = re.compile(r"(?P<nth>\w+) (?:story|tale)|(?:story|tale) (?P<number>\w+)", re.IGNORECASE)
ENDS = frozenset({"first line", "last line", "beginning", "end"})
"""Kinds of questions on how something begins or ends."""
_REMEMBERED = 10_000  # titles
_SEVERAL = 3
"""Least tales of which a title is a part's."""
_BOOK = re.compile(r"(?!(?:part|book|volume|act)\b)(?:[1-4] )?[^\W\d][^\d]*", re.IGNORECASE)
"""The name of a scripture's book: "Ruth", "1 Kings"."""
_TALE = re.compile(r"(?:the )?(?:adventure|tale|story|fable|legend) of\b", re.IGNORECASE)
_SENTENCE = re.compile(r"(?:[.!?…।॥؟۔。！？｡]|(?<![:—-])[—-]+)[\s\"'”’)»“‘«_*\]」』】》〉）]*$")
_THE_END = re.compile(
    r"\W*(?:the end|end|finis|(?:the )?curtain(?: falls)?|(?:exit|exeunt)\b[^\n]{0,80}|\[[^\]\n]{0,80}\]?)\W*",
    re.IGNORECASE,
)


def find_titled_sections(title: str, scope: Scope, store: LibraryStore) -> list[SectionRecord]:
    """The sections in a scope that have a title ("Lycidas", "A Second Visit"), without a book among the best few.

    Where none has, those of the only title that has its words, two at least, in a row: "The Speckled Band".
    """
    wanted = title_words(title)
    if not wanted:
        return []
    sections = store.sections(scope.book.id) if scope.book else sections_with(title, scope, store, FOUND)
    titled = [section for section in sections if _is_titled(section, wanted)]
    if not scope.book and any(len(section.path) > 1 for section in titled):  # of a part all that are in it
        books = dict.fromkeys(section.book_id for section in titled)
        titled = [section for book in books for section in store.sections(book) if _is_titled(section, wanted)]
    if titled or len(wanted) == 1:
        return titled
    having = {own for section in sections for own in section.path if holds_words(name_words(own), wanted)}
    return [section for section in sections if having.intersection(section.path)] if len(having) == 1 else []


def _is_titled(section: SectionRecord, wanted: tuple[str, ...]) -> bool:
    titles = {title for own in section.path for title in (own, split_byline(own)[0])}
    is_work = wanted in map(main_title, section.path[:-1])  # "Frankenstein; or, The Modern Prometheus"
    return is_work or any(wanted in (title_words(title), title_words(read_number(title)[2])) for title in titles)


def is_front(title: str) -> bool:
    """Whether a section with this title is a preface, an introduction or the like."""
    return title == "Front matter" or bool(_FRONT.fullmatch(title) or _INTRODUCTION.fullmatch(title))


def find_beginning(hits: Sequence[Hit], *, one: bool = False) -> tuple[Citation, ...]:
    """The first sentences of a book behind its front matter.

    Args:
        hits: the book's passages in order, or the first of them.
        one: the first sentence alone.
    """
    return _take(skip_front(hits), one=one)


def skip_front(hits: Sequence[Hit]) -> list[Hit]:
    """A book's passages behind its front matter, or all where there is no more; takes what `find_beginning` does."""
    words = count_words(hits, [*map(_section, hits)])
    numbered = any(map(find_chapter, hits))

    def stands_before(hit: Hit) -> bool:
        title = hit.section[-1] if hit.section else ""
        if _FRONT.fullmatch(title) or (numbered and _INTRODUCTION.fullmatch(title)):
            return True
        if title == "Front matter":
            return words[_section(hit)] < UNTITLED
        return numbered and not find_chapter(hit) and words[_section(hit)] < TITLE_PAGE

    return [*dropwhile(stands_before, hits)] or [*hits]


def ends_sentence(text: str) -> bool:
    """Whether a text ends as a sentence does: with a stop, or a dash where somebody breaks off; not "He said:--"."""
    return _SENTENCE.search(text) is not None


def find_abstract(hits: Sequence[Hit]) -> tuple[Citation, ...]:
    """The first sentences of a paper's abstract; none where there is none.

    Args:
        hits: the paper's passages in order.
    """
    for index, hit in enumerate(hits[:_ABSTRACT_WITHIN]):
        if match := _ABSTRACT.search(hit.text):
            return _take(hits[index:], one=False, after=match.end())
        if hit.section and _ABSTRACT.fullmatch(f"{hit.section[-1]}\n"):
            return _take(hits[index:], one=False)
    return ()


def find_ending(hits: Sequence[Hit], *, one: bool = False) -> tuple[Citation, ...]:
    """The last sentences of a book before its notes, index and the like, in order; takes what `find_beginning` does."""
    body = list(dropwhile(lambda hit: bool(hit.section) and _BACK.fullmatch(hit.section[-1]), reversed(hits)))
    return _take(body or [*reversed(hits)], one=one, back=True)


def ask_for_ends(whole: str, of: str) -> list[tuple[str, str]]:
    """Forms of questions on how something begins or ends, with the kinds that `quote_end` takes.

    Args:
        whole: what it is called.
        of: the same behind "of" or "in", which may lack.
    """
    what = r"(?:what(?:['’]s| is| was| are) )?(?:the )?"
    first, last = r"(?:first|opening)", r"(?:last|final|closing)"
    one, several = r"(?:line|sentence|words?)", r"(?:lines|sentences|paragraph)"
    return [
        ("first line", rf"{what}{first} {one}{of}"),
        ("last line", rf"{what}{last} {one}{of}"),
        ("beginning", rf"{what}{first} {several}{of}"),
        ("end", rf"{what}{last} {several}{of}"),
        ("beginning", rf"how (?:does|did) {whole} (?:begin|start|open)"),
        ("beginning", rf"what(?:['’]s| is| was) the (?:beginning|start|opening){of}"),
        ("end", rf"how (?:does|did) {whole} (?:end|finish|conclude)"),
        ("end", rf"what happens (?:at|in) the (?:end|ending){of}"),
        ("end", rf"(?:what(?:['’]s| is| was)|explain|describe|tell me(?: about)?) the (?:end|ending){of}"),
    ]


def quote_end(hits: Sequence[Hit], kind: str) -> Quoted:
    """The first or last sentences of some hits; one, which is short, of a kind of line."""
    one = kind in {"first line", "last line"}
    find = find_beginning if kind in {"first line", "beginning"} else find_ending
    citations = find(hits, one=one)
    shorts = [ShortAnswer(text=" ".join(each.quote.split()), citation=0) for each in citations] if one else []
    return shorts, citations


def without_back(hits: Sequence[Hit]) -> Sequence[Hit]:
    """The hits that are not below notes or solutions; all where there are no others."""
    return [hit for hit in hits if not is_below_back(hit.section)] or hits


def without_exercises(hits: Sequence[Hit]) -> Sequence[Hit]:
    """The hits that are not in exercises or lists of terms, which tell nothing; all where there are no others."""
    return [hit for hit in hits if not any(map(_EXERCISES.fullmatch, hit.section))] or hits


def find_chapters(hits: Sequence[Hit]) -> list[Hit]:
    """The first passage of each chapter of a book whose passages are given in order."""
    hits = without_back(hits)
    chapters = [(), *map(find_chapter, hits)]
    return [hit for hit, before, own in zip(hits, chapters, chapters[1:], strict=False) if own and differ(own, before)]


def find_numbered(kind: str, hits: Sequence[Hit]) -> list[tuple[str, Hit]]:
    """The title and first passage of each part of a book that is of a kind and has a number ("ACT I").

    Args:
        kind: as `store.lookup.read_number` or `read_series` has it ("act", "lesson").
        hits: the book's passages in order.
    """
    found: dict[tuple[str, ...], tuple[str, Hit]] = {}
    for hit in without_back(hits):
        for depth, title in enumerate(hit.section, 1):
            if _has_kind(kind, title):
                found.setdefault(tuple(hit.section[:depth]), (title, hit))
    return [*found.values()]


def find_parts(word: str, hits: Sequence[Hit]) -> list[tuple[str, Hit]]:
    """The titles and first passages of the chapters, tales or numbered parts of a book; none where it has none.

    Args:
        word: for them ("chapters", "tales", "acts"); none for chapters.
        hits: the book's passages in order.
    """
    word = (word or "chapters").lower()
    if word == "chapters":
        return [(find_chapter(hit)[-1], hit) for hit in find_chapters(hits)]
    if word in NUMBERED:
        return find_numbered(_singular(word), hits) or (_find_named_books(hits) if word == "books" else [])
    return [(tale[-1], hit) for tale, hit in find_tales(hits)]


def _find_named_books(hits: Sequence[Hit]) -> list[tuple[str, Hit]]:
    """The titles and first passages of parts that have names and chapters below them, as a scripture's books."""
    named = {
        hit.section[0]: hit
        for hit in reversed(hits)
        if _BOOK.fullmatch(hit.section[0] if hit.section else "") and len(find_chapter(hit)) > 1
    }
    return [*reversed(named.items())]


def find_outer_parts(hits: Sequence[Hit]) -> tuple[str, list[tuple[str, Hit]]]:
    """What the outermost numbered parts of a book are called ("acts"), and their titles and first passages."""
    first = [hit.section[0] for hit in hits if hit.section]
    word = next((word for word in NUMBERED if any(_has_kind(_singular(word), title) for title in first)), "")
    return word, find_parts(word, hits) if word else []


def find_tales(hits: Sequence[Hit]) -> list[tuple[tuple[str, ...], Hit]]:
    """The titles, as `tales_of` has them, and the first passage of each tale of a collection, in order.

    What stands before and behind them is none: a preface, an index.
    """
    tales = [(), *tales_of(hits)]
    found = [(own, hit) for hit, before, own in zip(hits, tales, tales[1:], strict=False) if own and own != before]
    return [(own, hit) for own, hit in found if not (is_front(own[-1]) or _BACK.fullmatch(own[-1]))]


def choose_tale(name: str, hits: Sequence[Hit]) -> list[Hit]:
    """The passages of a collection's tale that is named by its number ("last story"); none where it has no such one."""
    tales = [titles for titles, _ in find_tales(hits)]
    nth = match["nth"] or match["number"] if (match := NTH_TALE.fullmatch(name)) else ""
    number = len(tales) if nth in {"last", "final"} else read_number(f"Chapter {nth.title()}")[1]
    return [hit for hit, own in zip(hits, tales_of(hits), strict=True) if own in tales[max(number - 1, 0) : number]]


def tales_of(hits: Sequence[Hit]) -> list[tuple[str, ...]]:
    """For each hit the titles from its outermost part to its tale; none where it is in none.

    What several have below them is a part of each: "Ingredients", "Method".
    """
    tales = [*map(_find_tale, hits)]
    counts = Counter(tale[-1] for tale in {*tales} if len(tale) > 1)
    return [tale[:-1] if len(tale) > 1 and counts[tale[-1]] >= _SEVERAL else tale for tale in tales]


def _find_tale(hit: Hit) -> tuple[str, ...]:
    """The titles from a hit's outermost part to the innermost that may be a tale's.

    Chapters and parts have numbers, tales only as "Adventure II. The League" or "VII. The Adventure of the Carbuncle".
    """
    numbers = [read_number(title) for title in hit.section]
    depths = [
        depth
        for depth, (kind, number, rest) in enumerate(numbers, 1)
        if not number or kind == "story" or (kind == "bare" and _TALE.match(rest))
    ]
    return tuple(hit.section[: depths[-1]]) if depths else ()


def find_chapter(hit: Hit) -> tuple[str, ...]:
    """The titles from a hit's outermost part to its chapter; none where it is in no chapter."""
    for is_chapter in (_CHAPTER.match, _has_number, _NUMBERED.match):  # the surer ones first
        for depth, title in enumerate(hit.section, 1):
            if is_chapter(title):
                return tuple(hit.section[:depth])
    return ()


def count_words(hits: Sequence[Hit], parts: Sequence[Part]) -> Counter[Part]:
    """The number of words of each of the parts that some hits are in, one a hit."""
    words: Counter[Part] = Counter()
    for hit, part in zip(hits, parts, strict=True):
        words[part] += number_of_words(hit.text)
    return words


@lru_cache(_REMEMBERED)
def _has_number(title: str) -> bool:
    """Whether a title is a chapter's in any language: "Erstes Kapitel", "第一回"."""
    return read_number(title)[0] == "chapter"


def _has_kind(kind: str, title: str) -> bool:
    """Whether a title begins with a word ("act", "lesson") and a number."""
    own, number, _ = read_number(title)
    return (own == kind and number > 0) or read_series(title)[0] == kind


def _singular(word: str) -> str:
    return "stave" if word == "staves" else word.removesuffix("s")


def _section(hit: Hit) -> str | None:
    return hit.section_id


def _take(hits: Sequence[Hit], *, one: bool, back: bool = False, after: int = 0) -> tuple[Citation, ...]:
    """The first sentences of prose of some hits, or the last ones of hits in reverse, as citations in order.

    Of the first hit what stands before `after` is left out.
    """
    quotes: list[Quote] = []
    words = 0
    for index, hit in enumerate(hits):
        spans = [*enumerate(sentence_spans(hit.text))]
        for order, (start, end) in reversed(spans) if back else spans:
            begin = max(start, after) if index == 0 else start
            text = hit.text[begin:end]
            if not (ends_sentence(text) and is_prose(hit, begin, end)) or _THE_END.fullmatch(text):
                continue
            length = number_of_words(text)
            if quotes and (one or words >= LEAST or words + length > MOST):
                return cite(hits, [*reversed(quotes)] if back else quotes)
            quotes.append(Quote(hit=index, order=order, start=begin, end=end))
            words += length
    return cite(hits, [*reversed(quotes)] if back else quotes)
