"""Whether a library is likely to hold an answer."""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from nlb_retriever import Retriever, book_from_text, index_books, index_files
from nlb_retriever.records import Hit
from nlb_retriever.search import relevance
from nlb_retriever.search.question import find_full_names, find_names
from nlb_retriever.search.relevance import (
    FACTUAL_PASSAGES,
    FACTUAL_QUERY,
    JUDGED,
    NAMES_WEIGHT,
    OFTEN,
    OFTEN_WEIGHT,
    SELDOM,
    Judgement,
    judge_relevance,
    share_of_words,
    weigh_names,
)
from nlb_retriever.search.request import SearchRequest
from nlb_retriever.store import Condition
from tests.texts import KITCHEN, LIGHTHOUSE, TALES


@pytest.fixture(scope="module")
def retriever(tmp_path_factory: pytest.TempPathFactory) -> Retriever:
    library = tmp_path_factory.mktemp("relevance") / "library"
    texts = {"The Lighthouse Keeper": LIGHTHOUSE, "Country Bread": KITCHEN, "Tales of the Marsh": TALES}
    books = [book_from_text(text, source=title, title=title, author="Ann Harbour") for title, text in texts.items()]
    index_books(books, library)
    return Retriever(library)


@pytest.mark.parametrize(
    ("query", "names"),
    [
        ("Who is Mary Lennox?", ["Mary", "Lennox"]),
        ("Where does Ahab's boat meet d'Artagnan, O'Brien and Ahab?", ["Ahab's", "O'Brien", "Ahab"]),
        ("What did Éloïse and Jean-Luc find?", ["Éloïse", "Jean-Luc"]),
        ("What did Mr. Rochester and Captain Ahab say to King Lear?", ["Rochester", "Ahab", "Lear"]),
        ("Who Is The Captain Of The Pequod?", []),
        ("WHO IS AHAB?", []),
        ("Who Killed the Wolves in the Valley of Mirrors?", []),
        ("the Pequod and Ahab", ["Pequod", "Ahab"]),
        ("Ahab", []),
        ("the white whale, 1851", []),
        ("", []),
    ],
)
def test_names_are_words_with_a_capital_behind_the_first(query: str, names: list[str]) -> None:
    assert find_names(query) == names


@pytest.mark.parametrize(
    ("query", "names"),
    [
        ("Who is Mary Lennox?", [["Mary", "Lennox"]]),
        ("Why did Mr. John B. Wick leave Mary, Ann and Tom?", [["John", "B", "Wick"], ["Mary"], ["Ann"], ["Tom"]]),
        ("Who was Mary's Tom, and who Mary’s Ann?", [["Mary's"], ["Tom"], ["Mary’s"], ["Ann"]]),
        ("Where is the Isle of Wight?", [["Isle"], ["Wight"]]),
        ("who is mary lennox?", []),
        ("", []),
    ],
)
def test_full_names_are_names_that_follow_one_another(query: str, names: list[list[str]]) -> None:
    assert find_full_names(query) == names


