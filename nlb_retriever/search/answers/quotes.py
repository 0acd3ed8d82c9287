"""Sentences of hits as quotes: which ones are prose, and how they are cited."""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import accumulate
from typing import TypeAlias

from nlb_retriever.records import Answer, Citation, Confidence, Hit, ShortAnswer
from nlb_retriever.search.copies import letters_of
from nlb_retriever.text.languages import number_of_words
from nlb_retriever.text.sentences import sentence_spans
from nlb_retriever.text.tables import is_row

NOT_FOUND = "Not in your library."
SENTENCES, WORDS = 5, 94
"""Most sentences and words of an answer whose limit is not given, about 90 words on average: little more than three
sentences are, and with the answer in it more often, as a long sentence leaves room for fewer (docs/reader-notes.md)."""
LEAST_WORDS = 5
"""Of a sentence that is quoted beside the best one: shorter ones ("My God!") say little."""
LABEL_WORDS = 16
"""Most words of a line in italics that heads a letter or a day of a diary."""
_ENDS = frozenset(".!?…;:\"'”’»“‘«)।॥؟۔。！？｡；：」』）")
_GREEK_QUESTION = re.compile(r"[\u0370-\u03ff\u1f00-\u1fff];$")
_CLOSERS = " \"'”’)»“‘«_*」』）"
_LICENCE = re.compile(
    r"project gutenberg|gutenberg\.org|standard ebooks|standardebooks\.org|all rights reserved|creative commons"
    r"|in the public domain|copyright (?:©|\(c\)|[12]\d{3})|transcriber's note|this etext|ebook (?:is for the use|#)"
    r"|isbn",
    re.IGNORECASE,
)
_ITALICS = re.compile(r"_[^_]+_[.:]?")
_ENTRY = re.compile(
    r"\W*(?:(?i:chapter|book|part|volume|letter|act|scene|canto)\W+(?:[IVXLC]+|\d+)\b|[IVXLC]+(?:[.:)]|$)"
    r"|\d{1,2}(?:\.\d{1,3}){1,4}\.?\s[^\n]*[^\s.;:]\s*$)",
    re.MULTILINE,
)
"""A line of a table of contents: it begins with a number in Roman numerals, or any after "Chapter", or has a section's
and no stop."""
_LEADERS = re.compile(r"(?:[.·…] ?){4,}\s*(?:\d+|[ivxl]+)\b|(?:[.·] ){8}")
"""Dots before the page in a printed table of contents."""
_LABELS = re.compile(r"(?:\b(?!AM|PM)[A-Z]{1,3}: [^\W\d].*){3}", re.DOTALL)
"""Of words in several languages: "ES: acento, I: accento, F: accent"."""
_REFERENCE = re.compile(r"(?:see )?(?:section|chapter|appendix) [\w.]+ \[[^\]]*\](?:, page \w+)?", re.IGNORECASE)
"""To another section of the book, as manuals have it."""
_NAMES = re.compile(
    r"(?:[\dA-Z]{1,3}\W+)?(?:references(?: cited)?|bibliography|(?:works|literature) cited"
    r"|(?:the )?(?:table of )?contents(?: of (?:the )?(?:vol|volume|book|part)\W+\w+)?"
    r"|list of (?:illustrations|figures|tables|plates|maps)"
    r"|index (?:of|to) (?:the )?(?:first lines|(?:\w+ )?(?:names|titles|authors|subjects|places|persons)))\W*",
    re.IGNORECASE,
)
"""The title of a section that only names works or sections."""
_WORD = re.compile(r"\w+")
_SPEAKER = re.compile(r"[A-Z][\w’']*(?: [A-Z][\w’']*){0,2}\.")
"""Before a speech of a play: "Kent." of "Kent. I thought the king had more affected the Duke."."""
_SPEECH = re.compile(rf"^ *{_SPEAKER.pattern} +\S", re.MULTILINE)
LEAST_SPEECHES = 3
"""Lines of a passage that begin so, where they are speeches."""
_NO_CODE = re.compile(r"=\w[^=\n]*\w=|https?://\S+|(?<!\$)\{\w[\w' -]{0,60}\}|\|[^|\n]{1,20}\|")
"""Words in bold, addresses, numbers of verses, words that a dictionary refers to, and absolute values."""
_CODE = re.compile(r"[{}<>=|\\]|::|->|\);|//")
"""Signs that program code has."""
_PROMPT = re.compile(r"(?:^|\s)(?:R>|>>>|(?:sqlite|mysql|julia|octave(?::\d+)?)>|In \[\d+\]:) \S")
"""Of a program that takes commands, before one."""
_CODE_SIGNS, _CODE_SHARE = 4, 0.3
"""Least number of these in a sentence of code, and beside the number of its words."""
_RULE = re.compile(r"^[^\S\n]*([=~^*#+-])\1{2,}[^\S\n]*$", re.MULTILINE)
"""Of a table or around program code in plain text."""
_GAP = re.compile(r"[^\s.!?:;,\"'”’][^\S\n]{2,}\S")
_CELLS = re.compile(r"(?<=\S)[^\S\n]{2,}")
_CLAUSE_WORDS = 3
"""Least words of a cell that explains the one before it."""
_ITEM_ENDS = re.compile(r"(?<=[.!?\w])(?:--|—|–)\s?(?=[A-Z“\"‘'])")
_ITEMS = 4
"""Least number of such dashes in what a chapter tells, item by item: "Departure.--Storm at sea.--Arrival."."""
_LETTERS = re.compile(r"[^\W\d_]+")
_LONG_WORD = re.compile(r"[^\W\d_]{4,}")
_CAPITALS = 0.75
"""Share of the long words in lines without a stop, above which they are titles, not verse, a recipe's or record's."""

