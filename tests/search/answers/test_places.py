"""Questions for a place: a book, a chapter, a passage."""

from __future__ import annotations

from pathlib import Path

import pytest

from nlb_retriever import Retriever, book_from_text, index_books, index_files
from nlb_retriever.reading import read_book
from nlb_retriever.records import Section
from nlb_retriever.search.answers.places import PlaceQuestion, answer_place, read_place_question
from nlb_retriever.search.forms import LONGEST
from nlb_retriever.search.request import SearchRequest

SHIP = {
    ("PART ONE", "CHAPTER I. The Inn"): "Ishmael sleeps at the inn. The landlord brings chowder, and the harpooneer "
    "sells heads. They talk of the sea until midnight. ",
    ("PART ONE", "CHAPTER II. The Chapel"): "The preacher climbs a rope ladder. He speaks of Jonah, who was swallowed "
    "by a fish. The widows weep in the pews. ",
    ("PART TWO", "CHAPTER III. The Chase"): "The white whale breaks the boats. Ahab drowns, tied to the whale by his "
    "own line. The ship sinks, and a coffin floats. ",
}
TALES = {
    ("The Frog Prince",): "A princess drops her golden ball into a well. A frog brings it back, and he turns out to "
    "be a prince. ",
    ("The Straw and the Coal",): "A straw, a coal and a bean travel together. The straw makes a bridge, the coal burns "
    "it, and the bean bursts with laughter. ",
}
FARM = {("BOOK I. Bread",): "The baker kneads the dough at dawn. Widow Marsh, an old teacher, buys rye bread. "}
BOOKS = {"The Whale Ship": SHIP, "Household Tales": TALES, "Country Bread": FARM}


@pytest.fixture(scope="module")
def retriever(tmp_path_factory: pytest.TempPathFactory) -> Retriever:
    library = tmp_path_factory.mktemp("places") / "library"
    books = []
    for title, texts in BOOKS.items():
        sections, text = [], ""
        for path, part in texts.items():
            sections.append(Section(path=path, start=len(text), end=len(text) + len(part)))
            text += part
        books.append(book_from_text(text, source=title, title=title, sections=sections))
    index_books(books, library)
    return Retriever(library)


@pytest.mark.parametrize(
    ("question", "short"),
    [
        ("Which book is about a whale?", "The Whale Ship"),
        ("In which book does a frog bring back a golden ball?", "Household Tales"),
        ("Is there a book about bread?", "Country Bread"),
        ("Which paper is about a whale?", "The Whale Ship"),
        ("Which papers mention widows?", "The Whale Ship; Country Bread"),
        ("Which notes mention widows?", "The Whale Ship; Country Bread"),
        ("Find me a novel about a baker.", "Country Bread"),
        ("Which books mention widows?", "The Whale Ship; Country Bread"),
        ("Which tale has a frog that is a prince?", "The Frog Prince"),
        ("Which fable has a frog that is a prince?", "The Frog Prince"),
        ("Which fairy tale has a frog that is a prince?", "The Frog Prince"),
        ("In which song does a coal burn a straw?", "The Straw and the Coal"),
        ("Which report mentions rye bread?", "Country Bread"),
        ("In which story does a ship sink?", "The Whale Ship"),
        ("In which chapter does Ahab drown?", "PART TWO › CHAPTER III. The Chase"),
        ("which chapter of The Whale Ship describes the preacher", "PART ONE › CHAPTER II. The Chapel"),
        ("In which part does Ahab drown?", "PART TWO"),
        ("Where can I find the part where Ahab drowns?", "PART TWO › CHAPTER III. The Chase"),
        ("where is the scene in which the preacher climbs a ladder", "PART ONE › CHAPTER II. The Chapel"),
        ("What chapter does the preacher climb a ladder in?", "PART ONE › CHAPTER II. The Chapel"),
        ("Where in the whale ship does Ishmael sleep?", "PART ONE › CHAPTER I. The Inn"),
        ("Find the scene where the coal burns the bridge!", "The Straw and the Coal"),
        ("Can you recommend a book about dough?", "Country Bread"),
        ("Which books are there about bread?", "Country Bread"),
        ("Find the scene in the chapel where the widows weep", "PART ONE › CHAPTER II. The Chapel"),
        ("At what point in The Whale Ship does the ship sink?", "PART TWO › CHAPTER III. The Chase"),
        ("On which page does Ahab drown?", "PART TWO › CHAPTER III. The Chase"),
    ],
)
def test_a_place_is_named_by_its_title(retriever: Retriever, question: str, short: str) -> None:
    answer = retriever.answer(question)
    assert (answer.question, answer.short) == (question, short)
    cited = answer.citations[answer.shorts[0].citation]
    assert short.split("; ", maxsplit=1)[0] in {cited.hit.title, " › ".join(cited.hit.section), *cited.hit.section}
    assert cited.quote in "".join(BOOKS[cited.hit.title].values())


