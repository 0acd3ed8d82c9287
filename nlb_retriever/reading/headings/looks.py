"""Find chapter headings in plain text: what a heading looks like, one line at a time.

`outline.py` decides which of these candidates are real. All patterns are anchored and run on
lines of bounded length, so the work is linear in the text.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from itertools import pairwise

from nlb_retriever.reading.headings.number_words import fold_word, match_number, roman

MAX_LINE = 160

UNNUMBERED = frozenset({"bare", "named", "front", "caps", "plain"})
"""Kinds of lines that hold no number with a word for what is numbered."""
OF_LAWS = frozenset({"title", "article", "amendment", "clause", "annex"})
COUNTED = re.compile(r"[A-Z][a-z]+\W*\d+\W*")
"""A name with a number ("Psalm 12", "Lesson 3"): neither a running head nor a title with its page."""
KIND_LEVELS = {
    "volume": 1, "part": 2, "book": 2, "act": 3, "title": 3, "chapter": 4, "scene": 5, "section": 5,
}  # fmt: skip
"""Outermost first; kinds that are not named here stand beside chapters."""
_KEYWORDS = {
    "chapter": "chapter chap cap chapitre kapitel capitel capítulo capitolo capitolul capítol hoofdstuk kapittel"
    " kapitlet rozdział kapitola luku fejezet bölüm κεφάλαιο глава розділ فصل الفصل باب الباب פרק अध्याय",
    "book": "book livre buch libro boek liber livro księga könyv βιβλίο книга ספר",
    "part": "part partie teil theil parte deel delen phase część osa rész kısım μέρος часть раздел частина"
    " جزء الجزء חלק भाग",
    "volume": "volume vol tome tomo band τόμος том",
    "act": "act acte akt akten aufzug atto acto jornada actus ato bedrijf dějství felvonás perde πράξη действие",
    "scene": "scene scène szene auftritt escena scena scaena scoena scæna cena сцена явление",
    "canto": "canto chant gesang fytte pieśń ének песнь ραψωδία",
    "letter": "letter lettre brief lettera carta письмо epistle",
    "stave": "stave",
    "section": "section abschnitt",
    "article": "article art artikel articolo artículo artigo статья §",
    "amendment": "amendment",
    "clause": "clause",
    "annex": "annex schedule",
    "title": "title",
    "lecture": "lecture sermon discourse dialogue essay",
    "story": "story tale novella geschichte рассказ adventure episode chronicle narrative novel fable",
    "day": "day night giornata nuit nacht",
    "period": "period epoch",
    "poem": "sonnet ode psalm elegy idyl idyll",
    "legend": "legend rhapsody",
}
_WORDS = {word: kind for kind, words in _KEYWORDS.items() for word in words.split()}
_KIND = {fold_word(word): kind for word, kind in _WORDS.items()}
_NESTING = {"volume", "part", "book", "act", "chapter", "scene", "section", "canto", "letter"}
_ENGLISH = frozenset(
    "chapter chap book part phase volume vol tome band act scene canto chant letter brief epistle section".split()
)
"""Behind these no word for a number counts that is only one in other languages: "on" is ten in Turkish."""
_KEY = "|".join(sorted({*_KIND, *_WORDS}, key=len, reverse=True))
_KEY_FIRST = re.compile(rf"(?:the )?(?P<key>{_KEY})\.?[ ]+(?:the |no(?![^\W\d_])\.? ?)?", re.IGNORECASE)
_THE = re.compile(r"(?:(?:the|das|der|die) )?", re.IGNORECASE)
_KEY_BEHIND = re.compile(rf"\.?[ ]+(?P<key>{_KEY})(?![\w’'])", re.IGNORECASE)
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
_NAMED_ABROAD = frozenset(
    map(
        fold_word,
        """vorrede geleitwort prolog schluss schluß schlußwort avant-propos avertissement postface épilogue
        prefacio introducción conclusión prefazione introduzione conclusione prefácio introdução conclusão posfácio
        voorwoord nawoord inleiding proloog epiloog förord inledning efterord forord efterskrift epilóg předmluva úvod
        závěr doslov přílohy przedmowa wstęp zakończenie posłowie előszó bevezetés utószó befejezés önsöz giriş sonsöz
        sonuç πρόλογος εισαγωγή επίλογος пролог предисловие введение вступление заключение послесловие эпилог передмова
        вступ епілог مقدمة تمهيد خاتمة مقدمه הקדמה מבוא אחרית_דבר סוף_דבר प्रस्तावना भूमिका उपसंहार
        序 序言 序章 前言 楔子 引子 尾声 尾聲 后记 後記 終章 终章 プロローグ エピローグ はじめに まえがき あとがき
        おわりに 프롤로그 에필로그 머리말 서문 맺음말 후기""".split(),
    )
)
"""Prefaces, prologues, introductions, conclusions and epilogues in other languages than English."""
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
_HAN = "〇零一二三四五六七八九十百"
_EAST_ASIAN = re.compile(
    rf"(?:[第제]\s*(?P<number>[0-9\uff10-\uff19{_HAN}일이삼사오육칠팔구십]{{1,7}})\s*"
    r"(?P<key>[章回話话節节部編编篇卷巻幕場场夜条條장부화권편막조])"
    rf"|(?P<digits>\d{{1,3}})\s?(?P<korean>[장부화막])|(?P<volume>[卷巻])(?P<han>[{_HAN}]{{1,5}}))"
    r"(?P<mark>[\s:\uff1a、．.]*)(?P<rest>[^\n。]{0,60})"
)
_HAN_NUMBER = re.compile(
    rf"(?:その|[（(])?(?P<number>[{_HAN}]{{1,5}})[）)]?(?:[、．.\s]\s*(?P<rest>[^\n。！？!?」]{{1,30}}))?"
)
_KOREAN_DIGITS = str.maketrans("일이삼사오육칠팔구십", "一二三四五六七八九十")
_EAST_ASIAN_KIND = {
    key: kind
    for kind, keys in {
        "chapter": "章回話话장화",
        "section": "節节",
        "part": "部編编篇부편",
        "volume": "卷巻권",
        "act": "幕막",
        "scene": "場场",
        "day": "夜",
        "article": "条條조",
    }.items()
    for key in keys
}
STAGE = re.compile(r"(?:(?:re-?)?enter|exit|exeunt|by)\b", re.IGNORECASE)
"""Stage directions and the author's name under a tale's title are no headings."""
CAST = re.compile(
    r"[\s_*]*(?:the )?(?:(?:cast of )?(?:persons|characters|cast)|dramatis person(?:ae|æ))"
    r"(?: (?:in|of|represented(?: in)?)(?: the (?:play|drama|piece))?)?[.:]?[\s_*]*",
    re.IGNORECASE,
)
"""Above the names of a play's characters, up to the next blank line; no title, nor are these."""
_INITIALS = re.compile(r"(?:[A-Z]\. ?){2,6}|(?:(?:SIR|LORD|LADY|MRS?\.) )?(?:[A-Z]\. ?){1,4}[A-Z][A-Z'’-]+\.")
"""A name below a preface, a letter or a poem, alone in its line: "A. B. C.", "A. PENWICK."."""
_SPEECH = re.compile(r"[A-Z]{3}[A-Z’'. ]{0,30}(?:[.:]|\[.*?\])\s*\S")
"""Of a play: a name in capitals and what its bearer says, perhaps with a stage direction between."""
_CASELESS = 40
"""Characters of such a title."""
_STOP = re.compile(r"[.!?…:;।॥؟؛،。！？：；，、]")
_DECORATION = " \t_*=#~|/[]{}<>\\"
_PAGE_TAIL = re.compile(r"(?<!\b[Nn]o)(?<!\bNO)(?:(?<![ .·…_]{2})[ .·…_]{2,}+|\t[ ]*)(?:\d{1,4}|[ivxl]{1,6})$")


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


