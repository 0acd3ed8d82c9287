"""Messages about servers, without what must not be shown."""

from __future__ import annotations

import os
import re


def hide_secrets(text: str) -> str:
    """A message without the user, password and query of a URL, and without $OPENAI_API_KEY, which servers repeat."""
    text = re.sub(r"\S+", lambda word: _hide(word[0]), text)
    key = os.environ.get("OPENAI_API_KEY")
    return text.replace(key, "***") if key else text


def _hide(word: str) -> str:
    """A password may hold any sign, and a query may hold an @: what could be of either goes."""
    scheme, mark, rest = word.partition("://")
    if not mark:
        return word
    user, at, address = rest.rpartition("@")
    host, query, _ = address.partition("?")
    return f"{scheme}://{at and '***@'}{'' if '?' in user else host}{query and '?***'}"
