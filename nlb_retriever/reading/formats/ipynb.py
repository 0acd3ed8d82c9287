"""Jupyter notebooks: their Markdown as in Markdown files, their code, and what it printed."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator
from typing import Any

from nlb_retriever.errors import NotABook
from nlb_retriever.reading.authors import join_authors
from nlb_retriever.reading.decode import decode
from nlb_retriever.reading.draft import Draft, clean, one_line
from nlb_retriever.reading.formats.html import html_to_text
from nlb_retriever.reading.formats.markdown import draft_of_markdown
from nlb_retriever.reading.limits import Limits
from nlb_retriever.reading.omissions import Omissions, count_words

_COLOURS = re.compile(r"\x1b\[[\d;]{0,20}m")
_OBJECT = re.compile(r"\[?<[\w.]+[^<>\n]*(?:at 0x[\da-f]+|with \d+ Axes)[^<>\n]*>[,\]]?")
"""What Python says of an object, which tells nothing: "<Figure size 640x480 with 1 Axes>"."""
_FENCE = re.compile(r" {0,3}(`{3,}|~{3,})")
_TICKS = re.compile("`{3,}")


def read_ipynb(data: bytes, limits: Limits) -> Draft:
    """Read a notebook of nbformat 3 or 4.

    Raises:
        NotABook: it is none (message without the path).
    """
    source, note = decode(data)
    draft = Draft("", warnings=[note] if note else [])
    try:
        notebook = json.loads(source)
        sheets = notebook.get("worksheets") or [notebook]
        cells = [cell for sheet in sheets for cell in sheet["cells"]]
        about = notebook.get("metadata") or {}
        pieces = [clean(piece) for cell in cells for piece in _pieces(cell, draft.omissions)]
        draft.title = one_line(str(about.get("title") or about.get("name") or "")) or None
        authors = about.get("authors") or []
        draft.author = join_authors([one_line(str(each["name"])) for each in authors if each.get("name")])
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError) as error:
        raise NotABook("is no Jupyter notebook") from error
    draft = draft_of_markdown("\n\n".join(pieces), draft)
    draft.is_page = True
    return draft


def _pieces(cell: dict[str, Any], omissions: Omissions) -> Iterator[str]:
    """The Markdown of a cell and of what its code printed."""
    kind = cell["cell_type"]
    text = _joined(cell.get("source", cell.get("input", "")))
    if kind == "heading":  # of nbformat 3
        yield f"{'#' * int(cell.get('level', 1))} {one_line(text)}"
    elif kind == "code":
        yield _fenced(text)
        for output in cell.get("outputs") or ():
            yield from _of_output(output, omissions)
    else:
        yield _closed(text)


def _closed(text: str) -> str:
    """Markdown whose code ends within it."""
    fence = ""
    for line in text.split("\n"):
        match = _FENCE.match(line)
        if match and not fence:
            fence = match[1]
        elif match and match[1].startswith(fence) and not line[match.end() :].strip():
            fence = ""
    return f"{text}\n{fence}" if fence else text


def _of_output(output: dict[str, Any], omissions: Omissions) -> Iterator[str]:
    if output.get("output_type") in {"error", "pyerr"}:
        omissions.skip_element("traceback", sum(map(count_words, output.get("traceback") or ())))
        yield _fenced(f"{output.get('ename', '')}: {output.get('evalue', '')}")
        return
    content = output.get("data") or {
        "text/markdown": "", "text/html": output.get("html", ""), "text/plain": output.get("text", "")
    }  # fmt: skip
    if markdown := _joined(content.get("text/markdown") or ""):
        yield markdown
        return
    page, plain = _joined(content.get("text/html") or ""), _joined(content.get("text/plain") or "")
    if "<table" in page:
        plain = html_to_text(page).text
    elif page and not plain:
        plain = html_to_text(page, everything=True).text
    shown = _OBJECT.sub("", _COLOURS.sub("", plain))
    omissions.skip_element("object without text", count_words(plain) - count_words(shown))
    yield _fenced(shown)


def _joined(text: str | Iterable[str]) -> str:
    """Text that may be a list of its lines."""
    return text if isinstance(text, str) else "".join(text)


def _fenced(text: str) -> str:
    """Text as it stands, for Markdown; "" for none."""
    fence = max(["```", *(f"{ticks}`" for ticks in _TICKS.findall(text))], key=len)
    return f"{fence}\n{text.rstrip()}\n{fence}" if text.strip() else ""
