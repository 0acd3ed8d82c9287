"""Find chapter headings in plain text: what a heading looks like, one line at a time.

`outline.py` decides which of these candidates are real. All patterns are anchored and run on
lines of bounded length, so the work is linear in the text.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from itertools import pairwise

MAX_LINE = 160

_ONES_TEXT = """one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen
    seventeen eighteen nineteen"""
_TENS_TEXT = "twenty thirty forty fifty sixty seventy eighty ninety"
_ORDINALS_TEXT = """first second third fourth fifth sixth seventh eighth ninth tenth eleventh twelfth thirteenth
    fourteenth fifteenth sixteenth seventeenth eighteenth nineteenth twentieth"""
_ONES, _TENS, _ORDINALS = _ONES_TEXT.split(), _TENS_TEXT.split(), _ORDINALS_TEXT.split()
_GERMAN_TENS = "zwanzig dreißig vierzig".split()
_GERMAN_ONES = ["", *(f"{one}und" for one in "ein zwei drei vier fünf sechs sieben acht neun".split())]
_FOREIGN_ORDINALS = {
    "premier": 1, "première": 1, "deuxième": 2, "second": 2, "seconde": 2, "troisième": 3, "quatrième": 4,
    "cinquième": 5, "sixième": 6, "septième": 7, "huitième": 8, "neuvième": 9, "dixième": 10,
    "onzième": 11, "douzième": 12, "treizième": 13, "quatorzième": 14, "quinzième": 15, "seizième": 16,
    "erstes": 1, "zweites": 2, "drittes": 3, "viertes": 4, "fünftes": 5, "sechstes": 6, "siebentes": 7,
    "siebtes": 7, "achtes": 8, "neuntes": 9, "zehntes": 10, "elftes": 11, "zwölftes": 12, "dreizehntes": 13,
    "vierzehntes": 14, "fünfzehntes": 15, "sechzehntes": 16, "siebzehntes": 17, "achtzehntes": 18, "neunzehntes": 19,
    "erster": 1, "zweiter": 2, "dritter": 3, "vierter": 4, "fünfter": 5,
    "primero": 1, "primera": 1, "segundo": 2, "segunda": 2, "tercero": 3, "tercera": 3, "cuarto": 4, "cuarta": 4,
    "quinto": 5, "sexto": 6, "séptimo": 7, "octavo": 8, "noveno": 9, "décimo": 10, "primeiro": 1, "terceiro": 3,
    "sesto": 6, "settimo": 7, "ottavo": 8, "nono": 9, "decimo": 10,
    "первая": 1, "вторая": 2, "третья": 3, "четвертая": 4, "четвёртая": 4, "пятая": 5, "шестая": 6, "седьмая": 7,
    "восьмая": 8, "девятая": 9, "десятая": 10, "одиннадцатая": 11, "двенадцатая": 12, "тринадцатая": 13,
    "четырнадцатая": 14, "пятнадцатая": 15, "шестнадцатая": 16, "семнадцатая": 17, "восемнадцатая": 18,
    "девятнадцатая": 19, "двадцатая": 20, "первый": 1, "второй": 2, "третий": 3, "первое": 1, "второе": 2, "третье": 3,
    "четвертое": 4, "четвёртое": 4, "пятое": 5,
    "primo": 1, "prima": 1, "secondo": 2, "seconda": 2, "terzo": 3, "terza": 3, "quarto": 4, "last": 99,
    "primus": 1, "secundus": 2, "secunda": 2, "tertius": 3, "tertia": 3, "quartus": 4, "quarta": 4,
    "quintus": 5, "quinta": 5, "sextus": 6, "sexta": 6, "septimus": 7, "septima": 7, "octava": 8, "nona": 9,
}  # fmt: skip
_WORDS = (
    {w: i for i, w in enumerate(_ONES, 1)}
    | {w: i for i, w in enumerate(_ORDINALS, 1)}
    | {t: 20 + 10 * i for i, t in enumerate(_TENS)}
    | {f"{t}-{o}": 20 + 10 * i + j for i, t in enumerate(_TENS) for j, o in enumerate(_ONES[:9], 1)}
    | {f"{t} {o}": 20 + 10 * i + j for i, t in enumerate(_TENS) for j, o in enumerate(_ONES[:9], 1)}
    | {f"{t}-{o}": 20 + 10 * i + j for i, t in enumerate(_TENS) for j, o in enumerate(_ORDINALS[:9], 1)}
    | {t[:-1] + "ieth": 20 + 10 * i for i, t in enumerate(_TENS)}
    | _FOREIGN_ORDINALS
    | {f"{o}{t}stes": 10 * n + i for n, t in enumerate(_GERMAN_TENS, 2) for i, o in enumerate(_GERMAN_ONES)}
)

UNNUMBERED = frozenset({"bare", "named", "front", "caps", "plain"})
"""Kinds of lines that hold no number with a word for what is numbered."""
OF_LAWS = frozenset({"title", "article", "amendment", "clause", "annex"})
KIND_LEVELS = {
    "volume": 1, "part": 2, "book": 2, "act": 3, "title": 3, "chapter": 4, "scene": 5, "section": 5,
}  # fmt: skip
"""Outermost first; kinds that are not named here stand beside chapters."""
_KEYWORDS = {
    "chapter": "chapter chap chapitre kapitel capitel capítulo capitulo capitolo hoofdstuk kapittel kapitlet rozdział"
    " kapitola luku fejezet bölüm κεφάλαιο глава розділ",
    "book": "book livre buch libro boek liber livro księga книга",
    "part": "part partie teil theil parte deel phase część osa rész часть частина",
    "volume": "volume vol tome tomo band том",
    "act": "act acte akt aufzug atto acto actus ato действие",
    "scene": "scene scène szene escena scena scaena scoena scæna cena сцена явление",
    "canto": "canto chant gesang fytte",
    "letter": "letter lettre brief epistle",
    "stave": "stave",
    "section": "section abschnitt",
    "article": "article art artikel articolo artículo artigo статья §",
    "amendment": "amendment",
    "clause": "clause",
    "annex": "annex schedule",
    "title": "title",
    "lecture": "lecture sermon discourse dialogue essay",
    "story": "story tale adventure episode chronicle narrative novel fable",
    "day": "day night",
    "period": "period epoch",
    "poem": "sonnet ode psalm elegy idyl idyll",
    "legend": "legend rhapsody",
}
_KIND = {word: kind for kind, words in _KEYWORDS.items() for word in words.split()}
_ROMAN_TEXT = r"(?=[IVXLCivxlc])[Cc]{0,3}(?:[Xx][Cc]|[Xx][Ll]|[Ll]?[Xx]{0,4})(?:[Ii][Xx]|[Ii][Vv]|[Vv]?[Ii]{0,4})"
_NESTING = {"volume", "part", "book", "act", "chapter", "scene", "section", "canto", "letter"}
NUMBER = (
    rf"(?P<roman>{_ROMAN_TEXT})|(?P<arabic>\d{{1,3}})(?:st|nd|rd|th)?|(?P<word>"
    + "|".join(sorted((re.escape(w) for w in _WORDS), key=len, reverse=True))
    + ")"
)
_KEY = "|".join(sorted(_KIND, key=len, reverse=True))
_KEY_FIRST = re.compile(rf"(?:the )?(?P<key>{_KEY})\.?[ ]+(?:the |no\.? ?)?(?:{NUMBER})(?![\w’'])", re.IGNORECASE)
_NUMBER_FIRST = re.compile(rf"(?:the )?(?:{NUMBER})\.?[ ]+(?P<key>{_KEY})(?![\w’'])", re.IGNORECASE)
_BARE = re.compile(
    r"(?:(?P<roman>(?=[IVXLC])C{0,3}(?:XC|XL|L?X{0,4})(?:IX|IV|V?I{0,4}))|(?P<arabic>\d{1,3}))"
    r"(?P<mark>[.:)]|[ ]?(?:--|[-—–]))?(?![\w’'.:)])(?!-[^-])"
)
_NAMED = re.compile(
    r"(?:(?:author|translator|editor|publisher|writer)['’]?s?['’]? )?(?:general |historical |critical )?"
    r"(?P<name>preface|préface|foreword|prologue|prólogo|prologo|epilogue|epilog|epílogo|introduction|introductory"
    r"|prelude|interlude|intermezzo|afterword|postscript|appendix|conclusion|finale|dedication|contents"
    r"|table of contents|list of illustrations|illustrations|notes?|endnotes|footnotes|glossary|bibliography|index"
    r"|vorwort|nachwort|einleitung|advertisement|argument|etymology|extracts|proem|induction|envoi|l['’]envoi|addenda"
    r"|addendum|acknowledge?ments|dramatis person(?:ae|æ)|(?:the )?persons of the play|characters|about the author"
    r"|transcriber['’]s notes?|introductory note|prefatory note|to the reader|summary|coda|references)"
    r"(?: (?:to|by|of|on|for) .{1,60})?[ ]*(?:\(.{1,60}\))?[.:]?"
    r"|(?P<appendix>appendix|anhang|appendice) (?:[A-Z]|[IVX]{1,4}|\d{1,2})[.:]?(?: .{1,60})?",
    re.IGNORECASE,
)
FRONT_NAMES = {
    "contents", "table of contents", "list of illustrations", "illustrations", "dedication", "transcriber's note",
    "transcriber's notes", "transcriber’s note", "transcriber’s notes", "dramatis personae", "dramatis personæ",
    "persons of the play", "the persons of the play", "characters",
}  # fmt: skip
_BIBLIOGRAPHY = re.compile(
    r"(?:[\dA-Z]{1,3}\W+)?(?:references(?: cited)?|bibliography|works cited|literature cited|literature"
    r"|literatur(?:verzeichnis)?|bibliographie|bibliograf[ií]a|références(?: bibliographiques)?|参考文献)\W*",
    re.IGNORECASE,
)
_EAST_ASIAN = re.compile(
    r"[第제]\s*(?P<number>[0-9\uff10-\uff19〇零一二三四五六七八九十百]{1,7})\s*(?P<key>[章回話话節节部編编篇卷巻幕条條장부화권편조])"
    r"(?P<mark>[\s:\uff1a、．.]*)(?P<rest>[^\n。]{0,60})"
)
_EAST_ASIAN_KIND = {
    key: kind
    for kind, keys in {
        "chapter": "章回話话장화",
        "section": "節节",
        "part": "部編编篇부편",
        "volume": "卷巻권",
        "act": "幕",
        "article": "条條조",
    }.items()
    for key in keys
}
_STAGE = re.compile(r"(?:(?:re-?)?enter|exit|exeunt|by)\b", re.IGNORECASE)
"""Stage directions and the author's name under a tale's title are no headings."""
_DECORATION = " \t_*=#~|/[]{}<>\\"
_PAGE_TAIL = re.compile(r"(?<!\b[Nn]o)(?<!\bNO)(?:[ .·…_]{2,}|\t)[ ]*(?:\d{1,4}|[ivxl]{1,6})$")


@dataclass
class Candidate:
    """A line that looks like a heading."""

    start: int
    end: int
    kind: str
    """A kind of `KIND_LEVELS` or another keyword's, or "bare", "named", "caps", "plain"."""
    number: int
    title: str
    rest: str = ""
    """The title without its number, empty where the line holds the number alone."""
    style: str = ""
    """Of a number: "roman", "arabic" or "word"."""
    line: int = 0
    """Index of its line among the text's non-blank lines."""


