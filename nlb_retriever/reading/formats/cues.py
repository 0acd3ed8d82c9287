"""Subtitles of films and transcripts with times (SubRip, WebVTT): what is said, without numbers, times and styles."""

from __future__ import annotations

import re
from collections.abc import Iterator

from nlb_retriever.reading.omissions import Omissions, count_words

_TIME = r"(?:\d{1,3}:)?\d{1,2}:\d{2}[.,]\d{1,3}"
_TIMES = re.compile(rf"[^\S\n]*{_TIME}[^\S\n]+-->[^\S\n]+{_TIME}")
_BETWEEN = re.compile(r"\n(?:[^\S\n]*\n)+")
_OTHER = re.compile(r"(?:WEBVTT|NOTE|STYLE|REGION)(?!\S)")
"""What a block of WebVTT begins with in which nothing is said."""
_MARKS = re.compile(r"</?[a-z][^<>\n]{0,80}>|<[\d:.]{1,20}>|\{\\[^{}\n]{1,80}\}", re.IGNORECASE)
_BEGINS = ("-", "–", "—", "[", "(", "♪")
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
    said = [
        _MARKS.sub("", line).strip()
        for block, begin in zip(blocks, begins, strict=True)
        if begin or not _OTHER.match(block[0])
        for line in block[begin:]
    ]
    words = "\n".join(_join(filter(None, said))) + "\n"
    omissions.skip("numbers, times and styles of subtitles", max(count_words(text) - count_words(words), 0))
    return words


def _join(said: Iterator[str]) -> Iterator[str]:
    """Lines of subtitles as lines of whole sentences."""
    whole: list[str] = []
    for line in said:
        if whole and (whole[-1].endswith(_ENDS) or line.startswith(_BEGINS)):
            yield " ".join(whole)
            whole = []
        whole.append(line)
    yield " ".join(whole)
