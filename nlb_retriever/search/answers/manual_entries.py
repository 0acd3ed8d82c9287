"""Entries of manuals for what a question names: an option, a setting, a function, a version, the code of an error.

A manual has many entries of one make beside each other ("Default: none"), and only the line above says of what each
is. So the entry alone is read, before the passages.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import replace
from itertools import islice

from nlb_retriever.reader import Reader
from nlb_retriever.records import Hit, PassageRecord
from nlb_retriever.search.hits import to_hit
from nlb_retriever.search.overlap import find_overlap
from nlb_retriever.search.readings import CLAUSE_TOKENS
from nlb_retriever.search.run import SearchResult
from nlb_retriever.search.scope import resolve_scope
from nlb_retriever.store import LibraryStore, StoreQuery
from nlb_retriever.text.words import word_ids

PASSAGES = 40
"""Best passages for the question's words that are looked through."""
ENTRIES = 4
"""That are read."""
LEAD = 1.5
"""Added to the best passage's score for an entry: what is read there counts before what other passages say."""
_NAME = re.compile(
    r"(?<![\w.-])(?:--?[a-z][\w-]*|[A-Za-z][A-Za-z0-9]*(?:_[A-Za-z0-9]+)+|[a-z]+[A-Z]\w*"
    r"|(?!(?:Ma?c|De|La|Le|Van|Fitz)[A-Z])[A-Z][a-z0-9]+[A-Z]\w*"
    r"|[A-Z]{1,5}\d{2,5}|v?\d+(?:\.\d+)+|(?<=code )\d+|(?<=error )\d+|(?<=status )\d+)(?![\w.]\w)(?:\(\))?"
)
"""Of a program: "--fast", "max_length", "maxLength", "ControlMaster", "E203", "2.1", "exit code 23"."""
_VERSION = re.compile(r"v?(\d+(?:\.\d+)+)")
_HEAD_CHARS, _HEAD_WORDS = 80, 8
"""Most of a line that is an entry's head, or of a section's title."""
_ENDS = tuple(".,;:!?{}")
_FIRST = r"[^\w\n-]*(?:[\w.]+ )?(?:--?[\w-]+(?:[= ][^\s,/]+)?(?:, | / | ))*"
"""What may stand in a head before a name: one word ("Version"), other options."""
_INLINE = (
    r"^[^\w\n-]*(?:o\s+)?(?:--?[\w-]+, )?{name}(?:=\S+)?(?:, --?[\w-]+)?"
    r"(?:[^\S\n]{{3,}}|\t+|:? [-–—] )\w[^\n]*$"
)
"""An entry in a line: "23 - The disk is full", "--dry-run, -n    changes nothing"."""


def put_entries_first(result: SearchResult, store: LibraryStore, reader: Reader) -> SearchResult:
    """A result with the entries before its passages that are on what its question names; as it is without such.

    Args:
        result: of the question, with hits and readings. Only what is in its scope is looked through.
        store: the library.
        reader: reads the entries.
    """
    request = result.request
    names = [match[0].removesuffix("()") for match in _NAME.finditer(request.question)]
    if not names:
        return result
    with store.session():
        where = resolve_scope(request, store).filter("passage")
        (found,) = store.search([StoreQuery(level="passage", text=request.query, where=where, limit=PASSAGES)])
        hits = [to_hit(record) for record in store.get_passages([candidate.id for candidate in found])]
        entries = [*islice((entry for name in names for hit in hits for entry in _find(name, hit, store)), ENTRIES)]
    if not entries:
        return result
    shortest = CLAUSE_TOKENS if request.kind == "clause" else 1
    score = result.hits[0].score + LEAD
    entries = [replace(entry, score=score) for entry in entries]
    readings = reader.read(request.question, [entry.text for entry in entries], shortest=shortest)
    first = (*entries, *result.hits)
    overlap = find_overlap(request.query, [hit.text for hit in first], result.language)
    own = overlap.words & word_ids(" ".join(names), result.language)
    of_entries = (
        tuple(replace(sentence, words=sentence.words | own) for sentence in passage)
        for passage in overlap.passages[: len(entries)]
    )
    overlap = replace(overlap, passages=(*of_entries, *overlap.passages[len(entries) :]))
    return replace(result, hits=first, readings=(*readings, *result.readings), facts=1.0, compared=overlap)


def _find(name: str, hit: Hit, store: LibraryStore) -> Iterator[Hit]:
    """The entries on a name in a passage: all of it where its section is on it; one at its end goes on in the next."""
    version = _VERSION.fullmatch(name)
    own = rf"(?<![\w.-]){re.escape(name)}(?![\w-]|\.\w)"
    own = rf"(?<![\w.])v?{re.escape(version[1])}(?:\.0)*(?![\w-]|\.\w)" if version else own
    if hit.section and re.search(own, hit.section[-1]) and len(hit.section[-1].split()) <= _HEAD_WORDS:
        yield hit
        return
    head = re.compile(_FIRST + own)
    for start, end in _spans(head, hit.text):
        if end == len(hit.text) and (after := _next_passage(hit, store)):
            hit = replace(hit, text=hit.text.ljust(after.start - hit.start, "\n") + after.text)
            end = next(stop for begin, stop in _spans(head, hit.text) if begin == start)  # noqa: PLW2901
        yield _cut(hit, start, end)
    for match in re.finditer(_INLINE.format(name=own), hit.text, re.MULTILINE):
        yield _cut(hit, *match.span())


def _next_passage(hit: Hit, store: LibraryStore) -> PassageRecord | None:
    """The passage behind one in its section."""
    ordinal = hit.metadata["ordinal"] + 1
    after = next(iter(store.passages(hit.book_id, ordinal, ordinal + 1)), None)
    return after if after and after.section_id == hit.section_id else None


def _spans(head: re.Pattern[str], text: str) -> Iterator[tuple[int, int]]:
    """The entries in a text whose first line begins so: up to the next line like it that is indented no more."""
    start, indent_of_head, before, at = -1, 0, "", 0
    for line in text.splitlines(keepends=True):
        shown = line.expandtabs()
        indent = len(shown) - len(shown.lstrip())
        is_head = not before.strip() and _is_head(line)
        if start >= 0 and is_head and indent <= indent_of_head:
            yield start, at
            start = -1
        if start < 0 and is_head and head.match(line):
            start, indent_of_head = at, indent
        before, at = line, at + len(line)
    if start >= 0:
        yield start, len(text)


def _is_head(line: str) -> bool:
    """Whether a line is short and neither ends as a sentence does nor is of code, or a field ("Default: none")."""
    text = line.strip()
    is_short = 0 < len(text) <= _HEAD_CHARS and len(text.split()) <= _HEAD_WORDS
    return is_short and not text.endswith(_ENDS) and ": " not in text and text[0] not in "$>#"


def _cut(hit: Hit, start: int, end: int) -> Hit:
    return replace(hit, text=hit.text[start:end], start=hit.start + start, end=hit.start + end)
