"""The marks of AsciiDoc within a line: macros, links, attributes, footnotes, bold and the like."""

from __future__ import annotations

import re
from dataclasses import dataclass, field

_TEXT = r"(?:[^\[\]]|\[[^\[\]]{0,300}\])"
_FOOTNOTE = re.compile(rf"footnote(?:ref)?:(?P<id>[\w-]{{0,60}})\[(?P<text>{_TEXT}{{0,3000}})\]")
_REFERENCE = re.compile(r"<<(?P<target>[^<>,\n]{1,300})(?:,(?P<text>[^<>\n]{1,300}))?>>")
_ANCHOR = re.compile(r"\[\[[^\[\]\n]{1,300}\]\]|anchor:[\w-]{1,100}\[[^\[\]\n]{0,300}\]|\(\(\([^()\n]{1,300}\)\)\)")
"""Or a term of the index alone."""
_TERM = re.compile(r"\(\(([^()\n]{1,300})\)\)")
_PICTURE = re.compile(r"image::?(?P<target>[^\s\[]{1,300})\[(?P<text>[^\[\]\n]{0,1000})\]")
_MENU = re.compile(r"menu:(?P<target>[^\[\n]{1,100})\[(?P<text>[^\[\]\n]{0,300})\]")
_LINK = re.compile(
    r"(?P<target>(?:xref|link|mailto):[^\s\[]{1,300}|(?:https?|ftp|irc)://[^\s\[\]<>]{1,300})\[(?P<text>[^\[\]\n]{0,500})\]"
)
_MACRO = re.compile(
    r"\b(?P<name>kbd|btn|stem|latexmath|asciimath|pass|indexterm2?|icon|video|audio|toc)::?(?P<target>[^\s\[]{0,300})"
    rf"\[(?P<text>{_TEXT}{{0,1000}})\]"
)
_UNSEEN = frozenset({"indexterm", "icon", "video", "audio", "toc"})
_ATTRIBUTE = re.compile(r"(?<!\\)\{(?P<name>\w[\w-]{0,60})\}")
_KNOWN = {"nbsp": " ", "sp": " ", "empty": "", "blank": "", "zwsp": "", "apos": "'", "quot": '"', "lsquo": "‘"}
_KNOWN |= {"rsquo": "’", "ldquo": "“", "rdquo": "”", "deg": "°", "plus": "+", "vbar": "|", "amp": "&", "lt": "<"}
_KNOWN |= {"gt": ">", "cpp": "C++", "startsb": "[", "endsb": "]", "caret": "^", "asterisk": "*", "tilde": "~"}
_KNOWN |= {"backslash": "\\", "backtick": "`"}
"""Attributes that every document has."""
_LITERAL = re.compile(
    r"\+\+\+([^\n]{1,500}?)\+\+\+|`\+([^\n]{1,500}?)\+`|(?<!`)``([^`\n]{1,500})``|(?<![\w`])`([^`\n]{1,500})`(?!\w)"
)
_QUOTES = re.compile(r"\"`([^`\n]{1,500})`\"|'`([^`\n]{1,500})`'")
_ROLE = re.compile(r"\[[.#%][\w.#%-]{1,100}\](?=[#*_`])")
_DOUBLED = re.compile(r"(\*\*|__|##)(?=\S)([^\n]{1,500}?)\1")
_MARKED = re.compile(r"(?<![\w*_#\\])([*_#])(?=[^\s*_#])([^\n]{0,500}?(?<=\S))\1(?!\w)")
_RAISED = re.compile(r"(?<=\S)([\^~])([^\s^~]{1,30})\1")
_ESCAPED = re.compile(r"\\(?=[*_#`+^~{<\[]|(?:footnote|image|link|xref|http))")
_KEPT = re.compile("\x02(\\d+)\x03")
"""In place of literal text: cleaned text holds neither character."""
_NAMED = re.compile(r",?\s*\w+=(?:\"[^\"]*\"|[^,\]]*)")


@dataclass
class Inline:
    """Shows lines without marks, and keeps what they define."""

    attributes: dict[str, str] = field(default_factory=dict)
    notes: list[str] = field(default_factory=list)

    def show(self, line: str) -> str:
        """A line as a reader sees it."""
        literal: list[str] = []

        def keep(match: re.Match[str]) -> str:
            literal.append(next(filter(None, match.groups())))
            return f"\x02{len(literal) - 1}\x03"

        line = _QUOTES.sub(lambda m: f"“{m[1]}”" if m[1] else f"‘{m[2]}’", line)
        line = _LITERAL.sub(keep, line)
        line = _ATTRIBUTE.sub(self._attribute, line)
        line = _FOOTNOTE.sub(self._footnote, line)
        line = _ANCHOR.sub("", line)
        line = _TERM.sub(r"\1", _REFERENCE.sub(lambda m: m["text"] or m["target"], line))
        line = _PICTURE.sub(lambda m: _first(m["text"]), line)
        line = _MENU.sub(lambda m: " > ".join(filter(None, (m["target"], m["text"]))), line)
        line = _LINK.sub(_show_link, line)
        line = _MACRO.sub(lambda m: "" if m["name"] in _UNSEEN else m["text"], line)
        line = _MARKED.sub(r"\2", _DOUBLED.sub(r"\2", _ROLE.sub("", line)))
        line = _RAISED.sub(r"\2", _MARKED.sub(r"\2", line))
        line = _ESCAPED.sub("", line)
        for _ in range(2):  # an attribute may be in literal text
            line = _KEPT.sub(lambda m: literal[int(m[1])], line)
        return line

    def _attribute(self, match: re.Match[str]) -> str:
        name = match["name"].lower()
        return self.attributes.get(name) or _KNOWN.get(name, match[0])

    def _footnote(self, match: re.Match[str]) -> str:
        """Nothing in place of a footnote, which goes to the end."""
        if match["text"]:
            self.notes.append(f"{len(self.notes) + 1} {match['text']}")
            at = len(self.notes) - 1
            self.notes[at] = self.show(self.notes[at])
        return ""


def _first(attributes: str) -> str:
    """The text of a macro: its first attribute, where that has no name."""
    text = _NAMED.sub("", attributes)
    if text.startswith('"'):
        return text[1:].partition('"')[0]
    return text.partition(",")[0].strip()


def _show_link(match: re.Match[str]) -> str:
    text = match["text"].removesuffix("^")
    text = _first(text) if "=" in text else text.strip('"').removesuffix("^")
    return text or re.sub(r"^(?:xref|link|mailto):", "", match["target"])