def test_names_count_by_the_book_that_has_most_of_them(retriever: Retriever, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(relevance, "OFTEN_WEIGHT", 0.0)  # how many of them, and not how often
    hits = retriever.search("Tobias and Margaret; Ada and Boris", limit=JUDGED)
    assert {hit.title for hit in hits} >= {"The Lighthouse Keeper", "Tales of the Marsh"}
    for query, share in (
        ("Who is Tobias?", 1.0),
        ("When did Margaret follow Tobias?", 1.0),
        ("When did Ada meet Margaret?", 0.5),
        ("When did Ishmael meet Queequeg, Starbuck and Ada?", 0.25),
        ("What does Ann Harbour tell of Boris in Tales of the Marsh?", 1.0),  # its author and its title
        ("Who is Clock Supper?", 0.0),  # words of the passages, but no names there
        ("who is queequeg?", 1.0),
    ):
        assert weigh_names(query, hits) == pytest.approx(NAMES_WEIGHT * share), query
    assert weigh_names("Who is Tobias?", [replace(_first(hits, "Country Bread"), author=None)]) == 0.0


def test_names_count_by_the_passages_of_one_book_that_have_them(retriever: Retriever) -> None:
    found = retriever.search("Tobias bread", limit=JUDGED)
    texts = {
        "The Lighthouse Keeper": ("Ada met Boris.", "Ada.", "a", "b"),
        "Country Bread": ("Boris, Ada.", "c", "d", "e"),
    }
    hits = [replace(_first(found, title), text=text, author=None) for title, own in texts.items() for text in own]

    def often(query: str) -> float:
        share = 1.0 if query != "Who is Dora?" else 0.0
        return (weigh_names(query, hits) - NAMES_WEIGHT * share) / OFTEN_WEIGHT + SELDOM

    assert often("Who is Ada?") == pytest.approx(2 / 8), "two passages of one book, and not a third of another"
    assert often("When did Ada meet Boris?") == pytest.approx((2 / 8 + 1 / 8) / 2)
    assert often("Who is Dora?") == pytest.approx(0.0)
    ada, boris, both = (weigh_names(f"Who is {name}?", hits) for name in ("Ada", "Boris", "Ada Boris"))
    assert both == pytest.approx((ada + boris) / 2), "one passage has all of the full name"
    apart = [
        replace(hit, text=hit.text.replace("Ada met Boris.", "Ada.").replace("Boris, Ada.", "Boris.")) for hit in hits
    ]
    assert weigh_names("Who is Ada Boris?", apart) < weigh_names("When did Ada meet Boris?", apart) - NAMES_WEIGHT / 3
    assert often("Who is the keeper of the Lighthouse?") == pytest.approx(4 / 8), "its title has it"
    hits = hits[:2]
    assert often("Who is Ada?") == OFTEN, "more does not count"


def test_words_count_by_their_rarity_and_most_where_no_passage_has_them(retriever: Retriever) -> None:
    def share(query: str, where: Condition | None = None) -> float:
        with retriever.store.session():
            return share_of_words(query, where, retriever.store, passages=retriever.store.count("passage"))

    assert share("Who is Tobias?") == pytest.approx(1.0, abs=0.01)
    here, apart, nowhere = (share(f"the lighthouse of {name}") for name in ("Carrow", "Boris", "Queequeg"))
    assert here > apart > nowhere > 0
    assert share("Queequeg Ishmael") == share("Who is it?") == share("") == 0.0
    assert share("How does Tobias feel?") == share("Tobias"), "words of questions do not count"
    assert share("Tobias", Condition("title", "eq", "Country Bread")) == 0.0
    assert share("lighthouse " + "Queequeg " * 5000) == share("lighthouse Queequeg")
    many = " ".join(f"unknown{number}" for number in range(200))
    assert share(f"{many} lighthouse") == 0.0, "only the first words of a long query count"


def test_a_word_that_only_titles_have_is_not_missed(retriever: Retriever) -> None:
    with retriever.store.session():
        share = partial(share_of_words, where=None, store=retriever.store, passages=3)
        assert (
            share("lighthouse Queequeg", titles="The Queequegs") == share("lighthouse") > share("lighthouse Queequeg")
        )
        assert share("Queequeg", titles="Queequeg") == 0.0
        assert share("Carrow Boris", titles="Boris") == share("Carrow Boris"), "one that a passage has counts as before"


def test_a_note_is_found_by_what_its_title_alone_says(tmp_path: Path) -> None:
    recipe = "## Ingredients\n\n- 900 g white flour\n- 700 g water\n\n## Method\n\n1. Mix both.\n2. Bake for an hour.\n"
    for name, text in (("Sourdough", recipe), ("Boiler", "The pressure is 1.6 bar."), ("Car", "Its plate is RX-482.")):
        (tmp_path / f"{name}.md").write_text(text)
    index_files([tmp_path], tmp_path / "library")
    answer = Retriever(tmp_path / "library").answer("What are the ingredients of sourdough?")
    assert (answer.found, answer.citations[0].hit.section) == (True, ("Ingredients",))
    assert not Retriever(tmp_path / "library").answer("What are the ingredients of porridge?").found


@pytest.mark.parametrize(
    ("scope", "books"),
    [
        ({}, {"Country Bread", "Tales of the Marsh", "The Lighthouse Keeper"}),
        ({"book": "Country Bread"}, {"Country Bread"}),
        ({"where": Condition("title", "eq", "Country Bread")}, {"Country Bread"}),
        ({"where": Condition("title", "text_match", "of the Marsh")}, {"Tales of the Marsh"}),
        (
            {"where": Condition("text", "text_match", "the")},
            {"Country Bread", "Tales of the Marsh", "The Lighthouse Keeper"},
        ),
    ],
)
def test_the_passages_that_are_searched_are_counted(
    retriever: Retriever, monkeypatch: pytest.MonkeyPatch, scope: dict[str, Any], books: set[str]
) -> None:
    counted = []

    def judge(*arguments: Any, passages: int, **others: Any) -> Judgement:
        counted.append(passages)
        return judge_relevance(*arguments, passages=passages, **others)

    monkeypatch.setattr("nlb_retriever.search.run.judge_relevance", judge)
    retriever.answer("Who kneads the bread?", **scope)
    assert counted == [sum(book.passages for book in retriever.store.books() if book.title in books)]


def _first(hits: list[Hit], title: str) -> Hit:
    return next(hit for hit in hits if hit.title == title)


@pytest.mark.parametrize(
    ("here", "elsewhere"),
    [
        ("Who kept the lighthouse at Carrow Point?", "Who kept the hotel at Innsmouth Harbor?"),
        ("What did Tobias do when the clock broke?", "What did Marlow do when Kurtz broke down?"),
        ("Who pruned the pear trees with Boris?", "Who pruned the roses with Bathsheba Everdene?"),
    ],
)
def test_a_question_on_another_book_is_refused(retriever: Retriever, here: str, elsewhere: str) -> None:
    assert retriever.answer(here).found
    assert not retriever.answer(elsewhere).found


def test_a_question_on_facts_of_the_world_needs_more_to_be_answered(
    retriever: Retriever, monkeypatch: pytest.MonkeyPatch
) -> None:
    question = "What is the temperature of an oven?"
    assert not retriever.answer(question).found
    regression = np.append(np.zeros(384, dtype=np.float32), np.float32(FACTUAL_QUERY))
    monkeypatch.setattr(relevance, "facts_regression", lambda: regression)
    assert retriever.answer(question).found


@pytest.mark.parametrize(("factuality", "facts"), [(FACTUAL_QUERY, 0.0), (FACTUAL_PASSAGES, 1.0)])
def test_a_textbook_needs_more_than_words_to_be_believed(
    retriever: Retriever, monkeypatch: pytest.MonkeyPatch, factuality: float, facts: float
) -> None:
    regression = np.zeros(385, dtype=np.float32)
    regression[-1] = factuality
    monkeypatch.setattr(relevance, "facts_regression", lambda: regression)
    assert retriever.answer("What colour was the boat of Tobias?").found == (not facts)
    assert retriever.answer("Who kept the lighthouse?").found
    found = retriever.run(SearchRequest(query="Who kept the lighthouse?", relevant_only=True))
    assert found.facts == pytest.approx(facts)


def test_a_book_that_was_named_is_believed_sooner(retriever: Retriever) -> None:
    vague = "What did Marlow do when the clock broke?"
    assert not retriever.answer(vague).found
    assert retriever.answer(vague, book="The Lighthouse Keeper").found
    assert not retriever.answer("What did Marlow do when Kurtz broke down?", book="The Lighthouse Keeper").found
