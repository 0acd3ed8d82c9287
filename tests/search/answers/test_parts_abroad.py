"""Questions on the parts of books whose headings, stops or missing spaces are of other languages."""

from __future__ import annotations

from dataclasses import replace

import pytest

from nlb_retriever import Retriever, index_files
from nlb_retriever.search.answers.book_parts import ends_sentence
from nlb_retriever.search.answers.quotes import is_question
from tests.search.answers.test_book_parts import HIT

KAPITEL = "Der alte Mann ging langsam durch die Stadt und dachte an seine Tochter. Niemand wusste davon."
HUI = "老人慢慢地走过城市，想着他的女儿。他卖掉了房子，没有人知道他现在要去哪里。"
ADHYAY = "होरी एक गरीब किसान था। उसकी पत्नी का नाम धनिया था।"
TEXTS = {
    "Die Stadt": "\n\n".join(
        f"{title} Kapitel\n\n{KAPITEL * count}" for title, count in (("Erstes", 1), ("Zweites", 5), ("Drittes", 2))
    ),
    "红楼": "\n\n".join(
        f"第{number}回 {title}\n\n{HUI}" for number, title in (("一", "甄士隐"), ("二", "贾夫人"), ("三", "托内兄"))
    ),
    "गोदान": "\n\n".join(f"अध्याय {number}\n\n{ADHYAY}" for number in (1, 2, 3)),
}


@pytest.fixture(scope="module")
def retriever(tmp_path_factory: pytest.TempPathFactory) -> Retriever:
    folder = tmp_path_factory.mktemp("abroad")
    for title, text in TEXTS.items():
        (folder / f"{title}.txt").write_text(text, encoding="utf-8")
    index_files([folder], folder / "library")
    return Retriever(folder / "library")


@pytest.mark.parametrize(
    ("question", "short"),
    [
        ("How many chapters does Die Stadt have?", "3"),
        ("Which is the longest chapter of Die Stadt?", "Zweites Kapitel"),
        ("How many chapters does 红楼 have?", "3"),
        ("How long is 红楼?", "66 words"),
        ("What is the first line of गोदान?", "होरी एक गरीब किसान था।"),
        ("What is the last line of 红楼?", "他卖掉了房子，没有人知道他现在要去哪里。"),
    ],
)
def test_parts_of_books_abroad_are_known(retriever: Retriever, question: str, short: str) -> None:
    answer = retriever.answer(question)
    assert answer.short is not None
    assert answer.short.startswith(short)


def test_a_chapter_without_spaces_has_a_digest(retriever: Retriever) -> None:
    assert "卖掉了房子" in retriever.answer("What happens in chapter 3 of 红楼?").citations[0].quote


@pytest.mark.parametrize(
    ("question", "section"),
    [("Was passiert im dritten Kapitel von Die Stadt?", "Drittes Kapitel"), ("红楼第三回讲了什么？", "第三回 托内兄")],
)
def test_a_question_in_another_language_gets_a_digest_of_its_chapter(
    retriever: Retriever, question: str, section: str
) -> None:
    assert {each.hit.section[-1] for each in retriever.answer(question).citations} == {section}


def test_questions_in_any_script_are_questions() -> None:
    for text in (
        "他是谁？",
        "من هو؟",
        "「何？」",
        "„Wer ist da?“",
        "»Wer ist da?«",
        "« Qui est là ? »",
        "«Ποιος είναι;»",
    ):
        assert is_question(replace(HIT, text=text), 0, len(text))
    for text in ("He left;", "„Er ging.“", "Έφυγε."):
        assert not is_question(replace(HIT, text=text), 0, len(text))


@pytest.mark.parametrize("text", ["„Er ging.“", "»Er ging.«", "« Il partit. »", "彼は行った。」"])
def test_sentences_end_with_the_quotation_marks_of_their_language(text: str) -> None:
    assert ends_sentence(text)
