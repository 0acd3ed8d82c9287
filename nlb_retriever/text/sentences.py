"""Where sentences end: one regular expression, in linear time, for prose old and new.

A stop ends a sentence when whitespace follows (perhaps after closing quotes) and what comes
next does not begin with a small letter: so neither `"What?" said he` nor `3.14` nor `Oh! dear` nor `¡Ven! —dijo` nor
`— Иди! — сказал он` is cut. Titles, initials, `No. 5`, `c. 1300`, `et al. (2001)`, `24. Dezember` and `der 2. Band` do
not end one; the mark of a footnote behind the stop, `[12]`, belongs to it, and so does a `»` behind a space, as French
has it. A blank line always does, and so do the full-width stops of Chinese and Japanese (not `「行こう。」と`), and a
semicolon between Greek words, which is their question mark, before a capital. Verse or a list without stops stays one
long sentence, but for numbered items ("2. Add the tea") and the lines of a log or chat, which begin with a time.
"""

from __future__ import annotations

import re

_STOPS = ".!?…‽؟۔।॥"
_WIDE_STOPS = "。！？｡"
_CLOSERS = "\"'”’»›“‘«‹)\\]_*"  # in German and others “ and « close
_OPENERS = "\"'“‘„‚«‹»›(\\[_*—–-"
_FRENCH_CLOSER = r"(?:[ \xa0\u202f]»(?![^\s,;:.)]))?+"
_GREEK = r"\u0370-\u03ff\u1f00-\u1fff"
_GREEK_CAPITALS = "".join(filter(str.isupper, map(chr, (*range(0x370, 0x400), *range(0x1F00, 0x2000)))))
_SMALL = "".join(chr(code) for code in range(0x530) if chr(code).islower())  # Latin, Greek, Cyrillic

_BEGINS = r"(?<![^\W_])"  # of a word, which may be in italics: "_Mr. Wick_"


def _after(words: str) -> str:
    """Alternatives of look-behinds (each of a fixed width, as they must be) for `words` and a full stop."""
    groups: dict[int, list[str]] = {}
    for word in words.split():
        groups.setdefault(len(word), []).append(word)
    return "|".join(rf"(?<={_BEGINS}(?:{'|'.join(group)})\.)" for group in groups.values())


_TITLE = _after(
    "Mr Mrs Ms Dr St Mt MR MRS DR ST Mme Mlle Messrs Rev Hon Prof Gen Col Maj Capt Lt Sgt Adm Gov Sen Rep "
    "Supt vs cf viz Viz i.e e.g I.e E.g "
    "Frl Hr Hrn Nr Str Sra Srta Dña Sig sig Dott dott Avv MM Mgr Dhr Mevr mevr Doç ks św κ κα ул г гр гл св "
    "vgl Vgl bzw ggf evtl sog"
)
_NUMBERED = _after(
    "No Nos no nos p pp Vol vol Vols vols Fig fig Figs figs Eq eq Eqs eqs Tab tab Ch ch Chap chap Art art Sec sec Sect "
    "sect Jan Feb Mar Apr Aug Sept Oct Nov Dec c ca b d r fl approx lat Ps Pss Exod Lev Deut Prov Isa Jer Ezek Matt "
    "Rom Cor Gal Eph Heb Pet Abb Bd Bde Kap Nr nr Anm ca str rys núm pág págs fig cap tav рис табл гл стр ст кв ок"
)
_CITED = r"(?<=\bet\sal\.) \s+ [(\[\d]"
_MARK = r"(?:\[[^\[\]\n]{1,25}\]|:\d{1,4}(?:[,–-]\ ?\d{1,4}){0,3})"
"""Of a footnote, behind a stop: "[12]", "[note 3]", "[citation needed]", "[5]:12"."""

_DAY = r"(?:(?<=\b\d\.)|(?<=\b\d\d\.))"
_GERMAN_DATES = """Januar Jänner Februar März April Mai Juni Juli August September Oktober November Dezember Jahrhundert
    Kapitel"""
_GERMAN_ARTICLE = "|".join(
    rf"(?<=\b[{article[0].upper()}{article[0]}]{article[1:]}\ {digits}\.)"
    for article in "der das den dem des im zum beim vom".split()
    for digits in (r"\d", r"\d\d")
)
_GERMAN_DATE = rf"(?:{'|'.join(_GERMAN_DATES.split())})\b"

