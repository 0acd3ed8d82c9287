"""From sections to passages: spans of text that fit the chunk encoder.

A window of text is counted in the encoder's own tokens and ends at the end of a paragraph or
sentence where one is near. To be fast, a text is cut into *units* (mostly words) whose tokens are
counted once and remembered. For BERT's tokenizers, where a word's tokens do not depend on its
neighbours, the sum over units is the exact count; for any other tokenizer it is an estimate, and
every passage is counted again as a whole.
"""

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import accumulate, pairwise
from typing import Literal

import numpy as np
from tokenizers import Tokenizer, normalizers, pre_tokenizers

from nlb_retriever.errors import EncoderError
from nlb_retriever.records import Passage, Section
from nlb_retriever.text.languages import is_latin
from nlb_retriever.text.sentences import sentence_spans

SENTENCE_TOKENS = 256
"""Longest chunk, with [CLS] and [SEP], where each sentence is a chunk of its own."""
FEWEST_TOKENS, MOST_TOKENS = 10, 1_000_000
"""Of a chunk."""

_BLOCK = 1_000_000  # characters looked at together: bounds memory on a section of 50 MB
_LONG_WORD = 100  # characters; longer ones are cut at their punctuation
_CHARS_PER_TOKEN = 16  # bounds a passage's characters: a very long word is a single [UNK] to WordPiece
_SHORTEST = 0.4
"""Least share of a full chunk that ends at a sentence in other letters than Latin ones: these have about a token each,
so that a quarter of a chunk holds less than most sentences."""
_REMEMBERED = 300_000  # words whose tokens are kept in memory, about 40 MB

# Whitespace to Python's str.split, dropped by BERT's normalizer.
_DROPPED = re.compile("[\x0b\x0c\x1c-\x1f\x85]")
_SPACES = np.zeros(0x3002, dtype=np.bool_)
_SPACES[[9, 10, 13, 32, 0xA0, 0x1680, *range(0x2000, 0x200B), 0x2028, 0x2029, 0x202F, 0x205F, 0x3000]] = True

# Characters that are always a token of their own in BERT's tokenizers (some of them: all are not needed).
_FIRST_WIDE = 0x2E80
_WIDE = "、。〈-】！（），．：；？｡-､㐀-䶿一-鿿\U00020000-\U0002a6df"
_ALONE = r"!-/:-@\[-`{-~«»‘’“”–—…" + _WIDE


@dataclass(frozen=True)
class _Units:
    """Stretches of a block between which it may be cut; all offsets are the whole text's."""

    starts: list[int]
    ends: list[int]
    tokens: list[int]
    """Tokens of all units before each one, and of all: one entry more than there are units."""
    borders: list[int]
    """Indexes of units at which a passage must end (exclusive), in order; the last is their number."""


class _Counts(dict[str, int]):
    """Tokens of a word: counted by the tokenizer once, then remembered."""

    def __init__(self, tokenizer: Tokenizer, parts: re.Pattern[str] | None) -> None:
        self._tokenizer = tokenizer
        self._parts = parts

    def __missing__(self, word: str) -> int:
        if self._parts is None:
            count = len(self._tokenizer.encode(" " + word, add_special_tokens=False))
        elif len(parts := self._parts.findall(word)) > 1:
            count = sum(map(self.__getitem__, parts))
        else:
            count = len(self._tokenizer.encode(word, add_special_tokens=False))
        if len(self) >= _REMEMBERED:
            self.clear()
        self[word] = count
        return count


