"""Hits: ranked candidates with their texts, and what surrounds a hit in its book."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import islice
from operator import attrgetter
from typing import Any

from nlb_retriever.records import Answer, BookRecord, Citation, Hit, PassageRecord, SectionRecord, page_name
from nlb_retriever.search.copies import fetch_distinct
from nlb_retriever.search.overlap import Overlap, find_overlap
from nlb_retriever.search.ranking import Ranking
from nlb_retriever.search.request import SearchRequest
from nlb_retriever.search.scope import Scope
from nlb_retriever.store import LibraryStore
from nlb_retriever.store.points import point_id
from nlb_retriever.store.works import below_chapter, name_chapters
from nlb_retriever.text.languages import language_of_query

READ_CLOSELY = 20
"""Best passages whose sentences decide their order, and so which are the first ten: 0.5 more of 100 of FairytaleQA's
train questions have their answer there than with 10."""
SENTENCE_WORDS_WEIGHT = 0.2
"""Of the shares of the query's words that a passage's best sentence and its best two neighbouring ones hold."""
SENTENCE_TERMS_WEIGHT = 0.25
"""Of the share of the query that they hold by terms that are like its terms, in place of these."""


def fetch_hits(
    request: SearchRequest, ranking: Ranking, count: int, store: LibraryStore
) -> tuple[list[Hit], Overlap | None]:
    """The best of a ranking with their texts.

    Passages that all levels were combined for are compared with the query, and the first `READ_CLOSELY` of them put in
    order by what their sentences hold of it.

    Returns:
        At most `count` hits, and their overlap with the query; None where some of them were not compared with it.
    """
    best_first = ranking.top(len(ranking.scores))
    if request.level == "book":
        return fetch_distinct(best_first, count, lambda ids: _fetch_books(ids, ranking, store)), None
    if request.level == "passage" and request.mode == "fused" and ranking.pools:
        return _fetch_closely(request.query, ranking, best_first, count, store)
    get = store.get_sections if request.level == "section" else store.get_passages
    return fetch_distinct(
        best_first, count, lambda ids: [to_hit(record, ranking.scores[record.id]) for record in get(ids)]
    ), None


def _fetch_closely(
    query: str, ranking: Ranking, best_first: Sequence[str], count: int, store: LibraryStore
) -> tuple[list[Hit], Overlap | None]:
    records = fetch_distinct(best_first, max(count, READ_CLOSELY) if count else 0, store.get_passages)
    best = max(ranking.scores.values(), default=0.0) or 1.0
    overlap, read = None, records[:READ_CLOSELY]
    if ranking.matches:
        found = ranking.matches.closely_in([record.id for record in read])
        closely = [max(0.0, found.get(record.id, 0.0)) for record in read]
        highest = max(closely, default=0.0) or 1.0
        bonuses = [SENTENCE_TERMS_WEIGHT * similarity / highest for similarity in closely]
    else:
        overlap = find_overlap(query, [record.text for record in read], language_of_query(query, store.languages()))
        bonuses = [SENTENCE_WORDS_WEIGHT * bonus for bonus in overlap.bonuses]
    bonuses += [0.0] * (len(records) - len(read))
    scores = [ranking.scores[record.id] / best + bonus for record, bonus in zip(records, bonuses, strict=True)]
    order = sorted(range(len(records)), key=lambda index: -scores[index])[:count]
    hits = [to_hit(records[index], scores[index]) for index in order]
    return hits, overlap.of(order) if overlap and count <= READ_CLOSELY else None


def _fetch_books(ids: Sequence[str], ranking: Ranking, store: LibraryStore) -> list[Hit]:
    """Books of a ranking, each shown by its best passage, or by its first where none was found."""
    books = store.get_books(ids)
    pool = ranking.pools.get("passage")
    best = {book: passage for book, (_, passage) in pool.best_passages("book").items()} if pool else {}
    found = store.get_passages([best[book.id] for book in books if book.id in best])
    shown = {passage.book_id: passage for passage in found}
    hits = []
    for book in books:
        passage = shown.get(book.id) or next(iter(store.passages(book.id, 0, 1)), None)
        if passage is not None:  # else the book was removed a moment ago
            hits.append(_book_hit(book, passage, ranking.scores[book.uuid]))
    return hits


def to_hit(record: SectionRecord | PassageRecord, score: float = 0.0) -> Hit:
    """A section or passage as a hit."""
    return Hit(
        level="section" if isinstance(record, SectionRecord) else "passage",
        id=record.id,
        book_id=record.book_id,
        title=record.title,
        work=record.work,
        author=record.author,
        source=record.source,
        section=record.path,
        section_id=record.section_id,
        start=record.start,
        end=record.end,
        page=record.page,
        score=score,
        text=record.text,
        metadata={
            **_of_the_book(record),
            "section": record.section,
            "ordinal": record.ordinal,
            "page_number": record.page_number,
        },
    )


def _book_hit(book: BookRecord, passage: PassageRecord, score: float) -> Hit:
    return replace(
        to_hit(passage, score), level="book", id=book.uuid, section=(), section_id=None, metadata=_of_the_book(book)
    )


def _of_the_book(record: BookRecord | SectionRecord | PassageRecord) -> dict[str, Any]:
    metadata = {"version": record.version, "language": record.language, "year": record.year}
    return {**metadata, "metadata": record.metadata} if record.metadata else metadata


def read_book(book: BookRecord, scope: Scope, store: LibraryStore, most: int | None = None) -> list[Hit]:
    """The first passages of a book or work that are in a scope, in order."""
    if book.parts:
        chapters = name_chapters(book.parts)
        each = (below_chapter(passage, chapters) for part in book.parts for passage in store.passages(part.id))
        return [*map(to_hit, islice(each, most))]
    if scope.sections is None and scope.before is None:
        return [to_hit(passage) for passage in store.passages(book.id, 0, most)]
    passages = [passage for passage in store.passages(book.id) if scope.holds(passage.section)]
    return [to_hit(passage) for passage in passages[:most]]


def in_works(hits: Sequence[Hit], store: LibraryStore) -> list[Hit]:
    """Hits with the id and title of the work that their book is a chapter of."""
    works = {part.id: work for work in store.works() for part in work.parts}
    return [
        replace(hit, book_id=work.id, title=work.title) if (work := works.get(hit.book_id)) else hit for hit in hits
    ]


def widen(hit: Hit, neighbours: int, store: LibraryStore) -> Hit:
    """A passage with those before and after it, as one span of the same section."""
    ordinal = hit.metadata["ordinal"]
    around = [
        passage
        for passage in store.passages(hit.book_id, max(0, ordinal - neighbours), ordinal + neighbours + 1)
        if passage.section_id == hit.section_id
    ]
    sections = store.get_sections([hit.section_id]) if hit.section_id else []
    if not around or not sections:
        return hit
    start, end, offset = around[0].start, around[-1].end, sections[0].start
    return replace(hit, start=start, end=end, page=around[0].page, text=sections[0].text[start - offset : end - offset])


def cite_pages(answer: Answer, store: LibraryStore) -> Answer:
    """An answer whose citations have the pages on which their quotes begin, which may not be those of their passages.

    So has a short answer that is a page.
    """
    paged = [each.hit.section_id for each in answer.citations if each.hit.page and each.quote_start > each.hit.start]
    if not paged:
        return answer
    sections = {section.id: section for section in store.get_sections([*dict.fromkeys(filter(None, paged))])}
    cited = [_turn_to(citation, sections) for citation in answer.citations]
    shorts = [
        replace(short, text=page_name(cited[short.citation].hit.page or ""))
        if short.text == page_name(answer.citations[short.citation].hit.page or "")
        else short
        for short in answer.shorts
    ]
    return replace(answer, citations=tuple(cited), shorts=tuple(shorts))


def _turn_to(citation: Citation, sections: Mapping[str, SectionRecord]) -> Citation:
    """A citation with the last page that begins in its section and not behind its quote, or the passage's own."""
    hit = citation.hit
    section = sections.get(hit.section_id or "")
    pages = (
        section.pages[: bisect_right(section.pages, citation.quote_start, key=attrgetter("start"))] if section else ()
    )
    if not pages or pages[-1].start <= hit.start:
        return citation
    metadata = {**hit.metadata, "page_number": pages[-1].number}
    return replace(citation, hit=replace(hit, page=pages[-1].label, metadata=metadata))


