"""HTML and Markdown: readable text, headings as sections, no marks left over."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from nlb_retriever.errors import NotABook
from nlb_retriever.reading import read_book
from nlb_retriever.reading.formats.html import html_to_text
from nlb_retriever.reading.markup.repair import make_safe
from nlb_retriever.reading.omissions import Omissions
from nlb_retriever.records import Book

from .conftest import SENTENCE

LONG = SENTENCE * 5


def read(tmp_path: Path, name: str, content: str | bytes) -> Book:
    path = tmp_path / name
    path.write_bytes(content.encode() if isinstance(content, str) else content)
    return read_book(path)


def test_html_headings_become_a_tree_and_scripts_go(tmp_path: Path) -> None:
    source = (
        '<!DOCTYPE html><html lang="en-GB"><head><title>The Clock</title>'
        '<meta name="author" content="Ann Author"><style>p {color: red}</style></head><body>'
        "<nav><a href=x>Menu</a></nav>"
        f"<h1>The Clock</h1><script>alert(1)</script><h2>Part One</h2><h3>Door</h3><p>{LONG}</p>"
        f"<h3>Stair</h3><p>{LONG}</p><h2>Part Two</h2><p>{LONG}</p></body></html>"
    )
    book = read(tmp_path, "a.html", source)
    assert (book.title, book.author, book.language) == ("The Clock", "Ann Author", "en-GB")
    assert [s.path for s in book.sections] == [("Part One", "Door"), ("Part One", "Stair"), ("Part Two",)]
    assert not any(word in book.text for word in ("alert", "color", "Menu"))


def test_blocks_are_paragraphs_and_inline_tags_are_not() -> None:
    page = html_to_text("<p>A <b>bold</b>\n  word.</p><p>line<br>two</p><ul><li>x</li><li>y</li></ul><pre>a\n  b</pre>")
    assert page.text == "A bold word.\n\nline\ntwo\n\nx\ny\n\na\n  b"


def test_the_declared_encoding_of_html_is_used(tmp_path: Path) -> None:
    source = '<meta http-equiv="Content-Type" content="text/html; charset=windows-1251"><p>Привет, мир'
    book = read(tmp_path, "a.htm", source.encode("cp1251"))
    assert book.text == "Привет, мир"
    assert book.warnings == ()


def test_links_to_a_heading_are_none_of_its_title(tmp_path: Path) -> None:
    source = (
        "<html><head><title>Net</title></head><body>"
        f'<h2>Sockets<span><a class="mark" href="#s">#</a></span></h2><p>{LONG} # 4</p>'
        f"<h2><b>#</b> 7</h2><p>{LONG}</p>"
        f'<h2>D#<a class="headerlink" href="#c">¶</a></h2><p>{LONG}</p></body></html>'
    )
    book = read(tmp_path, "a.html", source)
    assert [s.path for s in book.sections] == [("Sockets",), ("# 7",), ("D#",)]
    assert "# 4" in book.text


def test_html_without_headings_uses_its_chapter_lines(tmp_path: Path) -> None:
    body = "".join(f"<p><b>CHAPTER {n}</b></p><p>{LONG}</p>" for n in ("I", "II", "III"))
    assert [s.path[0] for s in read(tmp_path, "a.html", body).sections] == ["CHAPTER I", "CHAPTER II", "CHAPTER III"]


@pytest.mark.parametrize(
    ("name", "title", "line", "note"),
    [
        ("salt.html", "<h1>The Salt Road</h1>", "<p>{}</p>\n", '<aside epub:type="footnote"><p>1 A boat.</p></aside>'),
        ("salt.md", "# The Salt Road\n\nAda[^1] left.\n\n", "{}\n\n", "[^1]: A boat.\n"),
    ],
)
def test_chapter_lines_are_found_beside_a_title_and_footnotes(
    tmp_path: Path, name: str, title: str, line: str, note: str
) -> None:
    chapters = (f"CHAPTER {number}" for number in ("I", "II", "III"))
    body = "".join(line.format(each) for chapter in chapters for each in (chapter, *[SENTENCE] * 30))
    (tmp_path / name).write_text(f"{title}{body}{note}")
    titles = [section.path[-1] for section in read_book(tmp_path / name).sections]
    assert titles == ["CHAPTER I", "CHAPTER II", "CHAPTER III", "Notes"]


def test_very_many_attributes_of_a_tag_are_dropped() -> None:
    many = " ".join(f'a{number}="{number}"' for number in range(40_000))
    source = f'<p {many}>The lamp.</p><p/ {many}/><p {many}>The <b class="{"x y " * 9_000}">bell</b>.</p>'
    assert "a39999" not in make_safe(source, Omissions())
    assert html_to_text(source).text == "The lamp.\n\nThe bell."


def test_deep_nesting_is_no_recursion() -> None:
    assert html_to_text("<div>" * 20_000 + "deep" + "</div>" * 20_000).text == "deep"


@settings(max_examples=200, deadline=None)
@given(st.text(alphabet="<>/ab h1p&;\"'=!-[]", max_size=120))
def test_any_markup_gives_sound_text(source: str) -> None:
    page = html_to_text(source)
    page.text.encode()
    assert all(0 <= h.start <= len(page.text) for h in page.headings)
    assert all(0 <= offset <= len(page.text) for offset in page.anchors.values())


def test_markdown_reads_without_its_marks(tmp_path: Path) -> None:
    source = (
        '---\ntitle: The Clock\nauthor: "Ann Author"\nlanguage: en\nyear: 1901\n---\n\nCHAPTER ONE\n===========\n\n'
        f"He *really* liked the [clock](http://x.y/z) and `code`. {LONG}\n\n"
        f"```\n# not a heading\n```\n\n## Stair ##\n\n{LONG}\n\n# Two\n\n{LONG}"
    )
    book = read(tmp_path, "a.md", source)
    assert (book.title, book.author, book.language, book.year) == ("The Clock", "Ann Author", "en", 1901)
    assert [s.path for s in book.sections] == [("CHAPTER ONE",), ("CHAPTER ONE", "Stair"), ("Two",)]
    assert "He really liked the clock and code." in book.text
    assert "# not a heading" in book.text
    assert "http" not in book.text


def test_a_lone_first_heading_is_the_title(tmp_path: Path) -> None:
    book = read(tmp_path, "a.md", f"# The Clock\n\n## Door\n\n{LONG}\n\n## Stair\n\n{LONG}\n\n## Bell\n\n{LONG}")
    assert book.title == "The Clock"
    assert [s.path for s in book.sections] == [("Door",), ("Stair",), ("Bell",)]


@pytest.mark.parametrize(
    ("name", "content", "title"),
    [
        ("a.md", "# The Clock\n\nTick.\n", "The Clock"),
        ("a.html", "<h1>The Clock</h1><p>Tick.</p>", "The Clock"),
        ("a.html", "<h1>The Clock</h1><h2>One</h2><p>Tick.</p><h2>Two</h2><p>Tock.</p>", "The Clock"),
        ("a.html", "<title>Clocks</title><h1>The Clock</h1><p>Tick.</p>", "Clocks"),
        ("a.html", "<h1>The Clock</h1><p>Tick.</p><h1>The Lamp</h1><p>Light.</p>", "A"),
        ("a.html", "<h2>Menu</h2><h1>The Clock</h1><p>Tick.</p>", "A"),
        ("a.md", "Tick, tock. " * 100 + "\n\n# The End\n", "A"),
    ],
)
def test_the_only_outermost_heading_at_the_front_is_the_title(
    tmp_path: Path, name: str, content: str, title: str
) -> None:
    book = read(tmp_path, name, content)
    assert book.title == title
    assert "Tick" in book.text
    assert "".join(book.text[section.start : section.end] for section in book.sections) == book.text


def test_an_empty_page_is_no_book(tmp_path: Path) -> None:
    with pytest.raises(NotABook, match="holds no text"):
        read(tmp_path, "a.html", "<html><body><script>x</script></body></html>")


def test_real_markdown_books_have_their_chapters(data_dir: Path) -> None:
    republic = read_book(data_dir / "library" / "republic.md")
    assert (republic.title, republic.author) == ("The Republic", "Plato")
    assert [s.path for s in republic.sections] == [(f"BOOK {n}",) for n in "I II III IV V VI VII VIII IX X".split()]
    invisible = read_book(data_dir / "library" / "invisible-man.md")
    assert (invisible.title, invisible.year, len(invisible.sections)) == ("The Invisible Man", 1897, 29)
    assert invisible.sections[-1].path == ("THE EPILOGUE",)


def test_an_authors_address_is_no_name(tmp_path: Path) -> None:
    path = tmp_path / "manual.md"
    path.write_text(
        "---\ntitle: The Manual\nauthor: Live Project <live@example.org>\n---\n\nOil the lamp.", encoding="utf-8"
    )
    assert read_book(path).author == "Live Project"


@pytest.mark.parametrize(
    ("words", "text"),
    [(["The", "old", "clock"], "The old clock"), (["The ", "o", "ld ", "clock"], "The old clock"), (["T"], "Times")],
)
def test_words_with_a_place_each_are_apart(words: list[str], text: str) -> None:
    spans = "".join(f'<span style="position:absolute;left:{i}px">{word}</span>' for i, word in enumerate(words))
    assert html_to_text(f"<div>{spans}{'imes' if len(words) == 1 else ''}</div>").text == text


def test_lines_of_coloured_code_stay_apart() -> None:
    code = (
        "<pre><span>def f(x):</span>\n    <span>return</span> x\n<span>a</span> = 1\n<span>b</span>\n</pre><p>End.</p>"
    )
    assert html_to_text(code).text == "def f(x):\n    return x\na = 1\nb\n\nEnd."


def test_a_formula_comes_once_and_links_to_edit_do_not() -> None:
    formula = (
        '<span class="katex"><math><semantics><mi>E</mi><annotation encoding="application/x-tex">E = mc^2</annotation>'
        '</semantics></math><span class="katex-html" aria-hidden="true">E</span></span>'
    )
    page = html_to_text(
        f'<h2>History<span class="mw-editsection">[<a href="#">edit</a>]</span></h2><p>Energy is {formula}.</p>'
    )
    assert page.text == "History\n\nEnergy is E."
    assert [heading.title for heading in page.headings] == ["History"]


def test_attributes_of_pandoc_are_no_text_and_authors_may_be_a_list(tmp_path: Path) -> None:
    text = f"{SENTENCE * 6}\n\n"
    book = read(
        tmp_path,
        "b.md",
        "---\ntitle: Lamps\nauthor:\n  - Ann Harrow\n  - name: John Finch\n    email: x\n---\n"
        f"# The Tower {{#tower}}\n\n{text}::: {{.callout-note}}\n{text}:::\n\nNight {{.unnumbered}}\n------\n\n"
        f"{text}## Day {{-}}\n\n{text}",
    )
    assert (book.title, book.author) == ("Lamps", "Ann Harrow, John Finch")
    assert [section.path[-1] for section in book.sections] == ["The Tower", "Night", "Day"]
    assert "{" not in book.text
    assert ":::" not in book.text
    assert any("3 attributes" in warning for warning in book.warnings)


def test_braces_in_text_and_code_are_kept(tmp_path: Path) -> None:
    book = read(tmp_path, "b.md", f"# Sets\n\nThe set {{1, 2}} and\n\n    x = {{.a}}\n\n{SENTENCE}")
    assert "{1, 2}" in book.text
    assert "{.a}" in book.text
