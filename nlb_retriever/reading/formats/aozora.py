"""Texts of Aozora Bunko, the Japanese library of free books: without readings of characters, remarks and imprint."""

from __future__ import annotations

import re

from nlb_retriever.reading.draft import Draft, Heading, one_line
from nlb_retriever.reading.omissions import count_words

_LEGEND = "【テキスト中に現れる記号について】"
_FRONT = 3_000
"""Characters in which the legend of marks stands."""
_RULED = re.compile(rf"^-{{20,}}\n{_LEGEND}.{{0,{_FRONT}}}?^-{{20,}}\n", re.MULTILINE | re.DOTALL)
_IMPRINT = re.compile(r"^底本：", re.MULTILINE)
_HEADING = re.compile(r"［＃「(?P<title>[^」\n]{1,80})」は(?:同行|窓)?(?P<size>[大中小])見出し］")
_MARK = re.compile(r"［＃[^］\n]{0,200}］|《[^》\n]{0,80}》|｜")
"""A remark, the reading of the characters before, and where these begin."""
_TRANSLATOR = "訳"
_SIZES = "大中小"


def read_aozora(text: str, draft: Draft) -> bool:
    """Fill a draft with what a text of Aozora Bunko says; False where it is none."""
    if _LEGEND not in text[:_FRONT]:
        return False
    front = [line.strip() for line in text.lstrip().partition("\n\n")[0].split("\n")]
    names = [line for line in front[1:] if not line.endswith(_TRANSLATOR)]
    draft.title, draft.author = one_line(_MARK.sub("", front[0])), one_line(names[-1]) if names else None
    body = _RULED.sub("", text, count=1)
    imprint = [*_IMPRINT.finditer(body)][-1:]
    end = imprint[0].start() if imprint else len(body)
    lines: list[str] = []
    start = 0
    for line in body[:end].split("\n"):
        if heading := _HEADING.search(line):
            level = 1 + _SIZES.index(heading["size"])
            draft.headings.append(Heading(start, level, one_line(_MARK.sub("", heading["title"]))))
        lines.append(_MARK.sub("", line))
        start += len(lines[-1]) + 1
    draft.text, draft.language, draft.is_marked = "\n".join(lines), "ja", True
    draft.omissions.skip("readings, remarks and imprint of Aozora Bunko", count_words(text) - count_words(draft.text))
    return True
