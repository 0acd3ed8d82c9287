"""Entries of dictionaries and glossaries: a term alone on its line, and what is said of it below."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace

from nlb_retriever.records import Hit
from nlb_retriever.store import LibraryStore
from nlb_retriever.text.definitions import Term, skip_labels

LEAST_WORDS = 3
"""Of a sentence that explains."""
SMALL_WORDS = frozenset("a an the of to in on at by for from with as and or that which who is are used".split())
"""Words of which such a sentence has one: the head of a table has none."""
_ORIGIN = "[("
"""Before where a word comes from, which an entry may say first."""
ENDS = frozenset('.!:;)”’"')
"""Of such a sentence."""
_GLOSSARY = re.compile(
    r"(?:[\dA-Z.]{1,6}\W+)?(?:(?:key|new|important|useful|difficult|technical|basic|chapter|list of) (?:terms|words)"
    r"|glossary|vocabulary|terminology|word list|(?:terms|words) to know)(?: (?:and|of|to|for|in) .{1,60})?\W*",
    re.IGNORECASE,
)
TELLS = re.compile(r"[“\"‘'—]|(?:he|she|i|we|you|my|his|her|our|one day|once)\b", re.IGNORECASE)
"""The beginning of a story or a speech."""


def find_entries(term: Term, text: str, sentences: Sequence[tuple[int, int]]) -> dict[int, bool]:
    """The sentences that say what a term is in an entry of a dictionary.

    Args:
        term: that stands above.
        text: a passage.
        sentences: its spans.

    Returns:
        Where each begins, and whether the term's line has what a dictionary adds, and so is no heading.
    """
    found = {}
    for end, has_label in term.entries(text):
        for begin, stop in sentences:
            if begin < end or _is_open(text[end:begin]):
                continue
            rest = text[begin:stop][skip_labels(text[begin:stop]) :]
            if not rest or rest[0] in _ORIGIN:
                continue
            is_said = (has_label or rest[0].isupper()) and not SMALL_WORDS.isdisjoint(rest.lower().split())
            if is_said and len(rest.split()) >= LEAST_WORDS and rest[-1] in ENDS and not TELLS.match(rest):
                found[begin] = has_label
            break
    return found


def is_glossary(section: Sequence[str]) -> bool:
    """Whether the titles of a section are a glossary's: "Key Terms", "Vocabulary", "Glossary", "A"."""
    return any(map(_GLOSSARY.fullmatch, section))


def _is_open(text: str) -> bool:
    """Whether a text ends in a bracket: in where a word comes from, which has several stops."""
    return text.count("[") > text.count("]") or text.count("(") > text.count(")")


def join_cut(terms: Sequence[Term], hits: Sequence[Hit], store: LibraryStore) -> list[Hit]:
    """Passages, those that end with a term on its line together with the next one of their section, each once."""
    joined: dict[str, Hit] = {}
    taken = set()
    for hit in hits:
        ordinal = hit.metadata["ordinal"] + 1
        rests = (hit.text[end:].strip() for term in terms for end, _ in term.entries(hit.text))
        is_cut = any(skip_labels(rest) == len(rest) for rest in rests)
        after = next(iter(store.passages(hit.book_id, ordinal, ordinal + 1)), None) if is_cut else None
        if after and after.section_id == hit.section_id:
            text = hit.text.ljust(after.start - hit.start, "\n") + after.text
            joined[hit.id] = replace(hit, text=text, end=after.end)
            taken.add(after.id)
    return [joined.get(hit.id, hit) for hit in hits if hit.id not in taken]
