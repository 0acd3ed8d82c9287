"""Questions on pieces of collections: tales and poems with authors of their own, the books of a scripture, plays."""

from __future__ import annotations

from pathlib import Path

import pytest

from nlb_retriever import Retriever, book_from_text, index_books
from nlb_retriever.records import Section

TALES = {
    ("PREFACE",): "Here are four tales. We thank all who wrote them. ",
    ("The Marsh. BY ADA PENWICK",): "The fog lay on the marsh. Tom Reed rowed out, said Tom Reed, and was lost. "
    "“Bring the green lantern,” said Tom Reed. At dawn the heron stood alone on his empty boat.\n",
    (
        "THE MILL, By J. M. Orme",
    ): "A miller had three sons. “The wheel will stop,” said the miller. The wheel stopped.\n",
    ("The Ferry",): "by Lena de Stahl\n\nThe ferry came at noon. Nobody was aboard, and the bell rang by itself.\n",
    ("The Fox and the Ladder",): "A fox climbed a ladder to the moon. The ladder broke. Look before you climb.\n",
    ("The Heron",): "I saw a heron on the sand,\nand he was all alone.\n\nL. M. SEDGE.\n",
    ("INDEX TO FIRST WORDS",): "A fox 4, A miller 2, The ferry 3, The fog 1\n",
}
SCRIPTURE = {
    ("Beginnings", "Chapter 1"): "1 The sea was dark.\n2 And there was no moon.\n",
    ("Beginnings", "Chapter 2"): "1 Then Arn came out of the reeds.\n2 And he built a boat.\n",
    ("Voyages", "Chapter 1"): "1 Arn went to the sea.\n2 And the storm took his sail.\n",
}


def _book(title: str, author: str | None, parts: dict[tuple[str, ...], str], source: str) -> object:
    sections, text = [], ""
    for path, own in parts.items():
        start = len(text)
        text += f"{path[-1]}\n\n{own}\n"
        sections.append(Section(path=path, start=start, end=len(text)))
    return book_from_text(text, source=source, title=title, author=author, sections=sections)


@pytest.fixture(scope="module")
def retriever(tmp_path_factory: pytest.TempPathFactory) -> Retriever:
    library = tmp_path_factory.mktemp("pieces") / "library"
    books = [_book("Tales of the Fen", "Various", TALES, "fen"), _book("The Scroll", None, SCRIPTURE, "scroll")]
    index_books(books, library)  # type: ignore[arg-type]
    return Retriever(library)


@pytest.mark.parametrize(
    ("question", "author"),
    [
        ("Who wrote The Marsh?", "ADA PENWICK"),
        ("Who is the author of “The Mill”?", "J. M. Orme"),
        ("who wrote the ferry", "Lena de Stahl"),
        ("Who wrote The Heron?", "L. M. SEDGE"),
    ],
)
def test_a_piece_has_the_author_that_it_names(retriever: Retriever, question: str, author: str) -> None:
    answer = retriever.answer(question)
    assert (answer.short, answer.confidence) == (author, "sure")
    assert author in answer.citations[0].quote


@pytest.mark.parametrize(
    ("question", "short"),
    [
        ("Which story is by Ada Penwick?", "The Marsh (Tales of the Fen)"),
        ("Which tales are by Orme?", "THE MILL (Tales of the Fen)"),
        ("What did Lena de Stahl write?", "The Ferry (Tales of the Fen)"),
        ("Which poems are by Lena Mary Sedge?", "The Heron (Tales of the Fen)"),
        ("What did A. Penwick write?", "The Marsh (Tales of the Fen)"),
        ("Do I have anything by Penwick?", "The Marsh (Tales of the Fen)"),
        ("Is there a poem by Stahl?", "The Ferry (Tales of the Fen)"),
    ],
)
def test_pieces_by_an_author_are_named(retriever: Retriever, question: str, short: str) -> None:
    answer = retriever.answer(question)
    assert (answer.short, answer.confidence) == (short, "sure")


def test_a_book_by_an_author_comes_before_pieces(retriever: Retriever) -> None:
    assert retriever.answer("Do I have anything by Nobody Else?").text == "No book by Nobody Else is in your library."
    assert retriever.answer("Do I have anything by Bob Penwick?").text == "No book by Bob Penwick is in your library."


@pytest.mark.parametrize(
    ("question", "end"),
    [
        ("How does The Marsh end?", "At dawn the heron stood alone on his empty boat."),
        ("What happens at the end of the story The Marsh?", "At dawn the heron stood alone on his empty boat."),
        ("What is the moral of The Fox and the Ladder?", "Look before you climb."),
        ("How does the fable The Fox and the Ladder end?", "Look before you climb."),
        ("What is the last line of Voyages?", "2 And the storm took his sail."),
    ],
)
def test_a_piece_ends_as_a_book_does(retriever: Retriever, question: str, end: str) -> None:
    answer = retriever.answer(question)
    assert answer.found
    assert answer.citations[-1].quote.endswith(end)
    assert retriever.answer("How does Beginnings begin?").text.startswith("1 The sea was dark.")


def test_pieces_are_counted_without_preface_and_index(retriever: Retriever) -> None:
    assert retriever.answer("How many stories are in Tales of the Fen?").short == "5"
    assert retriever.answer("How many short stories does Tales of the Fen have?").short == "5"
    listed = retriever.answer("List the tales in Tales of the Fen").short
    assert listed == "The Marsh. BY ADA PENWICK; THE MILL, By J. M. Orme; The Ferry; The Fox and the Ladder; The Heron"


