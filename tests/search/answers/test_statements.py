"""What somebody says in a transcript."""

from __future__ import annotations

import pytest

from nlb_retriever import Retriever, book_from_text, index_books, index_files

EVIDENCE = """\
Q1 Chair: Good morning. Ms Wick, how many lamps are there?

Ann Wick: There were forty. Oil has become so dear that nine are left.

Jonas Hall: May I add to that? Nobody trims them. I lost two boys to the mill.

Q2 Chair: Did the new tax help you?

Jonas Hall: It did not. We paid it twice.

Ann Wick: I would end it.
"""
HEARING = """\
The CHAIRMAN. Captain Orr, you have five minutes.

Captain ORR. Thank you. I have fished here for thirty years.

Dr. LIND. The survey says that the herring went north.

Q. And the lamps?

A. The lamps were never lit.

Captain ORR. Never, sir.

Q. Not once?
"""
PLAY = "ACT I\n\n" + "\n\n".join(
    f"{who}.\n{says}"
    for number in range(5)
    for who, says in (
        ("CLARA", f"The ferry is late by {number}."),
        ("LADY ORR", f"I see no ferry {number}. " + "The tide is out, and the boats lie on the sand. " * 8),
        ("ORR", "Hush."),
    )
)
PLAY += "\n\nLADY ORR.\n" + "The tide is out, and the boats lie on the sand. " * 40 + "Then came a whale to us."
TALK = """\
1
00:00:02,000 --> 00:00:04,000
Ada Wick: Good evening.

2
00:04:21,500 --> 00:04:25,000
Jonas Hall: A ticket costs four crowns.

3
01:02:07,000 --> 01:02:09,000
Ada Wick: And the whale swims.

4
01:02:09,000 --> 01:02:11,000
Jonas Hall: It does.
"""
STORY = "Jonas Hall said that the lamps were dear. Ann Wick: a life, by herself. The lamps went out, and she slept."


@pytest.fixture(scope="module")
def retriever(tmp_path_factory: pytest.TempPathFactory) -> Retriever:
    library = tmp_path_factory.mktemp("statements") / "library"
    texts = {"Oral Evidence": EVIDENCE, "Fish Hearing": HEARING, "Story": STORY, "The Ferry": PLAY}
    index_books([book_from_text(text, source=title, title=title) for title, text in texts.items()], library)
    talk = library.parent / "talk.srt"
    talk.write_text(TALK, encoding="utf-8")
    index_files([talk], library)
    return Retriever(library)


@pytest.mark.parametrize(
    ("book", "question", "text", "confidence"),
    [
        (
            "Oral Evidence",
            "What did Jonas Hall say about the boys?",
            "Jonas Hall: May I add to that? Nobody trims them. I lost two boys to the mill.",
            "likely",
        ),
        ("Oral Evidence", "What did Mr Hall say about the tax?", "Jonas Hall: It did not. We paid it twice.", "unsure"),
        ("Fish Hearing", "What did Dr. Lind say?", "Dr. LIND. The survey says that the herring went north.", "likely"),
        (
            "Fish Hearing",
            "What did Captain Orr tell the committee about fish?",
            "Captain ORR. Thank you. I have fished here for thirty years.",
            "likely",
        ),
    ],
)
def test_the_speeches_on_a_topic_are_quoted(
    retriever: Retriever, book: str, question: str, text: str, confidence: str
) -> None:
    found = retriever.answer(question, book=book)
    assert (found.text, found.confidence, found.short) == (text, confidence, None)


def test_other_texts_have_no_speakers(retriever: Retriever) -> None:
    found = retriever.answer("What did Jonas Hall say about the lamps?", book="Story")
    assert found.short
    assert "were dear" in found.text


def test_of_a_play_the_speeches_of_that_speaker_are_quoted(retriever: Retriever) -> None:
    found = retriever.answer("What does Lady Orr say about the ferry?", book="The Ferry")
    assert found.text.startswith("LADY ORR. I see no ferry")
    assert retriever.answer("What does Lady Orr tell old Clara about the ferry?", book="The Ferry").text == found.text
    found = retriever.answer("What does Orr say to Clara?", book="The Ferry")
    assert found.text.startswith("ORR. Hush.")
    assert "tide" not in found.text


def test_a_long_speech_is_quoted_where_it_has_the_words(retriever: Retriever) -> None:
    found = retriever.answer("What does Lady Orr say about the whale?", book="The Ferry")
    assert "Then came a whale to us." in found.text


@pytest.mark.parametrize(
    ("question", "time"),
    [
        ("At what minute does Jonas Hall talk about the ticket?", "4:21"),
        ("When did Ada Wick speak about the whale?", "1:02:07"),
    ],
)
def test_when_somebody_speaks_is_the_time_of_the_subtitle(retriever: Retriever, question: str, time: str) -> None:
    found = retriever.answer(question, book="Talk")
    assert (found.short, found.citations[0].hit.page) == (time, time)
    assert retriever.answer("How long is Talk?").short == "21 words"
