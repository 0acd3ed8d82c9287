"""Subtitles of films and transcripts with times (SubRip, WebVTT): what is said and by whom,
without numbers, times and styles."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from html import unescape

from nlb_retriever.reading.omissions import Omissions, count_words

_TIME = r"(?:\d{1,3}:)?\d{1,2}:\d{2}[.,]\d{1,3}"
_TIMES = re.compile(rf"[^\S\n]*{_TIME}[^\S\n]+-->[^\S\n]+{_TIME}")
_BETWEEN = re.compile(r"\n(?:[^\S\n]*\n)+")
_OTHER = re.compile(r"(?:WEBVTT|NOTE|STYLE|REGION)(?!\S)")
"""What a block of WebVTT begins with in which nothing is said."""
_MARKS = re.compile(r"</?[a-z][^<>\n]{0,80}>|<[\d:.]{1,20}>|\{\\[^{}\n]{1,80}\}", re.IGNORECASE)
_VOICE = re.compile(r"<v(?:\.[\w.-]{1,60})?[^\S\n]+([^<>\n]{1,80})>")
"""Who speaks, in WebVTT."""
_LABEL = re.compile(r"(?:[A-Z][\w.’'-]{0,20} ){0,3}[A-Z][\w.’'-]{0,20}:[^\S\n]")
"""The same before what is said, as in a transcript."""
_NEXT = "\0"
"""Before the words of another speaker; no text has it after `clean`."""
_BEGINS = (_NEXT, "-", "–", "—", "[", "(", "♪")
"""Who else speaks, or what is heard."""
_ENDS = (".", "!", "?", "…", '"', "”", "’", "]", ")", "♪")


def read_cues(text: str, omissions: Omissions) -> str:
    """What is said in subtitles, a sentence that goes on in the next one on one line; another text as it is.

    Args:
        text: with line ends "\\n".
        omissions: where what is skipped is noted.
    """
    if "-->" not in text:
        return text
    blocks = [block.split("\n") for block in _BETWEEN.split(text.strip())]
    begins = [next((i for i, line in enumerate(block[:2], 1) if _TIMES.match(line)), 0) for block in blocks]
    if 2 * sum(map(bool, begins)) <= len(blocks):
        return text
    lines = [
        line
        for block, begin in zip(blocks, begins, strict=True)
        if begin or not _OTHER.match(block[0])
        for line in block[begin:]
    ]
    said = [_MARKS.sub("", line).strip() for line in _with_speakers(lines)]
    words = "\n".join(line.lstrip(_NEXT) for line in _join(filter(None, said))) + "\n"
    if _OTHER.match(text.lstrip()):
        words = unescape(words)
    omissions.skip("numbers, times and styles of subtitles", max(count_words(text) - count_words(words), 0))
    return words


def _with_speakers(lines: Iterable[str]) -> Iterator[str]:
    """The lines with the name of each other speaker before the words, as transcripts have it."""
    speaker = ""
    for line in lines:
        words, *voices = _VOICE.split(line)
        yield words
        for name, said in zip(voices[::2], voices[1::2], strict=True):
            yield said if name == speaker else f"{_NEXT}{name.strip()}: {said}"
            speaker = name


def _join(said: Iterator[str]) -> Iterator[str]:
    """Lines of subtitles as lines of whole sentences."""
    whole: list[str] = []
    for line in said:
        if whole and (whole[-1].endswith(_ENDS) or line.startswith(_BEGINS) or _LABEL.match(line)):
            yield " ".join(whole)
            whole = []
        whole.append(line)
    yield " ".join(whole)
