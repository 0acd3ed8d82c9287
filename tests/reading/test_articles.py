"""Saved web pages: the article is read, and what is around it is named."""

from __future__ import annotations

from pathlib import Path

import pytest

from nlb_retriever.reading.formats.html import read_html
from nlb_retriever.reading.limits import Limits

PROSE = "<p>The clock on the landing struck the hour, and nobody was awake to hear it but the cat.</p>"
ARTICLE = f"<article><h1>The Clock</h1>{PROSE * 3}</article>"


def read(body: str) -> tuple[str, list[str]]:
    draft = read_html(f'<html><body class="comments-open">{body}</body></html>'.encode(), Path("a.html"), Limits())
    return draft.text, draft.omissions.warnings()


@pytest.mark.parametrize(
    "around",
    [
        '<div id="cookie-notice"><p>We use cookies on this site.</p></div>',
        '<div id="comments"><h2>1 thought</h2><article><p>Great article, I think.</p></article></div>',
        "<div><h2>More from Ann</h2><p>Knots and boats of note.</p></div>",
    ],
)
def test_what_is_around_an_article_is_named(around: str) -> None:
    text, warnings = read(f"{around}<main>{ARTICLE}</main>")
    assert text == read(ARTICLE)[0]
    assert len(warnings) == 1
    assert "around the article (" in warnings[0]


@pytest.mark.parametrize(
    "body",
    [
        f"{ARTICLE}<article>{PROSE}</article>",
        f"{ARTICLE}<p>And the mouse.</p>{PROSE * 4}",
        f"<h1>Bells</h1><article>{PROSE * 3}</article><div>And the mouse.</div>",
        f"{ARTICLE}<table>{'<tr><td>bell</td><td>clock of the tower</td></tr>' * 40}</table>",
    ],
)
def test_a_page_of_more_than_one_article_is_read_whole(body: str) -> None:
    text, warnings = read(body)
    assert warnings == []
    assert text.startswith(("The Clock", "Bells"))
    assert len(text) > len(read(ARTICLE)[0])
