"""HTML source made safe to parse: nothing in it can swallow the words that follow.

An HTML parser follows a browser, which shows nothing of the text after an unclosed comment, <style> or <textarea>,
and takes quadratic time for deep nesting. What is repaired here is rare in sound files, which pass unchanged but
for their scripts, styles and document type.
"""

from __future__ import annotations

import re
from collections import Counter
from html import escape
from itertools import islice

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
_SPECIAL = (
    "template", "noframes", "noembed", "iframe", "frameset", "select", "option", "optgroup", "textarea", "plaintext",
    "image",
)  # fmt: skip
"""Elements whose content an HTML parser drops, moves or does not parse; renamed, they are like any other."""
_SPECIAL_TAG = re.compile(rf"<(/?)({'|'.join(_SPECIAL)})(?=[\s/>])", re.IGNORECASE)
_CELL = re.compile(r"<(?:td|th|tr)\b", re.IGNORECASE)
"""Cells outside a table, and text in a table outside its cells, run together without a space."""
_RENAMED = re.compile(rf"</?(?:[A-Z]|t[dhr]|{'|'.join(_SPECIAL)})")
_SELF_CLOSED = re.compile(r"<([A-Za-z][\w:-]*)((?:\s(?:[^<>\"']|\"[^\"<]*\"|'[^'<]*')*)?)/>")
_VOID = frozenset("area base br col embed hr img input link meta param source track wbr".split())
_TAG_IN_QUOTE = re.compile(r"""=\s*(?:"[^"<]*<|'[^'<]*<)""")
_BROKEN_QUOTE = re.compile(
    r"""(<[A-Za-z](?:[^<>"']|"[^"<>]*"|'[^'<>]*')*=\s*)"""
    r"""(?:"(?=[^"<]*<)(?![^"]{0,300}")|'(?=[^'<]*<)(?![^']{0,300}'))"""
)
"""A tag with a quotation mark that does not end near by: the words up to the next would be its attribute."""
_FORMATS = "b|big|code|em|font|i|nobr|s|small|strike|strong|tt|u"
_BLOCKS = (
    "address|article|aside|blockquote|body|center|details|dialog|dir|div|dl|fieldset|figcaption|figure|footer|form"
    "|h[1-6]|header|hgroup|listing|main|menu|nav|ol|pre|search|section|summary|table|ul"
)
_NESTING_NAME = re.compile(rf"<(/?)(?:({_FORMATS})|({_BLOCKS}))(?=[\s/>])")
_NESTING = re.compile(rf"<(/?)(?:({_FORMATS})|({_BLOCKS}))(?=[\s/>])(?:[^<>\"']|\"[^\"]*\"|'[^']*')*>?", re.IGNORECASE)
"""Tags of elements that cost a parser the more the deeper they nest: formats and blocks."""
_LONG_TAG = re.compile(r"<([A-Za-z][^\s/<>]*+)[^<>]{5000,}+>")
_ATTRIBUTE = re.compile(r"""[^\s"'/=<>]+(?:\s*=\s*(?:"[^"]*"|'[^']*'|[^\s"'>]+))?""")
_MOST_ATTRIBUTES = 500
"""Of a tag: a parser takes time with the square of them."""
_MANY_TAGS = 1_500
_MOST_OPEN = {True: 50, False: 300}
"""Formats and blocks that may be open at once; a parser takes time with the square of the blocks, and opens formats
that were not closed again in every paragraph."""


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
    if _RENAMED.search(source):
        source = _SPECIAL_TAG.sub(r"<\1x-\2", source)
        source = _CELL.sub(r" \g<0>", source)
    source = _LONG_TAG.sub(_shorten, source)
    if "/>" in source:
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
        source = _BROKEN_QUOTE.sub(lambda m: f"&lt;{m[0][1:]}", source)
    last = source.rfind("<")
    if last >= 0 and source.find(">", last) < 0:
        source = source[:last] + "&lt;" + source[last + 1 :]
    return source


def _end_tag(source: str, name: str, start: int) -> re.Match[str] | None:
    return re.compile(rf"</{name}(?=[\s>/])[^>]*>", re.IGNORECASE).search(source, start)


def _expand(match: re.Match[str]) -> str:
    return match[0] if match[1].lower() in _VOID else f"<{match[1]}{match[2]}></{match[1]}>"


def _shorten(match: re.Match[str]) -> str:
    """A tag without its attributes, where they are too many."""
    beyond = next(islice(_ATTRIBUTE.finditer(match.string, match.end(1), match.end()), _MOST_ATTRIBUTES, None), None)
    return f"<{match[1]}{'/' * match[0].endswith('/>')}>" if beyond else match[0]


def _without_depth(source: str) -> str:
    """Drop the tags of formats and blocks that lie too deep: <br> stands for a block's."""
    opened: Counter[str] = Counter()
    total = {True: 0, False: 0}
    deepest = {True: 0, False: 0}
    for closing, form, block in _NESTING_NAME.findall(source.lower()):
        name, is_format = form or block, bool(form)
        if not closing:
            opened[name] += 1
            total[is_format] += 1
            deepest[is_format] = max(deepest[is_format], total[is_format])
        elif opened[name]:
            opened[name] -= 1
            total[is_format] -= 1
    return source if all(deepest[kind] <= most for kind, most in _MOST_OPEN.items()) else _shallow(source)


def _shallow(source: str) -> str:
    opened: Counter[str] = Counter()
    dropped: Counter[str] = Counter()
    total = {True: 0, False: 0}

    def keep(match: re.Match[str]) -> str:
        is_format = match[2] is not None
        name = (match[2] or match[3]).lower()
        if match[1]:
            if dropped[name]:
                dropped[name] -= 1
                return "" if is_format else "<br>"
            if opened[name]:
                opened[name] -= 1
                total[is_format] -= 1
            return match[0]
        if total[is_format] >= _MOST_OPEN[is_format]:
            dropped[name] += 1
            return "" if is_format else "<br>"
        opened[name] += 1
        total[is_format] += 1
        return match[0]

    return _NESTING.sub(keep, source)
