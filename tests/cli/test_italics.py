"""Marks of italics in plain text, left out of answers and hits on a terminal."""

from __future__ import annotations

from dataclasses import replace

import pytest

from nlb_cli.output.hits import answer_lines, hit_lines
from nlb_cli.output.terminal import Line
from nlb_retriever.records import Answer, Citation, Hit, ShortAnswer


def hit_of(text: str, source: str = "/books/lamp.txt") -> Hit:
    return Hit(level="passage", id="1", book_id="2", title="The Lamp", author=None, source=source, section=("I",),
               section_id=None, start=500, end=500 + len(text), page=None, score=1, text=text, metadata={})  # fmt: skip


def answer_of(hit: Hit, quote: str, words: str) -> Answer:
    at, inside = hit.start + hit.text.index(quote), hit.start + hit.text.index(words)
    citation = Citation(
        hit=hit, quote=quote, quote_start=at, quote_end=at + len(quote), answer=(inside, inside + len(words))
    )
    short = ShortAnswer(text=words, citation=0)
    return Answer(question="x", found=True, text=quote, citations=(citation,), shorts=(short,), confidence="sure")


def plain(line: Line) -> str:
    return "".join(text for text, _ in line.spans)


@pytest.mark.parametrize("styled", [False, True])
def test_a_quote_cut_between_two_marks_has_none(styled: bool) -> None:
    text = "It was _late_. _The keeper rowed to the Pequod. Then he slept._ Nobody came."
    first, *_, last = answer_lines(
        answer_of(hit_of(text), "_The keeper rowed to the Pequod.", "Pequod"), None, styled=styled
    )
    assert plain(first) == "Pequod [1] (sure)"
    assert "The keeper rowed to the Pequod." in plain(last)
    assert "_" not in plain(last)
    assert ("Pequod", "bold") in last.spans


def test_short_words_with_one_mark_lose_it() -> None:
    text = "He rowed to the _Pequod and the Rachel_ at night."
    first, *_ = answer_lines(answer_of(hit_of(text), text, "_Pequod"), None, styled=False)
    assert plain(first) == "Pequod [1] (sure)"


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("“_So_,” he said—_so_ loudly.", "“So,” he said—so loudly."),
        ("Mr. ____ rowed, and __init__ did not.", "Mr. ____ rowed, and __init__ did not."),
        ("The values of self.coef_ and _rate are set.", "The values of self.coef_ and _rate are set."),
        ("Say _one and go", "Say _one and go"),
    ],
)
def test_marks_of_italics_come_in_pairs_around_words(text: str, shown: str) -> None:
    lines = [plain(line) for line in hit_lines("keeper", [hit_of(text)], None)]
    assert shown in lines
    whole = [plain(line) for line in hit_lines("keeper", [hit_of(text)], None, whole=True)]
    assert shown in whole


def test_names_of_a_manual_keep_their_signs() -> None:
    text = "Call _start_ first."
    lines = [plain(line) for line in hit_lines("call", [replace(hit_of(text), source="/docs/api.md")], None)]
    assert text in lines
