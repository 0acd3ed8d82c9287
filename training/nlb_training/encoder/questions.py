"""A sentence about a story as a question on it: its subject becomes "who"."""

from __future__ import annotations

import re

_NAME = (
    r"(?:(?:Mr|Mrs|Miss|Ms|Dr|St|Sir|Lady|Lord|Captain|Uncle|Aunt|King|Queen|Prince|Princess|Father)\.? )?[A-Z][\w'’-]+"
)
_SUBJECT = re.compile(rf"(?:He|She|They|{_NAME}(?: (?:(?:de|of|von|van) )?[A-Z][\w'’-]+){{0,2}}) (?=[a-z]{{2,}})")
_NOT_SUBJECTS = frozenset(
    """A After All Also Although An And Another As At Because Before Both But By During Each Even Eventually Finally
    First For From Given Having Her Here His How However I If In Instead Into It Its Just Later Like Many
    Meanwhile More Most My Neither Next No Nor Not Now Of On Once One Only Or Other Our Out Over Perhaps Since
    So Some Soon Still Such Suddenly That The Their Then There These This Those Though Through Thus To Two
    Under Unlike Until Upon We What When Where Whereas Which While Who Whose Why With Without Yes Yet
    You Your""".split()
)
_NOT_VERBS = frozenset("and or but of the in at on who whose which that as to with by from for is's not".split())


def to_question(sentence: str) -> str | None:
    """The question whose answer is the sentence's subject; None where that is no name and no person's pronoun.

    "Lucy goes to Florence." becomes "Who goes to Florence?"
    """
    match = _SUBJECT.match(sentence)
    if not match or match.group().split()[0] in _NOT_SUBJECTS:
        return None
    rest = sentence[match.end() :].rstrip(" .!;:,\"'”’")
    first = rest.split(None, 1)[0] if rest else ""
    if first in _NOT_VERBS or len(rest.split()) < 3 or rest.endswith("?"):
        return None
    return f"Who {'is' if first == 'are' else 'was' if first == 'were' else first}{rest[len(first) :]}?"
