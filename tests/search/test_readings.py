"""The order that a reader's spans and relevance give to passages."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import pytest

from nlb_retriever.reader import AnswerSpan, Reading
from nlb_retriever.records import Hit
from nlb_retriever.search.readings import MOST_READ, WEIGHT, order_sections, read_hits

QUESTION = "Who lit the lamp?"


class MarkedReader:
    """Finds what stands in brackets, each with the same score, and holds all passages for as relevant."""

    backend = "brackets"

    def read(self, question: str, passages: Sequence[str], *, shortest: int = 1) -> list[Reading]:
        return [Reading(relevance=1.0, spans=tuple(_bracketed(text)), no_answer_score=0.0) for text in passages]


def _bracketed(text: str) -> list[AnswerSpan]:
    starts = [index + 1 for index, letter in enumerate(text) if letter == "["]
    return [AnswerSpan(start=start, end=text.index("]", start), score=2.0) for start in starts]


def make_hits(*texts: str) -> list[Hit]:
    return [
        Hit(level="passage", id=str(number), book_id="b", title="", author=None, source="", section=(), section_id=None,
            start=0, end=len(text), page=None, score=1.0 - number / 1000, text=text, metadata={})
        for number, text in enumerate(texts)
    ]  # fmt: skip


def read(hits: Sequence[Hit], *, diversify: bool) -> tuple[list[str], list[float]]:
    found = read_hits(QUESTION, hits, MarkedReader(), diversify=diversify)
    assert [hits[index].text for index in found.order] == [hit.text for hit in found.hits]
    assert [reading.spans for reading in found.readings] == [tuple(_bracketed(hit.text)) for hit in found.hits][
        :MOST_READ
    ]
    return [hit.id for hit in found.hits], [hit.score for hit in found.hits]


def test_a_passage_with_another_answer_comes_before_more_of_the_same() -> None:
    hits = make_hits("[Margaret] lit it.", "It was [Margaret] again.", "[Margaret] once more.", "[Jonas] lit it.")
    assert read(hits, diversify=False)[0] == ["0", "1", "2", "3"]
    order, scores = read(hits, diversify=True)
    assert order == ["0", "3", "1", "2"]
    assert scores == sorted(scores, reverse=True)


def test_a_passage_that_holds_all_other_answers_comes_next_though_none_is_marked_there() -> None:
    hits = make_hits("[Margaret] lit it.", "[Jonas] lit it.", "[Ada] lit it.", "Jonas and Ada met.")
    assert read(hits, diversify=True)[0] == ["0", "3", "1", "2"]


def test_the_passage_with_the_best_score_stays_first() -> None:
    hits = make_hits("[Margaret] lit it.", "[Jonas] lit it.", "Margaret and Jonas met.")
    order, scores = read(hits, diversify=True)
    assert order == ["0", "1", "2"]
    assert scores == sorted(scores, reverse=True)


@pytest.mark.parametrize("texts", [(), ("nothing",), ("nothing", "is", "[the]")])
def test_without_answers_the_scores_decide(texts: Sequence[str]) -> None:
    assert read(make_hits(*texts), diversify=True)[0] == [str(number) for number in range(len(texts))]


def test_what_was_not_read_stays_behind_in_its_order() -> None:
    hits = make_hits(*(f"[Jonas {number % 7}] lit it." for number in range(MOST_READ + 5)))
    order, scores = read(hits, diversify=True)
    assert order[MOST_READ:] == [str(number) for number in range(MOST_READ, MOST_READ + 5)]
    assert scores == sorted(scores, reverse=True)
    assert len(set(order)) == len(hits)


def test_each_by_itself_has_its_score_and_its_relevance() -> None:
    hits = make_hits("[Margaret] lit it.", "[Jonas] lit it.")
    _, scores = read(hits, diversify=False)
    assert scores == pytest.approx([1 + WEIGHT, 0.999 + WEIGHT])


class LengthReader(MarkedReader):
    """Holds a passage for as relevant as it has words."""

    def read(self, question: str, passages: Sequence[str], *, shortest: int = 1) -> list[Reading]:
        return [Reading(relevance=float(len(text.split())), spans=(), no_answer_score=0.0) for text in passages]


@pytest.mark.parametrize("shift", [0.0, -3.0, -1.0])
def test_sections_of_any_scores_keep_their_order_but_for_their_most_relevant_passage(shift: float) -> None:
    sections = [replace(hit, score=hit.score + shift) for hit in make_hits("one", "two", "three")]
    assert [hit.id for hit in order_sections(QUESTION, sections, [], LengthReader())] == ["0", "1", "2"]
    passages = [replace(hit, section_id="2") for hit in make_hits("a", "a b c d e f")]
    found = order_sections(QUESTION, sections, [*passages, replace(passages[0], section_id="1")], LengthReader())
    assert [hit.id for hit in found] == ["2", "0", "1"]
