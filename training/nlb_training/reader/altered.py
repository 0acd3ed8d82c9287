"""Questions that a paragraph nearly answers: those of SQuAD with one name, number or word exchanged.

As Jia & Liang (arXiv 1707.07328, section 3.2) alter questions: names and numbers become others of the same paragraph,
adjectives and verbs their opposites, and a few questions are negated.
"""

from __future__ import annotations

import random
import re
from collections import defaultdict
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

from nlb_training.reader.contexts import TOKEN_CHARACTERS, cut_candidate, sentence_window
from nlb_training.reader.examples import Example
from nlb_training.reader.sources import row_spans, squad_rows

_OPPOSITES_TEXT = """first/last most/least more/less more/fewer largest/smallest larger/smaller highest/lowest
    higher/lower greatest/least before/after increase/decrease increased/decreased increases/decreases north/south
    northern/southern east/west eastern/western earliest/latest oldest/youngest older/younger best/worst better/worse
    always/never all/none majority/minority maximum/minimum longest/shortest longer/shorter large/small major/minor
    begin/end began/ended start/stop started/stopped win/lose won/lost above/below over/under inside/outside
    internal/external public/private rich/poor strong/weak stronger/weaker strongest/weakest old/new early/late
    earlier/later high/low long/short good/bad positive/negative male/female men/women man/woman father/mother
    son/daughter brother/sister king/queen accept/reject accepted/rejected allow/prevent allowed/forbade support/oppose
    supported/opposed attack/defend attacked/defended gain/lose gained/lost join/leave joined/left built/destroyed
    build/destroy created/destroyed rise/fall rose/fell born/killed founded/dissolved enter/leave entered/left buy/sell
    bought/sold love/hate loved/hated friend/enemy open/closed common/rare commonly/rarely often/rarely usually/rarely
    successful/unsuccessful possible/impossible legal/illegal formal/informal known/unknown popular/unpopular
    successfully/unsuccessfully improve/worsen improved/worsened true/false same/different simple/complex
    similar/dissimilar easy/hard fast/slow heavier/lighter hot/cold upper/lower left/right front/back young/old
    include/exclude included/excluded dependent/independent active/passive natural/artificial indirectly/directly
    direct/indirect decline/growth victory/defeat peace/war entrance/exit"""
_OPPOSITES: dict[str, list[str]] = defaultdict(list)
for _pair in _OPPOSITES_TEXT.split():
    _one, _other = _pair.split("/")
    _OPPOSITES[_one].append(_other)
    _OPPOSITES[_other].append(_one)
_NEGATED = {
    "did": "didn't", "does": "doesn't", "do": "don't", "is": "isn't", "was": "wasn't", "are": "aren't",
    "were": "weren't", "can": "can't", "has": "hasn't", "had": "hadn't", "could": "couldn't", "would": "wouldn't",
}  # fmt: skip
_NEGATED_SHARE = 0.3
"""Of the questions with such a verb, how many may be negated."""
_NAME = re.compile(r"\b[A-Z][\w'’.-]*[a-z](?:\s+(?:of\s+|the\s+|de\s+|von\s+)?[A-Z][\w'’-]*[a-z])*\b")
_NUMBER = re.compile(r"\b\d[\d,.]*\d|\b\d\b")
_WORD = re.compile(r"\b[a-z]+\b")
_NO_NAMES = frozenset(
    """The A An In It He She They This That These Those However On At For By As While When After Before But And His Her
    Its Their If Some Many Most Although There Since During What Who Where Which How Why From With To One Other Both
    Under Such According Until Because Not Also Another Two Three All I We You Despite Among""".split()
)
"""Words that begin sentences."""