class Chunker:
    """Cuts sections into passages of a bounded number of tokens."""

    def __init__(
        self, tokenizer: Tokenizer, *, tokens: int = 256, boundary: Literal["sentence", "fixed"] = "sentence"
    ) -> None:
        """Choose how to cut.

        Args:
            tokenizer: the chunk encoder's.
            tokens: longest chunk with the encoder's special tokens, as in the NextLevelBERT paper
                (arXiv 2402.17682, section 3); 0 makes each sentence a chunk.
            boundary: "sentence" ends a chunk at a paragraph's or sentence's end in its last quarter;
                "fixed" fills every chunk up to a word's end, as the paper does.

        Raises:
            EncoderError: a chunk of so few tokens holds no text, or of so many is too long.
        """
        special = tokenizer.num_special_tokens_to_add(False)
        self._limit = (tokens or SENTENCE_TOKENS) - special
        if self._limit < 8:
            raise EncoderError(
                f"a chunk of {tokens} tokens holds no text beside {special} special ones: "
                f"use {special + 8} or more, or 0 for one sentence a chunk"
            )
        if tokens > MOST_TOKENS:
            raise EncoderError(f"a chunk of {tokens:,} tokens is too long: use at most {MOST_TOKENS:,}")
        if tokenizer.truncation or tokenizer.padding:
            tokenizer = Tokenizer.from_str(tokenizer.to_str())
            tokenizer.no_truncation()
            tokenizer.no_padding()
        self._tokenizer = tokenizer
        self._by_sentence = tokens == 0
        self._fixed = boundary == "fixed"
        self._longest = _CHARS_PER_TOKEN * self._limit
        self._exact = _is_additive(tokenizer)
        # An estimate leaves room for what whitespace takes.
        self._window = self._limit if self._exact else self._limit * 19 // 20
        if self._exact:
            added = (re.escape(token.content) for token in tokenizer.get_added_tokens_decoder().values())
            alone = "|".join([*added, f"[{_ALONE}]"])
            # Counts of parts of one very long word do not add up; each fills a passage of its own.
            self._pieces = re.compile(rf"{alone}|[^\s{_ALONE}]{{1,{self._longest}}}")
        else:
            self._pieces = re.compile(rf"[{_WIDE}]{{1,8}}|[^\s{_WIDE}]{{1,{_LONG_WORD}}}")
        self._counts = _Counts(tokenizer, self._pieces if self._exact else None)

    def passages(self, text: str, sections: Sequence[Section]) -> tuple[Passage, ...]:
        """All passages of a book, in order; together they hold every character that is not whitespace."""
        return tuple(
            Passage(start=start, end=end, section=index, tokens=tokens)
            for index, section in enumerate(sections)
            for block in _blocks(text, section.start, section.end)
            for start, end, tokens in self._passages(text, *block)
        )

    def _passages(self, text: str, start: int, end: int) -> Iterator[tuple[int, int, int]]:
        units = self._units(text, start, end)
        for first, last in self._windows(text, units):
            a, b = _strip(text, units.starts[first], units.ends[last - 1])
            if a < b:
                tokens = units.tokens[last] - units.tokens[first] if self._exact else self._count(text[a:b])
                yield from self._fit(text, a, b, tokens)

    def _units(self, text: str, start: int, end: int) -> _Units:
        block = _DROPPED.sub("\0", text[start:end])
        # Spaces are found in an array of code points: five times as fast as asking for each word's span.
        codes = np.frombuffer(block.encode("utf-32-le"), dtype="<u4")
        ink = np.zeros(len(codes) + 2, dtype=np.bool_)
        np.logical_not(_SPACES.take(codes, mode="clip"), out=ink[1:-1])
        edges = np.flatnonzero(ink[1:] != ink[:-1])
        starts, ends = edges[::2], edges[1::2]
        if len(codes) and (codes.max() >= _FIRST_WIDE or (ends - starts).max(initial=0) > _LONG_WORD):
            spans = [match.span() for match in self._pieces.finditer(block)]
            starts = np.fromiter((a for a, _ in spans), dtype=np.int64, count=len(spans))
            ends = np.fromiter((b for _, b in spans), dtype=np.int64, count=len(spans))
            words = [block[a:b] for a, b in spans]
        else:
            words = block.split()
        tokens = [0, *accumulate(map(self._counts.__getitem__, words))]
        at, until = (starts + start).tolist(), (ends + start).tolist()
        borders = []
        if self._by_sentence:
            stops = (_find(until, stop, 0, len(until)) + 1 for _, stop in sentence_spans(text, start, end))
            borders = sorted(set(stops) - {0})
        return _Units(at, until, tokens, [*borders, len(at)])

    def _windows(self, text: str, units: _Units) -> Iterator[tuple[int, int]]:
        """Cut units into ranges `[first, last)` within the limit where no single unit exceeds it."""
        first = 0
        for border in units.borders:
            while first < border:
                last = self._next_cut(text, units, first, border)
                yield first, last
                first = last

    def _next_cut(self, text: str, units: _Units, first: int, border: int) -> int:
        starts, ends, tokens, limit = units.starts, units.ends, units.tokens, self._window
        base = tokens[first]
        fits = min(
            bisect_right(tokens, base + limit, first, border + 1) - 1,
            bisect_right(ends, starts[first] + self._longest, first, border),
        )
        if fits >= border:
            return border
        if fits <= first + 1:
            return first + 1
        if self._fixed:
            return _word_border(units, first + 1, fits)
        rest = tokens[border] - base
        if limit < rest < limit * 1.5:  # two windows are left: of about equal length
            aim = rest / 2
            low, high = max(rest - limit, aim - limit / 8), min(limit, aim + limit / 8)
            fits = min(fits, bisect_right(tokens, base + high, first, border) - 1)
        else:
            aim, low = limit, limit * 0.75
        earliest = max(bisect_left(tokens, base + low, first, border), first + 1)
        if earliest >= fits:
            return max(fits, first + 1)
        best = self._sentence_cut(text, units, (earliest, fits), base + aim, border)
        if not best and not is_latin(text[starts[first] : ends[fits - 1]]):
            soonest = max(bisect_left(tokens, base + _SHORTEST * limit, first, border), first + 1)
            best = self._sentence_cut(text, units, (soonest, fits), base + aim, border)
        if best:
            return best
        return _word_border(units, earliest, max(bisect_right(tokens, base + aim, earliest, fits + 1) - 1, earliest))

    @staticmethod
    def _sentence_cut(text: str, units: _Units, within: tuple[int, int], aim: float, border: int) -> int:
        """The cut at a paragraph's or sentence's end that lies nearest to `aim` tokens; 0 where there is none."""
        starts, ends, tokens = units.starts, units.ends, units.tokens
        earliest, fits = within
        # The span reaches a little beyond: what follows a stop decides whether it ends a sentence.
        sentences = sentence_spans(text, starts[earliest - 1], min(starts[fits] + 64, ends[border - 1]))
        best, best_rank = 0, (0, 0.0)
        for (_, end), (begin, _) in pairwise(sentences):
            cut = _find(ends, end, earliest - 1, fits) + 1
            if cut:
                rank = (1 + (text.count("\n", end, begin) > 1), -abs(tokens[cut] - aim))
                if rank > best_rank:
                    best, best_rank = cut, rank
        return best

    def _count(self, text: str) -> int:
        return len(self._tokenizer.encode(text, add_special_tokens=False))

    def _fit(self, text: str, start: int, end: int, tokens: int) -> Iterator[tuple[int, int, int]]:
        """Halve what is still too long (one very long word, or an estimate that was too low)."""
        if tokens <= self._limit or end - start < 2:
            yield start, end, tokens
            return
        middle = (start + end) // 2
        space = text.rfind(" ", start, middle)
        if space - start > (end - start) // 4:
            middle = space
        for a, b in ((start, middle), (middle, end)):
            a, b = _strip(text, a, b)  # noqa: PLW2901
            yield from self._fit(text, a, b, self._count(text[a:b]))


