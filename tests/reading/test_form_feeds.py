"""Plain text with a form feed after each page."""

from __future__ import annotations

from hypothesis import given, settings
from hypothesis import strategies as st

from nlb_retriever.reading.formats.plain import read_plain
from nlb_retriever.reading.limits import Limits
from nlb_retriever.reading.omissions import Omissions
from nlb_retriever.reading.pages.form_feeds import join_pages, with_form_feeds

FIRST, SECOND = (
    "The keeper trimmed the lamp and went to bed, and nobody on the island said a word about it",
    "until the boat came.",
)
BODY = f"{FIRST}\n{SECOND}"
HEAD = "RFC 1234                    Lamps                    May 1903\n\n\n"
NAMES = ("Oil", "Wick", "Glass", "Keeper", "Boat")


def printed(*bodies: str) -> str:
    """Pages as RFCs have them."""
    pages = enumerate(bodies, 1)
    return "\f".join(f"{HEAD}{body}\n\n\nWick        Informational        [Page {number}]\n" for number, body in pages)


def lines_on(name: str) -> str:
    return (
        f"{name} is on the shelf.\nAsk for {name} in the shop,\nor bring {name} from home,\nand pay for {name} later."
    )


def test_running_heads_are_skipped_and_paragraphs_go_on() -> None:
    oil, wick, glass = map(lines_on, NAMES[:3])
    omissions = Omissions()
    text = join_pages(printed(f"{oil}\n\n{FIRST}", f"{SECOND}\n\n{wick}", f"2. Glass\n\n{glass}"), omissions)
    # the first head stays: it may be a title
    assert text == f"{HEAD}{oil}\n\n{BODY}\n\n{wick}\n\n2. Glass\n\n{glass}\n"
    assert any("Wick Informational [Page #]" in line for line in omissions.warnings())


def test_a_full_line_goes_on_and_a_title_does_not() -> None:
    line = "The keeper of the lamp, whose name was Tobias, had a daughter in the town called"
    pages = [
        f"{BODY}\n\n{line}",
        f"Margaret, who came every summer with her boys, and a dog that hated the sea\n{BODY}",
        line,
    ]
    text = join_pages("\f".join([*pages, "CHAPTER II\n\nThe Storm"]), Omissions())
    assert f"{line}\nMargaret" in text
    assert f"{line}\n\nCHAPTER II\n\nThe Storm" in text


def test_few_pages_keep_all_their_lines() -> None:
    assert join_pages("1\nOne.\f1\nTwo.", Omissions()) == "1\nOne.\n\n1\nTwo."


def test_a_paragraph_on_one_line_is_no_running_head() -> None:
    paragraphs = [
        f"Section 4 of the {name} rules. {FIRST}. {FIRST}. {SECOND} Of them {n}" for n, name in enumerate(NAMES)
    ]
    text = join_pages(
        "\f".join(f"{each}\n\n{name}." for each, name in zip(paragraphs, NAMES, strict=True)), Omissions()
    )
    assert all(each in text for each in paragraphs)


def test_the_book_has_chapters_and_no_heads() -> None:
    chapters = (f"CHAPTER {number}. The {name}\n\n{lines_on(name) * 6}" for number, name in enumerate(NAMES, 1))
    draft = read_plain(printed(*chapters).encode(), Limits())
    assert [heading.title for heading in draft.headings] == [
        f"CHAPTER {number}. The {name}" for number, name in enumerate(NAMES, 1)
    ]
    assert "[Page" not in draft.text
    assert "\f" not in draft.text


def test_gaps_between_the_pages_of_a_scan_are_form_feeds() -> None:
    heads = [f"{i} THE  LAMP" if i % 2 else f"CHAPTER {'I' * (i // 10 + 1)}. {i}" for i in range(2, 42)]
    pages = [
        f"{head}\n\nhouse {'very ' * i}soon.\n{BODY}\n\nThe {'very ' * i}old keeper of the light-"
        for i, head in enumerate(heads)
    ]
    draft = read_plain("\n \n\n".join(["CHAPTER I\n\n" + BODY, *pages]).encode(), Limits())
    assert not [head for head in heads if " ".join(head.split()) in draft.text]
    assert [heading.title for heading in draft.headings] == ["CHAPTER I"]
    assert draft.text.count("of the light-\nhouse very") == len(pages) - 1


def test_gaps_at_numbers_that_are_titles_stay() -> None:
    numbered = "\n\n\n".join(f"{i}\n\n{BODY}\n\n    Yours ever,\n        ANN" for i in range(1, 41))
    assert with_form_feeds(numbered) == numbered


@given(st.text(alphabet="aB1. \n\f-", max_size=200))
@settings(max_examples=200, deadline=None)
def test_any_text_keeps_its_words_or_names_them(text: str) -> None:
    omissions = Omissions()
    joined = join_pages(text, omissions)
    assert "\f" not in joined
    kept, words = joined.split(), text.split()
    assert not set(kept) - set(words)
    assert len(kept) <= len(words)
    if text.count("\f") < 2:
        assert kept == words


def test_pages_without_words_are_no_page() -> None:
    assert join_pages("\f\f\f\f", Omissions()).split() == []
    assert join_pages(f"\f{BODY}\f\f\n\n\f{BODY}\f", Omissions()) == f"{BODY}\n\n{BODY}\n"


SAID = "Q. Who trimmed the lamp?\nA. The keeper did. I saw the boat\nand the glass.\nMS WICK: I have no questions."


def numbered(*lines: str) -> str:
    return "\n".join(f"{number:2}   {line}" for number, line in enumerate(lines, 1))


def test_the_numbers_of_lines_are_skipped_and_no_line_of_them_is_a_running_head() -> None:
    lines = [line for _ in range(3) for line in SAID.split("\n")]
    pages = [f"Day 3     Lamp Inquiry     4 May 1903\n\n{numbered(*lines)}\n\n{page}\n" for page in range(1, 6)]
    omissions = Omissions()
    text = join_pages("\f".join(pages), omissions)
    assert [line for line in text.split("\n") if line] == lines * 5
    assert any("60 line numbers (60 words)" in line for line in omissions.warnings())


def test_lists_are_no_numbers_of_lines() -> None:
    lists = [f"{numbered(*NAMES, *NAMES, *NAMES)}\n{BODY}", *[f"{BODY}\n{name}\n{BODY}" for name in NAMES]]
    assert "14   Keeper" in join_pages("\f".join(lists), Omissions())
    counted = [f"{numbered(*NAMES)}\n{BODY}" for _ in range(6)]
    assert " 4   Keeper" in join_pages("\f".join(counted), Omissions())
