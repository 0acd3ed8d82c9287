"""Who wrote a book and when: as the library knows it, with the line of the title page that says so, too."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace
from itertools import chain

from nlb_retriever.records import BookRecord, Citation, Hit, SectionRecord, ShortAnswer
from nlb_retriever.search.answers.book_parts import FOUND, find_beginning, find_titled_sections, is_front
from nlb_retriever.search.answers.quotes import LEAST_WORDS, Quote, Quoted, cite, find_sentences, is_prose
from nlb_retriever.search.hits import read_book
from nlb_retriever.search.scope import Scope, sections_with
from nlb_retriever.search.titles import is_named, split_byline
from nlb_retriever.store import LibraryStore
from nlb_retriever.text.languages import number_of_words

_PERSON = r"(?P<author>[^\W\d_a-z][\w.’'-]*(?: (?:(?:de|del|van|von|la) )?[^\W\d_a-z][\w.’'-]*){1,4})"
_BY = re.compile(rf"^[^\w\n]*(?:[Bb]y|BY)[ :]+{_PERSON}[^\w\n]*$", re.MULTILINE)
"""A line of its own."""
_SIGNED = re.compile(r"(?P<author>(?:(?:SIR|LORD|LADY|MRS?\.) )?(?:[A-Z]\. ?){1,4}[A-Z][A-Z'’-]+)\.?")
"""The last line of a poem: "A. PENWICK."."""
_BEGINNING = 300
"""Characters of a section in which its author is named."""
_MANY = frozenset({"various", "various authors", "anonymous", "unknown"})
"""What stands for the author of a collection."""
TITLE_PAGE = 3
"""First passages of a book that are read for its author's name and its year."""
_YEAR = re.compile(r"(?<![^\W_])(1[4-9]\d\d|20\d\d)(?![^\W_])")
_PUBLISHED = re.compile(
    rf"(?:\b(?:published|copyright)\b|©)[^\n]{{0,80}}?{_YEAR.pattern}"
    rf"|^(?:[^\w\n]|_)*{_YEAR.pattern}(?=(?:[^\w\n]|_)*$)",
    re.IGNORECASE | re.MULTILINE,
)
"""A year behind such a word, or alone in its line."""


def name_authors(books: Sequence[BookRecord], scope: Scope, store: LibraryStore) -> Quoted:
    """The authors of books, with the line of each that names its author, or else its first sentence."""
    written = {book.author.casefold(): book for book in books if book.author and book.author.strip()}
    citations = [
        citation
        for book in written.values()
        for citation in _cite_author(book.author or "", read_book(book, scope, store, TITLE_PAGE))
    ]
    first = {citation.hit.author or "": number for number, citation in reversed([*enumerate(citations)])}
    return [ShortAnswer(text=author, citation=number) for author, number in reversed(first.items())], citations


def name_author_of_part(title: str, scope: Scope, store: LibraryStore) -> Quoted:
    """The author of the section of that title ("Lycidas"): of its own byline, or else of the one book that has it."""
    titled = find_titled_sections(title, scope, store)
    sections = [section for section in titled if not is_front(section.path[-1])]
    named = {author for section in sections if (author := read_byline(section))}
    whole = sections[0].author if len({section.book_id for section in sections}) == 1 else None
    author = whole if not named else named.pop() if len(named) == 1 else None
    if not author or author.casefold() in _MANY:
        return [], []
    book = store.find_book(sections[0].book_id)
    hits = read_book(book, replace(scope, book=book, sections=(sections[0].section,)), store)
    citations = _cite_author(author, [*hits[:1], *hits[1:][-1:]]) or find_beginning(hits, one=True)
    return [ShortAnswer(text=author, citation=0)] if citations else [], citations


def read_byline(section: SectionRecord) -> str | None:
    """Whom the title, a line at the beginning or the last line of a section names as its author.

    Of several authors of a book one may stand there without a word more.
    """
    named = (split_byline(title)[1] for title in reversed(section.path))
    lines = section.text[:_BEGINNING].split("\n")
    own = [name for name in re.split("[,;] ", section.author or "") if name in lines]
    if len(own) == 1 and own != [section.author]:
        return own[0]
    line = _BY.search(section.text[:_BEGINNING]) or _SIGNED.fullmatch(section.text.rstrip().rpartition("\n\n")[2])
    return next(filter(None, named), None) or (line["author"].strip(" ._*") if line else None)


def find_pieces(author: str, scope: Scope, store: LibraryStore) -> list[SectionRecord]:
    """The sections of collections that name an author as theirs, among the best by the name, in order."""
    sections = [each for each in sections_with(author, scope, store, FOUND) if not is_front(each.path[-1])]
    by = [section for section in sections if is_named(author, read_byline(section))]
    return sorted(by, key=lambda section: (section.book_id, section.section))


def _cite_author(author: str, hits: Sequence[Hit]) -> tuple[Citation, ...]:
    """The line of a book's or section's first passages that has its author's name, or else their first sentence."""
    name = re.compile(rf"\b{re.escape(author.rsplit(maxsplit=1)[-1])}\b", re.IGNORECASE)
    first: Quote | None = None
    for quote in find_sentences(hits):
        hit, start, end = hits[quote.hit], quote.start, quote.end
        if found := name.search(hit.text, start, end):
            line = max(start, hit.text.rfind("\n", start, found.start()) + 1)
            stop = hit.text.find("\n", found.end(), end)
            return cite(hits, [replace(quote, start=line, end=end if stop < 0 else stop)])
        if not first and is_prose(hit, start, end) and number_of_words(quote.text(hits)) >= LEAST_WORDS:
            first = quote
    return cite(hits, [first] if first else [])


def name_maker(did: str, hits: Sequence[Hit]) -> Quoted:
    """Who translated, edited or illustrated a book, where its first passages say so: "Translated by Ada Writer"."""
    work = rf"(?<![^\W_])(?i:{did}(?: (?:from|into|out of|for) [^\n]{{1,40}}?)?,?\s+by)[\s:]+"
    by = re.compile(rf"{work}{_PERSON}(?=\s*(?:[,;.(_*\n]|\Z))")
    for quote in find_sentences(hits):
        found = by.search(hits[quote.hit].text, quote.start)  # the name may stand in a paragraph of its own
        if found and found.start() < quote.end:
            name = found["author"].strip(" ._*")
            return [ShortAnswer(text=name, citation=0)], cite(hits, [replace(quote, end=max(quote.end, found.end()))])
    return [], []


def date_book(book: BookRecord, hits: Sequence[Hit]) -> Quoted:
    """The year that the library knows, or else the title page, with the first sentence that has it.

    Where none has it, the first sentence of prose is cited.

    Args:
        book: whose year it is.
        hits: its first passages.
    """
    quotes = [*find_sentences(hits)]
    if not book.year:
        for each in quotes:
            found = _PUBLISHED.search(hits[each.hit].text)
            if not found or found.end() > each.end:
                continue
            year = found[1] or found[2]
            if year not in book.title:
                return [ShortAnswer(text=year, citation=0)], cite(hits, [each])
    if not book.year or not quotes:
        return [], []
    with_year = (each for each in quotes if f"{book.year}" in each.text(hits))
    prose = (each for each in quotes if is_prose(hits[each.hit], each.start, each.end))
    quote = next(chain(with_year, prose), quotes[0])
    return [ShortAnswer(text=f"{book.year}", citation=0)], cite(hits, [quote])


def has_year(hits: Sequence[Hit]) -> bool:
    """Whether some passages have a number that may be a year."""
    return any(_YEAR.search(hit.text) for hit in hits)
