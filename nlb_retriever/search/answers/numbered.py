"""Numbered pieces of a text that are no sections: "What does recommendation 12 say?", "What is in paragraph 3.4?"."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import replace
from itertools import product

from nlb_retriever.errors import QueryError
from nlb_retriever.records import Answer, BookRecord, Hit
from nlb_retriever.search.answers.digest_forms import write_out
from nlb_retriever.search.answers.naming import find_titled
from nlb_retriever.search.answers.quotes import Quote, cite, first_quotes, make_answer
from nlb_retriever.search.forms import compile_forms, match_form
from nlb_retriever.search.hits import read_book
from nlb_retriever.search.request import SearchRequest
from nlb_retriever.search.scope import Scope, books_of, passages_with, resolve_scope
from nlb_retriever.store import LibraryStore
from nlb_retriever.store.lookup import find_sections
from nlb_retriever.text.languages import number_of_words
from nlb_retriever.text.sentences import sentence_spans

FOUND = 20
"""Best passages by the words of a question, whose books are looked at where it names none."""
SENTENCES, WORDS = 8, 150
"""Of a piece that are quoted, at most."""
_LEAST_WORDS = 4
"""Of a piece."""
_OTHERS = 3
"""Pieces of its kind that a book has, where it is said that it has none of a number."""
_NAMED = r"(?:recommendation|finding|conclusion|question|item|point|principle|resolution|requirement|objective|rule)"
_BARE = r"(?:paragraphs?|paras?\.?|items?|points?|minutes?)"
"""Kinds whose pieces begin with the number alone."""
_SAY = r"(?:say|state|ask|recommend|require|prohibit|allow|provide(?: for)?|conclude|find|tell us|mean)"
_OF_LAWS = r"(?:section|clause|article)"
"""Kinds that are sections in most texts, and paragraphs in some: "Section 3.2. Quorum. One third of ..."."""
_NUMBER = r"\d{1,3}(?:\.\d{1,3}){0,3}"
_PIECE = (
    rf"(?:the )?(?P<piece>(?:{_NAMED}|{_BARE}|{_OF_LAWS}) (?:no\.? |number )?{_NUMBER}|Q ?\d{{1,3}})"
    r"(?: (?:of|in) (?P<title>.+?))?"
)
_WITHIN = rf"(?P<within>{_OF_LAWS} {_NUMBER}(?:\((?:\d{{1,2}}|[a-z]{{1,4}})\))+)(?: (?:of|in) (?P<title>.+?))?"
"""A paragraph of an article: "Article 6(1)(f)"."""
_OF_ARTICLE = re.compile(
    r"(?:sub)?(?:paragraph|para\.?|section|point|clause|item) \(?(\w{1,4})\)?,? (?:of|in) "
    rf"({_OF_LAWS} {_NUMBER}(?:\(\w+\))*)",
    re.IGNORECASE,
)
"""The same as "point (f) of Article 6(1)"."""
_QUESTIONS = compile_forms(
    (
        ("within", rf"what (?:does|did|do) {_WITHIN} {_SAY}"),
        ("within", rf"(?:what(?:['’]s| is| was) )?(?:in |said in )?{_WITHIN}(?: about)?"),
        (
            "piece",
            rf"what (?:does|did|do) {_PIECE} {_SAY}",
        ),
        ("piece", rf"what(?:['’]s| is| was) (?:in |said in )?{_PIECE}(?: about)?"),
        ("piece", rf"(?:summari[sz]e |quote |read |show(?: me)? |find )?{_PIECE}"),
    )
)
_KIND = re.compile(r"[a-z]+", re.IGNORECASE)


def answer_numbered(request: SearchRequest, store: LibraryStore, limit: int | None = None) -> Answer | None:
    """The beginning of a numbered piece of a book that a question asks for.

    Args:
        request: of the question.
        store: the library.
        limit: at most so many sentences.

    Returns:
        Its sentences; "unsure" where several books have such a piece; none where the book that is named has others of
        the kind. None for other questions, and where no book of the request's scope has any.
    """
    query = write_out(request.query)
    while (turned := _OF_ARTICLE.sub(r"\2(\1)", query)) != query:
        query = turned
    question = match_form(query, _QUESTIONS)
    if not question:
        return None
    words = question[1].groupdict()
    if question[0] == "within":
        return _answer_within(request, words["within"], words["title"], store, limit)
    piece = words["piece"]
    with store.session():
        scope = resolve_scope(request, store)
        in_book = bool(scope.book or words.get("title"))
        books = _find_books(piece, words.get("title"), scope, store)
        if re.match(_OF_LAWS, piece, re.IGNORECASE):
            books = [book for book in books if not _is_section(piece, book, store)]
        read = [read_book(book, scope, store) for book in books]
    found = [(hits, quotes) for hits in read if (quotes := _find(piece, hits, in_book=in_book))]
    if not found:
        others = sum(1 for hits in read[:1] for hit in hits for _ in _begins(piece, hit.text, in_book=in_book))
        is_missing = in_book and re.match(_NAMED, piece, re.IGNORECASE) and others >= _OTHERS
        return make_answer(request.query, ()) if is_missing else None
    hits, quotes = found[0]
    citations = cite(hits, first_quotes(hits, quotes, SENTENCES if limit is None else limit, WORDS))
    return make_answer(request.query, citations, confidence="likely" if len(found) == 1 else "unsure")


def _answer_within(
    request: SearchRequest, within: str, title: str | None, store: LibraryStore, limit: int | None
) -> Answer | None:
    """A paragraph or point of an article of the one book that is named, or has such."""
    piece, *labels = re.findall(r"[^()]+", within)
    ways = [(piece, labels), (piece.rpartition(".")[0], [piece.split()[-1], *labels])]  # 7.2 may be text of clause 7
    found = []
    with store.session():
        scope = resolve_scope(request, store)
        for book, (name, inner) in product(_find_books(piece, title, scope, store), ways):
            with suppress(QueryError):
                sections = find_sections(name, store.sections(book.id), book) if name else ()
                hits = read_book(book, replace(scope, book=book, sections=sections), store) if sections else []
                if quotes := _descend(inner, hits):
                    found.append((hits, quotes))
    if len(found) != 1:
        return None
    hits, quotes = found[0]
    citations = cite(hits, first_quotes(hits, quotes, SENTENCES if limit is None else limit, WORDS))
    return make_answer(request.query, citations, confidence="likely")


def _descend(labels: Sequence[str], hits: Sequence[Hit]) -> list[Quote]:
    """The sentences of what has a label within that of another: "1", and in it "f"; none where nothing has."""
    begin: tuple[int, int, str] = (0, 0, "")
    end = None
    for label in labels:
        *outer, last = re.split(r"(?<=\.)", label)
        following = "".join(outer) + (str(int(last) + 1) if last.isdecimal() else chr(ord(last[-1]) + 1))
        if not (own := _find_label(label, hits, begin, end)):
            return []
        begin, end = own, _find_label(following, hits, own, end) or end
    return [*_sentences(hits, begin, end)]


def _find_label(
    label: str, hits: Sequence[Hit], begin: tuple[int, int, str], end: tuple[int, int, str] | None
) -> tuple[int, int, str] | None:
    """The first place between two at which a line or a sentence begins with a label: "(f)", "1."."""
    own, end_mark = re.escape(label), r"[.)]?" if "." in label else "[.)]"
    form = re.compile(rf"(?:^|(?<=[.;:—–] )|(?<=[—–]))[^\S\n]*(?:\({own}\)|{own}{end_mark})(?=\s)", re.MULTILINE)
    for index, hit in enumerate(hits[begin[0] :], begin[0]):
        stop = end[1] if end and index == end[0] else len(hit.text)
        if match := form.search(hit.text, begin[1] if index == begin[0] else 0, stop):
            return index, match.start(), label
        if end and index == end[0]:
            break
    return None


def _find_books(piece: str, title: str | None, scope: Scope, store: LibraryStore) -> list[BookRecord]:
    """The book of the scope or of a title, else those of the passages that have words of a piece's name."""
    if scope.book or title:
        return find_titled(title, scope, store)[:1]
    return books_of(passages_with(piece, scope, store, FOUND), store)


