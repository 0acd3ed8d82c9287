"""Answers made of given hits and readings."""

from __future__ import annotations

import pytest

from nlb_retriever.reader import AnswerSpan, Reading
from nlb_retriever.records import Answer, Hit
from nlb_retriever.search.answers.answer import compose_answer
from nlb_retriever.search.request import SearchRequest
from nlb_retriever.search.run import SearchResult


def compose(question: str, text: str, *spans: str, limit: int | None = 3) -> Answer:
    """The answer from one passage, where a reader found some words, the first ones the best."""
    hit = Hit(level="passage", id="1", book_id="2", title="", author=None, source="", section=(), section_id=None,
              start=0, end=len(text), page=None, score=1.0, text=text, metadata={})  # fmt: skip
    found = [
        AnswerSpan(start=text.index(span), end=text.index(span) + len(span), score=9.0 - rank)
        for rank, span in enumerate(spans)
    ]
    readings = (Reading(relevance=3.0, no_answer_score=0.0, spans=tuple(found)),) if spans else ()
    return compose_answer(SearchResult(request=SearchRequest(query=question), hits=(hit,), readings=readings), limit)


def test_a_sentence_that_asks_comes_after_those_that_do_not() -> None:
    text = "Who trimmed the lamp in the storm? It rained. Margaret trimmed the lamp."
    assert compose("Who trimmed the lamp?", text, limit=1).text == "Margaret trimmed the lamp."
    assert compose("Who trimmed the lamp?", "Who trimmed the lamp?", limit=1).found


@pytest.mark.parametrize(
    ("question", "spans", "short"),
    [
        ("Which page is about the reader?", ["md"], "docs/reader.md"),
        ("What is the half-way house called?", ["Blue"], "Blue-Anchor"),
        ("How many beds has the house?", ["beds", "eleven"], "eleven"),
        ("What is the house?", ["house", "inn"], "inn"),
        ("Who keeps the house?", ["in summer", "Mary"], "Mary"),
    ],
)
def test_the_short_answer_is_whole_words_of_the_right_kind(question: str, spans: list[str], short: str) -> None:
    page = "The page on the reader is docs/reader.md."
    text = f"{page} The house is an inn, the Blue-Anchor. It has beds for eleven, and in summer Mary keeps it."
    assert compose(question, text, *spans).short == short


@pytest.mark.parametrize("part", ["1", "£1", "494", "494.2", "2 million"])
def test_a_figure_is_whole(part: str) -> None:
    found = compose("How much oil is there?", "There is oil for £1,494.2 million.", part).short
    assert found == f"£1,494.2{' million' * (' ' in part)}"


@pytest.mark.parametrize(
    ("text", "span", "short"),
    [
        ("It was burned by the Order of Keepers (OK) at last.", "Order of Keepers (OK)", "Order of Keepers (OK)"),
        ("It was burned by the Order of Keepers (OK) at last.", "Order of Keepers (OK", "Order of Keepers (OK)"),
        ("It was burned by Gull (formerly Tern) House.", "Gull (formerly", "Gull"),
        ("It was burned by (the late) Ann Orme.", "(the late) Ann Orme", "(the late) Ann Orme"),
        ("It was burned by men (of the town).", "(of the town)", "of the town"),
        ('It was burned by the so-called "mad keeper".', 'so-called "mad keeper"', 'so-called "mad keeper"'),
        ('It was burned by the "mad keeper".', '"mad keeper"', "mad keeper"),
        ("It was burned in Seaford, D.C., at noon.", "Seaford, D.C", "Seaford, D.C."),
        ("It was burned by John Orme, Jr.", "John Orme, Jr.", "John Orme, Jr."),
        ("It was burned at Gull House.[12] Nobody paid.", "Gull House.[12", "Gull House"),
        ("It was burned at Gull House.[5]:12 Nobody paid.", "Gull House.[5]:12", "Gull House"),
        ("It was burned at Gull House.[citation needed] So.", "Gull House.[citation needed]", "Gull House"),
        ("It was burned at -20 °C.", "20", "-20"),
        ("It was burned for US$3 a piece.", "3 a piece", "US$3 a piece"),
        ("It was burned by 85% of them.", "85", "85%"),
        ("It was burned in 1311-20 of their years.", "20", "1311-20"),
    ],
)
def test_the_short_answer_has_all_that_belongs_to_it_and_no_more(text: str, span: str, short: str) -> None:
    found = compose("What was it burned by?", text, span)
    assert found.short == short
    assert short in found.citations[0].quote


