"""What the library knows of its books, for which no model is called."""

from __future__ import annotations

import pytest

from nlb_integrations.prose import Writer
from nlb_retriever import Retriever
from tests.prose.test_writer import script


@pytest.mark.parametrize(
    ("question", "text"),
    [
        ("How many chapters does The Lighthouse Keeper have?", "3 [1]"),
        ("Who wrote The Lighthouse Keeper?", "Ann Harbour [1]"),
        ("How many books are there?", "3 [1]"),
    ],
)
def test_what_the_library_knows_of_its_books_is_said_without_the_model(
    retriever: Retriever, question: str, text: str
) -> None:
    model = script("Seven [1].")
    *pieces, answer = Writer(model, retriever).stream(question)
    assert (pieces, answer.text) == ([answer.sentences[0].text, *answer.sentences], text)
    told = retriever.answer(question)
    assert (answer.citations, answer.short, answer.found) == (told.citations, told.short, True)
    assert (answer.model, answer.confidence, model.asked) == (None, told.confidence, [])


def test_what_the_library_does_not_know_of_its_books_is_said_without_the_model(retriever: Retriever) -> None:
    model = script("Yes.")
    answer = Writer(model, retriever).answer("Is Dracula in my library?")
    assert (answer.text, answer.found, model.asked) == ("Dracula is not in your library.", False, [])


def test_of_how_a_book_ends_the_model_sees_the_end(retriever: Retriever) -> None:
    question, model = "How does The Lighthouse Keeper end?", script("She kept the lamp until the war [1].")
    assert Writer(model, retriever).answer(question).supported
    quoted = {each.hit.id: each.hit.text for each in retriever.answer(question).citations}
    prompt = model.asked[0][-1].content or ""
    assert prompt.count("<passage ") == len(quoted) and all(text in prompt for text in quoted.values())
