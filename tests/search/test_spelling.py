"""Misspelt words of a question."""

from __future__ import annotations

from itertools import accumulate, pairwise
from pathlib import Path

import pytest

from nlb_retriever import Retriever, book_from_text, index_books
from nlb_retriever.records import Section
from nlb_retriever.search.question import MOST_WORDS
from nlb_retriever.search.request import SearchRequest
from nlb_retriever.search.scope import Scope, resolve_scope
from nlb_retriever.search.spelling import make_edits, respell

ABBEY = """\
The House of Girdlestone
by A. Writer

CHAPTER I. The Office

Ezra Girdlestone sat in the office of Girdlestone and Company and counted the elephants' teeth. Tregennis laughed.

CHAPTER II. La Bretèche

At La Grande Bretèche the garden was locked. The notary Bédaran sighed.
The butcher Quillon burdened nobody, and a quillon is part of a sword.
"""
JOURNEY = "Posdnicheff told it in the train. Calkas was a priest, and Calchos too. Raskolnikoff had nothing to sell."
MILL = "Mr. Trebennis owned the mill at Coldwater. The millwheel was rotten, and the Quillan brook ran low."


@pytest.fixture(scope="module")
def retriever(tmp_path_factory: pytest.TempPathFactory) -> Retriever:
    texts = {"Abbey": ABBEY, "Mill": MILL, "Journey": JOURNEY}
    books = [book_from_text(text, source=title, title=title) for title, text in texts.items()]
    library = tmp_path_factory.mktemp("spelling") / "library"
    index_books(books, library)
    return Retriever(library)


def spelled(retriever: Retriever, query: str, **options: str) -> str | None:
    return retriever.run(SearchRequest(query=query, **options)).searched


@pytest.mark.parametrize(
    ("query", "searched"),
    [
        ("Who is Ezra Gridlestone?", "Who is Ezra Girdlestone?"),  # swapped
        ("Who is girlestone", "Who is Girdlestone"),  # one less; as the book writes it
        ("Who is Girddlestone's son?", "Who is Girdlestone's son?"),  # one more
        ("What is locked at La Grande Breteche?", "What is locked at La Grande Bretèche?"),
        ("Who conuted the elefantz' teeth?", "Who counted the elefantz' teeth?"),  # two edits are not made
        ("Where is Qillon?", "Where is Quillon?"),
        ("Whom does Pozdnyshev kill?", "Whom does Posdnicheff kill?"),  # in another transliteration
        ("Who is Raskolnikov?", "Who is Raskolnikoff?"),
        ("Who is Calchas?", "Who is Calchos?"),  # one edit comes first
        ("What does raskolnikov sell?", None),  # no name
        ("Who is Girdlestone?", None),
        ("Who are the Girdlestones?", None),  # the same word to BM25
        ("Who had siblings?", None),  # known to the encoder, and so no mistake
        ("Who is Burdene?", None),  # with a capital a name is wanted, not "burdened"
        ("Who is Zzyzxq?", None),
        (
            "Why did Mr. Trefinnis laugh?",
            "Why did Mr. Tregennis laugh?",
        ),  # the most similar name beside the other words
        (
            "Which notary of the garden is Bedoran?",
            "Which notary of the garden is Bédaran?",
        ),  # two, one an accent
        ("Why is the millwheel of Trefinnis rotten?", "Why is the millwheel of Trebennis rotten?"),
        ("Who is Trefinnis?", None),  # no other words
        ("Why did trefinnis laugh?", None),
        ("Trefinnis laughed at whom?", None),  # the first word may be no name
        ("Gridlestone " * (MOST_WORDS + 1), None),
    ],
)
def test_a_word_that_no_book_has_is_spelled_as_the_books_do(
    retriever: Retriever, query: str, searched: str | None
) -> None:
    assert spelled(retriever, query) == searched


def test_the_books_that_are_searched_decide(retriever: Retriever) -> None:
    assert spelled(retriever, "Who is Tregennis?", book="Abbey") is None
    assert spelled(retriever, "Who is Tregennis?", book="Mill") == "Who is Trebennis?"
    office = {"book": "Abbey", "section": "CHAPTER I. The Office"}
    assert spelled(retriever, "Where is Bretèche?", **office) is None  # in another chapter of the book


def test_words_alone_are_searched_as_they_are(retriever: Retriever) -> None:
    assert spelled(retriever, "Gridlestone", mode="bm25") is None
    assert retriever.search("Gridlestone", mode="bm25") == []


def test_given_vectors_are_searched_with_the_query_as_it_is(retriever: Retriever) -> None:
    vectors = retriever.vectorizer.encode_query("Gridlestone")
    assert retriever.run(SearchRequest(query="Gridlestone", vectors=vectors)).searched is None


def test_an_answer_says_what_was_searched_for(retriever: Retriever) -> None:
    answer = retriever.answer("Who is Tregenniss?")
    assert (answer.question, answer.searched) == ("Who is Tregenniss?", "Who is Tregennis?")
    assert answer.to_json()["searched"] == "Who is Tregennis?"
    assert retriever.answer("Who is Tregennis?").searched is None


def test_the_most_frequent_word_is_taken(tmp_path: Path) -> None:
    text = "Haroly sang. Harold danced. Harold slept. Harolt left."
    index_books([book_from_text(text, source="song", title="Song")], tmp_path / "library")
    with Retriever(tmp_path / "library") as retriever:
        scope: Scope = resolve_scope(SearchRequest(query="x"), retriever.store)
        assert respell("Did Harolz dance?", scope, retriever.vectorizer, retriever.store) == "Did Harold dance?"


