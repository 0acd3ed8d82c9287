"""What happens in a chapter."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from nlb_retriever import Retriever, book_from_text, index_books
from nlb_retriever.encoding import DEFAULT_ENCODER, find_salience, identify_encoder, load_encoder, score_sentences
from nlb_retriever.reading import read_book
from nlb_retriever.search.answers.digest import answer_digest
from nlb_retriever.search.answers.telling import SENTENCES, WORDS, choose_telling
from nlb_retriever.search.hits import to_hit
from nlb_retriever.search.request import SearchRequest

FILLERS = (
    "Oh, you know how such things are, my dear!",
    "Well, it was as it was.",
    "Yes, yes, why not, indeed?",
    "Some say so, others say not so.",
    "That was that, and there you are.",
)
DAYS = [
    f"On day {number} {who} {did}. {FILLERS[number % 5]} {FILLERS[number % 4]}"
    for number, (who, did) in enumerate(
        [
            ("Anna", "found a letter under the floor of the old mill"),
            ("the miller", "told Anna that her father was alive"),
            ("Anna", "took the ferry to the island with her brother"),
            ("the ferryman", "stole the letter and rowed away in the fog"),
            ("her brother", "saw a light in the chapel"),
            ("Anna", "broke the chapel door with an axe"),
            ("the father", "lay bound beside the altar, and she cut the ropes"),
            ("all of them", "sailed home on a raft of barrels"),
            ("the ferryman", "was arrested by the constable at the pier"),
            ("Anna", "burnt the letter and married the miller"),
        ]
    )
]
VOYAGE = "\n\n".join(f"CHAPTER {number}.\n\n{'  '.join(DAYS)}" for number in ("I", "II", "III"))
FARM = "CHAPTER I.\n\nThe bread rose. The dough was kneaded by the farmer's wife before dawn.\n\n" * 2
ACTS = "\n\n".join(
    f"ACT {act}.\n\n" + "\n\n".join(f"SCENE {scene}.\n\n{'  '.join(DAYS)}" for scene in ("I", "II"))
    for act in ("I", "II")
)
SCRIPTURE = "\n\n".join(
    f"{book}\n\n"
    + "\n\n".join(f"{chapter}:{verse} {DAYS[verse - 1]}" for chapter in (1, 2, 3) for verse in range(1, 11))
    for book in ("The First Book: Called Beginnings", "Psalms")
)
TEXTS = {"The Ferry": VOYAGE, "Country Bread": FARM, "The Chapel": ACTS, "Scripture": SCRIPTURE}


@pytest.fixture(scope="module")
def retriever(tmp_path_factory: pytest.TempPathFactory) -> Retriever:
    library = tmp_path_factory.mktemp("digest") / "library"
    index_books([book_from_text(text, source=title, title=title) for title, text in TEXTS.items()], library)
    return Retriever(library)


@pytest.mark.parametrize(
    ("question", "options", "chapter"),
    [
        ("What happens in chapter 2 of The Ferry?", {}, "CHAPTER II."),
        ("what happens in chapter ii", {"book": "Ferry"}, "CHAPTER II."),
        ("Summarize the third chapter.", {"book": "Ferry"}, "CHAPTER III."),
        ("Give me a short summary of the last chapter of the novel The Ferry!", {}, "CHAPTER III."),
        ("What is chapter one about?", {"book": "Ferry"}, "CHAPTER I."),
        ("What's the plot of chapter 2?", {"book": "Ferry"}, "CHAPTER II."),
        ("What is chapter 2 of The Ferry about?", {}, "CHAPTER II."),
        ("What does chapter 3 tell us?", {"book": "Ferry"}, "CHAPTER III."),
        ("What is in chapter 3 of The Ferry?", {}, "CHAPTER III."),
        ("What happens in The Ferry chapter 2?", {}, "CHAPTER II."),
        ("What happens in The Ferry in chapter two?", {}, "CHAPTER II."),
        ("In chapter 3 of The Ferry, what happens?", {}, "CHAPTER III."),
        ("In The Ferry chapter 3, what happens?", {}, "CHAPTER III."),
        ("In The Ferry, what happens in chapter 3?", {}, "CHAPTER III."),
        ("chapter 1 of the ferry", {}, "CHAPTER I."),
        ("The Ferry chapter 3 summary", {}, "CHAPTER III."),
        ("chapter 3 the ferry", {}, "CHAPTER III."),
        ("Chapter 3 summary, The Ferry", {}, "CHAPTER III."),
        ("The Ferry, ch. 3 summary", {}, "CHAPTER III."),
        ("What happens in ch 3 of The Ferry?", {}, "CHAPTER III."),
        ("What happens in ſec. 3 of The Ferry?", {}, "CHAPTER III."),
        ("chapter 3 of The Ferry summary", {}, "CHAPTER III."),
        ("summary of the ferry, chapter iii", {}, "CHAPTER III."),
        ("Summarize the plot of chapter 3 of The Ferry", {}, "CHAPTER III."),
        ("What happens here?", {"book": "Ferry", "section": "chapter 2"}, "CHAPTER II."),
        ("Summarize this chapter", {"book": "Ferry", "section": "2"}, "CHAPTER II."),
    ],
)
def test_sentences_of_all_the_chapter_are_quoted_in_order(
    retriever: Retriever, question: str, options: dict[str, str], chapter: str
) -> None:
    answer = retriever.answer(question, **options)  # type: ignore[arg-type]
    assert (answer.question, answer.short, answer.found, answer.confidence) == (question, None, True, "likely")
    assert {citation.hit.section for citation in answer.citations} == {(chapter,)}
    starts = [citation.quote_start for citation in answer.citations]
    assert starts == sorted(starts) and len(starts) > SENTENCES // 2
    assert starts[-1] - starts[0] > len(" ".join(DAYS)) // 2
    assert len(answer.text.split()) <= WORDS
    assert all(VOYAGE[each.quote_start : each.quote_end] == each.quote for each in answer.citations)
    assert 2 * answer.text.count("On day") > len(starts)


def test_a_section_of_a_manual_is_told_by_its_number(tmp_path: Path) -> None:
    titles = ("1. Clocks", "1.1. Hands", "1.2. Bells", "2. Doors", "2.1. Locks")
    sections = [f"{title}\n\n{'  '.join(DAYS)}" for title in titles]
    index_books([book_from_text("\n\n".join(sections), source="manual", title="The Manual")], tmp_path / "library")
    with Retriever(tmp_path / "library") as manual:
        for question in ("What is in section 1.2 of The Manual?", "Summarize section 1.2 of the manual"):
            assert {each.hit.section for each in manual.answer(question).citations} == {("1. Clocks", "1.2. Bells")}


@pytest.mark.parametrize("part", ["Act 2, Scene 1", "act ii scene i", "Act II Scene 1"])
def test_a_scene_is_told_by_itself(retriever: Retriever, part: str) -> None:
    answer = retriever.answer(f"What happens in {part} of The Chapel?")
    assert {citation.hit.section for citation in answer.citations} == {("ACT II.", "SCENE I.")}


@pytest.mark.parametrize(
    "question",
    [
        "What happens in scene 2 of act 1 of The Chapel?",
        "What happens in the second scene of the first act of The Chapel?",
        "What happens in scene 2 of the chapel act 1?",
        "The Chapel act 1, scene 2",
        "Scene 2, Act 1 of The Chapel",
    ],
)
def test_an_outer_part_may_stand_anywhere(retriever: Retriever, question: str) -> None:
    answer = retriever.answer(question)
    assert {citation.hit.section for citation in answer.citations} == {("ACT I.", "SCENE II.")}


@pytest.mark.parametrize(
    ("chapters", "titles"),
    [
        ("chapters 1 and 3 of The Ferry", ["CHAPTER I.", "CHAPTER III."]),
        ("The Ferry chapters 1, 2 and 3", ["CHAPTER I.", "CHAPTER II.", "CHAPTER III."]),
        ("chapters I to III of The Ferry", ["CHAPTER I.", "CHAPTER II.", "CHAPTER III."]),
        ("chapters 2-3 of The Ferry", ["CHAPTER II.", "CHAPTER III."]),
    ],
)
def test_several_chapters_are_told_together(retriever: Retriever, chapters: str, titles: list[str]) -> None:
    answer = retriever.answer(f"What happens in {chapters}?")
    assert list(dict.fromkeys(citation.hit.section for citation in answer.citations)) == [(each,) for each in titles]


@pytest.mark.parametrize("chapters", ["chapter 9", "chapters 2 and 9"])
def test_a_chapter_behind_the_title_may_be_none(retriever: Retriever, chapters: str) -> None:
    assert retriever.answer(f"The Ferry {chapters}").text.startswith("The Ferry has no section")


@pytest.mark.parametrize(
    ("question", "short"),
    [
        ("How many acts does The Chapel have?", "2"),
        ("How many scenes are in The Chapel?", "4"),
        ("List the acts of The Chapel", "ACT I.; ACT II."),
    ],
)
def test_acts_and_scenes_are_counted(retriever: Retriever, question: str, short: str) -> None:
    assert retriever.answer(question).short == short


@pytest.mark.parametrize(
    "question", ["What is chapter 2 called?", "what is the title of the second chapter of the novel The Ferry"]
)
def test_a_chapter_is_named(retriever: Retriever, question: str) -> None:
    answer = retriever.answer(question, book="Ferry")
    assert (answer.short, answer.confidence) == ("CHAPTER II.", "sure")
    assert answer.text.startswith("On day 0 Anna found a letter")


@pytest.mark.parametrize("question", ["What happens in chapter 99?", "What is chapter 99 called?"])
def test_a_chapter_that_is_not_there_is_said_to_be_none(retriever: Retriever, question: str) -> None:
    answer = retriever.answer(question, book="Ferry")
    assert (answer.found, answer.short, answer.confidence) == (False, None, None)
    assert answer.text.startswith("The Ferry has no section 'chapter 99': see `nlb show`")


def test_a_chapter_may_be_called_by_its_title(tmp_path: Path) -> None:
    text = "ADVENTURE I. THE LOST BOAT\n\n" + " ".join(DAYS) + "\n\nADVENTURE II. THE OLD MILL\n\n" + FARM[12:]
    index_books([book_from_text(text, source="tales", title="Tales")], tmp_path / "library")
    with Retriever(tmp_path / "library") as tales:
        for question in ("What is “The Lost Boat” about?", "Summarize Adventure I. The Lost Boat"):
            answer = tales.answer(question)
            assert {each.hit.section for each in answer.citations} == {("ADVENTURE I. THE LOST BOAT",)}
            assert len(answer.citations) > 4
        assert len(tales.answer("What happens in the old boat?").citations) <= 5


def test_parts_of_a_paper_are_told_by_their_names(tmp_path: Path) -> None:
    rows = " ".join(f"Fog {number} yes no yes" for number in range(40))
    parts = {"1. Introduction": DAYS[0], "2. Results": f"{rows}\n\n{DAYS[1]}", "3. Discussion": DAYS[2]}
    text = "\n\n".join(f"{title}\n\n{text} {DAYS[9]}" for title, text in parts.items())
    index_books([book_from_text(text, source="x", title="On Fog")], tmp_path / "library")
    paper = Retriever(tmp_path / "library")
    assert "ferry to the island" in paper.answer("What is in the discussion of On Fog?").text
    results = paper.answer("What is the results of On Fog?")
    assert not results.shorts and "her father was alive" in results.text and "yes no" not in results.text
    assert "found a letter" in paper.answer("What is in section 1 of On Fog?").text


def test_no_more_sentences_are_quoted_than_wanted(retriever: Retriever) -> None:
    assert len(retriever.answer("What happens in chapter 2?", book="Ferry", limit=2).citations) == 2
    assert retriever.answer("What happens in chapter 2?", book="Ferry", limit=0).citations == ()
    assert len(retriever.answer("What happens in chapter 2?", book="Ferry", limit=1, mode="bm25").citations) == 1


def test_what_comes_later_is_not_told(retriever: Retriever) -> None:
    answer = retriever.answer("What happens in chapter 3?", book="Ferry", before="chapter 2")
    assert {citation.hit.section for citation in answer.citations} <= {("CHAPTER I.",)}


@pytest.mark.parametrize(
    ("question", "options"),
    [
        ("What happens in chapter 2?", {}),
        ("Describe the second letter", {"book": "Ferry"}),
        ("What happens in chapter 2 of Nobody's Book?", {}),
        ("What happens in this chapter?", {"book": "Ferry"}),
        ("What happens in the fog?", {"book": "Ferry"}),
        ("What happens in chapter 2 " + "of it " * 200, {"book": "Ferry"}),
    ],
)
def test_other_questions_are_answered_from_the_text(
    retriever: Retriever, question: str, options: dict[str, str]
) -> None:
    request = SearchRequest(query=question, **options)  # type: ignore[arg-type]
    assert answer_digest(request, retriever.store, None) is None
    assert retriever.answer(question, **options).question == question.strip()  # type: ignore[arg-type]


def test_words_alone_quote_the_beginning(retriever: Retriever, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*args: object, **options: object) -> None:
        raise AssertionError

    monkeypatch.setattr("nlb_retriever.search.retriever.load_encoder", refuse)
    with Retriever(retriever.store.location) as fresh:
        answer = fresh.answer("What happens in chapter 2?", book="Ferry", mode="bm25")
    assert answer.text.startswith("On day 0 Anna found a letter")


def test_another_encoder_takes_the_most_similar_sentences(retriever: Retriever) -> None:
    assert find_salience("0" * 64) is None
    weights = find_salience(identify_encoder(DEFAULT_ENCODER).sha256)
    assert weights is not None and weights.shape == (2, 384)
    encoder = load_encoder(device="cpu")
    vectors = encoder.encode(DAYS)
    lengths = [len(day.split()) for day in DAYS]
    alike = score_sentences(vectors, lengths, None)
    assert alike.shape == (len(DAYS),) and alike.max() <= 1.0
    assert not np.allclose(alike, score_sentences(vectors, lengths, weights))


def test_nothing_is_chosen_of_no_passages(retriever: Retriever) -> None:
    encoder = load_encoder(device="cpu")
    assert choose_telling([], encoder, 8) == []
    book = retriever.store.find_book("Ferry")
    hits = [to_hit(passage) for passage in retriever.store.passages(book.id)]
    assert choose_telling(hits, encoder, 0) == []


@pytest.mark.parametrize(
    ("question", "sections"),
    [
        ("What happens in Beginnings 2?", [("The First Book: Called Beginnings", "Chapter 2")]),
        ("What happens in chapter 2 of Beginnings?", [("The First Book: Called Beginnings", "Chapter 2")]),
        ("What does Psalm 3 say?", [("Psalms", "Chapter 3")]),
        ("Summarize the book of Psalms", [("Psalms", f"Chapter {number}") for number in (1, 2, 3)]),
    ],
)
def test_a_chapter_is_named_with_its_part(retriever: Retriever, question: str, sections: list[tuple[str, ...]]) -> None:
    answer = retriever.answer(question)
    assert list(dict.fromkeys(citation.hit.section for citation in answer.citations)) == sections


CLAUSE = "Whoever winds the clock number {} shall ring its bell at noon, and whoever does not shall pay for it."
LAW = "\n\n".join(
    ["The Law of Clocks"]
    + [
        f"Article {article}\n\nSection 1\n\n{CLAUSE.format(f'{article}a')} {CLAUSE.format('9')}"
        f"\n\nSection 2\n\n{CLAUSE.format(f'{article}b')}"
        for article in ("I", "II", "III", "IV")
    ]
    + [f"Amendment {n}\n\n{CLAUSE.format(100 + n)}" for n in range(1, 5)]
)
LICENCE = "\n\n".join(f"{n}. {CLAUSE.format(n)} {CLAUSE.format(n)}" for n in range(1, 7))


@pytest.fixture(scope="module")
def laws(tmp_path_factory: pytest.TempPathFactory) -> Retriever:
    folder = tmp_path_factory.mktemp("laws")
    for name, text in {"law": LAW, "bell-licence-1.1": LICENCE, "ferry": VOYAGE}.items():
        (folder / f"{name}.txt").write_text(text)
    index_books(map(read_book, folder.glob("*.txt")), folder / "library")
    return Retriever(folder / "library")


@pytest.mark.parametrize(
    ("question", "says"),
    [
        ("What does the second amendment say?", "clock number 102"),
        ("Summarize Amendment IV of the Law of Clocks", "clock number 104"),
        ("What does the 3rd Amendment say?", "clock number 103"),
        ("What is in Article III, Section 2?", "clock number IIIb"),
        ("What does article 4 section 1 say?", "clock number IVa"),
        ("What does section 5 of the Bell licence 1.1 say?", "clock number 5"),
        ("What does clause 2 of the Bell Licence 1.1 contract say?", "clock number 2"),
        ("What does section 5 of the BL11 say?", "clock number 5"),
        ("what does section 5 of the bl11 say?", "clock number 5"),
    ],
)
def test_articles_and_clauses_are_named_by_number(laws: Retriever, question: str, says: str) -> None:
    answer = laws.answer(question)
    assert answer.confidence == "likely"
    assert says in answer.text


def test_an_article_that_no_law_has_is_looked_for_in_the_text(laws: Retriever) -> None:
    assert laws.answer("What does the ninth amendment say?").confidence != "likely"


def test_articles_are_counted(laws: Retriever) -> None:
    assert laws.answer("How many articles does the Law of Clocks have?").shorts[0].text == "4"
    assert laws.answer("How many amendments are in the Law of Clocks?").shorts[0].text == "4"


def test_one_sentence_that_is_too_long_for_a_digest_is_quoted(tmp_path: Path) -> None:
    long = "The bell shall be rung " + "and rung again " * 60 + "until noon."
    text = "\n\n".join(f"Article {n}\n\n{long if n == 3 else CLAUSE.format(n) * 5}" for n in range(1, 7))
    (tmp_path / "law.txt").write_text(text)
    index_books([read_book(tmp_path / "law.txt")], tmp_path / "library")
    assert Retriever(tmp_path / "library").answer("What does article 3 say?").text.startswith("The bell shall be rung")