def test_what_a_paper_refers_to_is_no_answer_but_to_who() -> None:
    text = "Keepers prefer lamps of oil (Wick and Orme, 2011)."
    assert compose("What do keepers prefer?", text, "Wick and Orme, 2011", "lamps").short == "lamps"
    assert (
        compose("Who found what keepers prefer?", text, "Wick and Orme, 2011", "lamps").short == "Wick and Orme, 2011"
    )


def test_marks_of_italics_are_no_part_of_the_short_answer() -> None:
    text = "_29 September, in the train to London._--When the letter came, he left."
    assert compose("Where did he travel?", text, "London").short == "London"


def test_the_number_of_an_item_is_no_part_of_the_short_answer() -> None:
    text = "It is done in steps.\n\n2. Wind the clock.\n\n3. Ring the bell."
    assert compose("What is done first?", text, "2. Wind the clock").short == "Wind the clock"
    assert compose("How many steps are there?", f"{text}\n\nThree steps it is.", "2", "Three").short == "Three"
    found = "It was said.\n\n3.16 Nine keepers saw the boat.\n\n3.5 million saw it."
    assert compose("How many keepers saw it?", found, "3.16", "Nine").short == "Nine"
    assert compose("How many keepers saw it?", found, "3.16 Nine").short == "Nine"
    assert compose("How many saw it?", found, "3.5 million").short == "3.5 million"
    assert compose("What did he write?", "He wrote 2) Wind it at noon.", "2) Wind it").short == "2) Wind it"


def test_a_span_that_goes_on_into_the_next_sentence_is_cut_without_marks() -> None:
    assert (
        compose("Whom did he call?", "He called, “Starbuck!”\n\n“Sir,” said he.", "Starbuck!”\n\n“Sir").short
        == "Starbuck"
    )


def test_a_sentence_of_the_questions_words_alone_does_not_explain() -> None:
    found = compose("How do I add a format?", "A format. Turn to the next page for it.", "page")
    assert found.short != "A format."


def test_why_is_answered_by_the_readers_clause() -> None:
    found = compose(
        "Why did he burn the boat?", "He burned the boat because its planks were rotten.", "because its planks"
    )
    assert (found.short, found.citations[0].quote) == ("because its planks", found.text)


@pytest.mark.parametrize(
    ("text", "span", "short"),
    [
        ("Anna could hear her running to and fro, as before.", "hear her running to", "hear her running to and fro"),
        ("He burned it because it was\nrotten. Nobody came.", "because it was", "because it was rotten"),
        ("He sang because he was not cold; it rained.", "because he was", "because he was not cold"),
        ("He burned the boat because its planks were rotten.", "because its planks", "because its planks"),
    ],
)
def test_a_clause_does_not_break_off(text: str, span: str, short: str) -> None:
    assert compose("Why did he do it?", text, span).short == short


@pytest.mark.parametrize(
    ("text", "span", "short"),
    [
        ("“I am confused,” said Ada, and sat down.", "confused,” said Ada", "confused"),
        ("'I am confused!' the old keeper answered.", "confused!' the old keeper", "confused"),
        ("She wore “The Gannet,” and “The Tern.”", "The Gannet,” and “The Tern", "The Gannet,” and “The Tern"),
        ("“No,” said Ada, and sat down.", "Ada, and sat", "Ada, and sat"),
    ],
)
def test_what_is_said_ends_before_who_says_it(text: str, span: str, short: str) -> None:
    assert compose("What is it?", text, span).short == short


def test_a_clause_that_repeats_the_question_comes_after_one_that_does_not() -> None:
    text = "The old garden was locked for years. They had buried the key of the garden."
    echo, other = "old garden was locked for years", "They had buried the key"
    found = compose("Why was the old garden locked?", text, echo, other)
    assert (found.short, found.citations[0].quote) == (other, text)
    assert compose("Why was the old garden locked?", text, echo).short == echo


