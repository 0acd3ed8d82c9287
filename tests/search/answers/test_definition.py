"""What a term means, by the sentence that explains it."""

from __future__ import annotations

from itertools import pairwise
from pathlib import Path

import pytest

from nlb_retriever import Retriever, book_from_text, index_books
from nlb_retriever.search.answers.definition import answer_definition, read_term_question
from nlb_retriever.search.question import as_question
from nlb_retriever.search.request import SearchRequest
from nlb_retriever.store import Condition

TEXTS = {
    "Society": """\
CHAPTER I.

Norms, norms, norms: the students hear of norms all day. Norms change, and some norms are old. The norms of the village
were kept by everybody. What is a norm? Nobody asks.

CHAPTER II.

The teacher wrote on the board. A norm is a rule of conduct that the members of a group share. Then she spoke of other
things until the bell rang.

CHAPTER III.

The lesson was on the Lamp Act, which taxed lamps and candles in 1765. Prejudice refers to what people think of a group
before they know it.
""",
    "Music": """\
1 Terms

1.1 accent

ES: acento, I: accento, F: accent, D: Akzent.

The stress of one tone over others. It is marked.

1.2 fermata

ES: calderon, I: corona, F: point, D: Fermate.

Prolonged note or rest of indefinite duration. It stands over a note.

1.3 What is a glissando?

Let the pitch slide fluently from one note to the other. A harp does it well.

1.4 portato

Between legato and staccato. It is rare.
""",
    "Words": """\
Lexicon

:kludge: /kluj/, n.

[common] (also: kluge) A machine of parts that do not fit. Nobody likes it.

:lamer: n.

[from a game]

1. n. Somebody who breaks the lamps of others. 2. A lamp that is broken. The lamer is a friend to none.

:mung: vt.

1. To make changes that cannot be undone.

dangling lamp
A lamp that hangs from one wire.

lantern

The lamp of a ship, as sailors have it.
""",
    "Carpentry": "In the workshop, a norm is a measure of boards. Joints are glued, and the glue dries in an hour.",
}


@pytest.fixture(scope="module")
def retriever(tmp_path_factory: pytest.TempPathFactory) -> Retriever:
    library = tmp_path_factory.mktemp("definition") / "library"
    index_books([book_from_text(text, source=title, title=title) for title, text in TEXTS.items()], library)
    return Retriever(library)


@pytest.mark.parametrize(
    ("question", "book", "short"),
    [
        ("What is a norm?", "Society", "a rule of conduct that the members of a group share"),
        ("What is a fermata?", "Music", "Prolonged note or rest of indefinite duration."),
        ("What is a glissando?", "Music", "Let the pitch slide fluently from one note to the other."),
        ("what are norms", "Society", "a rule of conduct that the members of a group share"),
        ("Define norm", "Society", "a rule of conduct that the members of a group share"),
        ("What does “norm” mean?", "Society", "a rule of conduct that the members of a group share"),
        ("What is meant by a norm?", "Society", "a rule of conduct that the members of a group share"),
        ("How is a norm defined?", "Society", "a rule of conduct that the members of a group share"),
        ("How does the author define a norm?", "Society", "a rule of conduct that the members of a group share"),
        ("What does the author mean by a norm?", "Society", "a rule of conduct that the members of a group share"),
        ("What is the meaning of prejudice?", "Society", "what people think of a group before they know it"),
        ("What was the Lamp Act?", "Society", "taxed lamps and candles in 1765"),
        ("whats a norm", "Carpentry", "a measure of boards"),
        ("What is a kludge?", "Words", "A machine of parts that do not fit."),
        ("What is a lamer?", "Words", "Somebody who breaks the lamps of others."),
        ("What does mung mean?", "Words", "To make changes that cannot be undone."),
        ("What is a dangling lamp?", "Words", "A lamp that hangs from one wire"),
        ("What is a lantern?", "Words", "The lamp of a ship, as sailors have it."),
    ],
)
def test_a_sentence_says_what_a_term_means(retriever: Retriever, question: str, book: str, short: str) -> None:
    answer = retriever.answer(question, book=book)
    assert (answer.question, answer.found, answer.short) == (question, True, short)
    cited = answer.citations[answer.shorts[0].citation]
    assert cited.answer is not None
    assert " ".join(TEXTS[book][slice(*cited.answer)].split()) == short
    assert cited.quote_start <= cited.answer[0] < cited.answer[1] <= cited.quote_end
    assert TEXTS[book][cited.quote_start : cited.quote_end] == cited.quote