Quoted: TypeAlias = tuple[Sequence[ShortAnswer], Sequence[Citation]]
"""Short answers, and the citations that have their words."""


@dataclass(frozen=True, kw_only=True)
class Quote:
    """A sentence of one of some hits."""

    hit: int
    """Index of the hit."""
    order: int
    """Number of the sentence in its passage."""
    start: int
    end: int
    """Span in the passage's text."""
    answer: tuple[int, int] | None = None
    """Span in the passage's text of the words that answer."""

    def text(self, hits: Sequence[Hit]) -> str:
        """The sentence."""
        return hits[self.hit].text[self.start : self.end]

    def answer_text(self, hits: Sequence[Hit]) -> str:
        """The words that answer, in one line."""
        assert self.answer
        return " ".join(hits[self.hit].text[slice(*self.answer)].split())


def find_sentences(hits: Sequence[Hit]) -> Iterator[Quote]:
    """All sentences of some hits, in order."""
    for index, hit in enumerate(hits):
        for order, (start, end) in enumerate(sentence_spans(hit.text)):
            yield Quote(hit=index, order=order, start=start, end=end)


def is_prose(hit: Hit, start: int, end: int) -> bool:
    """Whether a sentence of a hit is no heading, list, table, licence, reference, speaker's name or bare number."""
    text = hit.text[start:end]
    if not any(map(str.isalpha, text)) or (hit.section and _NAMES.fullmatch(hit.section[-1])):
        return False
    heading = _is_heading(hit, text) or _is_label(hit.text, start, end)
    listed = _is_list(text) or _is_entry(hit.text, start) or _LEADERS.search(text) or _refers(text)
    listed = listed or _is_table(text) or _heads_table(hit.text, end)
    return not (heading or listed or _is_speaker(hit.text, start, end) or _LICENCE.search(text))


def is_question(hit: Hit, start: int, end: int) -> bool:
    """Whether a sentence of a hit asks, and so answers nothing."""
    text = hit.text[start:end].rstrip(_CLOSERS)
    return text.endswith(("?", "？", "؟")) or _GREEK_QUESTION.search(text) is not None


def is_code(hit: Hit, start: int, end: int) -> bool:
    """Whether a sentence of a hit is program code, or mostly."""
    text = hit.text[start:end]
    if _PROMPT.search(text):
        return True
    signs = len(_CODE.findall(_NO_CODE.sub("", text)))
    return signs >= max(_CODE_SIGNS, _CODE_SHARE * len(text.split()))


