"""BM25 over tokens, and the candidates of a query."""

from __future__ import annotations

import numpy as np

from nlb_training.encoder.mining import BY_MEANING, BY_WORDS, INSIDE, WordIndex, find_inside, find_wrong


def test_rare_words_count_more_in_bm25() -> None:
    passages = [np.array(ids, dtype=np.uint16) for ids in ([1, 2, 3], [1, 4, 5], [1, 6, 7])]
    scores = WordIndex(passages).score([np.array([1, 4], dtype=np.uint16), np.array([9], dtype=np.uint16)])
    assert scores[0].argmax() == 1
    assert scores[0, 0] > 0
    assert not scores[1].any()


def test_of_passages_as_similar_the_one_where_the_answer_is_supposed_comes_first() -> None:
    similarities = np.array([[0.1, 0.5, 0.1, 0.5, 0.1, 0.9]], dtype=np.float32)
    inside = np.array([[True, True, True, True, True, False]])
    words = np.zeros((1, 6), dtype=np.float32)
    places = np.abs(np.arange(6, dtype=np.float32) - 3)[None] / 6
    found = find_inside(similarities, words, places, inside)[0].tolist()
    assert found[:2] == [3, 1]
    assert len(found) == INSIDE
    assert 5 not in found


def test_wrong_passages_are_near_by_meaning_or_by_words_and_missing_where_all_are_right() -> None:
    random = np.random.default_rng(0)
    similarities, words = random.random((2, 50, 40)).astype(np.float32)
    wrong = random.random((50, 40)) < 0.7
    wrong[7] = False
    found = find_wrong(similarities, words, wrong, random)
    assert len(found[7]) == 0
    for row in (*range(7), *range(8, 50)):
        assert wrong[row, found[row]].all()
        assert max(BY_MEANING, BY_WORDS) <= len(found[row]) <= BY_MEANING + BY_WORDS
        best = np.flatnonzero(wrong[row])[words[row, wrong[row]].argmax()]
        assert best in found[row]