def _is_section(piece: str, book: BookRecord, store: LibraryStore) -> bool:
    with suppress(QueryError):
        return bool(find_sections(piece, store.sections(book.id), book))
    return False


def _find(piece: str, hits: Sequence[Hit], *, in_book: bool) -> list[Quote]:
    """The sentences of a piece in the passages of a book; none where no line begins with its number.

    Of several such lines it is one that the next number of that kind follows.
    """
    number = re.findall(r"\d+", piece)
    following = [*number[:-1], str(int(number[-1]) + 1)]
    begins = [
        (index, match.start(), match["number"])
        for index, hit in enumerate(hits)
        for match in _begins(piece, hit.text, in_book=in_book)
    ]
    own = [at for at, (_, _, each) in enumerate(begins) if re.findall(r"\d+", each) == number]
    pieces = [[*_sentences(hits, begins[at], begins[at + 1] if at + 1 < len(begins) else None)] for at in own]
    goes_on = [at + 1 < len(begins) and re.findall(r"\d+", begins[at + 1][2]) == following for at in own]
    whole = [
        (not next_follows, quotes)
        for next_follows, quotes in zip(goes_on, pieces, strict=True)
        if sum(number_of_words(quote.text(hits)) for quote in quotes) >= _LEAST_WORDS
    ]
    return min(whole, key=lambda each: each[0], default=(False, []))[1]


