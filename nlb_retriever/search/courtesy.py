"""Questions as people put them to somebody: with a greeting, "can you tell me", "please" and what they are reading."""

from __future__ import annotations

import re

from nlb_retriever.search.forms import LONGEST

_SLIPS = {
    word[:at] + word[at + 1] + word[at] + word[at + 2 :]: word
    for word in ("what", "when", "where", "which", "why", "whose")
    for at in range(len(word) - 1)
} | {"wich": "which"}
"""Question words with two letters swapped: "waht". "hwo" may be "who" or "how"."""
_SLIP = re.compile(rf"(?:{'|'.join(_SLIPS)})(?= (?-i:[a-z]))", re.IGNORECASE)
_GREETING = (
    r"(?:(?:hi|hello|hey|good (?:morning|afternoon|evening)|ok|okay|so|well|now|please|sorry|excuse me"
    r"|(?:(?:a|one|quick|another|i have an?) )*question)(?: there| again| all| everyone)?[,.:;!]*\s+)*"
)
_SAY = r"(?:tell|show|remind|inform|let|explain(?: to)?) (?:me|us)(?: know)?(?: again)?"
_COURTESY = (
    rf"(?:(?:can|could|would|will) (?:you|anyone|anybody|someone|somebody)(?: please| kindly)? (?:{_SAY}|explain|say)"
    r"|(?:do you|does any(?:one|body)|do any of you)(?: happen to)? (?:know|remember|recall)"
    rf"|(?:do you have )?any idea|{_SAY}|explain"
    r"|i(?:['’]d| would)?(?: just| really)?(?: like| love| want| need)? to (?:know|find out|learn|ask|understand)"
    r"|i(?:['’]m| am| was)?(?: just)? wonder(?:ing)?)"
    r"(?: please)?(?: exactly)?[,:]?\s+"
)
_ASKS = (
    r"(?:(?:in|on|at|to|from|for|by|with|of|after|about) )?"
    r"(?:who|whom|whose|what|which|where|when|why|how)(?:['’]?s)?\b"
)
_ORDERS = (
    r"(?:name|list|identify|define|describe|explain|compare|summari[sz]e|outline|recap|quote|recommend|suggest|find"
    r"|locate|search|look (?:for|up)|(?:give|show|tell) me)\b"
)
_BEGINNING = re.compile(
    rf"{_GREETING}(?:(?P<courtesy>{_COURTESY})?(?={_ASKS})"
    r"|(?:(?:can|could|would|will) you |i(?:['’]d like| would like| want| need) to )?(?:please,? |kindly )*"
    rf"(?={_ORDERS}))",
    re.IGNORECASE,
)
_THANKS = re.compile(
    r"(?:(?<!they)(?<!you)(?<!we)(?<!to)(?<!will)(?<!would)(?<!may)(?<!can)(?<!say)(?<!says)(?<!said)(?<!in)\s+please"
    r"|(?<=[?.!])\s+(?:thanks|thank you)(?: (?:very much|so much|a lot|in advance))?)[?.!]*$",
    re.IGNORECASE,
)
_IS = re.compile(
    r"^(who|what|where|when|why|how)['’]?s\b(?!['’-]| (?:been|happened|got|become|gone|done|had)\b)", re.IGNORECASE
)
_NO_CLAUSE = (
    r"(?:(?! (?:who|whom|whose|that|which|what|where|when|is|was|are|were|says?|said|thinks?|thought|told|knew)\b).)*?"
)
_INDIRECT = re.compile(
    r"(?i:(?P<asking>(?:(?:in|on|at|to|from|for|by|with|of|about) )?(?:who|whom|what|where|when|why"
    r"|how(?: (?:old|tall|big|far|long|large|rich))?)))"
    rf" (?P<about>(?:(?i:the|an?|his|her|their|its|this|that|these|those|my|your)\b|[A-Z]){_NO_CLAUSE})"
    rf" (?P<verb>is|was|are|were)\b(?P<rest>{_NO_CLAUSE})[?.!]*"
)
"""An indirect question: "what the name of the ship is"."""
_READING = re.compile(
    rf"{_GREETING}(?:(?:i|we)(?:['’](?:m|re|ve)| am| are| was| were| have)?(?: been| just| now| currently| recently)*"
    r" (?:(?:re-?)?read(?:ing)?|study(?:ing)?|studied|finish(?:ed|ing)?(?: reading)?|start(?:ed|ing)?(?: reading)?)"
    r"|(?:(?:i|we) have |my |(?:a|another|one|quick) )*questions?(?: is)? (?:about|on))"
    r"(?: the (?:book|novel|play|story))? ",
    re.IGNORECASE,
)
_NO_TITLE = re.compile(r"(?:an?|this|that|these|my|your|it|about|when|what|how|to|in|some)\b")
_TITLE_ENDS = re.compile(r"(?:\s+and|[.!;:,])\s+", re.IGNORECASE)
_SENTENCE_ENDS = re.compile(r"(?<!\bdr)(?<!\bmr)(?<!\bmrs)(?<!\bst)[.!?]\s", re.IGNORECASE)
_ASIDE = re.compile(
    r" (?:(?:for|at|in) (?:my |our |an? )?(?:school|class|college|book club|english\b.*)|yesterday|today|again"
    r"|(?:right |just )?now|at the moment|last (?:night|week|month|year))$",
    re.IGNORECASE,
)
_BOOK = re.compile(
    r"(?<=\bwrote )(?:it|this|the (?:book|novel|play|story))$"
    r"|\b(?:it|this|the (?:book|novel|play|story))(?= (?:ends?|begins?|starts?|about|written|published)\b)",
    re.IGNORECASE,
)
"""What stands for the title: "How does it end?"."""


