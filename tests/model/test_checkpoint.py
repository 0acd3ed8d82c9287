from __future__ import annotations

import hashlib
import json
import subprocess
import sys
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from safetensors.torch import load_file, save_file

from nlb_retriever.encoding import identify_encoder
from nlb_retriever.errors import EncoderError, MismatchError
from nlb_retriever.model import checkpoint
from nlb_retriever.model.checkpoint import FILES, RELEASED, UNTRAINED, Checkpoint
from nlb_retriever.model.config import NextLevelConfig
from nlb_retriever.model.dct import OrderFeatures
from nlb_retriever.model.next_level import NextLevelEncoder
from nlb_retriever.model.projections import KINDS, Projection, Projections
from nlb_retriever.model.reranker import FEATURES
from tests.doubles import KeywordEncoder

TINY = NextLevelConfig(chunk_dim=3, hidden=8, layers=1, heads=2, intermediate=8, positions=8)
WHALES = KeywordEncoder("whale", "duel")


def trained(seed: int = 1) -> NextLevelEncoder:
    torch.manual_seed(seed)
    encoder = NextLevelEncoder(TINY).eval()
    torch.nn.init.normal_(encoder.residual.weight)
    return encoder


def saved(folder: Path, seed: int = 1) -> Checkpoint:
    return checkpoint.save(trained(seed), folder, name="whales", chunk_encoder=WHALES.identity, chunk_tokens=256)


def edit_config(folder: Path, **changes: Any) -> None:
    file = folder / FILES.config
    file.write_text(json.dumps(json.loads(file.read_text()) | changes))


def with_tensors(folder: Path, tensors: dict[str, torch.Tensor]) -> None:
    """Put other tensors into a checkpoint, as if it had been saved with them."""
    save_file(tensors, folder / FILES.weights)
    digest = hashlib.sha256((folder / FILES.weights).read_bytes()).hexdigest()
    edit_config(folder, weights_sha256=digest)


def test_what_was_saved_is_loaded_bit_for_bit(tmp_path: Path) -> None:
    saved(tmp_path / "ckpt")
    loaded = checkpoint.load(tmp_path / "ckpt")
    chunks = torch.nn.functional.normalize(torch.randn(20, 3), dim=-1)
    assert torch.equal(loaded.build().contextualize(chunks), trained().contextualize(chunks))
    assert (loaded.name, loaded.config.chunk_encoder, loaded.config.chunk_tokens) == ("whales", "keywords", 256)


def test_the_untrained_checkpoint_equals_a_fresh_save_of_an_encoder_without_layers(tmp_path: Path) -> None:
    encoder = NextLevelEncoder(NextLevelConfig(chunk_dim=None, layers=0))
    fresh = checkpoint.save(encoder, tmp_path / "mean", name="mean", chunk_encoder=None, chunk_tokens=None)
    for file in (FILES.config, FILES.weights):
        assert (fresh.folder / file).read_bytes() == (UNTRAINED / file).read_bytes()
    assert sorted(path.name for path in UNTRAINED.iterdir()) == [FILES.config, FILES.weights]
    untrained = checkpoint.load(UNTRAINED)
    assert untrained.sha256 == fresh.sha256
    assert untrained.build().config.layers == 0
    assert untrained.projections is None


def test_the_untrained_checkpoint_fits_any_encoder_and_chunk_length() -> None:
    checkpoint.load(UNTRAINED).check(WHALES.identity, 0)
    checkpoint.load(UNTRAINED).check(KeywordEncoder(*"abcdefg", sha256="f" * 64).identity, 256)


def test_the_released_checkpoint_is_small_whole_and_only_for_the_encoder_it_was_trained_on() -> None:
    released = checkpoint.load()
    released.check(identify_encoder(), 256)
    assert released.projections is not None and released.projections.reranker.any()
    assert sum(file.stat().st_size for file in RELEASED.iterdir()) < 25_000_000
    assert (RELEASED / "README.md").read_text(encoding="utf-8").startswith(f"# {released.name}")
    with pytest.raises(MismatchError, match=r"takes 384-d chunk vectors of all-MiniLM-L6-v2-books, keywords gives 3-d"):
        released.check(WHALES.identity)


def test_a_library_names_its_checkpoint() -> None:
    assert checkpoint.pinned("untrained").sha256 == checkpoint.load(UNTRAINED).sha256
    assert checkpoint.pinned("released").sha256 == checkpoint.load().sha256