def is_bibliography(title: str) -> bool:
    """Whether a title is that of a list of references."""
    return _BIBLIOGRAPHY.fullmatch(title) is not None


def roman(text: str) -> int:
    values = {"I": 1, "V": 5, "X": 10, "L": 50, "C": 100}
    digits = [values[c] for c in text.upper()]
    return sum(-d if d < max(digits[i + 1 :], default=0) else d for i, d in enumerate(digits))


def strip_line(line: str) -> str:
    """The line without what books put around headings, and without a contents line's page."""
    text = _PAGE_TAIL.sub("", line.strip(_DECORATION)).strip(_DECORATION)
    return f"{text}]" if text.count("[") > text.count("]") else text


def parse_line(line: str, start: int, end: int) -> list[Candidate]:
    """The headings that a line holds by its own look ("ACT I. SCENE I." holds two)."""
    text = strip_line(line)
    if match := _EAST_ASIAN.fullmatch(text):
        return _east_asian(match, start, end)
    if not text or not (text[0].isupper() or text[0].isdigit() or text[0] == "§") or _STAGE.match(text):
        return []
    if (found := _keyword(text, start, end)) or (found := _bare(text, start, end)):
        return found
    if len(text) <= 90 and (match := _NAMED.fullmatch(text)) and not text.islower():
        name = (match["name"] or "appendix").lower()
        return [Candidate(start, end, "front" if name in FRONT_NAMES else "named", 0, text, text)]
    if _is_caps(text):
        return [Candidate(start, end, "caps", 0, text, text)]
    return []


