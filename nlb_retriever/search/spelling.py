"""Words of a question in the books' spelling, where none of those searched has them: "Gridlestone" to "Girdlestone".

A word is read so where the chunk encoder does not know it as one word either, and one letter more, less or other, or
two neighbours swapped, make a word of the books: most misspellings are one such edit (Damerau, A technique for computer
detection and correction of spelling errors, 1964). Where none is, a name is also looked for as other translations
spell it (text/transliteration.py). So is a name that stands in one or two passages of a book, as in its preface, and
is replaced where the book has another spelling far more often: "Astolfo" where the poem has "Astolpho". Of a full name
the part that the encoder knows may be one that the books just do not have: its other spelling must stand beside the
other part ("Elisabeth Bennet"), or in some passages of the one book that is searched ("Rodgers" where it has "Rogers").
Where no book is given, one must have all parts of the name that is read: "Sydney Carton" is not "Calton" of a book
without a Sydney. And a long name that is still unknown is read as the most similar one in the passages that the other
words find: "Trefinnis" as "Tregennis". A common word is only read as one that the books write in two: "pineapple" as
"pine-apple".
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace
from difflib import get_close_matches
from itertools import pairwise

from nlb_retriever.model.vectorizer import Vectorizer
from nlb_retriever.search.question import MOST_WORDS, find_full_names, find_names
from nlb_retriever.search.scope import Scope
from nlb_retriever.store import Condition, Filter, LibraryStore, StoreQuery, all_of
from nlb_retriever.text.folding import fold
from nlb_retriever.text.languages import ENGLISH
from nlb_retriever.text.transliteration import make_variants
from nlb_retriever.text.words import is_counted, word_ids

LEAST_LETTERS, MOST_LETTERS = 5, 40
"""Of a word that is looked at: too many short ones are one edit from another."""
PASSAGES = 50
"""That hold another spelling of a word, and in which the books' is counted."""
VARIANTS = 2000
"""Spellings of a foreign name that are looked for, those with the fewest changes."""
SELDOM, OFTEN = 2, 20
"""Passages that a name may stand in and still be replaced by another spelling, and how often its book has that."""
LEAST_PART, WITH_PARTS = 3, 10
"""Letters of each part of a word that the books write with a hyphen, and passages in which that is looked for."""
WITH_PART = 1000
"""Passages of each part of a name whose books are compared."""
BESIDE = 1000
"""Counted for a spelling that stands beside a neighbour of the word: more than all that do not."""
LONG_NAME, SIMILARITY, NEAR = 7, 0.75, 0.85
"""Least letters of a name that is looked for by its similarity to others, and the least similarity (of difflib); of
another word, which must stand beside its neighbour: "calories" is not "cries"."""
_WORD = re.compile(r"[^\W\d_]+")
_LETTERS = "abcdefghijklmnopqrstuvwxyzàáâãäåæçèéêëíîïñòóôõöøùúûüœ"


def respell(
    query: str, scope: Scope, vectorizer: Vectorizer, store: LibraryStore, language: str = ENGLISH
) -> str | None:
    """A query with its words as the books spell them; None where they do, or it has more than `MOST_WORDS`.

    In other languages than English, whose words the encoder does not know, only what has a capital is looked at.

    Args:
        query: cleaned.
        scope: its books are searched, whatever their sections.
        vectorizer: the library's.
        store: the library, in a session.
        language: of the query (`text.languages`).
    """
    words = _WORD.findall(query)
    if len(words) > MOST_WORDS:
        return None
    names = {*_WORD.findall(" ".join(find_names(query)))}
    full = {word for pair in pairwise(words) if names.issuperset(pair) for word in pair}
    looked_at = [word for word in dict.fromkeys(words) if LEAST_LETTERS <= len(word) <= MOST_LETTERS]
    rare = [word for word in looked_at if word in (names if scope.book else full) or not _is_known(word, vectorizer)]
    if language != ENGLISH:
        rare = [word for word in rare if word[0].isupper() and is_counted(word, language)]
    where = replace(scope, sections=None, before=None).filter("passage")
    common = [word for word in looked_at if word not in rare and is_counted(word, language)]
    common = common if language == ENGLISH else []
    queries = [StoreQuery(level="passage", text=word, where=where, limit=SELDOM + 1) for word in (*rare, *common)]
    found = store.search(queries)
    missing = [word for word, hits in zip((*rare, *common), found, strict=True) if not hits]
    spellings = {word: parts for word in missing if (parts := _find_parts(word, where, store, vectorizer))}
    for word, hits in zip(rare, found[: len(rare)], strict=True):
        if word in spellings:
            continue
        forms: Mapping[str, int] = {}
        known = _is_known(word, vectorizer)
        if not hits:
            forms = _find_unknown(word, query, where, store, is_rare=not known)
            if known:
                forms = {
                    form: count
                    for form, count in forms.items()
                    if count >= BESIDE or (scope.book and count > SELDOM and not _begins(form, word))
                }
            elif not forms and word in names and len(word) >= LONG_NAME:
                forms = _find_similar(word, query, where, store)
        elif len(hits) <= SELDOM and word[0].isupper() and not known:
            own = all_of(where, Condition("book_id", "in", tuple({hit.book_id for hit in hits})))
            others = _find_forms(word, make_variants(word.lower(), VARIANTS), own, store)
            forms = {form: count for form, count in others.items() if count >= OFTEN}
        if forms:
            spellings[word] = max(forms, key=lambda form: (forms[form], form))
    for name in [] if scope.book else find_full_names(query):
        altered = spellings.keys() & {*name}
        if len(name) > 1 and altered and not _has_name([spellings.get(word, word) for word in name], where, store):
            spellings = {word: form for word, form in spellings.items() if word not in altered}
    return _WORD.sub(lambda match: spellings.get(match.group(), match.group()), query) if spellings else None


