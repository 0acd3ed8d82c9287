from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from nlb_retriever.errors import LibraryNotFound, MismatchError, QueryError, StoreError
from nlb_retriever.records import LEVELS, Level
from nlb_retriever.store import Condition, LibraryStore, StoreQuery, open_store
from nlb_retriever.store.backends.base import Floats
from tests.store.books import DIM, MANIFEST, Vectors, make_book, read_passages
from tests.store.conftest import Opener

UNKNOWN = "00000000-0000-0000-0000-000000000000"
SIZES: dict[Level, str] = {"book": "books", "section": "sections", "passage": "passages"}


def counts(store: LibraryStore) -> list[int]:
    return [store.count(level) for level in LEVELS]


def nearest(store: LibraryStore, level: Level, vector: Floats, **how: object) -> list[str]:
    hits = store.search([StoreQuery(level=level, dense=vector, **how)])[0]  # type: ignore[arg-type]
    if level == "book":
        return [f"{(hit.book_id or '').lstrip('0')}:0" for hit in hits]
    ids = [hit.id for hit in hits]
    records = store.get_sections(ids) if level == "section" else store.get_passages(ids)
    return [f"{record.book_id.lstrip('0')}:{record.ordinal}" for record in records]


def test_a_book_is_found_at_every_level_by_its_vectors(open_library: Opener) -> None:
    store = open_library()
    made = [make_book(number) for number in (1, 2, 3)]
    for each in made:
        store.publish(*each.parts)
    assert nearest(store, "book", made[1].vectors.book)[0] == "2:0"
    assert nearest(store, "section", made[2].vectors.sections[1])[0] == "3:1"
    assert nearest(store, "passage", made[0].vectors.passages[7])[0] == "1:7"


def test_a_book_is_found_by_words_of_its_text_and_title(open_library: Opener) -> None:
    store = open_library()
    for number in (1, 2):
        store.publish(*make_book(number).parts)
    store.publish(*make_book(3, title="The Quicksilver Almanac").parts)
    queries = [StoreQuery(level=level, text="quicksilver") for level in LEVELS]
    books, sections, passages = store.search(queries)
    assert [book.title for book in store.get_books([hit.id for hit in books])] == ["The Quicksilver Almanac"]
    assert len(sections) == 3, "a section is found by its book's title"
    assert passages == [], "a passage is found by its text alone"
    [hits] = store.search([StoreQuery(level="passage", text="book2")])
    assert len(hits) == 10
    assert {hit.book_id for hit in hits} == {make_book(2).book.id}
    assert store.search([StoreQuery(level="passage", text="the of and"), StoreQuery(level="passage", text="")]) == [
        [],
        [],
    ]


def test_a_book_comes_back_unchanged(open_library: Opener) -> None:
    store = open_library()
    made = make_book(1, warnings=("a chapter is missing",))
    store.publish(*made.parts)
    [entry] = store.books()
    book = made.book
    assert (entry.id, entry.title, entry.author, entry.language, entry.year, entry.source, entry.description) == (
        book.id, book.title, book.author, book.language, book.year, book.source, book.description,
    )  # fmt: skip
    assert (entry.sections, entry.passages, entry.chars, entry.tokens) == (3, 12, len(book.text), 12 * 9)
    assert (entry.content_hash, entry.warnings) == (book.content_hash, ("a chapter is missing",))
    assert store.book_text(book.id) == book.text
    assert [passage.text for passage in store.passages(book.id)] == [
        book.text[passage.start : passage.end] for passage in made.passages
    ]
    for record in (*store.sections(book.id), *store.passages(book.id)):
        assert record.text == book.text[record.start : record.end]
        assert (record.page, record.page_number) == ("ivx"[record.section], record.section + 1)
        assert record.path == book.sections[record.section].path
        assert (record.title, record.author, record.source) == (book.title, book.author, book.source)
    assert [section.passages for section in store.sections(book.id)] == [(0, 4), (4, 8), (8, 12)]
    assert store.passages(book.id)[5].section_id == store.sections(book.id)[1].id
    assert store.get_books([entry.uuid]) == [entry]


