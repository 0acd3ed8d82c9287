"""Figures of tables: "What was revenue in 2022?" is answered by the cell whose row and column have these words."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache

from nlb_retriever.records import Answer, ShortAnswer
from nlb_retriever.search.answers.answer import SENTENCES_OF, order_by_words
from nlb_retriever.search.answers.quotes import Quote, choose_quotes, cite, make_answer
from nlb_retriever.search.hits import widen
from nlb_retriever.search.run import SearchResult
from nlb_retriever.store import LibraryStore
from nlb_retriever.text.languages import number_of_words
from nlb_retriever.text.sentences import sentence_spans
from nlb_retriever.text.tables import Row, find_rows
from nlb_retriever.text.words import word_ids

NEIGHBOURS = 2
"""Passages before one that begins with rows in which the head of their table may be."""
MOST_WORDS = 60
"""From a table's head to a row that are quoted as one."""
CAPTION = 250
"""Characters above a table that say what it is on."""
_FIGURES = re.compile(
    r"(?:what(?:['’]s| is| was| were| are)|how (?:much|many|big|large|high|low)|by how much"
    r"|what (?:percentage|proportion|share|number|amount))\b",
    re.IGNORECASE,
)
_NAMES = re.compile(r"(?P<who>who)\b|when\b", re.IGNORECASE)
"""Questions that a cell answers where the head of its column is asked for: "Who is the curator of the mill?"."""
_SMALL = (
    "much many big large high low figure amount number value company group firm business organisation division segment"
    " council authority we our year work have percentage percent proportion share"
)
"""Words of a question that no row or column must have."""
_TELLING = frozenset("other before after under over above below not non without excluding including per than".split())
"""Small words that make another row: "Profit after tax"."""
_RISES = "rise rose risen grow grew growth grown increase"
_FALLS = "fall fell fallen decrease decline drop lose lost"
_CHANGES = f"{_RISES} {_FALLS} change"
_NEGATIVE = re.compile(r"[($£€¥\s]*[-–−(]")
_CHANGE_HEAD = re.compile(r"change|growth|variance|increase|[±+]/?[-−]", re.IGNORECASE)
_YEAR = re.compile(r"\b(?:1[5-9]|20)\d\d(?:[/–-]\d{2,4})?\b")
_UNIT = re.compile(r"[£$€¥%]|[^\W\d_]")
_WORD = re.compile(r"[a-z]+")
_BRACKETED = re.compile(r"\([^()]*\)")
_ALTERNATIVE = re.compile(r"[^\s()]+\s?\(([^()]*)\)")


@dataclass(frozen=True, kw_only=True)
class _Cell:
    """A cell that answers, in one of some hits."""

    hit: int
    start: int
    """Of the table's head, where that is in the hit, else of the row."""
    row: tuple[int, int]
    span: tuple[int, int]
    """In the text of the hit."""
    text: str
    matched: int
    """Words of the question that its row and column have."""
    is_headed: bool
    """Whether its column has one of them."""


def answer_cell(result: SearchResult, store: LibraryStore, limit: int | None) -> Answer | None:
    """The cell that a question asks for, where a row of a table in the hits has that label.

    All words of the label are in the question. The question's others are in the head of one column, or in the titles
    of the section and the book and the lines above the table; a year is in the column's head. Of several columns the
    one of the latest year is taken, or that of the total.

    Args:
        result: of a search for passages.
        store: the library.
        limit: see `choose_quotes`.

    Returns:
        The row, with the head of its table, and then the sentences with most of the question's words; "unsure" where
        tables have other figures, too. None where no table answers.
    """
    question = result.request.question
    names = _NAMES.match(question)
    if not names and not _FIGURES.match(question):
        return None
    cells = [*_find_cells(question, result, store)]
    if names:
        cells = [cell for cell in cells if cell.is_headed and any(map(str.isdigit, cell.text)) != bool(names["who"])]
    found = sorted(cells, key=lambda cell: (-cell.matched, not _UNIT.search(cell.text)))
    if not found:
        return None
    best = found[0]
    text = result.hits[best.hit].text
    start, (first, end) = best.start, best.row
    if number_of_words(text[start:end]) > MOST_WORDS:
        start = first
    order = next((order for order, (_, stop) in enumerate(sentence_spans(text)) if stop > first), 0)
    quote = Quote(hit=best.hit, order=order, start=start, end=end, answer=best.span)
    rest = [each for each in order_by_words(result, SENTENCES_OF) if each.hit != best.hit or each.order != order]
    quotes = choose_quotes(result.hits, [quote, *rest], limit)
    citations = (*cite(result.hits, quotes[:1]), *cite(result.hits, quotes[1:]))
    same = {re.sub(r"\D", "", cell.text) for cell in found if cell.matched == best.matched}
    short = ShortAnswer(text=" ".join(best.text.split()), citation=0)
    return make_answer(result.request.query, citations, [short], "likely" if len(same) == 1 else "unsure")


