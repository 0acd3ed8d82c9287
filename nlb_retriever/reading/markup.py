"""HTML source made safe to parse: nothing in it can swallow the words that follow.

An HTML parser follows a browser, which shows nothing of the text after an unclosed comment, <style> or <textarea>,
and takes quadratic time for deep nesting. What is repaired here is rare in sound files, which pass unchanged but
for their scripts, styles and document type.
"""

from __future__ import annotations

import re
from collections import Counter
from html import escape

from nlb_retriever.reading.decode import decode
from nlb_retriever.reading.omissions import Omissions, count_words

_CHARSET = re.compile(rb"""(?:charset|encoding)\s*=\s*["']?\s*([A-Za-z0-9._:-]{2,40})""", re.IGNORECASE)
_XHTML_PREFIX = re.compile(r"""xmlns:([\w-]{1,30})\s*=\s*["']http://www\.w3\.org/1999/xhtml["']""")
_CDATA = re.compile(r"<!\[CDATA\[(.*?)\]\]>", re.DOTALL)
_ENTITY = re.compile(r"""<!ENTITY\s+([\w.-]{1,60})\s+(?:"([^"&%<]{0,1000})"|'([^'&%<]{0,1000})')\s*>""")
_RAW = re.compile(r"<!--|<(script|style|title|textarea|xmp)(?=[\s>/])[^>]*>", re.IGNORECASE)
"""What an HTML parser reads up to its end as a whole, whatever stands in it."""
_ANY_TAG = re.compile(r"</?[a-z]", re.IGNORECASE)
_LONGEST_TITLE = 1_000
_SPECIAL = re.compile(
    r"<(/?)(template|noframes|noembed|iframe|frameset|select|option|optgroup|textarea|plaintext|image)(?=[\s/>])",
    re.IGNORECASE,
)
"""Elements whose content an HTML parser drops, moves or does not parse; renamed, they are like any other."""
_SELF_CLOSED = re.compile(r"<([A-Za-z][\w:-]*)((?:\s(?:[^<>\"']|\"[^\"<]*\"|'[^'<]*')*)?)/>")
_CELL = re.compile(r"<(?:td|th|tr)\b", re.IGNORECASE)
"""Cells outside a table, and text in a table outside its cells, run together without a space."""
_VOID = frozenset("area base br col embed hr img input link meta param source track wbr".split())
_TAG_IN_QUOTE = re.compile(r"""=\s*(?:"[^"<]*<|'[^'<]*<)""")
_BROKEN_QUOTE = re.compile(r"""(<[A-Za-z](?:[^<>"']|"[^"<>]*"|'[^'<>]*')*=\s*)(?:"(?=[^"<]*<)|'(?=[^'<]*<))""")
_TAG = re.compile(r"<(/?)([A-Za-z][\w:-]*)(?:[^<>\"']|\"[^\"]*\"|'[^']*')*>")
_IMPLIED = frozenset("p li dt dd td th tr thead tbody tfoot option optgroup colgroup rp rt html head body a".split())
"""Elements that the next of their kind closes, if their end tag is missing."""
_INLINE = frozenset("b big code em font i nobr s small span strike strong tt u sub sup q abbr cite".split())
_MANY_TAGS = 4_000
_DEEPEST, _DEEPEST_INLINE = 300, 50
"""Deeper elements lose their tags: a parser takes time with the square of the depth."""


def decode_markup(data: bytes) -> tuple[str, str | None]:
    """Decode HTML or XHTML by byte order mark, bytes, declaration or guess; the second value is a warning or None."""
    declared = _CHARSET.search(data[:2048])
    return decode(data, declared[1].decode("ascii") if declared else None)


def make_safe(source: str, omissions: Omissions) -> str:
    """HTML or XHTML source of which a parser loses no words, and the words of scripts and styles as omissions."""
    source = source.replace("\x00", " ")
    source = _without_doctype(source)
    if prefix := _XHTML_PREFIX.search(source[:4096]):
        source = re.sub(rf"<(/?){re.escape(prefix[1])}:", r"<\1", source)
    if "<![CDATA[" in source:
        source = _CDATA.sub(lambda m: escape(m[1], quote=False), source).replace("<![CDATA[", "&lt;![CDATA[")
    source = _without_open_ends(source, omissions)
    if _SPECIAL.search(source):
        source = _SPECIAL.sub(r"<\1x-\2", source)
    if "<td" in source or "<TD" in source:
        source = _CELL.sub(r" \g<0>", source)
    source = _SELF_CLOSED.sub(_expand, source)
    return _without_depth(source) if source.count("<") > _MANY_TAGS else source