def _is_heading(hit: Hit, sentence: str) -> bool:
    """Whether a sentence is only a title, or a piece of one ("CHAPTER I. The Keeper" reads as two sentences).

    The title of a text without one is its first words, all of them or cut short: these are not a heading.
    "Title: The Republic" is one.
    """
    own = {hit.title} if hit.title.endswith("…") or hit.title == " ".join(hit.text.split()) else set()
    titles = [part.casefold() for part in (hit.title, *hit.section) if part not in own]
    pieces = {tuple(_WORD.findall(piece)) for title in titles for piece in (title, *re.split("[.:;]", title))}
    fields = {tuple(_WORD.findall(each.casefold())) for each in (f"title {hit.title}", f"author {hit.author}")}
    return tuple(_WORD.findall(sentence.casefold())) in pieces | fields


def _is_label(text: str, start: int, end: int) -> bool:
    """Whether a sentence is a short line of its own in italics or capitals.

    "_Letter, Lucy Westenra to Mina Murray._", a date, "WHALING VOYAGE BY ONE ISHMAEL".
    """
    sentence = text[start:end].strip()
    alone = text[:start].rstrip(" ")[-1:] in ("", "\n") and text[end:].lstrip(" ")[:1] in ("", "\n")
    if not alone or len(sentence.split()) > LABEL_WORDS:
        return False
    return sentence.isupper() or _ITALICS.fullmatch(sentence) is not None


def _is_speaker(text: str, start: int, end: int) -> bool:
    """Whether a sentence is a name at the beginning of a line that goes on, as two other lines do: of a play."""
    goes_on = text[end:].lstrip(" ")[:1] not in ("", "\n")
    return (
        goes_on
        and text[:start].rstrip(" ")[-1:] in ("", "\n")
        and _SPEAKER.fullmatch(text[start:end].strip()) is not None
        and len(_SPEECH.findall(text)) >= LEAST_SPEECHES
    )


def _is_entry(text: str, start: int) -> bool:
    """Whether a sentence is of a line of a table of contents: one that is numbered, as is one beside it."""
    first = text.rfind("\n", 0, start) + 1
    if not _ENTRY.match(text, first):
        return False
    before = text[:first].rstrip().rpartition("\n")[2]
    after = text[text.find("\n", first) + 1 or len(text) :].lstrip()
    return any(map(_ENTRY.match, (before, after)))


def _refers(sentence: str) -> bool:
    """Whether a sentence says nothing besides references to other sections."""
    rest, count = _REFERENCE.subn("", sentence)
    return count > 0 and len(_WORD.findall(rest)) < 2


def _is_list(sentence: str) -> bool:
    """Whether a sentence is a run of titles without a full stop, as in a table of contents, or one of translations."""
    text = sentence.rstrip()
    if _LABELS.search(text):
        return True
    if text.count("\n") < 3 or text[-1:] in _ENDS:
        return False
    words = _LONG_WORD.findall(text)
    return sum(not word[0].islower() for word in words) > _CAPITALS * len(words)


def _is_table(sentence: str) -> bool:
    """Whether a sentence has a rule, or is rows of cells, which two spaces part (`reading`), or one without a stop.

    Rows of a word and what it means, as of a command's options, are none.
    """
    if _RULE.search(sentence):
        return True
    lines = sentence.split("\n")
    if 2 * sum(map(is_row, lines)) >= len(lines):
        return True
    rows = sum(1 for line in lines if _GAP.search(line))
    if 2 * rows < len(lines) or (rows == 1 and sentence[-1:] in _ENDS):
        return False
    return 2 * sum(map(_explains, lines)) < len(lines)


def _heads_table(text: str, end: int) -> bool:
    """Whether what ends there without a stop stands above a row of figures."""
    return text[end - 1] not in _ENDS and is_row(text[end:].lstrip().partition("\n")[0])


def _explains(row: str) -> bool:
    """Whether a row of a table has two cells, and some words in the second."""
    cells = _CELLS.split(row.strip())
    return len(cells) == 2 and len(_LETTERS.findall(cells[1])) >= _CLAUSE_WORDS


