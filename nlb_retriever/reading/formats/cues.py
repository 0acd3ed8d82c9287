"""Subtitles of films and transcripts with times (SubRip, WebVTT): what is said and by whom,
without numbers, times and styles. When it is said is its page."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from html import unescape

from nlb_retriever.reading.omissions import Omissions, count_words
from nlb_retriever.records import Page

_TIME = r"(?:\d{1,3}:)?\d{1,2}:\d{2}[.,]\d{1,3}"
_TIMES = re.compile(rf"[^\S\n]*(?P<begin>{_TIME})[^\S\n]+-->[^\S\n]+{_TIME}")
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


def read_cues(text: str, omissions: Omissions) -> tuple[str, list[Page]]:
    """What is said in subtitles, a sentence that goes on in the next one on one line, and when; another text as it is.

    Args:
        text: with line ends "\\n".
        omissions: where what is skipped is noted.
    """
    if "-->" not in text:
        return text, []
    blocks = [block.split("\n") for block in _BETWEEN.split(text.strip())]
    times = [
        next(((i, times["begin"]) for i, line in enumerate(block[:2], 1) if (times := _TIMES.match(line))), (0, ""))
        for block in blocks
    ]
    if 2 * sum(begin > 0 for begin, _ in times) <= len(blocks):
        return text, []
    lines = [
        (time, line)
        for block, (begin, time) in zip(blocks, times, strict=True)
        if begin or not _OTHER.match(block[0])
        for line in block[begin:]
    ]
    said = [(time, _MARKS.sub("", line).strip()) for time, line in _with_speakers(lines)]
    unescaped = unescape if _OTHER.match(text.lstrip()) else str
    words = ""
    pages: list[Page] = []
    for time, line in _join((time, line) for time, line in said if line):
        pages.append(Page(start=len(words), number=len(pages) + 1, label=_written(time)))
        words += unescaped(line.lstrip(_NEXT)) + "\n"
    omissions.skip("numbers, times and styles of subtitles", max(count_words(text) - count_words(words), 0))
    return words, [page for page in pages if page.label]


def _written(time: str) -> str:
    """A time as players show it: "4:07" of "00:04:07,250", "1:02:03"."""
    if not time:
        return ""
    *hours, minutes, seconds = map(int, re.split("[.,]", time)[0].split(":"))
    return f"{hours[0]}:{minutes:02}:{seconds:02}" if any(hours) else f"{minutes}:{seconds:02}"


def _with_speakers(lines: Iterable[tuple[str, str]]) -> Iterator[tuple[str, str]]:
    """The lines with the name of each other speaker before the words, as transcripts have it."""
    speaker = ""
    for time, line in lines:
        words, *voices = _VOICE.split(line)
        yield time, words
        for name, said in zip(voices[::2], voices[1::2], strict=True):
            yield time, said if name == speaker else f"{_NEXT}{name.strip()}: {said}"
            speaker = name


def _join(said: Iterator[tuple[str, str]]) -> Iterator[tuple[str, str]]:
    """Lines of subtitles as lines of whole sentences, each with the time of its first."""
    begin, whole = "", ""
    for time, line in said:
        if whole and (whole.endswith(_ENDS) or line.startswith(_BEGINS) or _LABEL.match(line)):
            yield begin, whole
            whole = ""
        begin, whole = (begin, f"{whole} {line}") if whole else (time, line)
    yield begin, whole
