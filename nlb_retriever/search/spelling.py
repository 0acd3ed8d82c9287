"""Words of a question that none of the searched books has, in the books' spelling: "Gridlestone" to "Girdlestone".

A word is read so where the chunk encoder does not know it as one word either, and one letter more, less or other, or
two neighbours swapped, make a word of the books: most misspellings are one such edit (Damerau, A technique for computer
detection and correction of spelling errors, 1964).
"""

from __future__ import annotations

import re
from collections import Counter
from dataclasses import replace

from nlb_retriever.model.vectorizer import Vectorizer
from nlb_retriever.records import PassageRecord
from nlb_retriever.search.question import MOST_WORDS
from nlb_retriever.search.scope import Scope
from nlb_retriever.store import LibraryStore, StoreQuery
from nlb_retriever.text.words import word_ids

LEAST_LETTERS = 5
"""Of a word that is looked at: too many short ones are one edit from another."""
PASSAGES = 50
"""That hold a word one edit away, and in which the books' word is counted."""
_WORD = re.compile(r"[^\W\d_]+")
_LETTERS = "abcdefghijklmnopqrstuvwxyzàáâãäåæçèéêëíîïñòóôõöøùúûüœ"


def respell(query: str, scope: Scope, vectorizer: Vectorizer, store: LibraryStore) -> str | None:
    """A query with its misspelt words as the books have them; None where none is, or it has more than `MOST_WORDS`.

    Args:
        query: cleaned.
        scope: its books are searched, whatever their sections.
        vectorizer: the library's.
        store: the library, in a session.
    """
    words = _WORD.findall(query)
    if len(words) > MOST_WORDS:
        return None
    rare = [word for word in dict.fromkeys(words) if len(word) >= LEAST_LETTERS and not _is_known(word, vectorizer)]
    where = replace(scope, sections=None, before=None).filter("passage")
    found = store.search([StoreQuery(level="passage", text=word, where=where, limit=1) for word in rare])
    spellings = {}
    for word in (word for word, hits in zip(rare, found, strict=True) if not hits):
        edits = make_edits(word.lower())
        if any(not word_ids(edit) for edit in edits):  # one of the most common words, which are not searched for
            continue
        query_of_edits = StoreQuery(level="passage", text=" ".join(sorted(edits)), where=where, limit=PASSAGES)
        hits = store.search([query_of_edits])[0]
        forms = _count_forms(word, edits, store.get_passages([hit.id for hit in hits]))
        if forms:
            spellings[word] = max(forms, key=lambda form: (forms[form], form))
    return _WORD.sub(lambda match: spellings.get(match.group(), match.group()), query) if spellings else None


def make_edits(word: str) -> set[str]:
    """All strings that one edit makes of a word in lower case."""
    parts = [(word[:at], word[at:]) for at in range(len(word) + 1)]
    deleted = {left + right[1:] for left, right in parts if right}
    swapped = {left + right[1] + right[0] + right[2:] for left, right in parts if len(right) > 1}
    replaced = {left + letter + right[1:] for left, right in parts if right for letter in _LETTERS}
    inserted = {left + letter + right for left, right in parts for letter in _LETTERS}
    return (deleted | swapped | replaced | inserted) - {word}


def _is_known(word: str, vectorizer: Vectorizer) -> bool:
    """Whether a word is one of the chunk encoder's tokens, as common words and names are."""
    return len(vectorizer.encoder.tokenizer.encode(word, add_special_tokens=False).ids) == 1


def _count_forms(word: str, edits: set[str], passages: list[PassageRecord]) -> Counter[str]:
    """How often each edit of a word stands in some passages, as it is written there; a name only with a capital."""
    is_name = word[0].isupper()
    return Counter(
        form
        for passage in passages
        for form in _WORD.findall(passage.text)
        if form.lower() in edits and (form[0].isupper() or not is_name)
    )