def test_neighbours_are_passages_by_ordinal(open_library: Opener) -> None:
    store = open_library()
    store.publish(*make_book(1).parts)
    book_id = make_book(1).book.id
    assert [passage.ordinal for passage in store.passages(book_id, 3, 6)] == [3, 4, 5]
    assert [passage.ordinal for passage in store.passages(book_id, -2, 1)] == [0]
    assert [passage.ordinal for passage in store.passages(book_id, 10, 99)] == [10, 11]
    assert store.passages("unknown") == store.sections("unknown") == []


def test_a_new_edition_replaces_the_old_one(open_library: Opener) -> None:
    store = open_library()
    old, new = make_book(1, sections=4), make_book(1, edition=1, sections=2)
    store.publish(*make_book(2).parts)
    store.publish(*old.parts)
    store.publish(*new.parts)
    assert counts(store) == [2, 5, 20]
    assert store.book_text(new.book.id) == new.book.text
    old_words = StoreQuery(level="passage", text="edition0", where=Condition("book_id", "eq", old.book.id))
    assert store.search([old_words, replace(old_words, text="edition1", limit=50)])[0] == []
    assert len(store.search([replace(old_words, text="edition1", limit=50)])[0]) == 8
    assert store.verify() == []


def test_publishing_the_same_content_again_leaves_one_copy(open_library: Opener) -> None:
    store = open_library()
    made = make_book(1)
    for _ in range(3):
        store.publish(*made.parts)
        assert counts(store) == [1, 3, 12]
    store.publish(*replace(made, book=replace(made.book, title="Better read")).parts)
    assert [entry.title for entry in store.books()] == ["Better read"]
    assert counts(store) == [1, 3, 12]
    assert store.verify() == []


def test_a_removed_book_is_gone_at_every_level(open_library: Opener) -> None:
    store = open_library()
    for number in (1, 2):
        store.publish(*make_book(number).parts)
    store.remove(make_book(1).book.id)
    store.remove("unknown")
    assert [entry.id for entry in store.books()] == [make_book(2).book.id]
    assert counts(store) == [1, 3, 12]
    assert store.verify() == []


def test_many_books_are_removed_or_renamed_in_one_call(open_library: Opener) -> None:
    store = open_library()
    ids = [make_book(number).book.id for number in range(5)]
    for number in range(5):
        store.publish(*make_book(number).parts)
        if number == 2:
            store.optimize()
    store.rename({ids[0]: "/moved/0.txt", ids[1]: "/moved/1.txt", ids[4]: "/moved/4.txt", "unknown": "/moved/5.txt"})
    store.remove(ids[1], "unknown", ids[3], ids[2])
    assert {entry.id: entry.source for entry in store.books()} == {ids[0]: "/moved/0.txt", ids[4]: "/moved/4.txt"}
    store.publish(*make_book(1).parts)
    assert store.find_book("/books/1.txt").id == ids[1]
    for nothing in (lambda: store.rename({}), store.remove):
        nothing()
    assert counts(store) == [3, 9, 36]
    assert store.verify() == []


def test_a_renamed_book_has_its_new_source_at_every_level(open_library: Opener) -> None:
    store = open_library()
    for number in (1, 2):
        store.publish(*make_book(number).parts)
    book_id = make_book(1).book.id
    store.rename({book_id: "/moved/1.txt"})
    assert {entry.source for entry in store.books()} == {"/moved/1.txt", "/books/2.txt"}
    for record in (*store.sections(book_id), *store.passages(book_id)):
        assert record.source == "/moved/1.txt"
    [hits] = store.search([StoreQuery(level="passage", text="book1", where=Condition("source", "eq", "/moved/1.txt"))])
    assert len(hits) == 10
    assert store.verify() == []


