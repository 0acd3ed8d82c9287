"""HTML files: every word below the body is in the book, or a warning names what was left out and why."""

from __future__ import annotations

import re
from html import unescape
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from nlb_retriever.errors import NotABook
from nlb_retriever.reading import read_book
from nlb_retriever.records import Book

from .test_words_epub import paragraphs
from .words import assert_all_words, named_words, read_all_words, words_of

LAST = "<p>The last line of all.</p>"


def read(tmp_path: Path, source: str | bytes, words: str | None = None) -> Book:
    path = tmp_path / "a.html"
    path.write_bytes(source.encode() if isinstance(source, str) else source)
    return read_all_words(path, words)


def visible(body: str) -> str:
    """The words of a body: what is no tag, no closed comment and no code."""
    body = re.sub(r"<!--.*?-->|<(script|style|title)[^>]*>[^{]*?</\1>|<[!?][^>]*>", " ", body)
    body = re.sub(r"</?(?:b|i|a|span|o:p|st1:City|x-y|font|blink|nobr)(?=[\s>/])(?:[^>\"]|\"[^\"]*\")*>", "", body)
    return unescape(re.sub(r"<[a-zA-Z/][^>]*>?", " ", body))


@pytest.mark.parametrize(
    "body",
    [
        "<nav>{}</nav>",
        "<nav>{}",
        '<nav><ul><li><a href="a">Home</a></li><li><a href="b">Next</a></li></ul></nav>{}',
        "<select><option>One<option>Two</select>{}",
        "<button>Share</button><textarea>Write here</textarea>{}",
        "<button>{}</button>",
        "<textarea>{}",
        "<object data=x><p>A fallback text.</p></object>{}",
        "<video src=x>Your browser has no video.</video>{}",
        "<iframe src=x>No frames here.</iframe>{}",
        "<iframe>{}",
        "<noscript><p>Scripts are off.</p></noscript>{}",
        "<template><p>Template words.</p></template>{}",
        "<svg><title>Map</title><desc>Of an island</desc><text>Sea</text></svg>{}",
        "<ruby>base<rp>(</rp><rt>gloss</rt><rp>)</rp></ruby>{}",
        "<p hidden>Hidden words</p>{}",
        "<div hidden>{}</div>",
        "<!-- commented words -->{}",
        "<!-- open comment {}",
        "<!-- a -- b --!> words {}",
        "<!> words <!x> more <? pi words > {}",
        "<![CDATA[ words of it ]]>{}",
        "<style>p {{ color: red }}</style>{}",
        "<style>{}",
        "<script>var x</script><script>{}",
        "<script>// <!-- <script> </script> --></script>{}",
        "<title>Inside the body</title>{}",
        "<title>Open {}",
        "<xmp>raw <b>words</b></xmp>{}",
        "<plaintext>{}",
        "<noframes>{}</noframes>",
        "<frameset><frame src=x><noframes>{}</noframes></frameset>",
        "<table>Before<tr>Loose<td>cell</table>{}",
        "<table>{}",
        "<form><fieldset><legend>Legend</legend><label>Label <input value=x></label></fieldset>{}</form>",
        "<dl><dt>Term<dd>Meaning</dl>{}",
        "<center><font size=2>{}</font></center>",
        "<p>one<p>two<li>three<td>four{}",
        "<h1>Head<h2>Other</h1>{}",
        "<a href=x>{}",
        "<a name=x>{}</a>",
        '<a epub:type="noteref">{}</a>',
        '<span role="doc-pagebreak">{}</span>',
        '<span role="doc-pagebreak" aria-label="Page 3">3</span>{}',
        '<aside role="doc-footnote">{}</aside>',
        '<aside epub:type="footnote"><p>A note.</p></aside>{}',
        '<section class="pg-boilerplate">{}</section>',
        '<section id="pg-header"><p>The Project Gutenberg eBook of X</p></section>{}',
        '<div epub:type="titlepage">{}</div>',
        "<para>One</para><para>two</para><x-y>thr</x-y>ee {}",
        "<o:p>Word</o:p>s<st1:City>London</st1:City>{}",
        "<img alt='A map'>{}<hr><br>",
        "a < b and c > d & e &amp; f &unknown; &hellip; {}",
        "<p class='open {}",
        '<p title="it\'s">quoted</p>{}<p unended',
        "<p a=1 a=2 =3 <b>odd</b>{}",
        "</p></div></body></html>{}",
        "<body><body>{}</body><p>after</p>",
        "<html>{}</html>trailing words",
        "\x00{}\x00nul\x00l",
        "<math><mi>x</mi><mo>=</mo><mtext>words</mtext><annotation>TeX</annotation></math>{}",
        "<details><summary>Sum</summary>{}</details><dialog>Dialog</dialog>",
        "<marquee>moving</marquee><blink>on</blink><nobr>x</nobr>{}",
        "<p style='display:none'>Styled away</p>{}",
        "<image>{}</image>",
        "<span/>self <div/>closed <b/>{}",
        '<a title="x > y"/>{}',
        '<script src="a>b.js"/>{}',
    ],
)
@pytest.mark.parametrize("head", ["<!DOCTYPE html><html><head><title>The Clock</title></head><body>", ""])
def test_words_in_odd_markup_are_kept(tmp_path: Path, head: str, body: str) -> None:
    body = body.replace("{{", "(").replace("}}", ")")
    book = read(tmp_path, head + body.replace("{}", paragraphs(60) + LAST), visible(body))
    assert_all_words(" ".join(f"river{i} noriver{i} light" for i in range(1, 60)), book)
    assert book.text.count("He came to river") >= 59
    assert "The last line of all." in book.text


