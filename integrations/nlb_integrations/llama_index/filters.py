"""LlamaIndex's metadata filters as the library's own."""

from __future__ import annotations

from collections.abc import Mapping

from llama_index.core.vector_stores.types import FilterCondition, FilterOperator, MetadataFilter, MetadataFilters

from nlb_integrations.conventions import Keys, to_condition
from nlb_retriever.errors import QueryError, brief
from nlb_retriever.store import And, Condition, Filter, Not, Or
from nlb_retriever.store.filters import METADATA, Operator

_OPERATORS: Mapping[FilterOperator, Operator] = {
    FilterOperator.EQ: "eq",
    FilterOperator.NE: "ne",
    FilterOperator.GT: "gt",
    FilterOperator.GTE: "gte",
    FilterOperator.LT: "lt",
    FilterOperator.LTE: "lte",
    FilterOperator.IN: "in",
    FilterOperator.NIN: "nin",
    FilterOperator.ANY: "any",
    FilterOperator.ALL: "all",
    FilterOperator.CONTAINS: "contains",
    FilterOperator.TEXT_MATCH: "text_match",
    FilterOperator.TEXT_MATCH_INSENSITIVE: "text_match_insensitive",
    FilterOperator.IS_EMPTY: "is_empty",
}
_CONDITIONS: Mapping[FilterCondition | None, type[And | Or | Not]] = {
    None: And,
    FilterCondition.AND: And,
    FilterCondition.OR: Or,
    FilterCondition.NOT: Not,
}
_OTHER_NAMES: Mapping[str, tuple[str, ...]] = {
    "ref_doc_id": ("book_id", "source"),
    "doc_id": ("book_id", "source"),
    "document_id": ("book_id", "source"),
    "file_path": ("source",),
}
"""LlamaIndex's names of the library's keys: a retrieved node's `ref_doc_id` is its book's id, and the id of a document
that an `NLBIndex` got is its book's source."""
_NEGATIVE = ("ne", "nin", "is_empty")


def to_filter(filters: MetadataFilters | MetadataFilter | None, keys: Keys | None = None) -> Filter | None:
    """All 14 operators, AND, OR and NOT, nested at will; None for no condition at all.

    NOT holds where none of its filters does. A missing key matches NE, NIN and IS_EMPTY only. On `section_path`,
    which holds a list, operators work as in `nlb_retriever.store.Condition`. A key means what a retrieved node's
    metadata has under it (`conventions.to_condition`).

    Args:
        filters: LlamaIndex's.
        keys: of the library that is searched.

    Raises:
        QueryError: an operator, a condition or a filter is not LlamaIndex's, or no book has a key.
    """
    if filters is None:
        return None
    if isinstance(filters, MetadataFilter):
        if filters.operator not in _OPERATORS:
            known = ", ".join(each.value for each in _OPERATORS)
            raise QueryError(f"unknown filter operator {filters.operator!r} on {brief(filters.key)}; known: {known}")
        operator = _OPERATORS[filters.operator]
        if filters.key not in _OTHER_NAMES:
            return to_condition(filters.key, operator, filters.value, keys)
        own = (METADATA + filters.key,) if keys and filters.key in keys.own else ()
        tests = tuple(Condition(key, operator, filters.value) for key in (*_OTHER_NAMES[filters.key], *own))
        return And(tests) if operator in _NEGATIVE else Or(tests)
    if not isinstance(filters, MetadataFilters):
        raise QueryError(f"{brief(filters)} is not a filter: use LlamaIndex's MetadataFilters")
    if filters.condition not in _CONDITIONS:
        known = ", ".join(each.value for each in FilterCondition)
        raise QueryError(f"unknown filter condition {filters.condition!r}; known: {known}")
    children = tuple(child for each in filters.filters if (child := to_filter(each, keys)) is not None)
    return _CONDITIONS[filters.condition](children) if children else None
