"""Who somebody is: "Starbuck, the chief mate of the Pequod", "my friend Queequeg", found in all of a book.

A name's passages that words and vectors find first are those that have it most often, and these seldom say who bears
it. So every sentence of the book is looked through for the name beside a noun phrase, and the reader says which of
these answer.
"""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import takewhile

from nlb_retriever.reader import Reader, Reading
from nlb_retriever.records import Answer, Hit, ShortAnswer
from nlb_retriever.search.answers.quotes import Quote, choose_quotes, cite, is_prose, make_answer
from nlb_retriever.search.hits import read_book
from nlb_retriever.search.question import name_of
from nlb_retriever.search.run import SearchResult
from nlb_retriever.search.scope import resolve_scope, work_of
from nlb_retriever.store import LibraryStore
from nlb_retriever.text.persons import TITLES, find_gender, find_person, gender_of
from nlb_retriever.text.sentences import sentence_spans

MOST = 64
"""Sentences of a book that are read, the first ones."""
PHRASE = 80
"""Characters behind a name that may say who it is."""
VOTES = 2.0
"""Weight of the logarithm of how many spans have the same noun."""
LEAST = -4.0
"""Least score of an answer; chosen, as the others, on 96 questions on twelve books (docs/reader-notes.md)."""
LIKELY = 3.0
"""Least score, without votes, of one that is likely."""
_DET = r"\b(?:[Tt]he|[Aa]n?|[Hh]is|[Hh]er|[Mm]y|[Oo]ur|[Tt]heir|[Yy]our|[Oo]ne of|[A-Z][\w.]*[’']s)\s+"
_IS = r"(?:is|was|am|had been|has been|became)\s+(?:(?:only|but|now|then|also|still|indeed|just|really|simply)\s+)?"
_BEHIND = re.compile(rf"(?:\s*[,—(-]+\s*|\s+)(?:who\s+)?(?:{_IS})?(?P<noun>{_DET})")
_BREAK = re.compile(r"\b(?:of|in|to|for|with|at|on|by|from|who|that|which|and|was|is|had|has)\b|[.,;:!?—]")
_BETWEEN = re.compile(r"\s*,?\s*(?:(?:called|named|was|is)\s+)?")
_BEFORE = re.compile(rf"{_DET}(?P<phrase>(?:[\w’'-]+\s+){{0,9}}?[a-z][\w’-]*),?\s+(?:(?:called|named|was|is)\s+)?$")
_SPOKEN_TO = re.compile(r"[,.!?…]*[\"”]|[!?]")
_YOU = re.compile(r"(?<![^\W_])(?:you|thou|thee)(?![^\W_])", re.IGNORECASE)
"""Before a comma and a name: it is spoken to ("you too have a boy, Captain Ahab")."""
_DETERMINER = re.compile(r"^(?:the|an?|his|her|my|our|their|your)\s+", re.IGNORECASE)
_OUTER = " ,;:.!?—-\"'“”‘’()_"
_PLAIN = re.compile(r"\b[a-z]")
_FEMALE = frozenset("mrs ms miss lady madame mother aunt sister".split())


@dataclass(frozen=True, kw_only=True)
class _Found:
    quote: Quote
    text: str
    noun: str
    score: float
    total: float = 0.0
    """With the votes of the others."""


def answer_who(result: SearchResult, store: LibraryStore, reader: Reader, limit: int | None = None) -> Answer | None:
    """Who the somebody is whose name a question asks about: "Who is Queequeg?".

    Args:
        result: of the question, with hits; the book is the request's, or that of the first hit. Only what is in its
            scope is read.
        store: the library.
        reader: reads the sentences.
        limit: at most so many sentences are quoted.

    Returns:
        None for other questions, and where no sentence says so in a way that is known here.
    """
    name = name_of(result.request.question)
    if not name or not result.hits:
        return None
    with store.session():
        scope = resolve_scope(result.request, store)
        book = scope.book or work_of(result.hits[0].book_id, store)
        hits = read_book(book, scope, store)
    quotes = _find_sentences(name, hits)[:MOST]
    texts = [quote.text(hits) for quote in quotes]
    readings = reader.read(f"Who is {' '.join(_split(name)[1]) or name}?", texts)  # Captain Ahab may be captain of it
    found = [each for pair in zip(quotes, texts, readings, strict=True) for each in _choose(name, *pair)]
    gender = find_gender(name, (hit.text for hit in hits))
    found = [each for each in found if not gender or gender_of(each.noun) in {None, gender}]
    nouns = Counter(each.noun for each in found)
    found = [replace(each, total=each.score + VOTES * math.log(nouns[each.noun])) for each in found]
    found.sort(key=lambda each: (-each.total, each.quote.hit, each.quote.order))
    if not found or found[0].total < LEAST:
        return None
    citations = cite(hits, choose_quotes(hits, (each.quote for each in found), limit))
    short = ShortAnswer(text=found[0].text, citation=0)
    return make_answer(result.request.query, citations, [short], "likely" if found[0].score >= LIKELY else "unsure")


