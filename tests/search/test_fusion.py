"""Scores worked out by hand."""

from __future__ import annotations

import pytest

from nlb_retriever.records import Level
from nlb_retriever.search.fusion import (
    BEST_PASSAGE_WEIGHT,
    BEST_WITH_SPANS,
    BEST_WITHOUT_NAMES,
    BEST_WITHOUT_WORDS,
    BOOK_WEIGHT,
    DENSE_WEIGHT,
    SECTION_WEIGHT,
    SECTION_WITH_SPANS,
    SECTION_WITH_TERMS,
    SECTION_WITHOUT_NAMES,
    SECTION_WITHOUT_WORDS,
    SEVERAL_WEIGHT,
    WITH_SPANS,
    WITH_TERMS,
    combine,
    from_levels_above,
    from_passages,
    make_pool,
)
from nlb_retriever.store import Candidate


def candidates(**scores: float) -> list[Candidate]:
    """Candidates by their names: p_b1_s1 is passage p of section s1 of book b1."""
    found = []
    for name, score in scores.items():
        _, book, section = (*name.split("_"), "", "")[:3]
        found.append(Candidate(id=name, score=score, book_id=book, section_id=section))
    return found


def test_each_list_counts_by_its_share_of_its_best() -> None:
    pool = make_pool("passage", candidates(a_b_s=0.8, c_b_s=0.4), candidates(a_b_s=5.0, d_b_s=20.0))
    weight = DENSE_WEIGHT["passage"]
    assert pool.scores == pytest.approx({"a_b_s": 0.25 + weight, "c_b_s": 0.5 * weight, "d_b_s": 1 + 0.25 * weight})


def test_what_only_words_found_is_half_as_similar_as_the_least_similar_of_the_others() -> None:
    pool = make_pool("book", candidates(a_b=0.5, c_d=0.25), candidates(e_f=3.0))
    assert pool.scores["e_f"] == pytest.approx(1 + DENSE_WEIGHT["book"] * 0.25)


def test_lists_that_found_nothing_add_nothing() -> None:
    assert make_pool("section", [], candidates(a_b_s=2.0)).scores == {"a_b_s": 1.0}
    assert make_pool("section", candidates(a_b_s=0.5), []).scores == {"a_b_s": DENSE_WEIGHT["section"]}
    assert make_pool("section", [], []).scores == {}
    assert make_pool("section", candidates(a_b_s=-0.5, c_b_s=-0.7), []).scores == {"a_b_s": 0.0, "c_b_s": 0.0}


def test_a_book_is_lifted_by_its_best_passage() -> None:
    books = make_pool("book", [], candidates(x_b1=1.0, y_b2=1.0))
    passages = make_pool("passage", [], candidates(p_b2_s=4.0, q_b2_s=2.0, r_b3_s=1.0))
    scores = from_passages("book", books, passages)
    weight = BEST_PASSAGE_WEIGHT["book"]
    assert scores == pytest.approx({"x_b1": 1 + weight * 0.25, "y_b2": 1 + weight * 1.0})


def test_vectors_alone_lift_a_book_by_its_best_passages_together() -> None:
    found = candidates(a_b1=1.0, b_b2=1.0, c_b2=1.0, d_b2=1.0, e_b2=1.0, f_b2=1.0, g_b2=0.5, h_b3=0.5)
    books = candidates(x_b1=1.0, y_b2=1.0, z_b4=1.0)
    by_vectors = {"book": make_pool("book", books, []), "passage": make_pool("passage", found, [])}
    scores = combine("book", by_vectors)
    own = DENSE_WEIGHT["book"] + BEST_PASSAGE_WEIGHT["book"]
    # of b1 only one of five was found: the other four count as the lowest, which is half as similar as the best
    assert scores["x_b1"] == pytest.approx(own + SEVERAL_WEIGHT * (1.0 + 4 * 0.5) / 5)
    assert scores["y_b2"] == pytest.approx(own + SEVERAL_WEIGHT)
    assert scores["z_b4"] == pytest.approx(own - BEST_PASSAGE_WEIGHT["book"] / 2 + SEVERAL_WEIGHT * 0.5)
    with_words = by_vectors | {"passage": make_pool("passage", found, candidates(a_b1=1.0))}
    assert combine("book", with_words) == from_passages("book", with_words["book"], with_words["passage"])


