"""Questions about a book as a whole: how it begins and ends, what it is about, its chapters, its year."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from nlb_retriever import Retriever, book_from_text, index_books, index_files
from nlb_retriever.records import Hit, Page, Section
from nlb_retriever.search.answers.book_parts import ends_sentence, find_beginning, find_chapters
from nlb_retriever.search.answers.digest import answer_digest
from nlb_retriever.search.request import SearchRequest

WITHOUT = "The bread rose.\n\nIt was eaten on Sunday by all of us. Who wrote the recipe, nobody knew."
HIT = Hit(level="passage", id="1", book_id="2", title="A Day", author=None, source="", section=(), section_id=None,
          start=0, end=99, page=None, score=1.0, text="", metadata={})  # fmt: skip
BODY = " ".join(["The fog came in from the sea, and nobody on the quay saw the boat that left the harbour."] * 20)
VOYAGE = f"""\
PREFACE

{"This tale was told to me by three old sailors, and I have changed nothing but their names. " * 9}

CHAPTER I.

Rain fell. {BODY}

CHAPTER II.

{BODY}

CHAPTER III.

{BODY} At last the ship came home. "We are late," said Anna.

THE END

NOTES

{"1. See the log of the harbour, kept in the town hall, for the days of the fog. " * 9}
"""


@pytest.fixture(scope="module")
def voyage(tmp_path_factory: pytest.TempPathFactory) -> Retriever:
    library = tmp_path_factory.mktemp("parts") / "library"
    texts = {"The Voyage": VOYAGE, "Country Bread": WITHOUT}
    index_books([book_from_text(text, source=title, title=title) for title, text in texts.items()], library)
    return Retriever(library)


@pytest.mark.parametrize(
    ("question", "options"),
    [
        ("How does The Voyage begin?", {}),
        ("What is the novel “The Voyage” about?", {}),
        ("What are the main themes of The Voyage?", {}),
        ("What’s this book about?", {"book": "The Voyage"}),
        ("Summarize The Voyage.", {}),
        ("Summarize the plot of The Voyage", {}),
        ("Give me a short summary of the story of The Voyage", {}),
        ("What are the first lines of The Voyage?", {}),
        ("What is the plot?", {"book": "The Voyage"}),
        ("What genre is The Voyage?", {}),
        ("Who is the narrator of The Voyage?", {}),
        ("Who tells the story?", {"book": "The Voyage"}),
    ],
)
def test_a_beginning_is_what_follows_the_preface(voyage: Retriever, question: str, options: dict[str, str]) -> None:
    answer = voyage.answer(question, **options)  # type: ignore[arg-type]
    assert (answer.short, answer.found) == (None, True)
    assert answer.text.startswith("Rain fell. The fog came in")
    assert 40 <= len(answer.text.split()) <= 90
    [citation] = answer.citations
    assert VOYAGE[citation.quote_start : citation.quote_end] == citation.quote
    assert citation.hit.section == ("CHAPTER I.",)


ABOUT = "Three sailors tell of a fog. " * 3
"""Of 18 words."""


@pytest.mark.parametrize(
    ("question", "confidence"),
    [
        ("What is The Voyage about?", "sure"),
        ("Summarize the book The Voyage.", "sure"),
        ("What does The Voyage deal with?", "sure"),
        ("What is the plot?", "sure"),
        ("Where is The Voyage set?", "likely"),
        ("When does the novel The Voyage take place?", "likely"),
        ("what year is the voyage set in", "likely"),
        ("How does The Voyage begin?", None),
    ],
)
def test_what_a_book_is_about_its_file_says(tmp_path: Path, question: str, confidence: str | None) -> None:
    book = book_from_text(VOYAGE, source="voyage", title="The Voyage")
    index_books([replace(book, description=ABOUT * 9)], tmp_path / "library")
    with Retriever(tmp_path / "library") as retriever:
        answer = retriever.answer(question)
        assert answer.text.startswith("Rain fell. The fog came in")
        assert answer.confidence == (confidence or "likely")
        assert answer.short == (f"“{(ABOUT * 5).strip()}” (description in the file)" if confidence else None)
        early = retriever.answer(question, book="The Voyage", before="CHAPTER III.")
        assert (early.short, early.found, early.confidence) == (None, True, "likely")


def test_a_tale_may_have_its_word_behind_its_number(tmp_path: Path) -> None:
    titles = ("ADVENTURE I. THE GOLDEN BALL", "II. THE ADVENTURE OF THE SLEEPING GIANT", "III. THE STORY OF RAIN")
    _index_parts({(title,): "A frog slept on a hill, and nobody woke it. " * 9 for title in titles}, tmp_path)
    with Retriever(tmp_path / "library") as retriever:
        assert retriever.answer("How many tales does Clocks have?").short == "3"
        for question in ("Summarize The Sleeping Giant", "What happens in the second tale?"):
            assert {each.hit.section for each in retriever.answer(question).citations} == {(titles[1],)}


def test_words_of_two_titles_name_no_section(tmp_path: Path) -> None:
    text = "\n\n".join(f"CHAPTER {n}. Of the White Whale {n}\n\n{'The whale swam. ' * 9}" for n in ("I", "II"))
    index_books([book_from_text(text, source="whales", title="Whales")], tmp_path / "library")
    with Retriever(tmp_path / "library") as retriever:
        request = SearchRequest(query="Summarize the white whale")
        assert answer_digest(request, retriever.store, None) is None


@pytest.mark.parametrize(
    ("question", "short"),
    [
        ("What is the longest chapter of Clocks?", "PART I › CHAPTER II (29 words)"),
        ("Which chapter is the longest in Clocks?", "PART I › CHAPTER II (29 words)"),
        ("Which chapter of Clocks is the shortest?", "PART I › CHAPTER I (10 words)"),
    ],
)
def test_the_longest_chapter_is_named(tmp_path: Path, question: str, short: str) -> None:
    _index_parts(
        {("PART I", "CHAPTER I"): "The clock ran on. " * 2, ("PART I", "CHAPTER II"): "It ran on. " * 9}, tmp_path
    )
    assert Retriever(tmp_path / "library").answer(question).short == short


def test_parts_are_counted_where_there_are_no_chapters(tmp_path: Path) -> None:
    _index_parts({("BOOK I",): "The clock ran on.", ("BOOK II",): "It ran down."}, tmp_path)
    answer = Retriever(tmp_path / "library").answer("How many chapters does Clocks have?")
    assert answer.short == "no chapters, but 2 books"


def _index_parts(parts: dict[tuple[str, ...], str], folder: Path) -> None:
    """Index a book of some sections with their texts."""
    sections, text = [], ""
    for path, own in parts.items():
        start = len(text)
        text += f"{path[-1]}\n\n{own}\n\n"
        sections.append(Section(path=path, start=start, end=len(text)))
    index_books([book_from_text(text, source="clocks", title="Clocks", sections=sections)], folder / "library")


@pytest.mark.parametrize(
    "question", ["How long is The Voyage?", "How many words are there in The Voyage?", "How many pages does it have?"]
)
def test_how_long_a_book_is_is_counted(voyage: Retriever, question: str) -> None:
    answer = voyage.answer(question, book="The Voyage")
    assert (answer.short, answer.text, answer.confidence) == (f"{len(VOYAGE.split()):,} words", "Rain fell.", "sure")


def test_how_long_is_what_an_article_is_on_is_no_number_of_its_words(tmp_path: Path) -> None:
    text = "The Marrow is a river.\n\nIt flows north. From its source to the sea it is 86 km (53 mi) long."
    index_books([book_from_text(text, source="marrow", title="Marrow")], tmp_path / "library")
    with Retriever(tmp_path / "library") as retriever:
        assert (retriever.answer("How long is the Marrow?").short or "").startswith("86 km")
        assert retriever.answer("How long is the article Marrow?").short == "21 words"
        assert retriever.answer("How many words does Marrow have?").short == "21 words"


def test_pages_are_counted_where_there_are_any(tmp_path: Path) -> None:
    pages = [Page(start=0, number=1, label="i"), Page(start=20, number=2, label="ii")]
    index_books([book_from_text(VOYAGE, source="voyage", title="The Voyage", pages=pages)], tmp_path / "library")
    with Retriever(tmp_path / "library") as retriever:
        assert (retriever.answer("How long is The Voyage?").short or "").endswith(" words, 2 pages")


def test_tales_are_counted_named_and_summarised(tmp_path: Path) -> None:
    tales = {"THE FROG": "A frog found a golden ball. ", "THE GIANT": "A giant slept on a hill, and nobody woke him. "}
    sections, text = [], ""
    for title, tale in tales.items():
        begin = len(text)
        text += f"{title}\n\n{tale * 9}\n\n"
        sections.append(Section(path=(title,), start=begin, end=len(text)))
    index_books([book_from_text(text, source="tales", title="Tales", sections=sections)], tmp_path / "library")
    with Retriever(tmp_path / "library") as retriever:
        assert retriever.answer("How many tales does Tales have?").short == "2"
        assert retriever.answer("What are the stories?").short == "THE FROG; THE GIANT"
        assert {each.hit.section for each in retriever.answer("Summarize the second tale").citations} == {
            ("THE GIANT",)
        }
        assert retriever.answer("How many chapters are there?").short != "2"


@pytest.mark.parametrize(
    ("question", "options"),
    [
        ("How does The Voyage end?", {}),
        ("What happens at the end of the story?", {"book": "The Voyage"}),
        ("what is the ending of The Voyage", {}),
    ],
)
def test_an_ending_is_what_precedes_the_notes(voyage: Retriever, question: str, options: dict[str, str]) -> None:
    answer = voyage.answer(question, **options)  # type: ignore[arg-type]
    assert (answer.short, answer.found) == (None, True)
    assert answer.text.endswith('At last the ship came home. "We are late," said Anna.')


@pytest.mark.parametrize(
    ("question", "short"),
    [
        ("What is the first sentence of The Voyage?", "Rain fell."),
        ("What's the opening line of The Voyage?", "Rain fell."),
        ("What was the last line in The Voyage?", '"We are late," said Anna.'),
        ("What are the first words of The Voyage?", "Rain fell."),
        ("What is the first word of The Voyage?", "Rain fell."),
        ("What are the last words of The Voyage?", '"We are late," said Anna.'),
        ("What is the last word in The Voyage?", '"We are late," said Anna.'),
        ("How many chapters does The Voyage have?", "3"),
        ("How many chapters are there in The Voyage?", "3"),
        ("What are the chapters of The Voyage?", "CHAPTER I.; CHAPTER II.; CHAPTER III."),
        ("table of contents of The Voyage", "CHAPTER I.; CHAPTER II.; CHAPTER III."),
    ],
)
def test_one_line_and_a_number_are_short(voyage: Retriever, question: str, short: str) -> None:
    answer = voyage.answer(question)
    assert (answer.short, answer.confidence) == (short, "likely")
    [citation] = answer.citations
    assert citation.quote == ("CHAPTER III." if short == "3" else "Rain fell." if ";" in short else short)


def test_before_a_chapter_the_end_is_not_known(voyage: Retriever) -> None:
    answer = voyage.answer("How does it end?", book="The Voyage", before="CHAPTER III.")
    assert "ship" not in answer.text
    assert answer.citations[-1].hit.section == ("CHAPTER II.",)
    assert voyage.answer("How many chapters are there?", book="The Voyage", before="CHAPTER III.").short == "2"


@pytest.mark.parametrize(
    ("sections", "number", "begins"),
    [
        (["CHAPTER I.", "CHAPTER II.", "Epilogue"], 2, "CHAPTER I."),
        (["VOL. I", "VOL. I/CHAPTER I.", "VOL. I/CHAPTER II.", "VOL. II/CHAPTER I."], 3, "CHAPTER I."),
        (["CHAPTER I.", "CHAPTER I./I", "CHAPTER I./II", "CHAPTER II."], 2, "CHAPTER I."),
        (["CHAPTER I: Dawn", "CHAPTER I (cont.)", "CHAPTER II: Dawn (continued)"], 2, "CHAPTER I: Dawn"),
        (["Morning", "Noon"], 0, "Morning"),
    ],
)
def test_chapters_are_counted_by_their_titles(sections: list[str], number: int, begins: str) -> None:
    hits: list[Hit] = []
    for section, path in enumerate(sections):
        title = path.split("/")[-1]
        text = f"{title}\n\nIt was {title} now."
        hits += [replace(HIT, text=text, section=tuple(path.split("/")), metadata={"section": section})] * 2
    assert len(find_chapters(hits)) == number
    [citation] = find_beginning(hits, one=True)
    assert citation.quote == f"It was {begins} now."


def test_a_long_text_is_no_such_question(voyage: Retriever) -> None:
    question = "How many chapters does The Voyage have"
    assert voyage.answer(question + "?" * 100).short == "3"
    assert voyage.answer(question + "?" * 500).short != "3"  # of 100,000 a pattern would take 20 s


def test_a_book_without_chapters_has_no_number_of_them(voyage: Retriever) -> None:
    assert voyage.answer("How many chapters does Country Bread have?").short not in {"0", "1"}
    assert voyage.answer("How does Country Bread begin?").text.startswith("The bread rose.")


ABSTRACT = "We measure the fog of forty harbours. It is densest before dawn, when no boat sails."
PAPERS = {
    "own line": f"On Fog\n\nAnn Author\n\nAbstract\n\n{ABSTRACT}\n\n1 Introduction\n\n{BODY}",
    "run in": f"On Fog\n\nAnn Author\n\nAbstract. {ABSTRACT}\n\n1 Introduction\n\n{BODY}",
    "dash": f"On Fog\n\nABSTRACT—{ABSTRACT}\n\n1 Introduction\n\n{BODY}",
    "none": f"On Fog\n\nAnn Author\n\n1 Introduction\n\n{BODY} The abstract is missing.",
}


@pytest.mark.parametrize("kind", PAPERS)
def test_a_paper_is_about_what_its_abstract_says(tmp_path: Path, kind: str) -> None:
    index_books([book_from_text(PAPERS[kind], source="x", title="On Fog")], tmp_path / "library")
    paper = Retriever(tmp_path / "library")
    answer = paper.answer("What is On Fog about?")
    assert paper.answer("What is this paper about?").text == answer.text
    assert answer.text.startswith("We measure the fog") == (kind != "none")


def test_a_section_may_be_the_abstract(tmp_path: Path) -> None:
    text = f"# On Fog\n\n# Abstract\n\n{ABSTRACT}\n\n# Introduction\n\n{BODY}"
    path = tmp_path / "fog.md"
    path.write_text(text, encoding="utf-8")
    index_files([path], tmp_path / "library")
    assert Retriever(tmp_path / "library").answer("Summarize On Fog").text.startswith("We measure the fog")


@pytest.mark.parametrize(
    ("text", "ends"),
    [("I will not--", True), ("It is so.”", True), ("He said to the driver:--", False), ("He said:—", False)],
)
def test_what_only_says_who_speaks_ends_as_no_sentence_does(text: str, ends: bool) -> None:
    assert ends_sentence(text) is ends
