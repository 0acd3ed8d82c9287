"""Hostile files: mutations of real books go through the worker pool, and no word may be lost without a warning.

`run(seed=..., rounds=...)` is one campaign. Every round mutates a file, has a worker process read it, and checks: it
ends within the limits and with a book or one clear line; the book's sections cover its text; every word that other
means find in the file is in the book, or as many are named by its warnings.
"""

from __future__ import annotations

import random
import re
import time
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from enum import StrEnum
from html.parser import HTMLParser
from itertools import pairwise
from pathlib import Path
from xml.etree import ElementTree

from nlb_retriever.errors import ReadingError
from nlb_retriever.reading import Limits, ReaderPool
from nlb_retriever.records import Book
from tests.faults.books_to_mutate import SUFFIXES, make_all
from tests.faults.mutations import SNIPPETS, mutate
from tests.reading.words import (
    BLOCKS,
    docx_text,
    epub_entries,
    fb2_text,
    html_text,
    markdown_text,
    named_words,
    odt_text,
    words_of,
)

LIMITS = Limits(seconds=60.0, memory=1536 << 20)
_UNCLEAR = re.compile(r"Traceback|does not know|crashed|took more than|needs more memory|\n")
"""What no message to a user may hold: the reader failed in a way that it was not made for."""


class Problem(StrEnum):
    """How a reading may break the rule."""

    WORDS = "words are missing without a warning"
    MESSAGE = "no clear message"
    SECTIONS = "its sections do not cover its text"


@dataclass(frozen=True, kw_only=True)
class Finding:
    """A file that broke the rule."""

    suffix: str
    number: int
    """Of its round."""
    problem: Problem
    detail: str
    words: int = 0
    """That are missing."""
    file: Path
    """A copy of it."""

    def __str__(self) -> str:
        return f"{self.suffix} {self.number}: {self.problem}: {self.detail} ({self.file})"


@dataclass(kw_only=True)
class Campaign:
    """What became of the files of one run."""

    seed: int
    files: Counter[str] = field(default_factory=Counter)
    """Suffix -> files tried."""
    read: Counter[str] = field(default_factory=Counter)
    """Suffix -> files that became books."""
    checked: Counter[str] = field(default_factory=Counter)
    """Suffix -> books whose words other means could take from the file."""
    refused: Counter[tuple[str, str]] = field(default_factory=Counter)
    """Suffix and message -> files."""
    findings: list[Finding] = field(default_factory=list)

    def table(self) -> Iterator[str]:
        """Markdown: what became of the files of each format."""
        columns = "files, read, words compared, words lost without a warning, unclear message or traceback"
        yield f"| format | {columns.replace(', ', ' | ')} | refused in a clear line |"
        yield "|---|---|---|---|---|---|---|"
        for suffix in self.files:
            found = [finding for finding in self.findings if finding.suffix == suffix]
            words = sum(finding.words for finding in found)
            unclear = sum(finding.problem == Problem.MESSAGE for finding in found)
            refused = sum(count for (of, _), count in self.refused.items() if of == suffix)
            cells = (self.files[suffix], self.read[suffix], self.checked[suffix], words, unclear, refused)
            yield f"| {suffix} | {' | '.join(f'{cell:,}' for cell in cells)} |"


def run(
    *,
    seed: int,
    folder: Path,
    rounds: int = 300,
    seconds: float | None = None,
    data: Path | None = None,
    suffixes: Sequence[str] = SUFFIXES,
) -> Campaign:
    """Try mutated files.

    Args:
        seed: of all choices.
        folder: for the files, which are removed, and copies of those with findings.
        rounds: files of each format at most.
        seconds: when to stop, in all; None for no limit.
        data: folder with library/ and corpus/ of real books; None for made ones only.
        suffixes: formats to try.
    """
    campaign = Campaign(seed=seed)
    rng = random.Random(seed)
    books = make_all(data, rng)
    end = time.monotonic() + seconds if seconds else float("inf")
    plan = ((suffix, number) for number in range(rounds) for suffix in suffixes)
    originals: dict[Path, bytes] = {}

    def write() -> Iterator[Path]:
        for suffix, number in plan:
            if time.monotonic() > end:
                return
            own = random.Random(f"{seed} {suffix} {number}")
            original = own.choice(books[suffix])
            path = folder / f"{number}{suffix}"
            path.write_bytes(mutate(original, suffix, own) or b"x")
            originals[path] = original
            yield path

    with ReaderPool(2, LIMITS) as pool:
        for path, result in pool.read(write()):
            campaign.files[path.suffix] += 1
            if finding := check(path, result, originals.pop(path), campaign):
                kept = folder / "findings" / f"{seed}-{path.name}"
                kept.parent.mkdir(exist_ok=True)
                path.rename(kept)
                campaign.findings.append(replace(finding, file=kept))
            else:
                path.unlink()
    return campaign