def choose_quotes(hits: Sequence[Hit], quotes: Iterable[Quote], limit: int | None) -> list[Quote]:
    """The first sentences among quotes, each once a book and its copies, none but the best a question or very short.

    Args:
        hits: that they are of.
        quotes: the best first.
        limit: so many sentences; None for `SENTENCES` in `WORDS` words, without those too long for what is left.
    """
    chosen: list[Quote] = []
    seen: set[tuple[str, str]] = set()
    left = WORDS if limit is None else math.inf
    for quote in quotes:
        if len(chosen) == (SENTENCES if limit is None else limit):
            break
        hit, start, end = hits[quote.hit], quote.start, quote.end
        narrowed = _narrow(hits, quote)
        length = number_of_words(narrowed.text(hits))
        same = letters_of(hit.title), letters_of(hit.text[start:end])
        if chosen and (not LEAST_WORDS <= length <= left or is_question(hit, start, end)):
            continue
        if same not in seen:
            chosen.append(narrowed)
            seen.add(same)
            left -= length
    return chosen


def _narrow(hits: Sequence[Hit], quote: Quote) -> Quote:
    """Of a synopsis, which is one long sentence, the item that answers; another quote as it is."""
    text = hits[quote.hit].text
    dashes = [*_ITEM_ENDS.finditer(text, quote.start, quote.end)] if quote.answer else []
    if not quote.answer or len(dashes) < _ITEMS:
        return quote
    start = max((dash.end() for dash in dashes if dash.end() <= quote.answer[0]), default=quote.start)
    end = min((dash.start() for dash in dashes if dash.start() >= quote.answer[1]), default=quote.end)
    return replace(quote, order=-2 - quote.start, start=start, end=end)  # no sentence's: none beside it joins it


def first_quotes(hits: Sequence[Hit], quotes: Sequence[Quote], count: int, words: int) -> list[Quote]:
    """The first of some quotes, in so many words; in any case the first, with the one that it announces by a colon."""
    least = 1 + (quotes[0].text(hits).rstrip().endswith(":") if quotes else 0)
    so_far = accumulate(number_of_words(quote.text(hits)) for quote in quotes[:count])
    return [quote for quote, own in zip(quotes, so_far, strict=False) if own <= words or quote in quotes[:least]]


def cite(hits: Sequence[Hit], quotes: Sequence[Quote]) -> tuple[Citation, ...]:
    """Citations of quotes, in their order; those that follow each other in a passage become one."""
    return tuple(_cite(hits[run[0].hit], run) for run in _runs(quotes))


def make_answer(
    question: str,
    citations: Sequence[Citation],
    shorts: Sequence[ShortAnswer] = (),
    confidence: Confidence | None = None,
    *,
    missing: str = NOT_FOUND,
) -> Answer:
    """An answer that quotes; not found, which `missing` says, without citations."""
    return Answer(
        question=question,
        found=bool(citations),
        text=join_quotes(citations) or missing,
        citations=tuple(citations),
        shorts=tuple(shorts),
        confidence=confidence,
    )


def join_names(names: Sequence[str], most: int) -> str:
    """The first titles or authors, and how many more there are."""
    rest = len(names) - most
    return "; ".join([*names[:most], *([f"and {rest:,} more"] if rest > 0 else [])])


def join_quotes(citations: Sequence[Citation]) -> str:
    """The quotes of citations as one line, with "…" where one is cut within a sentence."""
    return " ".join(_one_line(citation) for citation in citations)


def _one_line(citation: Citation) -> str:
    before, after = citation.is_cut
    return f"{'… ' if before else ''}{' '.join(citation.quote.split())}{' …' if after else ''}"


def _runs(quotes: Sequence[Quote]) -> list[list[Quote]]:
    """Quotes that follow each other in a passage together, in the order that they come in."""
    runs: list[list[Quote]] = []
    for quote in quotes:
        for run in runs:
            orders = [member.order for member in run]
            if quote.hit == run[0].hit and min(orders) - 1 <= quote.order <= max(orders) + 1:
                run.append(quote)
                break
        else:
            runs.append([quote])
    return runs


def _cite(hit: Hit, run: Sequence[Quote]) -> Citation:
    start, end = min(quote.start for quote in run), max(quote.end for quote in run)
    answer = run[0].answer
    return Citation(
        hit=hit,
        quote=hit.text[start:end],
        quote_start=hit.start + start,
        quote_end=hit.start + end,
        answer=(hit.start + answer[0], hit.start + answer[1]) if answer else None,
    )
