"""Works whose chapters are a file each: named, asked about and counted as one book."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from nlb_retriever import Retriever, index_files
from nlb_retriever.search.hits import in_works
from nlb_retriever.search.relevance import weigh_names
from nlb_retriever.search.scope import work_of
from nlb_retriever.store.filters import Condition, Operator
from tests.texts import KITCHEN

CHAPTERS = {
    "The Keeper": "Old Tomas Reed kept the lamp of Skerry. Every evening Tomas climbed the ninety steps with oil.",
    "The Letter": "A letter came with the herring boat. Tomas read it twice and lit the stove with it.",
    "The Wreck": "The schooner Marigold struck the reef. Tomas rowed out alone and brought eleven sailors home.",
    "The Queen": "The sailors had written to the Queen. Dora the nurse said that nobody would put out the lamp.",
}


@pytest.fixture(scope="module")
def retriever(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Retriever]:
    folder: Path = tmp_path_factory.mktemp("shelf")
    (folder / "books" / "lamp-of-skerry").mkdir(parents=True)
    (folder / "books" / "kitchen.txt").write_text(KITCHEN, encoding="utf-8")
    for number, (title, text) in enumerate(CHAPTERS.items(), 1):
        path = folder / "books" / "lamp-of-skerry" / f"chapter-{number:02}.md"
        path.write_text(f"# Chapter {number}. {title}\n\n{text}\n", encoding="utf-8")
    index_files(folder / "books", folder / "library")
    with Retriever(folder / "library") as retriever:
        yield retriever


@pytest.mark.parametrize(
    ("question", "short"),
    [
        ("How many chapters does The Lamp of Skerry have?", "4"),
        ("How many books are there?", "2 (in 5 files)"),
        ("What is chapter 3 of Lamp of Skerry called?", "Chapter 3. The Wreck"),
        ("In which chapter of The Lamp of Skerry does the schooner strike the reef?", "Chapter 3. The Wreck"),
        ("Which book is about a schooner on a reef?", "Lamp of Skerry"),
    ],
)
def test_a_question_on_a_work_is_answered_by_all_its_files(retriever: Retriever, question: str, short: str) -> None:
    assert retriever.answer(question).short == short


def test_how_a_work_ends_stands_in_its_last_file(retriever: Retriever) -> None:
    answer = retriever.answer("How does The Lamp of Skerry end?")
    assert answer.text.endswith("nobody would put out the lamp.")


def test_a_work_that_is_named_is_searched(retriever: Retriever) -> None:
    hits = retriever.answer("In The Lamp of Skerry, who brought eleven sailors home?").citations
    assert hits[0].hit.title == "Chapter 3. The Wreck"
    for name in ("lamp of skerry", "lamp-of-skerry", "Lamp of Skerry", "skerry"):
        assert {hit.title for hit in retriever.search("water", book=name, limit=20)} == {
            f"Chapter {number}. {title}" for number, title in enumerate(CHAPTERS, 1)
        }


def test_a_part_of_a_work_is_searched(retriever: Retriever) -> None:
    def titles(**scope: str) -> set[str]:
        return {hit.title for hit in retriever.search("the lamp", book="lamp of skerry", limit=20, **scope)}

    assert titles(section="chapter 2") == {"Chapter 2. The Letter"}
    assert titles(before="chapter 3") == {"Chapter 1. The Keeper", "Chapter 2. The Letter"}
    assert titles(before="chapter 1") == set()
    read = retriever.answer(
        "What happens in chapter 4 of The Lamp of Skerry?", book="lamp of skerry", before="chapter 3"
    )
    assert not read.found


def test_a_chapter_is_a_book_too(retriever: Retriever) -> None:
    assert {hit.title for hit in retriever.search("lamp", book="chapter-02.md")} == {"Chapter 2. The Letter"}
    assert len(retriever.store.books()) == 5


def test_names_in_several_chapters_are_in_one_work(retriever: Retriever) -> None:
    hits = retriever.search("Who is Tomas?", book="lamp of skerry", limit=20)
    joined = in_works(hits, retriever.store)
    assert {(hit.title, hit.book_id) for hit in joined} == {("Lamp of Skerry", retriever.store.works()[1].id)}
    assert weigh_names("Who is Tomas?", joined) > weigh_names("Who is Tomas?", hits)


def test_a_name_is_looked_up_in_the_whole_work(retriever: Retriever) -> None:
    work = retriever.store.works()[1]
    assert work_of(work.parts[2].id, retriever.store) == work
    assert work_of(retriever.store.works()[0].id, retriever.store) == retriever.store.works()[0]


def test_a_chapter_says_what_it_is_of(retriever: Retriever) -> None:
    for level in ("book", "section", "passage"):
        hits = retriever.search("Tomas and the water for the dough", level=level, limit=20)
        named = {hit.title: (hit.work, hit.to_json()["work"], hit.titles) for hit in hits}
        wreck, kitchen = named["Chapter 3. The Wreck"], named["A Book of Country Bread"]
        assert wreck == ("Lamp of Skerry", "Lamp of Skerry", ("Lamp of Skerry", "Chapter 3. The Wreck"))
        assert kitchen == (None, None, ("A Book of Country Bread",))
    assert {book.title: book.work for book in retriever.store.books()} == {
        "A Book of Country Bread": None,
        **{f"Chapter {number}. {title}": "Lamp of Skerry" for number, title in enumerate(CHAPTERS, 1)},
    }


@pytest.mark.parametrize(("op", "count"), [("eq", 4), ("ne", 1), ("is_empty", 1)])
def test_a_work_is_filtered_by(retriever: Retriever, op: Operator, count: int) -> None:
    where = Condition("work", op, None if op == "is_empty" else "Lamp of Skerry")
    assert len({hit.book_id for hit in retriever.search("the lamp", where=where, limit=20)}) == count
    assert len(retriever.store.books(where)) == count
