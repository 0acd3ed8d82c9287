from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import pytest
import torch
from torch import Tensor
from torch.nn.functional import normalize

from nlb_retriever.errors import EncoderError
from nlb_retriever.model.config import NextLevelConfig
from nlb_retriever.model.next_level import NextLevelEncoder

TINY = NextLevelConfig(chunk_dim=16, hidden=24, layers=2, heads=3, intermediate=32, positions=10)


def random_chunks(*shape: int, seed: int = 0) -> Tensor:
    return normalize(torch.randn(*shape, generator=torch.Generator().manual_seed(seed)), dim=-1)


def trained(config: NextLevelConfig = TINY) -> NextLevelEncoder:
    """An encoder as training might leave it: its residual is far from zero."""
    torch.manual_seed(1)
    encoder = NextLevelEncoder(config).eval()
    torch.nn.init.normal_(encoder.residual.weight, std=0.2)
    return encoder


def ones(*shape: int) -> Tensor:
    return torch.ones(shape, dtype=torch.bool)


def test_an_untrained_encoder_gives_back_the_chunk_vectors() -> None:
    chunks = random_chunks(2, 8, 16)
    torch.testing.assert_close(NextLevelEncoder(TINY).eval()(chunks, ones(2, 8)), chunks)
    long = random_chunks(100, 16)
    torch.testing.assert_close(NextLevelEncoder(TINY).eval().contextualize(long), long)


def test_without_layers_the_chunk_vectors_come_back_bit_for_bit() -> None:
    encoder = NextLevelEncoder(NextLevelConfig(chunk_dim=None, layers=0))
    chunks = random_chunks(1000, 5)
    assert torch.equal(encoder.contextualize(chunks), chunks)
    assert list(encoder.parameters()) == []


def test_contextual_vectors_have_unit_length_and_differ_from_the_chunks() -> None:
    chunks = random_chunks(3, 8, 16)
    contextual = trained()(chunks, ones(3, 8))
    torch.testing.assert_close(contextual.norm(dim=-1), torch.ones(3, 8))
    assert (contextual * chunks).sum(-1).max() < 0.999


def test_padding_does_not_change_a_vector() -> None:
    encoder = trained()
    chunks = random_chunks(2, 8, 16)
    mask = torch.tensor([[True] * 8, [True] * 3 + [False] * 5])
    together = encoder(chunks, mask)
    torch.testing.assert_close(together[1, :3], encoder(chunks[1:, :3], ones(1, 3))[0])
    torch.testing.assert_close(together[0], encoder(chunks[:1], ones(1, 8))[0])


def test_the_order_of_chunks_changes_their_vectors() -> None:
    encoder = trained()
    chunks = random_chunks(1, 8, 16)
    turned = encoder(chunks.flip(1), ones(1, 8)).flip(1)
    assert (turned - encoder(chunks, ones(1, 8))).abs().max() > 1e-3


def test_every_chunk_sees_every_other() -> None:
    encoder = trained()
    chunks = random_chunks(1, 8, 16)
    changed = chunks.clone()
    changed[0, 7] = -changed[0, 7]
    moved = (encoder(changed, ones(1, 8)) - encoder(chunks, ones(1, 8))).abs().amax(-1)[0]
    assert moved.min() > 1e-6


def test_a_masked_chunk_is_not_seen() -> None:
    encoder = trained()
    one, other = random_chunks(1, 5, 16), random_chunks(1, 5, 16)
    other[0, 2] = random_chunks(16, seed=5)
    masked = torch.tensor([[False, False, True, False, False]])
    states = encoder.hidden_states(one, ones(1, 5), masked)
    torch.testing.assert_close(states, encoder.hidden_states(other, ones(1, 5), masked))
    assert states.shape == (1, 7, 24)
    assert not torch.allclose(states, encoder.hidden_states(one, ones(1, 5)))


def test_cls_and_sep_stand_around_each_row_whatever_its_padding() -> None:
    encoder = trained()
    chunks = random_chunks(2, 6, 16)
    mask = torch.tensor([[True] * 6, [True] * 2 + [False] * 4])
    states = encoder.hidden_states(chunks, mask)
    alone = encoder.hidden_states(chunks[1:, :2], ones(1, 2))
    torch.testing.assert_close(states[1, :4], alone[0])