def altered_examples(data: Path, draw: random.Random, lengths: Sequence[int], *, share: float) -> Iterator[Example]:
    """SQuAD questions that are altered so that their paragraph does not answer, each followed by the question itself.

    Args:
        data: folder of the data.
        draw: of the alterations and windows.
        lengths: of the windows, in tokens, one of them at random.
        share: of the questions that have an answer; of some nothing can be altered.
    """
    rows = squad_rows(data, held=False)
    articles: dict[str, set[str]] = defaultdict(set)
    for row in rows:
        articles[row["article"]].update(match.group() for match in _find_names(row["context"]))
    for row in rows:
        text, spans = row["context"], row_spans(row)
        if not spans or draw.random() > share:
            continue
        answers = [answer["text"] for answer in row["answers"]]
        altered = alter_question(row["question"], text, answers, draw, others=sorted(articles[row["article"]]))
        if altered is None:
            continue
        characters = int(draw.choice(lengths) * TOKEN_CHARACTERS)
        window = sentence_window(text, draw.choice(spans), characters, draw)
        without = cut_candidate(text, window, (), relevant=False)
        yield Example(source="altered", question=altered, candidates=(without,))
        yield Example(
            source="altered",
            question=row["question"],
            candidates=(cut_candidate(text, window, spans, relevant=True),),
        )


def alter_question(
    question: str, text: str, answers: Sequence[str], draw: random.Random, *, others: Sequence[str] = ()
) -> str | None:
    """A question about nearly the same; None where nothing can be exchanged.

    Args:
        question: that the text answers.
        text: names and numbers come from it.
        answers: people's; nothing is taken from them.
        draw: which of the possible alterations is made.
        others: names to take where the text has none.
    """
    names = [match for match in _find_names(question) if match.start()]
    words = [match for match in _WORD.finditer(question) if match.start()]
    opposites = [match for match in words if match.group() in _OPPOSITES]
    verbs = [match for match in words if match.group() in _NEGATED]
    ways = (
        _exchange(question, names, lambda name: _other_names(name, question, text, answers, others), draw),
        _exchange(question, list(_NUMBER.finditer(question)), lambda it: _other_numbers(it, text, answers), draw),
        _exchange(question, opposites, _OPPOSITES.__getitem__, draw),
        _exchange(question, verbs[:1] if draw.random() < _NEGATED_SHARE else [], lambda verb: [_NEGATED[verb]], draw),
    )
    made = [altered for altered in ways if altered]
    return draw.choice(made) if made else None


def _exchange(
    question: str, found: Sequence[re.Match[str]], others_of: Callable[[str], Sequence[str]], draw: random.Random
) -> str | None:
    """A question with one of the words that were found exchanged for another; None where it has no other."""
    if not found:
        return None
    match = draw.choice(found)
    others = others_of(match.group())
    return question[: match.start()] + draw.choice(others) + question[match.end() :] if others else None


def _find_names(text: str) -> list[re.Match[str]]:
    return [match for match in _NAME.finditer(text) if match.group().split()[0] not in _NO_NAMES]


def _other_names(name: str, question: str, text: str, answers: Sequence[str], others: Sequence[str]) -> Sequence[str]:
    """Names of the text, else others, that are in neither question nor answers; as long ones, where there are."""

    def is_other(each: str) -> bool:
        known = (name, *answers)
        return each not in question and not any(each in other or other in each for other in known)

    own = [each.group() for each in _find_names(text)]
    found = list(dict.fromkeys(filter(is_other, own))) or [each for each in others if is_other(each)]
    return [each for each in found if len(each.split()) == len(name.split())] or found


def _other_numbers(number: str, text: str, answers: Sequence[str]) -> Sequence[str]:
    """Numbers of the text with as many digits that are in no answer, else some near it."""
    found = [
        each
        for each in dict.fromkeys(_NUMBER.findall(text))
        if each != number and len(each) == len(number) and not any(each in answer for answer in answers)
    ]
    if found or not number.isdecimal() or int(number) <= 12:
        return found
    return [str(int(number) + step) for step in (-10, -3, -2, -1, 1, 2, 3, 10)]
