"""Answers in the books' own words."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from nlb_retriever import Retriever, book_from_text, index_books, index_files
from nlb_retriever.errors import QueryError
from nlb_retriever.records import Page
from nlb_retriever.search.request import SearchRequest
from nlb_retriever.store import Condition

STORY = """\
The Ferry

CHAPTER I

The ferryman's name was Jonas Wick. He rowed across the Marrow river in a green boat. On Sundays he did not row.

CHAPTER II

In the year of the flood the bridge was swept away. The baker paid Jonas twelve silver coins to bring flour from the
mill. Nobody thanked him.

CHAPTER III

The new bridge was built of iron. Jonas burned his boat on the bank, and went to live with his sister in Dunmore.
"""


@pytest.fixture(scope="module")
def retriever(tmp_path_factory: pytest.TempPathFactory) -> Retriever:
    folder = tmp_path_factory.mktemp("answering")
    (folder / "ferry.txt").write_text(STORY)
    index_files([folder / "ferry.txt"], folder / "library")
    return Retriever(folder / "library")


@pytest.mark.parametrize(
    ("question", "words"),
    [
        ("What was the ferryman's name?", "Jonas Wick"),
        ("How many silver coins did the baker pay?", "twelve silver coins"),
        ("What was the new bridge built of?", "iron"),
        ("Who went to live with his sister?", "Dunmore"),
    ],
)
def test_the_first_sentence_answers(retriever: Retriever, question: str, words: str) -> None:
    found = retriever.answer(question)
    assert found.found
    assert words in found.citations[0].quote
    assert words in found.text


def test_every_quote_is_verbatim_at_its_span(retriever: Retriever) -> None:
    for question in ("Who rowed across the river?", "What happened to the bridge in the flood?"):
        citations = retriever.answer(question).citations
        assert citations
        for citation in citations:
            text = retriever.store.book_text(citation.hit.book_id)
            assert text[citation.quote_start : citation.quote_end] == citation.quote
            assert citation.hit.start <= citation.quote_start < citation.quote_end <= citation.hit.end


def test_sentences_that_follow_each_other_are_one_quote(retriever: Retriever) -> None:
    citations = retriever.answer(
        "What was the ferryman's name and in what did he row across the Marrow river?"
    ).citations
    assert citations[0].quote.startswith("The ferryman's name was Jonas Wick. He rowed")
    spans = [(citation.quote_start, citation.quote_end) for citation in citations]
    assert len(set(spans)) == len(spans)


def test_limit_bounds_the_sentences(retriever: Retriever) -> None:
    assert len(retriever.answer("What did Jonas do?", limit=1).citations) == 1
    assert 1 <= len(retriever.answer("What did Jonas do?", limit=5).citations) <= 5
    assert retriever.answer("What did Jonas do?", limit=0).citations == ()


@pytest.mark.parametrize("limit", [-1, "3", 2.5, float("nan"), True, [1], 10**9])
def test_what_is_no_limit_is_refused(retriever: Retriever, limit: Any) -> None:
    with pytest.raises(QueryError, match="limit must be a whole number from 0 to 1,000,000, not "):
        retriever.answer("What did Jonas do?", limit=limit)


def test_the_answer_keeps_to_book_filter_and_what_was_read(retriever: Retriever) -> None:
    found = retriever.answer("Where did Jonas go to live?", book="Ferry", before="CHAPTER III")
    assert all(citation.hit.section != ("CHAPTER III",) for citation in found.citations)
    none = retriever.answer("Where did Jonas live?", where=Condition("author", "eq", "Nobody"))
    assert (none.found, none.citations, none.text) == (False, (), "Not in your library.")


def test_the_answer_keeps_to_a_section_of_a_book(retriever: Retriever) -> None:
    for section in ("2", "CHAPTER II"):
        found = retriever.answer("Whom did the baker pay?", book="Ferry", section=section)
        assert {citation.hit.section for citation in found.citations} == {("CHAPTER II",)}
    with pytest.raises(QueryError, match="no section"):
        retriever.answer("Whom did the baker pay?", book="Ferry", section="CHAPTER IX")
    with pytest.raises(QueryError, match="name the book"):
        retriever.answer("Whom did the baker pay?", section="2")


@pytest.mark.parametrize("how", [{"mode": "dense"}, {"mode": "bm25"}, {"strategy": "flat"}])
def test_each_mode_and_strategy_answers_from_its_own_passages(retriever: Retriever, how: Any) -> None:
    question = "How many silver coins did the baker pay?"
    found = retriever.answer(question, **how)
    assert "twelve silver coins" in found.citations[0].quote
    request = SearchRequest(query=question, rerank=True, diversify=False, **how)
    hits = {hit.id: hit.score for hit in retriever.run(request).hits}
    assert all(citation.hit.score == pytest.approx(hits[citation.hit.id]) for citation in found.citations)
    assert not retriever.answer("What is the boiling point of nitrogen?", **how).found


def test_answering_by_words_alone_loads_no_encoder(retriever: Retriever) -> None:
    with Retriever(retriever.store.location) as fresh:
        assert "twelve" in fresh.answer("Who paid twelve silver coins?", mode="bm25").text
        assert fresh._loaded is None


def test_an_empty_question_is_refused(retriever: Retriever) -> None:
    with pytest.raises(QueryError, match="question is empty"):
        retriever.answer("  ")


def test_the_json_of_an_answer_has_the_promised_keys(retriever: Retriever) -> None:
    document = retriever.answer("Who rowed?").to_json()
    assert set(document) == {"question", "searched", "found", "short", "confidence", "answer", "citations"}
    hit = {
        "level",
        "book_id",
        "title",
        "work",
        "author",
        "source",
        "section",
        "section_id",
        "start",
        "end",
        "page",
        "score",
        "text",
    }
    assert set(document["citations"][0]) == {*hit, "quote", "quote_start", "quote_end"}


def test_books_that_say_the_same_are_both_cited(tmp_path: Path) -> None:
    for name in ("one", "two"):
        (tmp_path / f"{name}.txt").write_text(f"The Tale of {name}\n\n" + STORY.partition("\n\n")[2])
    index_files([tmp_path / "one.txt", tmp_path / "two.txt"], tmp_path / "library")
    with Retriever(tmp_path / "library") as retriever:
        citations = retriever.answer("How many silver coins did the baker pay?").citations
        assert len({citation.hit.book_id for citation in citations[:2]}) == 2


@pytest.mark.parametrize(
    "question",
    [
        "How do I install Python on Windows?",
        "What is the boiling point of nitrogen?",
        "Which club won the football championship in 1998?",
    ],
)
def test_a_question_from_another_world_is_not_in_the_library(retriever: Retriever, question: str) -> None:
    found = retriever.answer(question)
    assert (found.found, found.citations, found.text) == (False, (), "Not in your library.")


def test_a_heading_answers_nothing(tmp_path: Path) -> None:
    text = (
        "CHAPTER I. The Keeper\n\nOld Tobias was the keeper of the light.\n\nCHAPTER II. The Letter\n\nA letter came.\n"
    )
    (tmp_path / "light.txt").write_text(text)
    index_files([tmp_path / "light.txt"], tmp_path / "library")
    with Retriever(tmp_path / "library") as retriever:
        quotes = [citation.quote for citation in retriever.answer("Who was the keeper?").citations]
    assert quotes[0] == "Old Tobias was the keeper of the light."
    assert not any(quote.startswith("CHAPTER") for quote in quotes)


def test_the_title_of_a_book_that_its_text_names_answers_nothing(tmp_path: Path) -> None:
    text = "# Title: The Oven\n\n## Author: Ann Baker\n\nIn the kitchen the bricks glow until the bread is brown."
    (tmp_path / "oven.md").write_text(text)
    index_files([tmp_path / "oven.md"], tmp_path / "library")
    with Retriever(tmp_path / "library") as retriever:
        found = retriever.answer("Find the passage about the oven")
    assert [citation.quote for citation in found.citations] == [text.rpartition("\n")[2]]


def test_of_sentences_with_as_many_words_short_ones_come_last(tmp_path: Path) -> None:
    text = "“Yes,” he said. The prisoners turn round and are dazzled by the fire behind them. They see shadows."
    index_books([book_from_text(text, source="cave", title="On a Cave")], tmp_path / "library")
    with Retriever(tmp_path / "library") as retriever:
        found = retriever.answer("Find the passage about captives", limit=1)
    assert found.text.startswith("The prisoners turn round")


def test_a_text_that_is_called_by_its_first_words_is_quoted(tmp_path: Path) -> None:
    notes = {
        "a sentence": "The oven is hot when a pinch of flour browns in a minute.",
        "two": "The kiln is warm. Fire it now.",
        "a longer one": "The forge is red at dusk. The smith leaves it to cool, and goes home by the river.",
    }
    index_books([book_from_text(text, source=source) for source, text in notes.items()], tmp_path / "library")
    with Retriever(tmp_path / "library") as retriever:
        for question, quote in (
            ("When is the oven hot?", notes["a sentence"]),
            ("Is the kiln warm?", "The kiln is warm."),
            ("When is the forge red?", "The forge is red at dusk."),
        ):
            assert retriever.answer(question, limit=1).text == quote


def test_a_table_of_contents_answers_nothing_and_verse_does(tmp_path: Path) -> None:
    told = {
        "contents": "I The Mill\nII The Mill by Night\nIII The Miller Rides\nIV The Mill Burns\nEpilogue",
        "verse": "The wheel went round,\nthe stones lay still,\nthe miller rode\nby night from the mill.",
    }
    index_books([book_from_text(text, source=name, title=name) for name, text in told.items()], tmp_path / "library")
    with Retriever(tmp_path / "library") as retriever:
        found = retriever.answer("Who rode by night from the mill?")
    assert [citation.quote for citation in found.citations] == [told["verse"]]


def test_a_citation_has_the_page_of_its_quote(tmp_path: Path) -> None:
    text = f"{STORY.replace('CHAPTER III', '')}"
    last = text.index("The new bridge")
    pages = [Page(start=0, number=1, label="i"), Page(start=last, number=2, label="ii")]
    index_books([book_from_text(text, source="ferry", title="The Ferry", pages=pages)], tmp_path / "library")
    with Retriever(tmp_path / "library") as retriever:
        found = retriever.answer("What was the new bridge built of?", limit=1)
        assert (found.citations[0].hit.page, found.citations[0].hit.metadata["page_number"]) == ("ii", 2)
        assert retriever.answer("How many silver coins did the baker pay?", limit=1).citations[0].hit.page == "i"
        assert retriever.answer("On which page is the new bridge built of iron?").short == "p. ii"
