"""Questions without what people say around them."""

from __future__ import annotations

from pathlib import Path

import pytest

from nlb_retriever import Retriever, index_files
from nlb_retriever.search.courtesy import bare_question
from tests.texts import KITCHEN, LIGHTHOUSE


@pytest.mark.parametrize(
    ("query", "question"),
    [
        ("Hello, can you tell me who the captain is, please?", "Who is the captain?"),
        ("can you tell me why he left the house", "why he left the house?"),
        ("Do you know what the name of the ship is?", "What is the name of the ship?"),
        ("Tell me who killed Cock Robin.", "Who killed Cock Robin?"),
        ("I'd like to know how old Heidi is.", "How old is Heidi?"),
        ("I was wondering when Leviathan was written.", "When was Leviathan written?"),
        ("I want to know to whom the letter is addressed", "To whom is the letter addressed?"),
        ("Could you please explain what the scarlet letter stands for?", "What the scarlet letter stands for?"),
        ("Tell me what you know about Heathcliff", "What you know about Heathcliff?"),
        ("Quick question: who is Ahab? Thanks!", "Who is Ahab?"),
        ("waht happens to Ahab", "what happens to Ahab"),
        ("Wich ship sinks?", "Which ship sinks?"),
        ("Could you list all books?", "List all books?"),
        ("I want to find a book about bread.", "Find a book about bread."),
        ("Would you please tell me about Heathcliff?", "Tell me about Heathcliff?"),
        ("please, explain the ending", "explain the ending"),
        ("Please name the captain", "Name the captain"),
        ("Who is Ahab please", "Who is Ahab"),
        ("What's the name of the ship?", "What is the name of the ship?"),
        ("whos the keeper of the lamp", "who is the keeper of the lamp"),
        ("Tell me where the man who was killed lived", "Where the man who was killed lived?"),
        ("Do you know what the captain thought it was?", "What the captain thought it was?"),
        ("WHO HUNTS THE WHALE?", "who hunts the whale?"),
        ("I am reading Dracula. Who is Renfield?", "Who is Renfield in Dracula?"),
        ("i'm reading dracula. who is renfield?", "who is renfield in dracula?"),
        ("Hi! We've just read A Room with a View. Who is Lucy?", "Who is Lucy in A Room with a View?"),
        ("I'm reading Mr. Kipps and I wonder who Mr. Kipps is", "Who is Mr. Kipps?"),
        ("I started Emma yesterday; can you tell me who Harriet is?", "Who is Harriet in Emma?"),
        ("I read Dr. Jekyll and Mr. Hyde. Who is Utterson?", "Who is Utterson in Dr. Jekyll and Mr. Hyde?"),
        ("I'm reading Emma. How does it end?", "How does Emma end?"),
        ("I've finished Emma. Who wrote it?", "Who wrote Emma?"),
        ("I've read Emma. What is the book about?", "What is Emma about?"),
        ("I am reading Emma. What happens in chapter 3?", "What happens in chapter 3 in Emma?"),
        ("I have a quick question about Emma: who is Harriet?", "Who is Harriet in Emma?"),
    ],
)
def test_what_is_said_around_a_question_is_left_out(query: str, question: str) -> None:
    assert bare_question(query) == question
    assert bare_question(question) == question


@pytest.mark.parametrize(
    "query",
    [
        "Hey Jude",
        "I am reading Dracula.",
        "I read that whales are fish. Is that so?",
        "I'm reading a book, who wrote it?",
        "i'm reading a book. who wrote it?",
        "I was reading when he came. Who was it?",
        "I am reading Dracula. It is long. Who is Renfield?",
        "i read a, " * 50,
        "So it goes",
        "MOBY DICK",
        "Please",
        "Can you swim?",
        "Do you know the muffin man?",
        "Tell me about Heathcliff",
        "How do I say thank you",
        "What may they do as they please?",
        "Who is hard to please?",
        "Who said, Thank you?",
        "what's happened to Alice",
        "Whose lamp is it?",
        "I don't know what to do",
        "Hello, can you tell me who the captain is? " * 20,
    ],
)
def test_the_rest_is_left_as_it_is(query: str) -> None:
    assert bare_question(query) == query


def test_both_get_the_same_answer(tmp_path: Path) -> None:
    (tmp_path / "lighthouse.txt").write_text(LIGHTHOUSE, encoding="utf-8")
    index_files([tmp_path / "lighthouse.txt"], tmp_path / "library")
    with Retriever(tmp_path / "library") as retriever:
        bare = retriever.answer("Who took the lamp?")
        polite = retriever.answer("Good morning! Could you tell me who took the lamp, please?")
    assert polite.question == "Good morning! Could you tell me who took the lamp, please?"
    assert polite.short == bare.short
    assert polite.citations == bare.citations


def test_the_book_that_is_read_is_asked(tmp_path: Path) -> None:
    for name, text in (("lighthouse", LIGHTHOUSE), ("kitchen", KITCHEN)):
        (tmp_path / f"{name}.txt").write_text(text, encoding="utf-8")
    index_files([tmp_path / "lighthouse.txt", tmp_path / "kitchen.txt"], tmp_path / "library")
    with Retriever(tmp_path / "library") as retriever:
        for book in retriever.store.books():
            answer = retriever.answer(f"I am reading {book.title}. Who took the lamp?")
            assert {each.hit.book_id for each in answer.citations} <= {book.id}
            if "lighthouse" in book.source:
                assert answer.short == retriever.answer("Who took the lamp?", book=book.id).short