def _begins(piece: str, text: str, *, in_book: bool) -> Iterator[re.Match[str]]:
    """The lines of a text that begin with a number of the kind of a piece.

    Args:
        piece: its name.
        text: of a passage.
        in_book: whether a book is named, where the number alone ("2.") is enough.
    """
    kind = (_KIND.match(piece) or [""])[0].lower().rstrip("s")
    named = rf"(?:{_NUMBER}\.?\s+)?{kind}s? (?:no\.? |number )?(?P<number>{_NUMBER})"
    if kind in {"q", "question"}:
        named = rf"(?:Q\.? ?|question (?:no\.? |number )?)(?P<number>{_NUMBER})"
    found = [*re.finditer(rf"^[^\S\n]*{named}(?![\w.]*\d)", text, re.IGNORECASE | re.MULTILINE)]
    dots = piece.count(".")
    if not found and dots and re.fullmatch(_OF_LAWS, kind):
        own = rf"\d{{1,3}}(?:\.\d{{1,3}}){{{dots}}}"
        return re.finditer(rf"^[^\S\n]*(?P<number>{own})\.?\s+(?=[^\W\d_]|[“\"‘'(])", text, re.MULTILINE)
    if not found and re.fullmatch(_BARE, kind) and (in_book or "." in piece.rstrip(".")):
        return re.finditer(rf"^[^\S\n]*[(\[]?(?P<number>{_NUMBER})[.)\]:]?\s+(?=[^\W\d_]|[“\"‘'(])", text, re.MULTILINE)
    return iter(found)


def _sentences(hits: Sequence[Hit], begin: tuple[int, int, str], end: tuple[int, int, str] | None) -> Iterator[Quote]:
    """The sentences between two places of a section's passages."""
    first, start, _ = begin
    for index, hit in enumerate(hits[first:], first):
        if hit.section_id != hits[first].section_id or (end and index > end[0]):
            break
        from_, to = start if index == first else 0, end[1] if end and index == end[0] else len(hit.text)
        for order, (own, stop) in enumerate(sentence_spans(hit.text)):
            if own < to and stop > from_:
                yield Quote(hit=index, order=order, start=max(own, from_), end=min(stop, to))
