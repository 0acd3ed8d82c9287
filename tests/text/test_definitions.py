"""Sentences that explain a term, and which words do."""

from __future__ import annotations

import re

import pytest

from nlb_retriever.text.definitions import LONGEST, Term, is_term, skip_labels, trim


def explained(term: str, sentence: str) -> str | None:
    found = Term(term).explain(sentence)
    return sentence[found.start : found.end] if found and found.exact else None


@pytest.mark.parametrize(
    ("term", "sentence"),
    [
        ("norm", "A norm is [a rule that people follow]."),
        ("norm", "Norms are [the visible and invisible rules of conduct]."),
        ("theory", "Theories are [any statements on facts, tested]."),
        ("fly", "Flies are [the smallest guests of the house]."),
        ("class", "Classes are [any groups of equal wealth]."),
        ("gas", "A gas is [a body that fills its vessel]."),
        ("anomie", "Anomie—literally, “without law”—is [a state of society without rules]."),
        ("CSR", "Today, CSR (in short) is [the practice of doing good]."),
        ("IT", "And IT means [all that is done with computers]."),
        ("ethnocentrism", "Ethnocentrism, as Sumner described it, means [judging by one’s own culture]."),
        ("code-switching", "In short, code switching refers to [changes of language]."),
        ("existentialism", "Existentialism can be defined as [a philosophy of freedom]."),
        ("animism", "They are classed as animism, [a view in which all things have a soul]."),
        ("skepticism", "Hence philosophical skepticism—[the view that nothing is known]."),
        ("hidden curriculum", "It is in the hidden curriculum, which refers to [what is learned beside lessons]."),
        ("metaphysics", "They write on metaphysics ([the study of what is])."),
        ("next-level encoder", "They come from a next-level encoder (NextLevelBERT): [a model over vectors]."),
        ("dyad", "He wrote on the dyad, or [two-member group], in 1908."),
        ("insider trading", "[The buying of stocks on what few know] is often called insider trading."),
        ("Slow Choice", "[The keeping of what lasts and the loss of what does not], I have called Slow Choice."),
        ("gam", "- **Gam**: [a meeting of two ships]; they send boats."),
        ("Stamp Act", "The Stamp Act [imposed a tax on paper]."),
        ("Licensor", '(b) "Licensor" shall mean [whoever grants the licence].'),
        ("Covered Code", "1.3. ''Covered Code'' means [the code and its changes]."),
        ("Buyer", "“Buyer” (or “Buyers”) means [who buys]."),
        ("exogamy", "It is racial exogamy (exogamy refers to [marriage outside of a group])."),
        ("norm", "A _norm_ is [a rule that people follow]."),
        ("norm", "[Every rule that people follow] is called a '=norm=.'"),
        ("googly", "The usual definition of a ‘googly’ is [a ball that turns the other way]."),
    ],
)
def test_the_words_that_explain_a_term(term: str, sentence: str) -> None:
    before, says, after = re.split(r"[\[\]]", sentence)
    assert explained(term, f"{before}{says}{after}") == says


@pytest.mark.parametrize(
    ("term", "sentence"),
    [
        ("norm", "The norm changed in spring."),
        ("norm", "Norman is a boy who laughs."),
        ("norm", "They asked whether the norm was followed."),
        ("ethnocentrism", "He wrote of ethnocentrism and its many forms."),
        ("IT", "It is a long way to the sea."),
        ("Dust Bowl", "The Dust Bowl: An Agricultural and Social History."),
        ("reader", "It was read with the reader (the one of last year)."),
        ("passage", "Borders between passages: an average of words."),
        ("workshop", "In the workshop, a norm is a measure of boards."),
        ("culture", "Culture is not easy."),
        ("syncretism", "This is common and is called syncretism."),
        ("trait object", "The third case is known as a trait object."),
        ("iterator", "All iterators implement a trait named Iterator."),
        ("googly", "Nobody knew why this ball was called a ‘googly.’"),
    ],
)
def test_other_sentences_explain_nothing(term: str, sentence: str) -> None:
    assert explained(term, sentence) is None


def test_a_term_of_a_glossary_may_be_in_italics() -> None:
    assert Term("norm").glossed("_norm_, a rule of conduct\n") == [(0, 25, 0)]
    assert Term("norm").is_in("The _norm_ is old.") and not Term("norm").is_in("The _normal_ is old.")


def test_what_is_called_so_stands_before_it() -> None:
    sentence = "Marshall proposed the Recovery Program, popularly known as the Marshall Plan."
    found = Term("Marshall Plan").explain(sentence)
    assert found
    assert (found.exact, sentence[: found.end]) == (False, "Marshall proposed the Recovery Program, popularly ")


def test_a_kind_of_thing_that_is_narrowed_down_is_stronger() -> None:
    def strength(sentence: str) -> float:
        found = Term("norm").explain(sentence)
        assert found
        return found.strength

    narrow, plain = strength("A norm is a rule that all keep."), strength("A norm is a rule.")
    assert narrow > plain > strength("A norm is a key concept.")
    assert plain > strength("They say that a norm is a rule.") > strength("The law norm (a rule) is old.")


