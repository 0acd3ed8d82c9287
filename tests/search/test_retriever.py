"""Searching a real small library at all levels, and what a search may be limited to."""

from __future__ import annotations

import subprocess
import sys
import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path

import pytest

from nlb_retriever import Retriever, book_from_text, index_books, index_files
from nlb_retriever.errors import LibraryNotFound, MismatchError, QueryError
from nlb_retriever.model.checkpoint import UNTRAINED
from nlb_retriever.records import LEVELS, Level
from nlb_retriever.search.hits import Surroundings, find_surroundings, to_hit
from nlb_retriever.search.reranking import rerank_sections
from nlb_retriever.store import Condition, Or, open_store
from tests.texts import KITCHEN, LIGHTHOUSE

GERMAN = """\
Der Garten

von Klara Blum

KAPITEL I

Der alte Gärtner pflanzte im Frühling rote Rosen an der Mauer und weiße Lilien am Teich.
"""


@pytest.fixture(scope="module")
def library(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("retriever")
    books = folder / "books"
    books.mkdir()
    for name, text in (("lighthouse", LIGHTHOUSE), ("bread", KITCHEN), ("garten", GERMAN)):
        (books / f"{name}.txt").write_text(text, encoding="utf-8")
    index_files([books], folder / "library")
    return folder / "library"


@pytest.fixture(scope="module")
def retriever(library: Path) -> Retriever:
    return Retriever(library)


def test_each_level_finds_what_the_question_is_about(retriever: Retriever) -> None:
    for level in LEVELS:
        hits = retriever.search("Who turned the lamp by hand in the storm?", level=level)
        assert hits[0].title == "The Lighthouse Keeper"
        assert hits[0].level == level
    assert retriever.search("Who turned the lamp by hand?", level="section")[0].section == ("CHAPTER II. The Storm",)


@pytest.mark.parametrize("level", LEVELS)
@pytest.mark.parametrize("strategy", ["coarse-to-fine", "flat"])
@pytest.mark.parametrize("mode", ["fused", "dense", "bm25"])
def test_every_hits_text_is_its_span_of_the_book(retriever: Retriever, level: str, strategy: str, mode: str) -> None:
    hits = retriever.search("flour for the oven and the lamp", level=level, strategy=strategy, mode=mode)  # type: ignore[arg-type]
    assert hits
    for hit in hits:
        assert retriever.store.book_text(hit.book_id)[hit.start : hit.end] == hit.text
        assert hit.text.strip()
    assert [hit.score for hit in hits] == sorted((hit.score for hit in hits), reverse=True)


def test_vectors_find_what_no_word_matches(retriever: Retriever) -> None:
    assert retriever.search("a beacon warning sailors", mode="dense")[0].title == "The Lighthouse Keeper"


def test_words_find_a_name_that_occurs_once(retriever: Retriever) -> None:
    hits = retriever.search("Margaret", mode="bm25")
    assert [hit.section for hit in hits] == [("CHAPTER III. The Niece",)]


def test_a_book_is_found_by_its_title_and_author(retriever: Retriever) -> None:
    assert retriever.search("Peter Miller", level="book")[0].title == "A Book of Country Bread"
    assert retriever.search("A Book of Country Bread", level="book")[0].author == "Peter Miller"


def test_limit_bounds_the_hits_and_none_is_none(retriever: Retriever) -> None:
    assert len(retriever.search("the lamp", limit=2)) == 2
    assert retriever.search("the lamp", limit=0) == []
    assert 3 < len(retriever.search("the lamp", limit=100_000)) < 20
    with pytest.raises(QueryError, match="limit must be a whole number from 0 to"):
        retriever.search("the lamp", limit=-1)


@pytest.mark.parametrize("name", ["bread.txt", "A Book of Country Bread", "country bread"])
def test_a_book_is_chosen_by_path_or_title(retriever: Retriever, library: Path, name: str) -> None:
    if name.endswith(".txt"):
        name = str(library.parent / "books" / name)
    for level in LEVELS:
        hits = retriever.search("the lamp and the clock", level=level, book=name)
        assert {hit.title for hit in hits} == {"A Book of Country Bread"}


def test_an_unknown_book_is_one_line_with_similar_titles(retriever: Retriever) -> None:
    with pytest.raises(QueryError) as error:
        retriever.search("x", book="The Lighthouse Kepper")
    assert "The Lighthouse Keeper" in str(error.value)
    assert "\n" not in str(error.value)


def test_before_shows_no_spoilers(retriever: Retriever) -> None:
    for before in ("3", "CHAPTER III. The Niece", "chapter iii"):
        for level in ("section", "passage"):
            hits = retriever.search(
                "Who took the lamp when Tobias died?", book="Lighthouse", before=before, level=level
            )  # type: ignore[arg-type]
            assert hits
            assert all(hit.section != ("CHAPTER III. The Niece",) for hit in hits)


def test_a_section_can_be_searched_alone(retriever: Retriever) -> None:
    hits = retriever.search("Tobias", book="Lighthouse", section="The Storm")
    assert {hit.section for hit in hits} == {("CHAPTER II. The Storm",)}


def test_a_section_without_a_book_or_of_no_book_is_refused(retriever: Retriever) -> None:
    with pytest.raises(QueryError, match="name the book too"):
        retriever.search("x", before="3")
    with pytest.raises(QueryError, match="has 3 sections, no number 9"):
        retriever.search("x", book="Lighthouse", before="9")
    with pytest.raises(QueryError, match="has no section 'The Wedding'"):
        retriever.search("x", book="Lighthouse", section="The Wedding")


def test_filters_choose_by_author_and_section(retriever: Retriever) -> None:
    miller = Condition("author", "eq", "Peter Miller")
    for level in LEVELS:
        assert {hit.author for hit in retriever.search("lamp", level=level, where=miller)} == {"Peter Miller"}
    either = Or((miller, Condition("section_path", "contains", "CHAPTER II. The Storm")))
    hits = retriever.search("lamp", where=either)
    assert {hit.section[0] for hit in hits} == {"CHAPTER II. The Storm", "CHAPTER I. Flour", "CHAPTER II. The Oven"}
    with pytest.raises(QueryError, match="known keys"):
        retriever.search("lamp", where=Condition("colour", "eq", "red"))


def test_neighbours_widen_a_passage_inside_its_section(tmp_path: Path) -> None:
    sentences = [
        f"Sentence number {number} tells of the {number}th day at sea and nothing else." for number in range(60)
    ]
    text = "CHAPTER I\n\n" + " ".join(sentences) + "\n\nCHAPTER II\n\nThe end came on land, at last and slowly.\n"
    (tmp_path / "sea.txt").write_text(text)
    index_files([tmp_path / "sea.txt"], tmp_path / "library", chunk_tokens=64)
    with Retriever(tmp_path / "library") as retriever:
        plain = retriever.search("the 30th day", limit=1)[0]
        wide = retriever.search("the 30th day", limit=1, neighbours=1)[0]
        assert wide.start < plain.start < plain.end < wide.end
        assert plain.text in wide.text
        assert text[wide.start : wide.end] == wide.text
        last = retriever.search("the end came on land", limit=1, neighbours=5)[0]
        assert last.section == ("CHAPTER II",)
        assert "number 59" not in last.text


SUMMARY = "A keeper tends a lamp for forty years. A storm breaks its clock. His niece comes after his death."


def judge(retriever: Retriever, query: str, ids: list[str]) -> dict[str, float]:
    return rerank_sections(query, ids, retriever.store, retriever.vectorizer)


def test_sections_are_judged_for_a_long_question_as_a_search_judges_them(retriever: Retriever) -> None:
    hits = retriever.search(SUMMARY, level="section", limit=100)
    scores = judge(retriever, SUMMARY, [hit.id for hit in hits])
    assert scores == pytest.approx({hit.id: hit.score for hit in hits})
    none = "5b3f0e4e-0000-5000-8000-000000000000"
    assert judge(retriever, SUMMARY, [none, hits[1].id, hits[0].id, hits[1].id]).keys() == {
        hits[0].id,
        hits[1].id,
    }


def test_the_reranker_has_no_say_on_short_questions_and_single_sections(retriever: Retriever) -> None:
    ids = [hit.id for hit in retriever.search(SUMMARY, level="section")]
    assert judge(retriever, "A keeper tends a lamp. A storm breaks its clock.", ids) == {}
    assert judge(retriever, SUMMARY, ids[:1]) == judge(retriever, SUMMARY, []) == {}
    with pytest.raises(QueryError, match="question is empty"):
        judge(retriever, " ", ids)


def test_sections_are_read_by_id_in_that_order(retriever: Retriever) -> None:
    hits = retriever.search(SUMMARY, level="section", limit=3)
    none = "5b3f0e4e-0000-5000-8000-000000000000"
    read = retriever.store.get_sections([hits[2].id, none, hits[0].id])
    assert [to_hit(section) for section in read] == [replace(hits[2], score=0.0), replace(hits[0], score=0.0)]
    assert retriever.store.passages(read[0].book_id, *read[0].passages)[0].section_id == read[0].id


def test_the_surroundings_of_a_hit_are_ids(retriever: Retriever) -> None:
    book = retriever.store.find_book("lighthouse").id
    sections = sorted(
        (hit for hit in retriever.search(SUMMARY, level="section", limit=100) if hit.book_id == book),
        key=lambda hit: hit.start,
    )
    around = find_surroundings(sections, retriever.store)
    ids = [hit.id for hit in sections]
    assert [each.previous for each in around] == [None, *ids[:-1]]
    assert [each.next for each in around] == [*ids[1:], None]
    books = retriever.search(SUMMARY, level="book", limit=1)
    assert {each.parent for each in around} == {books[0].id}
    assert find_surroundings(books, retriever.store) == [Surroundings(parent=None, previous=None, next=None)]
    assert find_surroundings([], retriever.store) == []


@pytest.mark.parametrize("question", ["", "   \n", "\x00"])
def test_an_empty_question_is_refused(retriever: Retriever, question: str) -> None:
    for mode in ("fused", "dense", "bm25"):
        with pytest.raises(QueryError, match="question is empty"):
            retriever.search(question, mode=mode)  # type: ignore[arg-type]


def test_a_question_of_100_000_characters_is_answered(retriever: Retriever) -> None:
    question = "Tobias turned the lamp by hand. " * 3125
    assert retriever.search(question, limit=1)[0].title == "The Lighthouse Keeper"


@pytest.mark.parametrize("question", ["?!", "the of and", "\ud800 lamp", "灯台", "🔦", "a" * 5000])
def test_odd_questions_give_hits_or_none_but_no_crash(retriever: Retriever, question: str) -> None:
    assert len(retriever.search(question, limit=3)) <= 3


def test_no_library_says_what_to_do(tmp_path: Path) -> None:
    with pytest.raises(LibraryNotFound, match="run `nlb index FOLDER` first"):
        Retriever(tmp_path / "none").search("x")


def test_making_a_retriever_does_no_work(tmp_path: Path) -> None:
    Retriever(tmp_path / "none").close()
    assert not (tmp_path / "none").exists()


def test_a_library_of_a_changed_encoder_is_refused(library: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from nlb_retriever.model.checkpoint import Checkpoint

    monkeypatch.setattr(Checkpoint, "sha256", "f" * 64)
    with Retriever(library) as retriever, pytest.raises(MismatchError, match=r"checkpoint \(released.*ffffffffffff"):
        retriever.search("lamp")


@pytest.mark.usefixtures("no_locks")
def test_threads_share_a_retriever(library: Path) -> None:
    """From its first search on."""
    asks: list[Callable[[Retriever], object]] = [
        lambda retriever: retriever.search("the storm", level="section"),
        lambda retriever: retriever.answer("Who turned the lamp by hand?"),
        lambda retriever: retriever.search("the storm"),
    ]
    with Retriever(library) as one, Retriever(library) as shared, ThreadPoolExecutor(6) as threads:
        together = threading.Barrier(6)

        def ask(number: int) -> object:
            together.wait()
            return asks[number % 3](shared)

        expected = [each(one) for each in asks]
        assert list(threads.map(ask, range(6))) == expected * 2


def test_an_open_retriever_sees_what_is_published_and_does_not_hold_up_a_writer(tmp_path: Path) -> None:
    (tmp_path / "one.txt").write_text(LIGHTHOUSE)
    index_files([tmp_path / "one.txt"], tmp_path / "library")
    with Retriever(tmp_path / "library") as retriever:
        assert len(retriever.search("flour", level="book")) == 1
        (tmp_path / "two.txt").write_text(KITCHEN)
        index_files([tmp_path / "two.txt"], tmp_path / "library")
        assert retriever.search("flour", level="book")[0].title == "A Book of Country Bread"
        with open_store(tmp_path / "library", writer=True) as store:
            store.remove(store.find_book("Country Bread").id)
        assert {hit.title for hit in retriever.search("flour")} == {"The Lighthouse Keeper"}


def test_searching_in_a_new_process_loads_no_torch(library: Path) -> None:
    code = (
        "import sys; from nlb_retriever import Retriever\n"
        "with Retriever(sys.argv[1]) as retriever: assert retriever.answer('Who kept the lamp?').found\n"
        "assert not {'torch', 'transformers', 'llama_index'} & set(sys.modules)"
    )
    subprocess.run([sys.executable, "-c", code, str(library)], check=True, timeout=120)


@pytest.mark.parametrize("level", LEVELS)
def test_an_invalid_filter_is_refused_in_the_words_of_the_level(retriever: Retriever, level: Level) -> None:
    with pytest.raises(QueryError, match=f"cannot filter a {level} by 'colour'; known keys: author"):
        retriever.search("a whale", level=level, where=Condition("colour", "eq", "red"))
    with pytest.raises(QueryError, match="is not a filter: use Condition, And, Or, Not"):
        retriever.search("a whale", level=level, where={"colour": "red"})  # type: ignore[arg-type]


def test_a_library_that_was_rebuilt_is_searched_with_its_new_encoders_when_opened_again(tmp_path: Path) -> None:
    place = tmp_path / "library"
    index_books([book_from_text(LIGHTHOUSE, source="lamp")], place)
    with Retriever(place) as retriever:
        trained = retriever.vectorizer
        index_files([], place, checkpoint=UNTRAINED, rebuild=True)
        retriever.close()
        assert retriever.search("the lamp")
        assert retriever.vectorizer.checkpoint.sha256 == retriever.store.manifest.checkpoint_sha256
        assert retriever.vectorizer.checkpoint.sha256 != trained.checkpoint.sha256


def test_a_retriever_may_be_closed_while_others_search_with_it(tmp_path: Path) -> None:
    place = tmp_path / "library"
    index_books([book_from_text(LIGHTHOUSE, source="lamp")], place)
    with Retriever(place) as retriever, ThreadPoolExecutor(2) as threads:
        searches = [threads.submit(retriever.search, "the lamp") for _ in range(20)]
        while not all(search.done() for search in searches):
            retriever.close()
        assert all(search.result() for search in searches)


EVENTS = (
    "Nora left her father's farm with a single trunk.",
    "The ferry sank within sight of the harbour.",
    "A glassblower took her in and taught her his trade.",
    "She married his nephew in the chapel on the hill.",
    "War came, and the furnaces were used for shells.",
    "Her husband did not return from the mountains.",
    "She sold the workshop to a brewer from the coast.",
    "An old woman now, she planted pears beside the river.",
)


def test_the_section_with_the_events_in_the_same_order_is_most_similar(tmp_path: Path) -> None:
    forth, back = (
        f"CHAPTER {name}\n\n" + "\n\n".join(events) for name, events in (("I", EVENTS), ("II", EVENTS[::-1]))
    )
    index_books(
        [book_from_text(forth, source="forth", title="Forth"), book_from_text(back, source="back", title="Back")],
        tmp_path / "library",
        chunk_tokens=0,
    )
    with Retriever(tmp_path / "library") as retriever:
        nearest = {}
        for name, events in (("Forth", EVENTS), ("Back", EVENTS[::-1])):
            hits = retriever.search(" ".join(events), level="section", mode="dense")
            nearest[name] = hits[0].title
            assert hits[0].score > hits[1].score + 0.1
        assert nearest == {"Forth": "Forth", "Back": "Back"}
        one, other = retriever.search(EVENTS[1], level="section", mode="dense")
        assert one.score == pytest.approx(other.score, abs=0.02)  # their headings differ
