"""What kind of answer a question asks for."""

from __future__ import annotations

import pytest

from nlb_retriever.search.forms import LONGEST
from nlb_retriever.search.question import (
    MOST_WORDS,
    Kind,
    as_question,
    asks_about_name,
    fits,
    is_statement,
    kind_of,
    restore_capitals,
)


@pytest.mark.parametrize(
    ("question", "kind"),
    [
        ("What song do they sing?", "words"),
        ("In what town do the sisters live?", "words"),
        ("What tricks do the dogs do?", "clause"),
        ("What didn't he do?", "clause"),
        ("What does one have to do?", "clause"),
        ("Who hunts the whale?", "words"),
        ("In which year did the bridge fall", "words"),
        ("How many coins did he pay?", "words"),
        ("How did the princess feel when the frog came?", "words"),
        ("How old is the keeper?", "words"),
        ("Why did he burn the boat?", "clause"),
        ("How did he cross the river?", "clause"),
        ("What did the keeper do with the oil?", "clause"),
        ("What do the men say?", "words"),
        ("What happened to the boat?", "clause"),
        ("How do I write a test?", "sentences"),
        ("how to bake bread", "sentences"),
        ("What are the steps to bake bread?", "sentences"),
        ("What is the usual procedure for baking bread?", "sentences"),
        ("What are the steps to the cellar made of?", "words"),
        ("What is the process of baking called?", "words"),
        ("When may I sell the bread?", "sentences"),
        ("When may the baker sell the bread?", "words"),
        ("What is the difference between rye and wheat?", "sentences"),
        ("How does rye differ from wheat?", "sentences"),
        ("How many loaves do I bake?", "words"),
        ("How did one of the men die?", "clause"),
        ("How did you escape?", "clause"),
        ("How do we know that Ahab lost his leg?", "clause"),
        ("What difference did it make?", "words"),
        ("Did the keeper sleep?", "yes or no"),
        ("the white whale", None),
        ("???", None),
        ("Who?", None),
        ("Wer hat das Boot gebaut?", None),
        ("who " * 5000, None),
    ],
)
def test_a_question_asks_for_words_or_a_clause_or_is_none(question: str, kind: Kind | None) -> None:
    assert kind_of(question) == kind


@pytest.mark.parametrize(
    ("query", "question"),
    [
        ("The keeper lost his ____.", "The keeper lost his what."),
        ("When the storm came, the keeper lost his _____", "When the storm came, the keeper lost his what?"),
        ("who is the keeper", "who is the keeper?"),
        ("Is he the keeper", "Is he the keeper?"),
        ("The keeper of the lamp is called:", "The keeper of the lamp is called what?"),
        ("Which of these is the keeper:", "Which of these is the keeper:"),
        ("Der Leuchtturm heißt ____.", "Der Leuchtturm heißt ____."),
        ("the keeper: a life", "the keeper: a life"),
    ],
)
def test_what_a_statement_leaves_open_is_asked_for(query: str, question: str) -> None:
    assert as_question(query) == question


@pytest.mark.parametrize(
    ("query", "question"),
    [
        ("When the keeper died, who took the lamp?", "Who took the lamp when the keeper died?"),
        ("After Wick, who was old, died, to whom did it fall??", "To whom did it fall after Wick, who was old, died?"),
        ("Of the lamps, which was lit?", "Which was lit of the lamps?"),
        ("After the storm, when did he leave?", "When did he leave after the storm?"),
        ("Before the storm, was he happy?", "Was he happy before the storm?"),
        ("When did Wick, who was old, die?", "When did Wick, who was old, die?"),
        ("In which year, when he was old, did he die?", "In which year, when he was old, did he die?"),
        ("In Faro, where he lives, he keeps a lamp", "In Faro, where he lives, he keeps a lamp"),
        ("In the tale, what happens?", "What happens in the tale?"),
    ],
)
def test_a_clause_before_what_is_asked_goes_to_the_end(query: str, question: str) -> None:
    assert as_question(query) == question