def _is_additive(tokenizer: Tokenizer) -> bool:
    """Whether the tokens of a text are those of its words and punctuation marks, one by one."""
    normalizer = tokenizer.normalizer
    return (
        isinstance(normalizer, normalizers.BertNormalizer)
        and normalizer.clean_text
        and normalizer.handle_chinese_chars
        and isinstance(tokenizer.pre_tokenizer, pre_tokenizers.BertPreTokenizer)
        and all(
            re.fullmatch(r"[\[<][^\s\[<]+", token.content) and not (token.single_word or token.normalized)
            for token in tokenizer.get_added_tokens_decoder().values()
        )
    )


def _blocks(text: str, start: int, end: int) -> Iterator[tuple[int, int]]:
    """Cut a very large section at a blank line, else at a space, else anywhere."""
    while end - start > _BLOCK:
        latest = start + _BLOCK
        cut = text.rfind("\n\n", start + _BLOCK // 2, latest)
        if cut < 0:
            cut = text.rfind(" ", start + _BLOCK // 2, latest)
        if cut < 0:
            cut = latest
        yield start, cut
        start = cut
    yield start, end


def _word_border(units: _Units, low: int, high: int) -> int:
    """The last cut in `[low, high]` at whitespace, else `high`."""
    return next((cut for cut in range(high, low - 1, -1) if units.ends[cut - 1] < units.starts[cut]), high)


def _strip(text: str, start: int, end: int) -> tuple[int, int]:
    while start < end and text[start].isspace():
        start += 1
    while start < end and text[end - 1].isspace():
        end -= 1
    return start, end


def _find(ordered: list[int], value: int, low: int, high: int) -> int:
    """Index of `value` in `ordered[low:high]`, else -1."""
    index = bisect_left(ordered, value, low, high)
    return index if index < high and ordered[index] == value else -1
