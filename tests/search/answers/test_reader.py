"""Answers and searches with the reader that comes with the package."""

from __future__ import annotations

import shutil
import time
from pathlib import Path
from typing import Any

import pytest

from nlb_retriever import Retriever, book_from_text, index_books
from nlb_retriever.errors import EncoderError, QueryError
from nlb_retriever.reader import AnswerSpan, Reading, find_reader, load_reader
from nlb_retriever.reader.load import RELEASED
from nlb_retriever.records import Answer, Hit
from nlb_retriever.search.answers.short_answer import answer_shortly
from nlb_retriever.search.readings import CLAUSE_TOKENS, MOST_READ, WEIGHT, WEIGHT_OF_SECTION
from nlb_retriever.search.request import SearchRequest
from nlb_retriever.search.run import SearchResult

pytestmark = pytest.mark.skipif(find_reader() is None, reason="the package's reader has been left out")

FERRY = """\
CONTENTS

I. The Ferryman
II. The Flood
III. The Iron Bridge
IV. The Lighthouse

CHAPTER I. The Ferryman

The ferryman's name was Jonas Wick. He rowed across the Marrow river in a green boat. On Sundays he did not row.

CHAPTER II. The Flood

In the year of the flood the bridge was swept away. The baker paid Jonas twelve silver coins to bring flour from the
mill. Nobody thanked him.

CHAPTER III. The Iron Bridge

The new bridge was built of iron. Jonas burned his boat on the bank, because nobody needed a ferry any more, and went to
live with his sister in Dunmore.

CHAPTER IV. The Lighthouse

Years later his niece Margaret became the keeper of the lighthouse, and Jonas Wick mended its lamp every autumn.
"""
KITCHEN = """\
CHAPTER I. Bread

Mix a kilo of flour with warm water and a spoon of salt. The dough rests for two hours under a cloth.
"""


@pytest.fixture(scope="module")
def retriever(tmp_path_factory: pytest.TempPathFactory) -> Retriever:
    library = tmp_path_factory.mktemp("reader") / "library"
    books = [
        book_from_text(FERRY, source="ferry", title="The Ferry"),
        book_from_text(KITCHEN, source="kitchen", title="The Kitchen"),
    ]
    index_books(books, library)
    return Retriever(library)


@pytest.mark.parametrize(
    ("question", "short"),
    [
        ("What was the ferryman's name?", "Jonas Wick"),
        ("How many silver coins did the baker pay Jonas?", "twelve"),
        ("What was the new bridge built of?", "iron"),
        ("Who became the keeper of the lighthouse?", "Margaret"),
    ],
)
def test_the_short_answer_stands_in_the_first_quote(retriever: Retriever, question: str, short: str) -> None:
    found = retriever.answer(question)
    assert found.short is not None and short in found.short
    assert len(found.short.split()) <= 6
    assert found.shorts[0].citation == 0
    assert found.confidence is not None
    citation = found.citations[0]
    text = retriever.store.book_text(citation.hit.book_id)
    assert citation.answer is not None
    assert citation.quote_start <= citation.answer[0] < citation.answer[1] <= citation.quote_end
    assert " ".join(text[slice(*citation.answer)].split()) == found.short


def test_an_article_alone_is_no_answer() -> None:
    text = "He rowed in a boat of oak."
    hit = Hit(level="passage", id="1", book_id="2", title="", author=None, source="", section=(), section_id=None,
              start=0, end=len(text), page=None, score=1.0, text=text, metadata={})  # fmt: skip
    article, wood = text.index("a boat"), text.index("oak")
    spans = (AnswerSpan(start=article, end=article + 1, score=9.0), AnswerSpan(start=wood, end=wood + 3, score=5.0))
    result = SearchResult(
        request=SearchRequest(query="What was the boat made of?"),
        hits=(hit,),
        readings=(Reading(relevance=3.0, no_answer_score=0.0, spans=spans),),
    )
    found = answer_shortly(result, 3)
    assert found is not None
    assert [each.text for each in found.shorts] == ["oak"]