@pytest.mark.parametrize(
    ("query", "question"),
    [
        ("Whose lamp is it?", "Whose lamp is it?"),
        ("Name the keeper of the lamp.", "Who is the keeper of the lamp?"),
        ("Name the ship of the keeper", "What is the ship of the keeper?"),
        ("who chaired the inquiry", "who was the chair of the inquiry?"),
        ("Who chaired?", "Who chaired?"),
        ("Define ambergris.", "What is ambergris?"),
        ("define the term “gam”", "What is “gam”?"),
        ("please name two friends of Jonas", "Who is two friends of Jonas?"),
        ("Give me the name of the ship", "What is the name of the ship?"),
        ("Name of the ship", "Name of the ship"),
        ("name day customs", "name day customs"),
    ],
)
def test_short_forms_and_orders_are_questions(query: str, question: str) -> None:
    assert as_question(query) == question
    assert (kind_of(as_question(query)) == "words") == (question.lower().startswith("wh"))


def test_small_letters_get_the_capitals_that_the_passages_have() -> None:
    texts = ["Mina Harker slept.", "Then Mina woke; Harker and the keeper, too.", "The Keeper and a Keeper."]
    assert restore_capitals("who is mina harker, the keeper's wife?", texts) == "who is Mina Harker, the keeper's wife?"
    assert restore_capitals("who is the keeper?", texts) == "who is the keeper?"
    assert restore_capitals("Who is mina?", texts) == "Who is mina?"
    assert restore_capitals("who is mina?", texts[:1]) == "who is mina?"
    assert restore_capitals("who is mrs. harker?", texts) == "who is Mrs. Harker?"
    assert restore_capitals("", texts) == ""


def test_a_page_of_text_is_no_question() -> None:
    assert kind_of("What " + "is it " * MOST_WORDS) is None


@pytest.mark.parametrize("words", ["When a, " + "who a, " * LONGEST + "who?", f"Who is A{'.' * LONGEST}!"])
def test_what_has_few_words_and_many_characters_is_no_question(words: str) -> None:
    assert (as_question(words), kind_of(words)) == (words, None)
    assert not is_statement(f"the {words[8:]}")