def strip_line(line: str) -> str:
    """The line without what books put around headings, and without a contents line's page."""
    text = line.strip(_DECORATION)
    if text[-1:].isdigit() or text[-1:] in {"i", "v", "x", "l"}:  # few lines end so
        text = _PAGE_TAIL.sub("", text).strip(_DECORATION)
    return f"{text}]" if text.count("[") > text.count("]") else text


def parse_line(line: str, start: int = 0, end: int = 0, *, is_title: bool = False) -> list[Candidate]:
    """The headings that a line holds by its own look ("ACT I. SCENE I." holds two).

    Args:
        line: of a text.
        start: of the line in the text.
        end: of the line.
        is_title: whether it is known to be one; else "第一章老人" may be how a sentence begins.
    """
    text = strip_line(line)
    if match := _EAST_ASIAN.fullmatch(text):
        return _east_asian(match, start, end, is_title=is_title)
    if match := _HAN_NUMBER.fullmatch(text):
        rest = match["rest"] or ""
        return [Candidate(start, end, "bare", east_asian_number(match["number"]), text, rest, "word")]
    if not text or not (_is_capital(text[0]) or text[0].isdigit() or text[0] == "§") or STAGE.match(text):
        return []
    if found := _keyword(text, start, end):
        return found
    if (found := _bare(text, start, end)) and (is_title or not has_speaker(found[0].rest)):
        return found
    if len(text) <= 90 and (match := _NAMED.fullmatch(text)) and not text.islower():
        name = (match["name"] or "appendix").lower()
        return [Candidate(start, end, "front" if name in FRONT_NAMES else "named", 0, text, text)]
    if fold_word(text.rstrip(".:")).replace(" ", "_") in _NAMED_ABROAD:
        return [Candidate(start, end, "named", 0, text, text)]
    if _is_caps(text) and not _INITIALS.fullmatch(text):
        return [Candidate(start, end, "caps", 0, text, text)]
    return []


def is_numbered(line: str) -> bool:
    """Whether a line begins as "Chapter 3" does."""
    found = parse_line(line)
    return bool(found) and found[0].number > 0 and found[0].kind != "bare"


