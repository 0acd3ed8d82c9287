"""Titles as people type them."""

from __future__ import annotations

import unicodedata

_TYPED = str.maketrans({**dict.fromkeys("‘’ʼ`´", "'"), **dict.fromkeys("“”„«»", '"'), **dict.fromkeys("‐‑‒–—―", "-")})


def fold(text: str) -> str:
    """A text in small letters, without accents, with straight quotation marks, plain hyphens and single spaces."""
    decomposed = unicodedata.normalize("NFKD", text.casefold())
    plain = "".join(character for character in decomposed if not unicodedata.combining(character))
    return " ".join(plain.translate(_TYPED).split())
