"""Positives by alignment, BM25 over tokens, hard negatives."""

from __future__ import annotations

import numpy as np

from nlb_training.encoder.mining import WordIndex, align, pick_negatives


def test_sentences_follow_the_text_where_likeness_alone_would_jump() -> None:
    similarities = np.full((4, 8), 0.2, dtype=np.float32)
    for sentence, passage in enumerate((0, 2, 5, 7)):
        similarities[sentence, passage] = 0.5
    similarities[1, 7] = 0.52  # a little more like the second sentence, but at the wrong end
    places = (np.arange(4, dtype=np.float32) + 0.5) / 4
    assert align(similarities, places).tolist() == [0, 2, 5, 7]


def test_a_much_likelier_passage_wins_over_order() -> None:
    similarities = np.full((3, 6), 0.1, dtype=np.float32)
    similarities[0, 5] = similarities[1, 2] = similarities[2, 5] = 0.9
    assert align(similarities, np.array([0.1, 0.5, 0.9], dtype=np.float32)).tolist() == [5, 2, 5]


def test_rare_words_count_more_in_bm25() -> None:
    passages = [np.array(ids, dtype=np.uint16) for ids in ([1, 2, 3], [1, 4, 5], [1, 6, 7])]
    scores = WordIndex(passages).score([np.array([1, 4], dtype=np.uint16), np.array([9], dtype=np.uint16)])
    assert scores[0].argmax() == 1
    assert scores[0, 0] > 0
    assert not scores[1].any()


def test_negatives_are_wrong_and_near_and_missing_where_all_are_right() -> None:
    random = np.random.default_rng(0)
    similarities = random.random((50, 40)).astype(np.float32)
    wrong = random.random((50, 40)) < 0.7
    wrong[7] = False
    chosen = pick_negatives(similarities, similarities, wrong, top=5, random=random)
    assert chosen[7] == -1
    for row in range(50):
        if row != 7:
            assert wrong[row, chosen[row]]
            assert (np.where(wrong[row], similarities[row], 0) > similarities[row, chosen[row]]).sum() < 5