def _east_asian(match: re.Match[str], start: int, end: int) -> list[Candidate]:
    """Chapters of Chinese, Japanese and Korean books: "第十二章 旅立ち"."""
    rest = match["rest"].strip()
    if rest and not match["mark"]:
        return []  # "第一章では" is a sentence
    kind = _EAST_ASIAN_KIND[match["key"]]
    style = "arabic" if match["number"].isdecimal() else "word"
    return [Candidate(start, end, kind, east_asian_number(match["number"]), match[0].strip(), rest, style)]


def east_asian_number(text: str) -> int:
    if text.isdecimal():
        return int(text)
    digits = {digit: value for value, digit in enumerate("〇一二三四五六七八九")} | {"零": 0}
    if not set(text) & set("十百"):
        return int("".join(str(digits[digit]) for digit in text))  # 一二 as in 12
    hundreds, _, below = text.rpartition("百")
    tens, ten, ones = below.rpartition("十")
    whole = 100 * digits.get(hundreds[-1:] or "一", 1) if "百" in text else 0
    return whole + (10 * digits.get(tens[-1:] or "一", 1) if ten else 0) + digits.get(ones[-1:], 0)


def _keyword(text: str, start: int, end: int) -> list[Candidate]:
    found: list[Candidate] = []
    while match := _KEY_FIRST.match(text) or _NUMBER_FIRST.match(text):
        key = match["key"]
        if key[0].islower() and match.re is not _NUMBER_FIRST:
            break
        rest = text[match.end() :]
        body = rest.lstrip(" .:;,—–-)]}_*/")
        separated = rest[: len(rest) - len(body)].strip() != ""
        if body and not separated and not (body[0].isupper() or body[0] in "“\"‘'([_"):
            break
        if body and body[0].islower():
            break
        if body and not separated and match["word"] and not text[: match.end()].isupper() and len(body) > 60:
            break
        kind = _KIND[key.lower()]
        if found and kind not in _NESTING:
            break
        number, style = number_of(match)
        found.append(Candidate(start, end, kind, number, text, body, style))
        text = body
        if not text:
            break
    if len(found) > 1:
        for outer, inner in pairwise(found):
            outer.title = outer.title[: len(outer.title) - len(inner.title)].strip(" .:;,—–-")
            outer.rest = ""
    return found


