"""Trunks of every kind do what the next-level encoder needs of them."""

from __future__ import annotations

from dataclasses import replace

import pytest
import torch
from torch import Tensor
from torch.nn.functional import normalize

from nlb_retriever.encoding.load import load_torch_encoder
from nlb_retriever.errors import EncoderError
from nlb_retriever.model.backbone import build_backbone, copy_backbone
from nlb_retriever.model.config import Backbone, NextLevelConfig
from nlb_retriever.model.next_level import NextLevelEncoder

BACKBONES: tuple[Backbone, ...] = ("bert", "modernbert", "neobert")
TINY = NextLevelConfig(chunk_dim=16, hidden=24, layers=4, heads=3, intermediate=32, positions=10)

every_backbone = pytest.mark.parametrize("backbone", BACKBONES)


def random_chunks(*shape: int, seed: int = 0) -> Tensor:
    return normalize(torch.randn(*shape, generator=torch.Generator().manual_seed(seed)), dim=-1)


def trained(config: NextLevelConfig) -> NextLevelEncoder:
    """An encoder as training might leave it: nothing of it is near zero."""
    torch.manual_seed(1)
    encoder = NextLevelEncoder(config).eval()
    for parameter in encoder.parameters():
        if parameter.ndim > 1:
            torch.nn.init.normal_(parameter, std=0.2)
    return encoder


def ones(*shape: int) -> Tensor:
    return torch.ones(shape, dtype=torch.bool)


@every_backbone
def test_an_untrained_encoder_gives_back_the_chunk_vectors(backbone: Backbone) -> None:
    encoder = NextLevelEncoder(replace(TINY, backbone=backbone)).eval()
    chunks = random_chunks(2, 8, 16)
    torch.testing.assert_close(encoder(chunks, ones(2, 8)), chunks)


@every_backbone
def test_padding_does_not_change_a_vector_nor_its_gradient(backbone: Backbone) -> None:
    # So much padding that whole windows of ModernBERT's local layers hold nothing else.
    encoder = trained(replace(TINY, backbone=backbone, positions=302))
    chunks = random_chunks(1, 300, 16)
    short = encoder(chunks[:, :5], ones(1, 5))
    short.square()[..., 0].sum().backward()
    gradients = {name: p.grad.clone() for name, p in encoder.named_parameters() if p.grad is not None}
    encoder.zero_grad()
    padded = encoder(chunks, torch.arange(300)[None] < 5)
    torch.testing.assert_close(padded[:, :5], short, atol=1e-5, rtol=1e-4)
    padded[:, :5].square()[..., 0].sum().backward()
    for name, parameter in encoder.named_parameters():
        if name in gradients and "position_embeddings" not in name:
            torch.testing.assert_close(parameter.grad, gradients[name], atol=1e-4, rtol=1e-3)


@every_backbone
def test_every_chunk_sees_those_before_and_behind_it(backbone: Backbone) -> None:
    encoder = trained(replace(TINY, backbone=backbone))
    chunks = random_chunks(1, 8, 16)
    for place in (0, 7):
        changed = chunks.clone()
        changed[0, place] = random_chunks(16, seed=5)
        moved = (encoder(changed, ones(1, 8)) - encoder(chunks, ones(1, 8))).abs().amax(-1)[0]
        assert moved.min() > 1e-5


@every_backbone
def test_the_order_of_chunks_changes_their_vectors(backbone: Backbone) -> None:
    encoder = trained(replace(TINY, backbone=backbone))
    chunks = random_chunks(1, 8, 16)
    turned = encoder(chunks.flip(1), ones(1, 8)).flip(1)
    assert (turned - encoder(chunks, ones(1, 8))).abs().max() > 1e-3


def test_local_layers_of_modernbert_see_64_places_each_way_and_global_ones_all() -> None:
    backbone = build_backbone(replace(TINY, backbone="modernbert", positions=302, dropout=0.0)).eval()
    slots = random_chunks(1, 300, 24)
    for layers, reach in (((1,), 64), ((1, 2), 128), ((0,), 299)):
        some = torch.nn.ModuleList([backbone.get_submodule(f"layers.{layer}") for layer in layers])
        alone = build_backbone(replace(TINY, backbone="modernbert", positions=302)).eval()
        alone.layers = some
        changed = slots.clone()
        changed[0, 0] = random_chunks(24, seed=3)
        mask = torch.ones(1, 300, dtype=torch.long)
        moved = alone(inputs_embeds=changed, attention_mask=mask).last_hidden_state
        moved = (moved - alone(inputs_embeds=slots, attention_mask=mask).last_hidden_state).abs().amax(-1)[0]
        assert moved.nonzero().max() == reach


@every_backbone
def test_a_window_of_4096_chunks_by_stretching(backbone: Backbone) -> None:
    config = NextLevelConfig(
        chunk_dim=16, hidden=16, layers=2, heads=2, intermediate=16, positions=514, backbone=backbone, stretch=8
    )
    encoder = trained(config)
    assert encoder.window == 8 * 514 - 2 >= 4096
    chunks = random_chunks(4096, 16)
    changed = chunks.clone()
    changed[0] = -changed[0]
    with torch.inference_mode():
        near, far = encoder.contextualize(chunks), encoder.contextualize(changed)
    torch.testing.assert_close(near.norm(dim=-1), torch.ones(4096))
    assert (near - far)[-1].abs().max() > 0  # the last chunk sees the first


