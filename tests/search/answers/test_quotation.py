"""Words that a question quotes."""

from __future__ import annotations

import pytest

from nlb_retriever import Retriever, book_from_text, index_books
from nlb_retriever.records import Hit
from nlb_retriever.search.answers.quotation import _is_spoken
from nlb_retriever.search.answers.quotes import Quote

SHIP = """\
The preacher climbs a rope ladder. He speaks of Jonah—who was swallowed by a fish. The widows weep.

“Avast, the lamp is out,” cried Captain Rusk, and the boy ran below. Nobody answered. It was a dark night on the water.
"""
FARM = "The baker sings. He speaks of rye, and of Jonah, who was never swallowed by a fish. The dough rises at dawn."
PLAY = "ACT I\n\n" + "\n\n".join(
    f"{who}.\n{says}"
    for number in range(5)
    for who, says in (
        ("ANNA", f"The lantern fell {number} times."),
        ("OLD TOM", f"I never saw it fall. Not {number} times, and the ferry is late."),
        ("BERTA", "Hush."),
    )
)
VERSE = "ACT I\n\n" + "\n\n".join(
    f"{who}.\n{says}"
    for number in range(5)
    for who, says in (
        ("PORTER", f"In a _dust-bin_ {number}."),
        ("CLARA", f"A dust-bin {number}?"),
        ("DUKE", f"The price of oil is not restrain'd by me, nor is it {number} crowns."),
    )
)
CALL = "\n\n".join(
    ("Ada Wick: We begin.", "Jonas Hall: A lamp does not row out.", "Ada Wick: It does not.", "Jonas Hall: I know.")
)
TEXTS = {"Ship": SHIP, "Farm": FARM, "The Ferry": PLAY, "The Duke": VERSE, "Call": CALL}


@pytest.fixture(scope="module")
def retriever(tmp_path_factory: pytest.TempPathFactory) -> Retriever:
    library = tmp_path_factory.mktemp("quotation") / "library"
    index_books([book_from_text(text, source=title, title=title) for title, text in TEXTS.items()], library)
    return Retriever(library)


@pytest.mark.parametrize(
    "question",
    [
        'Where does it say "he speaks of Jonah, who was swallowed"?',
        "Where is it said that “He speaks of Jonah – who was swallowed”",
        "who says 'he speaks of jonah who was swallowed'?",
        "Who speaks the words 'he speaks of Jonah who was swallowed'?",
        '"he speaks of Jonah, who was swallowed"',
    ],
)
def test_the_sentence_that_has_the_words_is_quoted(retriever: Retriever, question: str) -> None:
    answer = retriever.answer(question)
    assert (answer.question, answer.found, answer.short) == (question, True, None)
    [citation] = answer.citations
    assert citation.quote == "He speaks of Jonah—who was swallowed by a fish."
    assert SHIP[citation.quote_start : citation.quote_end] == citation.quote


@pytest.mark.parametrize("question", ['Who said "Avast, the lamp is out"?', "“Avast, the lamp is out.” Who says this?"])
def test_who_speaks_is_named(retriever: Retriever, question: str) -> None:
    answer = retriever.answer(question)
    assert (answer.short, answer.confidence) == ("Captain Rusk", "unsure")
    assert answer.citations[0].quote.startswith("“Avast, the lamp is out,”")


@pytest.mark.parametrize(
    ("question", "short"),
    [
        ('Which play has the line "Not 3 times, and the ferry is late"?', "The Ferry"),
        ('Which book begins with the words "The preacher climbs a rope ladder"?', "Ship"),
        ('What book is "the dough rises at dawn" from?', "Farm"),
    ],
)
def test_what_has_the_words_is_named(retriever: Retriever, question: str, short: str) -> None:
    answer = retriever.answer(question)
    assert (answer.short, answer.confidence) == (short, "sure")
    assert len(answer.citations) == 1


@pytest.mark.parametrize(
    "question",
    [
        'Where does the phrase "swallowed by a fish" come from?',
        'Where does "swallowed by a fish" occur?',
        "Where is the line 'swallowed by a fish' found?",
    ],
)
def test_where_words_come_from_is_quoted(retriever: Retriever, question: str) -> None:
    answer = retriever.answer(question)
    assert {citation.hit.title for citation in answer.citations} == {"Ship", "Farm"}
    assert all("swallowed by a fish" in citation.quote for citation in answer.citations)