@pytest.mark.parametrize(
    ("question", "text", "words", "short"),
    [
        (
            "what was the name of the dog?",
            "The china dog stood there. Gannet slept.",
            ("china dog", "Gannet"),
            "Gannet",
        ),
        (
            "what was the name of the dog?",
            "the china dog stood there. gannet slept.",
            ("china dog", "gannet"),
            "china dog",
        ),
        ("Who wrote on tides?", "Wick’s book on tides is long.", ("Wick’s",), "Wick"),
        ("Whose book is long?", "Wick’s book on tides is long.", ("Wick’s",), "Wick’s"),
    ],
)
def test_a_name_is_given_as_one(question: str, text: str, words: tuple[str, ...], short: str) -> None:
    hit = Hit(level="passage", id="1", book_id="2", title="", author=None, source="", section=(), section_id=None,
              start=0, end=len(text), page=None, score=1.0, text=text, metadata={})  # fmt: skip
    places = [(text.index(each), text.index(each) + len(each), 9.0 - at) for at, each in enumerate(words)]
    spans = tuple(AnswerSpan(start=start, end=end, score=score) for start, end, score in places)
    result = SearchResult(
        request=SearchRequest(query=question),
        hits=(hit,),
        readings=(Reading(relevance=3.0, no_answer_score=0.0, spans=spans),),
    )
    found = answer_shortly(result, 3)
    assert found is not None
    assert found.shorts[0].text == short


@pytest.mark.parametrize(
    ("question", "confidence"),
    [("Who rowed the boat?", "sure"), ("Who is Jonas Wick?", "unsure"), ("Who was the Baker?", "unsure")],
)
def test_who_a_name_is_is_never_sure(question: str, confidence: str) -> None:
    found = _read_one(question, "The ferryman Jonas Wick, once a baker, rowed in a boat of oak.", "ferryman")
    assert found is not None
    assert (found.short, found.confidence) == ("ferryman", confidence)


def test_who_a_name_is_says_a_sentence_with_the_name() -> None:
    text = "Jonas Wick was a ferryman. A keeper came to see him."
    for answer, short in (("ferryman", "ferryman"), ("keeper", None)):
        found = _read_one("Who is Jonas Wick?", text, answer)
        assert (found.short if found else None) == short
    keeper = _read_one("Who came to see Jonas?", text, "keeper")
    assert keeper and keeper.short == "keeper"


@pytest.mark.parametrize(
    ("answer", "short"),
    [
        ("Actions\n\nJ. Reyes", "J. Reyes"),
        ("To Do\n\nActions\n\nJ. Reyes", "J. Reyes"),
        ("Actions\n\nJ. Reyes to inspect the slip. A. Lund", "J. Reyes to inspect the slip"),
        ("Actions", None),
    ],
)
def test_words_that_begin_in_a_heading_answer_from_behind_it(answer: str, short: str | None) -> None:
    text = "To Do\n\nActions\n\nJ. Reyes to inspect the slip. A. Lund to write to the mayor."
    found = _read_one("Who has to inspect the slip?", text, answer, ("To Do", "Actions"))
    assert (found.short if found else None) == short


@pytest.mark.parametrize(
    ("text", "answer", "short"),
    [
        ("Price: 89 euros\nMade in: Italy\nWeight: 7 kg", "89 euros\nMade in: Italy", "89 euros"),
        ("Type: boolean\nDefault: false", "boolean\nDefault", "boolean"),
        ("-x  extracts all the files\n-z  filters them all", "extracts all the files\n-z", "extracts all the files"),
        ("The lamp\nof the tower: it burned", "lamp\nof the tower", "lamp of the tower"),
    ],
)
def test_words_end_where_the_next_line_of_a_record_begins(text: str, answer: str, short: str) -> None:
    found = _read_one("What is it?", text, answer)
    assert found and found.short == short


