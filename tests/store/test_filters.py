from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from nlb_retriever.errors import QueryError
from nlb_retriever.records import LEVELS, Level
from nlb_retriever.store import And, Condition, Filter, LibraryStore, Not, Or, StoreQuery, all_of, at_level
from nlb_retriever.store.filters import (
    KEYWORD_KEYS,
    NUMBER_KEYS,
    OPERATORS,
    check,
    conditions,
    is_native,
    is_searched,
    weaken,
)
from tests.store.books import DIM, make_book
from tests.store.conftest import BACKENDS, opener

BOOK_KEYS = ("title", "author", "language", "year", "source")
PLACE_KEYS = ("section", "section_path", "page", "page_number", "ordinal", "start", "end")
KEYS = ("book_id", *BOOK_KEYS, *PLACE_KEYS)
BOOKS = [make_book(number) for number in (1, 2, 3, 4, 5)]
QUESTION = np.full(DIM, DIM**-0.5, dtype=np.float32)


@pytest.fixture(scope="module", params=BACKENDS)
def store(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[LibraryStore]:
    open_one, clean = opener(request.param, tmp_path_factory.mktemp("filters") / "library")
    store = open_one()
    for made in BOOKS:
        store.publish(*made.parts)
    yield store
    clean()


def payloads(level: Level) -> list[dict[str, Any]]:
    """What the library holds, worked out from the books themselves."""
    found: list[dict[str, Any]] = []
    for made in BOOKS:
        book = made.book
        common = {"book_id": book.id} | {key: getattr(book, key) for key in BOOK_KEYS}
        spans = {
            "book": [(0, 0, 0)],
            "section": [(index, section.start, section.end) for index, section in enumerate(book.sections)],
            "passage": [(passage.section, passage.start, passage.end) for passage in made.passages],
        }
        for ordinal, (section, start, end) in enumerate(spans[level]):
            pages = [page for page in book.pages if page.start <= start]
            place = {
                "ordinal": ordinal,
                "section": section,
                "section_path": list(book.sections[section].path),
                "start": start,
                "end": end,
                "page": pages[-1].label if pages else None,
                "page_number": pages[-1].number if pages else None,
                "text": book.text[start:end],
            }
            found.append(common | (place if level != "book" else {"ordinal": 0}))
    return found


def holds(where: Filter, payload: dict[str, Any]) -> bool:
    """The meaning of filters, said once more and plainly."""
    match where:
        case And(children):
            return all(holds(child, payload) for child in children)
        case Or(children):
            return any(holds(child, payload) for child in children)
        case Not(children):
            return not any(holds(child, payload) for child in children)
    value = payload.get(where.key)
    held = set(value) if isinstance(value, list) else set() if value is None else {value}
    wanted = where.value
    match where.op:
        case "eq" | "contains":
            return wanted in held
        case "ne":
            return wanted not in held
        case "in" | "any":
            return not held.isdisjoint(wanted)
        case "nin":
            return held.isdisjoint(wanted)
        case "all":
            return held.issuperset(wanted)
        case "gt":
            return any(item > wanted for item in held)
        case "gte":
            return any(item >= wanted for item in held)
        case "lt":
            return any(item < wanted for item in held)
        case "lte":
            return any(item <= wanted for item in held)
        case "text_match":
            return any(wanted in item for item in held)
        case "text_match_insensitive":
            return any(wanted.lower() in item.lower() for item in held)
        case "is_empty":
            return not held
    raise AssertionError(where.op)


def found(store: LibraryStore, level: Level, where: Filter) -> set[tuple[str, int]]:
    [hits] = store.search([StoreQuery(level=level, dense=QUESTION, where=check(where, level), limit=1000)])
    if level == "book":
        return {(hit.book_id or "", 0) for hit in hits}
    ids = [hit.id for hit in hits]
    records = store.get_sections(ids) if level == "section" else store.get_passages(ids)
    return {(record.book_id, record.ordinal) for record in records}


def expected(level: Level, where: Filter) -> set[tuple[str, int]]:
    return {(payload["book_id"], payload["ordinal"]) for payload in payloads(level) if holds(where, payload)}


CASES: list[Filter] = [
    Condition("title", "eq", "Title 2"),
    Condition("year", "eq", 1803),
    Condition("author", "ne", "Author 1"),
    Condition("year", "gt", 1802),
    Condition("year", "gte", 1802),
    Condition("ordinal", "lt", 2),
    Condition("start", "lte", 60.5),
    Condition("language", "in", ["en", "fr"]),
    Condition("section", "in", [0, 2]),
    Condition("section", "in", []),
    Condition("section", "nin", [0, 2]),
    Condition("author", "nin", ["Author 1", "Author 2"]),
    Condition("section_path", "any", ["Chapter 1", "Chapter 2"]),
    Condition("section_path", "all", ["Part 0", "Chapter 1"]),
    Condition("section_path", "all", ["Part 1", "Chapter 1"]),
    Condition("section_path", "contains", "Part 1"),
    Condition("title", "text_match", "tle 3"),
    Condition("title", "text_match", "TLE 3"),
    Condition("title", "text_match_insensitive", "TLE 3"),
    Condition("text", "text_match", "whale"),
    Condition("section_path", "text_match_insensitive", "CHAPTER 2"),
    Condition("year", "is_empty"),
    Condition("page", "is_empty"),
    Condition("language", "is_empty"),
    Not((Condition("page_number", "eq", 1), Condition("year", "gt", 1803))),
    Or((Condition("text", "text_match", "whale"), Condition("year", "eq", 1802))),
    And((Not((Condition("text", "text_match", "whale"),)), Condition("book_id", "eq", BOOKS[0].book.id))),
]


@pytest.mark.parametrize("where", CASES, ids=str)
@pytest.mark.parametrize("level", LEVELS)
def test_every_operator_finds_what_it_means(store: LibraryStore, where: Filter, level: Level) -> None:
    known = {*KEYWORD_KEYS[level], *NUMBER_KEYS[level], *(["text"] if level != "book" else [])}
    lacking = {condition.key for condition in conditions(where)} - known
    if lacking:
        with pytest.raises(QueryError, match="known keys"):
            found(store, level, where)
    else:
        assert found(store, level, where) == expected(level, where)
        if all(map(is_searched, conditions(where))):
            assert store.count(level, check(where, level)) == len(expected(level, where))


def test_the_cases_cover_every_operator_and_neither_find_all_nor_nothing_only() -> None:
    assert {condition.op for where in CASES for condition in conditions(where)} == set(OPERATORS)
    sizes = {len(expected("passage", where)) for where in CASES}
    assert {0, 60} < {0, 60, *sizes}
    assert len(sizes) > 8


def leaves() -> st.SearchStrategy[Filter]:
    everything = payloads("passage")
    values = {
        key: sorted(
            {
                item
                for payload in everything
                for item in (payload[key] if isinstance(payload[key], list) else [payload[key]])
                if item is not None
            },
            key=str,
        )
        for key in KEYS
    }

    def leaf(key: str) -> st.SearchStrategy[Filter]:
        one = st.sampled_from(values[key])
        many = st.lists(one, max_size=3).map(tuple)
        tests = [
            st.builds(Condition, st.just(key), st.sampled_from(["eq", "ne", "contains"]), one),
            st.builds(Condition, st.just(key), st.sampled_from(["in", "nin", "any", "all"]), many),
            st.just(Condition(key, "is_empty")),
        ]
        if isinstance(values[key][0], int):
            tests.append(st.builds(Condition, st.just(key), st.sampled_from(["gt", "gte", "lt", "lte"]), one))
        else:
            tests.append(st.builds(Condition, st.just(key), st.sampled_from(["text_match"]), one.map(lambda v: v[-2:])))
        return st.one_of(tests)

    return st.one_of([leaf(key) for key in KEYS])


TREES = st.recursive(
    leaves(),
    lambda inner: st.builds(
        lambda kind, children: kind(tuple(children)),
        st.sampled_from([And, Or, Not]),
        st.lists(inner, min_size=1, max_size=3),
    ),
    max_leaves=6,
)


@settings(max_examples=60, deadline=None)
@given(where=TREES)
@example(where=Not((Not((Condition("year", "is_empty"),)), Condition("section", "eq", 1))))
@example(where=Condition("page_number", "all", ()))
def test_nested_filters_find_what_they_mean(store: LibraryStore, where: Filter) -> None:
    assert found(store, "passage", where) == expected("passage", where)


@settings(max_examples=200, deadline=None)
@given(where=TREES)
def test_a_coarser_level_keeps_every_book_and_section_with_a_fitting_passage(where: Filter) -> None:
    fitting = [payload for payload in payloads("passage") if holds(where, payload)]
    book = at_level(where, "book")
    section = at_level(where, "section")
    for payload in fitting:
        assert book is None or holds(book, payload)
        assert section is None or holds(section, payload)
    for level, coarse in (("book", book), ("section", section)):
        if coarse is not None:
            check(coarse, level)  # type: ignore[arg-type]


@pytest.mark.parametrize("key", ["page", "page_number", "ordinal", "start", "end", "text"])
def test_what_a_passage_has_otherwise_than_its_section_is_left_out_for_that(key: str) -> None:
    where = And((Condition(key, "is_empty"), Condition("section", "eq", 1)))
    assert at_level(where, "section") == Condition("section", "eq", 1)
    assert at_level(where, "book") is None


@settings(max_examples=200, deadline=None)
@given(where=TREES)
def test_the_engines_part_of_a_filter_leaves_out_nothing_that_matches(where: Filter) -> None:
    native = weaken(where, is_native)
    assert native is None or all(holds(native, payload) for payload in payloads("passage") if holds(where, payload))


def test_a_filter_is_counted_without_its_words_in_the_text(store: LibraryStore) -> None:
    where = And((Condition("text", "text_match", "whale"), Condition("title", "text_match", "tle 3")))
    counted = weaken(where, is_searched)
    assert counted == Condition("title", "text_match", "tle 3")
    assert store.count("passage", counted) == len(BOOKS[2].passages) > 0


def test_a_wordy_filter_asks_for_more_until_enough_fits(store: LibraryStore) -> None:
    last = min(payloads("passage"), key=_score)
    where = And((Condition("text", "text_match", last["text"]), Condition("book_id", "eq", last["book_id"])))
    [[hit]] = store.search([StoreQuery(level="passage", dense=QUESTION, where=where, limit=1)])
    assert store.get_passages([hit.id])[0].text == last["text"]


def _score(payload: dict[str, Any]) -> float:
    made = next(made for made in BOOKS if made.book.id == payload["book_id"])
    return float(made.vectors.passages[payload["ordinal"]] @ QUESTION)


@pytest.mark.parametrize(
    ("where", "message"),
    [
        (Condition("publisher", "eq", "x"), "cannot filter a passage by 'publisher'; known keys: author, book_id"),
        (Condition("text", "eq", "x"), "and text, with text_match"),
        (Condition("year", "like", 1), "unknown filter operator 'like'; known: eq, ne"),  # type: ignore[arg-type]
        (Condition("year", "eq", "soon"), "year eq needs a number, not 'soon'"),
        (Condition("year", "eq", None), "needs a number, not None"),
        (Condition("year", "gt", float("nan")), "needs a number"),
        (Condition("year", "gt", 10**400), r"needs a number, not 10+…$"),
        (Condition("year", "gt", 10**5000), r"needs a number, not int$"),
        (Condition("year", "in", "1\n" * 1000), "needs a list of values, not '1.*…$"),
        (Condition("year", "text_match", "1"), "needs a key and a value of words"),
        (Condition("title", "eq", None), "title eq needs words, not None"),
        (Condition("title", "gt", "A"), "only numbers have an order"),
        (Condition("title", "in", "A"), "needs a list of values, not 'A'"),
        (Condition("title", "in", 3), "needs a list"),
        (And(()), "And needs at least one condition"),
        (Not((Or(()),)), "Or needs at least one"),
        ("year = 3", "is not a filter"),
        (Or(None), "None is not a filter"),  # type: ignore[arg-type]
        (Condition(None, "eq", "x"), "a filter's key must be a string, not None"),  # type: ignore[arg-type]
    ],
)
def test_a_filter_that_cannot_be_applied_says_why(where: Any, message: str) -> None:
    with pytest.raises(QueryError, match=message) as caught:
        check(where, "passage")
    assert "\n" not in str(caught.value)


def test_values_are_taken_in_the_keys_own_type(store: LibraryStore) -> None:
    assert found(store, "book", Condition("year", "eq", "1803")) == expected("book", Condition("year", "eq", 1803))
    page = Condition("page", "eq", "12")
    assert check(Condition("page", "eq", 12), "passage") == page
    assert check(Or(page), "passage") == Or((page,))  # type: ignore[arg-type]


def test_all_of_leaves_out_what_is_not_given() -> None:
    one = Condition("year", "eq", 1)
    assert all_of(None, None) is None
    assert all_of(None, one) == one
    assert all_of(one, None, one) == And((one, one))


def test_filters_combine_with_word_searches(store: LibraryStore, tmp_path: Path) -> None:
    where = And((Condition("section", "eq", 1), Condition("year", "is_empty")))
    [hits] = store.search([StoreQuery(level="passage", text="edition0", where=where, limit=100)])
    passages = store.get_passages([hit.id for hit in hits])
    assert {(passage.book_id, passage.ordinal) for passage in passages} == expected("passage", where)