def test_many_searches_are_answered_in_their_order(open_library: Opener) -> None:
    store = open_library()
    made = make_book(1)
    store.publish(*made.parts)
    queries = [
        StoreQuery(level="passage", dense=made.vectors.passages[4], limit=1),
        StoreQuery(level="book", dense=made.vectors.book, limit=1),
        StoreQuery(level="passage", dense=made.vectors.passages[9], limit=1),
        StoreQuery(level="section", dense=made.vectors.sections[2], limit=0),
        StoreQuery(level="section", dense=made.vectors.sections[2], limit=1),
    ]
    [fourth, book, ninth, none, section] = store.search(queries)
    assert [passage.ordinal for passage in read_passages(store, (*fourth, *ninth))] == [4, 9]
    assert [(each.book_id, each.section_id) for each in (*book, *section)] == [(made.book.id, None), (None, None)]
    assert [record.ordinal for record in store.get_sections([section[0].id])] == [2]
    assert none == []
    assert store.search([]) == []


def test_a_search_among_given_points_scores_just_these(open_library: Opener) -> None:
    store = open_library()
    made = make_book(1)
    store.publish(*made.parts)
    ids = tuple(passage.id for passage in store.passages(made.book.id, 2, 5))
    vector = made.vectors.passages[0]
    [hits, none] = store.search(
        [StoreQuery(level="passage", dense=vector, ids=ids), StoreQuery(level="passage", dense=vector, ids=())]
    )
    passages = read_passages(store, hits)
    assert sorted(passage.ordinal for passage in passages) == [2, 3, 4]
    for hit, passage in zip(hits, passages, strict=True):
        assert hit.score == pytest.approx(float(vector @ made.vectors.passages[passage.ordinal]), abs=1e-5)
    assert none == []


def test_a_candidate_is_the_same_where_the_filter_is_checked_on_texts(open_library: Opener) -> None:
    store = open_library()
    made = make_book(1)
    store.publish(*made.parts)
    query = StoreQuery(level="passage", dense=made.vectors.passages[0], limit=1)
    [[plain], [filtered]] = store.search([query, replace(query, where=Condition("text", "text_match", "book1"))])
    assert (plain.id, plain.book_id, plain.section_id) == (filtered.id, filtered.book_id, filtered.section_id)


def test_records_come_back_in_the_order_of_their_ids_without_the_missing(open_library: Opener) -> None:
    store = open_library()
    store.publish(*make_book(1).parts)
    ids = [passage.id for passage in store.passages(make_book(1).book.id)]
    wanted = [ids[5], UNKNOWN, ids[2]]
    assert [passage.id for passage in store.get_passages(wanted)] == [ids[5], ids[2]]
    assert store.existing("passage", wanted) == {ids[5], ids[2]}


@pytest.mark.parametrize("value", [np.nan, np.inf, 0.0])
def test_broken_vectors_are_refused_and_named(open_library: Opener, value: float) -> None:
    store = open_library()
    made = make_book(1)
    rows = made.vectors.passages.copy()
    rows[7] = value
    with pytest.raises(StoreError, match=f"book {made.book.id}.*passage 7"):
        store.publish(made.book, made.passages, replace(made.vectors, passages=rows))
    assert store.count("passage") == 0


def test_vectors_of_another_length_are_refused(open_library: Opener) -> None:
    store = open_library()
    made = make_book(1, dim=DIM + 1)
    with pytest.raises(StoreError, match=r"\(12, 9\).*\(12, 8\)"):
        store.publish(*made.parts)
    short = Vectors(*(make_book(1).vectors.passages[:3], make_book(1).vectors.sections, make_book(1).vectors.book))
    with pytest.raises(StoreError, match=r"\(3, 8\).*\(12, 8\)"):
        store.publish(made.book, made.passages, short)


@pytest.mark.parametrize(
    "vector", [np.zeros(DIM, np.float32), np.full(DIM, np.nan, np.float32), np.ones(DIM + 1, np.float32)]
)
def test_a_question_that_is_no_unit_vector_is_refused(open_library: Opener, vector: Floats) -> None:
    with pytest.raises(QueryError, match="query's vector"):
        open_library().search([StoreQuery(level="book", dense=vector.astype(np.float32))])


def test_a_search_needs_a_vector_or_words(open_library: Opener) -> None:
    store = open_library()
    for query in (StoreQuery(level="book"), StoreQuery(level="book", dense=np.ones(DIM, np.float32), text="a")):
        with pytest.raises(QueryError, match="vector or words"):
            store.search([query])


