"""Footnotes at the feet of printed pages."""

from __future__ import annotations

from nlb_retriever.reading.pages.page_notes import Note, take_notes
from nlb_retriever.reading.pages.typography import Look

TEXT, SMALL = Look(11.0, False), Look(9.0, False)


def look(page: list[str], small: int) -> dict[str, Look]:
    """How a page's lines are set: the last ones in small type."""
    return {line: SMALL if at >= len(page) - small else TEXT for at, line in enumerate(page)}


def test_notes_are_taken_with_their_calls_and_the_sentence_goes_on() -> None:
    above = "The window of the office was broken at the first blow, and the flame flickered in the wind."
    first = [above, "The keeper1 of the lamp2 walked con-", "1Of the northern one.", "2. A lamp of brass,"]
    second = [above, "tented along the stair.”3", "as they had then.", "3 Two hundred steps."]
    kept, notes = take_notes([first, second], [look(first, 2), look(second, 2)])
    assert kept == [[above, "The keeper of the lamp walked con-"], [above, "tented along the stair.”"]]
    assert notes == [
        Note(0, ["1 Of the northern one."]),
        Note(0, ["2 A lamp of brass,", "as they had then."]),
        Note(1, ["3 Two hundred steps."]),
    ]


def test_small_lines_that_nothing_calls_stay() -> None:
    page = ["The lamp burned.", "It burned in 1871 for 12 nights.", "12 nights are long.", "Figure 1. The lamp."]
    assert take_notes([page], [look(page, 2)]) == ([page], [])


def test_a_line_without_its_mark_is_still_set_as_it_was() -> None:
    page = ["The lamp∗ burned.", "∗Of brass."]
    looks = look(page, 1)
    kept, notes = take_notes([page], [looks])
    assert (kept, notes) == ([["The lamp burned."]], [Note(0, ["∗ Of brass."])])
    assert looks["The lamp burned."] == TEXT


def test_small_print_without_a_mark_is_a_note_on_the_first_page_where_the_sentence_goes_on_on_the_next() -> None:
    page, table = (
        ["The lamp was lit and the", "A. Bell is with the lighthouse."],
        ["The lamp was lit and the", "Table 1. Lamps."],
    )
    looks, following = look(page, 1), ["keeper slept."]
    assert take_notes([page, following], [looks, look(following, 0)]) == ([page[:1], following], [Note(0, page[1:])])
    for pages in (
        [["The lamp."], page, following],
        [page, ["The keeper slept."]],
        [table, following],
        [["The lamp was lit.", page[1]], following],
    ):
        assert take_notes(pages, [look(each, 1 if len(each) > 1 else 0) for each in pages]) == (pages, [])


def test_a_note_is_called_by_the_text_and_not_by_the_mark_of_an_author_above() -> None:
    page = ["Ann Bell,1 Tom Ringer⋆", "1Harbour School", "The lamp1 burned.", "1 Of brass.", "⋆ Of late."]
    kept, notes = take_notes([page], [look(page, 2)])
    assert kept == [["Ann Bell,1 Tom Ringer", "1Harbour School", "The lamp burned."]]
    assert [note.lines for note in notes] == [["1 Of brass."], ["⋆ Of late."]]


def test_a_note_is_called_by_no_word_that_ends_with_its_number_elsewhere_too() -> None:
    page = ["Then torture2 and torture2(x) run.", "So it is on Solaris2 alone.", "2 Of old."]
    kept, notes = take_notes([page], [look(page, 1)])
    assert kept == [["Then torture2 and torture2(x) run.", "So it is on Solaris alone."]]
    assert [note.lines for note in notes] == [["2 Of old."]]
