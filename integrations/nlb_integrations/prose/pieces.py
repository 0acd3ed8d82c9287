"""The pieces in which a model's text comes, made fit to be shown."""

from __future__ import annotations

import re
from codecs import getincrementaldecoder
from collections.abc import Iterable, Iterator

from llama_index.core.llms import ChatResponse

_CUT_OFF = re.compile(r"(?:finish|done)_reason\W+length\b")
_THOUGHTS, _END = "<think>", "</think>"


class ModelText:
    """A model's text, piece by piece, without the thoughts at its beginning.

    Halves of characters (surrogates) are joined across pieces; a half that is alone becomes U+FFFD.

    Args:
        responses: of the model.
        longest: characters, with its thoughts; a longer text is cut off.
    """

    def __init__(self, responses: Iterable[ChatResponse], longest: int) -> None:
        self._responses = responses
        self._longest = longest
        self._start: str | None = ""
        """The text so far, until it is known that no thoughts follow."""
        self.cut_off = False
        """Whether the model had more to write."""

    def __iter__(self) -> Iterator[str]:
        decoder = getincrementaldecoder("utf-16-le")("replace")
        length, raw = 0, None
        for response in self._responses:
            piece, raw = response.delta or "", response.raw
            yield self._without_thoughts(decoder.decode(piece.encode("utf-16-le", "surrogatepass")))
            length += len(piece)
            if length > self._longest:
                self.cut_off = True
                return
        yield self._without_thoughts(decoder.decode(b"", final=True))
        self.cut_off = _CUT_OFF.search(str(raw)) is not None

    def _without_thoughts(self, piece: str) -> str:
        if self._start is None:
            return piece
        self._start += piece
        text = self._start.lstrip()
        if text.startswith(_THOUGHTS):
            _, ended, text = text.partition(_END)
            if not ended:
                return ""
        elif _THOUGHTS.startswith(text):
            return ""
        self._start = None
        return text