@pytest.mark.parametrize(
    ("question", "answer", "can_be"),
    [
        ("How many coins did he pay?", "twelve silver coins", True),
        ("How many coins did he pay?", "12", True),
        ("How many coins did he pay?", "silver", False),
        ("How many coins did he pay?", "thousands of years", False),
        ("How many coins did he pay?", "3 weeks ago", False),
        ("How many coins did he pay?", "three a day", True),
        ("How many winters did he row?", "three years", True),
        ("Who rowed across the river?", "Jonas Wick", True),
        ("Who rowed across the river?", "by the ferryman", True),
        ("Who rowed across the river?", "on Sundays", False),
        ("Who rowed across the river?", "my dear sir", False),
        ("Who rowed across the river?", "Sir Otto", True),
        ("What was the ferryman's name?", "the ferryman", False),
        ("Was it Jonas or Margaret who rowed?", "Jonas", True),
        ("Where is the river?", "on Sundays", True),
        ("Where was she born?", "a Serbian", False),
        ("Where was she born?", "Serbian hills", True),
        ("What did the sign say?", "Ω", True),
        ("How old is Mary?", "a little girl", False),
        ("How old is Mary?", "ten", True),
        ("What is the population of Brazil?", "second-largest producer of soybeans", False),
        ("What is the population of Brazil?", "203 million", True),
        ("What was the average length of the river?", "five inches", True),
        ("What was the average length of the river?", "the Rhine", False),
        ("What's the speed?", "fifty", True),
        ("What is the area of Dunmore?", "enlargement", False),
        ("What is the area of the Marrow?", "12 acres", True),
        ("What is the area of study?", "the sea", True),
        ("What is the boiling point of pitch?", "high", False),
        ("What is happening to the number of schools?", "shrinking", True),
        ("What is the height of folly?", "love at 60", True),
        ("How old is Mary?", "in her teens", True),
        ("At what age did she sail?", "when her father died", False),
        ("In which year did she sail?", "1847", True),
        ("What year did she sail in?", "the spring", False),
        ("When did she sail?", "first", False),
        ("When did she sail?", "when the moon rose", True),
        ("When does the law end?", "5.1 or 5.2", False),
        ("When does the law end?", "under Sections 2 and 3 above", False),
        ("When does the law end?", "under section 5, when the keeper dies", True),
        ("When did she sail?", "5.30 or 6", True),
        ("What does the law name?", "5.1 or 5.2", True),
        ("When did she sail?", "1847", True),
        ("What color is the whale?", "the sea", False),
        ("What colour are the flowers?", "pale blue", True),
        ("What is the quorum?", "§4.2", False),
        ("What is apt pinning?", "Section 2.7.3", False),
        ("Which section is on quorums?", "Section 4.2(1)", True),
        ("Where is that said?", "§ A.5", True),
        ("What is the quorum?", "half of section 4", True),
        ("How old", "ten", True),
        ("What", "ten", True),
        ("Who is Mary Lennox?", "Colin Craven", False),
        ("Who is Mary Lennox?", "Colin's cousin", True),
        ("Who is the Duke of Dorset?", "Tanville-Tankerton", True),
        ("How old is Lydia?", "one old man", False),
        ("How old is Lydia?", "one year", True),
        ("How old is Lydia?", "sixteen", True),
        ("How long did he stay?", "to-day", False),
        ("How long did he stay?", "all the day", True),
        ("How long did he stay?", "till she came home", True),
        ("How long did he stay?", "two", True),
        ("How long is the boat?", "as the oak", False),
        ("How long is the boat?", "many yards", True),
        ("How large is the sum?", "the largest", False),
        ("How large is the sum?", "largest sum of all", True),
        ("How long is it?", "longer", False),
        ("How often does he sneeze?", "violently", False),
        ("How often does he sneeze?", "stopped for a moment", False),
        ("How often does he sneeze?", "every morning", True),
        ("What is the name of the ship?", "white box", False),
        ("What is the name of the ship?", "Gannet", True),
        ("what is the name of the ship?", "gannet", True),
        ("What is the keeper's name?", "old man", False),
        ("What is the keeper's name?", "Ada", True),
        ("What is Mr. Wick's boat called?", "two pounds a year", False),
        ("What is Mr. Wick's boat called?", "Gannet", True),
        ("What is the gannet's cry called?", "croak", True),
        ("What is the name of the green pigment?", "chlorophyll", True),
        ("Who is taller, Lydia or Jane?", "Elizabeth", False),
        ("Who is taller, Lydia or Jane?", "Jane Bennet", True),
        ("Who is taller, Lydia or Jane?", "Lydia or Jane", False),
        ("Who is taller, the smith or the miller?", "miller", True),
        ("Who came in, or went out?", "Jane", True),
    ],
)
def test_an_answer_of_the_wrong_kind_is_told_from_others(question: str, answer: str, can_be: bool) -> None:
    assert fits(question, answer) == can_be


@pytest.mark.parametrize(
    ("question", "name"),
    [
        ("Who is Mary Lennox?", True),
        ("what was La Grande Bretèche", True),
        ("Who is the Duke of Dorset?", True),
        ("Who are the Morlocks?", True),
        ("Who is Mr. Darcy?", True),
        ("Who is the captain of the Pequod?", False),
        ("Who is hunting the white whale?", False),
        ("Who is Mary's uncle?", False),
        ("Who is Sally's Boyfriend?", False),
        ("Who is Miles O'Brien?", True),
        ("Who does Mr. Darcy marry?", False),
        ("Where is London?", False),
    ],
)
def test_who_a_name_is(question: str, name: bool) -> None:
    assert asks_about_name(question) == name
