"""The pieces in which a model's text comes, made fit to be shown."""

from __future__ import annotations

from codecs import getincrementaldecoder
from collections.abc import Iterable, Iterator


def whole_characters(pieces: Iterable[str]) -> Iterator[str]:
    """Joins the halves of characters (surrogates) across pieces; a half that is alone becomes U+FFFD."""
    decoder = getincrementaldecoder("utf-16-le")("replace")
    for piece in pieces:
        yield decoder.decode(piece.encode("utf-16-le", "surrogatepass"))
    yield decoder.decode(b"", final=True)