def test_each_chunk_is_moved_by_its_own_hidden_state() -> None:
    encoder = trained()
    chunks = random_chunks(1, 8, 16)
    states = encoder.hidden_states(chunks, ones(1, 8))
    for place in range(8):
        changed = chunks.clone()
        changed[0, place] = random_chunks(16, seed=7)
        moved = (encoder.hidden_states(changed, ones(1, 8)) - states).norm(dim=-1)[0]
        assert moved.argmax() == place + 1  # behind [CLS]
        expected = normalize(chunks[0, place] + encoder.residual(states[0, place + 1]), dim=-1)
        torch.testing.assert_close(encoder(chunks, ones(1, 8))[0, place], expected)


def test_the_residual_learns_from_its_zero_start() -> None:
    encoder = NextLevelEncoder(TINY)
    chunks = random_chunks(1, 8, 16)
    (encoder(chunks, ones(1, 8)) * random_chunks(1, 8, 16, seed=9)).sum().backward()
    assert encoder.residual.weight.grad is not None and encoder.residual.weight.grad.abs().max() > 0


def test_a_book_within_one_window_equals_the_plain_forward() -> None:
    encoder = trained()
    for count in (1, 5, 8):
        chunks = random_chunks(count, 16)
        assert torch.equal(encoder.contextualize(chunks), encoder(chunks[None], ones(1, count))[0])


def test_windows_are_merged_by_the_distance_to_their_ends() -> None:
    encoder = trained()  # 8 chunks a window
    chunks = random_chunks(12, 16)  # windows 0-7 and 4-11
    first, second = encoder(chunks[None, :8], ones(1, 8))[0], encoder(chunks[None, 4:], ones(1, 8))[0]
    expected = torch.cat(
        [
            first[:4],
            normalize(
                first[4:] * torch.tensor([[4.0], [3], [2], [1]]) + second[:4] * torch.tensor([[1.0], [2], [3], [4]]),
                dim=-1,
            ),
            second[4:],
        ]
    )
    torch.testing.assert_close(encoder.contextualize(chunks), expected)


@pytest.mark.parametrize("count", [9, 11, 13, 16, 17, 100, 1001])
def test_every_chunk_of_a_longer_book_is_in_a_window(count: int) -> None:
    chunks = random_chunks(count, 16)
    contextual = trained().contextualize(chunks)
    torch.testing.assert_close(contextual.norm(dim=-1), torch.ones(count))
    assert (contextual * chunks).sum(-1).max() < 0.9999  # not one was left as it came


def test_context_reaches_as_far_as_the_windows_and_no_farther() -> None:
    encoder = trained()
    chunks = random_chunks(64, 16)
    changed = chunks.clone()
    changed[0] = -changed[0]
    moved = (encoder.contextualize(changed) - encoder.contextualize(chunks)).abs().amax(-1)
    assert moved[:8].min() > 1e-6 and moved[8:].max() == 0


def test_a_book_of_three_million_tokens_goes_through() -> None:
    encoder = trained(NextLevelConfig(chunk_dim=16, hidden=16, layers=1, heads=2, intermediate=16, positions=512))
    contextual = encoder.contextualize(random_chunks(12_000, 16))
    assert contextual.shape == (12_000, 16) and contextual.isfinite().all()


def test_a_config_round_trips() -> None:
    for config in (TINY, replace(TINY, backbone="modernbert", heads=6, stretch=8.0)):
        assert NextLevelConfig.from_dict(config.to_dict()) == config


def test_a_config_from_before_stretching_is_what_it_was() -> None:
    assert "stretch" not in TINY.to_dict()  # so that a checkpoint's identity does not change
    assert NextLevelConfig.from_dict(TINY.to_dict()).stretch == 1


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda d: d | {"hiden": 1}, r"unknown keys \['hiden'\]; known: \['backbone', 'chunk_dim'.*'hidden'"),
        (lambda d: {key: d[key] for key in d if key != "layers"}, r"lacks the keys \['layers'\]"),
        (lambda d: d | {"heads": 5}, "hidden 24 must be a multiple of heads 5"),
        (lambda d: d | {"positions": 3}, r"positions \(3\)"),
        (lambda d: d | {"backbone": "gpt"}, "'gpt'.*known: 'bert', 'modernbert', 'neobert'"),
        (lambda d: d | {"backbone": "neobert", "heads": 8}, "neobert rotates pairs of numbers: hidden 24 / heads 8"),
        (lambda d: d | {"stretch": 0.5}, "stretch 0.5 must be 1 or more"),
        (lambda d: d | {"chunk_dim": None}, "2 layers over chunk vectors of length None"),
    ],
)
def test_a_config_that_cannot_be_is_refused(
    change: Callable[[dict[str, object]], dict[str, object]], message: str
) -> None:
    with pytest.raises(EncoderError, match=message):
        NextLevelConfig.from_dict(change(TINY.to_dict()))
