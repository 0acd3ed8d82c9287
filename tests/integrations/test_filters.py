"""LlamaIndex's 14 filter operators and their nesting, against a real library."""

from __future__ import annotations

from itertools import accumulate
from pathlib import Path
from typing import Any

import pytest
from llama_index.core.vector_stores.types import FilterCondition, FilterOperator, MetadataFilter, MetadataFilters

from nlb_integrations import NLBRetriever
from nlb_integrations.llama_index.filters import to_filter
from nlb_retriever import Retriever, Section, book_from_text, index_books
from nlb_retriever.errors import QueryError
from nlb_retriever.store import And, Condition, Not, Or

LAMP, BREAD, GARDEN = "The Lighthouse Keeper", "A Book of Country Bread", "The Walled Garden"
ALL = {LAMP, BREAD, GARDEN}
STORM = "CHAPTER II. The Storm"

TABLE: list[tuple[str, str, Any, set[str]]] = [
    ("title", "==", BREAD, {BREAD}),
    ("author", "!=", "Ann Harbour", {BREAD, GARDEN}),
    ("section", ">", 1, {LAMP}),
    ("section", ">=", 2, {LAMP}),
    ("section", "<", 0, set()),
    ("section", "<", 1, ALL),
    ("section", "<=", 0, ALL),
    ("title", "in", [LAMP, GARDEN, "Moby-Dick"], {LAMP, GARDEN}),
    ("title", "nin", [LAMP, GARDEN], {BREAD}),
    ("section_path", "any", [STORM, "CHAPTER II. Frost"], {LAMP, GARDEN}),
    ("section_path", "all", [STORM], {LAMP}),
    ("section_path", "all", [STORM, "CHAPTER I. The Lamp"], set()),
    ("section_path", "contains", "CHAPTER II. The Oven", {BREAD}),
    ("text", "text_match", "Tobias", {LAMP}),
    ("text", "text_match", "tobias", set()),
    ("text", "text_match_insensitive", "tobias", {LAMP}),
    ("title", "text_match", "The ", {LAMP, GARDEN}),
    ("chapter", "==", STORM, {LAMP}),
    ("chapter", "!=", STORM, ALL),
    ("chapter", "in", [STORM, "CHAPTER II. Frost"], {LAMP, GARDEN}),
    ("chapter", "in", [], set()),
    ("chapter", "nin", ["CHAPTER I. Roses", "CHAPTER II. Frost"], {LAMP, BREAD}),
    ("chapter", "all", [STORM, "CHAPTER II. Frost"], set()),
    ("chapter", "text_match", "Storm", {LAMP}),
    ("chapter", "is_empty", None, set()),
    ("level", "==", "passage", ALL),
    ("level", "==", "book", set()),
    ("level", "nin", ["passage"], set()),
    ("page", "is_empty", None, ALL),
    ("title", "is_empty", None, set()),
]


def titles(opened: Retriever, filters: MetadataFilters | None) -> set[str]:
    found = NLBRetriever(opened, similarity_top_k=100, filters=filters).retrieve("bread, roses and the storm")
    return {node.metadata["title"] for node in found}


def one(key: str, operator: str, value: Any) -> MetadataFilter:
    return MetadataFilter(key=key, value=value, operator=FilterOperator(operator))


def test_the_table_has_all_operators_that_llamaindex_has() -> None:
    assert {operator for _, operator, _, _ in TABLE} == {operator.value for operator in FilterOperator}
    assert len(FilterOperator) == 14


@pytest.mark.parametrize(("key", "operator", "value", "expected"), TABLE)
def test_each_operator_matches_what_it_should(
    key: str, operator: str, value: Any, expected: set[str], opened: Retriever
) -> None:
    assert titles(opened, MetadataFilters(filters=[one(key, operator, value)])) == expected


@pytest.mark.parametrize(("key", "operator", "value", "expected"), TABLE)
def test_the_negation_of_each_operator_lets_the_other_passages_through(
    key: str, operator: str, value: Any, expected: set[str], opened: Retriever
) -> None:
    def found(condition: FilterCondition) -> set[str]:
        filters = MetadataFilters(filters=[one(key, operator, value)], condition=condition)
        nodes = NLBRetriever(opened, similarity_top_k=100, filters=filters).retrieve("bread, roses and the storm")
        return {node.node_id for node in nodes}

    fitting, others = found(FilterCondition.AND), found(FilterCondition.NOT)
    assert not fitting & others
    assert len(fitting | others) == opened.store.count("passage")


def test_filters_are_joined_and_nested(opened: Retriever) -> None:
    author, storm = one("author", "!=", "Ann Harbour"), one("section_path", "contains", STORM)
    garden = one("title", "==", GARDEN)

    def joined(condition: FilterCondition | None, *filters: MetadataFilter | MetadataFilters) -> MetadataFilters:
        return MetadataFilters(filters=list(filters), condition=condition)

    assert titles(opened, joined(FilterCondition.AND, author, garden)) == {GARDEN}
    assert titles(opened, joined(None, author, garden)) == {GARDEN}
    assert titles(opened, joined(FilterCondition.OR, storm, garden)) == {LAMP, GARDEN}
    assert titles(opened, joined(FilterCondition.NOT, storm, garden)) == {LAMP, BREAD}
    nested = joined(FilterCondition.OR, storm, joined(FilterCondition.AND, author, joined(FilterCondition.NOT, garden)))
    assert titles(opened, nested) == {LAMP, BREAD}
    assert to_filter(nested) == Or(
        (
            Condition("section_path", "contains", STORM),
            And((Condition("author", "ne", "Ann Harbour"), Not((Condition("title", "eq", GARDEN),)))),
        )
    )