def test_a_library_keeps_its_manifest_and_refuses_another(open_library: Opener) -> None:
    open_library().close()
    reader = open_library(create=None, writer=False)
    assert reader.manifest == MANIFEST
    reader.close()
    with pytest.raises(MismatchError, match="chunk_tokens 256 in the library, 0 requested"):
        open_library(create=replace(MANIFEST, chunk_tokens=0))


def test_there_is_no_library_before_one_is_made(open_library: Opener) -> None:
    with pytest.raises(LibraryNotFound, match="run `nlb index FOLDER` first"):
        open_library(create=None, writer=False)
    with pytest.raises(LibraryNotFound):
        open_library(create=None, writer=True)


def test_a_reader_may_not_write(open_library: Opener) -> None:
    open_library().close()
    reader = open_library(writer=False)
    for write in (lambda: reader.publish(*make_book(1).parts), lambda: reader.remove("x"), reader.optimize):
        with pytest.raises(StoreError, match="writer=True"):
            write()
    assert counts(reader) == [0, 0, 0]


def test_a_book_is_found_by_id_start_of_id_file_and_title(open_library: Opener) -> None:
    store = open_library()
    store.publish(*make_book(1, id="abcdef0123456789", title="Moby Dick", source="/books/moby.txt").parts)
    store.publish(*make_book(2, id="abcd000000000000", title="Emma").parts)
    store.publish(*make_book(3, title="Emma in Love").parts)
    for name in (
        "abcdef0123456789",
        "abcde",
        "/books/moby.txt",
        "/books/../books/moby.txt",
        "moby dick",
        "OBY",
        "moby-d",
    ):
        assert store.find_book(name).title == "Moby Dick"
    assert store.find_book("emma").title == "Emma", "the whole title goes before a part of one"
    with pytest.raises(QueryError, match=r"fits 2 books: .*use an id"):
        store.find_book("abcd")
    with pytest.raises(QueryError, match=r"no book 'abc'"):
        store.find_book("abc")
    with pytest.raises(QueryError, match=r"no book 'Mobby Dick'.*similar: Moby Dick \(abcdef0123456789\)"):
        store.find_book("Mobby Dick")
    with pytest.raises(QueryError):
        store.find_book("")


def test_a_stored_vector_of_another_length_than_one_is_a_problem(open_library: Opener) -> None:
    store, made = open_library(), make_book(1)
    made.vectors.sections[1] *= 2
    store.publish(*made.parts)
    [problem] = store.verify()
    assert problem.startswith(f"book {made.book.id} (Title 1): has 1 damaged section vector:")


def test_the_vectors_of_a_long_section_are_evenly_spread(open_library: Opener) -> None:
    store, made = open_library(), make_book(1, sections=2, passages=9)
    store.publish(*made.parts)
    [found] = store.section_vectors([store.sections(made.book.id)[1].id], most=3)
    assert [passage.ordinal for passage in store.get_passages(found.ids)] == [9, 13, 17]
    np.testing.assert_allclose(found.passages, made.vectors.passages[9::4], rtol=1e-5)


def test_books_of_many_batches_are_stored_whole(open_library: Opener) -> None:
    store = open_library()
    made = make_book(1, sections=5, passages=150)
    store.publish(*made.parts)
    assert counts(store) == [1, 5, 750]
    assert [passage.ordinal for passage in store.passages(made.book.id)] == list(range(750))
    assert store.verify() == []


def test_opening_for_reading_a_plain_folder_or_file_says_what_it_is(tmp_path: Path) -> None:
    with pytest.raises(LibraryNotFound, match="no library at"):
        open_store(tmp_path / "none")
    with pytest.raises(LibraryNotFound):
        open_store(tmp_path)
    (tmp_path / "novel.txt").write_text("x")
    for create in (None, MANIFEST):
        with pytest.raises(StoreError, match=r"no library: it holds other files \(novel.txt\)"):
            open_store(tmp_path, create=create)
        with pytest.raises(StoreError, match="is a file"):
            open_store(tmp_path / "novel.txt", create=create)
    assert [path.name for path in tmp_path.iterdir()] == ["novel.txt"]
