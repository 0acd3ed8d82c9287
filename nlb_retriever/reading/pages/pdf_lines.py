"""How the lines of a PDF's pages are set, and which way up."""

from __future__ import annotations

import ctypes
import math
import re
from collections import Counter
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING

from nlb_retriever.reading.pages.columns import Line
from nlb_retriever.reading.pages.typography import Look
from nlb_retriever.reading.raised import raise_behind

if TYPE_CHECKING:
    from pypdfium2 import PdfTextPage

_LINE = re.compile("[^\r\n\x02\ufffe\uffff]+[\x02\ufffe\uffff]?")
"""Of a page as pdfium gives it: a hyphen at a line's end is one of three marks, and ends the line."""
_WIDE = re.compile("[\U00010000-\U0010ffff]")
_LETTER = re.compile(r"[^\W_]")
_WITHOUT_NUMBERS = re.compile(r"(?:\d{1,5}[ ]+)?(?P<rest>.*?[^\W_].*?)(?:[ ]+\d{1,5})?[ ]*")
"""A line without the numbers at its ends, which may be set smaller than the rest, as those of lines are."""
_NUMBER = re.compile(
    r"(?:(?P<letter>[)\]]|(?<![^\W_])(?:[^\W\d_]|[cdkm]m|ft))(?=[−–-]?\d))?"
    r"(?:(?<![^\W_])\d{0,9}[−–-])?\d{1,9}(?![^\W_])"
)
"""With the letter, the unit or the bracket before it."""
_SMALL, _ABOVE = 0.95, 0.2
"""Most of the size of the character before that a raised one has, and the least that it stands above it."""
_BOLD = re.compile(r"bold|black|heavy|demi|-medi$|(?:cm|sf|lm|ec)bx|biolinumTB|libertineTB|,b$|-bd", re.IGNORECASE)
_LAM_ALEF = re.compile("[\u0622\u0623\u0625\u0627]\u0644")
"""One Arabic letter form for two letters, which pdfium gives from left to right."""
_LEFT_OF_NUMBER = re.compile(r"(?<=[\u0590-\u08ff]\s)([.,:;!?\u060c\u061b\u061f])(\d+)(?!\S)")
"""What stands behind a number in a line from right to left."""
_QUARTER, _HALF, _TURN = 90, 180, 360
"""Degrees."""


def _indexer(text: str) -> Callable[[int], int]:
    """Gives the index that a character has in pdfium's text, where some count as two."""
    if not _WIDE.search(text):
        return int
    return lambda i: len(text[:i].encode("utf-16-le", "surrogatepass")) // 2


