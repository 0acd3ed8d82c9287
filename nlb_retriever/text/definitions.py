"""Sentences that explain a term: "A norm is a rule that ...", "gentrification, in which ...", "This is called a gam."

English explains terms in few forms, which one can find by rule (Hearst, COLING 1992; Muresan and Klavans, LREC 2002).
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

MOST_WORDS = 6
"""Of a term."""
LONGEST = 1000
"""Characters of a sentence that is looked at: a longer one is a list or a poem."""
GENUS, VAGUE, COMPOUND = 0.5, -0.5, -1.0
"""Added to a form's strength where the kind of thing is narrowed down ("a society in which"), where it says little ("a
key concept"), and where another noun stands before the term ("the labour force" is no force)."""
LEAST_WORDS, CUT_WORDS = 2, 30
"""Least words of an explanation, and how many it has at most where it can be cut."""
_HEADWORD = 60
"""Characters of a line of a dictionary's entry that has another word for the same."""
_OUTER = " \n.,;:—–-_*"
_NEXT_DEFINED = re.compile(
    r"[;:—]\s+(?:(?:and|or)\s+)?"
    r"(?=(?:\(\w{1,3}\)\s*)?(?:the term\s+)?[“\"‘][^“”\"‘’;]{1,60}[”\"’]\s+(?:means?|includes?)\b)"
)
"""Before the next term of a law's definitions."""
_WORD = re.compile(r"[^\W_]+(?:[’'][^\W_]+)*")
_TERM = re.compile(rf"{_WORD.pattern}(?:[\s-]+{_WORD.pattern})*")
_WORD_BEGINS, _WORD_ENDS = r"(?<![^\W_])", r"(?![^\W_])"
"""In plain text a term may be in italics: "_norm_"."""
_NO_TERM = frozenset(
    "he she it they i you we this that these those there his her their my your our its him them me us".split()
)
_FUNCTION = frozenset(
    "a an the of in on at to for from by with as and or but that which is are was were be called named termed this such"
    " into about than not no all any every between toward towards through".split()
)
_POINTING = frozenset(
    "it these those one ones first second third fourth last latter former other another each both same case".split()
)
"""Words that say nothing without the sentences before."""
_OPEN = frozenset("and or but what that which who".split())
"""No explanation ends with one of these."""
_ADVERB = r"(?:\w+ly |often |also |thus |then |just |now |nothing but |not only )?"
_NOUN = rf"{_ADVERB}(?-i:an?|the|any|one|when|what|that|those|where|how|anything|anyone|something|simply|both)\b"
_DEFINED = (
    rf"(?:(?:is|are|was|were|may be|can be|could be|has been|have been) {_ADVERB}"
    r"(?:defined|understood|described|characteri[sz]ed|explained)(?: by [^,.;]{1,40})? (?:as|in terms of)"
    r"|refers? (?:\w+ly )?to|(?:(?:shall|will) )?means?|meant|denotes?|designates?|consists? (?:of|in)|stands? for"
    r"|(?:is|are|was|were) (?:the|a) (?:term|word|name) (?:for|used|given|that))"
)
_SEEN = (
    rf"(?:is|are|was|were|may be|can be|has been|have been) {_ADVERB}"
    r"(?:classified|regarded|known|considered|thought of|seen|viewed)(?: by [^,.;]{1,40})? (?:as|to be)"
)
_CALLED = r"(?:called|termed|named|dubbed|known as|referred to as|labell?ed)"
_ASIDE = r"(?:\s*\([^)]{1,80}\))?(?:,\s[^,.;]{1,90},\s|\s?—[^—.;]{1,90}—\s?|\s)\s*"
"""Between a term and its verb: "(CSR)", ", as Sumner described it,"."""
_BEGIN = (
    r"^(?:\(?(?:\d{1,2}(?:\.\d{1,3})*|[a-z])[.)]\s++)?[“\"‘'(\s_*=•–-]*"
    r"(?:(?:in|for|to|as|according|at|on|by|while|today|here|generally)\b[^.;:]{0,60},\s+)?"
    r"(?:(?:and|but|so|thus|then|hence|therefore|however|now|simply put),?\s+)?"
)
_INNER = r"(?:(?<=[,;:—] )|(?<=[—(])|(?<=that )|(?<=and )|(?<=but )|(?<=because )|(?<=while )|(?<=whereas ))"
_DET = r"(?:(?:an?|the|this|such|by|every)\s+)?"
_IDEA = r"(?:(?:term|word|concept|idea|practice|theory|doctrine|principle|notion|phrase)\s+(?:of\s+)?)?"
_KINDS = r"idea|belief|practice|process|study|theory|act|tendency|view|notion|use|ability|state|condition|name"
_BE = r"(?:is|are|was|were)"
_SO = r"(?! (?:for example|that|you|we|they|it|there)\b)"
_MEANING = rf"(?:(?:which|that) (?:means|meant|refers to)|meaning{_SO}|defined as)"
"""Not what follows from it: "preseeding, meaning that you get another chance"."""
_ENTRY, _COLON = r"^[\s*_•-]*", r"(?:\s*[:—–]|\s+-)"
"""Of a glossary."""
_MARKS = r"[ \t*_:.,\"'“”‘’()\[\]•–—-]*"
"""Around a term on its line; others are of program code ("namespace {")."""
_REST = (
    r"[^\S\n]*+(?:\([^)\n]{1,60}\))?[”\"’'*_]*[^\S\n]*+(?:[:–—]|-(?=\s))?"
    r"(?P<below>[^\S\n]*\n\s{0,9}|[^\S\n]+)?(?P<says>\S[^\n]*)"
)
"""What a glossary says of a term: behind it, or in the line below."""
_GOES_ON = re.compile(r"[^\W\d_]\S* (?-i:an?|the|when|how)\b")
"""A word of a longer term, before what is said of that: "lag the gap" behind "culture"."""
_FINITE = re.compile(r"(?:is|are|was|were|be|has|have|had|does|do|did|means?|refers?|shall|will|can|may|must)\b")
"""Of a sentence, whose form says what it explains."""
_DETERMINED = re.compile(r"(?:an?|the|any|one|when|how|what|to|of|in|by|for|with|from)\b", re.IGNORECASE)
_ITEM = re.compile(r"[*•–—]\s|-")
"""Of a list, or an option of a program."""
_CLASS = r"(?:\b(?:n|vt|vi|v|v\.t|v\.i|adj|adv|imp|interj|excl|prep|conj|abbrev|pl)\b(?:\.|(?=[,/]))(?:[,/]|[^\S\n])*)"
"""A word class in a dictionary: "n., adj."."""
_SOUND = (
    r"(?:/[^/\n]{1,40}/|(?:[^\W\d_][\w-]{1,30}\s)?\\[^\\\n]{1,40}\\(?:\s{0,9}\([^()\n]{1,60}\))?"
    r"|\n[^\W\d_][\w*\"'`-]{1,40},(?=\s(?:n|v|a|adv|prep|conj|interj)\.))"
)
"""How a term is said: "/hak'r/", in Webster's dictionary "\\Car\"pel\\ (pron.)", of two forms too, or a line below."""
_LABELS = re.compile(
    r"(?:\s*(?:(?:Defn|Etym):|\d{1,2}[.)]|<[^>\n]{1,40}>|\[[^\]]{1,300}\]|\([^)]{1,60}\)|[a-z]{1,6}\.(?=\s|$)))+\s*"
)
"""Before what a word means in a dictionary: "1.", "[from Latin]", "(also: flamewar)", "n."."""
_BARE = r"(?<!\bthe )(?<!\bthis )(?<!\bthat )(?<!\ba )(?<!\ban )(?<!\bits )(?<!\bhis )(?<!\bher )(?<!\btheir )"
"""Before a term that is explained in brackets: not "the reader (the one of 2026)"."""
_NO_CLAUSE = r"(?!an? (?:(?!that|which|who)\S+ ){1,3}?(?:is|are|was|were|has|had|can|will|would|did)\b)"
"""So "in the workshop, a norm is a measure" says nothing of workshops."""
_PLURAL = r"(?!\w+(?:ed|ing)\b|not\b|often\b|more\b|most\b|in\b|on\b|at\b)"
_VERB = r"(?-i:[a-z]+ed|gave|made|took|brought|led|set|began|put|gives|makes)\b"
_WHY = re.compile(rf"\bwhy\b[^.;:]*\b{_CALLED}\b", re.IGNORECASE)
"""Who asks why something is called so does not say what it is."""
_END = r"(?=\s*[.,;:)—”\"]|\s*$|\s+(?:in|by|for|and|which|that|who|where|when|of|to|is|was|are|were)\b)"
_GENUS = re.compile(
    r"(?:\S+ ){1,6}?(?:in which|by which|that|which|who|whose|whereby|where|when|of|for|to|with|between)\b"
)
_VAGUE = re.compile(
    r"(?:an? |the |one of the |just )(?:more|less|most|better|best|key|central|major|main|important|significant|common"
    r"|great|good|form|kind|type|part|example|result|product|cause|reason|source|ideal|subject|matter|one"
    r"|same)\b(?! of)"
)
_BEFORE = re.compile(r"\b([^\W\d_]+)\s+$")
_ADJECTIVE = ("al", "ic", "ive", "ous", "ary", "ed")
_BREAK = re.compile(r"[,:—]")


