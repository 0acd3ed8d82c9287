from __future__ import annotations

import hashlib
import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
import torch
from safetensors.torch import load_file, save_file

from nlb_retriever import checkpoint
from nlb_retriever.checkpoint import FILES, RELEASED, Checkpoint
from nlb_retriever.errors import EncoderError, MismatchError
from nlb_retriever.model import NextLevelEncoder
from nlb_retriever.model_config import NextLevelConfig
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


def test_the_released_checkpoint_equals_a_fresh_save_of_an_encoder_without_layers(tmp_path: Path) -> None:
    encoder = NextLevelEncoder(NextLevelConfig(chunk_dim=None, layers=0))
    fresh = checkpoint.save(encoder, tmp_path / "mean", name="mean", chunk_encoder=None, chunk_tokens=None)
    for file in (FILES.config, FILES.weights):
        assert (fresh.folder / file).read_bytes() == (RELEASED / file).read_bytes()
    assert sorted(path.name for path in RELEASED.iterdir()) == [FILES.config, FILES.weights]
    released = checkpoint.load()
    assert released.sha256 == fresh.sha256
    assert released.build().config.layers == 0


def test_the_released_checkpoint_fits_any_encoder_and_chunk_length() -> None:
    checkpoint.load().check(WHALES.identity, 0)
    checkpoint.load().check(KeywordEncoder(*"abcdefg", sha256="f" * 64).identity, 256)


def test_the_identity_changes_with_the_weights_and_with_nothing_else(tmp_path: Path) -> None:
    one, same, other = (saved(tmp_path / name, seed) for name, seed in (("a", 1), ("b", 1), ("c", 2)))
    assert one.sha256 == same.sha256 == checkpoint.load(tmp_path / "a").sha256
    assert other.sha256 != one.sha256


def test_the_identity_is_read_without_torch() -> None:
    code = (
        "import sys; from nlb_retriever import checkpoint; released = checkpoint.load(); "
        "assert released.name == 'mean' and len(released.sha256) == 64; "
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
    with pytest.raises(EncoderError, match=r"cannot write checkpoint .*ckpt \(No space left on device\)"):
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
    with pytest.raises(EncoderError, match="is no safetensors file"):
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