_TIME = r"\[?(?:\d{1,4}[-/.]\d\d?[-/.]\d{1,4},?[ T])?\d\d?:\d\d(?::\d\d)?\b"

# Each match is a border. The sentence before it ends where the group does (for a blank line: where the
# match begins), the next one begins where the match ends. All branches share their first character
# class, so that the engine skips from candidate to candidate; a run of stops is only entered at its
# first character, which keeps hostile input ("......x") linear.
_BORDER = re.compile(
    rf"""
    [\n{_STOPS}{_WIDE_STOPS};]
    (?:
        (?<=\n) [^\S\n]* (?: \n \s* | (?= {_TIME}) )
      |
        (?<=[{_STOPS}]) (?<![{_STOPS}].)
        (?! {_TITLE} | (?<={_BEGINS}[A-HJ-ZА-Ю]\.) | (?:{_NUMBERED}) \s+ \d | {_CITED} | {_DAY} \s+ {_GERMAN_DATE}
          | {_GERMAN_ARTICLE} | (?<=\bz\.) \s? [BT]\. | (?<=\bu\.\sa\.) | (?<=\bd\.\sh\.)
          | (?<=\b[EeAa]l\sSr\.) | (?<=\bdel\sSr\.) | (?<=\b[Oo]\sSr\.) | (?<=\b(?:[dn]o|ao)\sSr\.) )
        ([{_STOPS}]* [{_CLOSERS}]* {_FRENCH_CLOSER} {_MARK}{{0,4}}) \s+
        (?! \s | [{_OPENERS}]* [{_SMALL},;:{_STOPS}] | [—–] [^\S\n]+ [{_SMALL}] )
      |
        (?<=[{_WIDE_STOPS}]) ([{_WIDE_STOPS}]* [」』】》〉）”’]*+) (?: \s+ | (?! (?<=[」』”]) [とっ，、] ) )
      |
        (?<=[{_GREEK}];) ([{_CLOSERS}]*) \s+ (?= [{_OPENERS}]* [{_GREEK_CAPITALS}] )
    )
    """,
    re.VERBOSE,
)
_TIMED = re.compile(rf"[^\S\n]*{_TIME}")
_ITEM_NUMBER = re.compile(r"[(\[]?(?:\d{1,3}|[ivxlcIVXLC]{1,6})[.)\]]+")
_LINE_NUMBER = re.compile(r"\n[^\S\n]*([(\[]?\d{1,2}[.)\]]+)")
_LONGEST_NUMBER = 10  # characters, more or less
_INK = re.compile(r"\S")


def sentence_spans(text: str, start: int = 0, end: int | None = None) -> list[tuple[int, int]]:
    """The sentences of `text[start:end]` in order, as spans without outer whitespace.

    Together they cover every character that is not whitespace. Nothing bounds a sentence's length.
    """
    end = len(text) if end is None else end
    spans: list[tuple[int, int]] = []
    first = _INK.search(text, start, end)
    if first is None:
        return spans
    begin = first.start()
    for border in _BORDER.finditer(text, begin, end):
        after = border.end()
        if group := border.lastindex:
            stop = border.end(group)
            if stop - begin < _LONGEST_NUMBER and _ITEM_NUMBER.fullmatch(text, begin, stop):
                continue  # "1. The first item": the number belongs to what it counts
            line = text.rfind("\n", max(begin, stop - _LONGEST_NUMBER), stop)
            if line >= 0 and "\n" not in text[stop:after] and (number := _LINE_NUMBER.fullmatch(text, line, stop)):
                stop, after = line, number.start(1)  # so does that of an item behind one without a stop
        else:
            stop = border.start()
            if text.count("\n", stop, after) == 1 and not _TIMED.match(text, max(start, text.rfind("\n", 0, stop) + 1)):
                continue  # a line that begins with a time, and the one before does not
        while text[stop - 1].isspace():
            stop -= 1
        spans.append((begin, stop))
        begin = after
    if begin < end:
        while text[end - 1].isspace():
            end -= 1
        spans.append((begin, end))
    return spans