def test_a_passage_is_lifted_by_its_section_and_book() -> None:
    passages = make_pool("passage", [], candidates(p_b1_s1=2.0, q_b2_s2=2.0))
    sections = make_pool("section", [], [Candidate(id="s1", score=3.0)])
    books = make_pool("book", [], candidates(x_b1=1.0))
    scores = from_levels_above(passages, sections, books)
    book = 1 + BEST_PASSAGE_WEIGHT["book"]
    # the other section and book are in no list: they count as the lowest there is, which here is the only one
    assert scores == pytest.approx(
        {
            "p_b1_s1": 1 + SECTION_WEIGHT + BOOK_WEIGHT * book,
            "q_b2_s2": 1 + SECTION_WEIGHT + BOOK_WEIGHT * book,
        }
    )
    other = [Candidate(id="s1", score=3.0), Candidate(id="s3", score=1.5)]
    more = make_pool("section", [], other)
    scores = from_levels_above(passages, more, books)
    assert scores["p_b1_s1"] - scores["q_b2_s2"] == pytest.approx(SECTION_WEIGHT * 0.5)


def test_similarity_counts_more_where_spans_were_compared() -> None:
    pool = make_pool("passage", candidates(a_b_s=0.8), candidates(a_b_s=5.0), with_spans=True)
    assert pool.scores == pytest.approx({"a_b_s": 1 + WITH_SPANS})
    with_terms = make_pool("passage", candidates(a_b_s=0.8), candidates(a_b_s=5.0), with_spans=True, with_terms=True)
    assert with_terms.scores == pytest.approx({"a_b_s": 1 + WITH_TERMS})
    assert DENSE_WEIGHT["passage"] < WITH_SPANS < WITH_TERMS


def test_a_books_best_passage_counts_most_where_vectors_of_terms_alone_decide() -> None:
    own, found = make_pool("book", [], candidates(x_b1=1.0)), candidates(p_b1_s1=1.0)
    for words, weight in (([], BEST_WITHOUT_WORDS), (found, BEST_WITH_SPANS["book"])):
        passages = make_pool("passage", found, words, with_spans=True, with_terms=True)
        assert from_passages("book", own, passages) == pytest.approx({"x_b1": 1 + weight})


@pytest.mark.parametrize(("level", "owner"), [("book", "x_b1"), ("section", "s1")])
def test_the_best_passage_counts_more_where_spans_were_compared(level: Level, owner: str) -> None:
    own = make_pool(level, [], candidates(**{owner: 1.0}))
    found = candidates(p_b1_s1=1.0)
    with_spans = make_pool("passage", found, [], with_spans=True)
    assert from_passages(level, own, with_spans) == pytest.approx({owner: 1 + BEST_WITH_SPANS[level]})
    nameless = from_passages(level, own, with_spans, without_names=True)
    assert nameless == pytest.approx({owner: 1 + BEST_WITHOUT_NAMES[level]})
    without = make_pool("passage", found, [])
    for without_names in (False, True):
        scores = from_passages(level, own, without, without_names=without_names)
        assert scores == pytest.approx({owner: 1 + BEST_PASSAGE_WEIGHT[level]})


def test_sections_count_more_for_passages_whose_spans_were_compared_and_nothing_by_vectors_alone() -> None:
    found, books = candidates(p_b1_s1=1.0, q_b2_s2=1.0), make_pool("book", [], candidates(x_b1=1.0, y_b2=1.0))
    sections = make_pool("section", [], [Candidate(id="s1", score=2.0), Candidate(id="s2", score=1.0)])
    for words, with_spans, with_terms, without_names, weight in (
        (found, True, True, False, SECTION_WITH_TERMS),
        (found, True, True, True, SECTION_WITHOUT_NAMES),
        (found, True, False, True, SECTION_WITH_SPANS),
        (found, False, False, True, SECTION_WEIGHT),
        ([], True, True, True, SECTION_WITHOUT_WORDS),
        ([], True, False, False, SECTION_WITHOUT_WORDS),
        ([], False, False, False, SECTION_WEIGHT),
    ):
        pool = make_pool("passage", found, words, with_spans=with_spans, with_terms=with_terms)
        scores = from_levels_above(pool, sections, books, without_names=without_names)
        assert scores["p_b1_s1"] - scores["q_b2_s2"] == pytest.approx(weight * 0.5)