def test_an_end_tag_that_is_missing_in_the_head_swallows_nothing(tmp_path: Path) -> None:
    for tag in ("title", "style", "script", "noscript", "template"):
        source = f"<html><head><{tag}></head><body>{paragraphs(20)}{LAST}</body></html>"
        book = read(tmp_path, source, paragraphs(20).replace("<p>", " ").replace("</p>", " "))
        assert "The last line of all." in book.text


def test_menus_and_buttons_go_and_are_named(tmp_path: Path) -> None:
    menu = "".join(f'<li><a href="{i}">Chapter {i}</a></li>' for i in range(30))
    book = read(tmp_path, f"<nav><ul>{menu}</ul></nav><button>Share</button>{paragraphs(20)}")
    assert "Chapter 3" not in book.text
    assert "Share" not in book.text
    assert named_words(book.warnings) == 61


GUTENBERG = (
    '<section id="pg-header"><h2>The Project Gutenberg eBook of The Clock</h2><p>This ebook is for the use of anyone '
    "anywhere.</p><p>*** START OF THE PROJECT GUTENBERG EBOOK THE CLOCK ***</p></section>{}"
    '<section id="pg-footer"><p>*** END OF THE PROJECT GUTENBERG EBOOK THE CLOCK ***</p><p>Section 1. General Terms of '
    "Use and Redistributing Project Gutenberg™ electronic works</p></section>"
)


def test_the_gutenberg_wrapper_of_a_page_goes_and_is_named(tmp_path: Path) -> None:
    book = read(tmp_path, GUTENBERG.format(paragraphs(20)))
    assert "Project Gutenberg" not in book.text
    assert named_words(book.warnings) == len(words_of(visible(GUTENBERG.format(""))))


SAMPLES = {
    "gbk": "中文的书籍里有很多词", "gb18030": "中文的书籍里有很多词", "cp932": "日本語の本を読む①",
    "cp949": "한국어 책을 읽다 똠방각하", "cp1254": "İstanbul’da ığdır şöyle", "cp1252": "L’été, “déjà vu” – naïve",
    "shift_jis": "日本語の本を読む", "big5": "中文書籍", "koi8-r": "Привет мир",
}  # fmt: skip


@pytest.mark.parametrize(
    ("declared", "encoding"),
    [
        ("utf-16", "utf-8"), ("utf-7", "utf-8"), ("iso-8859-1", "utf-8"), ("windows-1252", "utf-8"), ("gb2312", "gbk"),
        ("gb2312", "gb18030"), ("shift_jis", "cp932"), ("euc-kr", "cp949"), ("iso-8859-9", "cp1254"),
        ("us-ascii", "cp1252"), ("unicode-1-1-utf-8", "utf-8"), ("x-sjis", "shift_jis"), ("big5", "big5"),
        ("utf-8", "cp1252"), ("utf8", "utf-8"), ("none", "utf-8"), ("unicode_escape", "utf-8"), ("rot13", "utf-8"),
        ("utf-16", "utf-16"), ("utf-8", "utf-16"), ("koi8-r", "koi8-r"), ("idna", "utf-8"), ("utf-8-sig", "utf-8"),
    ],
)  # fmt: skip
def test_the_words_survive_a_wrong_or_loose_declaration(tmp_path: Path, declared: str, encoding: str) -> None:
    words = SAMPLES.get(encoding, "L’été, “déjà vu” — naïve")
    source = f'<html><head><meta charset="{declared}"></head><body><p>{words}</p>{paragraphs(30)}</body></html>'
    assert words in read(tmp_path, source.encode(encoding), words).text


_TAGS = (
    "p b i a div span nav td tr table li ul h1 h2 style script object template select title svg ruby rt q x-y".split()
)
_ATOM = st.one_of(
    st.sampled_from([f"<{tag}>" for tag in _TAGS] + [f"</{tag}>" for tag in _TAGS] + [f"<{tag}/>" for tag in _TAGS]),
    st.sampled_from(["word", "word", "word", " ", " ", "<!-- c -->", "<br>", "&amp;", "<p class=x>", "<p hidden>"]),
    st.sampled_from(['<a epub:type="noteref">', '<i role="doc-pagebreak">', "<aside epub:type=footnote>", "</aside>"]),
)


@settings(max_examples=400, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.lists(_ATOM, max_size=40))
def test_any_mix_of_tags_and_words_keeps_the_words(tmp_path: Path, atoms: list[str]) -> None:
    numbered = [f" word{i} " if atom == "word" else atom for i, atom in enumerate(atoms)]
    source = "".join(numbered)
    visible = " ".join(atom for atom in numbered if atom.startswith(" word"))
    for tag in ("script", "style", "title"):  # what these enclose is code, or the page's name
        while f"<{tag}>" in source and f"</{tag}>" in source[source.index(f"<{tag}>") :]:
            start = source.index(f"<{tag}>")
            end = source.index(f"</{tag}>", start) + len(tag) + 3
            for word in source[start:end].split():
                visible = " ".join(w for w in visible.split() if w != word)
            source = source[:start] + "<i></i>" + source[end:]
    path = tmp_path / "a.html"
    path.write_text("".join(numbered) + "<p>last words", "utf-8")
    try:
        book = read_book(path)
    except NotABook:
        assert not visible.strip()
        return
    assert_all_words(visible + " last words", book)


def test_a_hundred_thousand_nested_elements_are_read_at_once(tmp_path: Path) -> None:
    for tag in ("div", "span", "b", "ul><li", "table><tr><td", "font color=red", "blockquote", "a href=x"):
        source = f"<p>Before</p>{f'<{tag}>' * 100_000}deep words{'</' + tag.split()[0].split('>')[0] + '>'}<p>After</p>"
        book = read(tmp_path, source, "Before deep words After")
        assert book.text.split() == ["Before", "deep", "words", "After"]
