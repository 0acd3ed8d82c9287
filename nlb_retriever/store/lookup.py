"""Which book or section a person means by a name."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator, Sequence
from contextlib import suppress
from difflib import get_close_matches
from pathlib import Path

from nlb_retriever.errors import QueryError, counted
from nlb_retriever.records import BookRecord, SectionRecord, source_of
from nlb_retriever.text.folding import fold

_ID_START = 4
"""Least digits of an id's start."""
_LEAST_INITIALS = 3
"""Least letters of a name that are looked for as the first ones of words."""
_WORD = re.compile(r"\w+")
_SMALL_WORD = re.compile(r"\b[a-z]")
"""The first letter of a word that is not written with a capital."""
_LONGEST = 1_000
"""Characters of a name."""
_SECTION_NUMBER = re.compile(
    r"(?:(?:section|chapter|part|appendix|clause|article|rule|paragraph|§)\s*)?(?P<number>(?:\d{1,3}|[A-Z])(?:\.\d{1,3})+)\.?",
    re.IGNORECASE,
)
"""Of manuals and standards: "section 5.2"."""
_NUMBER_FIRST = re.compile(r"(?:the )?(\w+) ([^\W\d_]+)", re.IGNORECASE)
"""Of "the second unit"."""
_OF = re.compile(r" (?:of|in) ", re.IGNORECASE)
_CHAPTER_OF = re.compile(
    r"(?P<outer>(?:[1-4]\s+)?[^\d,]{2,}?[^\d,\s]),?\s+(?:chapter\s+|no\.?\s*|number\s+)?(?P<number>\d{1,3})",
    re.IGNORECASE,
)
"""A chapter by the part that it is in or by its word: "Genesis 7", "1 Kings 3", "Federalist No. 10"."""
_OF_OUTER = re.compile(r"(?:the )?(?P<chapter>chapter \d{1,3}) (?:of|in) (?P<outer>.+)", re.IGNORECASE)
_SHORT_SECTION = re.compile(r"^(?:sect?[.,]? |§+\s*)(?=\d)", re.IGNORECASE)
_LAST_NUMBER = re.compile(r"(?P<word>\w+)\W+(?:chapter\W+)?(?P<number>\d{1,3})$", re.IGNORECASE)
_BACK = re.compile(
    r"(?:appendix(?: \w{1,4})?\W+)?(?:hints and )?(?:(?:end|foot)?notes|(?:selected |brief )?(?:answers|solutions)"
    r"|(?:answer |solution )?key)(?: (?:and|to|for|of|on) .*)?\W*",
    re.IGNORECASE,
)
"""The title of notes or solutions, which have the numbers of the chapters that they are on."""
_CONTINUED = re.compile(r"\bcont(?:inued|['’]?d)?\W*$", re.IGNORECASE)
_ORDINALS = (("1", "i", "first"), ("2", "ii", "second"), ("3", "iii", "third"), ("4", "iv", "fourth"))
"""Before the name of one of several parts: "1 Kings", "The First Book of the Kings"."""


def find_book(name: str, books: Sequence[BookRecord], library: str) -> BookRecord:
    """The one book that a name fits: by id, start of an id, path, title, part of a title, file, `is_short_for`.

    A hyphen is a space where nothing else fits. Accents and the shapes of quotation marks and dashes do not count.

    Args:
        name: what a person wrote.
        books: of the library.
        library: its folder or URL, for messages.

    Raises:
        QueryError: no book fits, or several do.
    """
    _check_length(name, "book")
    title = fold(name.strip())
    for matching in _find_fitting(name.strip(), books):
        if len(matching) == 1:
            return matching[0]
        if matching:
            names = "; ".join(
                [*(f"{book.title} ({book.id})" for book in matching[:5]), *(["…"] if matching[5:] else [])]
            )
            raise QueryError(f"{name!r} fits {len(matching)} books: {names}: use an id")
    titles = {fold(book.title): book for book in books}
    similar = [titles[match] for match in get_close_matches(title, titles, n=3, cutoff=0.4)]
    hint = "; ".join(f"{book.title} ({book.id})" for book in similar)
    raise QueryError(f"no book {name!r} in library {library}" + (f"; similar: {hint}" if hint else ": see `nlb books`"))


def find_work(name: str, works: Sequence[BookRecord], library: str) -> BookRecord | None:
    """The work of several files that a name is the folder of, else what `find_book` finds; None where nothing is."""
    folder = _spaced(fold(name.strip()))
    named = [work for work in works if work.parts and folder == _spaced(fold(Path(work.source).name))]
    with suppress(QueryError):
        return named[0] if len(named) == 1 else find_book(name, works, library)
    return None


