"""Which chunks are hidden, and behind what."""

from __future__ import annotations

import pytest
import torch
from torch import Tensor

from nlb_training.pretraining.masking import choose_chunks, mask_chunks


def generator(seed: int = 0) -> torch.Generator:
    return torch.Generator().manual_seed(seed)


def numbered(rows: int, slots: int) -> Tensor:
    """Chunks (B, C, 1), each of which is its own number."""
    return torch.arange(rows * slots, dtype=torch.float32).view(rows, slots, 1)


@pytest.mark.parametrize(("share", "wanted"), [(0.15, [15, 3, 1, 0]), (0.3, [30, 6, 1, 0]), (0.4, [40, 8, 1, 0])])
def test_of_each_row_exactly_the_share_of_its_chunks_is_chosen(share: float, wanted: list[int]) -> None:
    maskable = torch.arange(100)[None] < torch.tensor([[100], [20], [2], [0]])
    chosen = choose_chunks(maskable, share, generator())
    assert chosen.sum(1).tolist() == wanted
    assert not (chosen & ~maskable).any()


def test_every_chunk_is_chosen_as_often_as_any_other() -> None:
    maskable = torch.ones(1, 20, dtype=torch.bool)
    random = generator()
    counts = sum(choose_chunks(maskable, 0.15, random).float() for _ in range(2000))
    assert isinstance(counts, Tensor)
    assert counts.min() > 240 and counts.max() < 360  # 300 expected, 16 the standard deviation


def test_the_same_generator_chooses_the_same() -> None:
    maskable = torch.ones(3, 50, dtype=torch.bool)
    one, same, other = (choose_chunks(maskable, 0.15, generator(seed)) for seed in (1, 1, 2))
    assert torch.equal(one, same) and not torch.equal(one, other)


def test_of_the_chosen_80_in_100_are_masked_10_replaced_and_10_kept() -> None:
    chunks = numbered(200, 100)
    maskable = torch.ones(200, 100, dtype=torch.bool)
    rows = mask_chunks(chunks, maskable, choose_chunks(maskable, 0.5, generator()), generator=generator(1))
    changed = (rows.shown != chunks)[..., 0]
    assert rows.chosen.sum() == 10_000
    assert 7_880 < rows.masked.sum() < 8_120  # three standard deviations of 40
    assert 910 < changed.sum() < 1_090
    assert not (changed & ~rows.chosen).any() and not (changed & rows.masked).any()
    assert not (rows.masked & ~rows.chosen).any()


def test_a_chunk_is_replaced_by_another_chunk_of_the_batch_never_by_padding_or_a_separator() -> None:
    chunks = numbered(40, 10)
    maskable = torch.arange(10)[None].expand(40, 10) < 7
    maskable = maskable & (torch.arange(10) != 3)
    allowed = set(chunks[maskable][:, 0].tolist())
    rows = mask_chunks(chunks, maskable, maskable, as_mask=0, as_other=1, generator=generator())
    found = rows.shown[maskable][:, 0]
    assert (found != chunks[maskable][:, 0]).all() and set(found.tolist()) <= allowed
    assert torch.equal(rows.shown[~maskable], chunks[~maskable])
    from_other_rows = (found // 10 != chunks[maskable][:, 0] // 10).float().mean()
    assert from_other_rows > 0.9  # 39 of 40


def test_with_this_seed_exactly_these_are_hidden() -> None:
    chunks, maskable = numbered(1, 20), torch.ones(1, 20, dtype=torch.bool)
    random = generator(4)
    rows = mask_chunks(chunks, maskable, choose_chunks(maskable, 0.4, random), generator=random)
    assert rows.chosen[0].nonzero()[:, 0].tolist() == [2, 3, 4, 5, 11, 17, 18, 19]
    assert rows.masked[0].nonzero()[:, 0].tolist() == [2, 3, 5, 19]
    changed = {slot: int(chunk) for slot, chunk in enumerate(rows.shown[0, :, 0].tolist()) if chunk != slot}
    assert changed == {11: 13, 17: 0}  # and 4 and 18 are shown as they are


def test_the_only_chunk_of_a_batch_is_never_replaced() -> None:
    chunks, maskable = numbered(1, 1), torch.ones(1, 1, dtype=torch.bool)
    rows = mask_chunks(chunks, maskable, maskable, as_mask=0, as_other=1)
    assert torch.equal(rows.shown, chunks)
