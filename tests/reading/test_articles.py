"""Saved web pages: the article is read, and what is around it is named."""

from __future__ import annotations

from pathlib import Path

import pytest

from nlb_retriever.reading import read_book
from nlb_retriever.reading.formats.html import read_html
from nlb_retriever.reading.limits import Limits

PROSE = "<p>The clock on the landing struck the hour, and nobody was awake to hear it but the cat.</p>"
ARTICLE = f"<article><h1>The Clock</h1>{PROSE * 3}</article>"


def read(body: str) -> tuple[str, list[str]]:
    draft = read_html(f'<html><body class="comments-open">{body}</body></html>'.encode(), Limits())
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


@pytest.mark.parametrize(
    "main", ["<main role='main'>{}</main>", '<div role="main">{}</div>', "<main><article>{}</article></main>"]
)
def test_what_is_around_the_main_part_is_named(main: str) -> None:
    page = "<h1>The Clock</h1><dl><dt>bell</dt><dd>Of the tower.</dd></dl>"
    notice = "<div><h2>Keyboard shortcuts</h2><p>We use cookies. The sale ends.</p></div>"
    text, warnings = read(f"{notice}{main.format(page)}<footer>Made with care.</footer>")
    assert text == "The Clock\n\nbell\nOf the tower."
    assert warnings == ["boilerplate skipped: around the article (11 words)"]


def test_the_title_of_a_book_of_pages_is_no_part_of_each() -> None:
    assert read("<h1>Clocks</h1><main><h2>Bells</h2><p>Of bronze.</p></main>")[0] == "Bells\n\nOf bronze."


def test_marks_of_links_to_places_are_no_text() -> None:
    signature = '<dt id="ring">ring(<b>bell</b>)<a class="headerlink" href="#ring">\uf0c1</a></dt>'
    text, _ = read(f'<h1>Bells<a class="headerlink" href="#b">\uf0c1</a></h1><dl>{signature}</dl>')
    assert text == "Bells\n\nring(bell)"
    assert read('<p>Ring <a href="#ring">¶</a></p>')[0] == "Ring"


def test_titles_have_the_blanks_of_the_text() -> None:
    source = b"<h2>impl&lt;<a>T</a>&gt; Bell<wbr>Ringer</h2><p>Rings.</p><h2>Ropes</h2><p>Wet.</p>"
    draft = read_html(source, Limits())
    assert [heading.title for heading in draft.headings] == ["impl<T> BellRinger", "Ropes"]


def test_numbers_of_lines_and_labels_of_tabs() -> None:
    code = '<table><tr><td class="linenos"><pre>1\n2</pre></td><td><pre>ring()\nstop()</pre></td></tr></table>'
    assert read(f"<div><label>Linux</label><label>Windows</label></div>{code}")[0] == "Linux Windows\n\nring()\nstop()"


@pytest.mark.parametrize(
    "start", ['<section id="footnotes" role="doc-endnotes">', '<div class="footnotes">', '<div class="footnote">']
)
def test_a_list_of_footnotes_is_no_part_of_the_last_section(start: str) -> None:
    notes = f'{start}<hr><ol><li id="n1"><p>Of bronze.</p></li></ol></{start[1:].split(maxsplit=1)[0]}>'
    source = f'<h1>Bells</h1><p>One is old.<sup><a href="#n1">1</a></sup></p><h2>Ropes</h2><p>Wet.</p>{notes}'
    draft = read_html(source.encode(), Limits())
    assert draft.text.strip() == "Bells\n\nOne is old.\n\nRopes\n\nWet.\n\nNotes\n\nOf bronze."
    assert draft.headings[-1].title == "Notes"


def test_a_note_that_is_no_list_stays_where_it_is() -> None:
    assert (
        read('<p>Bell.</p><div class="footnote"><p>Of bronze.</p></div><p>Rope.</p>')[0]
        == "Bell.\n\nOf bronze.\n\nRope."
    )


def test_all_authors_of_a_page_are_named() -> None:
    head = '<meta name="author" content="Ann Bell"><meta name="author" content="Tom Rope">'
    assert read_html(f"{head}<p>Ring.</p>".encode(), Limits()).author == "Ann Bell, Tom Rope"


def test_the_short_text_below_a_title_of_a_site_is_cited_under_it(tmp_path: Path) -> None:
    page = "<h1>Bells</h1><p>Each bell of the tower is rung at six by the keeper.</p><h2>Ropes</h2><p>Of hemp.</p>"
    (tmp_path / "site.html").write_text(f"<main>{page}</main>")
    (tmp_path / "book.html").write_text(page.replace("Of hemp.", "They are of hemp. " * 300))
    assert [section.path for section in read_book(tmp_path / "site.html").sections] == [("Bells",), ("Bells", "Ropes")]
    assert len(read_book(tmp_path / "book.html").sections) == 1
