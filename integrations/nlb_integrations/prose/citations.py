"""Checks a text while it is written: its citation numbers, and whether a passage supports each sentence.

Support is the mean of two shares: of the sentence's words, and of those that the question does not have, each in the
two neighbouring sentences of the passage that have most of them; rare words count more. docs/prose.md says what it
keeps and lets pass; the chunk encoder's cosine, alone or with it, is no better.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from functools import lru_cache

from nlb_integrations.prose.prompt import DECLINED
from nlb_integrations.prose.records import ProseSentence
from nlb_retriever.records import Citation, Hit
from nlb_retriever.search.overlap import Overlap, find_overlap
from nlb_retriever.text.languages import ENGLISH, find_language
from nlb_retriever.text.sentences import sentence_spans
from nlb_retriever.text.words import word_ids

SUPPORT = 0.25
"""Least support of a supported sentence."""
_FEW_WORDS = 3

_MARK = re.compile(r"(\s*)\[\s*(?:passages?\s*)?(\d{1,3}(?:\s*[,;]\s*\d{1,3})*)\s*\]", re.IGNORECASE)
# The end of a text that may become the start of a mark, of white space before one, or of the next sentence.
_OPEN_END = re.compile(r"[\s\"'“‘(]*(?:\[[\w\s,;]{0,40})?\Z")
_LOOP = re.compile(r"(.{6,80}?)\1{3}", re.DOTALL)
_ENDED = re.compile(r"[.!?…:;‽؟。！？][\W_]*\Z")


class Checker:
    """Takes a text piece by piece and corrects its citations.

    It yields text to show, and after each sentence its record; `text` is all of it so far. Citations are numbered in
    the order in which they first appear.
    """

    def __init__(self, question: str, hits: Sequence[Hit]) -> None:
        self._question = question
        self._hits = hits
        self._held = ""
        """Read, and not yet known to be text or a citation mark."""
        self._current = ""
        """Text of the sentence that is being written, with the white space before it."""
        self._shown = 0
        """How much of that has been yielded."""
        self._marks: list[int] = []
        self._numbers: dict[int, int] = {}
        self.text = ""
        self.citations: list[Citation] = []
        self.sentences: list[ProseSentence] = []
        self.forged: list[int] = []
        self.declined = False
        self.repeats = False
        """Whether the model has begun to repeat itself: then nothing more is taken."""

    def feed(self, piece: str) -> Iterator[str | ProseSentence]:
        """Take the next piece, of any length."""
        self._held += piece
        while mark := _MARK.search(self._held):
            yield from self._take(self._held[: mark.start()])
            rest = self._held[mark.end() :]
            if "\n" in mark[1]:  # a number at a line's start belongs to that line
                yield from self._end_sentence()
                rest = mark[1] + rest
            self._marks += map(int, re.findall(r"\d+", mark[2]))
            self._held = rest
        open_end = _OPEN_END.search(self._held)
        cut = open_end.start() if open_end else len(self._held)
        ready, self._held = self._held[:cut], self._held[cut:]
        yield from self._take(ready)

    def close(self) -> Iterator[str | ProseSentence]:
        """The text has ended."""
        rest, self._held = self._held.rstrip(), ""
        yield from self._take(rest)
        if self.sentences and self._current and not _ENDED.search(self._current):
            yield from self._take("…")  # the answer was cut off
        yield from self._end_sentence()

    def _take(self, text: str) -> Iterator[str | ProseSentence]:
        """Take a text without marks; nothing of a model that repeats itself."""
        if self.repeats:
            return
        text = re.sub(r"\n[^\S\n]+", "\n", text)
        self._current += text if self._current or self.sentences else text.lstrip()
        while len(spans := sentence_spans(self._current)) > 1 and re.search(r"\w", self._current[spans[1][0] :]):
            end = spans[0][1]
            ahead = max(0, self._shown - end)
            rest, self._current = self._current[end:], self._current[:end]
            yield from self._end_sentence()
            if self.repeats:
                return
            self._current, self._shown = rest, ahead
        yield from self._show()
        if _LOOP.search(self._current[-400:]):
            yield from self._end_sentence()
            self.repeats = True

    def _show(self) -> Iterator[str]:
        if new := self._current[self._shown :]:
            self._shown = len(self._current)
            self.text += new
            yield new

    def _end_sentence(self) -> Iterator[str | ProseSentence]:
        yield from self._show()
        text, self._current, self._shown = self._current.strip(), "", 0
        if not re.search(r"\w", text):
            return
        sentence = self._checked(text)
        self.repeats = any(_bare(text) == _bare(earlier.text) for earlier in self.sentences)
        self.sentences.append(sentence)
        self.text += "".join(f" [{number}]" for number in sentence.citations)
        yield sentence

    def _checked(self, text: str) -> ProseSentence:
        """A sentence with its citations that support it; without any, with the best passage that does."""
        marks, self._marks = list(dict.fromkeys(self._marks)), []
        self.forged += [mark for mark in marks if not 1 <= mark <= len(self._hits)]
        if _bare(text) == _bare(DECLINED):
            self.declined = True
            return ProseSentence(text=text, citations=(), supported=True)
        if _LOOP.search(text):
            return ProseSentence(text=text, citations=(), supported=False)
        pairs = [(hit, find_overlap(text, [hit.text], _language(hit.text))) for hit in self._hits]
        scores = [_support(text, self._question, hit.text, overlap) for hit, overlap in pairs]
        supporting = [index for index, score in enumerate(scores) if score >= SUPPORT]
        cited = [mark - 1 for mark in marks if mark - 1 in supporting] or sorted(
            supporting, key=lambda index: -scores[index]
        )[:1]
        numbers = tuple(self._number(index, pairs[index][1]) for index in cited)
        return ProseSentence(text=text, citations=numbers, supported=bool(cited))

    def _number(self, index: int, overlap: Overlap) -> int:
        """The citation's number; a new one quotes the passage's sentence that has most of the words."""
        if index not in self._numbers:
            hit = self._hits[index]
            shares = overlap.shares[0]
            best = overlap.passages[0][shares.index(max(shares))]
            quote = hit.text[best.start : best.end]
            start, end = hit.start + best.start, hit.start + best.end
            self.citations.append(Citation(hit=hit, quote=quote, quote_start=start, quote_end=end))
            self._numbers[index] = len(self.citations)
        return self._numbers[index]


def support(sentence: str, question: str, passage: str) -> float:
    """How far a passage supports a sentence: 0 to 1; 0 for a sentence without a word that counts.

    A word or two occur in many passages: they must be in a sentence that is about the question.
    """
    return _support(sentence, question, passage, find_overlap(sentence, [passage], _language(passage)))


def _support(sentence: str, question: str, passage: str, overlap: Overlap) -> float:
    """Support where the sentence's overlap with the passage is known."""
    if not overlap.words:
        return 0.0
    language = _language(passage)
    question_words = word_ids(question, language)
    if question_words and len(overlap.words) < _FEW_WORDS:
        about = find_overlap(question, [passage], language)
        return max(map(min, overlap.shares[0], about.shares[0]), default=0.0)
    new = " ".join(word for word in sentence.split() if not word_ids(word, language) <= question_words)
    whole = overlap.pair_shares[0]
    return (whole + find_overlap(new, [passage], language).pair_shares[0]) / 2 if new else whole


@lru_cache(256)
def _language(passage: str) -> str:
    """Whose inflections a passage's words have."""
    return find_language(passage) or ENGLISH


def _bare(text: str) -> str:
    return re.sub(r"\W+", " ", text).strip().casefold()