@dataclass(frozen=True, kw_only=True)
class Explanation:
    """Where a sentence explains a term."""

    strength: float
    """Of the form that it has: 3 for "X is a ...", 1 for what a name's sentence says of it."""
    start: int
    end: int
    """Span in the sentence of the words that explain; of all before "called X" where they are among these."""
    exact: bool = True
    """Whether that span is the explanation, and does not just hold it."""


class Term:
    """A term, found in sentences that explain it."""

    def __init__(self, text: str) -> None:
        """Compile the forms for a term without its article, such as "norm", "veil of ignorance", "New Deal".

        Raises:
            ValueError: `is_term` says no.
        """
        if not is_term(text):
            raise ValueError(f"{text!r} is no term")
        *first, last = words = _WORD.findall(text)
        self.text = text
        self._is_word = len(words) == 1
        self._start = words[0][:2].lower()
        self._words = re.compile("|".join((*map(re.escape, first), _singular_or_plural(last))), re.IGNORECASE)
        name = r"[\s-]+".join((*map(re.escape, first), _singular_or_plural(last)))
        name = rf"(?-i:{name})" if text.isupper() and len(text) > 1 else name
        name = rf"{_WORD_BEGINS}{name}{_WORD_ENDS}"
        self._name = re.compile(name, re.IGNORECASE)
        self._line = re.compile(
            rf"^{_MARKS}{name}{_MARKS}(?:{_SOUND}{_MARKS}){{0,3}}(?:(?P<class>{_CLASS}+)|$)",
            re.IGNORECASE | re.MULTILINE,
        )
        self._entry = re.compile(rf"^{_MARKS}{name}(?P<rest>{_REST})", re.IGNORECASE | re.MULTILINE)
        name = rf"[“\"‘'_*=]*{name}(?:,?[”\"’'_*=]+)?"
        self._forms = [
            (strength, re.compile(form, re.IGNORECASE | re.DOTALL))
            for strength, form in _forms(name, is_name=text[0].isupper())
        ]

    def is_in(self, text: str) -> bool:
        """Whether a text has the term."""
        return self._name.search(text) is not None

    def entries(self, text: str) -> list[tuple[int, bool]]:
        """The lines of a text that have the term alone, as a dictionary has it above what it says of it.

        One without what a dictionary adds stands below a blank line, or below other words that stand there, and is
        no item of a list.

        Returns:
            Where each ends, and whether it has what a dictionary adds: ":hacker: /hak'r/, n.", "ABDICATION, n.".
        """
        found = []
        for match in self._line.finditer(text):
            line = match[0].lstrip()
            has_label = line.startswith(":") or bool(match["class"])
            if has_label or (not _ITEM.match(line) and _begins(text[: match.start()])):
                found.append((match.end(), has_label))
        return found

    def glossed(self, text: str) -> list[tuple[int, int, int]]:
        """The entries of a glossary that are the term's, which may be no sentences: "norm  a rule of conduct".

        Returns:
            The beginning and end of each, and where what it says begins; of a vocabulary ("nauta, -ae, m., sailor")
            all of it.
        """
        found = []
        for match in self._entry.finditer(text):
            says = match["says"]
            is_below = "\n" in (match["below"] or "")
            goes_on = not is_below and _GOES_ON.match(says) and not _DETERMINED.match(says)
            if len(says) <= LONGEST and not (goes_on or _FINITE.match(says)):
                begin = match.start() + len(match[0]) - len(match[0].lstrip())
                found.append((begin, match.end(), begin if says[0] == "," else match.start("says")))
        return found

    def explain(self, sentence: str) -> Explanation | None:
        """How a sentence explains the term, by its strongest form; None where it does not."""
        if len(sentence) > LONGEST or self._start not in sentence.lower():
            return None
        return max(self._explanations(sentence), key=lambda each: each.strength, default=None)

    def _explanations(self, sentence: str) -> Iterator[Explanation]:
        for strength, form in self._forms:
            match = form.search(sentence)
            if not match or _WHY.search(sentence, 0, match.end()):
                continue
            if "says" not in match.groupdict():
                yield Explanation(strength=strength, start=0, end=match.start(), exact=False)
                continue
            start, end = trim(sentence, *match.span("says"))
            words = sentence[start:end].split()
            if len(words) < LEAST_WORDS or words[-1].lower() in _OPEN or self._says_nothing(sentence[start:end]):
                continue
            added = GENUS if _GENUS.match(sentence, start, end) else 0.0
            added += VAGUE if _VAGUE.match(sentence, start, end) else 0.0
            added += COMPOUND if self._is_compound(sentence[: match.start()]) else 0.0
            yield Explanation(strength=strength + added, start=start, end=_shorten(sentence, start, end))

    def _says_nothing(self, text: str) -> bool:
        """Whether an explanation has only the term's own words and such as "the third case"."""
        words = (word for word in _WORD.findall(text) if not self._words.fullmatch(word))
        return _FUNCTION.union(_POINTING).issuperset(word.lower() for word in words)

    def _is_compound(self, before: str) -> bool:
        """Whether another noun stands before the term: a word without the ending of an adjective."""
        noun = _BEFORE.search(before) if self._is_word else None
        return noun is not None and noun[1].lower() not in _FUNCTION and not noun[1].endswith(_ADJECTIVE)


