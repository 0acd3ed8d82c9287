"""Hits and answers as lines for people."""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterator, Sequence
from dataclasses import replace

from nlb_cli.output.books import SHORT_ID
from nlb_cli.output.italics import plain_citation, plain_hit, plain_words
from nlb_cli.output.snippets import marked, pattern_of, snippet
from nlb_cli.output.terminal import Line, Span, block, inline, line
from nlb_retriever.records import Answer, Citation, Hit, page_name

_INDENT = "    "
_CONTEXT = 100
"""Characters shown on each side of a quote."""
_AUTHORS = 3
"""Most names behind the first of a book's that are shown."""


def hit_lines(question: str, hits: Sequence[Hit], library: str | None, *, whole: bool = False) -> Iterator[Line]:
    """Ranked hits: title, section and score, and the words that match, or the whole text."""
    pattern = pattern_of(question)
    for rank, hit in enumerate(map(plain_hit, hits), 1):
        yield line(*_title(hit), lead=f"{rank:>2}  ", right=(f"{hit.score:.3f}", "cyan"))
        yield _location(hit, library)
        if whole:
            yield from _rows(_emphasized(marked(block(hit.text), pattern)))
        else:
            yield line(*_emphasized(snippet(hit.text, pattern)), lead=_INDENT)
        if rank < len(hits):
            yield line()


def answer_lines(answer: Answer, library: str | None, *, styled: bool) -> Iterator[Line]:
    """The answer, then each citation with its section and its words; without a short answer the citations alone.

    Args:
        answer: to show.
        library: as the user named it, for the commands that show more.
        styled: show each quote in its passage, which is dimmed.
    """
    cited = citation_lines(answer, library, styled=styled)
    if answer.shorts or not answer.citations:
        yield line(*_answer(answer))
    else:
        next(cited)  # the empty line below an answer
    yield from cited


def citation_lines(answer: Answer, library: str | None, *, styled: bool) -> Iterator[Line]:
    """The citations of an answer that has been shown; takes what `answer_lines` does.

    Book and chapter stand above those that follow each other in a chapter, after an empty line.
    """
    pattern = pattern_of(answer.searched or answer.question)
    place = None
    for number, citation in enumerate(map(plain_citation, answer.citations), 1):
        lead = [(f"[{number}] ", "cyan")]
        before, place = place, (citation.hit.book_id, citation.hit.section_id, citation.hit.page)
        quote = _in_context(citation, pattern) if styled else _alone(citation, pattern)
        if place != before:
            yield line()
            yield line(*_title(citation.hit), lead=lead)
            yield _location(citation.hit, library)
            yield from quote
        else:
            first, *rest = quote
            yield replace(first, lead=tuple(lead))
            yield from rest


def _answer(answer: Answer) -> list[Span]:
    """The short answer or answers; without one what is said in its place."""
    if not answer.shorts:
        return [(block(answer.text), "")]
    cited = [(short, answer.citations[short.citation].hit) for short in answer.shorts]
    best, *others = [(block(plain_words(hit, short.text)), f" [{short.citation + 1}]") for short, hit in cited]
    spans: list[Span] = [(best[0], "bold"), (best[1], "cyan")]
    for text, number in others:
        spans += [(", or ", ""), (text, "bold"), (number, "cyan")]
    return [*spans, (f" ({answer.confidence})", "dim")]


def _title(hit: Hit) -> list[Span]:
    author = [(f", {_shorten(inline(hit.author))}", "")] if hit.author else []
    return [(" › ".join(map(inline, hit.titles)), "bold"), *author]


def _shorten(authors: str) -> str:
    """The first of many authors, and "et al."; "Dumas, Alexandre, 1802-1870" is one."""
    first, *others = authors.split(", ")
    return f"{first} et al." if len(others) > _AUTHORS else authors


def _location(hit: Hit, library: str | None) -> Line:
    """The chapter and the printed page, and the command that shows more."""
    parts = [" › ".join(map(inline, hit.section))] if hit.section else []
    location = ", ".join([*parts, *([page_name(inline(hit.page))] if hit.page else [])])
    command = (_open(hit, library), "dim")
    return line(location, lead=_INDENT, right=command) if location else line(command, lead=_INDENT)


def _in_context(citation: Citation, pattern: re.Pattern[str] | None) -> Iterator[Line]:
    """The quote with the text around it, line by line as in the book."""
    hit = citation.hit
    start, end = citation.quote_start - hit.start, citation.quote_end - hit.start
    before, after = hit.text[:start], hit.text[end:]
    if len(before) > _CONTEXT:
        before = f"…{before[-_CONTEXT:].partition(' ')[2]}"
    if len(after) > _CONTEXT:
        after = f"{after[:_CONTEXT].rpartition(' ')[0]}…"
    cut = citation.is_cut
    before, after = "… " if cut[0] else before, " …" if cut[1] else after
    yield from _rows([(block(before), "dim"), *_quote(citation, pattern), (block(after), "dim")])


def _alone(citation: Citation, pattern: re.Pattern[str] | None) -> Iterator[Line]:
    opened, closed = (citation.quote.count(mark) for mark in "“”")
    is_marked = opened or closed or '"' in citation.quote
    before, after = ("… " if citation.is_cut[0] else "", " …" if citation.is_cut[1] else "")
    before = f"“{before}" if closed > opened or not is_marked else before
    after = f"{after}”" if opened > closed or not is_marked else after
    yield from _rows([(before, ""), *_quote(citation, pattern), (after, "")])


def _quote(citation: Citation, pattern: re.Pattern[str] | None) -> list[Span]:
    """A quote with the words in it that answer in bold, or, where they are not known, those of the question."""
    text = block(citation.quote)
    if citation.answer is None:
        return _emphasized(marked(text, pattern))
    start, end = (position - citation.quote_start for position in citation.answer)
    return [(text[:start], ""), (text[start:end], "bold"), (text[end:], "")]


def _rows(spans: Sequence[Span]) -> Iterator[Line]:
    """Spans cut at their line ends; empty lines are left out. Verse stays verse."""
    row: list[Span] = []
    for text, style in spans:
        first, *others = text.split("\n")
        row.append((first, style))
        for other in others:
            yield from _row(row)
            row = [(other.lstrip(), style)]
    yield from _row(row)


def _row(spans: Sequence[Span]) -> Iterator[Line]:
    if "".join(text for text, _ in spans).strip():
        yield line(*spans, lead=_INDENT)


def _emphasized(pieces: Sequence[tuple[str, bool]]) -> list[Span]:
    return [(text, "bold" if matches else "") for text, matches in pieces]


def _open(hit: Hit, library: str | None) -> str:
    """The command that shows the hit in its book."""
    words = ["nlb", "show", hit.book_id[:SHORT_ID]]
    if (number := _section_number(hit)) is not None:
        words += ["--section", str(number)]
    return shlex.join([*words, *(["--library", library] if library else [])])


def _section_number(hit: Hit) -> int | None:
    """The number of the hit's section in its book, from 1, as `nlb show` counts."""
    ordinal = hit.metadata.get("section")
    return ordinal + 1 if isinstance(ordinal, int) and hit.level != "book" else None
