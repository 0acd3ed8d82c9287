"""Titles as people type them."""

from __future__ import annotations

import unicodedata
from itertools import filterfalse

_TYPED = str.maketrans({**dict.fromkeys("‘’ʼ´′", "'"), **dict.fromkeys("“”„«»", '"'), **dict.fromkeys("‐‑‒–—―", "-")})


def fold(text: str) -> str:
    """A text in small letters, without accents, with straight quotation marks, plain hyphens and single spaces."""
    folded = text.casefold()
    if not folded.isascii():
        decomposed = unicodedata.normalize("NFKD", folded.translate(_TYPED))
        folded = "".join(filterfalse(_is_mark, decomposed))
    return " ".join(folded.replace("`", "'").split())


def _is_mark(character: str) -> bool:
    """Whether it is an accent; those of Japanese syllables make others of them ("パ", "ハ")."""
    return unicodedata.combining(character) > 0 and character not in "\u3099\u309a"
