"""Chapters and verses by the part that they are in, and parts that a book has not."""

from __future__ import annotations

from pathlib import Path

import pytest

from nlb_retriever import Retriever, book_from_text, index_books, index_files
from nlb_retriever.reading import read_book
from nlb_retriever.search.answers.digest import answer_digest
from nlb_retriever.search.request import SearchRequest

DEEDS = (
    "Anna found a letter under the floor of the old mill.",
    "The miller said that her father was alive.",
    "She took the ferry to the island with her brother.",
    "The ferryman stole the letter and rowed away in the fog.",
    "Her brother saw a light in the chapel on the hill.",
    "She broke the door of the chapel with an axe.",
    "The father lay bound beside the altar, and she cut the ropes.",
    "All of them sailed home on a raft of barrels.",
    "The ferryman was arrested by the constable at the pier.",
    "Anna burnt the letter and married the miller.",
)
SCRIPTURE = "\n\n".join(
    f"{book}\n\n"
    + "\n\n".join(f"{chapter}:{verse} {DEEDS[verse - 1]}" for chapter in (1, 2, 3) for verse in range(1, 11))
    for book in ("Psalms", "1 Travels", "2 Travels")
)


@pytest.fixture(scope="module")
def retriever(tmp_path_factory: pytest.TempPathFactory) -> Retriever:
    library = tmp_path_factory.mktemp("parts") / "library"
    index_books([book_from_text(SCRIPTURE, source="scripture", title="Scripture")], library)
    return Retriever(library)


@pytest.mark.parametrize("chapter", ["1 Travels 3", "First Travels 3", "chapter 3 of I Travels"])
def test_one_of_several_parts_is_named_with_its_number(retriever: Retriever, chapter: str) -> None:
    answer = retriever.answer(f"What happens in {chapter}?")
    assert {citation.hit.section for citation in answer.citations} == {("1 Travels", "Chapter 3")}


@pytest.mark.parametrize("options", [{}, {"book": "Scripture"}])
def test_a_verse_is_quoted(retriever: Retriever, options: dict[str, str]) -> None:
    answer = retriever.answer("What does Psalm 2:10 say?", **options)  # type: ignore[arg-type]
    assert [citation.quote for citation in answer.citations] == [f"2:10 {DEEDS[9]}"]
    assert answer.citations[0].hit.section == ("Psalms", "Chapter 2")
    assert not retriever.answer("What does Psalm 2:11 say?", **options).found  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("verses", "last"),
    [("Psalm 2:3-5", 5), ("Psalm 2:3 – 5", 5), ("1 Travels 2:3-5", 5), ("Second Travels 2:3-12", 10)],
)
def test_verses_in_a_row_are_quoted_together(retriever: Retriever, verses: str, last: int) -> None:
    for question in (f"What does {verses} say?", f"What is in {verses}?"):
        answer = retriever.answer(question, book="Scripture")
        text = "\n\n".join(f"2:{verse} {DEEDS[verse - 1]}" for verse in range(3, last + 1))
        assert "\n\n".join(citation.quote for citation in answer.citations) == text


def test_a_verse_may_have_its_own_number_alone(tmp_path: Path) -> None:
    text = "\n\n".join(
        f"{'' if chapter > 1 else '# ' + book}\n\n## Chapter {chapter}\n\n"
        + "\n\n".join(f"{verse} {deed}" for verse, deed in enumerate(DEEDS, 1))
        for book in ("Songs", "Psalms")
        for chapter in (1, 2, 3)
    )
    (tmp_path / "psalms.md").write_text(text)
    index_books([read_book(tmp_path / "psalms.md")], tmp_path / "library")
    answer = Retriever(tmp_path / "library").answer("What does Psalm 2:3-4 say?")
    assert [each.quote for each in answer.citations] == [f"3 {DEEDS[2]}\n\n4 {DEEDS[3]}"]
    assert {each.hit.section[-1] for each in answer.citations} == {"Chapter 2"}


@pytest.fixture(scope="module")
def manuals(tmp_path_factory: pytest.TempPathFactory) -> Retriever:
    text = "\n\n".join(
        f"{number}. {title}\n\n{' '.join(DEEDS)}" for number, title in enumerate(("Mills", "Doors", "Fog"), 1)
    )
    play = "\n\n".join(
        f"ACT {act}.\n\n" + "\n\n".join(f"SCENE {scene}.\n\n{' '.join(DEEDS)}" for scene in ("I", "II"))
        for act in ("I", "II")
    )
    texts = {"Scripture": SCRIPTURE, "The Manual": text, "The Chapel": play, "Ferry": "\n\n".join(DEEDS)}
    library = tmp_path_factory.mktemp("manuals") / "library"
    index_books([book_from_text(text, source=title, title=title) for title, text in texts.items()], library)
    return Retriever(library)


@pytest.mark.parametrize(
    ("question", "options", "says"),
    [
        ("What does section 9 of The Manual say?", {}, "The Manual has no section 'section 9'"),
        ("What does section 3.40 of The Manual say?", {}, "The Manual has no section 'section 3.40'"),
        ("What does section 9 say?", {"book": "Manual"}, "The Manual has no section 'section 9'"),
        ("What happens in Act 7 Scene 9 of The Chapel?", {}, "The Chapel has no section 'Act 7 Scene 9'"),
        ("What happens in scene 9 of The Chapel?", {}, "The Chapel has no section 'scene 9'"),
        ("What does Psalm 151 say?", {}, "Scripture has no section 'Psalm 151'"),
        ("What does 1 Travels 30:1 say?", {}, "Scripture has no section '1 Travels 30'"),
        ("What does chapter 30 of 2 Travels say?", {}, "Scripture has no section '2 Travels, chapter 30'"),
    ],
)
def test_a_part_that_a_book_has_not_is_said_to_be_none(
    manuals: Retriever, question: str, options: dict[str, str], says: str
) -> None:
    answer = manuals.answer(question, **options)  # type: ignore[arg-type]
    assert (answer.found, answer.short) == (False, None)
    assert answer.text.startswith(f"{says}: see `nlb show`")