def _find_fitting(name: str, books: Sequence[BookRecord]) -> Iterator[list[BookRecord]]:
    """The books that a name fits in one way after the other."""
    title, paths = fold(name), _paths(name)
    yield [book for book in books if book.id == name]
    yield [book for book in books if len(name) >= _ID_START and book.id.startswith(name.lower())]
    yield [book for book in books if book.source in paths]
    yield [book for book in books if fold(book.title) == title]
    if title:
        yield [book for book in books if title in fold(book.title)]
        yield [book for book in books if _spaced(title) in _spaced(fold(book.title))]
        yield [book for book in books if fold(Path(book.source).name) == title]
        yield [book for book in books if fold(Path(book.source).stem) == title]
        yield [book for book in books if is_short_for(title, book)]


def _spaced(title: str) -> str:
    return title.replace("-", " ")


def is_short_for(name: str, book: BookRecord) -> bool:
    """Whether a book's file name begins with a name ("gpl" of "gpl3.txt"), or words of its title with its letters."""
    short = fold(name)
    initials = "".join(word[0] for word in _WORD.findall(fold(book.title).replace("'", "")))
    is_start = bool(short) and fold(Path(book.source).stem).startswith(short)
    return is_start or (len(short) >= _LEAST_INITIALS and short in initials)


def _paths(name: str) -> set[str]:
    """What a file's source may be if a name is its path."""
    try:
        path = Path(name).absolute()
        return {name, *map(source_of, (str(path), os.path.normpath(path), str(path.resolve())))}
    except (OSError, ValueError):  # a NUL, a lone surrogate, a loop of links
        return {name}


def _check_length(name: str, what: str) -> None:
    if len(name) > _LONGEST:
        raise QueryError(f"no {what} has a name of {len(name):,} characters: write at most {_LONGEST:,}")


def find_sections(name: str, sections: Sequence[SectionRecord], book: BookRecord) -> tuple[int, ...]:
    """Numbers (from 0) of the sections that a name fits: by number from 1, id, title, then part of a title.

    "Chapter 3" is the chapter of that number however the book writes it: "CHAPTER III. The Inn", "III"; "Genesis 7" is
    chapter 7 of the part Genesis, "section 5.2" the one whose title begins with that number, with all below it. What
    stands so below notes or solutions is meant only where nothing else is.

    Args:
        name: what a person wrote. The title of a part means all of its sections.
        sections: all of the book's.
        book: for messages.

    Raises:
        QueryError: none fits.
    """
    _check_length(name, "section")
    wanted = fold(name)
    if wanted.isdecimal() and 1 <= int(wanted) <= len(sections):
        return (int(wanted) - 1,)
    paths = [[fold(part) for part in section.path] for section in sections]
    if wanted.isdecimal() and not any(wanted in path for path in paths):
        raise QueryError(f"{book.title} has {counted(len(sections), 'section')}, no number {name}: see `nlb show`")
    part = re.compile(rf"\b{re.escape(wanted)}\b" if _is_number(name.strip()) else re.escape(wanted))
    named = (
        [index for index, path in enumerate(paths) if wanted in path],
        _find_dotted(name.strip(), sections),
        _numbered(name.strip(), sections),
        find_chapter_of(name.strip(), sections),
        _find_series(name.strip(), sections),
    )
    for matching in (
        [index for index, section in enumerate(sections) if section.id == wanted],
        *([index for index in matching if not is_below_back(sections[index].path)] for matching in named),
        *named,
        [index for index, path in enumerate(paths) if any(map(part.match, path))],
        [index for index, path in enumerate(paths) if any(map(part.search, path))],
    ):
        if matching and wanted:
            return tuple(matching)
    raise QueryError(f"{book.title} has no section {name!r}: see `nlb show` for its sections and their numbers")


def _is_number(name: str) -> bool:
    """Whether a name is a number, or a kind and one: "V" is no part of "IV", nor "Chapter 1" of "Chapter 12"."""
    return any(number and not rest for _, number, rest in map(read_number, (_capitalize(name), name.upper())))


def is_below_back(path: Sequence[str]) -> bool:
    """Whether the titles of a section put it below notes or solutions: "Answer Key", "Chapter 3"."""
    return any(map(_BACK.fullmatch, path[:-1]))


def _find_dotted(name: str, sections: Sequence[SectionRecord]) -> list[int]:
    """The sections of a number such as 5.2, and those below it."""
    match = _SECTION_NUMBER.fullmatch(name)
    if not match:
        return []
    begins = re.compile(rf"{re.escape(match['number'])}(?!\.?\w)", re.IGNORECASE)
    return [index for index, section in enumerate(sections) if any(map(begins.match, section.path))]