@every_backbone
def test_4096_chunks_by_windows(backbone: Backbone) -> None:
    encoder = trained(
        NextLevelConfig(chunk_dim=16, hidden=16, layers=2, heads=2, intermediate=16, positions=512, backbone=backbone)
    )
    chunks = random_chunks(4096, 16)
    contextual = encoder.contextualize(chunks)
    torch.testing.assert_close(contextual.norm(dim=-1), torch.ones(4096))
    assert (contextual * chunks).sum(-1).max() < 0.9999  # not one was left as it came


@every_backbone
def test_the_weights_of_an_encoder_are_those_of_its_stretched_twin(backbone: Backbone) -> None:
    config = replace(TINY, backbone=backbone)
    encoder, twin = trained(config), NextLevelEncoder(replace(config, stretch=2.5)).eval()
    assert twin.window == 23
    twin.load_state_dict(encoder.state_dict())
    chunks = random_chunks(1, 8, 16)
    assert not torch.allclose(twin(chunks, ones(1, 8)), encoder(chunks, ones(1, 8)))


def test_stretched_positions_lie_between_those_that_were_trained() -> None:
    config = replace(TINY, positions=5, stretch=2)
    backbone = build_backbone(config)
    table = backbone.get_submodule("embeddings.position_embeddings")
    rows: Tensor = backbone.state_dict()["embeddings.position_embeddings.weight"]
    rows.copy_(torch.arange(5.0)[:, None].expand(5, 24) ** 2)
    found = table(torch.arange(10))[:, 0].tolist()
    # Slot i of 10 is at place i * 4 / 9 of 5 rows, whose values are the squares.
    places = [slot * 4 / 9 for slot in range(10)]
    assert found == pytest.approx([int(p) ** 2 + (p - int(p)) * (2 * int(p) + 1) for p in places], abs=1e-5)
    assert (found[0], found[-1]) == (0, 16)


@pytest.mark.parametrize("backbone", ["modernbert", "neobert"])
def test_stretched_angles_are_divided(backbone: Backbone) -> None:
    config = replace(TINY, backbone=backbone, dropout=0.0, layers=1)  # ModernBERT's first layer sees all
    plain, stretched = build_backbone(config).eval(), build_backbone(replace(config, stretch=2)).eval()
    stretched.load_state_dict(plain.state_dict())
    slots = random_chunks(1, 10, 24)
    mask = torch.ones(1, 10, dtype=torch.long)
    at_half = plain(inputs_embeds=slots, attention_mask=mask, position_ids=torch.arange(10)[None] / 2)
    found = stretched(inputs_embeds=slots, attention_mask=mask)
    torch.testing.assert_close(found.last_hidden_state, at_half.last_hidden_state)


@every_backbone
def test_a_separator_is_the_same_whatever_vector_stands_in_its_place(backbone: Backbone) -> None:
    encoder = trained(replace(TINY, backbone=backbone))
    one, other = random_chunks(1, 5, 16), random_chunks(1, 5, 16)
    other[0, 2] = random_chunks(16, seed=5)
    separators = torch.tensor([[False, False, True, False, False]])
    states = encoder.hidden_states(one, ones(1, 5), separators=separators)
    torch.testing.assert_close(states, encoder.hidden_states(other, ones(1, 5), separators=separators))
    one[0, 2] = encoder.specials[1]  # [SEP]
    torch.testing.assert_close(states, encoder.hidden_states(one, ones(1, 5)))


def test_books_packed_into_one_row_see_each_other_as_in_the_paper() -> None:
    encoder = trained(TINY)
    chunks = random_chunks(1, 5, 16)
    changed = chunks.clone()
    changed[0, 4] = -changed[0, 4]
    separators = torch.tensor([[False, False, True, False, False]])
    states, others = (encoder.hidden_states(c, ones(1, 5), separators=separators) for c in (chunks, changed))
    assert (states - others)[0, 1:3].abs().amax(-1).min() > 1e-5


def test_a_backbone_starts_from_the_chunk_encoders_own_weights_with_new_positions() -> None:
    source = load_torch_encoder().model[0].auto_model
    torch.manual_seed(0)
    encoder = NextLevelEncoder(NextLevelConfig(chunk_dim=384))
    before = {name: tensor.clone() for name, tensor in encoder.backbone.state_dict().items()}
    copy_backbone(source, encoder.backbone)
    given = source.state_dict()
    kept = {"embeddings.word_embeddings.weight", "embeddings.position_embeddings.weight"}
    for name, tensor in encoder.backbone.state_dict().items():
        if name in kept:
            assert torch.equal(tensor, before[name])
        else:
            assert torch.equal(tensor, given[name][: len(tensor)]) and not torch.equal(tensor, before[name])
    assert len(before) - len(kept) == 6 * 16 + 3
    # The layers are the chunk encoder's: the same states go in, the same come out.
    states = torch.randn(1, 7, 384)
    torch.testing.assert_close(
        source.encoder(states).last_hidden_state, encoder.eval().backbone.encoder(states).last_hidden_state
    )


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"layers": 3}, r"bert 384 hidden_size 3 num_hidden_layers 12 .* which are bert 384 hidden_size 6 num"),
        ({"backbone": "modernbert"}, "the backbone is modernbert 384 .* or start it at random"),
    ],
)
def test_a_backbone_of_another_shape_cannot_start_from_them(change: dict[str, object], message: str) -> None:
    from transformers import BertConfig, BertModel

    shape = {"hidden_size": 384, "num_hidden_layers": 6, "num_attention_projections": 12, "intermediate_size": 1536}
    source = BertModel(BertConfig(vocab_size=3, **shape))
    with pytest.raises(EncoderError, match=message):
        copy_backbone(source, build_backbone(NextLevelConfig(chunk_dim=384, **change)))  # type: ignore[arg-type]