@pytest.mark.parametrize(
    ("question", "options"),
    [
        ("Who is Section 9?", {"book": "Manual"}),
        ("What is Section 9?", {"book": "Manual"}),
        ("What does article 9 say?", {"book": "Manual"}),
        ("What does section 9 of the letter say?", {}),
        ("What does section 9 say?", {"book": "Ferry"}),
        ("What happens in the second scene?", {"book": "Ferry"}),
        ("What does Apollo 11 say?", {}),
    ],
)
def test_what_may_be_no_part_is_looked_for_in_the_text(
    manuals: Retriever, question: str, options: dict[str, str]
) -> None:
    request = SearchRequest(query=question, **options)  # type: ignore[arg-type]
    assert answer_digest(request, manuals.store, None) is None


@pytest.mark.parametrize(
    ("question", "options", "section", "deeds", "short"),
    [
        ("How does section 2 of The Manual begin?", {}, "2. Doors", slice(4), False),
        ("how does section 2 end?", {"book": "Manual"}, "2. Doors", slice(6, 10), False),
        ("What happens at the end of section 2 of The Manual?", {}, "2. Doors", slice(6, 10), False),
        ("What is the last line of section 3 of The Manual?", {}, "3. Fog", slice(9, 10), True),
        ("the first sentence of section 1 in The Manual", {}, "1. Mills", slice(1), True),
        ("What is the first word in the last section of The Manual?", {}, "3. Fog", slice(1), True),
    ],
)
def test_a_part_begins_and_ends_as_a_book_does(
    manuals: Retriever, question: str, options: dict[str, str], section: str, deeds: slice, short: bool
) -> None:
    answer = manuals.answer(question, **options)  # type: ignore[arg-type]
    assert answer.text == " ".join(DEEDS[deeds])
    assert answer.short == (answer.text if short else None)
    assert {citation.hit.section for citation in answer.citations} == {(section,)}


def test_the_end_of_a_part_that_a_book_has_not_is_none(manuals: Retriever) -> None:
    answer = manuals.answer("How does section 9 of The Manual end?")
    assert (answer.found, answer.text[:33]) == (False, "The Manual has no section 'section 9'"[:33])


def test_what_happened_to_somebody_is_not_what_is_written_to_them(tmp_path: Path) -> None:
    sections = ("Greetings to Lucy Miller", "An Answer to Anna")
    path = tmp_path / "letters.md"
    path.write_text("\n\n".join(f"# {title}\n\n{' '.join(DEEDS)}" for title in sections), encoding="utf-8")
    index_files([path], tmp_path / "library")
    store = Retriever(tmp_path / "library").store
    for question, is_digest in (
        ("What happened to Lucy?", False),
        ("What happens to Lucy Miller?", False),
        ("What happens in Greetings to Lucy Miller?", True),
        ("Summarize Greetings to Lucy Miller", True),
    ):
        request = SearchRequest(query=question, book="Letters")
        assert (answer_digest(request, store, None) is not None) == is_digest


@pytest.fixture(scope="module")
def laws(tmp_path_factory: pytest.TempPathFactory) -> Retriever:
    folder = tmp_path_factory.mktemp("laws")
    law = "\n\n".join(f"## {n}. Deed\n\n{deed}" for n, deed in enumerate(DEEDS, 1))
    code = "\n\n".join(f"## § {n}. Deed\n\n{deed}" for n, deed in enumerate(DEEDS, 1))
    (folder / "law.md").write_text(f"# Law of the Mill\n\n{law}\n\n## Schedule 2\n\nThe mill has three stones.\n")
    (folder / "code.md").write_text(f"# Code of the Pier\n\n{code}\n")
    index_files([folder], folder / "library")
    return Retriever(folder / "library")


@pytest.mark.parametrize(
    ("question", "text"),
    [
        ("What does Article 4 of the Law of the Mill say?", DEEDS[3]),
        ("What does art. 4 of the law of the mill prohibit?", DEEDS[3]),
        ("What does Schedule 2 say?", "The mill has three stones."),
        ("What does Schedule 2 of the Law of the Mill list?", "The mill has three stones."),
        ("What does § 4 of the code say?", DEEDS[3]),
        ("What does section 4 of the Code of the Pier require?", DEEDS[3]),
    ],
)
def test_a_part_of_a_law_is_found_however_the_text_writes_its_number(laws: Retriever, question: str, text: str) -> None:
    found = laws.answer(question)
    assert text in found.text
    assert len(found.citations) == 1


def test_an_article_is_quoted_from_its_beginning(tmp_path: Path) -> None:
    long = "the lamp " * 160
    points = f"1. Nobody may do this:\n\n(a) put out {long};\n\n(b) sell the oil.\n\n2. Nobody may sleep by day.\n"
    code = "\n\n".join(f"## Article {n}\n\n{' '.join(DEEDS * 3)}\n\n{points}" for n in (1, 2))
    (tmp_path / "code.md").write_text(f"# Lamp Code\n\n{code}\n\n## Article 3\n\n{points}")
    index_files([tmp_path], tmp_path / "library")
    with Retriever(tmp_path / "library") as retriever:
        assert retriever.answer("What does Article 2 of the Lamp Code say?").text.startswith(" ".join(DEEDS[:6]))
        announced = retriever.answer("What does Article 3 of the Lamp Code say?").text
    assert announced.startswith("1. Nobody may do this: (a) put out the lamp")
    assert "oil" not in announced
