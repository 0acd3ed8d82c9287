"""Rows and batches: every row once, spans at the words they had."""

from __future__ import annotations

from pathlib import Path

import numpy as np
from tokenizers import Tokenizer

from nlb_training.reader.examples import Candidate, Example
from nlb_training.reader.rows import RowSet, make_batch, plan_batches, tokenize
from tests.training.reader.questions import make_examples


def test_spans_of_tokens_are_the_words_of_the_spans_of_characters(tokenizer: Tokenizer) -> None:
    examples = make_examples(20)
    rows = tokenize(examples, tokenizer, longest=64)
    for row, first, last in rows.spans:
        start = rows.ends[row] - rows.lengths[row]
        words = tokenizer.decode(rows.ids[start + first : start + last + 1].tolist())
        good = examples[rows.examples[row]].candidates[0]
        assert words == good.text[slice(*good.spans[0])].lower()


def test_of_a_long_passage_the_window_that_answers_is_kept(tokenizer: Tokenizer) -> None:
    text = "Nothing happened. " * 60 + "Anna came. " + "Nothing happened. " * 60
    start = text.index("Anna")
    candidate = Candidate(text=text, relevant=True, spans=((start, start + 4),))
    rows = tokenize([Example(source="test", question="Who came?", candidates=(candidate,))], tokenizer, longest=64)
    assert len(rows) == len(rows.spans) == 1
    assert rows.lengths[0] <= 64


def test_batches_hold_every_row_once_and_an_examples_rows_together(tokenizer: Tokenizer) -> None:
    rows = tokenize(make_examples(100), tokenizer, longest=64)
    batches = plan_batches(rows, tokens=200, seed=1)
    assert sorted(np.concatenate(batches)) == list(range(len(rows)))
    for batch in batches:
        assert len(batch) * rows.lengths[batch].max() <= 200
        assert set(np.flatnonzero(np.isin(rows.examples, rows.examples[batch]))) == set(batch)


def test_the_order_follows_from_the_seed(tokenizer: Tokenizer) -> None:
    rows = tokenize(make_examples(50), tokenizer, longest=64)
    first, same, other = (plan_batches(rows, tokens=200, seed=seed) for seed in (1, 1, 2))
    assert all(map(np.array_equal, first, same))
    assert not all(map(np.array_equal, first, other))


def test_saved_rows_are_read_back(tokenizer: Tokenizer, tmp_path: Path) -> None:
    rows = tokenize(make_examples(5), tokenizer, longest=64)
    rows.save(tmp_path / "rows.npz")
    again = RowSet.load(tmp_path / "rows.npz")
    assert all(np.array_equal(array, getattr(again, name)) for name, array in vars(rows).items())


def test_a_batch_is_padded_and_masked(tokenizer: Tokenizer) -> None:
    rows = tokenize(make_examples(4), tokenizer, longest=64)
    batch = make_batch(rows, np.array([1, 6]))
    assert batch.mask.sum(1).tolist() == rows.lengths[[1, 6]].tolist()
    assert not batch.ids[batch.mask == 0].any()
    assert batch.types[0, rows.firsts[1]] == 1
    assert batch.types[0, rows.firsts[1] - 1] == 0
