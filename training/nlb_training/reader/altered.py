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
from nlb_training.reader.examples import Example, Span
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
        articles[row["article"]].update(_names(row["context"]))
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
        text: names and numbers come from it, but those in an answer do not.
        answers: people's.
        draw: which of the possible alterations is made.
        others: names to take where the text has none.
    """
    ways: tuple[Callable[[], str | None], ...] = (
        lambda: _exchange_name(question, text, answers, others, draw),
        lambda: _exchange_number(question, text, answers, draw),
        lambda: _exchange_word(question, draw),
        lambda: _negate(question) if draw.random() < _NEGATED_SHARE else None,
    )
    made = [altered for way in ways if (altered := way())]
    return draw.choice(made) if made else None


def _names(text: str) -> list[str]:
    return [match.group() for match in _NAME.finditer(text) if match.group().split()[0] not in _NO_NAMES]


def _replace(question: str, span: Span, word: str) -> str:
    return question[: span[0]] + word + question[span[1] :]


def _exchange_name(
    question: str, text: str, answers: Sequence[str], others: Sequence[str], draw: random.Random
) -> str | None:
    found = [each for each in _NAME.finditer(question) if each.start() and each.group().split()[0] not in _NO_NAMES]
    if not found:
        return None
    match = draw.choice(found)
    name = match.group()
    own = [
        each
        for each in dict.fromkeys(_names(text))
        if each not in question
        and name not in each
        and each not in name
        and not any(each in answer or answer in each for answer in answers)
    ] or [each for each in others if each not in question]
    alike = [each for each in own if len(each.split()) == len(name.split())] or own
    return _replace(question, match.span(), draw.choice(alike)) if alike else None


def _exchange_number(question: str, text: str, answers: Sequence[str], draw: random.Random) -> str | None:
    found = list(_NUMBER.finditer(question))
    if not found:
        return None
    match = draw.choice(found)
    number = match.group()
    own = [
        each
        for each in dict.fromkeys(_NUMBER.findall(text))
        if each != number and len(each) == len(number) and not any(each in answer for answer in answers)
    ]
    if not own and number.isdecimal() and int(number) > 12:
        own = [str(int(number) + draw.choice([-10, -3, -2, -1, 1, 2, 3, 10]))]
    return _replace(question, match.span(), draw.choice(own)) if own else None


def _exchange_word(question: str, draw: random.Random) -> str | None:
    found = [match for match in _WORD.finditer(question) if match.start() and match.group() in _OPPOSITES]
    if not found:
        return None
    match = draw.choice(found)
    return _replace(question, match.span(), draw.choice(_OPPOSITES[match.group()]))


def _negate(question: str) -> str | None:
    found = (match for match in _WORD.finditer(question) if match.start() and match.group() in _NEGATED)
    match = next(found, None)
    return _replace(question, match.span(), _NEGATED[match.group()]) if match else None
