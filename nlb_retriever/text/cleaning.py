"""Queries as a tokenizer and a store take them."""

from __future__ import annotations

from nlb_retriever.errors import QueryError

MAX_CHARS = 100_000
"""Characters of a query: some 35 pages."""


def clean_query(query: str) -> str:
    """A query without control characters and broken encoding, which no tokenizer or store takes.

    Raises:
        QueryError: nothing is left of it, or it has more than `MAX_CHARS` characters.
    """
    if len(query) > MAX_CHARS:
        raise QueryError(
            f"the question has {len(query):,} characters, at most {MAX_CHARS:,} are searched for: ask with a part of it"
        )
    # A command line gives bytes that are not UTF-8 as lone surrogates.
    text = query.encode("utf-8", "replace").decode("utf-8")
    text = "".join(character if character.isprintable() else " " for character in text).strip()
    if not text:
        raise QueryError('the question is empty: ask in words, as in `nlb ask "Who hunts the whale?"`')
    return text