@pytest.mark.parametrize(
    "question",
    [
        "What is the difference between a norm and prejudice?",
        "difference between norms and the prejudice",
        "How does a norm differ from prejudice?",
        "How do norms and prejudice differ?",
        "Compare norms with prejudice.",
    ],
)
def test_how_two_terms_differ_is_told_by_a_sentence_on_each(retriever: Retriever, question: str) -> None:
    answer = retriever.answer(question, book="Society")
    assert (answer.question, answer.shorts) == (question, ())
    assert [citation.quote for citation in answer.citations[:2]] == [
        "A norm is a rule of conduct that the members of a group share.",
        "Prejudice refers to what people think of a group\nbefore they know it.",
    ]


LICENCE = """\
The "Bell Source" for a work in any form means all the ropes that are needed to ring it. Bell Source conveyed in accord
with this section must be in a format that is documented. A "Tower Product" is either (1) a clock, which tells the hour,
or (2) anything that is sold for a tower. "Ringer" shall mean whoever rings a bell under this licence. Each Ringer
hereby grants to You a rope. To "toll" a bell means to ring it so that one stroke follows the other slowly. A baker is a
man who bakes.
"""


@pytest.mark.parametrize(
    ("question", "short"),
    [
        ("What is Bell Source?", "all the ropes that are needed to ring it"),
        ("define bell source", "all the ropes that are needed to ring it"),
        (
            "What is a Tower Product?",
            "either (1) a clock, which tells the hour, or (2) anything that is sold for a tower",
        ),
        ("Who is a Ringer?", "whoever rings a bell under this licence"),
        ('What does "toll" mean?', "to ring it so that one stroke follows the other slowly"),
        ("Who is a clock?", None),
    ],
)
def test_a_law_puts_its_terms_in_quotation_marks(tmp_path: Path, question: str, short: str | None) -> None:
    index_books([book_from_text(LICENCE, source="licence", title="Licence")], tmp_path / "library")
    with Retriever(tmp_path / "library") as retriever:
        request = SearchRequest(query=question)
        answer = answer_definition(request, retriever.store, lambda: retriever.reader)
    assert (answer and (answer.short, answer.confidence)) == (short and (short, "sure"))


def test_a_sentence_on_both_terms_comes_first(tmp_path: Path) -> None:
    text = "A norm is a rule that all keep. It rained. While a law is a written rule, a norm is a rule by custom."
    index_books([book_from_text(text, source="a", title="Rules")], tmp_path / "library")
    with Retriever(tmp_path / "library") as retriever:
        answer = retriever.answer("What is the difference between a law and a norm?")
    assert answer.citations[0].quote == "While a law is a written rule, a norm is a rule by custom."


def test_where_one_term_is_explained_nowhere_the_question_is_as_others(retriever: Retriever) -> None:
    assert "conduct" not in retriever.answer("Compare norms and workshops", book="Carpentry").text


def test_a_definition_is_trusted(retriever: Retriever) -> None:
    assert retriever.answer("What is a norm?", book="Society").confidence == "sure"
    assert retriever.answer("What is the norm?", book="Society").confidence == "likely"  # perhaps one of the story


def test_only_what_is_in_the_scope_is_looked_through(retriever: Retriever) -> None:
    assert "conduct" not in retriever.answer("What is a norm?", book="Society", before="CHAPTER II.").text
    assert "conduct" not in retriever.answer("What is a norm?", where=Condition("title", "ne", "Society")).text
    assert "conduct" in retriever.answer("What is a norm?", book="Society", section="CHAPTER II.").text


def test_no_more_sentences_are_quoted_than_wanted(retriever: Retriever) -> None:
    answer = retriever.answer("What is a norm?", limit=1)
    assert len(answer.citations) == 1
    assert answer.short