def _begins(above: str) -> bool:
    """Whether a line below a text begins a paragraph, behind at most three short lines that no stop ends."""
    lines = above.split("\n")[-5:-1]
    for line in reversed(lines):
        if not line.strip():
            return True
        if len(line) > _HEADWORD or line.rstrip()[-1] in ".,;:{}()":
            return False
    return len(lines) < 4


def is_term(text: str) -> bool:
    """Whether a text can be a term: a few words, none of them a pronoun."""
    words = _WORD.findall(text)
    if not _TERM.fullmatch(text) or len(words) > MOST_WORDS:
        return False
    return not _NO_TERM & {word if word.isupper() else word.lower() for word in words}


def _singular_or_plural(noun: str) -> str:
    """A regular expression of a noun's forms."""
    if noun.endswith("y"):
        return rf"{re.escape(noun[:-1])}(?:y|ies)"
    is_plural = len(noun) > 3 and noun.endswith("s") and not noun.endswith("ss")
    return rf"{re.escape(noun[:-1] if is_plural else noun)}(?:e?s)?"


def split_definitions(text: str, start: int, end: int) -> Iterator[tuple[int, int]]:
    """The definitions of a law that stand in one sentence: "In this Act— “bell” includes ...; “clock” means ...;"."""
    for cut in _NEXT_DEFINED.finditer(text, start, end):
        yield start, cut.start() + 1
        start = cut.end()
    yield start, end