@dataclass(frozen=True, kw_only=True)
class Surroundings:
    """Ids of a hit's parent and neighbours, as hits at their level have them."""

    parent: str | None
    """A passage's section, a section's book; None for a book."""
    previous: str | None
    """The section or passage before it in its book, if there is one."""
    next: str | None


def find_surroundings(hits: Sequence[Hit], store: LibraryStore) -> list[Surroundings]:
    """The surroundings of hits of one level, in their order."""
    around = [(_neighbour(hit, -1), _neighbour(hit, 1)) for hit in hits]
    wanted = sorted({each for pair in around for each in pair if each})
    existing = store.existing(hits[0].level, wanted) if wanted else set()
    return [
        Surroundings(
            parent=_parent(hit),
            previous=before if before in existing else None,
            next=after if after in existing else None,
        )
        for hit, (before, after) in zip(hits, around, strict=True)
    ]


def _neighbour(hit: Hit, step: int) -> str | None:
    if hit.level == "book" or hit.metadata["ordinal"] + step < 0:
        return None
    return point_id(hit.book_id, hit.metadata["version"], hit.level, hit.metadata["ordinal"] + step)


def _parent(hit: Hit) -> str | None:
    if hit.level == "section":
        return point_id(hit.book_id, hit.metadata["version"], "book", 0)
    return hit.section_id
