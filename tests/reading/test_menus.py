"""Menus and tables of contents of HTML pages, which their names tell."""

from __future__ import annotations

import pytest

from nlb_retriever.reading.formats.html import html_to_text, read_html
from nlb_retriever.reading.limits import Limits

LINKS = "".join(f'<li><a href="c{i}.html">{i}. The bells of tower {i}</a></li>' for i in range(1, 9))
PROSE = "<p>The clock on the landing struck the hour, and nobody was awake to hear it but the cat on the stairs.</p>"


def skipped(body: str) -> dict[str, tuple[int, int]]:
    return html_to_text(f"<html><body>{body}{PROSE}</body></html>").omissions.elements


@pytest.mark.parametrize(
    "start",
    [
        '<div class="toc">', '<ul class="section-toc">', '<div id="table-of-contents">', '<dl class="toc">',
        '<div class="toctree-wrapper compound">', '<div class="index-cp">', '<div class="related">',
        '<div class="SEC_Contents">', '<div class="fancy_toc">', '<div class="header">',
    ],
)  # fmt: skip
def test_a_list_of_links_is_skipped_where_it_is_called_so(start: str) -> None:
    body = f"{start}<ul>{LINKS}</ul></{start[1:].split(maxsplit=1)[0]}>"
    assert skipped(body) == {"link list": (1, 48)}
    assert skipped(body.replace("class", "data-kind").replace("id=", "data-id=")) == {}


@pytest.mark.parametrize(
    "name",
    ["navheader", "docnav top", "nav", "navbar", "menu mainmenu", "breadcrumb", "sphinxsidebar", "this-page-menu"],
)
def test_a_menu_may_have_a_few_words_besides(name: str) -> None:
    body = f'<div class="{name}">Chapter 2. The bells of the old tower <a href="a">Prev</a> <a href="b">Next</a></div>'
    assert skipped(body) == {"menu": (1, 10)}
    assert skipped(f'<div class="{name}">{PROSE * 3}<a href="a">Prev</a></div>') == {}


@pytest.mark.parametrize(
    "body",
    [
        f'<div class="contents">{PROSE}<ul>{LINKS[:200]}</a></li></ul></div>',
        '<div class="toc"><p>Bells and clocks</p></div>',
        f'<div class="table-contents"><ul>{LINKS}</ul></div>',
        f'<div class="protocol"><ul>{LINKS}</ul></div>',
        '<div class="sidebar"><p>Wind it, as <a href="c1.html">said</a>, at six o’clock in the evening.</p></div>',
        '<div class="menu"><p>Soup of the day, roast beef, plum pudding.</p></div>',
        f'<div class="navigator"><ul>{LINKS}</ul></div>',
        f'<span class="toc">{LINKS}</span>',
    ],
)
def test_other_text_is_kept(body: str) -> None:
    assert skipped(body) == {}


def test_a_page_of_nothing_else_keeps_it() -> None:
    page = f'<html><body><div class="toc"><ul>{LINKS}</ul></div></body></html>'
    assert "The bells of tower 3" in read_html(page.encode(), Limits()).text


def test_very_long_names_take_no_time() -> None:
    for name in ("_" * 100_000, "side_" * 20_000, "menu" * 25_000):
        assert skipped(f'<div class="{name}" id="{name}">{PROSE}</div>') == {}