def number_of(match: re.Match[str]) -> tuple[int, str]:
    """The number that `NUMBER` matched, and its style."""
    if match["arabic"]:
        return int(match["arabic"]), "arabic"
    groups = match.groupdict()
    if groups.get("word"):
        return _WORDS[groups["word"].lower()], "word"
    return roman(match["roman"]), "roman"


def _bare(text: str, start: int, end: int) -> list[Candidate]:
    match = _BARE.match(text)
    if not match or not match[0]:
        return []
    body = text[match.end() :].strip(" .:—–-")
    if body and not (title_like(body) and (match["mark"] or body.isupper() or body[0].isupper())):
        return []
    number = int(match["arabic"]) if match["arabic"] else roman(match["roman"])
    label = (match["roman"] or match["arabic"]) + (f". {body}" if body else "")
    return [Candidate(start, end, "bare", number, label, body, "arabic" if match["arabic"] else "roman")]


def _is_caps(text: str) -> bool:
    letters = [c for c in text if c.isalpha()]
    if len(letters) < 3 or len(text) > 110 or not (text[0].isalnum() or text[0] in "“\"‘'("):
        return False
    if sum(c.isupper() for c in letters) < len(letters) - (2 if len(letters) > 12 else 0):
        return False
    return text[-1] not in ",;-—" and text.strip(" .!").lower() not in {"the end", "end", "finis", "fin", "amen"}


def title_like(text: str) -> bool:
    """Short, begins with a capital, most longer words capitalised, no sentence's end."""
    text = text.strip(_DECORATION)
    if not 2 <= len(text) <= 110 or text[-1] in ",;:-—" or not any(c.isalpha() for c in text):
        return False
    first = text.lstrip("“\"‘'(_—–-…. ")
    if not first or not (first[0].isupper() or first[0].isdigit()):
        return False
    words = [w for w in re.findall(r"[^\W\d_]+", text) if len(w) > 3]
    capital = sum(w[0].isupper() for w in words)
    if text.endswith((".", "!", "?", "”", '"')):
        return capital >= 0.6 * len(words) and len(text) <= 90
    return len(text) <= 70 or capital >= 0.5 * len(words)


def is_speech(line: str) -> bool:
    """Whether a line, which may be a title, is rather what somebody says."""
    words = [w for w in re.findall(r"[^\W\d_]+", line) if len(w) > 3]
    return line[-1] in ".!?”\"'’" and (
        line[0] in "“\"‘'" or sum(w[0].isupper() for w in words) < max(1, 0.6 * len(words))
    )