def test_a_quotation_is_completed_by_its_sentence(retriever: Retriever) -> None:
    answer = retriever.answer('Complete the quote: "It was a dark night"')
    assert answer.citations[0].quote.endswith("It was a dark night on the water.")
    assert not retriever.answer('Complete the quote: "It was a bright night"').found


@pytest.mark.parametrize(
    ("question", "short"),
    [
        ("who said the lantern fell 3 times", "Anna"),
        ("Who says not 3 times and the ferry is late?", "Old Tom"),
        ("who cried avast the lamp is out", "Captain Rusk"),
    ],
)
def test_words_need_no_quotation_marks(retriever: Retriever, question: str, short: str) -> None:
    assert retriever.answer(question).short == short


def test_what_nobody_says_is_another_question(retriever: Retriever) -> None:
    answer = retriever.answer("Who said the preacher climbs a rope ladder?")  # the story tells it
    assert answer.found
    assert answer.text != "Not in your library."


def test_who_speaks_in_a_play_is_named(retriever: Retriever) -> None:
    for words, speaker in (("The lantern fell 3 times", "Anna"), ("Not 3 times, and the ferry is late", "Old Tom")):
        answer = retriever.answer(f'Who said "{words}"?')
        assert (answer.short, answer.confidence) == (speaker, "likely")
        assert words in answer.citations[0].quote


@pytest.mark.parametrize(
    ("question", "short"),
    [
        ('Who says "the price of oil is not restrained by me"?', "Duke"),
        ('Who says "A dustbin 3?"', "Clara"),  # of two sentences with the words the one that has no others
        ('Who said "The price of oil is not constrained by me"?', "Duke"),  # one other word of nine
        ("Who said that the price of oil is not restrained by me?", "Duke"),
        ('Who said "A lamp does not row out"?', "Jonas Hall"),  # in a transcript
    ],
)
def test_words_may_be_written_in_another_way(retriever: Retriever, question: str, short: str) -> None:
    answer = retriever.answer(question)
    assert (answer.short, answer.confidence) == (short, "likely")


def test_who_says_something_in_a_transcript_is_its_speaker(retriever: Retriever) -> None:
    answer = retriever.answer("Who says something of a lamp that does not row?", book="Call")
    assert answer.short == "Jonas Hall"
    assert answer.citations[0].quote.startswith("Jonas Hall: A lamp does not row out.")


def test_words_that_no_book_has_are_not_found(retriever: Retriever) -> None:
    for question in ('Who said "Reader, I married him"?', 'Where does it say that "he speaks of Noah, who drank"?'):
        answer = retriever.answer(question)
        assert (answer.found, answer.text, answer.citations) == (False, "Not in your library.", ())
    assert not retriever.answer('Who said "Avast, the lamp is out"?', book="Farm").found


def test_other_questions_are_answered_as_others(retriever: Retriever) -> None:
    assert retriever.answer('"the preacher on his ladder"').found
    assert retriever.answer('Who climbs the "rope"?').found
    assert retriever.answer("Who said it?").question == "Who said it?"
    assert not retriever.answer("Who said “.......”?").citations  # no words
    assert retriever.answer('Who said "' + "the lamp is out " * 100 + '"?').question


@pytest.mark.parametrize(
    ("text", "spoken"),
    [
        ("Trim the lamp, and sleep.” She left.", True),  # a passage that begins within a speech
        ('Trim the lamp, and sleep." She left.', True),
        ('"The oil is low.\n\n"Trim the lamp, and sleep." She left.', True),
        ('Trim the lamp, and sleep. "Hush," she said.', False),
        ("Trim the lamp, and sleep. “Hush,” she said.", False),
    ],
)
def test_a_speech_may_begin_in_the_passage_before(text: str, spoken: bool) -> None:
    hit = Hit(level="passage", id="1", book_id="2", title="", author=None, source="", section=(), section_id=None,
              start=0, end=len(text), page=None, score=1.0, text=text, metadata={})  # fmt: skip
    start = text.index("Trim")
    quote = Quote(hit=0, order=0, start=start, end=len(text), answer=(start, start + len("Trim the lamp")))
    assert _is_spoken(hit, quote) == spoken
