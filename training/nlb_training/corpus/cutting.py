"""One book cut in several ways: chunk lengths, offsets, and borders that no chunk may cross."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise

from tokenizers import Tokenizer

from nlb_retriever.errors import TrainingError
from nlb_retriever.records import Passage, Section
from nlb_retriever.text.chunking import Chunker

LEAST_TOKENS = 16
MOST_TOKENS = 512
"""The shortest and longest chunks of the paper's ablation (arXiv 2402.17682, section 5)."""
LEAST_OFFSET = 8
_CHARS_PER_TOKEN = 8
"""Characters that are looked at for each token of an offset: English has four or five."""


@dataclass(frozen=True, kw_only=True, order=True)
class Chunking:
    """How a book is cut into chunks.

    Raises:
        TrainingError: the numbers are out of range.
    """

    tokens: int
    """Longest chunk in the encoder's tokens, with the special ones; 0 makes each sentence a chunk."""
    offset: int = 0
    """Tokens by which the cuts of every section are moved: its first chunk is at most that long. Another
    offset gives other chunks of the same book, so another sequence to learn from."""

    def __post_init__(self) -> None:
        if self.tokens and not LEAST_TOKENS <= self.tokens <= MOST_TOKENS:
            raise TrainingError(
                f"chunks of {self.tokens} tokens: use {LEAST_TOKENS} to {MOST_TOKENS}, or 0 for one sentence a chunk"
            )
        if self.offset and not LEAST_OFFSET <= self.offset < self.tokens:
            raise TrainingError(
                f"chunks of {self.tokens or 'one sentence'} cannot begin {self.offset} tokens late: use 0, or "
                f"{LEAST_OFFSET} to one less than a chunk's tokens"
            )

    def __str__(self) -> str:
        length = f"{self.tokens} tokens" if self.tokens else "sentences"
        return f"{length} from {self.offset}" if self.offset else length


class Cutter:
    """Cuts books in one way, with the chunker that libraries are indexed with."""

    def __init__(self, tokenizer: Tokenizer, chunking: Chunking) -> None:
        self._chunker = Chunker(tokenizer, tokens=chunking.tokens)
        self._head: Chunker | None = None
        if chunking.offset:
            special = tokenizer.num_special_tokens_to_add(False)
            self._head = Chunker(tokenizer, tokens=chunking.offset + special, boundary="fixed")
        self._offset = chunking.offset

    def cut(self, text: str, sections: Sequence[Section], borders: Sequence[int] = ()) -> list[Passage]:
        """All chunks of a book, in order, with the sections that they lie in.

        Args:
            text: of the book.
            sections: its partition; no chunk crosses their borders.
            borders: further offsets that no chunk crosses, in any order; those outside of the text count for
                nothing.
        """
        pieces: list[Section] = []
        owners: list[int] = []
        ordered = sorted(set(borders))
        for index, section in enumerate(sections):
            for piece in self._pieces(text, section, ordered):
                pieces.append(piece)
                owners.append(index)
        return [replace(passage, section=owners[passage.section]) for passage in self._chunker.passages(text, pieces)]

    def _pieces(self, text: str, section: Section, borders: Sequence[int]) -> Iterator[Section]:
        low, high = bisect_right(borders, section.start), bisect_left(borders, section.end)
        for start, end in pairwise((section.start, *borders[low:high], section.end)):
            begin = start
            if self._head and (cut := self._behind_head(self._head, text, start, end)) < end:
                yield replace(section, start=start, end=cut)
                begin = cut
            yield replace(section, start=begin, end=end)

    def _behind_head(self, head: Chunker, text: str, start: int, end: int) -> int:
        """Where the short first chunk of `text[start:end]` ends."""
        until = start + _CHARS_PER_TOKEN * self._offset
        while until < end and not text[until].isspace():
            until += 1
        looked_at = Section(path=("",), start=start, end=min(until, end))
        return next((passage.end for passage in head.passages(text, [looked_at])), end)
