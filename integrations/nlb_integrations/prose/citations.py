"""Checks a text while it is written: its citation numbers, and whether a passage supports each sentence.

Support is the mean of two shares: of the sentence's words, and of those that the question does not have, each in the
two neighbouring sentences of the passage that have most of them; rare words count more. docs/prose.md says what it
keeps and lets pass; the chunk encoder's cosine, alone or with it, is no better.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from functools import lru_cache
from itertools import groupby, pairwise

from nlb_integrations.prose.prompt import DECLINED
from nlb_integrations.prose.records import ProseSentence
from nlb_retriever.records import Citation, Hit
from nlb_retriever.search.overlap import find_overlap
from nlb_retriever.text.languages import ENGLISH, find_language
from nlb_retriever.text.sentences import sentence_spans
from nlb_retriever.text.words import word_ids

SUPPORT = 0.25
"""Least support of a supported sentence."""
_FEW_WORDS = 3

_MARK = re.compile(
    r"[\[【]\s*\^?(?:passages?\s*)?(?:numbers?\s*)?(\d{1,3}(?:\s*(?:[,;&–—-]|,?\s*and)\s*\d{1,3})*)\s*[\]】]",
    re.IGNORECASE,
)
_RANGE = re.compile(r"(\d+)(?:\s*[–—-]\s*(\d+))?")
_OPENS, _CLOSES = "[【", "]】"
_LONGEST_MARK = 40
_LONGEST_MONTH = 12
"""By so many letters of the next word it is certain whether a sentence has ended: not in "24. Dezember"."""
_BEFORE = 100
"""Characters of a sentence that are enough to see whether it ends behind them."""
_LOOP = re.compile(r"(.{6,80}?)\1{3}", re.DOTALL)
_LOOP_STEP = 20
_ENDED = re.compile(r"[.!?…:;‽؟۔。！？]")


class Checker:
    """Takes a text piece by piece and corrects its citations.

    It yields text to show, and after each sentence its record; `text` is all of it so far. Citations are numbered in
    the order in which they first appear. The text is read character by character: its pieces make no difference.
    """

    def __init__(self, question: str, hits: Sequence[Hit]) -> None:
        self._question = question
        self._hits = hits
        self._bracket = ""
        """The beginning of what may be a citation mark."""
        self._held = ""
        """What follows the last word shown, and the next word until it is known which sentence that is of."""
        self._word = 0
        """Letters of that next word."""
        self._current = ""
        """What is shown of the sentence that is being written, with what stands before it; it ends with a letter."""
        self._stopped = False
        """Whether what comes next follows a mark behind a full stop: another one would be double."""
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
        for kind, items in groupby((item for char in piece for item in self._read(char)), type):
            if kind is str:
                yield "".join(map(str, items))
            else:
                yield from items

    def close(self, *, cut_off: bool = False) -> Iterator[str | ProseSentence]:
        """The text has ended, or was cut off; a first sentence may also be a few words without a full stop."""
        yield from self._take(self._bracket)
        if self._word:
            yield from self._settle()
        end = self._find_end()
        if self._current and not self.repeats:
            if end is None:
                cut_off = (cut_off or bool(self.sentences)) and not _ENDED.search(self._held)
                self._held = self._held.rstrip() + ("…" if cut_off else "")
                end = len(self._held)
            yield from self._end_sentence(end)
        yield from self._show(len(self._held.rstrip()))

    def _read(self, char: str) -> Iterator[str | ProseSentence]:
        """Take the next character; one that may be of a mark waits until that is known."""
        if char in _OPENS:
            text, self._bracket = self._bracket, char
        elif self._bracket and char not in _CLOSES and len(self._bracket) < _LONGEST_MARK:
            text, self._bracket = "", self._bracket + char
        else:
            text, self._bracket = self._bracket + char, ""
        if mark := _MARK.fullmatch(text):
            yield from self._take_mark(mark[1])
        else:
            yield from self._take(text)

    def _take_mark(self, numbers: str) -> Iterator[str | ProseSentence]:
        """A mark belongs to the sentence before it; at the beginning of a line, to that line."""
        if self._word:
            yield from self._settle()
        if self._current and "\n" in self._held:
            yield from self._end_sentence(self._held.index("\n"))
        *lines, line = self._held.split("\n")
        self._held = "\n".join((*lines, line.rstrip()))
        self._stopped = _ENDED.search(line) is not None
        for first, last in _RANGE.findall(numbers):
            self._marks += range(int(first), int(last or first) + 1)

    def _take(self, text: str) -> Iterator[str | ProseSentence]:
        """Take a text without marks; nothing of a model that repeats itself."""
        for char in text:
            if self.repeats:
                return
            if not (self._held or self.text) and char.isspace():
                continue
            if self._held.endswith("\n") and char.isspace() and char != "\n":
                continue
            stopped, self._stopped = self._stopped, False
            if stopped and char == ".":
                continue
            self._held += char
            if char.isalnum():
                self._word += 1
                if self._word > _LONGEST_MONTH or self._find_end() is None:
                    yield from self._settle()
            elif self._word:
                yield from self._settle()

    def _settle(self) -> Iterator[str | ProseSentence]:
        """The next word is known: it is of the sentence, or of the next one."""
        self._word = 0
        if (end := self._find_end()) is not None:
            yield from self._end_sentence(end)
            return
        end = len(self._held)
        while not self._held[end - 1].isalnum():
            end -= 1
        length = len(self._current)
        yield from self._show(end)
        if length // _LOOP_STEP < len(self._current) // _LOOP_STEP and _LOOP.search(self._current[-400:]):
            self._held = ""
            yield from self._end_sentence(0)
            self.repeats = True

    def _find_end(self) -> int | None:
        """Where in what is held the sentence ends, if another begins there."""
        if not self._current or len(self._held) == 1:
            return None
        before = self._current[-_BEFORE:].replace("\n", " ")  # the number of an item is shown before its sentence ends
        spans = sentence_spans(before + self._held)
        ends = (end for (_, end), (start, _) in pairwise(spans) if start > len(before))
        return next((end - len(before) for end in ends), None)

    def _show(self, end: int) -> Iterator[str]:
        """Show what is held, up to `end`."""
        if new := self._held[:end]:
            self._held = self._held[end:]
            self._current += new
            self.text += new
            yield new

    def _end_sentence(self, end: int) -> Iterator[str | ProseSentence]:
        """The sentence ends at `end` in what is held."""
        yield from self._show(end)
        text, self._current = self._current.strip(), ""
        sentence = self._checked(text)
        self.repeats = any(_bare(text) == _bare(earlier.text) for earlier in self.sentences)
        self.sentences.append(sentence)
        self.text += "".join(f" [{number}]" for number in sentence.citations)
        yield sentence
        rest, self._held, self._word = self._held, "", 0
        yield from self._take(rest)

    def _checked(self, text: str) -> ProseSentence:
        """A sentence with its citations that support it; without any, with the best passage that does."""
        marks, self._marks = list(dict.fromkeys(self._marks)), []
        self.forged += [mark for mark in marks if not 1 <= mark <= len(self._hits)]
        if _bare(text) == _bare(DECLINED):
            self.declined = True
            return ProseSentence(text=text, citations=(), supported=True)
        if _LOOP.search(text):
            return ProseSentence(text=text, citations=(), supported=False)
        scores = [support(text, self._question, hit.text) for hit in self._hits]
        supporting = [index for index, score in enumerate(scores) if score >= SUPPORT]
        cited = [mark - 1 for mark in marks if mark - 1 in supporting] or sorted(
            supporting, key=lambda index: -scores[index]
        )[:1]
        numbers = tuple(self._number(index, text) for index in cited)
        return ProseSentence(text=text, citations=numbers, supported=bool(cited))

    def _number(self, index: int, text: str) -> int:
        """The citation's number; a new one quotes the passage's sentence that has most of the text's words."""
        if index not in self._numbers:
            hit = self._hits[index]
            overlap = find_overlap(text, [hit.text], _language(hit.text))
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
    language = _language(passage)
    overlap = find_overlap(sentence, [passage], language)
    if not overlap.words:
        return 0.0
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