def test_a_long_explanation_ends_at_a_comma() -> None:
    said = explained("norm", f"A norm is a rule that all keep, {'and keep again ' * 12}as they are told.")
    assert said == "a rule that all keep"
    assert explained("norm", f"A norm is a rule {'that all keep ' * 12}") is not None


@pytest.mark.parametrize(
    "text", ["a", "norm", "veil of ignorance", "Plato's cave", "code-switching", "fourth dimension"]
)
def test_terms(text: str) -> None:
    assert is_term(text)
    assert Term(text).explain("Nothing is said here.") is None


@pytest.mark.parametrize("text", ["", "C++", "--before", "his name", "it", "one two three four five six seven", "a, b"])
def test_what_is_no_term(text: str) -> None:
    assert not is_term(text)
    with pytest.raises(ValueError, match="is no term"):
        Term(text)


def test_long_sentences_are_left_out_and_hostile_ones_take_no_time() -> None:
    norm = Term("norm")
    assert norm.explain("A norm is a rule " + "that all keep " * LONGEST) is None
    for piece in ("a norm, ", "norm is ", "norm (", "is called a ", "— ", "which that "):
        norm.explain((piece * LONGEST)[:LONGEST])


def test_what_follows_from_a_term_does_not_explain_it() -> None:
    assert Term("norm").explain("There are two runs at norms, meaning that you get another chance.") is None
    said = Term("norm").explain("They speak of norms, meaning the rules of a group.")
    assert said is not None and said.strength >= 2


def test_a_gap_in_a_line_takes_no_time() -> None:
    assert Term("norm").explain(f"1.{' ' * 900}and so on, as of a norm") is None
    said = Term("norm").explain(f"1.{' ' * 900}A rule of conduct is called a norm.")
    assert said is not None and said.strength >= 2


@pytest.mark.parametrize(
    ("text", "inner"),
    [
        ("a rule (of old).", "a rule (of old)"),
        ("a rule (of", "a rule"),
        ("a rule) of", "a rule"),
        ("the “New", "the"),
        (" — a rule, ", "a rule"),
    ],
)
def test_trim(text: str, inner: str) -> None:
    start, end = trim(text, 0, len(text))
    assert text[start:end] == inner


@pytest.mark.parametrize(
    ("line", "has_label"),
    [
        ("   :norm: n.", True),
        (":norm: /norm/", True),
        ("NORM, n. A rule.", True),
        ("norms, n.pl. Rules.", True),
        ("Norm \\Norm\\ (n[^o]rm), n. [L. norma.]", True),
        ('Norm \\Norm\\ (n[^o]rm), Norma \\Nor"ma\\\n   (-m[.a]), n. [L. norma.]', True),
        ("NORM\nNorm, n. Etym: [L. norma.]", True),
        ("norm", False),
        ("**Norm**", False),
    ],
)
def test_a_line_of_its_own_begins_an_entry(line: str, has_label: bool) -> None:
    found = Term("norm").entries(f"It ends.\n\n{line}\n\nA rule.")
    assert [label for _, label in found] == [has_label]


@pytest.mark.parametrize(
    "line",
    [
        "the norm",
        "norm of the land",
        "abnorm, n.",
        "norm 5",
        "What is a norm?",
        "norm {",
        "int x = 5;\n// norm",
        *("* Norm.", "--norm", "- norm"),
    ],
)
def test_a_line_with_more_begins_none(line: str) -> None:
    assert Term("norm").entries(f"It ends.\n\n{line}\n\nA rule.") == []


@pytest.mark.parametrize(
    ("text", "rest"),
    [
        ("1. A rule.", "A rule."),
        ("[from Latin] 2. n. A rule.", "A rule."),
        ("[common] (also: norms) A rule.", "A rule."),
        ("1. <law> A rule.", "A rule."),
        ("[from Latin]", ""),
        ("A rule. n. Another.", "A rule. n. Another."),
    ],
)
def test_labels_stand_before_what_a_word_means(text: str, rest: str) -> None:
    assert text[skip_labels(text) :] == rest


@pytest.mark.parametrize(
    ("above", "begins"),
    [
        ("", True),
        ("It ends.\n\n", True),
        ("It ends.\n\nrule of conduct\n", True),
        ("x = f(1);\n", False),
        ("It ends.\n", False),
    ],
)
def test_an_entry_begins_a_paragraph(above: str, begins: bool) -> None:
    assert bool(Term("norm").entries(f"{above}norm\n\nA rule.")) == begins


def test_a_law_s_own_definition_is_the_strongest() -> None:
    own = Term("Covered Code").explain('"Covered Code" means the code and its changes.')
    other = Term("Covered Code").explain("Covered Code is a work in which others have a part.")
    assert own and other and own.strength > other.strength