def _numbered(name: str, sections: Sequence[SectionRecord]) -> list[int]:
    """The sections of the number that a name is, and of its kind ("chapter"), where their titles say one.

    "Section 2" is what is below "2. Methods", too, and "Article 2" where no title has that word.

    "Book 2, Chapter 3" is the chapter in that book, as are "Chapter 3 of Book 2" and "Chapter 3, Book 2".
    """
    from nlb_retriever.reading.headings.looks import KIND_LEVELS  # only where a number is looked up

    parts = _read_numbers(_capitalize(", ".join(reversed(_OF.split(name)))))
    if not parts:
        return []
    *outer, (kind, number, rest) = sorted(parts, key=lambda part: KIND_LEVELS.get(part[0], KIND_LEVELS["chapter"]))
    if not number or rest:
        return []
    found = [[read_number(title)[:2] for title in section.path] for section in sections]
    inside = [index for index, titles in enumerate(found) if all(part[:2] in titles for part in outer)]
    same = [index for index in inside if (kind, number) in found[index]]
    if same or kind not in {"chapter", "section", "clause", "article", "bare"}:
        return same
    if kind == "article" and any(each[0] == kind for titles in found for each in titles):
        return []
    meant = {("chapter", number), ("bare", number)}
    return [index for index in inside if not meant.isdisjoint({found[index][0], found[index][-1]})]


def _capitalize(name: str) -> str:
    return _SMALL_WORD.sub(lambda match: match[0].upper(), name)


def find_chapter_of(name: str, sections: Sequence[SectionRecord]) -> list[int]:
    """Numbers of the sections of a chapter, named by words of the title of the part that it is in: "Genesis 7".

    Or by the word that its own title begins with: "Lesson 7", "Federalist 10".
    """
    match = _CHAPTER_OF.fullmatch(_OF_OUTER.sub(r"\g<outer>, \g<chapter>", name))
    if not match:
        return []
    outer, number = fold(match["outer"]), int(match["number"])
    first, _, rest = outer.partition(" ")
    ordinals = next((each for each in _ORDINALS if rest and first in each), ())
    kind = read_number(_capitalize(match[0]))[0]
    if kind not in {"", "poem"} and not ordinals:  # "part 2" is none of a part; a psalm is
        return []
    wanted = rf"(?:{'|'.join(ordinals)})\b.{{0,60}}?\b{re.escape(rest)}" if ordinals else re.escape(outer)
    begins = re.compile(rf"\b{wanted}")  # "psalm" of "Psalms"
    found: dict[str, list[int]] = {}
    lengths: dict[str, int] = {}
    for index, section in enumerate(sections):
        part = next(filter(None, map(begins.search, map(fold, section.path[:-1]))), None)
        if part and read_number(section.path[-1])[:2] in {("chapter", number), ("bare", number)}:
            found.setdefault(part.string, []).append(index)
            lengths[part.string] = len(part[0])  # "The First Book of Samuel, called: The First Book of the Kings"
    if found:
        return found.get(outer) or found[min(found, key=lambda title: lengths[title])]
    own = (outer.removeprefix("the "), number)
    titles = {f"{each} {rest} {number}" for each in ordinals}
    return [
        index
        for index, section in enumerate(sections)
        if any(fold(each) in titles or own == read_series(each)[:2] for each in section.path)
    ]


def _find_series(name: str, sections: Sequence[SectionRecord]) -> list[int]:
    """Numbers of the sections of a word and a number, however they are written: "Lesson II", "the second unit"."""
    name = _capitalize(name)
    orders = (read_series(each) for each in (name, _NUMBER_FIRST.sub(r"\2 \1", name)))
    wanted = next((words for *words, rest in orders if words[1] and not rest), None)
    if wanted is None or read_number(name)[0] not in {"", "poem"}:
        return []
    return [index for index, each in enumerate(sections) if any([*read_series(t)[:2]] == wanted for t in each.path)]


def read_series(title: str) -> tuple[str, int, str]:
    """The words and number that a title begins with, and the words behind: "lesson", 7; 0 where there is none."""
    from nlb_retriever.reading.headings import series  # only where a number is looked up

    return series.read_series(title) or ("", 0, "")


def is_of_part(name: str, sections: Sequence[SectionRecord]) -> bool:
    """Whether a name is a chapter's of a part that has chapters, be there one of that number or not: "Psalm 151"."""
    match = _LAST_NUMBER.search(name)
    if not match:
        return False
    ends = re.compile(rf"\b{re.escape(fold(match['word']))}s?$")
    first = find_chapter_of(f"{name[: match.start('number')]}1", sections)
    return any(ends.search(fold(title)) for index in first for title in sections[index].path[:-1])


def differ(path: tuple[str, ...], before: tuple[str, ...]) -> bool:
    """Whether two parts are not the same: "VII (cont.)" goes on with "VII"."""
    if path != before and path[:-1] == before[:-1] and before and _CONTINUED.search(path[-1]):
        return read_number(path[-1])[:2] != read_number(before[-1])[:2]
    return path != before


def read_number(title: str) -> tuple[str, int, str]:
    """The kind ("chapter", "bare") and number that a title begins with, and the words behind; 0 where there is none."""
    return next(iter(_read_numbers(title)), ("", 0, ""))


def _read_numbers(title: str) -> list[tuple[str, int, str]]:
    """Of "Act III, Scene 4" both."""
    from nlb_retriever.reading.headings.looks import parse_line  # only where a number is looked up

    title = _SHORT_SECTION.sub("Section ", title)
    return [(each.kind, each.number, each.rest) for each in parse_line(title, 0, len(title), is_title=True)]
