"""Words that a question quotes, looked for as they are: "Who said 'Call me Ishmael'?", "Where does it say ...?"."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial
from itertools import starmap

from nlb_retriever.reader import Reader
from nlb_retriever.records import Answer, Confidence, Hit, ShortAnswer
from nlb_retriever.search.answers.book_parts import tales_of
from nlb_retriever.search.answers.quotes import Quote, cite, make_answer
from nlb_retriever.search.answers.short_answer import answer_shortly
from nlb_retriever.search.forms import TALE, WORK, compile_forms, match_form
from nlb_retriever.search.hits import read_book
from nlb_retriever.search.readings import READ_TO_ANSWER
from nlb_retriever.search.request import SearchRequest
from nlb_retriever.search.run import SearchResult
from nlb_retriever.search.scope import Scope
from nlb_retriever.store import LibraryStore
from nlb_retriever.store.lookup import read_number
from nlb_retriever.text.folding import fold
from nlb_retriever.text.sentences import sentence_spans
from nlb_retriever.text.speakers import find_speeches, has_label

PLACES = 5
"""Most passages that are quoted."""
LEAST = 3
"""Words of a line whose play or poem is asked for."""
_QUOTED = r"[\s:,]*[“\"‘'](?P<words>\S[^“”\"]{6,}?)[”\"’']"
_SAYS = r"who (?:said|says|speaks|spoke|asked|asks|cried|cries)(?: (?:this|the (?:words|lines?)))?"
_SPEAKS = re.compile(
    r"who (?:sa(?:id|ys)|ask(?:s|ed)|talk(?:s|ed)|speaks|spoke|mention(?:s|ed)|suggest(?:s|ed)|propos(?:es|ed)"
    r"|object(?:s|ed)|argue[sd]|claim(?:s|ed)|explain(?:s|ed)|recommend(?:s|ed))\b(?! to\b)",
    re.IGNORECASE,
)
_LINE = r"(?:(?:the |this )?(?:famous )?(?:words?|lines?|phrase|quote|quotation|sentence|saying|verses?))"
_FROM = r"(?:come|taken|from|appear|occur)"
_TALES = frozenset([*TALE.split("|"), "story"])
_NUMBERED = _TALES - {"play", "story", "tale"}
_QUESTIONS = compile_forms(
    (
        ("who", rf"{_SAYS}{_QUOTED}"),
        ("who", rf"{_QUOTED}[\s:,;.?!—–-]*{_SAYS}(?: (?:this|that|it|so))?"),
        ("where", rf"(?:where (?:does it say|is it said)(?: that)?|find){_QUOTED}"),
        ("where", rf"where (?:does|do|did|is|are|was|were) {_LINE}{_QUOTED}(?: \w+){{0,2}}"),
        ("where", rf"where (?:does|do|did|is|are|was|were){_QUOTED} {_FROM}(?: from)?"),
        ("where", rf"(?:complete|finish|continue|find) {_LINE}{_QUOTED}"),
        (
            "in",
            rf"(?:in |from )?(?:which|what) (?P<unit>{WORK}|{TALE}|story|chapter|act|scene|canto|letter|section)"
            rf" (?:\w+ ){{0,4}}?{_LINE}?{_QUOTED}(?: \w+){{0,2}}",
        ),
        ("words", _QUOTED),
        (
            "bare",
            r"who (?:said|says|cried|cries),?(?: that)?"
            r" (?P<words>(?!(?:that|so|it|to|of|about|in|any\w*|\w*thing|what)\b)\w\S*(?: \S+){2,40}?)",
        ),
    )
)
_WORD = re.compile(r"[^\W_]+(?:['’-][^\W_]+)*")
_ELIDED = re.compile(r"['’]d$")
_JOINT = re.compile(r"['’-]")
MISQUOTED = 6
"""Least words of which one may be another, where no passage has all of them."""


def answer_quotation(
    request: SearchRequest,
    store: LibraryStore,
    run: Callable[[SearchRequest], SearchResult],
    load_reader: Callable[[], Reader] | None,
    limit: int | None = None,
) -> Answer | None:
    """The sentences that have the words which a question quotes, and who says them.

    Args:
        request: of the question.
        store: the library.
        run: answers a request.
        load_reader: gives the reader, which says who speaks in a story; None to name nobody there. In a play it is the
            name before the speech.
        limit: at most so many passages are quoted.

    Returns:
        The passages, the best first; none where the question is who says the words, or where, and no book has them.
        None for other questions, and where no book has them as words of a chapter, poem or play that is asked for, or,
        without quotation marks, as what somebody says.
    """
    question = match_form(request.query, _QUESTIONS)
    if not question:
        return None
    kind, match = question
    words = _WORD.findall(match["words"])
    if len(words) < (LEAST if kind == "in" else 1):
        return None
    found = run(replace(request, query=match["words"], limit=READ_TO_ANSWER, rerank=False, relevant_only=False))
    wanted = [_letters(word) for word in words]
    others = range(2 if len(wanted) >= MISQUOTED else 1)
    tries = ([*filter(None, starmap(partial(_find, wanted, most), enumerate(found.hits)))] for most in others)
    quotes = next(filter(None, tries), [])[: PLACES if limit is None else limit]
    if not quotes:
        return make_answer(request.query, ()) if kind in {"who", "where"} else None
    citations = cite(found.hits, [replace(quote, answer=None) for quote in quotes])
    if kind == "in":
        places = [*dict.fromkeys(_place(match["unit"].lower(), found.hits[quote.hit]) for quote in quotes)]
        return make_answer(
            request.query, citations, [ShortAnswer(text=places[0], citation=0)], "likely" if places[1:] else "sure"
        )
    speaker = None
    confidence: Confidence | None = None
    if kind in {"who", "bare"}:
        best = found.hits[quotes[0].hit]
        assert quotes[0].answer
        if speaker := _find_speaker(best, best.start + quotes[0].answer[0], store):
            confidence = "likely"
        elif load_reader and _is_spoken(best, quotes[0]):
            speaker = _name_speaker(request, found, quotes[0], load_reader())
            confidence = "unsure" if speaker else None
        if kind == "bare" and not speaker:
            return None
    shorts = [ShortAnswer(text=speaker, citation=0)] if speaker else []
    return make_answer(request.query, citations, shorts, confidence)


def _letters(word: str) -> str:
    """A word without marks inside: "strain'd" is "strained", "hand-bag" is "handbag"."""
    return fold(_JOINT.sub("", _ELIDED.sub("ed", word)))


def _find(wanted: Sequence[str], others: int, index: int, hit: Hit) -> Quote | None:
    """The shortest sentences of a hit that hold some words in order, but for so many others, whatever is between."""
    text = [(_letters(word[0]), *word.span()) for word in _WORD.finditer(hit.text)]
    spans = [*enumerate(sentence_spans(hit.text))]
    found = []
    for start in range(len(text) - len(wanted) + 1):
        if sum(text[start + offset][0] != word for offset, word in enumerate(wanted)) <= others:
            first, last = text[start][1], text[start + len(wanted) - 1][2]
            own = [(order, begin, end) for order, (begin, end) in spans if begin < last and first < end]
            found.append(Quote(hit=index, order=own[0][0], start=own[0][1], end=own[-1][2], answer=(first, last)))
    return min(found, key=lambda quote: quote.end - quote.start, default=None)


def _place(unit: str, hit: Hit) -> str:
    """The title of the book, tale or section that a passage is in; a poem may have a number before its title."""
    titles = tales_of([hit])[0] if unit in _TALES else () if re.fullmatch(WORK, unit) else hit.section
    if not titles and unit in _NUMBERED and hit.section and read_number(hit.section[-1])[2]:
        titles = hit.section
    return " › ".join(titles) or hit.title


def _is_spoken(hit: Hit, quote: Quote) -> bool:
    """Whether the words stand in quotation marks, the first of which may be in the passage before."""
    assert quote.answer
    before = hit.text[: quote.answer[0]].rpartition("\n")[2]
    after = hit.text[quote.answer[1] :].partition("\n")[0]
    opened = before.rfind("“") > before.rfind("”") or before.count('"') % 2 == 1
    return opened or after.partition("“")[0].count("”") == 1 or after.count('"') % 2 == 1


def name_speaker(answer: Answer, store: LibraryStore) -> Answer:
    """An answer to who says, asks or proposes something with whose speech of a play or transcript its quote is in."""
    if not _SPEAKS.match(answer.question) or not any(has_label(citation.hit.text) for citation in answer.citations):
        return answer
    citation = answer.citations[0]
    speaker = _find_speaker(citation.hit, (citation.answer or (citation.quote_end - 1,))[0], store)
    if not speaker:
        return answer
    confidence: Confidence = "unsure" if answer.confidence in {None, "unsure"} else "likely"
    return replace(answer, shorts=(ShortAnswer(text=speaker, citation=0),), confidence=confidence)


def _find_speaker(hit: Hit, place: int, store: LibraryStore) -> str | None:
    """Whose speech of a play or transcript a place of a book is in; None where the book is none."""
    with store.session():
        book = store.find_book(hit.book_id)
        hits = read_book(book, Scope(level="passage", book=book), store)
    speaker = None
    for speech in find_speeches([each.text for each in hits]):
        own = hits[speech.text]
        if own.start + speech.label > place:
            break
        speaker = speech.speaker if own.section == hit.section else None
    return speaker


def _name_speaker(request: SearchRequest, found: SearchResult, quote: Quote, reader: Reader) -> str | None:
    """Whom the reader takes for the speaker, outside of the words themselves."""
    hit = found.hits[quote.hit]
    [reading] = reader.read(request.question, [hit.text])
    answer = answer_shortly(replace(found, request=request, hits=(hit,), readings=(reading,), compared=None), 1)
    return answer.short if answer else None
