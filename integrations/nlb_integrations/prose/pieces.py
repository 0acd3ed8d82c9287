"""The pieces in which a model's text comes, made fit to be shown."""

from __future__ import annotations

import re
from codecs import getincrementaldecoder
from collections.abc import Iterable, Iterator

from llama_index.core.llms import ChatResponse

_CUT_OFF = re.compile(r"(?:finish|done)_reason\W+length\b")
_NAMES = ("think", "thinking", "thought", "reasoning")
_MARKS = (*(f"<{slash}{name}>" for slash in ("", "/") for name in _NAMES), "[think]", "[/think]")
_MARK = re.compile(rf"<(?P<end>/?)(?i:{'|'.join(_NAMES)})>|\[(?P<last>/?)THINK\]")
_PERHAPS = re.compile(r"[<\[][^<\[]*\Z")


class ModelText:
    """A model's text, piece by piece, without its thoughts; None where all before were thoughts.

    Some models begin them without a mark, which stands in the prompt: then only their end shows what they were.
    Halves of characters (surrogates) are joined across pieces; a half that is alone becomes U+FFFD.

    Args:
        responses: of the model.
        longest: characters, with its thoughts; a longer text is cut off.
    """

    def __init__(self, responses: Iterable[ChatResponse], longest: int) -> None:
        self._responses = responses
        self._longest = longest
        self._held = ""
        """Thoughts, or what may be the beginning of a mark."""
        self._thinks = False
        self._thought = False
        """Whether the end of thoughts stands behind what is shown, and nothing has followed yet."""
        self.came = False
        """Whether the model sent anything."""
        self.cut_off = False
        """Whether the model had more to write."""

    def __iter__(self) -> Iterator[str | None]:
        decoder = getincrementaldecoder("utf-16-le")("replace")
        length = 0
        for response in self._responses:
            piece, self.came = response.delta or "", True
            yield from self._take(decoder.decode(piece.encode("utf-16-le", "surrogatepass")))
            self.cut_off |= _CUT_OFF.search(str(response.raw)) is not None
            length += len(piece)
            if length > self._longest:
                self.cut_off = True
                return
        yield from self._take(decoder.decode(b"", final=True))
        if not self._thinks:
            yield from self._shown(self._held)

    def _take(self, piece: str) -> Iterator[str | None]:
        self._held += piece
        while mark := _MARK.search(self._held):
            text, self._held = self._held[: mark.start()], self._held[mark.end() :]
            if not self._thinks:
                yield from self._shown(text)
            ends = bool(mark["end"] or mark["last"])
            self._thought = ends and not self._thinks
            self._thinks = not ends
        if not self._thinks:
            perhaps = _PERHAPS.search(self._held)
            begun = perhaps and any(mark.startswith(perhaps[0].casefold()) for mark in _MARKS)
            end = perhaps.start() if perhaps and begun else len(self._held)
            text, self._held = self._held[:end], self._held[end:]
            yield from self._shown(text)

    def _shown(self, text: str) -> Iterator[str | None]:
        if self._thought and text.strip():
            yield None
            self._thought = False
        yield text