def _find_sentences(name: str, hits: Sequence[Hit]) -> list[Quote]:
    """The sentences of prose with the name beside a noun phrase."""
    _, words = _split(name)
    quotes = []
    for index, hit in enumerate(hits):
        if any(word in hit.text for word in words):
            for order, (start, end) in enumerate(sentence_spans(hit.text)):
                sentence = hit.text[start:end]
                beside = any(_says_who(place, sentence) for place in _places(name, sentence))
                if beside and is_prose(hit, start, end):
                    quotes.append(Quote(hit=index, order=order, start=start, end=end))
    return quotes


def _says_who(place: tuple[int, int], sentence: str) -> bool:
    """Whether words that say what kind of person somebody is stand beside a name."""
    behind = _BEHIND.match(sentence, place[1])
    if behind and find_person(sentence[behind.start("noun") : behind.end() + PHRASE]):
        return True
    before = _BEFORE.search(sentence, 0, place[0])
    return before is not None and find_person(before["phrase"]) is not None


def _places(name: str, sentence: str) -> Iterator[tuple[int, int]]:
    """Where a sentence names somebody who may be the one of that name, with titles.

    "Darcy" may be Mr. Darcy, and "Mr. McCunn" Dickson McCunn, but "Hall" is not Mrs. Hall, nor "Miss Bennet" Elizabeth.
    """
    titles, words = _split(name)
    if not words:
        return
    run = rf"(?:{'|'.join(map(re.escape, words))})(?![\w-]|[’']s)"
    for match in re.finditer(
        rf"(?P<before>(?!{run})[A-Z][\w’'-]*+\.?\s+)?\b(?P<own>{run}(?:\s+{run})*)(?P<behind>\s+[A-Z])?", sentence
    ):
        before = (match["before"] or "").strip(" .\n")
        own = match["own"].split()
        title = before.lower() if before.lower() in TITLES else ""
        if match["behind"] or (before and not title and match.start() > 0):
            continue  # a longer name is somebody else's
        if titles and (title not in {"", titles[-1]} or (not title and titles[-1] in _FEMALE)):
            continue
        if not titles and len(words) > 1 and own[0] != words[0] and title in _FEMALE:
            continue
        yield match.start() if title else match.start("own"), match.end("own")


def _split(name: str) -> tuple[list[str], list[str]]:
    """The titles before a name, in small letters, and its other words that have a capital: "King" of "Anna King"."""
    words = [word.strip(".,") for word in name.split()]
    words = [word for word in words if word[:1].isupper() or word.lower() in TITLES]
    titles = [*takewhile(lambda word: word.lower() in TITLES, words[:-1] or words)]
    return [title.lower() for title in titles], words[len(titles) :]


def _choose(name: str, quote: Quote, sentence: str, reading: Reading) -> Iterator[_Found]:
    """The reader's spans that stand beside the name and say what kind of person somebody is."""
    places = [*_places(name, sentence)]
    own = set(name.lower().split())
    for span in reading.spans:
        for place in places:
            start, end = _without(place, sentence, span.start, span.end)
            if start < end and _is_beside(place, sentence, start, end):
                text = _DETERMINER.sub("", " ".join(sentence[start:end].split()).strip(_OUTER))
                noun = find_person(text)
                if noun and (noun not in own or f"{noun} of " in text.lower()) and _PLAIN.search(text):
                    answer = quote.start + start, quote.start + end
                    score = span.score - reading.no_answer_score
                    yield _Found(quote=replace(quote, answer=answer), text=text, noun=noun, score=score)
                    break


def _without(place: tuple[int, int], sentence: str, start: int, end: int) -> tuple[int, int]:
    """A span without the name that it begins or ends with: "fair daughter" of "fair daughter Elizabeth"."""
    if start <= place[0] and place[1] < end and (link := _BEHIND.match(sentence, place[1], end)):
        if not sentence[start : place[0]].strip():
            start = link.start("noun")
    elif start < place[0] < end <= place[1]:
        end = place[0]
    return start, end - (len(sentence[start:end]) - len(sentence[start:end].rstrip()))


def _is_beside(place: tuple[int, int], sentence: str, start: int, end: int) -> bool:
    """Whether a span is what a sentence calls the one who is named at a place."""
    if end <= place[0]:
        between = _BETWEEN.fullmatch(sentence, end, place[0])
        if not between or "," not in between[0]:
            return between is not None and not _BREAK.search(sentence, start, end)
        return not (_SPOKEN_TO.match(sentence, place[1]) or _YOU.search(sentence, 0, end))
    link = _BEHIND.match(sentence, place[1])
    if not link or start < link.start("noun"):
        return False
    return not _BREAK.search(sentence, link.end(), max(start, link.end()))