def _telling(text: str) -> frozenset[str]:
    return _TELLING.intersection(_WORD.findall(text.lower()))


def _find_cells(question: str, result: SearchResult, store: LibraryStore) -> Iterator[_Cell]:
    """The cells of the hits' tables that answer, each of the best column of its row."""
    query = word_ids(question)
    years = frozenset(_YEAR.findall(question))
    telling = _telling(question)
    for index, hit in enumerate(result.hits):
        text, rows = hit.text, [*find_rows(hit.text)]
        shift = 0
        if rows and rows[0].head is None:  # the table may begin in a passage before
            wide = widen(hit, NEIGHBOURS, store)
            text, shift = wide.text, hit.start - wide.start
            rows = [row for row in find_rows(text) if shift <= row.start and row.end <= shift + len(hit.text)]
        for row in rows:
            label = next((label for label in _labels(row.label) if label and label <= query), None)
            if label is None or not _telling(row.label) <= telling:
                continue
            above = text[: row.start if row.head is None else row.head][-CAPTION:]
            titles = (hit.title, hit.author or "", *hit.section)
            context = word_ids(" ".join((*titles, above, *row.heads[:1])))  # the first head may go on from a caption
            context |= _ids(_SMALL)
            rest = query - label - word_ids(row.label)
            column = _choose_column(row, rest, years - {*_YEAR.findall(row.label)}, context)
            if column is None or not _fits_change(rest, text[slice(*row.cells[column])]):
                continue
            if telling <= _telling(f"{row.label} {''.join(row.heads[column : column + 1])}"):
                span = row.cells[column]
                own = word_ids(row.heads[column]) if row.heads else frozenset()
                yield _Cell(
                    hit=index,
                    start=row.start - shift if row.head is None or row.head < shift else row.head - shift,
                    row=(row.start - shift, row.end - shift),
                    span=(span[0] - shift, span[1] - shift),
                    text=text[slice(*span)],
                    matched=len(query & (label | own)),
                    is_headed=bool(query & (own - label)),
                )


def _fits_change(rest: frozenset[int], figure: str) -> bool:
    """Whether a figure is negative where a question asks how much something fell, and not where it asks for a rise."""
    negative = _NEGATIVE.match(figure) is not None
    return not (rest & _ids(_FALLS) and not negative) and not (rest & _ids(_RISES) and negative)


def _labels(label: str) -> Iterator[frozenset[int]]:
    """The words of a label without what is in brackets, and with that for the word before: "Profit/(loss)"."""
    yield word_ids(_BRACKETED.sub(" ", label))
    yield word_ids(_ALTERNATIVE.sub(r" \1 ", label))


def _choose_column(row: Row, rest: frozenset[int], years: frozenset[str], context: frozenset[int]) -> int | None:
    """The column of a row that the rest of a question's words, and its years, are in; None where none is meant."""
    heads = row.heads or ("",) * len(row.cells)
    columns = [*range(len(heads))]
    if rest & _ids(_CHANGES):
        columns, rest = [at for at in columns if _CHANGE_HEAD.search(heads[at])], rest - _ids(_CHANGES)
    columns = [at for at in columns if years <= {*_YEAR.findall(heads[at])}]
    owned = [word_ids(heads[at]) for at in columns]
    fitting = [(len(rest & own), at) for at, own in zip(columns, owned, strict=True) if rest - own <= context]
    most = max(fitting, default=(0, 0))[0]
    best = [at for count, at in fitting if count == most]
    latest = max((year for at in best for year in _YEAR.findall(heads[at])), default="")
    if len(best) > 1 and not latest:
        best = [at for at in best if heads[at].lower() == "total"]
    return next((at for at in best if not latest or latest in heads[at]), None)


@cache
def _ids(words: str) -> frozenset[int]:
    return word_ids(words) | frozenset().union(*map(word_ids, words.split()))
