"""Markdown: every word of a file is in the book, or a warning names what was left out and why."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from nlb_retriever.errors import NotABook
from nlb_retriever.reading import read_book
from nlb_retriever.reading.markup.note_marks import without_note_marks
from nlb_retriever.reading.omissions import Omissions
from nlb_retriever.records import Book

from .words import assert_all_words, named_words, read_all_words, text_of_file

STORY = "\n\n".join(f"He came to river{i} and saw no{i} in the light of it." for i in range(20))


def read(tmp_path: Path, source: str, words: str | None = None) -> Book:
    path = tmp_path / "a.md"
    path.write_text(source, "utf-8")
    return read_all_words(path, words)


@pytest.mark.parametrize(
    "start",
    [
        "---\n\n{}\n\n---\n\nThen it ended.",
        "---\n{}\n---\nThen it ended.",
        "---\nHAMLET: To be, or not to be.\nOPHELIA: Good my lord.\n---\n\n{}",
        "---\nNote: this is all that he wrote: nothing.\n\n{}\n---\n",
        "---\nDate: he never came.\n{}\n\n...\n\nEnd.",
        "----\n{}\n----\n",
        "---\n---\n{}",
        "+++\nHe came.\n+++\n\n{}",
        "***\n{}\n***\n",
    ],
)
def test_text_between_rules_at_the_start_is_no_front_matter(tmp_path: Path, start: str) -> None:
    book = read(tmp_path, start.format(STORY))
    assert book.text.count("He came to river") == 20
    assert named_words(book.warnings) == 0


@pytest.mark.parametrize(
    "front",
    [
        'title: The Clock\nauthor: "Ann Author"\n',
        "title: The Clock\ntags:\n  - time\n  - clocks\n\ndescription: >\n  A long story\n  of a clock.\n",
        "# made by pandoc\ntitle: 'The Clock'\nauthor:\n- Ann Author\n- Ben Author\n",
        "title: The Clock\nauthor: [Ann Author, Ben Author]\nrights: © 1999, all of them\n",
        "tags:\n  - time\nRating: 5\nDate Read: 2024-03-14\nTitle: The Clock\n",
    ],
)
def test_front_matter_goes_and_is_named(tmp_path: Path, front: str) -> None:
    book = read(tmp_path, f"---\n{front}---\n\n{STORY}")
    assert book.title == "The Clock"
    assert book.text.startswith("He came")
    assert named_words(book.warnings) > 0


def test_front_matter_that_names_no_title_goes_too(tmp_path: Path) -> None:
    book = read(tmp_path, f"---\naliases: [Clock notes]\ncreated: 2024-03-14\n---\n\n{STORY}")
    assert book.text.startswith("He came")


def test_a_note_that_has_nothing_but_front_matter_is_its_text(tmp_path: Path) -> None:
    book = read(tmp_path, "---\ntitle: The Lamp\nkeeper: Ann\n---\n")
    assert (book.title, book.text.split("\n")[:2]) == ("The Lamp", ["title: The Lamp", "keeper: Ann"])


def test_a_raw_note_of_joplin_has_its_title_and_not_its_fields(tmp_path: Path) -> None:
    fields = "\n".join(f"{name}: 0" for name in ("is_todo", "altitude", "order", "source", "share_id"))
    fields = f"id: {'5f3a' * 8}\n{fields}\nauthor: \ntype_: 1"
    book = read(tmp_path, f"Solar panels\n\nTwelve panels.\n\n{fields}")
    assert (book.title, book.text.split("\n\n")) == ("Solar panels", ["Solar panels", "Twelve panels."])
    assert any("fields of Joplin" in warning for warning in book.warnings)
    assert "is_todo" in read(tmp_path, f"Solar panels\n\n{fields}\n\nTwelve panels.").text


def test_footnotes_stand_at_the_end_with_all_their_paragraphs(tmp_path: Path) -> None:
    notes = (
        "[^1]: The first note.\n[^b]: The second\nnote.\n\n    Its other part.\n\nAfterwards came `[^1]` and [^none].\n"
    )
    book = read(tmp_path, f"# One\n\nHe kept it.[^1] And slept.[^b]\n[^c]: A third.\n# Two\n\n{notes}")
    assert "He kept it. And slept.\n\nTwo" in book.text
    assert "Afterwards came [^1] and [^none]." in book.text
    assert [section.path[-1] for section in book.sections] == ["One", "Two", "Notes"]
    assert book.text.endswith("Notes\n\nc A third.\n\n1 The first note.\n\nb The second note.\n\nIts other part.\n\n")


@pytest.mark.parametrize(
    ("source", "text"),
    [
        (
            "He lived at [[Walden Pond|the pond]], see [[Economy#Shelter]] and [[#Beans]].",
            "at the pond, see Economy and Beans.",
        ),
        ("A ![[lamp.png|300]] stood there.", "A stood there."),
        ("One %% not for readers %% two.", "One two."),
        ("One.\n\n%%\nnot for\n\nreaders\n%%\n\nTwo.", "One.\n\nTwo."),
        ("> [!abstract]- Summary\n> The lamp.", "Summary\n\nThe lamp."),
        ("> [!tip]\n> The lamp\n> is lit.", "The lamp is lit."),
        ("Before [[2024-03-11]] and [[202403121430]], not [[1]].", "Before 2024-03-11 and 202403121430, not [[1]]."),
        ("One.\n\n%% board:settings\n```\n{}\n```\n%%\n\nTwo.", "One.\n\nTwo."),
        ("rating:: 5\nby:: Ann\n\n- **Met**:: in Bergen", "rating: 5\nby: Ann\n\nMet: in Bergen"),
        ("Network: Lake\nGuest network: Pond, *open*\nand slow", "Network: Lake\nGuest network: Pond, open and slow"),
        ("It had three things: a lamp,\nand then: a rope", "It had three things: a lamp, and then: a rope"),
        (
            "- The vet\n  id:: 6606b1f3-2222-4a4a-9c9c-0123456789ab\n  collapsed:: true\n  :LOGBOOK:\n"
            "  CLOCK: [2024-04-02 Tue 10:00:01]\n  :END:\n- {{query (todo now)}}\n"
            "- came ((6606b1f3-2222-4a4a-9c9c-0123456789ab))",
            "The vet\ncame",
        ),
        ("It cost ==twenty-eight dollars==. ^q1", "It cost twenty-eight dollars."),
        ("If x==1 or y==2 then a == b, 5% of it.", "If x==1 or y==2 then a == b, 5% of it."),
        ("The code `[[a|b]] ==c==` and [[1]](x.html) stay.", "The code [[a|b]] ==c== and [1] stay."),
        ("```\n[[a|b]] [^1] ==c==\n```", "[[a|b]] [^1] ==c=="),
    ],
)
def test_marks_of_note_takers_go(tmp_path: Path, source: str, text: str) -> None:
    assert text in " ".join(read(tmp_path, f"{STORY}\n\n{source}").text.split(" ")).replace("  ", " ")


def test_marks_of_note_takers_are_fast() -> None:
    for each in (
        "`",
        "[",
        "[[a",
        "[^",
        "=",
        "==a",
        "%%",
        "%%\n",
        " ^a",
        "> [!a",
        "[^1]:\n",
        "A: b\n",
        "A: ",
        "a:: b\n",
        ":LOGBOOK:\n",
        "~~~\n",
        "``` a",
        "![[",
    ):
        without_note_marks(each * (100_000 // len(each)), Omissions())


PROSE = [
    "A List<object> holds Map<String, Integer> and vector<int> or a<b>c.",
    "The <template> element, the <script> element and the <style> element are three words.",
    "Use <iframe>, <object>, <noscript>, <select>, <textarea> and <title> with care.",
    "He wrote <style> and never closed it.",
    "He wrote <script> and never closed it.",
    "He wrote <!-- and never closed it.",
    "He wrote <textarea> <title> <xmp> <plaintext> and never closed any.",
    "If a <b and c> d then e.",
    "If x<y and y>z then all is well.",
    "An <unknown element> and a <br with words> in it.",
    "<Mr. Smith> said <nothing at all>.",
    "<Mr. Smith>\nsaid nothing at all.",
    "Email <ann@example.org> about it.",
    "A <![CDATA[ section of words ]]> and a <?php echo words ?> here.",
    "A <!DOCTYPE declaration of words> here.",
    "AT&T, &unknown; and & entities, 5 < 6 and 7>3.",
    "A \\*starred\\* word, a `code <object> span`, and ``two `ticks` `` here.",
    "Words[^1] without notes and [^2]: with none.",
    "[Enter]: Hamlet\n\n[Aside]: No.\n\n[Exit]: Ophelia",
    "[All]: <together> 'We are here'",
    "- [ ] a task\n- [x] a done task\n\na. one\nb. two\n   - deeper\n     - deepest",
    "| Head | Other |\n|------|-------|\n| cell | more | extra cell |\n| few |\n",
    "| a `x | y` | b |\n|---|---|\n| c | d |",
    "Term\n: Definition of it\n\n~~struck~~ ==marked== ^2^ ~3~",
    "~~~\ncode that is not closed\n",
    "    indented code with words\n\n\tand tabs",
    "> quoted\n> > deeper\n> > > deepest",
    "$$ x = words $$ and $inline words$.",
    ":::note Title words\nInner words.\n:::",
    "{% include words %} and {{ more words }}.",
    "Line one  \nline two\\\nline three",
    "Setext words\n====\n\nOthers\n----\n",
    "# Head words # {#id .class}\n\n####### Seven marks\n\n#nospace words",
    "<!-- a comment of five words -->\n\nafter it",
    "one <!-- comment -->two and <!---> strange <!-- -- --> three",
    "Soft\xadhyphen, zero\u200bwidth, no\xa0break, \u2028line and \u2029paragraph.",
    "Control\x00null \x0bvertical \x0cform \x1bescape \x85next.",
    "![A map of the island](#)",
]
"""Prose in which every word is one."""

MARKED = {
    '<p hidden="hidden">Hidden words</p> and <span hidden>more of them</span>.': "Hidden words and more of them",
    '<nav>Home <a href="x">Next page</a></nav>': "Home Next page",
    "<div><p>Some <em>words</em> in HTML</p></div>": "Some words in HTML",
    "<table><tr><td>One cell</td><td>Other cell</td></tr></table>": "One cell Other cell",
    "<details><summary>More</summary>Things that are hidden.</details>": "More Things that are hidden",
    "<ruby>base<rt>gloss</rt></ruby>": "base gloss",
    "<svg><text>drawn words</text></svg>": "drawn words",
    '<a name="x">Anchor words</a>': "Anchor words",
    "<center>\n\n# Inside a block\n\n</center>\n\nafter": "Inside a block after",
    "<pre>\nkept  words\n</pre>\n\nafter it": "kept words after it",
    "<script>var x = 1;</script>\n\nafter it": "after it",
    "<style>\np { color: red }\n</style>\n\nafter it": "after it",
    "<div\n\nbroken words\n\n<p\nattr words>\n\nmore": "broken words attr words more",
    "</div> closing words </object>": "closing words",
    "```python\ncode = words\n```": "code words",
    "```python title words\ncode = words\n```": "title words code words",
    "Five &lt; six &copy; seven &#65;": "Five six seven A",
    "[Reference][ref] and [another].\n\n[ref]: http://x.y\n[another]: /b 'Of its own'": "Reference and another",
    '[words](http://x.y "a title of it")': "words",
    "See <http://example.org/page>.": "See",
}
"""Prose with markup, and its words."""


@pytest.mark.parametrize(("prose", "words"), [*((prose, prose) for prose in PROSE), *MARKED.items()])
def test_prose_with_marks_keeps_its_words(tmp_path: Path, prose: str, words: str) -> None:
    last = "The last line of all."
    book = read(tmp_path, f"{STORY}\n\n{prose}\n\n{last}", f"{STORY} {words} {last}")
    assert book.text.rstrip().endswith(last)


@pytest.mark.parametrize(
    "prose",
    [
        "A List<object> holds words.",
        "A <template> is a word.",
        "He wrote <style> and never closed it.",
        "He wrote <!-- and never closed it.",
        "He wrote <Mr. Smith> there.",
    ],
)
def test_what_looks_like_a_tag_in_prose_stays_as_it_is_written(tmp_path: Path, prose: str) -> None:
    assert prose in read(tmp_path, f"{STORY}\n\n{prose}\n\nEnd.").text


def test_struck_text_is_left_out_and_named(tmp_path: Path) -> None:
    path = tmp_path / "a.md"
    path.write_text("The deposit is ~~500~~ 800 pounds, 5~~6, and `~~code~~`.\n\n~~~\nfenced\n~~~\n")
    book = read_book(path)
    assert book.text == "The deposit is 800 pounds, 5~~6, and ~~code~~.\n\nfenced"
    assert book.warnings == ("boilerplate skipped: 1 deleted stretch (1 word)",)


@pytest.mark.parametrize("depth", [10, 30, 300, 3_000])
@pytest.mark.parametrize("mark", ["> ", "- ", "1. ", "* > "])
def test_deep_nesting_keeps_its_words(tmp_path: Path, mark: str, depth: int) -> None:
    book = read(tmp_path, f"{STORY}\n\n{mark * depth}deep words here\n\n{STORY}", f"{STORY} deep words here {STORY}")
    assert "deep words here" in book.text


@pytest.mark.parametrize("mark", ["*", "_", "[", "![", "(", "`", "<", "&", "**", "[a](", "![a](", "~~", "\\", "|"])
def test_many_open_marks_are_read_in_time_and_kept(tmp_path: Path, mark: str) -> None:
    book = read(tmp_path, f"{STORY}\n\n{(mark + 'word ') * 3_000}\n\nEnd of it.", STORY + "word " * 3_000 + "End of it")
    assert book.text.rstrip().endswith("End of it.")


def test_a_link_definition_that_is_used_goes_quietly(tmp_path: Path) -> None:
    book = read(tmp_path, f"{STORY}\n\nSee [the page][p].\n\n[p]: http://example.org/path", f"{STORY} See the page")
    assert "example" not in book.text


def test_a_heading_of_a_field_keeps_its_words(tmp_path: Path) -> None:
    book = read(tmp_path, f"# Title: The Clock\n\n## Author: Ann Author\n\n{STORY}")
    assert (book.title, book.author) == ("The Clock", "Ann Author")


def test_a_very_long_line_is_read_as_it_is(tmp_path: Path) -> None:
    read(tmp_path, "word *and* <object> " * 100_000)


_MARKS = (
    "# ## --- *** ``` ~~~ > - + 1. | : [ ] ( ) <b> </b> <object> <style> <script> <!-- --> <div> </div> <p <x> & &amp; "
    "\\ ` * _ ** ~ ! = \t title: word Word words. river saw 12 é — “ ” ]( ![ [^1] [^1]: [a]: <?php ?> <![CDATA[ ]]>"
)
_ATOMS = st.sampled_from(_MARKS.split(" "))


@settings(max_examples=400, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.lists(st.one_of(_ATOMS, st.sampled_from(["\n", "\n\n", " ", " ", " "])), max_size=40))
@example(["[^1]:", "word"])
def test_any_mix_of_marks_and_words_keeps_the_plain_words(tmp_path: Path, atoms: list[str]) -> None:
    numbered = [f"plain{i}" if atom in {"word", "Word", "river", "saw"} else atom for i, atom in enumerate(atoms)]
    source = "".join(a if not a.strip() else f"{a} " for a in numbered) + "\n\nlast words\n"
    path = tmp_path / "a.md"
    path.write_text(source, "utf-8")
    try:
        book = read_book(path)
    except NotABook:
        return
    plain = " ".join(a for a in numbered if a.startswith("plain"))
    assert_all_words(plain + " last words", book)


@pytest.mark.parametrize("name", ["republic.md", "invisible-man.md"])
def test_real_markdown_books_keep_every_word(data_dir: Path, name: str) -> None:
    path = data_dir / "library" / name
    book = read_all_words(path)
    assert named_words(book.warnings) == 0
    assert len(text_of_file(path)) > 10_000


def test_a_number_in_a_paragraph_of_its_own_is_text(tmp_path: Path) -> None:
    path = tmp_path / "a.md"
    path.write_text("1.\n\nHe came in\n\n1818.\n\nand left in\n\n 1820)\n\n```\n5.\n```\n\n17.")
    book = read_all_words(path)
    assert book.text == "1.\n\nHe came in\n\n1818.\n\nand left in\n\n1820)\n\n5.\n\n17."
