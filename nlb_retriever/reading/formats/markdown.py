"""Markdown to readable text: headings become sections, marks and link targets go."""

from __future__ import annotations

import re
import tomllib
from dataclasses import replace

from nlb_retriever.reading.authors import join_authors
from nlb_retriever.reading.decode import decode
from nlb_retriever.reading.draft import FRONT, Draft, Heading, clean, one_line, title_of
from nlb_retriever.reading.formats.html import html_to_text
from nlb_retriever.reading.headings.outline import add_unmarked, find_headings
from nlb_retriever.reading.limits import Limits
from nlb_retriever.reading.markup.commonmark import make_parser, note_code_words, prepare, without_attributes
from nlb_retriever.reading.markup.directives import without_directives
from nlb_retriever.reading.markup.html_writer import HtmlText
from nlb_retriever.reading.markup.note_marks import without_note_marks
from nlb_retriever.reading.omissions import count_words

_FRONT_MATTER = re.compile(r"\ufeff?---[ \t]*\n(.{0,8000}?)\n(?:---|\.\.\.)[ \t]*(?:\n|\Z)", re.DOTALL)
_TOML = re.compile(r"\ufeff?\+\+\+[ \t]*\n(.{0,8000}?)\n\+\+\+[ \t]*(?:\n|\Z)", re.DOTALL)
"""Of Hugo and Zola."""
_YAML_LINE = re.compile(r"[ \t]*(?:$|#|[^\W\d][\w -]{0,40}:(?:[ \t]|$)|- )|[ \t]+\S")
_LOWER_KEY = re.compile(r"^[a-z_][\w-]*:(?:[ \t]|$)", re.MULTILINE)
"""One at least is so in front matter: "HAMLET: To be" is a speech."""
_PAIR = re.compile(r"""^(title|authors?|language|lang|date|year):[ \t]*["']?(.*?)["']?[ \t]*$""", re.MULTILINE | re.I)
_AUTHORS = re.compile(
    r"^(?:authors?|creators?):[ \t]*\n((?:[ \t]*-[ \t][^\n]*(?:\n(?![ \t]*-[ \t])[ \t]+[^\n]*)*\n?)+)", re.MULTILINE
)
_AUTHOR = re.compile(r"""^[ \t]*-[ \t]+(?:name:[ \t]*)?["']?([^\n:]+?)["']?[ \t]*$""", re.MULTILINE)
"""One of a list."""
_DESCRIPTION = re.compile(r"^description:[ \t]*(?:[>|][+-]?[ \t]*)?(.*(?:\n[ \t]+\S.*)*)", re.MULTILINE)
_JOPLIN = re.compile(r"(?:\A|\n\n)id: [0-9a-f]{32}\n(?:\w{1,40}:[^\n]*\n){5,60}type_: \d{1,2}\s*\Z")
_NAMED = re.compile(r"^\{[^{}]*?\bname:[ \t]*([^,{}]+)")
"""An author as a record in one line."""
_FIELD_HEADING = re.compile(r"(title|author|year|date|language|translator):\s*(.+)", re.IGNORECASE)
_YEAR = re.compile(r"\b(1\d{3}|20\d\d)\b(?!\s*(?:BC|B\.C))")
_LONGEST_LINE = 1_000_000
"""A line beyond this is no Markdown that anyone wrote: the file is read as plain text."""


def read_markdown(data: bytes, limits: Limits) -> Draft:
    """Read a Markdown file; its text is what a reader sees, without the marks.

    Raises:
        NotABook: the file is binary (message without the path).
    """
    source, note = decode(data)
    return draft_of_markdown(clean(source), Draft("", warnings=[note] if note else []))


