"""Order features of vectors, on sequences that can be worked out by hand."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from nlb_retriever.encoding import Vectors
from nlb_retriever.model.dct import MAX_NORM, OrderFeatures, dct_coefficients
from nlb_retriever.model.projections import KINDS, Projection, Projections
from nlb_retriever.model.reranker import FEATURES

AXES = np.eye(6, dtype=np.float32)
ORDER = OrderFeatures(
    directions=AXES,
    weights=np.array([1, 0.5, 0.25], dtype=np.float32),
    half=np.array([4], dtype=np.float32),
)
SAME = Projection(center=np.zeros(6, dtype=np.float32), matrix=AXES)
PROJECTIONS = Projections(
    **dict.fromkeys(KINDS, SAME),
    gate=np.array([0, 0, 1], dtype=np.float32),
    reranker=np.zeros(len(FEATURES), dtype=np.float32),
    context=np.zeros(1, dtype=np.float32),
    order=ORDER,
)


def section(chunks: Vectors, projections: Projections = PROJECTIONS) -> Vectors:
    mean = chunks.mean(axis=0)
    vector: Vectors = projections.project_sections(
        mean[None] / np.linalg.norm(mean), dct_coefficients(chunks, 3)[None]
    )[0]
    return vector


def question(sentences: Vectors, projections: Projections = PROJECTIONS) -> Vectors:
    mean = sentences.mean(axis=0)
    return projections.project_query(np.asarray(mean / np.linalg.norm(mean), dtype=np.float32), sentences)


def test_waves_are_the_cosine_transform_in_units_of_the_mean() -> None:
    ramp = np.outer(np.arange(1, 9), AXES[0]).astype(np.float32)
    places = (np.arange(8) + 0.5) / 8
    wanted = [np.sqrt(2) * np.mean(np.cos(np.pi * f * places) * np.arange(1, 9)) / 4.5 for f in (1, 2, 3)]
    np.testing.assert_allclose(dct_coefficients(ramp, 3)[:, 0], wanted, atol=1e-6)
    assert wanted[0] < -0.5, "little at the beginning, much at the end"
    assert not dct_coefficients(ramp, 3)[:, 1:].any()


@pytest.mark.parametrize("length", [1, 2, 3, 7])
def test_what_never_changes_and_what_is_too_short_has_no_waves(length: int) -> None:
    np.testing.assert_allclose(dct_coefficients(np.repeat(AXES[:1], length, axis=0), 3), 0, atol=1e-6)
    found = dct_coefficients(np.random.default_rng(0).normal(size=(length, 6)).astype(np.float32), 3)
    assert [bool(np.abs(row).max() > 1e-6) for row in found] == [f < length for f in (1, 2, 3)]


def test_backwards_the_odd_frequencies_change_their_sign() -> None:
    forth = np.random.default_rng(0).normal(size=(9, 6)).astype(np.float32)
    signs = np.array([-1, 1, -1])[:, None]
    np.testing.assert_allclose(dct_coefficients(forth[::-1], 3), dct_coefficients(forth, 3) * signs, atol=1e-5)


def test_a_section_that_tells_it_in_the_questions_order_is_nearer_whatever_the_lengths() -> None:
    story = AXES[:5]
    forth, back = np.repeat(story, 4, axis=0), np.repeat(story[::-1], 4, axis=0)
    query = question(story)
    assert query @ section(forth) > 1 > query @ section(back)
    np.testing.assert_allclose(section(forth)[:6], section(back)[:6], atol=1e-6)
    np.testing.assert_allclose(query[:6] @ section(forth)[:6], 1, atol=1e-6)


def test_a_question_of_one_sentence_sees_no_order() -> None:
    forth, back = AXES[:5], AXES[:5][::-1]
    query = question(AXES[:1])
    assert not query[6:].any()
    np.testing.assert_allclose(query @ section(forth), query @ section(back), atol=1e-6)


def test_more_sentences_have_more_order() -> None:
    few, many = (np.linalg.norm(question(np.repeat(AXES[:4], times, axis=0))[6:]) for times in (1, 10))
    np.testing.assert_allclose(few / many, (4 / 8) / (40 / 44), rtol=0.1)


def test_without_an_order_vectors_are_what_they_were() -> None:
    plain = replace(PROJECTIONS, order=None)
    assert (plain.section_dim, PROJECTIONS.section_dim) == (6, 6 + 3 * 6)
    np.testing.assert_array_equal(section(AXES[:5], plain), section(AXES[:5])[:6])
    np.testing.assert_array_equal(question(AXES[:5], plain), question(AXES[:5])[:6])


def test_an_order_part_is_never_long_and_none_where_a_text_lies_at_the_centre() -> None:
    sequence = AXES[:5]
    mean = sequence.mean(axis=0) / np.linalg.norm(sequence.mean(axis=0))
    near = replace(PROJECTIONS, section=Projection(center=mean - 1e-3 * AXES[0], matrix=AXES))
    at = replace(PROJECTIONS, section=Projection(center=mean, matrix=AXES))
    np.testing.assert_allclose(np.linalg.norm(section(sequence, near)[6:]), MAX_NORM, rtol=1e-4)
    assert not section(sequence, at)[6:].any()
    assert np.isfinite(section(np.stack([AXES[0], -AXES[0]]) + 1e-9)).all(), "chunks that cancel out"
