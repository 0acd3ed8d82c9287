"""Synthetic examples, made from books without labels and without an LLM.

A section's title is a query for the section. So are sentences of it, whose chunk is then not part of the answer (the
inverse cloze task of Lee et al. 2019, arXiv 1906.00300, on sections).
"""

from __future__ import annotations

import re
import zlib
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from nlb_retriever.records import Section
from nlb_retriever.text.sentences import sentence_spans
from nlb_training.data.examples import Example

MIN_TITLE_WORDS = 3
"""Of a title that describes its section."""
MIN_SECTION_CHARACTERS = 400
"""Shorter sections are dedications and lines of a table of contents."""
_MIN_SENTENCE_CHARACTERS = 40
"""Of a sentence that makes sense by itself."""

_ORDINALS = "first|second|third|fourth|fifth|sixth|seventh|eighth|ninth|tenth|eleventh|twelfth|last"
_CARDINALS = "one|two|three|four|five|six|seven|eight|nine|ten|eleven|twelve"
_NUMBER = rf"(?:[ivxlcdm]+|\d+|{_CARDINALS}|(?:the )?(?:{_ORDINALS}))"
_CHAPTER = re.compile(
    rf"(?i:(?:chapter|book|part|section|letter|canto|act|scene|volume|vol|no)\.?\s+{_NUMBER}\b)[\s.:,;)—–-]*"
    r"|(?:[IVXLCDM]+|\d+)\s*[.:)—–-]\s*"
)
"""A number at the start of a title: with a word such as "chapter", or with a punctuation mark."""
_GENERATED = re.compile(r"Part \d+ of \d+|Front matter|Untitled")
_WORD = re.compile(r"[^\W\d_]+(?:['’][^\W\d_]+)*")


@dataclass(frozen=True, kw_only=True)
class PseudoQueries:
    """How queries are made from a section's sentences."""

    each: int = 2
    """Number of queries for each section, at most one for each chunk."""
    sentences: tuple[int, int] = (1, 4)
    """Minimum and maximum number of sentences of a query."""


def make_title_queries(file: str, sections: Sequence[Section]) -> list[Example]:
    """Titles of three words or more, of sections and of the parts above them, as queries for their spans.

    Titles that a book has twice are left out, and numbers ("Chapter IV.") removed.

    Args:
        file: name of the book's file.
        sections: of the book.
    """
    spans: dict[tuple[str, ...], tuple[int, int]] = {}
    split: set[tuple[str, ...]] = set()  # titles that occur at several places
    for section in sections:
        for depth in range(1, len(section.path) + 1):
            path = section.path[:depth]
            start, end = spans.get(path, (section.start, section.start))
            if end != section.start:
                split.add(path)
            spans[path] = (start, section.end)
    titles = Counter(_normalise(_remove_number(path[-1])) for path in spans)
    examples = []
    for path, (start, end) in spans.items():
        title = _remove_number(path[-1])
        unique = titles[_normalise(title)] == 1 and path not in split
        if unique and len(_WORD.findall(title)) >= MIN_TITLE_WORDS and _long(start, end):
            own = ((start, end),)
            examples.append(Example(query=title, kind="title", file=file, spans=own, group=_group(file, start)))
    return examples


def make_sentence_queries(
    file: str,
    text: str,
    sections: Sequence[Section],
    chunks: NDArray[np.int32],
    *,
    seed: int,
    form: PseudoQueries | None = None,
) -> list[Example]:
    """Runs of sentences from chunks of a section, as queries for the section without that chunk.

    The answer of a section with one chunk is the whole section. The examples of a book depend on its text and the seed,
    not on its path or other books.

    Args:
        file: name of the book's file.
        text: of the book.
        sections: of the book.
        chunks: (C, 2) start and end of each chunk, in order; none crosses a section's border.
        seed: of the random choices.
        form: number and length of the queries.
    """
    form = form or PseudoQueries()
    random = np.random.default_rng([seed, zlib.crc32(text.encode(errors="surrogatepass"))])
    examples = []
    for section in sections:
        first, last = np.searchsorted(chunks[:, 0], (section.start, section.end)).tolist()
        if first == last or not _long(section.start, section.end):
            continue
        for index in sorted(random.permutation(np.arange(first, last))[: form.each].tolist()):
            start, end = chunks[index].tolist()
            if not (query := _draw(text, start, end, random, form)):
                continue
            spans = [(section.start, start), (end, section.end)] if last - first > 1 else [(section.start, section.end)]
            spans = [(a, b) for a, b in spans if text[a:b].strip()]
            examples.append(
                Example(
                    query=query,
                    kind="question" if len(sentence_spans(query)) == 1 else "summary",
                    file=file,
                    spans=tuple(spans),
                    group=_group(file, section.start),
                )
            )
    return examples


def _draw(text: str, start: int, end: int, random: np.random.Generator, form: PseudoQueries) -> str:
    """Random consecutive sentences of `text[start:end]`; empty if there are none."""
    sentences = [(a, b) for a, b in sentence_spans(text, start, end) if b - a >= _MIN_SENTENCE_CHARACTERS]
    if not sentences:
        return ""
    least, most = form.sentences
    count = min(int(random.integers(least, most + 1)), len(sentences))
    first = int(random.integers(len(sentences) - count + 1))
    return " ".join(" ".join(text[a:b].split()) for a, b in sentences[first : first + count])


def _remove_number(title: str) -> str:
    """A title without its number; empty for one that the reader generated."""
    number = _CHAPTER.match(title)
    return "" if _GENERATED.fullmatch(title) else title[number.end() if number else 0 :].strip()


def _normalise(title: str) -> str:
    """Equal for titles that differ only in case, punctuation or "continued"."""
    return re.sub(r"continued|[\W_]+", "", title.casefold())


def _long(start: int, end: int) -> bool:
    return end - start >= MIN_SECTION_CHARACTERS


def _group(file: str, start: int) -> str:
    return f"{file}#{start}"