def test_a_word_that_the_books_write_in_two_is_read_so(tmp_path: Path) -> None:
    text = "Good-bye, said the step-father, and ate a pine-apple to-night. The bedroom was cold."
    text += " The bed-room door, too."
    index_books([book_from_text(text, source="fruit", title="Fruit")], tmp_path / "library")
    with Retriever(tmp_path / "library") as retriever:
        for query, searched in (
            ("Who ate the pineapple?", "Who ate the pine-apple?"),
            ("Did the stepfather say goodbye?", "Did the step-father say good-bye?"),
            ("Who left the bedroom?", None),
            ("Who left the churchyard?", None),
        ):
            assert spelled(retriever, query) == searched


def test_a_word_that_the_encoder_knows_is_mended_beside_its_neighbour(tmp_path: Path) -> None:
    text = "Elizabeth Bennet wrote to Maria. The lizard slept. Captain Rusk had much capital, and capital it was. "
    text += "Many cries are heard. "
    text += "Catherine left. " * 20
    index_books([book_from_text(text, source="letters", title="Letters")], tmp_path / "library")
    with Retriever(tmp_path / "library") as retriever:
        for query, searched in (
            ("Who is Elisabeth Bennet?", "Who is Elizabeth Bennet?"),
            ("who is elisabeth bennet", None),
            ("Who is Elisabeth?", None),
            ("Who is Katherine?", None),
            ("Who is Marian?", None),
            ("What is a wizard?", None),
            ("who is capitan rusk", "who is Captain rusk"),
            ("how many calories are in it", None),
        ):
            assert spelled(retriever, query) == searched


def test_a_name_that_the_encoder_knows_is_mended_in_its_book(tmp_path: Path) -> None:
    text = "Catherine left. Rogers slept. " * 3 + "Hooper wept. A German sang. " * 2
    text += "A German left. The bench broke. " * 3
    index_books([book_from_text(text, source="letters", title="Letters")], tmp_path / "library")
    with Retriever(tmp_path / "library") as retriever:
        for query, searched in (
            ("Did Katherine leave?", "Did Catherine leave?"),
            ("How long did Buck Rodgers sleep?", "How long did Buck Rogers sleep?"),
            ("Did Hoover weep?", None),  # Hooper is there too seldom
            ("Did Germany sing?", None),
            ("Did the beach break?", None),
        ):
            assert spelled(retriever, query, book="Letters") == searched
            assert spelled(retriever, query) is None


def test_a_full_name_is_mended_where_one_book_has_all_of_it(retriever: Retriever) -> None:
    assert spelled(retriever, "Who is Ezra Gridlestone?") == "Who is Ezra Girdlestone?"
    assert spelled(retriever, "Who is Ezra Trebenis?") is None  # Ezra is in the Abbey, Trebennis in the Mill
    assert spelled(retriever, "Who is Trebenis?") == "Who is Trebennis?"
    assert spelled(retriever, "Who is Oliver Gridlestone?") is None  # there is no Oliver
    assert spelled(retriever, "Who is Will Gridlestone?") == "Who is Will Girdlestone?"  # "will" is not searched for
    assert spelled(retriever, "Who is Oliver Gridlestone?", book="Abbey") == "Who is Oliver Girdlestone?"


def test_a_name_of_the_preface_is_spelled_as_its_own_book_does(tmp_path: Path) -> None:
    poem = "Preface: Ariosto calls him Astolfo, her Marfisa. " + "Astolpho flew. " * 20 + "Marphisa rode. " * 19
    books = {"Poem": poem, "Other": "Philippa wrote to Brunello. " * 20, "Third": "Phillipa met Brunelo, once."}
    index_books(
        [book_from_text(text, source=title, title=title) for title, text in books.items()], tmp_path / "library"
    )
    with Retriever(tmp_path / "library") as retriever:
        assert spelled(retriever, "How does Astolfo fly?") == "How does Astolpho fly?"
        assert spelled(retriever, "How does astolfo fly?") is None, "no name"
        assert spelled(retriever, "How does Marfisa ride?") is None, "Marphisa is not there often enough"
        assert spelled(retriever, "Whom did Phillipa meet?") is None, "Philippa is in another book"


def test_a_name_of_three_passages_is_no_slip(tmp_path: Path) -> None:
    said = ("Astolfo met Angelika. ", "Astolfo left Angelika. ", "Angelika wept. ", "Astolpho saw Angelica. " * 20)
    borders = [0, *accumulate(map(len, said))]
    cantos = [Section(path=("Canto",), start=start, end=end) for start, end in pairwise(borders)]
    book = book_from_text("".join(said), source="poem", title="Poem", sections=cantos)
    index_books([book], tmp_path / "library")
    with Retriever(tmp_path / "library") as retriever:
        assert spelled(retriever, "How does Astolfo fly?") == "How does Astolpho fly?"
        assert spelled(retriever, "How does Angelika flee?") is None


def test_edits_are_one_letter_away() -> None:
    edits = make_edits("lamp")
    assert {"lam", "lmap", "lump", "lamps", "clamp", "lämp"} <= edits
    assert not {"lamp", "lms", "plump", "lampss"} & edits
