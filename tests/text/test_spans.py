"""Where the spans of a passage begin."""

from __future__ import annotations

from nlb_retriever.text.spans import SPAN_CHARACTERS, span_starts


def test_spans_are_as_many_sentences_as_fit() -> None:
    text = "The lamp went out in the storm of November, and nobody saw it. " * 9
    starts = span_starts(text)
    length = len(text) // 9
    assert starts == [0, 3 * length, 6 * length]
    assert 3 * length <= SPAN_CHARACTERS < 4 * length


def test_a_long_sentence_is_a_span_of_its_own() -> None:
    long = "He rowed " + "and rowed " * 40 + "home."
    assert span_starts(f"It was late. {long} He slept.") == [0, 13, 13 + len(long) + 1]


def test_a_text_has_one_span_at_least() -> None:
    assert span_starts("") == span_starts("   ") == span_starts("Late.") == span_starts("\n\nLate.") == [0]