def test_the_chapter_that_is_headed_so_comes_first(tmp_path: Path) -> None:
    text = "\n\n".join(
        f"CHAPTER {number}. {title}\n\n" + f"{first} The boats pass by the rock at night, and nobody waves. " * 20
        for number, title, first in (
            ("I", "The Rock", "Brace expansion is named here, and brace expansion again."),
            ("II", "Brace Expansion", "A rope is drawn out between two hooks."),
            ("III", "The Sea", "The brace and its expansion are told of."),
        )
    )
    index_books([book_from_text(text, source="braces", title="Braces")], tmp_path / "library")
    with Retriever(tmp_path / "library") as braces:
        assert braces.answer("Which chapter is about brace expansion?").short == "CHAPTER II. Brace Expansion"


def test_the_book_that_is_called_so_comes_first(tmp_path: Path) -> None:
    (tmp_path / "Boiler.md").write_text("It is a Remeha of 2019. The pressure is 1.6 bar.")
    (tmp_path / "2024-03-13.md").write_text("The boiler knocked. Pavel bled the boiler and set the boiler going again.")
    index_files([tmp_path], tmp_path / "library")
    answer = Retriever(tmp_path / "library").answer("Which note is about the boiler?")
    assert (answer.short, answer.citations[0].hit.title) == ("Boiler", "Boiler")


def test_a_section_is_named_with_its_chapter(tmp_path: Path) -> None:
    waves = "The boats pass by the rock at night, and nobody waves. " * 20
    text = (
        f"# 1. Rocks\n\n## 1.1. Ropes\n\n{waves}\n\n## 1.2. Bells\n\nThe bell is rung at noon.\n\n# 2. Seas\n\n{waves}"
    )
    (tmp_path / "rocks.md").write_text(text)
    index_books([read_book(tmp_path / "rocks.md")], tmp_path / "library")
    with Retriever(tmp_path / "library") as rocks:
        assert rocks.answer("Which section is about bells?").short == "1. Rocks › 1.2. Bells"
        assert rocks.answer("Which chapter is about bells?").short == "1. Rocks"


def test_a_recipe_is_named_without_the_headings_that_all_have(tmp_path: Path) -> None:
    recipes = {"Piccalilli": "turmeric", "Lemon Curd": "lemons", "Soda Bread": "buttermilk", "Mint Sauce": "vinegar"}
    text = "\n\n".join(
        f"## {name}\n\n### Ingredients\n\n200 g {thing}\n\n### Method\n\nThe {thing} is boiled for an hour."
        for name, thing in recipes.items()
    )
    (tmp_path / "kitchen.md").write_text(f"# Kitchen\n\n{text}")
    index_books([read_book(tmp_path / "kitchen.md")], tmp_path / "library")
    with Retriever(tmp_path / "library") as kitchen:
        for question in (
            "Which recipe uses turmeric?",
            "Which recipe calls for turmeric?",
            "Find a recipe with turmeric",
        ):
            assert kitchen.answer(question, book="Kitchen").short == "Piccalilli"
        assert kitchen.answer("Which recipes are there?").short == "; ".join(recipes)
        assert kitchen.answer("How many recipes are there?").short == "4"


def test_the_quote_says_what_is_looked_for(retriever: Retriever) -> None:
    answer = retriever.answer("In which chapter does Ahab drown?", limit=1)
    assert answer.text == "Ahab drowns, tied to the whale by his own line."


def test_passages_are_quoted_without_a_short_answer(retriever: Retriever) -> None:
    answer = retriever.answer("Find the passage about Jonah", limit=1)
    assert (answer.short, answer.text) == (None, "He speaks of Jonah, who was swallowed by a fish.")
    assert retriever.answer("Where can I read about Jonah?", limit=1).citations == answer.citations
    everything = retriever.answer("Show me all passages about widows", all_passages=True)
    assert {citation.hit.title for citation in everything.citations} == {"The Whale Ship", "Country Bread"}


@pytest.mark.parametrize(
    "question", ["Tell me about Widow Marsh", "describe Widow Marsh.", "What does the book say about Widow Marsh?"]
)
def test_what_somebody_is_comes_before_what_else_is_said_of_them(retriever: Retriever, question: str) -> None:
    answer = retriever.answer(question)
    assert answer.short == "old teacher"
    assert answer.text.startswith("Widow Marsh, an old teacher, buys rye bread.")


def test_what_is_in_no_book_is_not_found(retriever: Retriever) -> None:
    answer = retriever.answer("Which book explains the quantum Hall effect of Zyxtorium?")
    assert (answer.found, answer.short, answer.citations) == (False, None, ())
    assert answer.text == "Not in your library."


