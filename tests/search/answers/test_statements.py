"""What somebody says in a transcript."""

from __future__ import annotations

import pytest

from nlb_retriever import Retriever, book_from_text, index_books

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
"""
STORY = "Jonas Hall said that the lamps were dear. Ann Wick: a life, by herself. The lamps went out, and she slept."


@pytest.fixture(scope="module")
def retriever(tmp_path_factory: pytest.TempPathFactory) -> Retriever:
    library = tmp_path_factory.mktemp("statements") / "library"
    texts = {"Oral Evidence": EVIDENCE, "Fish Hearing": HEARING, "Story": STORY}
    index_books([book_from_text(text, source=title, title=title) for title, text in texts.items()], library)
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