def _is_capital(char: str) -> bool:
    """Whether a word may begin a title with this letter; many scripts have no capitals."""
    return char.isalpha() and not char.islower()


def _east_asian(match: re.Match[str], start: int, end: int, *, is_title: bool) -> list[Candidate]:
    """Chapters of Chinese, Japanese and Korean books: "第十二章 旅立ち", "1장", "卷一"."""
    rest = match["rest"].strip()
    if rest and not (match["mark"] or (is_title and match["number"])):
        return []  # "第一章では" is a sentence
    if rest and match["digits"] and rest[-1] in '.?!”"':
        return []
    kind = _EAST_ASIAN_KIND[match["key"] or match["korean"] or match["volume"]]
    number = match["number"] or match["digits"] or match["han"]
    style = "arabic" if number.isdecimal() else "word"
    return [Candidate(start, end, kind, east_asian_number(number), match[0].strip(), rest, style)]


def east_asian_number(text: str) -> int:
    if text.isdecimal():
        return int(text)
    text = text.translate(_KOREAN_DIGITS)
    digits = {digit: value for value, digit in enumerate("〇一二三四五六七八九")} | {"零": 0}
    if not set(text) & set("十百"):
        return int("".join(str(digits[digit]) for digit in text))  # 一二 as in 12
    hundreds, _, below = text.rpartition("百")
    tens, ten, ones = below.rpartition("十")
    whole = 100 * digits.get(hundreds[-1:] or "一", 1) if "百" in text else 0
    return whole + (10 * digits.get(tens[-1:] or "一", 1) if ten else 0) + digits.get(ones[-1:], 0)


def _keyword(text: str, start: int, end: int) -> list[Candidate]:
    found: list[Candidate] = []
    while match := _match_keyword(text):
        kind, number, style, size = match
        rest = text[size:]
        body = rest.lstrip(" .:;,—–-)]}_*/")
        separated = rest[: len(rest) - len(body)].strip() != ""
        if body and not separated and not (body[0].isupper() or body[0] in "“\"‘'([_"):
            break
        if body and body[0].islower():
            break
        if body and not separated and style == "word" and not text[:size].isupper() and len(body) > 60:
            break
        if found and kind not in _NESTING:
            break
        found.append(Candidate(start, end, kind, number, text, body, style))
        text = body
        if not text:
            break
    if len(found) > 1:
        for outer, inner in pairwise(found):
            outer.title = outer.title[: len(outer.title) - len(inner.title)].strip(" .:;,—–-")
            outer.rest = ""
    return found


def _match_keyword(text: str) -> tuple[str, int, str, int] | None:
    """The kind and number that a line begins with, the number's style and where both end."""
    if match := _KEY_FIRST.match(text):
        key = fold_word(match["key"])
        abroad = key not in _ENGLISH and _KIND[key] in _NESTING
        if number := match_number(text, match.end(), cardinals=abroad):
            return None if match["key"][0].islower() else (_KIND[key], *number)
    the = _THE.match(text)
    number = match_number(text, the.end() if the else 0)
    if number and (match := _KEY_BEHIND.match(text, number[2])):
        return _KIND[fold_word(match["key"])], number[0], number[1], match.end()
    return None


def _bare(text: str, start: int, end: int) -> list[Candidate]:
    match = _BARE.match(text)
    if not match:
        return []
    body = text[match.end() :].strip(" .:—–-")
    if body and not (title_like(body) and (match["mark"] or body.isupper() or body[0].isupper())):
        return []
    number = int(match["arabic"]) if match["arabic"] else roman(match["roman"])
    label = (match["roman"] or match["arabic"]) + (f". {body}" if body else "")
    return [Candidate(start, end, "bare", number, label, body, "arabic" if match["arabic"] else "roman")]


def _is_caps(text: str) -> bool:
    if len(text) > 110 or sum(map(str.islower, text)) > 2:  # most lines
        return False
    letters = [c for c in text if c.isalpha()]
    if len(letters) < 3 or not (text[0].isalnum() or text[0] in "“\"‘'("):
        return False
    if sum(c.isupper() for c in letters) < len(letters) - (2 if len(letters) > 12 else 0):
        return False
    return text[-1] not in ",;-—" and text.strip(" .!").lower() not in {"the end", "end", "finis", "fin", "amen"}


def title_like(text: str, *, caseless: bool = False) -> bool:
    """Short, begins with a capital, most longer words capitalised, no sentence's end.

    Args:
        text: a line.
        caseless: whether a shorter one without any stop in letters that have no capitals is like a title, too.
    """
    text = text.strip(_DECORATION)
    if caseless and text[:1].isalpha() and text[0].lower() == text[0].upper():
        return len(text) <= _CASELESS and not _STOP.search(text)
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


def has_speaker(line: str) -> bool:
    """Whether a line begins with the name of who says it in a play: "HAMLET. Words, words, words." is no title."""
    return _SPEECH.match(line) is not None and not line.isupper()