def test_a_place_is_unsure_where_no_passage_has_all_of_a_few_words(retriever: Retriever) -> None:
    assert retriever.answer("Which chapter describes the preacher?").confidence in {"likely", "sure"}
    assert retriever.answer("Which chapter describes the parachuting preacher?").confidence in {"unsure", None}


def test_the_scope_holds(retriever: Retriever) -> None:
    assert retriever.answer("In which chapter does somebody drown?", book="Whale", before="chapter 3").short in {
        None,
        "PART ONE › CHAPTER I. The Inn",
        "PART ONE › CHAPTER II. The Chapel",
    }
    assert retriever.answer("Which tale has a bridge?", book="Household").short == "The Straw and the Coal"
    assert retriever.answer("Which book has a bridge?", book="Household").short == "The Straw and the Coal"
    assert retriever.answer("Which book is about dough?", book="Bread").short == "BOOK I. Bread"


def test_words_alone_find_places_too(retriever: Retriever) -> None:
    assert retriever.answer("Which book is about dough?", mode="bm25").short == "Country Bread"


@pytest.mark.parametrize(
    "question",
    [
        "Which book does Mina read?",
        "What book is Mina reading?",
        "In which book did Meggers describe the idea?",
        "What part of the ship has the harpoons?",
        "What part of the ship needs a harpoon?",
        "Which report needs to be signed?",
        "What contract has she signed?",
        "Where in London does Mina live?",
        "Which line is on the Asian side?",
        "What section did they live in?",
        "Which chapter?",
        "Who finds the book about whales?",
        "a book about whales by the sea",
        "Which book is about " + "whales " * LONGEST,
    ],
)
def test_other_questions_are_answered_as_others(retriever: Retriever, question: str) -> None:
    assert answer_place(SearchRequest(query=question), retriever.store, retriever.run, None) is None


def test_a_question_is_taken_apart() -> None:
    assert read_place_question("In which chapters of Emma is Mr. Elton named?") == PlaceQuestion(
        unit="chapter", word="chapter", wanted="Mr. Elton named", title="Emma", many=True
    )


def test_a_canto_is_looked_for_among_cantos(tmp_path: Path) -> None:
    books = []
    for title, parts in (
        (
            "The Descent",
            {"CANTO I.": "A wolf stood in the wood. ", "CANTO II.": "They came before the gate of stone. "},
        ),
        (
            "The Porter",
            {"SCENE I.": "The porter opens the gate. The gate is the gate of the castle. ", "SCENE II.": "It rains. "},
        ),
    ):
        sections, text = [], ""
        for name, own in parts.items():
            sections.append(Section(path=(name,), start=len(text), end=len(text) + len(own)))
            text += own
        books.append(book_from_text(text, source=title, title=title, sections=sections))
    index_books(books, tmp_path / "library")
    with Retriever(tmp_path / "library") as retriever:
        assert retriever.answer("Which canto is about the gate?").short == "CANTO II."
        assert retriever.answer("In which scene is the gate opened?").short == "SCENE I."
        assert retriever.answer("the quote about the wolf").text.startswith("A wolf stood in the wood.")


LAW = {
    ("Article 1. Duties of the keeper",): "The keeper shall light the lamp at dusk. He shall trim the wick at noon. ",
    ("Article 2. Oil",): "The board pays for the oil. The keeper shall not sell oil. ",
    ("Amendment I",): "No person shall be held to service on the lighthouse against his will. ",
    ("Amendment II",): "The board shall be elected by the fishermen for a year. ",
}


@pytest.mark.parametrize(
    ("question", "short"),
    [
        ("Which article covers the duties of the keeper?", "Article 1. Duties of the keeper"),
        ("Which article forbids the keeper to sell oil?", "Article 2. Oil"),
        ("Which amendment abolished service against a person's will?", "Amendment I"),
        ("In which amendment is the election of the board regulated?", "Amendment II"),
    ],
)
def test_the_article_of_a_law_is_named(tmp_path: Path, question: str, short: str) -> None:
    text = "".join(LAW.values())
    sections = [
        Section(path=path, start=text.index(part), end=text.index(part) + len(part)) for path, part in LAW.items()
    ]
    index_books([book_from_text(text, source="law", title="Lamp Law", sections=sections)], tmp_path / "library")
    with Retriever(tmp_path / "library") as retriever:
        assert retriever.answer(question).short == short


def test_an_amendment_is_looked_for_in_the_text_where_no_book_has_such(retriever: Retriever) -> None:
    request = SearchRequest(query="Which amendment abolished bread?")
    assert answer_place(request, retriever.store, retriever.run, None) is None
