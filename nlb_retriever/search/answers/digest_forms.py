"""Questions on a chapter or a book as a whole: "What happens in chapter 3 of Emma?", "Emma chapter 3 summary"."""

from __future__ import annotations

import re
from functools import cache

from nlb_retriever.search.answers.book_parts import ask_for_ends
from nlb_retriever.search.answers.digest_abroad import in_english
from nlb_retriever.search.forms import NUMBER, Forms, compile_forms, match_form

KINDS = (
    r"(?:chapter|part|book|section|letter|canto|stave|act|scene|volume|lecture|tale|story"
    r"|article|amendment|clause|annex|schedule|appendix|title|lesson|unit|module|chap\.?|vol\.?)"
)
NUMBERED_PART = rf"(?:the )?(?:{KINDS} {NUMBER}|{NUMBER} {KINDS})"
_SEVERAL = rf"(?:the )?{KINDS}s {NUMBER}(?:(?:, and |, ?| and | to | ?[-–] ?){NUMBER})+"
_UNNUMBERED = (
    r"preface|prologue|epilogue|introduction|foreword|afterword|conclusions?|discussion|results|methods"
    r"|acknowledge?ments"
)
PART = (
    rf"(?P<part>{_SEVERAL}|{NUMBERED_PART} (?:of|in) {NUMBERED_PART}"
    rf"|(?:the )?{KINDS} [\w-]+(?:\.\d+)*(?:,? {KINDS} [\w-]+)?|the [\w-]+ {KINDS}"
    rf"|(?:the )?(?:{_UNNUMBERED}))"
)
_THIS = rf"(?:here|it|this|(?:in )?(?:this|the) {KINDS})"
_NAMED = r"(?P<named>[^?!]{1,100}?)"
_COUNTED_NAME = r"(?P<named>(?:[1-4] )?[^?!\d]{1,90} \d{1,3}(?::\d{1,3}(?: ?[-–] ?\d{1,3})?)?)"
TITLE = r"(?: (?:of|in|from) (?P<title>.+?))?"
_BEHIND = rf"(?P<title>.+?),?(?: in)? (?P<part>{_SEVERAL}|{NUMBERED_PART}(?:,? {NUMBERED_PART})?)"
"""Behind the title: "Dracula chapter 3"."""
_HAPPENS = r"(?:happens|happened|occurs|goes on|is going on)"
_SUMMARY = r"(?:summary|synopsis|overview|recap|gist|outline)"
_RULES = (
    r"list|contain|state|provide(?: for)?|require|prohibit|forbid|permit|allow|regulate|govern|define|guarantee|set out"
)
"""What a part of a law does."""
OF_PARTS = re.compile(rf"\b(?:{KINDS}s?|{_UNNUMBERED})\b", re.IGNORECASE)
"""What a question on a part has: only then its forms are looked at and compiled, which takes longer than a search."""
_SHORT = {"ch": "chapter", "bk": "book", "pt": "part", "sec": "section", "art": "article", "cl": "clause"}
_SHORT_FOR = re.compile(rf"\b({'|'.join(_SHORT)})\b\.? ?(?=\d|[IVXLC]+\b)", re.IGNORECASE)
"""Before a number: "ch. 3"."""
_SIGN = re.compile(r"§+ ?(?=\d)")


def read_digest_question(question: str) -> tuple[str, re.Match[str]] | None:
    """What a question is on, with its groups: "part", "this", "named" or "called", or a kind of `ask_for_ends`."""
    question = write_out(in_english(question))
    if not OF_PARTS.search(question):
        return match_form(question, _OTHERS)
    parts, called = _part_forms()
    return match_form(question, parts) or match_form(question, _OTHERS) or match_form(question, called)


def write_out(question: str) -> str:
    """A question with "chapter 3" for "ch. 3", "section 3" for "§ 3"."""
    return _SHORT_FOR.sub(lambda short: f"{_SHORT[short[1].casefold()]} ", _SIGN.sub("section ", question))


def _forms_of(kind: str, *meanings: str) -> list[tuple[str, str]]:
    return [
        (kind, form)
        for meant in meanings
        for form in (
            rf"what {_HAPPENS}(?: in|(?! to\b)) {meant}",  # "What happened to Lucy?" asks for more than "To Lucy"
            rf"(?:summari[sz]e|describe|recap|outline)(?: the (?:plot|story|events) of)? {meant}",
            rf"(?:give me |show me |write )?(?:a |an |the )?(?:short |brief )?{_SUMMARY} of {meant}",
            rf"what(?:['’]s| is| was| are) {meant} about",
            rf"what(?:['’]s| is) the (?:plot|summary|subject|topic|content|gist) of {meant}",
            rf"what do(?:es)? {meant} (?:deal with|tell(?: us)?|say|describe)",
        )
    ]


@cache
def _part_forms() -> tuple[Forms, Forms]:
    """Those of what a part holds, and of what it is called."""
    called = rf"what(?:['’]s| is)(?: the (?:title|name|heading) of)? {PART}{TITLE}(?: called| named| titled)?"
    parts = compile_forms(
        (
            ("part", rf"what(?:['’]s| is) in {PART}{TITLE}"),
            *_forms_of("part", PART + TITLE, _BEHIND),
            # not of what has a name alone: "What does Anna explain?"
            ("part", rf"what do(?:es)? {PART}{TITLE} (?:cover|teach(?: us)?|treat|discuss|explain|{_RULES})"),
            (
                "part",
                rf"what (?:topics? |subjects? )?(?:is|are) (?:covered|taught|discussed|explained) in {PART}{TITLE}",
            ),
            ("part", rf"what (?:topics|subjects) do(?:es)? {PART}{TITLE} (?:cover|teach|treat|discuss|deal with)"),
            (
                "part",
                rf"what (?:do|does|can|will|did) (?:i|we|you|one|students?) (?:learn|study) (?:in|from) {PART}{TITLE}",
            ),
            *(
                ("part", form)
                for meant in (PART + TITLE, _BEHIND)
                for form in (rf"(?:in )?{meant},? what {_HAPPENS}", rf"{meant} {_SUMMARY}")
            ),
            *ask_for_ends(PART + TITLE, f" (?:of|in) {PART}{TITLE}"),
            ("part", rf"in (?P<title>[^,]+), what {_HAPPENS} in {PART}"),
            ("part", rf"{PART} (?:of|in|from) (?P<title>.+?)"),
            ("part", _BEHIND),
            ("part", rf"(?P<part>{NUMBERED_PART}(?:,? {NUMBERED_PART})?)(?: {_SUMMARY})?,? (?P<title>.+?)"),
        )
    )
    return parts, compile_forms([("called", called)])


_OTHERS = compile_forms(
    (
        ("this", rf"what(?:['’]s| is) in {_THIS}"),
        ("named", rf"what(?:['’]s| is) in {_COUNTED_NAME}"),
        *_forms_of("this", _THIS),
        *_forms_of("named", _NAMED),
    )
)