def test_without_a_limit_five_sentences_in_about_ninety_words_are_quoted() -> None:
    long = "Mary keeps " + "one more lamp and " * 25 + "a house."
    keepers = [f"Keeper {name} keeps the {name} lamp." for name in ("Ada", "Bea", "Cay", "Dee", "Eve", "Fay")]
    text = " ".join([keepers[0], long, *keepers[1:]])
    spans = ["Ada", "Mary", "Bea", "Cay", "Dee", "Eve", "Fay"]
    assert compose("Who keeps a lamp?", text, *spans, limit=None).text == " ".join(keepers[:5])
    assert compose("Who keeps a lamp?", text, "Mary", limit=None).text == long
    assert compose("Who keeps a lamp?", text, *spans, limit=2).text == f"{keepers[0]} {long}"
    assert len(compose("Who keeps a lamp?", text, *spans, limit=7).text.split()) == len(text.split())


def test_beside_the_best_sentence_none_is_quoted_that_is_very_short_or_asks() -> None:
    text = "Mary keeps a lamp. It is Ada! Does Bea keep a lamp as well? A lamp is kept by Cay."
    spans = ["Mary", "Ada", "Bea", "Cay"]
    assert compose("Who keeps a lamp?", text, *spans, limit=None).text == "Mary keeps a lamp. A lamp is kept by Cay."
    assert compose("Who is it?", text, "Ada", limit=None).text == "It is Ada!"


def test_words_that_come_back_answer_before_a_better_span_that_does_not() -> None:
    text = (
        "Bea trimmed the lamp. Ada, they say, trimmed the lamp. The lamp was trimmed by Ada. Nobody saw who trimmed it."
    )
    found = compose("Who trimmed the lamp?", text, "Bea", "Ada,", "Ada.", "Nobody", limit=3)
    assert found.shorts[0].text == "Ada"
    alone = compose("Who trimmed the lamp?", text, "Bea", "Ada,", "Nobody", limit=3)
    assert [short.text for short in alone.shorts] == ["Bea", "Ada"]
    who = "Cay is a baker. Cay, some say, is a keeper. A keeper, says Cay."
    assert compose("Who is Cay?", who, "baker", "keeper.", "keeper,").short == "baker"  # what comes back says little
    assert compose("How was the lamp trimmed?", text, "Bea trimmed the lamp", "by Ada", "Ada.").short != "Ada"


def test_what_somebody_is_the_head_of_is_not_who_it_is() -> None:
    text = "Ada was the president of the Lamp Society of Carrow, and Bea went home."
    for question in ("Who is the president of France?", "Who was president of the society?"):
        for span in ("Lamp Society of Carrow", "Carrow"):
            assert compose(question, text, span, "Ada").short == "Ada"
    assert compose("Who was afraid of the president?", text, "Lamp Society", "Ada").short == "Lamp Society"


def compose_from(
    question: str, *passages: tuple[str, str, str, float], relevance: float = 3.0, facts: float = 0.0
) -> Answer:
    """The answer from passages, each with its book, its text, the words found in it and how the reader scores them."""
    hits = [
        Hit(level="passage", id=str(number), book_id=book, title="", author=None, source="", section=(),
            section_id=None, start=0, end=len(text), page=None, score=1.0, text=text, metadata={})
        for number, (book, text, _, _) in enumerate(passages)
    ]  # fmt: skip
    readings = [
        Reading(relevance=relevance, no_answer_score=0.0,
                spans=(AnswerSpan(start=text.index(span), end=text.index(span) + len(span), score=score),))
        for _, text, span, score in passages
    ]  # fmt: skip
    return compose_answer(
        SearchResult(request=SearchRequest(query=question), hits=tuple(hits), readings=tuple(readings), facts=facts),
        limit=3,
    )


def test_words_that_stand_in_more_passages_answer_before_a_better_span() -> None:
    once = ("a", "Bea trimmed it, they say.", "Bea", 6.0)
    more = [("a", "It was trimmed by Ada Hill.", "Ada Hill", 5.0), ("a", "Ada was at the quay.", "quay", 0.0),
            ("a", "The quay was wet, and Ada sang.", "sang", 0.0)]  # fmt: skip
    assert compose_from("Who trimmed the lamp?", once, *more).short == "Ada Hill"
    assert compose_from("Who trimmed the lamp?", once, more[0]).short == "Bea"
    assert compose_from("Who trimmed the lamp?", once, *more, facts=1.0).short == "Bea"  # as in articles
    keeper = [
        ("a", "It was Cay, the keeper of lamps.", "keeper", 5.0),
        ("a", "The keeper was at the quay.", "quay", 0.0),
        ("a", "The quay was wet, and a keeper sang.", "sang", 0.0),
    ]
    baker = ("a", "Cay is a baker, they say.", "baker", 6.0)
    assert compose_from("Who is Cay?", baker, *keeper).short == "baker"  # what comes back says little


