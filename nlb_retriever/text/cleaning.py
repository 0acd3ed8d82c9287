"""Queries as a tokenizer and a store take them."""

from __future__ import annotations

import re
import unicodedata

from nlb_retriever.errors import QueryError, brief

MAX_CHARS = 100_000
"""Characters of a query: some 35 pages."""
_PIECE = re.compile(r"\S{1,1000}")  # NFC takes quadratic time where mark follows mark
_INVISIBLE = dict.fromkeys(map(ord, "\xad\u200b\u2060\ufeff"))


def clean_query(query: str) -> str:
    """A query without control characters and broken encoding, which no tokenizer or store takes.

    As texts are read, letters with marks are one character (NFC), and what is invisible parts no word.

    Raises:
        QueryError: it is no text, nothing is left of it, or it has more than `MAX_CHARS` characters.
    """
    if not isinstance(query, str):
        raise QueryError(f"the question must be words, not {brief(query)}")
    if len(query) > MAX_CHARS:
        raise QueryError(
            f"the question has {len(query):,} characters, at most {MAX_CHARS:,} are searched for: ask with a part of it"
        )
    # A command line gives bytes that are not UTF-8 as lone surrogates.
    text = query.encode("utf-8", "replace").decode("utf-8").translate(_INVISIBLE)
    text = _PIECE.sub(lambda match: unicodedata.normalize("NFC", match[0]), text)
    text = "".join(character if character.isprintable() else " " for character in text).strip()
    if not text:
        raise QueryError('the question is empty: ask in words, as in `nlb ask "Who hunts the whale?"`')
    return text