def skip_labels(text: str) -> int:
    """Characters before what a word means in an entry of a dictionary: "1. [from Latin] "."""
    match = _LABELS.match(text)
    return match.end() if match else 0


def trim(text: str, start: int, end: int) -> tuple[int, int]:
    """A span without outer stops, and without a bracket or quotation mark whose other half is outside."""
    start += len(text[start:end]) - len(text[start:end].lstrip(_OUTER))
    inner = text[start:end].rstrip(_OUTER)
    for opening, closing in ("()", "[]", "“”"):
        if inner.count(closing) > inner.count(opening):
            inner = inner[: inner.rfind(closing)]
        elif inner.count(opening) > inner.count(closing):
            cut = inner.rfind(opening)
            inner = f"{inner}{closing}" if text.startswith(closing, start + len(inner)) else inner[:cut]
    return start, start + len(inner.rstrip(_OUTER))


def _shorten(text: str, start: int, end: int) -> int:
    """The end of an explanation: its first semicolon, and of a long one the last break before `CUT_WORDS`."""
    end = trim(text, start, text.find(";", start, end) if ";" in text[start:end] else end)[1]
    words = [match.end() for match in re.finditer(r"\S+", text[start:end])]
    if len(words) <= CUT_WORDS:
        return end
    breaks = [match.start() for match in _BREAK.finditer(text, start + words[LEAST_WORDS], start + words[CUT_WORDS])]
    return trim(text, start, breaks[-1])[1] if breaks else end