def draft_of_markdown(source: str, draft: Draft) -> Draft:
    """A draft with the text and headings of clean Markdown."""
    source = _without_joplin_fields(_without_front_matter(source, draft), draft)
    if max(map(len, source.split("\n"))) > _LONGEST_LINE:
        draft.text, draft.headings = source, find_headings(source)
        return draft
    page = _render(source, draft)
    if page is None:
        draft.warnings.append("its Markdown is too deeply nested: it was read as plain text")
        draft.text, draft.headings = source, find_headings(source)
        return draft
    draft.text, draft.is_marked = page.text, True
    draft.omissions.add(page.omissions)
    draft.headings = [h for h in page.headings if not _is_field(draft, h)]
    own_title = title_of(draft.headings)
    draft.title = draft.title or own_title
    add_unmarked(draft)
    draft.append_notes(page.notes)
    if own_title and page.notes:
        draft.headings[-1] = replace(draft.headings[-1], level=2)
    draft.headings = [replace(h, title=h.title.strip(" .")) for h in draft.headings]
    return draft


def _render(source: str, draft: Draft) -> HtmlText | None:
    """The text that Markdown stands for; None where it is nested too deeply for the parser."""
    parser = make_parser()
    try:
        source = without_attributes(without_directives(source, draft.omissions), draft.omissions)
        source = without_note_marks(source, draft.omissions)
        tokens = parser.parse(prepare(source))
        note_code_words(tokens, draft.omissions)
        html = parser.renderer.render(tokens, parser.options, {})
    except RecursionError:
        return None
    page = html_to_text(html)
    return page if page.text.strip() else html_to_text(html, everything=True)


def _without_front_matter(source: str, draft: Draft) -> str:
    """Take what the front says about the book; gives the text behind it, or where there is none YAML itself."""
    if toml := _TOML.match(source):
        return _without_toml(source, toml, draft)
    front = _FRONT_MATTER.match(source)
    if not front or not all(map(_YAML_LINE.match, front[1].split("\n"))) or not _LOWER_KEY.search(front[1]):
        return source
    for name, value in _PAIR.findall(front[1]):
        _set(draft, name, value)
    if authors := _AUTHORS.search(front[1]):
        _set(draft, "authors", join_authors(_AUTHOR.findall(authors[1])) or "")
    if described := _DESCRIPTION.search(front[1]):
        draft.description = described[1].strip().strip("\"'")
    if not (text := source[front.end() :]).strip():
        return front[1].replace("\n", "  \n")
    draft.omissions.skip("front matter", count_words(front[1]))
    return text


def _without_toml(source: str, front: re.Match[str], draft: Draft) -> str:
    try:
        fields = tomllib.loads(front[1])
    except ValueError:  # not only TOML's: a number may be too long
        return source
    extra = fields.get("extra")
    for name, value in {**fields, **(extra if isinstance(extra, dict) else {})}.items():
        if name in {"title", "author", "authors", "language", "date", "year"}:
            _set(draft, name, join_authors(map(str, value)) or "" if isinstance(value, list) else str(value))
    draft.description = draft.description or str(fields.get("description") or "") or None
    draft.omissions.skip("front matter", count_words(front[1]))
    return source[front.end() :]


def _without_joplin_fields(source: str, draft: Draft) -> str:
    """The text of a note as Joplin exports it raw, with its title in the first line and its fields in the last ones."""
    fields = _JOPLIN.search(source)
    if not fields:
        return source
    draft.omissions.skip("fields of Joplin", count_words(fields[0]))
    title, _, text = source[: fields.start()].partition("\n\n")
    if not text.strip() or "\n" in title:
        return source[: fields.start()]
    draft.title = draft.title or one_line(title)
    return f"# {title}\n\n{text}"


def _is_field(draft: Draft, heading: Heading) -> bool:
    """Headings such as "Author: H. G. Wells" at the front are about the book, not in it."""
    match = _FIELD_HEADING.fullmatch(heading.title) if heading.start < FRONT else None
    if match:
        _set(draft, match[1], match[2])
    return match is not None


def _set(draft: Draft, name: str, value: str) -> None:
    value = one_line(value)
    match name.lower():
        case "title":
            draft.title = draft.title or value or None
        case "author" | "authors":
            named = _NAMED.search(value)
            draft.author = draft.author or (named[1].strip(" \"'") if named else value.strip("[]")) or None
        case "language" | "lang":
            draft.language = draft.language or value or None
        case "date" | "year":
            if year := _YEAR.search(value):
                draft.year = draft.year or int(year[1])