def test_a_shorter_form_of_a_name_counts_in_part() -> None:
    cay = ("a", "Cay trimmed it, they say.", "Cay", 5.2)
    full = ("b", "It was trimmed by Ada Hill.", "Ada Hill", 4.0)
    assert compose_from("Who trimmed the lamp?", cay, full).short == "Cay"
    found = compose_from("Who trimmed the lamp?", cay, full, ("c", "The keeper was Ada.", "Ada", 3.5))
    assert found.short == "Ada Hill"


def test_words_that_several_passages_say_are_trusted_more() -> None:
    once = ("a", "The lamp was trimmed by Ada.", "Ada", 6.0)
    assert compose_from("Who trimmed the lamp?", once).confidence == "unsure"
    others = [(book, f"Ada trimmed the lamp, says {book}.", "Ada", 6.0) for book in "bcd"]
    assert compose_from("Who trimmed the lamp?", once, *others).confidence == "sure"


def test_an_answer_with_a_lead_is_trusted_more() -> None:
    ada = ("a", "The lamp was trimmed by Ada.", "Ada", 9.0)
    close, far = [("a", "Bea trimmed it, they say.", "Bea", score) for score in (8.0, 0.0)]
    assert compose_from("Who trimmed the lamp?", ada, close).confidence == "unsure"
    assert compose_from("Who trimmed the lamp?", ada, far).confidence == "likely"


def test_an_answer_is_trusted_less_where_all_passages_seem_to_answer() -> None:
    ada, bea = ("a", "The lamp was trimmed by Ada.", "Ada", 10.0), ("a", "Bea trimmed it, they say.", "Bea", 0.0)
    marks = [compose_from("Who trimmed the lamp?", ada, bea, relevance=each).confidence for each in (0.0, 3.0, 6.0)]
    assert marks == ["sure", "likely", "unsure"]


def test_a_name_that_no_sentence_with_the_questions_words_has_is_trusted_less() -> None:
    said = [(book, f"“Who has locked the gate?” said Ada in {book}.", "Ada", 8.0) for book in "abcd"]
    assert compose_from("Who locked the gate?", *said).confidence == "likely"  # she only speaks
    assert compose_from("Who said that the gate was locked?", *said).confidence == "sure"
    before = [(book, f"Ada said to {book}, “You have locked the gate.”", "Ada", 8.0) for book in "abcd"]
    assert compose_from("Who locked the gate?", *before).confidence == "likely"
    away = [(book, f"Ada was at {book}. Nobody had locked the gate.", "Ada", 8.0) for book in "abcd"]
    assert compose_from("Who locked the gate?", *away).confidence == "likely"
    did = ("e", "Ada locked the gate.", "Ada", 8.0)
    assert compose_from("Who locked the gate?", *away[:3], did).confidence == "sure"


def test_the_book_of_most_passages_answers_before_a_better_span() -> None:
    other = ("b", "Bea trimmed it, they say.", "Bea", 6.0)
    same = [("a", "It was trimmed by Ada.", "Ada", 5.0), ("a", "The boat was green.", "green", 0.0)]
    assert compose_from("Who trimmed the lamp?", other, *same).short == "Ada"
    assert compose_from("Who trimmed the lamp?", other, same[0]).short == "Bea"


def test_yes_or_no_is_left_to_the_sentences_that_the_reader_finds() -> None:
    text = "Is the lamp of Skerry lit at night? The lamp of Skerry is old. It burns from dusk to dawn."
    found = compose("Is the lamp of Skerry lit at night?", text, "from dusk to dawn", limit=1)
    assert (found.short, found.text, found.confidence) == (None, "It burns from dusk to dawn.", "unsure")
    assert found.citations[0].answer is None
    assert compose("Is the lamp of Skerry lit at night?", text, limit=1).text == "The lamp of Skerry is old."


def test_an_answer_ends_with_its_item_of_a_synopsis() -> None:
    text = "A storm.--The mate is lost.--We reach Dunmore."
    found = compose("What happens in the storm?", text, "The mate is lost.--We reach Dunmore", limit=1)
    assert [each.text for each in found.shorts] == ["The mate is lost"]