def _forms(name: str, *, is_name: bool) -> list[tuple[float, str]]:
    """Regular expressions with their strengths; "says" is the explanation, before the match where there is none."""
    subject = rf"{_DET}{_IDEA}{name}{_ASIDE}"
    means = r"(?:(?:shall|will) )?means?\s+(?P<says>.+)"
    quoted = rf"(?:(?:an?|the|to)\s+)?(?=[“\"‘']){name}\s+"
    called = rf"{_CALLED}\s+(?:an?\s+|the\s+)?{name}{_END}"
    often = r"(?:(?:\w+ly|often|also|sometimes)\s+)?"
    forms = [
        (5.0, rf"{_BEGIN}{quoted}(?:[^.;:“”\"]{{1,60}}?\s)?{means}"),
        (5.0, rf"{_BEGIN}{quoted}(?:\([^)]{{1,40}}\)\s){means}"),
        (5.0, rf"{_BEGIN}{quoted}{_BE}\s+(?P<says>(?:either|{_NOUN}).+)"),
        (4.0, rf"{_BEGIN}{quoted}includes?\s+(?P<says>.+)"),
        (3.0, rf"{_BEGIN}{subject}{_DEFINED}\s+(?P<says>.+)"),
        (3.0, rf"{_BEGIN}{subject}{_BE}\s+(?P<says>{_NOUN}.+)"),
        (3.0, rf"\b(?:definition|meaning) of (?:an?\s+|the\s+)?{_IDEA}{name}{_ASIDE}{_BE}\s+(?P<says>.+)"),
        (2.5, rf"{_BEGIN}{_DET}[^.;:()]{{1,80}}\({name}\)[”\"’']?,? {_BE}\s+(?P<says>{_NOUN}.+)"),
        (2.5, rf"{_ENTRY}{name}{_COLON}\s*[*_]*(?P<says>(?!{name})\S+\s(?-i:[a-z]).+)"),
        (2.5, rf"^{_MARKS}{name}{_MARKS}\n[^\S\n]*(?P<says>(?-i:[A-Z(\[]).+)"),
        (2.0, rf"{_BEGIN}{subject}{_SEEN}\s+(?P<says>.+)"),
        (2.0, rf"{_INNER}{subject}{_DEFINED}\s+(?P<says>.+)"),
        (2.0, rf"{_INNER}{subject}{_BE}\s+(?P<says>{_NOUN}.+)"),
        (2.0, rf"{name}\s*[—–]\s*(?P<says>(?-i:the|an?|any|when|how)\b[^—;]+)"),
        (2.0, rf"{name}\s+\([^)]{{1,80}}\):\s+(?P<says>(?-i:the|an?)\b.+)"),
        (2.0, rf"{_BARE}{name}\s+\((?P<says>(?-i:the|an?|any|when|how)\b[^;)]+)"),
        (2.0, rf"{name},\s+{_MEANING}\s+(?P<says>[^;]+)"),
        (2.0, rf"{name},\s+(?:which|that)\s+{_BE}\s+(?P<says>{_NOUN}[^;]+)"),
        (2.0, rf"{name},\s+(?P<says>{_NO_CLAUSE}(?-i:an?|the (?:{_KINDS})|in which|whereby)\b[^;]+)"),
        (2.0, rf"{_BEGIN}(?P<says>[^\s.;:][^.;:]*?),?\s++{_BE}\s+{often}{called}"),
        (
            3.0,
            rf"{_BEGIN}(?P<says>[^\s.;:][^.;:]*?),\s+(?:which\s+)?(?:I|we)\s+(?:have\s+)?call(?:ed)?\s+{name}{_END}",
        ),
        (1.5, rf"{name},\s+or\s+(?!an?\b)(?P<says>[^,.;:—)]+)"),
        (1.5, called),
        (1.0, rf"{_BEGIN}{subject}(?:are|were)\s+(?P<says>{_PLURAL}.+)"),
    ]
    if is_name:
        forms += [
            (1.0, rf"{_BEGIN}(?:the\s+)?{name}{_ASIDE}(?P<says>{_VERB}.+)"),
            (1.0, rf"{name},\s+(?:which|that)\s+(?P<says>{_VERB}.+)"),
        ]
    return forms