def _letters(text: str, start: int, end: int) -> Iterator[int]:
    """The first letter or number of a part of a text, the last one and one between."""
    if not (first := _LETTER.search(text, start, end)):
        return
    yield first.start()
    last = next(i for i in range(end - 1, start - 1, -1) if text[i].isalnum())
    if last > first.start():
        yield last
        if between := _LETTER.search(text, (first.start() + last) // 2 + 1, last):
            yield between.start()


def _is_above(line: tuple[float, float], other: tuple[float, float]) -> bool:
    """Whether a character is small and above the line of one before, by their sizes and heights."""
    return 0 < other[0] <= _SMALL * line[0] and other[1] >= line[1] + _ABOVE * line[0]


class LookReader:
    """Reads how the lines of a PDF's pages are set, from three of their letters, or one where it is set as most are."""

    def __init__(self) -> None:
        from pypdfium2 import raw

        self._raw = raw
        self._matrix = raw.FS_MATRIX()
        self._name = ctypes.create_string_buffer(128)
        self._flags = ctypes.c_int()
        self._x, self._y = ctypes.c_double(), ctypes.c_double()
        self._right, self._top = ctypes.c_double(), ctypes.c_double()
        self._seen: Counter[Look] = Counter()
        self._commonest = Look(0.0, False)

    def read(self, textpage: PdfTextPage, text: str, rotation: int) -> Iterator[tuple[str, Look]]:
        """Each line of a page's text with its look, but for those without letters and numbers, turned and unseen ones.

        Args:
            textpage: the page.
            text: its text as pdfium gives it.
            rotation: in which the page is shown.
        """
        index = _indexer(text)
        for match in _LINE.finditer(text):
            looks: list[Look] = []
            for i in _letters(text, *self._rest(textpage, text, match.span(), index)):
                look = self._look(textpage, index(i), rotation)
                if look is None:
                    looks = []
                    break
                looks.append(look)
                self._seen[look] += 1
                if self._seen[look] >= self._seen[self._commonest]:
                    self._commonest = look
                    break
            if looks:
                yield match[0], Look(min(look.size for look in looks), all(look.bold for look in looks))

    def _rest(
        self, textpage: PdfTextPage, text: str, line: tuple[int, int], index: Callable[[int], int]
    ) -> tuple[int, int]:
        """Where a line begins and ends without the numbers at its ends; one above the line is the mark of a note."""
        found = _WITHOUT_NUMBERS.fullmatch(text, *line)
        letter = _LETTER.search(text, *found.span("rest")) if found else None
        if not found or not letter:
            return line
        first, last = found.span("rest")
        if first > line[0] and _is_above(*(self._height(textpage, index(i)) for i in (letter.start(), line[0]))):
            return line[0], last
        return first, last

    def place(self, textpage: PdfTextPage, text: str, origin: float) -> Iterator[Line]:
        """The lines of a page that is shown as it was written, each with those behind it that have no place.

        These have no letter or number, or are turned.

        Args:
            textpage: the page.
            text: its text as pdfium gives it.
            origin: where the page begins from the left.
        """
        index = _indexer(text)
        placed: list[tuple[int, Line]] = []
        for match in _LINE.finditer(text):
            ends = [*_letters(text, match.start(), match.end())][:2]
            if ends:
                first, last = map(index, (ends[0], ends[-1]))
                size, height = self._height(textpage, first)[0], self._height(textpage, last)[1]
                if size:
                    left, right = self._edges(textpage, first)[0], self._edges(textpage, last)[1]
                    placed.append(
                        (match.start() if placed else 0, Line("", left - origin, right - origin, height, size))
                    )
        ends = [*(start for start, _ in placed[1:]), len(text)]
        for (start, line), end in zip(placed, ends, strict=False):
            yield line._replace(text=text[start:end])

    def find_rotation(self, textpage: PdfTextPage, text: str) -> int:
        """The rotation in which most of a page's text is upright: 0, 90, 180 or 270 degrees, clockwise."""
        index = _indexer(text)
        lengths = Counter[int]()
        for match in _LINE.finditer(text):
            letter = _LETTER.search(text, match.start(), match.end())
            if letter and self._place(textpage, index(letter.start())) >= 0:
                degrees = math.degrees(math.atan2(self._matrix.b, self._matrix.a))
                lengths[round(degrees / _QUARTER) * _QUARTER % _TURN] += len(match[0])
        return lengths.most_common(1)[0][0] if lengths else 0

    def raise_numbers(self, textpage: PdfTextPage, text: str) -> str:
        """A page's text with small numbers that stand above the line, "10²³", in raised characters.

        Not behind a word: there they call a footnote.
        """
        index = _indexer(text)
        parts: list[str] = []
        done = 0
        for match in _NUMBER.finditer(text):
            at = match.start() if match["letter"] is None else match.end("letter")
            first = match.start() if match["letter"] is None else match.end("letter") - 1
            ends = [self._height(textpage, index(i)) for i in (first, match.end() - 1)]
            if not _is_above(*ends):
                continue
            while at < match.end() and not _is_above(ends[0], self._height(textpage, index(at))):
                at += 1
            parts += (text[done:at], raise_behind(text[at - 1], text[at : match.end()]))
            done = match.end()
        return "".join([*parts, text[done:]])

    def order_right_to_left(self, textpage: PdfTextPage, text: str) -> str:
        """A page's text with Arabic ligatures, and numbers and the stops behind them, as they are read."""
        index = _indexer(text)
        letters = [*text] if _LAM_ALEF.search(text) else []
        for match in _LAM_ALEF.finditer(text):
            first, last = map(index, (match.start(), match.end() - 1))
            if self._edges(textpage, first) == self._edges(textpage, last):
                letters[match.start() : match.end()] = match[0][::-1]
        return _LEFT_OF_NUMBER.sub(r"\2\1", "".join(letters) or text)

    def _height(self, textpage: PdfTextPage, index: int) -> tuple[float, float]:
        """The size of a character, and how high it stands on the page; 0 where it is unknown or turned."""
        at = self._place(textpage, index)
        if at < 0 or abs(self._matrix.b) > abs(self._matrix.a):
            return 0.0, 0.0
        size = self._raw.FPDFText_GetFontSize(textpage, at) * (self._matrix.c**2 + self._matrix.d**2) ** 0.5
        return size, self._matrix.f if not self._raw.FPDFText_GetCharOrigin(
            textpage, at, self._x, self._y
        ) else self._y.value

    def _edges(self, textpage: PdfTextPage, index: int) -> tuple[float, float]:
        """Where a character of the text begins and ends on the page's width."""
        at = self._raw.FPDFText_GetCharIndexFromTextIndex(textpage, index)
        self._raw.FPDFText_GetCharBox(textpage, at, self._x, self._right, self._y, self._top)
        return self._x.value, self._right.value

    def _place(self, textpage: PdfTextPage, index: int) -> int:
        """The index of a character of the text on the page, after its matrix was read; -1 where there is none."""
        at = self._raw.FPDFText_GetCharIndexFromTextIndex(textpage, index)
        return at if at >= 0 and self._raw.FPDFText_GetMatrix(textpage, at, self._matrix) else -1

    def _look(self, textpage: PdfTextPage, index: int, rotation: int) -> Look | None:
        """The look of a character; None where it is turned, unknown or, as what a scanner has read, not to be seen."""
        at = self._place(textpage, index)
        matrix = self._matrix
        if at < 0 or (abs(matrix.b) > abs(matrix.a)) != bool(rotation % _HALF):
            return None
        drawn = self._raw.FPDFText_GetTextObject(textpage, at)
        if drawn and self._raw.FPDFTextObj_GetTextRenderMode(drawn) == self._raw.FPDF_TEXTRENDERMODE_INVISIBLE:
            return None
        size = self._raw.FPDFText_GetFontSize(textpage, at) * (matrix.c**2 + matrix.d**2) ** 0.5
        self._name[0] = b"\0"
        self._raw.FPDFText_GetFontInfo(textpage, at, self._name, len(self._name), self._flags)
        return Look(round(2 * size) / 2, _BOLD.search(self._name.value.decode("latin-1")) is not None)
