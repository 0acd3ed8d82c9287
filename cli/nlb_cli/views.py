"""Hits and answers as lines for people."""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterator, Sequence

from nlb_cli.snippets import marked, pattern_of, snippet
from nlb_cli.terminal import Line, block, inline, line
from nlb_retriever.records import Answer, Citation, Hit

_INDENT = 4


def hit_lines(question: str, hits: Sequence[Hit], library: str | None) -> Iterator[Line]:
    """Ranked hits: title, place and score, and the words that match."""
    pattern = pattern_of(question)
    for rank, hit in enumerate(hits, 1):
        yield line(f"{rank:>2}  ", *_title(hit), right=f"{hit.score:.3f}")
        if place := _place(hit):
            yield line(place, indent=_INDENT)
        yield _text(snippet(hit.text, pattern))
        yield line((_open(hit, library), "dim"), indent=_INDENT)
        if rank < len(hits):
            yield line()


def answer_lines(answer: Answer, library: str | None) -> Iterator[Line]:
    """The answer, then each citation with its place, its words and how to read on."""
    yield line((block(answer.answer), "bold"))
    pattern = pattern_of(answer.question)
    for number, citation in enumerate(answer.citations, 1):
        yield line()
        yield line(f"[{number}] ", *_title(citation.hit))
        if place := _place(citation.hit):
            yield line(place, indent=_INDENT)
        yield from _quote(citation, pattern)
        yield line((_open(citation.hit, library), "dim"), indent=_INDENT)


def _title(hit: Hit) -> list[tuple[str, str]]:
    author = [(f", {inline(hit.author)}", "")] if hit.author else []
    return [(inline(hit.title), "bold"), *author]


def _place(hit: Hit) -> str:
    """The chapter and the printed page: "Part One › Chapter 3, p. 47"."""
    parts = [" › ".join(map(inline, hit.section))] if hit.section else []
    return ", ".join([*parts, *([f"p. {inline(hit.page)}"] if hit.page else [])])


def _quote(citation: Citation, pattern: re.Pattern[str] | None) -> Iterator[Line]:
    """The quoted lines as they stand in the book: verse stays verse."""
    rows = [row for row in block(citation.quote).split("\n") if row.strip()]
    for number, row in enumerate(rows):
        opening, closing = "“" if number == 0 else "", "”" if number == len(rows) - 1 else ""
        yield _text([(opening, False), *marked(row.strip(), pattern), (closing, False)])


def _text(spans: Sequence[tuple[str, bool]]) -> Line:
    return line(*((text, "bold" if matches else "") for text, matches in spans), indent=_INDENT)


def _open(hit: Hit, library: str | None) -> str:
    """The command that shows the hit in its book."""
    words = ["nlb", "show", hit.book_id]
    if (number := _section_number(hit)) is not None:
        words += ["--section", str(number)]
    return shlex.join([*words, *(["--library", library] if library else [])])


def _section_number(hit: Hit) -> int | None:
    """The number of the hit's section in its book, from 1, as `nlb show` counts."""
    ordinal = hit.metadata.get("ordinal" if hit.level == "section" else "section")
    return ordinal + 1 if isinstance(ordinal, int) and hit.level != "book" else None
