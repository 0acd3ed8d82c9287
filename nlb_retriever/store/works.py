"""Works whose chapters are a file each: the files of a folder that are numbered as chapters are.

A work is a `BookRecord` with `parts`, its chapters' books in order; its id is the path of its folder.
"""

from __future__ import annotations

import os
import re
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from functools import lru_cache
from pathlib import Path, PurePath
from typing import NamedTuple, TypeVar

from nlb_retriever.records import BookRecord, PassageRecord, SectionRecord
from nlb_retriever.store.lookup import read_number
from nlb_retriever.text.folding import fold

FEWEST, LONGEST = 4, 20_000
"""Chapters of a work, and their tokens on average, at most: numbered novels are a series."""
MOST = 40
"""Files whose numbers nothing says to be chapters: "001 Oxygen.txt" of five hundred is an article."""
NUMBERED, KNOWN = 0.5, 0.8
"""Least share of a folder's files that have a number, and of the numbers from 1 to the last that one of them has; and
of the numbered ones that share theirs with no other."""
_CHAPTER = r"(?:chapter|chap|ch|lecture|lesson|unit|module|letter|canto|stave|part|section|sect|sec|kapitel|chapitre)"
_PLACE = re.compile(
    rf"(?:(?P<kind>{_CHAPTER})[\W_]*)?(?P<number>\d{{1,3}}(?:[._-]\d{{1,3}})*)(?![^\W_])"
    rf"|(?P<word>{_CHAPTER})[\W_]+(?P<roman>[IVXLC]+)(?![^\W_])",
    re.IGNORECASE,
)
"""What the name or title of a chapter's file begins with: "04 ", "ch04-01", "14.2. ", "Chapter IV"."""
_LABEL = re.compile(rf"(?<![^\W_]){_CHAPTER}(?![^\W\d_])", re.IGNORECASE)
_OF_CHAPTER = frozenset(("chapter", "chap", "ch"))
_FRONT = frozenset(("index", "readme", "title", "title-page", "cover", "front", "toc", "summary"))
"""Names of files before the chapters."""
_BACK = re.compile(r"(?:appendi|glossary|bibliography|notes|epilogue|index|conclusion)", re.IGNORECASE)
_SITE = re.compile(r" [-–—|] ")
"""Between the title of a page and its site's."""
_WORD = re.compile(r"\w+")
_ARTICLES = frozenset(("the", "a", "an"))
Text = TypeVar("Text", SectionRecord, PassageRecord)


class _Place(NamedTuple):
    """Where a file stands in its work."""

    numbers: tuple[int, ...]
    """Of its chapter and section; none of a preface."""
    is_chapter: bool
    """Whether the first number is certainly its chapter's."""


def find_works(books: Iterable[BookRecord]) -> list[BookRecord]:
    """Books, those that are a work's chapters as one, by title."""
    folders: defaultdict[str, list[BookRecord]] = defaultdict(list)
    for book in books:
        folders[os.path.dirname(book.source) if book.from_file else ""].append(book)  # noqa: PTH120 - no path of each
    found = [work for folder, files in folders.items() for work in _join(folder, files)]
    return by_title(found)


def by_title(books: Iterable[BookRecord]) -> list[BookRecord]:
    """Books in the order in which lists show them."""
    return sorted(books, key=lambda book: (book.title.casefold(), book.id))


def join_parts(work: BookRecord, parts: Sequence[BookRecord]) -> BookRecord:
    """A work with these chapters alone; the chapter itself where it is one."""
    if len(parts) == 1:
        return parts[0]
    counts = {key: sum(getattr(part, key) for part in parts) for key in ("sections", "passages", "chars", "tokens")}
    return replace(work, id=work.source, parts=tuple(parts), **counts)


def name_chapters(parts: Iterable[BookRecord]) -> dict[str, str]:
    """The chapters of parts, by id, where the names of files or their titles say them: "Chapter 4. Slices" for those of
    "ch04-00-slices.md" and "ch04-01-strings.md"."""
    named: dict[int, str] = {}
    found = {}
    for part in parts:
        numbers, is_chapter = _place(part)
        if is_chapter and numbers[0]:
            title = _SITE.split(part.title, maxsplit=1)[0]
            own = read_number(title)[:2] == ("chapter", numbers[0])
            found[part.id] = named.setdefault(numbers[0], title if own else f"Chapter {numbers[0]}. {title}")
    return found


def below_chapter(text: Text, chapters: Mapping[str, str]) -> Text:
    """A section or passage with its chapter (`name_chapters`) above its titles, unless these say its number."""
    chapter = chapters.get(text.book_id)
    if chapter is None or _number_of(text.path[0]) == _number_of(chapter):
        return text
    return replace(text, path=(chapter, *text.path))


@lru_cache(maxsize=4_096)
def _number_of(title: str) -> tuple[str, int]:
    kind, number, _ = read_number(title)
    return kind, number


def _join(folder: str, files: list[BookRecord]) -> list[BookRecord]:
    """The work that a folder's files are the chapters of; else the files."""
    if not folder or len(files) < FEWEST or sum(book.tokens for book in files) > LONGEST * len(files):
        return files
    places = {book.id: _place(book) for book in files}
    numbers = [place.numbers for place in places.values() if place.numbers]
    firsts = {each[0] for each in numbers}
    labelled = sum(bool(_LABEL.search(_stem(book)) or _LABEL.search(book.title)) for book in files)
    if (
        len(numbers) < max(FEWEST, NUMBERED * len(files))
        or (len(files) > MOST and max(labelled, sum(len(each) > 1 for each in numbers)) < NUMBERED * len(files))
        or len({*numbers}) < KNOWN * len(numbers)
        or min(firsts) > 1
        or len(firsts) < KNOWN * max(firsts)
    ):
        return files
    files = sorted(files, key=lambda book: _order(book, places[book.id]))
    first = files[0]
    name = {*_words(Path(folder).name)} - _ARTICLES
    is_named = bool(name) and name.issubset(_words(first.title)) and not _PLACE.match(first.title)
    is_front = is_named or _stem(first).lower() in _FRONT
    if is_front:
        title = _SITE.split(first.title, maxsplit=1)[0]
    else:
        from nlb_retriever.reading.book import title_from_name

        title = title_from_name(PurePath(folder))
    author = next((book.author for book in files if book.author), None)
    work = replace(first, title=title, author=author, source=folder, warnings=(), work=None)
    return [join_parts(work, [replace(book, work=title) for book in files])]


def _order(book: BookRecord, place: _Place) -> tuple[int, tuple[int, ...], str]:
    stem = _stem(book).lower()
    rank = 0 if stem in _FRONT else 2 if not place.numbers and _BACK.match(stem) else 1
    return rank, place.numbers, stem


def _place(book: BookRecord) -> _Place:
    stem = _stem(book)
    name, title = _PLACE.match(stem), _PLACE.match(book.title)
    found = name or title
    if found is None or (stem.isdecimal() and (title is None or book.title.isdecimal())):  # "001.txt" may be any text
        return _Place((), False)
    if found["roman"]:
        return _Place((read_number(f"Chapter {found['roman'].upper()}")[1],), found["word"].lower() in _OF_CHAPTER)
    numbers = tuple(map(int, re.split(r"[._-]", found["number"])))
    return _Place(numbers, (found["kind"] or "").lower() in _OF_CHAPTER or (name is None and len(numbers) > 1))


def _stem(book: BookRecord) -> str:
    return os.path.splitext(os.path.basename(book.source))[0]  # noqa: PTH119, PTH122 - no path of each


def _words(text: str) -> list[str]:
    return _WORD.findall(fold(text).replace("_", " "))
