"""Queries of a set made from its rows: all of them, those with few words of their evidence, quotations, or statements.

A quotation: a study guide's summary quotes its chapter. The query is the sentence with the quotation and those before
and after it, without the quoted words; the answer is the quoted span. It is like a scholar's paragraph, whose words
are about the quoted passage, not from it.

A statement: one sentence of a summary, without names, as people describe what they look for.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import replace

from nlb_retriever.search.question import find_names
from nlb_retriever.text.sentences import sentence_spans
from nlb_retriever.text.words import word_ids
from nlb_training.evaluation.answer_match import find_stems
from nlb_training.evaluation.books import BookCollection
from nlb_training.evaluation.rows import Row
from nlb_training.evaluation.sets import KnownSet

FEW_WORDS = 0.6
"""Largest share of a query's words that are in its evidence, by stems."""
_QUOTATION = re.compile(r"[\"“]([^\"“”]{25,400})[\"”]")
_MIN_QUOTED_WORDS = 6
_MIN_QUERY_WORDS = 6
_STATEMENT_WORDS = range(6, 26)
_WORD = re.compile(r"\w+(?:['’]\w+)?")


def choose_queries(known: KnownSet, rows: Sequence[Row], books: BookCollection) -> list[Row]:
    """The rows of a set.

    Args:
        known: the set.
        rows: of its file, checked against the books.
        books: of the rows.
    """
    if known.queries == "few-words":
        return [row for row in rows if share_of_words(row, books) <= FEW_WORDS]
    if known.queries == "quotes":
        return list(_find_quotations(rows, books))
    if known.queries == "statements":
        return list(_find_statements(rows))
    return list(rows)


def share_of_words(row: Row, books: BookCollection) -> float:
    """Share of a query's words, without stop words and question words, that are in its spans."""
    words = word_ids(row.query)
    text = books.text(row.file)
    evidence = find_stems(" ".join(text[start:end] for start, end in row.spans))
    return len(words & evidence) / max(1, len(words))


def _find_quotations(rows: Sequence[Row], books: BookCollection) -> Iterator[Row]:
    """Rows of quotations in the rows' queries; each quoted span once."""
    known: set[tuple[str, int]] = set()
    for row in rows:
        for match in _QUOTATION.finditer(row.query):
            span = _find_quoted(match[1], row, books.text(row.file))
            if span is None or (row.file, span[0]) in known:
                continue
            query = _remove_quotation(row.query, *match.span())
            if len(word_ids(query)) >= _MIN_QUERY_WORDS:
                known.add((row.file, span[0]))
                yield replace(row, query=query, spans=(span,))


def _find_statements(rows: Sequence[Row]) -> Iterator[Row]:
    """Rows of one sentence of each row's query, the middle one of those that will do."""
    for row in rows:
        sentences = (row.query[start:end].strip() for start, end in sentence_spans(row.query))
        fitting = [
            sentence
            for sentence in sentences
            if len(sentence.split()) in _STATEMENT_WORDS and sentence[-1] == "." and not find_names(sentence)
        ]
        if fitting:
            yield replace(row, query=fitting[len(fitting) // 2])


def _find_quoted(quotation: str, row: Row, text: str) -> tuple[int, int] | None:
    """The only span in a row's spans with the words of a quotation; None if there are none or several."""
    words = _WORD.findall(quotation)
    if len(words) < _MIN_QUOTED_WORDS:
        return None
    pattern = re.compile(r"\W+".join(map(re.escape, words)), re.IGNORECASE)
    spans = [match.span() for start, end in row.spans for match in pattern.finditer(text, start, end)]
    return spans[0] if len(spans) == 1 else None


def _remove_quotation(text: str, start: int, end: int) -> str:
    """The sentence around `text[start:end]` with its neighbours, without `text[start:end]`."""
    sentences = sentence_spans(text)
    inside = [number for number, (first, last) in enumerate(sentences) if first < end and last > start]
    first, last = sentences[max(0, inside[0] - 1)][0], sentences[min(len(sentences), inside[-1] + 2) - 1][1]
    return " ".join(f"{text[first:start]} {text[end:last]}".split())