def check(path: Path, result: Book | ReadingError, original: bytes, campaign: Campaign) -> Finding | None:
    """What is wrong with the reading of one file; None where nothing is."""

    def found(problem: Problem, detail: str, words: int = 0) -> Finding:
        number = int(path.stem)
        return Finding(suffix=path.suffix, number=number, problem=problem, detail=detail, words=words, file=path)

    if isinstance(result, ReadingError):
        if _UNCLEAR.search(str(result)):
            return found(Problem.MESSAGE, str(result))
        campaign.refused[path.suffix, str(result).removeprefix(f"{path}: ")] += 1
        return None
    campaign.read[path.suffix] += 1
    if "".join(result.text[s.start : s.end] for s in result.sections) != result.text:
        return found(Problem.SECTIONS, f"{len(result.sections)} sections")
    try:
        expected = words_of_file(path.read_bytes(), path.suffix) & words_of_file(original, path.suffix)
    except ValueError:
        return None
    campaign.checked[path.suffix] += 1
    for word in _snippet_words(path.suffix):
        expected.pop(word, None)
    words = _whole_words(result.text, path.suffix)
    missing = expected - Counter(words) - Counter(word for page in result.pages for word in words_of(page.label))
    missing -= Counter(one + other for one, other in pairwise(words))  # a tag was put into a word
    named = named_words(result.warnings)
    if missing.total() <= named:
        return None
    some = ", ".join(word for word, _ in missing.most_common(10))
    return found(Problem.WORDS, f"{missing.total()}, warnings name {named}: {some}", missing.total() - named)


def words_of_file(data: bytes, suffix: str) -> Counter[str]:
    """The words of a file by other means than its reader.

    Raises:
        ValueError: these means cannot read it.
    """
    match suffix:
        case ".txt" | ".md" | ".html":
            text = data.decode("utf-8")  # UnicodeDecodeError is a ValueError
            if 10 * data.count(0) > len(data):
                raise ValueError("UTF-16 or UTF-32 that passes for UTF-8")
            if suffix == ".html":
                return _html_words(data, text)
            return Counter(words_of(markdown_text(text) if suffix == ".md" else text))
        case ".epub":
            counts: Counter[str] = Counter()
            for entry in map(_without_bad_bytes, epub_entries(data)):
                counts += _html_words(entry, entry.decode("utf-8", "replace"))
            return counts
        case ".docx":
            return Counter(words_of(docx_text(data)))
        case ".odt":
            return Counter(words_of(odt_text(data)))
        case ".fb2":
            return Counter(words_of(fb2_text(data)))
        case ".pdf":
            return Counter(_whole_words(_pdf_text(data), suffix))
        case ".tei":
            return Counter(words_of(_tei_text(data)))
        case _:  # read by no other means
            return Counter()


def _without_bad_bytes(data: bytes) -> bytes:
    """Markup as it is, or where it is no UTF-8, without the words beside other bytes than ASCII."""
    try:
        data.decode("utf-8")
    except UnicodeDecodeError:
        return re.sub(rb"[^\s<>]*[\x80-\xff][^\s<>]*", b" ", data)
    return data


def _whole_words(text: str, suffix: str) -> list[str]:
    """Words; of a PDF with those joined that are cut at a line's end."""
    return words_of(re.sub(r"[-\x02\ufffe\uffff]\s*\n?\s*", "", text) if suffix == ".pdf" else text)


def _tei_text(data: bytes) -> str:
    try:
        text = ElementTree.fromstring(data).find("{http://www.tei-c.org/ns/1.0}text")
    except ElementTree.ParseError as error:
        raise ValueError(str(error)) from error
    return "".join(text.itertext()) if text is not None else ""


def _pdf_text(data: bytes) -> str:
    import pypdfium2

    try:
        document = pypdfium2.PdfDocument(data)
        return "\n".join(document[i].get_textpage().get_text_range() for i in range(len(document)))
    except pypdfium2.PdfiumError as error:
        raise ValueError(str(error)) from error


class _Text(HTMLParser):
    """Python's own parser: text outside of tags, scripts and styles."""

    def __init__(self) -> None:
        super().__init__()
        self.parts: list[str] = []
        self.code = 0

    def handle_starttag(self, tag: str, attrs: object) -> None:
        self.code += tag in {"script", "style", "title"}
        self.parts.append(" " if tag in BLOCKS else "")

    def handle_endtag(self, tag: str) -> None:
        self.code -= tag in {"script", "style", "title"} and self.code > 0
        self.parts.append(" " if tag in BLOCKS else "")

    def handle_data(self, data: str) -> None:
        self.parts.append("" if self.code else data)


def _html_words(data: bytes, text: str) -> Counter[str]:
    """Words on which two other parsers agree."""
    parser = _Text()
    try:
        parser.feed(text)
        parser.close()
    except (AssertionError, NotImplementedError) as error:
        raise ValueError(str(error)) from error
    return Counter(words_of("".join(parser.parts))) & Counter(words_of(html_text(data)))


def _snippet_words(suffix: str) -> set[str]:
    snippets = SNIPPETS.get(suffix, SNIPPETS[".html"])
    return {word for snippet in snippets for word in words_of(snippet)}
