"""Questions of statements: "Emily finds a letter in the chest." becomes "What does Emily find in the chest?".

Study guides tell a chapter in main clauses in the present tense, often with a name in front. Their verb takes "does",
so that the questions have the form in which readers ask; `nlb_training.reader.cloze` has the other statements.
"""

from __future__ import annotations

import random
import re
from collections.abc import Iterator
from dataclasses import dataclass

from nlb_training.reader.cloze import DETERMINERS, FUNCTION_WORDS, NAME, Phrase, content_words, find_phrases

_BEFORE = (
    "Then|Later|Now|Meanwhile|Soon|Afterwards|However|So|Eventually|Finally|Next|Unfortunately|Luckily|That night|"
    "The next day|The next morning"
)
_ADVERB = "also|then|finally|soon|immediately|still|only|just|never|eventually|suddenly|quickly|secretly|later"
_STATEMENT = re.compile(
    rf"(?:(?:{_BEFORE}),? )?((?:{NAME.pattern})(?: and (?:{NAME.pattern}))?) "
    rf"((?:(?:{_ADVERB}) )?)([a-z]+)\b(?!['’]) (.+)",
    re.DOTALL,
)
"""Subject, adverb, verb, and the rest."""
_CLAUSE_END = re.compile(r"[;:—]|--|, (?:and|but|so|who|which|while|as|although|though) ")
_AUXILIARIES = frozenset("is are was were has have had will would can could must should does do did may might".split())
_VERBS = frozenset(
    "begins comes gets gives goes keeps knows lets makes puts says seems sees takes tells thinks wants".split()
)
"""Verbs among the function words."""
_NO_VERBS = FUNCTION_WORDS | frozenset(
    "across afterwards always besides less perhaps sometimes thus unless us yes".split()
)
_MIN_WORDS, _MAX_WORDS = 4, 20
"""Of a question."""


@dataclass(frozen=True, kw_only=True)
class Question:
    """A question and what answers it."""

    text: str
    answer: str | None
    """Words of the statement; None for why and how."""


def make_questions(
    statement: str, names: frozenset[str], places: frozenset[str], draw: random.Random
) -> Iterator[Question]:
    """The questions that a statement answers; none if it has another form.

    Args:
        statement: a sentence.
        names: of the book, see `find_names`.
        places: those of them that are places.
        draw: decides on "why" where the statement has "to" for "in order to" or another "to".
    """
    match = _STATEMENT.match(statement.strip(' "“”'))
    if not match:
        return
    subject, adverb, verb, rest = match.groups()
    if not all(name in names for name in subject.split(" and ")):
        return
    several, auxiliary = " and " in subject, verb in _AUXILIARIES
    infinitive = None if auxiliary else verb if several else _infinitive(verb)
    if not auxiliary and (infinitive is None or (verb in _NO_VERBS and verb not in _VERBS)):
        return
    helper = verb if auxiliary else "do" if several else "does"
    follows = f"{subject} {adverb}{infinitive or ''}".strip()
    main = _CLAUSE_END.split(rest.rstrip(' .!?"”'))[0].strip(" ,")
    made: list[Question] = []
    if len(content_words(main)) >= 2:
        made.append(Question(text=f"Who {adverb}{verb} {main}?", answer=subject))
    for word, part in _reasons(main, draw, auxiliary=auxiliary):
        made.append(Question(text=f"{word} {helper} {follows} {part}?", answer=None))
    for phrase in find_phrases(main, names, places):
        if (others := _without(main, phrase)) and len(content_words(f"{subject} {verb} {others}")) >= 2:
            text = f"{phrase.question_word.capitalize()} {helper} {follows} {others}?"
            made.append(Question(text=text, answer=main[phrase.start : phrase.end]))
    yield from (each for each in made if _MIN_WORDS <= len(each.text.split()) <= _MAX_WORDS)


def _infinitive(verb: str) -> str | None:
    """Of a verb in the third person; None for what is none."""
    if not verb.endswith("s") or verb.endswith("ss") or len(verb) < 4:
        return None
    if verb.endswith("ies") and len(verb) > 4:
        return f"{verb[:-3]}y"
    return verb[:-2] if re.search(r"(?:sh|ch|x|ss|zz|o)es$", verb) else verb[:-1]


def _reasons(main: str, draw: random.Random, *, auxiliary: bool) -> Iterator[tuple[str, str]]:
    """What why and how ask about: the clause before "because", "to ..." or "by ...ing"."""
    match = re.search(r",? because .+ .+ ", main)
    if not match and not auxiliary and draw.random() < 0.5:
        match = re.search(r" (?:in order )?to [a-z]+ ", main)
    if match:
        yield "Why", main[: match.start()]
    if (match := re.search(r" by [a-z]+ing ", main)) and content_words(main[: match.start()]):
        yield "How", main[: match.start()]


def _without(main: str, phrase: Phrase) -> str:
    """A clause without a phrase, its article, and, where it is a place, its preposition; empty if that cannot be."""
    after = main[phrase.end :].strip(" ,")
    if phrase.question_word == "how many" or re.match(r"['’]", after):
        return ""
    before = main[: phrase.start].split()
    if before and before[-1].lower() in DETERMINERS:
        before.pop()
    if phrase.question_word == "where":  # found by the preposition before it
        before.pop()
    return " ".join([*before, after]).strip()
