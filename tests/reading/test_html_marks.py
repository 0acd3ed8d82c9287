"""Page numbers, marks of notes and dropped capitals of Project Gutenberg's, Wikipedia's and other pages."""

from __future__ import annotations

import pytest

from nlb_retriever.reading.formats.html import html_to_text


@pytest.mark.parametrize(
    ("number", "label"),
    [
        ('<span class="pagenum"><a id="Page_3">[Pg 3]</a></span>', "3"),
        ('<span class="pagenum" id="p4">{4}</span>', "4"),
        ('<span class="pageno" title="5"></span>', "5"),
        ('<span class="x-ebookmaker-pageno" id="Page_vi" title="vi"></span>', "vi"),
        ('<span class="pagenum ws-pagenum" id="84"><span>[<a>84</a>]</span></span>', "84"),
    ],
)
def test_page_numbers_within_words_are_page_breaks(number: str, label: str) -> None:
    page = html_to_text(f"<p>The boat had a bro{number}ken mast.</p>")
    assert page.text == "The boat had a broken mast."
    assert page.pages == [(18, label)]
    assert html_to_text(f"<p>It is {number}mine.</p>").text == "It is mine."


def test_links_to_page_numbers_still_lead_there() -> None:
    page = html_to_text('<p>One.</p><p><span class="pagenum"><a id="Page_3">[Pg 3]</a></span>Two.</p>')
    assert page.anchors == {"Page_3": 6}


@pytest.mark.parametrize(
    "mark",
    [
        '<a href="#f1" class="fnanchor">[A]</a>', '<a href="notes.xhtml#f2"><sup>12</sup></a>',
        '<a href="#n" class="noteref">7</a>',
        '<sup>[<a href="#n">*</a>]</sup>', '<sup><a href="#n">1</a>,<a href="#m">2</a></sup>',
        '<sup class="reference"><a href="#cite_note-1">[note 1]</a></sup>',
        '<sup class="noprint">[<i>citation needed</i>]</sup>',
    ],
)  # fmt: skip
def test_marks_of_notes_are_no_text(mark: str) -> None:
    page = html_to_text(f"<p>The lamp was lit.{mark} It was dark.</p>")
    assert page.text == "The lamp was lit. It was dark."
    assert len(page.omissions.warnings()) == (mark.find("*") < 0)  # words are counted


@pytest.mark.parametrize(
    ("body", "text"),
    [
        ('<p>10<sup>2</sup> and <a href="a.html"><sup>3</sup></a></p>', "10² and 3"),
        ('<p><a href="#r1"><sup>1</sup></a> It was not.</p>', "1 It was not."),
        ('<p>In the beginning. <sup><a href="#v2">2</a></sup>And the earth.</p>', "In the beginning. 2And the earth."),
        ('<p>See<a href="#t"><sup>th</sup></a></p>', "Seeth"),
        ('<p>As <a class="reference internal" href="#x">the guide</a> says.</p>', "As the guide says."),
    ],
)
def test_other_raised_text_and_links_are_kept(body: str, text: str) -> None:
    assert html_to_text(body).text == text


@pytest.mark.parametrize(
    ("body", "text"),
    [
        ('<p><img alt="O"><span>nce</span> upon a time.</p>', "Once upon a time."),
        ('<p>One.</p><p><span><img alt="T"/></span>he tower fell.</p>', "One.\n\nThe tower fell."),
        ('<p><img alt="A"> tower fell.</p>', "tower fell."),
        ('<p><img alt="o">ne</p>', "ne"),
        ('<p>It was <img alt="X">mas.</p>', "It was mas."),
        ('<p><img alt="T"></p><p>he tower</p>', "he tower"),
        ('<p><img alt="The"> tower</p>', "tower"),
    ],
)
def test_an_image_of_a_words_first_letter_is_that_letter(body: str, text: str) -> None:
    assert html_to_text(body).text == text


def test_what_wikipedia_prints_nowhere_is_skipped_and_named() -> None:
    body = (
        '<p>The bell tolled.</p><div class="printfooter">Retrieved from "a"</div><div class="catlinks">Bells</div>'
        '<div class="navbox"><table><tr><th>Bells of Scotland</th></tr></table></div>'
        '<p>Chill it was;<span class="linenum">5</span></p>'
    )
    page = html_to_text(body)
    assert page.text == "The bell tolled.\n\nChill it was;"
    assert page.omissions.elements == {"menu": (3, 7), "line number": (1, 1)}


def test_very_deep_raised_text_takes_no_time() -> None:
    page = html_to_text(f"<p>y{'<sup>a' * 20_000}<a href='#a'>1</a></p>")
    assert page.text.startswith("yaaa")
    assert len(page.text) > 20_000


def test_what_a_style_hides_is_skipped_and_named() -> None:
    math = '<span style="display: none"><math><mi>x</mi></math></span>'
    page = html_to_text(
        '<p>The work takes <span style="color:red;Display : NONE">ninety</span> forty days.</p>'
        f'<p style="display:none">The reserve price is 71,000.</p><h2 style="display:none">Terms</h2>{math}'
    )
    assert page.text == "The work takes forty days.\n\nTerms\n\nx"
    assert page.omissions.warnings() == ["boilerplate skipped: 2 hidden elements (7 words)"]


def test_deleted_text_is_skipped_and_named() -> None:
    page = html_to_text("<p>The deposit is <del>500</del> <ins>800</ins> pounds<del>, or <b>more</b></del>.</p>")
    assert page.text == "The deposit is 800 pounds."
    assert page.omissions.warnings() == ["boilerplate skipped: 2 deleted stretches (3 words)"]