def test_all_passages_are_quoted_as_for_other_questions(retriever: Retriever) -> None:
    assert retriever.answer("What is a norm?", all_passages=True).shorts == ()


def test_a_term_that_nothing_explains_is_answered_as_other_questions_are(retriever: Retriever) -> None:
    answer = retriever.answer("What is a workshop?", book="Carpentry")
    assert answer.confidence in {None, "unsure"}
    assert not retriever.answer("What is photosynthesis?").found


def test_a_term_in_another_spelling_is_found(retriever: Retriever) -> None:
    answer = retriever.answer("What is prejudise?", book="Society")
    assert (answer.searched, answer.short) == ("What is Prejudice?", "what people think of a group before they know it")


def test_without_a_reader_sentences_are_quoted(retriever: Retriever, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Retriever, "has_reader", False)
    assert retriever.answer("What is a norm?", book="Society").shorts == ()


@pytest.mark.parametrize(
    ("question", "term", "meaning"),
    [
        ("What is a norm?", "norm", True),
        ("What's ethnocentrism", "ethnocentrism", True),
        ("Please define the term “norm”.", "norm", True),
        ("Explain what a norm is", "norm", True),
        ("What is the veil of ignorance?", "veil of ignorance", False),
        ("What does the New Deal mean?", "New Deal", True),
        ("What was the New Deal?", "New Deal", False),
        ("What is the capital of Mongolia?", "capital of Mongolia", False),
        ("What is Anna's profession?", "Anna's profession", False),
        ("What is his name?", None, False),
        ("What is it?", None, False),
        ("What is C++?", None, False),
        ("What is --before?", None, False),
        ("What did he say?", None, False),
        ("Who is Anna?", None, False),
    ],
)
def test_questions_for_a_term(question: str, term: str | None, meaning: bool) -> None:
    found = read_term_question(as_question(question))
    assert (found and found.terms[0], bool(found and found.asks_for_meaning)) == (term, meaning)


def test_an_entry_that_passages_cut_is_read_on(tmp_path: Path) -> None:
    story = "The kludge was sold, and the kludge was bought again. " * 3
    meaning = "A machine of parts that do not fit. A kludge is a thing that is mended with tape."
    entry = f"{story}\n\n:kludge: n.\n\n{meaning} {story * 9}"
    texts = {str(before): f"{'The boy ran home. ' * before}{entry}" for before in range(0, 60, 6)}
    index_books([book_from_text(text, source=name, title=name) for name, text in texts.items()], tmp_path / "library")
    with Retriever(tmp_path / "library") as retriever:
        books = {book.source: book for book in retriever.store.books()}
        cut = 0
        for name, text in texts.items():
            answer = retriever.answer("What is a kludge?", book=books[name].id)
            assert (answer.short, answer.confidence) == ("A machine of parts that do not fit.", "sure")
            assert text[answer.citations[0].quote_start : answer.citations[0].quote_end] == answer.citations[0].quote
            quotes = sorted((each.quote_start, each.quote_end) for each in answer.citations)
            assert all(before[1] <= after[0] for before, after in pairwise(quotes))
            cut += any(each.text.endswith(":kludge: n.") for each in retriever.store.passages(books[name].id))
    assert cut


@pytest.mark.parametrize(
    ("question", "short"),
    [
        ("What is a bell?", "anything of metal that is rung"),
        ("What is a keeper?", "a person appointed under section 9"),
        ("What is a keeper under the Lamp Act?", "a person appointed under section 9"),
    ],
)
def test_a_law_defines_several_terms_in_one_sentence(tmp_path: Path, question: str, short: str) -> None:
    bell, keeper = (
        '"bell" includes anything of metal that is rung;',
        '"keeper" means a person appointed under section 9;',
    )
    many = "The keeper shall ring a bell, and the keeper shall tell the keeper of the other bell of each bell.\n\n" * 3
    index_books(
        [book_from_text(f"{many}In this Act—\n{bell}\n{keeper}", source="act", title="Lamp Act")], tmp_path / "library"
    )
    with Retriever(tmp_path / "library") as retriever:
        assert retriever.answer(question).short == short