def test_a_chunk_encoder_that_has_changed_is_not_to_be_named_again(tmp_path: Path) -> None:
    saved = checkpoint.save(trained(), tmp_path / "mine", name="mine", chunk_encoder=WHALES.identity, chunk_tokens=256)
    renewed = replace(WHALES.identity, sha256="f" * 64)
    with pytest.raises(MismatchError, match=r"train it anew .* \(nlb index --rebuild --chunk-encoder keywords\)$"):
        saved.check(renewed)
    with pytest.raises(MismatchError, match="name that encoder"):
        saved.check(replace(renewed, name="other"))


def some_projections(dim: int = 3, seed: int = 0) -> Projections:
    random = np.random.default_rng(seed)
    affines = {
        name: Projection(
            center=random.normal(size=dim).astype(np.float32), matrix=random.normal(size=(dim, dim)).astype(np.float32)
        )
        for name in KINDS
    }
    gate = np.array([2, -2, 0.8], dtype=np.float32)
    reranker = np.arange(len(FEATURES), dtype=np.float32)
    order = OrderFeatures(
        directions=random.normal(size=(dim, 2)).astype(np.float32),
        weights=np.array([2, 1, 1], dtype=np.float32),
        half=np.array([4], dtype=np.float32),
    )
    return Projections(**affines, gate=gate, reranker=reranker, context=np.array([0.1], dtype=np.float32), order=order)


def test_projections_are_saved_and_loaded_bit_for_bit_and_decide_the_identity(tmp_path: Path) -> None:
    def keep(name: str, projections: Projections | None) -> Checkpoint:
        folder = tmp_path / name
        return checkpoint.save(
            trained(), folder, name="whales", chunk_encoder=WHALES.identity, chunk_tokens=256, projections=projections
        )

    keep("a", some_projections())
    loaded = checkpoint.load(tmp_path / "a")
    assert loaded.projections is not None
    for name, tensor in some_projections().tensors().items():
        np.testing.assert_array_equal(loaded.projections.tensors()[name], tensor)
    assert loaded.build().config == TINY
    plain = {name: tensor for name, tensor in some_projections().tensors().items() if "order" not in name}
    assert Projections.from_tensors(plain, 3).order is None
    others = {keep("b", some_projections(seed=1)).sha256, keep("c", None).sha256}
    assert loaded.sha256 not in others and len(others) == 2


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda tensors: tensors.pop("heads.gate"), r"heads.gate is missing, should be \[3\]"),
        (lambda tensors: tensors["heads.book.center"].fill_(float("nan")), "heads.book.center holds NaN"),
        (
            lambda tensors: tensors.update({"heads.book.matrix": torch.ones(2, 2)}),
            r"heads.book.matrix is \[2, 2\], should be \[3, 3\]",
        ),
        (lambda tensors: tensors.pop("heads.order.half"), r"heads.order.half is missing, should be \[1\]"),
        (lambda tensors: tensors.pop("heads.order.directions"), r"heads.order.directions is missing"),
        (
            lambda tensors: tensors.update({"heads.order.weights": torch.ones(3, 1)}),
            r"heads.order.weights is \[3, 1\], should be \[1\]",
        ),
    ],
)
def test_broken_projections_are_refused_by_name(tmp_path: Path, change: Callable[[Any], Any], message: str) -> None:
    folder = tmp_path / "ckpt"
    checkpoint.save(
        trained(),
        folder,
        name="whales",
        chunk_encoder=WHALES.identity,
        chunk_tokens=256,
        projections=some_projections(),
    )
    tensors = load_file(folder / FILES.weights)
    change(tensors)
    with_tensors(folder, tensors)
    with pytest.raises(EncoderError, match=message):
        _ = checkpoint.load(folder).projections


def test_the_identity_changes_with_the_weights_and_with_nothing_else(tmp_path: Path) -> None:
    one, same, other = (saved(tmp_path / name, seed) for name, seed in (("a", 1), ("b", 1), ("c", 2)))
    assert one.sha256 == same.sha256 == checkpoint.load(tmp_path / "a").sha256
    assert other.sha256 != one.sha256


