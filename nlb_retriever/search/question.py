"""What kind of answer an English question asks for: some words, a clause, sentences, yes or no, or none of these."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from typing import Literal, TypeAlias

from nlb_retriever.search.forms import LONGEST
from nlb_retriever.text.persons import find_person
from nlb_retriever.text.words import word_ids

Kind: TypeAlias = Literal["words", "clause", "sentences", "yes or no"]

MOST_WORDS = 48
"""Of a question; a longer text is no question that a reader was trained on."""
_WORD = re.compile(r"[a-z]+")
_ANY_WORD = re.compile(r"[^\W\d_][\w'’-]*")
_NEXT = re.compile(rf"({_ANY_WORD.pattern})(\W*)")
_TITLED = re.compile(r"[a-z]+(?=\.? [A-Z])")
_GAP = re.compile(r"_{2,}")
_ORDER = re.compile(r"^(?i:please )?(?i:name|identify|give me)(?= (?:the|an?|one|two|three|some|[A-Z]\w*)\b) ")
"""The beginning of "Name the captain of the Pequod."; "Name of the captain" is no sentence."""
_DEFINE = re.compile(r"^(?i:please )?(?i:define) (?i:the (?:term|word|concept)(?: of)? )?")
_CHAIRED = re.compile(r"^(who) chair(?:s|ed)( (?:the|this|that)\b)", re.IGNORECASE)
"""The beginning of a question that lists of those present answer by "A. Wick (Chair)"."""
_ENGLISH = frozenset("the a an of to is are was were by and with for".split())
_SAID = _ENGLISH | frozenset("he she it his her they their who that from at on about into".split())
_ASKING = frozenset("who whom whose what which where when why how".split())
_AUXILIARIES = frozenset(
    "is are was were am do does did has have had can could will would shall should may might must".split()
)
_HELPS = rf"(?:{'|'.join(sorted(_AUXILIARIES))})\b"
_CLAUSE_FIRST = re.compile(
    rf"(?P<clause>(?:(?:when|once) (?!{_HELPS})|(?:in|at|on|by|to|of|for|with|from)\b(?! (?:who|what|which))"
    r"|(?:after|before|while|if|as|upon|during|because|since|although|until|according to|instead of|besides)\b)[^?]*), "
    r"(?P<asking>(?:(?:in|at|on|by|to|of|for|with|from) )?"
    rf"(?:(?:who|whom|whose|what|which|where|why|how)\b|when {_HELPS}|{_HELPS})[^?]*?)\s*\?+",
    re.IGNORECASE,
)
"""A question that begins behind a clause: "When the keeper died, who took the lamp?"."""
_HELPING = _AUXILIARIES | {"ca", "to"}
"""Words before "do" where it is what somebody does: "didn't", "have to"."""
_MEASURES = frozenset("many much old long far tall big large often high deep heavy wide few late soon fast".split())
_DOING = frozenset("doing done".split())
_READERS = frozenset("i we you one".split())
_TO_READERS = frozenset("do does can could should would must might".split())
_STEPS = re.compile(
    r"what (?:is|are) the (?:\w+ )?(?:steps|procedure|process) (?:for|to(?! the\b)) \w"
    r"|when (?:may|must|should|can) (?:i|we|you|one)\b"
)
_FEELING = frozenset("feel feels felt feeling look looks".split())
_NUMBERS = frozenset(
    "no none one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen seventeen"
    " eighteen nineteen twenty thirty forty fifty sixty seventy eighty ninety hundred hundreds thousand thousands"
    " million dozen dozens score pair couple both half single once twice thrice many few several all every".split()
)
_MEASURED = {"how": {"many", "old"}, "what": {"age", "year"}, "which": {"year"}}
_NO_AGE = frozenset("no none one both pair couple single once several all every".split())
_AMOUNT = re.compile(
    r"\bwhat(?:['’]?s| is| was| were| are) (?:the |its |their |his |her )?(?:[\w-]+ ){0,2}?"
    r"(?:population|height|length|width|depth|distance|temperature|speed|weight|percentage|elevation|altitude|number"
    r"|diameter|circumference|density|(?:boiling|melting|freezing) point|area(?= of (?:the )?(?-i:[A-Z])))"
    r"(?: (?:of|in|between|at|for|from)\b|\W*$)",
    re.IGNORECASE,
)
_AGES = frozenset(
    "teens twenties thirties forties fifties sixties seventies eighties nineties year years month months week weeks"
    " infant baby child".split()
)
_TIMES = frozenset(
    "second seconds minute minutes moment moments hour hours day days night nights morning evening week weeks fortnight"
    " month months season spring summer winter year years decade century centuries age ages generation generations time"
    " times while long life lifetime always ever forever never since until till".split()
)
_LENGTHS = frozenset("inch inches foot feet yard yards fathom fathoms mile miles league leagues meter meters".split())
_RATES = frozenset(
    "daily nightly weekly monthly yearly often seldom rarely sometimes frequently always never time times hour hours"
    " day days night nights morning mornings evening evenings week weeks month months year years".split()
)
_NO_LENGTH = re.compile(r"\bto-?(?:day|morrow|night)\b", re.IGNORECASE)
"""These tell when, and not how long."""
_SAYING = frozenset(
    "say says said tell tells told ask asks asked answer answers answered reply replies replied call calls called cry"
    " cries cried shout shouts shouted speak speaks spoke talk talks talked explain explains explained warn warns"
    " warned advise advises advised suggest suggests suggested promise promises promised confess confessed".split()
)
_COLORS = frozenset(
    "white black red blue green yellow brown grey gray pink purple violet orange crimson scarlet gold golden silver"
    " silvery azure rose ruby emerald ivory cream amber auburn blond blonde fair dark pale light rosy russet tawny"
    " vermilion lilac lavender indigo turquoise bronze copper chestnut hazel mauve".split()
)
_LASTS = re.compile(
    rf"(?:\d|\b(?:{'|'.join(sorted(_NUMBERS))}))(?: of)? (?:second|minute|hour|day|night|week|month|year)s?(?: ago)?$"
)
"""The end of "three years" and "thousands of years": no number of coins."""
_NAME_OF = re.compile(
    r"what(?:['’]s| is| was| are| were) (?:the (?:first |last |full |real )?names? of (?P<of>[^?]+)"
    r"|(?P<owner>[\w'’. -]{1,40}?)(?:['’]s?)? names?\W*$"
    r"|[\w’'. -]{1,40}['’]s? (?P<called>[\w -]{1,40}?) called\W*$)",
    re.IGNORECASE,
)
_NAMED = frozenset(
    "ship boat yacht inn village town city street house estate castle island river country horse dog cat".split()
)
"""What has a name of its own, as people do; that of a process or a pigment may be in small letters."""
_CHOICE = re.compile(r", (?P<one>[^,]{1,40}) or (?P<other>[^,]{1,40}?)[\s?]*$")
"""The end of "Who is taller, Lydia or Jane?"."""
_NOT_WHEN = frozenset("first once ever since last now then".split())
_NOT_WHO = frozenset("in on at during after before until when while because".split())
_REFERENCE = re.compile(
    r"(?:(?:see|in) )?(?:§+\s*|(?:section|chapter|appendix|figure|table) )[A-Z]?\d*(?:\.\d+)*(?:\(\w+\))?",
    re.IGNORECASE,
)
"""To a place of the book: "§4.2", "Section 2.7.3"."""
_NO_TIME = re.compile(
    r"(?:(?:in|under) )?(?:(?:section|clause|article|paragraph)s? \d+(?:\.\d+)*|\d+\.\d(?!\d))"
    r"(?:,? (?:and|or) \d+(?:\.\d+)*)*(?: (?:above|below))?",
    re.IGNORECASE,
)
"""Sections of a law: "5.1 or 5.2", "under sections 2 and 3 above"."""
_NATIONS = frozenset(
    "african american arab asian australian austrian belgian brazilian british bulgarian canadian chinese"
    " croatian czech danish dutch egyptian english european finnish flemish french german greek hungarian indian"
    " iranian iraqi irish israeli italian japanese jewish kenyan korean mexican mongol mongolian norman norwegian"
    " ottoman persian polish portuguese prussian roman romanian russian scottish serb serbian soviet spanish swedish"
    " swiss turkish ukrainian vietnamese welsh".split()
)
"""What is of these is no place."""
_ADDRESS = frozenset("sir sire madam my dear".split())
_UNCAPPED = frozenset("a an the and but or nor of in on at to by for from with as into".split())
_TITLES = frozenset(
    "mr mrs ms miss dr sir madam madame lady lord king queen prince princess captain professor aunt uncle".split()
)
_NAME = r"(?:(?:the|of|de|van|von|la) )*[A-Z](?:['’][A-Z])?[\w.-]*"
_WHO_IS_NAME = re.compile(rf"(?P<asking>(?i:who|what)) (?i:is|was|are|were) (?P<name>{_NAME}(?: {_NAME})*?)[\s?.]*")


def as_question(query: str) -> str:
    """A query as the reader takes it: an English statement with a gap, or that ends in a colon, asks for the rest.

    "The keeper lost his ____." becomes "The keeper lost his what.", "Name the keeper." "Who is the keeper?", and
    "Define keeper" "What is keeper?". A question without a question mark gets one. A clause before what is asked goes
    to the end, so that "When the keeper died, who took the lamp?" is not taken to ask when. A query of more than
    `LONGEST` characters is left as it is.
    """
    if len(query) > LONGEST:
        return query
    if late := _CLAUSE_FIRST.fullmatch(query):
        clause, asking = late["clause"], late["asking"]
        query = f"{asking[0].upper()}{asking[1:]} {clause[0].lower()}{clause[1:]}?"
    if define := _DEFINE.match(query):
        return f"What is {query[define.end() :].rstrip(' .?')}?"
    if order := _ORDER.match(query):
        wanted = query[order.end() :].rstrip(" .?")
        return f"{'Who' if find_person(wanted) else 'What'} is {wanted}?"
    query = _CHAIRED.sub(r"\1 was the chair of\2", query)
    words = {*_WORD.findall(query.lower())}
    if not words & _ENGLISH:
        return query
    if query.endswith(":") and not words & _ASKING:
        return f"{query[:-1]} what?"
    query = _GAP.sub("what", query)
    first = next(iter(_WORD.findall(query.lower())), "")
    return f"{query}?" if first in _ASKING | _AUXILIARIES and query[-1].isalnum() else query


def kind_of(question: str) -> Kind | None:
    """The kind of answer; None for what is not a short question in English.

    Sentences, and not words of one, are wanted by those who ask how something is done ("How do I write a test?"), when
    they may do it, or what the difference is.
    """
    words = _WORD.findall(question.lower())
    if len(question) > LONGEST or not 2 <= len(words) <= MOST_WORDS:
        return None
    if words[0] in _AUXILIARIES:
        return "yes or no"
    asking = next((index for index, word in enumerate(words) if word in _ASKING), None)
    if asking is None:
        return None
    after = words[asking + 1 :]
    if words[asking] in {"what", "how", "when"} and (_asks_for_difference(after) or _asks_for_steps(words[asking:])):
        return "sentences"
    if words[asking] == "why" or (words[asking] == "how" and not _is_measure(after)):
        return "clause"
    if words[asking] == "what" and (_asks_for_deeds(after) or any(word.startswith("happen") for word in after)):
        return "clause"
    return "words"


def _asks_for_deeds(after: list[str]) -> bool:
    """Whether "what" goes on as "does he do", and not as in "song do they sing", where "do" only helps to ask."""
    helped = (
        word == "do" and any(other.removesuffix("n") in _HELPING for other in after[:index])
        for index, word in enumerate(after)
    )
    return not _DOING.isdisjoint(after[1:]) or any(helped)


def _asks_for_steps(words: list[str]) -> bool:
    """Whether it asks how or when its reader does something: "how do I", "what are the steps to", "when may I"."""
    if _STEPS.match(" ".join(words)):
        return True
    how, first, second, third, *_ = (*words, "", "", "")
    if how != "how" or third in {"of", "know"}:
        return False
    return first == "to" or (first in _TO_READERS and second in _READERS)


def _asks_for_difference(after: list[str]) -> bool:
    """Whether a question goes on as "is the difference between", or has "differ"."""
    return "differ" in after or ("between" in after and not {"difference", "differences"}.isdisjoint(after[:3]))


def is_statement(query: str) -> bool:
    """Whether a query is a phrase or sentence in English that asks nothing: "a duel at dawn"; no list of words."""
    words = _WORD.findall(query.lower())
    is_short = len(query) <= LONGEST and 2 <= len(words) <= MOST_WORDS
    return is_short and not _SAID.isdisjoint(words) and kind_of(query) is None


def _is_measure(after: list[str]) -> bool:
    """Whether "how" goes on as in "how many", or asks how somebody feels."""
    return bool(after) and (after[0] in _MEASURES or bool(_FEELING & set(after)))


def asks_about_name(question: str) -> bool:
    """Whether a question asks who or what a name is: "Who is Mary Lennox?", and not "Who is Mary's uncle?"."""
    return _WHO_IS_NAME.fullmatch(question.strip()) is not None


def asks_who_did(question: str) -> bool:
    """Whether a question asks who or whose, and not who says or tells something."""
    words = {*_WORD.findall(question.lower())}
    return not words.isdisjoint({"who", "whom", "whose"}) and words.isdisjoint(_SAYING)


def name_of(question: str) -> str | None:
    """The name in "Who is Mary Lennox?"; None of other questions."""
    match = _WHO_IS_NAME.fullmatch(question.strip())
    return match["name"] if match and match["asking"].lower() == "who" else None


def find_names(query: str) -> list[str]:
    """The words with a capital behind the first word, each once, without titles: names of people and places, mostly.

    None where all words have one, or all but those that titles of books leave without: then it says nothing.
    """
    words = _ANY_WORD.findall(query)
    if all(word[0].isupper() or (index and word in _UNCAPPED) for index, word in enumerate(words)):
        return []
    return [word for word in dict.fromkeys(words[1:]) if word[0].isupper() and word.lower() not in _TITLES]


def find_full_names(query: str) -> list[list[str]]:
    """The names of a query, those together that follow one another: [["Mary", "Lennox"]] of "Who is Mary Lennox?"."""
    names = {*find_names(query)}
    runs: list[list[str]] = [[]]
    for word, behind in _NEXT.findall(query):
        if word in names:
            runs[-1].append(word)
        if word not in names or behind.strip() not in {"", "."} or word.endswith(("'s", "’s")):
            runs.append([])
    return [*filter(None, runs)]


def restore_capitals(query: str, texts: Sequence[str]) -> str:
    """A query in small letters, with a capital for the words that these texts write with one, twice and always.

    A title before such a word gets one, too: "captain Ahab".
    """
    if query != query.lower():
        return query
    found = Counter(word for text in texts for word in _ANY_WORD.findall(text))

    def restored(match: re.Match[str]) -> str:
        word = match[0]
        return word.capitalize() if found[word.capitalize()] > 1 and not found[word] else word

    query = _ANY_WORD.sub(restored, query)
    return _TITLED.sub(lambda match: match[0].capitalize() if match[0] in _TITLES else match[0], query)


def find_capitals(text: str) -> str:
    """The words of a text that have a capital."""
    return " ".join(word for word in _ANY_WORD.findall(text) if word[0].isupper())


def _asks_for_own_name(question: str) -> bool:
    """Whether it asks for the name of a person, or of what has one of its own."""
    match = _NAME_OF.match(question)
    named = (match["of"] or match["owner"] or match["called"]) if match else ""
    return bool(named) and (not _NAMED.isdisjoint(_WORD.findall(named.lower())) or find_person(named) is not None)


def fits(question: str, answer: str) -> bool:
    """Whether some words can be what a question asks for; in doubt they can.

    They say more than the question's own words and pronouns, "how many", "how old", "what year" and "what is the
    population of" is a number, but "how many coins" not "three years", "how long" and "how often" that or a unit of
    time, "how large" not "largest", "what color" a color, "when" not "first", "where" not "Serbian", what somebody's
    name is, or what his boat is called, has a capital, what a name is is no other name, who one is a kind of person,
    who of two one of them, and "who" does not begin with "in" or "because", nor is it "sir". Another section of the
    book answers what asks for one ("which section", "where").
    """
    if asks_about_name(question) and " the " not in question:
        says_what = find_person(answer) if name_of(question) else any(map(str.islower, answer.split()))
        if not says_what:
            return False
    own, words = _WORD.findall(question.lower()), _WORD.findall(answer.lower())
    has_digit = any(map(str.isdigit, answer))
    has_number = has_digit or bool((_NUMBERS & {*words}) - {*own})
    if not has_number and "or" not in own and not word_ids(answer) - word_ids(question):
        return False
    start = next((index for index, word in enumerate(own) if word in _ASKING), 0)
    asking, after, *_ = (*own[start:], "", "")
    if after in _MEASURED.get(asking, ()):
        if after == "many" and _TIMES.isdisjoint({*own, *(word.removesuffix("s") for word in own)}):
            return has_number and not _LASTS.search(answer.lower())
        if after not in {"old", "age"}:
            return has_number
        return has_digit or not (_AGES | (_NUMBERS - _NO_AGE)).isdisjoint({*words} - {*own})
    if asking == "how":
        if after in {"long", "often"} and not has_number:
            units = _RATES if after == "often" else _TIMES | _LENGTHS
            return not units.isdisjoint(_WORD.findall(_NO_LENGTH.sub("", answer.lower())))
        stem = after.removesuffix("e")
        if words and {*words} <= {"a", "the", f"{stem}er", f"{stem}est"}:
            return False
    if choice := _CHOICE.search(question):
        return "or" not in words and not word_ids(" ".join(choice.groups())).isdisjoint(word_ids(answer))
    if _asks_for_own_name(question) and question != question.lower() and answer == answer.lower():
        return False
    if not has_number and _AMOUNT.search(question):
        return False
    if after in {"color", "colour", "colors", "colours"}:
        return not _COLORS.isdisjoint(words)
    if asking not in {"where", "which"} and _REFERENCE.fullmatch(answer):
        return False
    if asking == "when" and (_NO_TIME.fullmatch(answer) or ({*words} <= _NOT_WHEN and not has_digit)):
        return False
    if asking == "where" and words and words[-1] in _NATIONS and {*words[:-1]} <= {"a", "an", "the"}:
        return False
    who = asking in {"who", "whom", "whose"}
    return not (who and words and (words[0] in _NOT_WHO or {*words} <= _ADDRESS))
