"""Examples from books alone, for whoever has books and no questions: without labels and without an LLM.

A section's own title asks for the section, and so do sentences out of it, whose chunk is then no part of the
answer (the inverse cloze task of Lee et al. 2019, arXiv 1906.00300, over sections).
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

LEAST_WORDS = 3
"""Of a title that says what its section is about."""
LEAST_CHARACTERS = 400
"""Of a section that is worth finding: shorter ones are dedications and lines of a table of contents."""
_LEAST_SENTENCE = 40
"""Characters of a sentence that says something by itself."""

_ORDINALS = "first|second|third|fourth|fifth|sixth|seventh|eighth|ninth|tenth|eleventh|twelfth|last"
_CARDINALS = "one|two|three|four|five|six|seven|eight|nine|ten|eleven|twelve"
_NUMBER = rf"(?:[ivxlcdm]+|\d+|{_CARDINALS}|(?:the )?(?:{_ORDINALS}))"
_CHAPTER = re.compile(
    rf"(?i:(?:chapter|book|part|section|letter|canto|act|scene|volume|vol|no)\.?\s+{_NUMBER}\b)[\s.:,;)—–-]*"
    r"|(?:[IVXLCDM]+|\d+)\s*[.:)—–-]\s*"
)
"""A number at a title's front: with a word that says so, or with a mark behind it."""
_MADE = re.compile(r"Part \d+ of \d+|Front matter|Untitled")
_WORD = re.compile(r"[^\W\d_]+(?:['’][^\W\d_]+)*")


@dataclass(frozen=True, kw_only=True)
class PseudoQueries:
    """How queries are made of a section's sentences."""

    each: int = 2
    """Queries a section, if it has so many chunks."""
    sentences: tuple[int, int] = (1, 4)
    """Least and most sentences of a query: short and long ones are asked later too."""


def ask_titles(file: str, sections: Sequence[Section]) -> list[Example]:
    """Titles of three words or more, of sections and of the parts that hold them, each asking for its stretch.

    A title that the book has twice asks for nothing, and numbers ("Chapter IV.") are left out of it.

    Args:
        file: name of the book's file.
        sections: as its reader found them.
    """
    stretches: dict[tuple[str, ...], tuple[int, int]] = {}
    torn: set[tuple[str, ...]] = set()  # the same titles at several places
    for section in sections:
        for depth in range(1, len(section.path) + 1):
            path = section.path[:depth]
            start, end = stretches.get(path, (section.start, section.start))
            if end != section.start:
                torn.add(path)
            stretches[path] = (start, section.end)
    titles = Counter(_sound(_plain(path[-1])) for path in stretches)
    examples = []
    for path, (start, end) in stretches.items():
        title = _plain(path[-1])
        alone = titles[_sound(title)] == 1 and path not in torn
        if alone and len(_WORD.findall(title)) >= LEAST_WORDS and _long(start, end):
            spans = ((start, end),)
            examples.append(Example(query=title, kind="title", file=file, spans=spans, group=_group(file, start)))
    return examples


def ask_sentences(
    file: str,
    text: str,
    sections: Sequence[Section],
    chunks: NDArray[np.int32],
    *,
    seed: int,
    form: PseudoQueries | None = None,
) -> list[Example]:
    """Runs of sentences from chunks of a section, each asking for the section without that chunk.

    A section of a single chunk answers as a whole, the sentences among it. The same arguments give the same
    examples, whatever other books there are.

    Args:
        file: name of the book's file.
        text: of the book.
        sections: as its reader found them.
        chunks: (C, 2) start and end of each chunk, in order; none crosses a section's border.
        seed: of what is drawn.
        form: how many queries, and how long.
    """
    form = form or PseudoQueries()
    random = np.random.default_rng([seed, zlib.crc32(file.encode(errors="surrogateescape"))])
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
    """Sentences that follow each other, out of `text[start:end]`; empty where there is none."""
    sentences = [(a, b) for a, b in sentence_spans(text, start, end) if b - a >= _LEAST_SENTENCE]
    if not sentences:
        return ""
    least, most = form.sentences
    count = min(int(random.integers(least, most + 1)), len(sentences))
    first = int(random.integers(len(sentences) - count + 1))
    return " ".join(" ".join(text[a:b].split()) for a, b in sentences[first : first + count])


def _plain(title: str) -> str:
    """A title without its number; empty for one that the reader made."""
    number = _CHAPTER.match(title)
    return "" if _MADE.fullmatch(title) else title[number.end() if number else 0 :].strip()


def _sound(title: str) -> str:
    """Equal for titles that a reader takes for the same."""
    return re.sub(r"continued|[\W_]+", "", title.casefold())


def _long(start: int, end: int) -> bool:
    return end - start >= LEAST_CHARACTERS


def _group(file: str, start: int) -> str:
    return f"{file}#{start}"
