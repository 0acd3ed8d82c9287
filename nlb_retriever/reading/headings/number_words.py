"""Numbers as headings have them, in many languages: "XXI", "2e", "TWENTY-ONE", "двадцать первая"."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Mapping

_ROMAN = r"(?=[IVXLCivxlc])[Cc]{0,3}(?:[Xx][Cc]|[Xx][Ll]|[Ll]?[Xx]{0,4})(?:[Ii][Xx]|[Ii][Vv]|[Vv]?[Ii]{0,4})"
_FIGURES = re.compile(
    rf"(?:(?P<roman>{_ROMAN})(?:(?<=[IVX])(?:er|re|ère|e|ème))?"
    r"|(?P<arabic>\d{1,3})(?:(?i:st|nd|rd|th|er|re|ère|e|ème|ο|η)|[ºª°])?)(?![\w’'])"
)
_ROMAN_LETTERS = tuple(
    zip(
        (1000, 900, 500, 400, 100, 90, 50, 40, 10, 9, 5, 4, 1),
        "m cm d cd c xc l xl x ix v iv i".split(),
        strict=True,
    )
)
_WORDS = re.compile(r"[^\W\d_]+(?:[-’' ][^\W\d_]+){0,2}")
_JOINTS = "-’' "
_LETTERS = re.compile(
    r"(?:(?P<hebrew>[א-ת]{1,2})(?:[\"״](?P<last>[א-ת]))?['׳]?|(?P<greek>[Α-Ω]{1,3})['’΄ʹ´])(?![\w'’])"
)
"""Numbers that letters with marks stand for: "י״ב", "ΙΒ΄"."""
_GOES_ON = re.compile(r"[\w’']")


def fold_word(word: str) -> str:
    """A word in small letters without accents, which capitals often lack ("CHAPITRE DEUXIEME")."""
    if word.isascii():
        return word.lower()
    plain = "".join(c for c in unicodedata.normalize("NFD", word.lower()) if not unicodedata.combining(c))
    return plain.replace("ı", "i").replace("’", "'")


def _count(words: str, endings: str = "") -> dict[str, int]:
    """Words in order; forms of one number stand between slashes, and each may have any of the endings."""
    return {
        form + ending: number
        for number, forms in enumerate(words.split(), 1)
        for form in forms.split("/")
        for ending in (endings.split("/") if endings else [""])
    }


def _compose(form: str, tens: str, ones: Mapping[str, int]) -> dict[str, int]:
    """Numbers from 21 on: `form` says how ten and one are joined, `tens` begins with twenty."""
    return {
        form.format(ten=ten, one=one): 10 * n + number
        for n, ten in enumerate(tens.split(), 2)
        for one, number in ones.items()
        if number < 10
    }


def _tens(words: str) -> dict[str, int]:
    return {word: 10 * n for n, word in enumerate(words.split(), 2)}


_ONES = _count(
    """one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen seventeen
    eighteen nineteen"""
)
_FIRST = _count(
    """first second third fourth fifth sixth seventh eighth ninth tenth eleventh twelfth thirteenth fourteenth
    fifteenth sixteenth seventeenth eighteenth nineteenth twentieth"""
)
_TENS = "twenty thirty forty fifty sixty seventy eighty ninety"
_ENGLISH = {
    **_ONES, **_FIRST, **_tens(_TENS), **_tens(_TENS.replace("y", "ieth")), "last": 99,
    **_compose("{ten}-{one}", _TENS, _ONES | _FIRST), **_compose("{ten} {one}", _TENS, _ONES),
}  # fmt: skip
_ROMANCE = (
    _count(
        """premier/première deuxième/seconde troisième quatrième cinquième sixième septième huitième neuvième dixième
        onzième douzième treizième quatorzième quinzième seizième dix-septième dix-huitième dix-neuvième vingtième"""
    ),
    _count(
        """primer segund tercer cuart quint sext séptim octav noven décim undécim duodécim decimotercer decimocuart
        decimoquint decimosext decimoséptim decimoctav decimonoven vigésim""",
        "o/a/",
    ),
    _count("primeir segund terceir quart quint sext sétim oitav non décim", "o/a"),
    _count(
        """prim second terz quart quint sest settim ottav non decim undicesim/decimoprim dodicesim/decimosecond
        tredicesim/decimoterz quattordicesim/decimoquart quindicesim/decimoquint sedicesim/decimosest
        diciassettesim/decimosettim diciottesim/decimottav diciannovesim/decimonon ventesim ventunesim ventiduesim
        ventitreesim ventiquattresim venticinquesim ventiseiesim ventisettesim ventottesim ventinovesim trentesim""",
        "o/a",
    ),
    _count("prim secund terti quart quint sext septim octav non decim undecim duodecim", "us/a/um"),
    _count("primer segon tercer quart cinquè sisè setè vuitè novè desè"),
)
_FRENCH_TENS = "vingt trente quarante cinquante"
_SPANISH, _PORTUGUESE = _ROMANCE[1], _ROMANCE[2]
_GERMAN_ONES = _count("ein zwei drei vier fünf sechs sieben acht neun")
_GERMAN_TENS = "zwanzig dreißig vierzig fünfzig sechzig"
_GERMANIC = (
    _count(
        """erst zweit dritt viert fünft sechst siebent/siebt acht neunt zehnt elft zwölft dreizehnt vierzehnt fünfzehnt
        sechzehnt siebzehnt achtzehnt neunzehnt""",
        "es/er/e",
    ),
    _count(
        """eerste tweede derde vierde vijfde zesde zevende achtste negende tiende elfde twaalfde dertiende veertiende
        vijftiende zestiende zeventiende achttiende negentiende twintigste eenentwintigste tweeëntwintigste
        drieëntwintigste vierentwintigste vijfentwintigste"""
    ),
    _count(
        """första andra tredje fjärde femte sjätte sjunde åttonde nionde tionde elfte tolfte/tolvte trettonde fjortonde
        femtonde sextonde sjuttonde adertonde/artonde nittonde tjugonde tjugoförsta tjugoandra tjugotredje
        tjugofjärde tjugofemte"""
    ),
    _count(
        """første anden/andet/andre tredje/tredie fjerde femte sjette/sjätte syvende/sjuende ottende/åttende niende
        tiende ellevte tolvte trettende fjortende femtende sekstende syttende attende nittende tyvende/tjuende"""
    ),
)
_RUSSIAN = _count(
    """перв втор трет четверт пят шест седьм восьм девят десят одиннадцат двенадцат тринадцат четырнадцат пятнадцат
    шестнадцат семнадцат восемнадцат девятнадцат двадцат""",
    "ый/ой/ий/ая/ья/ое/ье",
)
_UKRAINIAN = _count(
    """перш друг трет четверт п'ят шост сьом восьм дев'ят десят одинадцят дванадцят тринадцят чотирнадцят п'ятнадцят
    шістнадцят сімнадцят вісімнадцят дев'ятнадцят двадцят""",
    "ий/ій/а/я/е/є",
)
_POLISH = _count(
    """pierwsz drug trzec/trzeci czwart piąt szóst siódm ósm dziewiąt dziesiąt jedenast dwunast trzynast czternast
    piętnast szesnast siedemnast osiemnast dziewiętnast dwudziest""",
    "y/i/a/e",
)
_CZECH = _count(
    """prvn/prv druh třet čtvrt pát šest sedm osm devát desát jedenáct dvanáct třináct čtrnáct patnáct šestnáct sedmnáct
    osmnáct devatenáct dvacát""",
    "í/ý/á/é",
)
_GREEK = _count("πρώτ δεύτερ τρίτ τέταρτ πέμπτ έκτ έβδομ όγδο ένατ/έννατ δέκατ ενδέκατ δωδέκατ", "ο/ος/ον/η/α")
_TURKISH = _count("birinci ikinci üçüncü dördüncü beşinci altıncı yedinci sekizinci dokuzuncu onuncu")
_OTHERS = (
    _RUSSIAN, _UKRAINIAN, _POLISH, _CZECH, _GREEK, _TURKISH,
    _count(
        """ensimmäinen toinen kolmas neljäs viides kuudes seitsemäs kahdeksas yhdeksäs kymmenes yhdestoista kahdestoista
        kolmastoista neljästoista viidestoista kuudestoista seitsemästoista kahdeksastoista yhdeksästoista
        kahdeskymmenes"""
    ),
    _count(
        """első második harmadik negyedik ötödik hatodik hetedik nyolcadik kilencedik tizedik tizenegyedik tizenkettedik
        tizenharmadik tizennegyedik tizenötödik tizenhatodik tizenhetedik tizennyolcadik tizenkilencedik huszadik"""
    ),
    _count(
        """الأول/الأولى/اول الثاني/الثانية/دوم الثالث/الثالثة/سوم الرابع/الرابعة/چهارم الخامس/الخامسة/پنجم السادس/ششم
        السابع/السابعة/هفتم الثامن/الثامنة/هشتم التاسع/التاسعة/نهم العاشر/العاشرة/دهم یازدهم دوازدهم سیزدهم چهاردهم
        پانزدهم شانزدهم هفدهم هجدهم نوزدهم بیستم"""
    ),
    {f"{one} عشر": 10 + n for one, n in _count("الحادي الثاني الثالث الرابع الخامس السادس السابع الثامن").items()},
    _count("ראשון/ראשונה שני/שנייה שלישי/שלישית רביעי חמישי שישי שביעי שמיני תשיעי עשירי"),
    _count("α β γ δ ε στ ζ η θ ι ια ιβ ιγ ιδ ιε ιστ ιζ ιη ιθ κ κα κβ κγ κδ"),
    _count("א ב ג ד ה ו ז ח ט י יא יב יג יד טו טז יז יח יט כ כא כב כג כד כה כו כז כח כט ל"),
)  # fmt: skip
_COMPOSED = (
    *(_compose(f"{{one}}und{{ten}}st{end}", _GERMAN_TENS, _GERMAN_ONES) for end in ("es", "er", "e")),
    *({f"{ten}st{end}": n for ten, n in _tens(_GERMAN_TENS).items()} for end in ("es", "er", "e")),
    _compose("{ten}-{one}", _FRENCH_TENS, _ROMANCE[0]), _compose("{ten} et {one}", _FRENCH_TENS, {"unième": 1}),
    _compose("{ten}-et-{one}", _FRENCH_TENS, {"unième": 1}), _tens("vingtième trentième quarantième cinquantième"),
    _compose("{ten} {one}", "vigésimo trigésimo", _SPANISH | _PORTUGUESE),
    _compose("{ten} {one}", "vigésima trigésima", _SPANISH | _PORTUGUESE),
    {f"décim{end} {one}": 10 + n for end in "oa" for one, n in (_SPANISH | _PORTUGUESE).items() if n < 10},
    _compose("{ten} {one}", "двадцать тридцать сорок пятьдесят", _RUSSIAN),
    _compose("{ten} {one}", "двадцять тридцять сорок", _UKRAINIAN),
    _compose("{ten}y {one}", "dwudziest trzydziest czterdziest", _POLISH),
    _compose("{ten}a {one}", "dwudziest trzydziest czterdziest", _POLISH),
    _compose("{ten}á {one}", "dvacát třicát čtyřicát", _CZECH),
    {f"δέκατο {one}": 10 + n for one, n in _GREEK.items() if n < 10}, _compose("{ten} {one}", "εικοστό", _GREEK),
    {f"on {one}": 10 + n for one, n in _TURKISH.items() if n < 10}, _compose("{ten} {one}", "yirmi otuz", _TURKISH),
    {"yirminci": 20, "otuzuncu": 30},
)  # fmt: skip