def test_the_identity_is_read_without_torch() -> None:
    code = (
        "import sys; from nlb_retriever.model import checkpoint; released = checkpoint.load(); "
        "assert released.name == 'nlb-minilm-books' and len(released.sha256) == 64; "
        "print(sorted({'torch', 'transformers', 'safetensors'} & set(sys.modules)))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout == "[]\n"


def test_saving_again_replaces_the_whole_folder(tmp_path: Path) -> None:
    saved(tmp_path / "ckpt")
    (tmp_path / "ckpt" / "leftover").touch()
    second = saved(tmp_path / "ckpt", seed=2)
    assert checkpoint.load(tmp_path / "ckpt").sha256 == second.sha256
    assert sorted(path.name for path in tmp_path.rglob("*")) == ["ckpt", FILES.config, FILES.weights]


def test_a_failed_save_keeps_what_was_there(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    first = saved(tmp_path / "ckpt")

    def full(_descriptor: int) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("os.fsync", full)
    with pytest.raises(OSError, match="No space left on device"):
        saved(tmp_path / "ckpt", seed=2)
    assert checkpoint.load(tmp_path / "ckpt").sha256 == first.sha256
    assert [path.name for path in tmp_path.iterdir()] == ["ckpt"]


def test_no_checkpoint_at_that_place(tmp_path: Path) -> None:
    with pytest.raises(EncoderError, match=r"cannot read .*config.json \(No such file"):
        checkpoint.load(tmp_path)


@pytest.mark.parametrize("content", ["", "{", "[]", '{"format": 1, "model": 3}', "\xff"])
def test_a_torn_config_is_named(tmp_path: Path, content: str) -> None:
    (tmp_path / FILES.config).write_bytes(content.encode("latin-1"))
    with pytest.raises(EncoderError, match=r"config.json is damaged|lacks the keys") as caught:
        checkpoint.load(tmp_path)
    assert "\n" not in str(caught.value)


def test_an_unknown_key_is_named_beside_the_known_ones(tmp_path: Path) -> None:
    saved(tmp_path)
    edit_config(tmp_path, chunk_token=128)
    with pytest.raises(EncoderError, match=r"unknown keys \['chunk_token'\]; known: .*'chunk_tokens'"):
        checkpoint.load(tmp_path)


def test_a_later_format_is_refused(tmp_path: Path) -> None:
    saved(tmp_path)
    edit_config(tmp_path, format=7)
    with pytest.raises(EncoderError, match="its format is 7, this version reads 1"):
        checkpoint.load(tmp_path)


def test_truncated_weights_are_refused_with_their_size(tmp_path: Path) -> None:
    loaded = saved(tmp_path)
    file = tmp_path / FILES.weights
    file.write_bytes(file.read_bytes()[:100])
    with pytest.raises(EncoderError, match=r"model.safetensors is damaged: 100 bytes with SHA-256"):
        loaded.build()


def test_missing_weights_are_named(tmp_path: Path) -> None:
    loaded = saved(tmp_path)
    (tmp_path / FILES.weights).unlink()
    with pytest.raises(EncoderError, match=r"cannot read .*model.safetensors"):
        loaded.build()


def test_weights_of_another_format_are_refused(tmp_path: Path) -> None:
    saved(tmp_path)
    (tmp_path / FILES.weights).write_bytes(b"PK not safetensors at all")
    edit_config(tmp_path, weights_sha256=hashlib.sha256(b"PK not safetensors at all").hexdigest())
    with pytest.raises(EncoderError, match="is not a safetensors file"):
        checkpoint.load(tmp_path).build()


def test_tensors_that_do_not_fit_the_config_are_named_with_both_shapes(tmp_path: Path) -> None:
    saved(tmp_path)
    good = load_file(tmp_path / FILES.weights)
    with_tensors(tmp_path, good | {"residual.bias": torch.zeros(5)})
    with pytest.raises(EncoderError, match=r"in 1 of \d+ tensors: residual.bias is \[5\], should be \[3\]"):
        checkpoint.load(tmp_path).build()
    with_tensors(tmp_path, {name: good[name] for name in good if name != "specials"})
    with pytest.raises(EncoderError, match=r"specials is missing, should be \[3, 3\]"):
        checkpoint.load(tmp_path).build()
    with_tensors(tmp_path, good | {"extra": torch.zeros(2)})
    with pytest.raises(EncoderError, match=r"extra is \[2\], should be absent"):
        checkpoint.load(tmp_path).build()


def test_another_encoder_is_refused_with_the_numbers(tmp_path: Path) -> None:
    loaded = saved(tmp_path)
    loaded.check(WHALES.identity, 256)
    with pytest.raises(MismatchError, match=r"whales takes 3-d chunk vectors of keywords, long gives 5-d"):
        loaded.check(KeywordEncoder(*"abcd", name="long").identity)
    with pytest.raises(MismatchError, match=r"vectors of keywords \(000000000000\), this is twin \(111111111111\)"):
        loaded.check(KeywordEncoder("a", "b", name="twin", sha256="1" * 64).identity)
    with pytest.raises(MismatchError, match="trained on chunks of 256 tokens, not 0"):
        loaded.check(WHALES.identity, 0)
