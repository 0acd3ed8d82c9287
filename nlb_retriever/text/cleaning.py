"""Queries as a tokenizer and a store take them."""

from __future__ import annotations

from nlb_retriever.errors import QueryError


def clean_query(query: str) -> str:
    """A query without control characters and broken encoding, which no tokenizer or store takes.

    Raises:
        QueryError: nothing is left of it.
    """
    # A command line gives bytes that are not UTF-8 as lone surrogates.
    text = query.encode("utf-8", "replace").decode("utf-8")
    text = "".join(character if character.isprintable() else " " for character in text).strip()
    if not text:
        raise QueryError('the question is empty: ask in words, as in `nlb ask "Who hunts the whale?"`')
    return text