def _has_name(parts: Sequence[str], where: Filter | None, store: LibraryStore) -> bool:
    """Whether one book has all parts of a name, in whatever passages."""
    searched = filter(word_ids, parts)  # "Will" is too common a word to be
    queries = [StoreQuery(level="passage", text=part, where=where, limit=WITH_PART) for part in searched]
    return bool(set.intersection(*({hit.book_id for hit in found} for found in store.search(queries))))


def _find_unknown(word: str, query: str, where: Filter | None, store: LibraryStore, *, is_rare: bool) -> Counter[str]:
    """The books' spellings of a word that none of them has, and how often; those beside its neighbours count most.

    Of a long rare word in small letters a similar one is among these: "Captain Ahab" for "capitan Ahab".
    """
    edits = make_edits(word.lower())
    if any(not word_ids(edit) for edit in edits):  # one of the most common words, which are not searched for
        return Counter()
    forms = _find_forms(word, edits, where, store)
    beside = _find_beside(word, query, where, store)
    near = {*edits}
    if is_rare and word.islower() and len(word) >= LONG_NAME:
        near.update(get_close_matches(word.lower(), {form.lower() for form in beside}, cutoff=NEAR))
    forms.update({form: BESIDE * count for form, count in beside.items() if form.lower() in near})
    if not forms and word[0].isupper():
        forms = _find_forms(word, make_variants(word.lower(), VARIANTS), where, store)
    return forms


def _find_beside(word: str, query: str, where: Filter | None, store: LibraryStore) -> Counter[str]:
    """How often words stand beside those that a word has beside it in a query, in the passages that these find."""
    words = _WORD.findall(query)
    at = words.index(word)
    neighbours = {each.lower() for each in (*words[max(at - 1, 0) : at], *words[at + 1 : at + 2]) if word_ids(each)}
    passages = _read_passages(" ".join(sorted(neighbours)), where, store) if neighbours else []
    pairs = [pair for passage in passages for pair in pairwise(_WORD.findall(passage))]
    firsts = Counter(first for first, second in pairs if second.lower() in neighbours)
    return firsts + Counter(second for first, second in pairs if first.lower() in neighbours)


def _find_parts(word: str, where: Filter | None, store: LibraryStore, vectorizer: Vectorizer) -> str | None:
    """A word as the books write it, in two common ones: "pine-apple" for "pineapple"; None where they do not."""
    cuts = [(word[:at], word[at:]) for at in range(LEAST_PART, len(word) - LEAST_PART + 1)]
    cuts = [cut for cut in cuts if all(word_ids(part) and _is_known(part, vectorizer) for part in cut)]
    if not cuts:
        return None
    parts = " ".join(part for cut in cuts for part in cut)
    text = "\n".join(_read_passages(parts, where, store, WITH_PARTS))
    ways = "|".join(f"{first}-{second}" for first, second in cuts)
    written = re.search(rf"(?<![\w-])(?:{ways})(?![\w-])", text, re.IGNORECASE)
    return written[0].lower() if written else None


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


def _begins(form: str, word: str) -> bool:
    """Whether one of two words begins the other: "German" is no misspelt "Germany"."""
    return form.lower().startswith(word.lower()) or word.lower().startswith(form.lower())


def _find_forms(word: str, spellings: Collection[str], where: Filter | None, store: LibraryStore) -> Counter[str]:
    """How often other spellings of a word stand in some passages, as written there; of a name only other names."""
    wanted = set(spellings)
    passages = _read_passages(" ".join(sorted(wanted)), where, store)
    found = Counter(form for passage in passages for form in _WORD.findall(passage) if form.lower() in wanted)
    if not word[0].isupper():
        return found
    return Counter({form: count for form, count in found.items() if form[0].isupper() and count >= found[form.lower()]})


def _find_similar(word: str, query: str, where: Filter | None, store: LibraryStore) -> dict[str, int]:
    """The name most like a word in the passages that the rest of a query finds; none where all differ more."""
    others = " ".join(each for each in _WORD.findall(query) if each != word)
    found = {form for passage in _read_passages(others, where, store) for form in _WORD.findall(passage)}
    own = fold(word)
    names = {fold(form): form for form in sorted(found) if form[0].isupper() and form.lower() not in found}
    near = sorted(name for name in names if name.startswith(own[0]))
    return {names[name]: 1 for name in get_close_matches(own, near, n=1, cutoff=SIMILARITY)}


def _read_passages(words: str, where: Filter | None, store: LibraryStore, limit: int = PASSAGES) -> list[str]:
    """The texts of the passages that some words find."""
    found = store.search([StoreQuery(level="passage", text=words, where=where, limit=limit)])[0]
    return [passage.text for passage in store.get_passages([hit.id for hit in found])]