def _folded(*tables: Mapping[str, int]) -> dict[str, int]:
    return {fold_word(word): number for table in tables for word, number in table.items()}


ORDINALS = _folded(*_ROMANCE, *_GERMANIC, *_OTHERS, *_COMPOSED, _ENGLISH)
"""Words for numbers that stand before or behind the word for what is numbered; of English "two", too."""
CARDINALS = _folded(
    _count(
        """eins zwei drei vier fünf sechs sieben acht neun zehn elf zwölf dreizehn vierzehn fünfzehn sechzehn siebzehn
        achtzehn neunzehn zwanzig"""
    ),
    _compose("{one}und{ten}", _GERMAN_TENS, _GERMAN_ONES),
    _count(
        """un deux trois quatre cinq six sept huit neuf dix onze douze treize quatorze quinze seize dix-sept dix-huit
        dix-neuf vingt"""
    ),
    _count(
        """uno dos tres cuatro cinco seis siete ocho nueve diez once doce trece catorce quince dieciséis diecisiete
        dieciocho diecinueve veinte veintiuno veintidós veintitrés veinticuatro veinticinco"""
    ),
    _count(
        """uno due tre quattro cinque sei sette otto nove dieci undici dodici tredici quattordici quindici sedici
        diciassette diciotto diciannove venti ventuno ventidue ventitré ventiquattro venticinque"""
    ),
    _count("um dois três quatro cinco seis sete oito nove dez onze doze treze catorze quinze dezesseis"),
    _count(
        """een/één twee drie vier vijf zes zeven acht negen tien elf twaalf dertien veertien vijftien zestien zeventien
        achttien negentien twintig"""
    ),
    _count("ett/én två/to tre fyra/fire fem sex/seks sju/syv åtta/åtte/otte nio/ni tio/ti elva/elleve tolv"),
    _count("bir iki üç dört beş altı yedi sekiz dokuz on"),
    _count("один два три четыре пять шесть семь восемь девять десять"),
)
"""Words for numbers that only stand behind it: "on" is ten in Turkish."""