def test_no_filters_and_empty_ones_let_everything_through(opened: Retriever) -> None:
    empty = MetadataFilters(filters=[])
    for filters in (None, empty, MetadataFilters(filters=[empty], condition=FilterCondition.OR)):
        assert to_filter(filters) is None
        assert titles(opened, filters) == ALL


def test_the_names_that_llamaindex_has_for_our_keys_are_known(opened: Retriever) -> None:
    entry = opened.store.find_book("bread")
    assert titles(opened, MetadataFilters(filters=[one("file_path", "==", entry.source)])) == {BREAD}
    for key in ("ref_doc_id", "doc_id", "document_id"):
        for value in (entry.id, entry.source):  # of a retrieved node, and of a document
            assert titles(opened, MetadataFilters(filters=[one(key, "==", value)])) == {BREAD}
            assert titles(opened, MetadataFilters(filters=[one(key, "in", [value, "no other"])])) == {BREAD}
            assert titles(opened, MetadataFilters(filters=[one(key, "!=", value)])) == ALL - {BREAD}
            assert titles(opened, MetadataFilters(filters=[one(key, "nin", [value])])) == ALL - {BREAD}
    assert titles(opened, MetadataFilters(filters=[one("page_label", "is_empty", None)])) == ALL


def test_every_key_of_a_nodes_metadata_is_filtered_by(opened: Retriever) -> None:
    for level in ("section", "passage"):
        node = NLBRetriever(opened, level=level).retrieve("the storm")[0].node  # type: ignore[arg-type]
        for key, value in node.metadata.items():
            how = one(key, "is_empty", None) if value is None else one(key, "==", value)
            retriever = NLBRetriever(opened, similarity_top_k=99, level=level, filters=MetadataFilters(filters=[how]))  # type: ignore[arg-type]
            assert node.node_id in {found.node_id for found in retriever.retrieve("the storm")}, key


def test_a_chapter_in_a_part_is_filtered_by_as_it_is_shown(tmp_path: Path) -> None:
    sections = [("Part One", "Chapter 1"), ("Part One", "Chapter 2"), ("Part Two", "Chapter 1")]
    texts = ["The fox ran. ", "The fox slept. ", "The fox came home."]
    ends = list(accumulate(map(len, texts)))
    parts = [Section(path=p, start=end - len(t), end=end) for p, t, end in zip(sections, texts, ends, strict=True)]
    index_books([book_from_text("".join(texts), source="fox", sections=parts)], tmp_path / "fox")
    with Retriever(tmp_path / "fox") as fox:
        for value, found in (("Part One > Chapter 1", {0}), ("Part One", {0, 1}), ("Chapter 1", {0, 2})):
            filters = MetadataFilters(filters=[one("chapter", "==", value)])
            nodes = NLBRetriever(fox, filters=filters, similarity_top_k=9).retrieve("the fox")
            assert {node.metadata["section"] for node in nodes} == found


@pytest.mark.parametrize(
    ("key", "value", "message"),
    [
        ("chapter", STORM, "cannot filter a book by 'chapter'"),
        ("page_label", "3", "cannot filter a book by 'page_label'"),
    ],
)
def test_a_key_that_a_level_does_not_have_is_named_as_it_was_written(
    key: str, value: str, message: str, opened: Retriever
) -> None:
    with pytest.raises(QueryError, match=message):
        NLBRetriever(opened, level="book", filters=MetadataFilters(filters=[one(key, "==", value)])).retrieve("roses")


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        (one("colour", "==", "red"), "known keys"),
        (one("title", ">", "a"), "only numbers"),
        (one("title", "in", "a"), "list of values"),
        (one("title", "==", None), "needs words"),
        (MetadataFilter.model_construct(key="title", value="a", operator="like"), "unknown filter operator 'like'"),
        (MetadataFilters.model_construct(filters=[one("title", "==", "a")], condition="xor"), "'xor'; known: and"),
        ("title == a", "is not a filter"),
    ],
)
def test_a_wrong_filter_is_refused_with_what_is_right(wrong: Any, message: str, opened: Retriever) -> None:
    filters = MetadataFilters.model_construct(filters=[wrong], condition=FilterCondition.AND)
    with pytest.raises(QueryError, match=message):
        titles(opened, filters)


def test_filters_hold_at_every_level(opened: Retriever) -> None:
    filters = MetadataFilters(filters=[one("author", "==", "Peter Miller")])
    for level in ("book", "section", "passage"):
        retriever = NLBRetriever(opened, level=level, similarity_top_k=50, filters=filters)  # type: ignore[arg-type]
        assert {node.metadata["author"] for node in retriever.retrieve("roses")} == {"Peter Miller"}
