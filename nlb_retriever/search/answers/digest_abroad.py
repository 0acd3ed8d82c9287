"""Questions on a chapter in other languages than English: "Was passiert in Kapitel 3?", "第三章发生了什么？"."""

from __future__ import annotations

import re
from functools import cache

from nlb_retriever.search.forms import LONGEST
from nlb_retriever.store.lookup import read_number

_WORDS = (
    "kapitels? teils? buch akt chapitre partie livre acte chant capítulo capitulo parte libro acto capitolo atto canto"
    " livro ato hoofdstuk deel boek kapitlet del rozdziału? rozdziale"
    " глав[аеуы] част[ьи] книг[аеи] действи[ея]"
)
_WORD = rf"(?:{'|'.join(_WORDS.split())})"
_PART = rf"(?P<part>{_WORD} [\w-]+|[\w-]+\.? {_WORD})"
_QUESTIONS = (
    # the question up to the part, and what stands between the part and the title of the book
    (
        r"was (?:passiert|geschieht|steht) (?:in|im)(?: de[mr])?|worum geht(?: es|['’]s) (?:in|im)(?: de[mr])?"
        r"|(?:eine )?zusammenfassung (?:von|des|der)",
        "von|aus|in",
    ),
    (
        r"(?:que se passe[- ]t[- ]il|qu['’]est[- ]ce qui se passe) (?:au|dans l[ea]|à la)|de quoi parle l[ea]"
        r"|résum(?:é|e)(?: d[ue]| l[ea]| de la)?",
        "de|du|dans",
    ),
    (
        r"qu[eé] (?:pasa|sucede|ocurre) en (?:el|la)|de qu[eé] trata (?:el|la)|resum(?:e|en)(?: del?)?(?: el| la)?",
        "del?|en",
    ),
    (
        r"(?:che )?cosa (?:succede|accade) nel(?:la)?|di (?:che )?cosa parla (?:il|la)|riassunto del(?:la)?",
        "di|del(?:la)?|in",
    ),
    (r"(?:o )?que (?:acontece|sucede|se passa) n[oa]|de que trata [oa]|resumo d[oa]", "d[eoa]|em"),
    (r"wat gebeurt er in(?: het| de)?|samenvatting van(?: het| de)?", "van|uit|in"),
    (r"vad händer i(?: det)?|sammanfattning av(?: det)?", "av|i|ur"),
    (r"co (?:się )?(?:dzieje|wydarza|stało)(?: się)? we?|streszczenie", "z"),
    (r"что (?:происходит|случилось|случается|было) во?|о ч[её]м(?: говорится в)?|краткое содержание", "из|в"),
)  # fmt: skip
_OF = r"(?:(?P<title>.+?){of})?"
_HAN = r"(?P<part>第\s?[0-9０-９一二三四五六七八九十百]{1,5}\s?[章回話话節节部巻卷幕])"
_HANGUL = r"(?P<part>제?\s?\d{1,3}\s?[장부화막])"
_EAST_ASIAN = (
    rf"在?{_OF.format(of='的?')}{_HAN}(?:[里裡]面?|中)?(?:都|主要)?(?:发生|發生|讲述?|講述?|说|說|写|寫)了?些?什[么麼]\w{{0,2}}",
    rf"{_OF.format(of='的?')}{_HAN}的?(?:主要)?(?:内容|內容|概要)(?:是什[么麼])?",
    rf"{_OF.format(of='の')}{_HAN}(?:で|に)は?(?:何|なに|どんなこと)が(?:起|あ|書)\w{{1,10}}",
    rf"{_OF.format(of='の')}{_HAN}の(?:あらすじ|内容|要約)(?:は\w{{0,8}})?",
    rf"{_OF.format(of='(?:의)? ')}{_HANGUL}에서는? (?:무슨|어떤) 일이 [\w ]{{1,15}}",
    rf"{_OF.format(of='(?:의)? ')}{_HANGUL}의? (?:내용|줄거리)(?:[은는]? [\w ]{{1,10}})?",
)
_MAYBE = re.compile(rf"\b{_WORD}\b|{_HAN}|{_HANGUL.replace('part', 'other')}", re.IGNORECASE)
"""Only with such a part the forms are compiled, which takes longer than a search."""
STOPS = " \t\n¿?¡!.,？。！…"
QUOTES = "«»„“”\"'‚‘’《》『』「」 "
_ENDINGS = tuple(
    (re.compile(rf"\b{pattern}\b", re.IGNORECASE), ending)
    for pattern, ending in (
        (r"(\w+t)e[nr](?= )", r"\1es"), (r"(kapitel|teil)s", r"\1"), (r"rozdzia(?:le|łu)", "rozdział"),
        (r"(\w+[yi])m", r"\1"), (r"глав[еуы]", "глава"), (r"части", "часть"), (r"книг[еи]", "книга"),
        (r"действия", "действие"), (r"(\w+ь)ей", r"\1я"), (r"(\w+)ой", r"\1ая"),
    )
)  # fmt: skip
"""Endings behind a preposition, and those that headings have: "dritten Kapitel", "третьей главе"."""


def in_english(question: str) -> str:
    """A question on what happens in a part of a book as an English one; any other as it is.

    "Was passiert im dritten Kapitel von Emma?" becomes "What happens in chapter 3 of Emma?".
    """
    if len(question) > LONGEST or not _MAYBE.search(question):
        return question
    bare = question.strip(STOPS)
    match = next(filter(None, (form.fullmatch(bare) for form in _forms())), None)
    if not match:
        return question
    part = match["part"]
    for pattern, ending in _ENDINGS:
        part = pattern.sub(ending, part)
    kind, number, rest = read_number(part[:1].upper() + part[1:])
    if not number or rest or kind == "bare":
        return question
    title = (match["title"] or "").strip(QUOTES)
    return f"What happens in {kind} {number}{f' of {title}' if title else ''}?"


@cache
def _forms() -> tuple[re.Pattern[str], ...]:
    forms = [rf"(?:{question}) {_PART}(?: (?:{of}) (?P<title>.+))?" for question, of in _QUESTIONS]
    return tuple(re.compile(form, re.IGNORECASE) for form in (*forms, *_EAST_ASIAN))