@pytest.mark.parametrize(
    ("question", "short"),
    [
        ("What is the longest story in Tales of the Fen?", "The Marsh. BY ADA PENWICK (38 words)"),
        ("Which tale of Tales of the Fen is the shortest?", "The Heron (17 words)"),
        ("Which chapter is the longest in The Scroll?", "Beginnings › Chapter 2 (16 words)"),
    ],
)
def test_the_longest_piece_is_named(retriever: Retriever, question: str, short: str) -> None:
    assert retriever.answer(question).short == short


@pytest.mark.parametrize(
    ("question", "section"),
    [
        ("What happens in the first story of Tales of the Fen?", "The Marsh. BY ADA PENWICK"),
        ("Summarize the third tale in Tales of the Fen", "The Ferry"),
        ("Summarize the last story of Tales of the Fen", "The Heron"),
    ],
)
def test_a_piece_is_named_by_its_number(retriever: Retriever, question: str, section: str) -> None:
    assert {citation.hit.section for citation in retriever.answer(question).citations} == {(section,)}


def test_books_of_a_scripture_and_their_chapters_are_counted(retriever: Retriever) -> None:
    assert retriever.answer("How many books are in The Scroll?").short == "2"
    assert retriever.answer("List the books of The Scroll").short == "Beginnings; Voyages"
    assert retriever.answer("How many chapters does Beginnings have?").short == "2"


@pytest.mark.parametrize("question", ["What does letter 2 say?", "What happens in the second letter?"])
def test_a_letter_needs_no_title_where_one_book_has_it(tmp_path: Path, question: str) -> None:
    letters = {
        (f"Letter {n}. Arn to Lise",): f"The {n}th boat was late. Nobody came from the islands. " for n in range(1, 5)
    }
    books = [_book("Letters from the Fen", None, letters, "letters"), _book("The Scroll", None, SCRIPTURE, "scroll")]
    index_books(books, tmp_path / "library")  # type: ignore[arg-type]
    with Retriever(tmp_path / "library") as retriever:
        assert {each.hit.section for each in retriever.answer(question).citations} == {("Letter 2. Arn to Lise",)}


def test_a_tale_is_no_collection_that_is_called_after_it(tmp_path: Path) -> None:
    tales = {("The Lamp",): "The lamp went out. The keeper wept.\n", ("The Oar",): "The oar broke. Anna swam home.\n"}
    index_books([_book("The Lamp and Other Tales", None, tales, "shore")], tmp_path / "library")  # type: ignore[list-item]
    with Retriever(tmp_path / "library") as retriever:
        assert retriever.answer("How does The Lamp end?").text.endswith("The keeper wept.")
        assert {each.hit.section for each in retriever.answer("What happens in The Lamp?").citations} == {("The Lamp",)}
        assert retriever.answer("How does The Lamp and Other Tales end?").text.endswith("Anna swam home.")


def test_a_title_of_common_words_is_found_among_many(tmp_path: Path) -> None:
    parts = {(f"Chapter {n}",): "Lost hearts and lost hands, hearts that are lost in the fog.\n" for n in range(1, 40)}
    parts["Lost Hearts",] = f"{'A boy came to the hall at dusk, and his cousin met him at the door. ' * 9}He wept.\n"
    index_books([_book("Fog", None, parts, "fog")], tmp_path / "library")  # type: ignore[list-item]
    with Retriever(tmp_path / "library") as retriever:
        assert {each.hit.section for each in retriever.answer("Summarize Lost Hearts").citations} == {("Lost Hearts",)}


def test_an_index_answers_nothing(tmp_path: Path) -> None:
    parts = {
        ("The Heron",): "I saw a heron on the sand, and he was all alone. Nobody wrote of it.\n",
        ("INDEX OF FIRST LINES",): "Who wrote the letter to the king, 4 If only the king had known, 7\n",
    }
    index_books([_book("Verses", None, parts, "verses")], tmp_path / "library")  # type: ignore[list-item]
    with Retriever(tmp_path / "library") as retriever:
        answer = retriever.answer("Who wrote the letter to the king?")
        assert all(each.hit.section == ("The Heron",) for each in answer.citations)


def test_a_play_ends_with_what_is_said(tmp_path: Path) -> None:
    said = "Go home now, all of you; the lamps are out and the tide is high. Good night."
    text = f"ACT I\n\nANNA.\nWho is there?\n\nTOM.\n{said}\n\n[Flourish. Exeunt.]\n"
    index_books([book_from_text(text, source="play", title="The Tide")], tmp_path / "library")
    with Retriever(tmp_path / "library") as retriever:
        assert retriever.answer("How does The Tide end?").citations[-1].quote.endswith("Good night.")


def test_the_novels_of_an_omnibus_have_their_author_and_chapters(tmp_path: Path) -> None:
    parts = {
        ("Marshland; or, The Heron", "Chapter 1"): "Ada Penwick\n\nThe fog lay on the marsh. Tom rowed out.\n",
        (
            "Marshland; or, The Heron",
            "Chapter 2",
        ): "The heron stood alone on his empty boat, and it was dawn.\n",
        ("The Mill", "Chapter 1"): "J. M. Orme\n\nA miller had three sons, and the wheel stopped.\n",
    }
    index_books([_book("Two Novels", "Ada Penwick, J. M. Orme", parts, "two")], tmp_path / "library")  # type: ignore[list-item]
    omnibus = Retriever(tmp_path / "library")
    questions = {
        "Who wrote Marshland?": "Ada Penwick",
        "Who wrote The Mill?": "J. M. Orme",
        "How many chapters has Marshland?": "2",
        "How many chapters has The Mill?": "1",
        "Which chapter of The Mill is the longest?": "The Mill › Chapter 1 (14 words)",
    }
    assert {question: omnibus.answer(question).short for question in questions} == questions