def bare_question(query: str) -> str:
    """The question itself: "Hello, can you tell me who the captain is, please?" becomes "Who is the captain?".

    Capitals alone become small letters, and "what's" "what is". "I am reading Dracula. Who is Renfield?" becomes "Who
    is Renfield in Dracula?". What asks nothing is left as it is.
    """
    if slip := _SLIP.match(query):
        word = _SLIPS[slip[0].lower()]
        query = (word.capitalize() if slip[0][0].isupper() else word) + query[slip.end() :]
    if len(query) <= LONGEST and (reading := _READING.match(query)):
        for end in _TITLE_ENDS.finditer(query, reading.end()):
            title, question = _ASIDE.sub("", query[reading.end() : end.start()]), _leave_courtesy(query[end.end() :])
            is_title = title[:1].isupper() or (query.islower() and not _NO_TITLE.match(title))
            if is_title and not _SENTENCE_ENDS.search(title) and re.match(_ASKS, question, re.IGNORECASE):
                titled = _name_book(question, title)
                return titled[0].upper() + titled[1:] if query[0].isupper() else titled
    return _leave_courtesy(query)


def _leave_courtesy(query: str) -> str:
    """A question without what is polite in it."""
    beginning = _BEGINNING.match(query) if len(query) <= LONGEST else None
    if not beginning:
        return query
    if query.isupper():
        return _leave_courtesy(query.lower())
    rest = _IS.sub(r"\1 is", _THANKS.sub("", query[beginning.end() :]).rstrip(" ,;"))
    if beginning["courtesy"]:
        if indirect := _INDIRECT.fullmatch(rest):
            rest = indirect.expand(r"\g<asking> \g<verb> \g<about>\g<rest>")
        rest = rest.rstrip(" .!?") + "?"
    return rest[0].upper() + rest[1:] if query[0].isupper() else rest


def _name_book(question: str, title: str) -> str:
    """A question with a book's title in it: "How does Dracula end?", "Who is Renfield in Dracula?"."""
    titled, named = _BOOK.subn(lambda _: title, question.rstrip(" ?."), count=1)
    return f"{titled}?" if named or title in titled else f"{titled} in {title}?"
