"""Chunking of books for training: chunk lengths, offsets, and borders that no chunk may cross."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise

from tokenizers import Tokenizer

from nlb_retriever.errors import TrainingError
from nlb_retriever.records import Passage, Section
from nlb_retriever.text.chunking import Chunker

MIN_TOKENS = 16
MAX_TOKENS = 512
"""Shortest and longest chunks of the paper's ablation (arXiv 2402.17682, section 5)."""
MIN_OFFSET = 8
_CHARS_PER_TOKEN = 8
"""Characters that are tokenized for each token of an offset; English has four or five."""


@dataclass(frozen=True, kw_only=True, order=True)
class Chunking:
    """How a book is divided into chunks.

    Raises:
        TrainingError: the numbers are out of range.
    """

    tokens: int
    """Maximum chunk length in the encoder's tokens, including special ones; 0 makes each sentence a chunk."""
    offset: int = 0
    """Maximum length of each section's first chunk, in tokens; 0 for no shorter first chunk. Another offset gives
    another sequence of chunks of the same book."""

    def __post_init__(self) -> None:
        if self.tokens and not MIN_TOKENS <= self.tokens <= MAX_TOKENS:
            raise TrainingError(
                f"chunks of {self.tokens} tokens: use {MIN_TOKENS} to {MAX_TOKENS}, or 0 for one sentence a chunk"
            )
        if self.offset and not MIN_OFFSET <= self.offset < self.tokens:
            raise TrainingError(
                f"chunks of {self.tokens or 'one sentence'} cannot have the offset {self.offset}: use 0, or "
                f"{MIN_OFFSET} to one less than a chunk's tokens"
            )

    def __str__(self) -> str:
        length = f"{self.tokens} tokens" if self.tokens else "sentences"
        return f"{length} from {self.offset}" if self.offset else length


class Cutter:
    """Chunks books in one chunking, with the chunker of libraries."""

    def __init__(self, tokenizer: Tokenizer, chunking: Chunking) -> None:
        self._chunker = Chunker(tokenizer, tokens=chunking.tokens)
        self._head: Chunker | None = None
        if chunking.offset:
            special = tokenizer.num_special_tokens_to_add(False)
            self._head = Chunker(tokenizer, tokens=chunking.offset + special, boundary="fixed")
        self._offset = chunking.offset

    def cut(self, text: str, sections: Sequence[Section], borders: Sequence[int] = ()) -> list[Passage]:
        """All chunks of a book, in order, with their sections.

        Args:
            text: of the book.
            sections: of the book, which they partition; no chunk crosses their borders.
            borders: further offsets that no chunk crosses, in any order; those outside of the text are ignored.
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
            if self._head and (cut := self._after_head(self._head, text, start, end)) < end:
                yield replace(section, start=start, end=cut)
                begin = cut
            yield replace(section, start=begin, end=end)

    def _after_head(self, head: Chunker, text: str, start: int, end: int) -> int:
        """End of the short first chunk of `text[start:end]`."""
        until = start + _CHARS_PER_TOKEN * self._offset
        while until < end and not text[until].isspace():
            until += 1
        window = Section(path=("",), start=start, end=min(until, end))
        return next((passage.end for passage in head.passages(text, [window])), end)