@pytest.mark.parametrize("blank", ["\n", " ", "\n  ", "\na "])
def test_words_before_much_white_space_are_found_at_once(blank: str) -> None:
    began = time.process_time()
    assert _read_one("What is it?", "The lamp." + blank * (100_000 // len(blank)) + "It burned.", "lamp")
    assert time.process_time() - began < 5  # quadratic would be a minute


def _read_one(question: str, text: str, answer: str, section: tuple[str, ...] = ()) -> Answer | None:
    """The answer from one passage, some of whose words a reader is sure of."""
    hit = Hit(level="passage", id="1", book_id="2", title="", author=None, source="", section=section, section_id=None,
              start=0, end=len(text), page=None, score=1.0, text=text, metadata={})  # fmt: skip
    spans = (AnswerSpan(start=text.index(answer), end=text.index(answer) + len(answer), score=20.0),)
    reading = Reading(relevance=3.0, no_answer_score=0.0, spans=spans)
    return answer_shortly(SearchResult(request=SearchRequest(query=question), hits=(hit,), readings=(reading,)), 3)


@pytest.mark.parametrize(
    ("question", "shortest"),
    [("Why did Jonas burn his boat?", CLAUSE_TOKENS), ("What was the new bridge built of?", 1)],
)
def test_why_is_read_for_clauses_and_what_for_words(retriever: Retriever, question: str, shortest: int) -> None:
    result = retriever.run(SearchRequest(query=question, rerank=True))
    [first] = load_reader(find_reader()).read(question, [result.hits[0].text], shortest=shortest)
    assert result.readings[0].spans == first.spans


def test_why_is_answered_by_more_than_a_word(retriever: Retriever) -> None:
    found = retriever.answer("Why did Jonas burn his boat?")
    assert found.short is not None and len(found.short.split()) >= 4
    assert "burned his boat" in found.citations[0].quote


def test_the_contents_of_a_book_answer_nothing(retriever: Retriever) -> None:
    quotes = [citation.quote for citation in retriever.answer("What did the iron bridge replace?", limit=9).citations]
    assert not any("CONTENTS" in quote or "II. The Flood" in quote for quote in quotes)


@pytest.mark.parametrize("mode", ["fused", "dense", "bm25"])
def test_what_no_passage_answers_is_not_in_the_library(retriever: Retriever, mode: Any) -> None:
    found = retriever.answer("What is the boiling point of nitrogen?", mode=mode)
    assert (found.found, found.short, found.citations) == (False, None, ())


def test_all_passages_stand_in_reading_order_and_before_bounds_them(retriever: Retriever) -> None:
    question = "What did Jonas Wick do?"
    every = retriever.answer(question, all_passages=True, book="Ferry").citations
    assert len(every) >= 2
    starts = [citation.quote_start for citation in every]
    assert starts == sorted(starts)
    early = retriever.answer(question, all_passages=True, book="Ferry", before="CHAPTER II. The Flood").citations
    assert early
    assert {citation.hit.section[-1] for citation in early} <= {"CHAPTER I. The Ferryman", "CONTENTS"}


def test_before_bounds_the_short_answer(retriever: Retriever) -> None:
    found = retriever.answer("Who became the keeper of the lighthouse?", book="Ferry", before="CHAPTER IV")
    assert found.short is None or "Margaret" not in found.short


def test_reranked_passages_are_the_same_ones_best_first(retriever: Retriever) -> None:
    question = "What was the new bridge built of?"
    plain, ranked = retriever.search(question), retriever.search(question, rerank=True)
    assert {hit.id for hit in plain} == {hit.id for hit in ranked}
    scores = [hit.score for hit in ranked]
    assert scores == sorted(scores, reverse=True)
    assert "iron" in ranked[0].text
    assert len(retriever.search(question, rerank=True, limit=2)) == 2
    assert retriever.search(question, rerank=True, limit=0) == []
    widened = retriever.search(question, rerank=True, limit=1, neighbours=1)
    assert ranked[0].text in widened[0].text


def test_more_hits_than_are_read_keep_their_order_behind(tmp_path: Path) -> None:
    days = [f"On day {number} the keeper trimmed the lamp and went to bed. " * 12 for number in range(MOST_READ + 60)]
    index_books([book_from_text("\n\n".join(days), source="log", title="Log")], tmp_path / "library")
    with Retriever(tmp_path / "library") as retriever:
        hits = retriever.search("Who trimmed the lamp on day 7?", rerank=True, limit=1000)
    assert len(hits) > MOST_READ
    assert len({hit.id for hit in hits}) == len(hits)
    assert [hit.score for hit in hits] == sorted((hit.score for hit in hits), reverse=True)


@pytest.mark.parametrize("query", ["green boat", "Wer hat das Boot gebaut?", "who " * 5000, "?!", "boat"])
def test_what_is_no_short_question_is_answered_by_sentences(retriever: Retriever, query: str) -> None:
    found = retriever.answer(query, mode="bm25")
    assert (found.short, found.confidence) == (None, None)
    plain, ranked = retriever.search(query), retriever.search(query, rerank=True)
    assert [hit.id for hit in plain] == [hit.id for hit in ranked]


def test_a_passage_of_one_word_is_read(tmp_path: Path) -> None:
    index_books([book_from_text("Margaret.", source="note", title="Note")], tmp_path / "library")
    with Retriever(tmp_path / "library") as retriever:
        assert len(retriever.search("Who kept the lamp?", rerank=True)) == 1
        assert retriever.answer("Who kept the lamp?").text


def test_books_are_not_reranked(retriever: Retriever) -> None:
    with pytest.raises(QueryError, match="puts passages or sections in order"):
        retriever.search("Who rowed?", level="book", rerank=True)


def test_what_is_said_is_read_and_not_looked_through_for_answers(retriever: Retriever) -> None:
    """The reader alone says how relevant each passage of a statement is; it quotes no words of it."""
    statement = "a man burns his own boat"
    result = retriever.run(SearchRequest(query=statement, rerank=True))
    readings = load_reader(find_reader()).read(statement, [hit.text for hit in result.hits])
    assert [each.relevance for each in result.readings] == [each.relevance for each in readings]
    plain = {hit.id: hit.score for hit in retriever.search(statement)}
    best = max(plain.values())
    for hit, reading in zip(result.hits, readings, strict=True):
        assert hit.score == pytest.approx(plain[hit.id] / best + WEIGHT * reading.relevance)
    answer = retriever.answer(statement)
    assert answer.short is None and answer.citations


def test_a_passage_that_is_looked_for_is_found_by_the_reader(retriever: Retriever) -> None:
    ranked = {hit.id: hit.score for hit in retriever.search("a man burns his own boat", rerank=True)}
    answer = retriever.answer("Find the passage in which a man burns his own boat")
    assert answer.short is None and "burned his boat" in answer.text
    assert all(citation.hit.score == pytest.approx(ranked[citation.hit.id]) for citation in answer.citations)


@pytest.mark.parametrize("query", ["a man burns his own boat", "Why did Jonas burn his boat?"])
@pytest.mark.parametrize("mode", ["fused", "dense", "bm25"])
def test_sections_are_put_in_order_by_their_most_relevant_passage(retriever: Retriever, query: str, mode: Any) -> None:
    plain = retriever.search(query, level="section", mode=mode)
    ranked = retriever.search(query, level="section", mode=mode, rerank=True)
    assert {hit.id for hit in plain} == {hit.id for hit in ranked}
    passages = [hit for hit in retriever.search(query, mode=mode, limit=40) if hit.section_id == ranked[0].id]
    read = load_reader(find_reader()).read(query, [hit.text for hit in passages])
    score = next(hit.score for hit in plain if hit.id == ranked[0].id) / plain[0].score
    assert ranked[0].score == pytest.approx(score + WEIGHT_OF_SECTION * max(each.relevance for each in read))
    assert [hit.score for hit in ranked] == sorted((hit.score for hit in ranked), reverse=True)
    assert len(retriever.search(query, level="section", mode=mode, rerank=True, limit=2)) == 2
    assert retriever.search(query, level="section", mode=mode, rerank=True, limit=0) == []


def test_a_reader_of_another_tokenizer_is_refused(tmp_path: Path) -> None:
    shutil.copytree(RELEASED, tmp_path / "reader")
    tokenizer = tmp_path / "reader" / "tokenizer.json"
    tokenizer.write_text(tokenizer.read_text(encoding="utf-8").replace("[CLS]", "[BOS]"), encoding="utf-8")
    with pytest.raises(EncoderError, match=r"tokenizer\.json is damaged or of another reader"):
        load_reader(tmp_path / "reader")