_FIRST_WORDS = frozenset(re.split(f"[{_JOINTS}]", word)[0] for word in ORDINALS | CARDINALS)


def in_roman(number: int) -> str:
    """A number in small Roman letters."""
    text = ""
    for value, letters in _ROMAN_LETTERS:
        text += letters * (number // value)
        number %= value
    return text


def roman(text: str) -> int:
    values = {"I": 1, "V": 5, "X": 10, "L": 50, "C": 100}
    digits = [values[c] for c in text.upper()]
    return sum(-d if d < max(digits[i + 1 :], default=0) else d for i, d in enumerate(digits))


def _letters_of(match: re.Match[str]) -> str:
    return fold_word(match["greek"] or match["hebrew"] + (match["last"] or ""))


def match_number(text: str, at: int = 0, *, cardinals: bool = False) -> tuple[int, str, int] | None:
    """The number that stands at a place of a text, its style ("roman", "arabic", "word") and its end.

    Args:
        text: a line.
        at: the place.
        cardinals: whether "zwei" counts beside "zweites".
    """
    if match := _FIGURES.match(text, at):
        if match["arabic"]:
            return int(match["arabic"]), "arabic", match.end()
        return roman(match["roman"]), "roman", match.end()
    if (match := _LETTERS.match(text, at)) and (number := ORDINALS.get(_letters_of(match))):
        return number, "word", match.end()
    match = _WORDS.match(text, at)
    words = match[0] if match else ""
    ends = [i for i, char in enumerate(words) if char in _JOINTS]
    if not words or fold_word(words[: ends[0]] if ends else words) not in _FIRST_WORDS:
        return None
    for end in (len(words), *reversed(ends)):
        word = fold_word(words[:end])
        number = ORDINALS.get(word) or (CARDINALS.get(word) if cardinals else None)
        if number and not _GOES_ON.match(text, at + end):
            return number, "word", at + end
    return None
