"""Questions on a part of a book: "What does she say in Act V?" is put to the sections of that act."""

from __future__ import annotations

import re
from dataclasses import replace

from nlb_retriever.errors import QueryError
from nlb_retriever.search.answers.digest_forms import NUMBERED
from nlb_retriever.search.request import SearchRequest
from nlb_retriever.search.scope import resolve_scope
from nlb_retriever.store import LibraryStore
from nlb_retriever.store.lookup import find_sections
from nlb_retriever.text.folding import fold

_NUMBERED = re.compile(NUMBERED, re.IGNORECASE)


def narrow_to_part(request: SearchRequest, store: LibraryStore) -> SearchRequest:
    """A question on a book that ends with "in" and a part of it, its number or title, put to that part.

    A part has several sections: a chapter "London" is not all that a novel has of that city.
    """
    rest, _, name = request.query.rstrip(" ?.").rpartition(" in ")
    if not rest or request.book is None or request.section is not None:
        return request
    with store.session():
        book = resolve_scope(request, store).book
        sections = store.sections(book.id) if book else []
    if not book:
        return request
    is_titled = any(fold(name) in map(fold, section.path[:-1]) for section in sections)
    if not (is_titled or _NUMBERED.fullmatch(name)):
        return request
    try:
        found = find_sections(name, sections, book)
    except QueryError:
        return request
    return replace(request, section=name, query=f"{rest}?") if len(found) > 1 else request