def _without_doctype(source: str) -> str:
    """Drop the document type; its entities are expanded where they stand for plain words, nothing else is."""
    start = source[:4096].upper().find("<!DOCTYPE")
    if start < 0:
        return source
    end, subset = source.find(">", start), source.find("[", start)
    entities: dict[str, str] = {}
    if 0 <= subset < end:
        close = source.find("]", subset)
        entities = {
            m[1]: m[2] or m[3] or "" for m in _ENTITY.finditer(source, subset, close if close >= 0 else len(source))
        }
        end = source.find(">", close) if close >= 0 else end
    if end < 0:
        return source[:start] + "&lt;" + source[start + 1 :]
    rest = source[:start] + source[end + 1 :]
    if entities:
        growth = sum(rest.count(f"&{name};") * len(value) for name, value in entities.items())
        if growth <= len(rest) + 1_000_000:
            return re.sub(r"&([\w.-]{1,60});", lambda m: entities.get(m[1], m[0]), rest)
    return rest


def _without_open_ends(source: str, omissions: Omissions) -> str:
    """Drop scripts and styles; comments, titles and tags that do not end become text."""
    parts: list[str] = []
    done = 0
    ends: dict[str, bool] = {}  # whether an end tag of the name stands below here; once False, always
    for match in _RAW.finditer(source):
        start = match.start()
        if start < done:
            continue
        name = (match[1] or "").lower()
        if not name:
            close = source.find("-->", start + 2) if ends.get(name, True) else -1
            ends[name] = close >= 0
            parts += (source[done : close + 3],) if close >= 0 else (source[done:start], "&lt;!--")
            done = close + 3 if close >= 0 else start + 4
            continue
        end = _end_tag(source, name, match.end()) if ends.get(name, True) and match[0][-2] != "/" else None
        ends[name] = ends.get(name, True) and (end is not None or match[0][-2] == "/")
        content = source[match.end() : end.start()] if end else ""
        parts.append(source[done:start])
        done = match.end()
        if match[0][-2] == "/":
            continue
        if end is None:
            parts.append("" if name in {"title", "textarea"} else escape(match[0]))
        elif name == "script" or (name == "style" and not _ANY_TAG.search(content)):
            omissions.skip_element(f"<{name}> element", count_words(content))
            done = end.end()
        elif name == "xmp":
            parts.append(f"<pre>{escape(content)}</pre>")
            done = end.end()
        elif name == "title" and len(content) < _LONGEST_TITLE and not _ANY_TAG.search(content):
            parts.append(source[start : end.end()])
            done = end.end()
        elif name == "textarea":
            parts.append(match[0])  # renamed below
    source = "".join([*parts, source[done:]])
    if _TAG_IN_QUOTE.search(source):
        source = _BROKEN_QUOTE.sub(r"\1", source)
    last = source.rfind("<")
    if last >= 0 and source.find(">", last) < 0:
        source = source[:last] + "&lt;" + source[last + 1 :]
    return source


def _end_tag(source: str, name: str, start: int) -> re.Match[str] | None:
    return re.compile(rf"</{name}(?=[\s>/])[^>]*>", re.IGNORECASE).search(source, start)


def _expand(match: re.Match[str]) -> str:
    return match[0] if match[1].lower() in _VOID else f"<{match[1]}{match[2]}></{match[1]}>"


def _without_depth(source: str) -> str:
    """Drop the tags of elements that lie too deep: <br> stands for those that begin a line."""
    blocks = deepest = inline = 0
    for closing, name in re.findall(r"<(/?)([a-z][\w:-]*)", source.lower()):
        if name in _INLINE:
            inline = max(0, inline - 1) if closing else inline + 1
        elif name not in _IMPLIED and name not in _VOID:
            blocks = max(0, blocks - 1) if closing else blocks + 1
        deepest = max(deepest, blocks, inline)
    if deepest <= _DEEPEST:
        return source
    open_names: list[str] = []
    dropped: Counter[str] = Counter()

    def keep(match: re.Match[str]) -> str:
        name = match[2].lower()
        if name in _VOID or name in _IMPLIED:
            return match[0]
        if match[1]:
            if dropped[name] > 0:
                dropped[name] -= 1
                return "" if name in _INLINE else "<br>"
            if name in open_names:
                while open_names.pop() != name:
                    pass
            return match[0]
        if len(open_names) >= (_DEEPEST_INLINE if name in _INLINE else _DEEPEST):
            dropped[name] += 1
            return "" if name in _INLINE else "<br>"
        open_names.append(name)
        return match[0]

    return _TAG.sub(keep, source)
