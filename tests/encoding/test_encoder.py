"""The default encoder on its two back ends, and what encoders do with texts of any length."""

from __future__ import annotations

import hashlib
import json
import os
import shutil
import subprocess
import sys
from collections.abc import Callable, Sequence
from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest
import torch
from safetensors.torch import save_file

from nlb_retriever import Retriever, index_files
from nlb_retriever.encoding import ChunkEncoder, identify_encoder, load_encoder
from nlb_retriever.encoding import load as loading
from nlb_retriever.encoding.load import BASE_ENCODER, DEFAULT_ENCODER, load_torch_encoder
from nlb_retriever.encoding.openvino import OpenVinoEncoder
from nlb_retriever.encoding.openvino_core import best_precision
from nlb_retriever.encoding.torch import TorchEncoder
from nlb_retriever.errors import EncoderError

SENTENCES = [
    "Call me Ishmael.",
    "It is a truth universally acknowledged, that a single man in possession of a good fortune, must be in want "
    "of a wife.",
    "The sky above the port was grey, and the harbour lay still.",
    "3 May. Bistritz.--Left Munich at 8:35 P.M., on 1st May, arriving at Vienna early next morning.",
    "",
    "鯨を追う。",
]


@pytest.fixture(scope="module")
def int8() -> ChunkEncoder:
    return load_encoder(device="cpu")


@pytest.fixture(scope="module")
def fp32() -> TorchEncoder:
    return load_torch_encoder()


def test_a_plain_cpu_ends_up_with_the_int8_model(int8: ChunkEncoder) -> None:
    assert isinstance(int8, OpenVinoEncoder)
    assert int8.backend == f"openvino {best_precision()}"


def test_int8_vectors_agree_with_fp32_ones(int8: ChunkEncoder, fp32: TorchEncoder) -> None:
    long = " ".join(SENTENCES) * 3
    texts = [*SENTENCES[:4], long]
    cosines = (int8.encode(texts) * fp32.encode(texts)).sum(axis=1)
    assert cosines.min() > 0.99, cosines


def test_both_back_ends_carry_the_identity_of_the_released_weights(int8: ChunkEncoder, fp32: TorchEncoder) -> None:
    assert int8.identity == fp32.identity == identify_encoder()
    assert (int8.identity.name, load_torch_encoder(BASE_ENCODER).identity.sha256[:8]) == (DEFAULT_ENCODER, "53aa5117")
    assert (int8.identity.dim, int8.identity.max_tokens) == (384, 256)


def test_vectors_are_unit_rows_in_the_order_of_their_texts(int8: ChunkEncoder) -> None:
    vectors = int8.encode(SENTENCES)
    assert vectors.dtype == np.float32
    assert vectors.shape == (len(SENTENCES), 384)
    np.testing.assert_allclose(np.linalg.norm(vectors, axis=1), 1, atol=1e-5)
    alone = np.concatenate([int8.encode([text]) for text in SENTENCES])
    np.testing.assert_allclose(vectors, alone, atol=2e-2)


def test_int8_vectors_agree_with_fp32_ones_at_every_length(int8: ChunkEncoder, fp32: TorchEncoder) -> None:
    words = ("The storm of that November broke the great clock of the lighthouse. " * 8).split()
    texts = [" ".join(words[:count]) for count in range(1, len(words))]
    alone = np.concatenate([int8.encode([text]) for text in texts])
    cosines = (alone * fp32.encode(texts)).sum(axis=1)
    assert cosines.min() > 0.98, cosines.round(3)


def test_no_texts_give_no_rows(int8: ChunkEncoder, fp32: TorchEncoder) -> None:
    assert int8.encode([]).shape == fp32.encode([]).shape == (0, 384)


@pytest.mark.parametrize("which", ["int8", "fp32"])
def test_nothing_of_a_long_text_is_cut_off(which: str, request: pytest.FixtureRequest) -> None:
    encoder: ChunkEncoder = request.getfixturevalue(which)
    filler = "The sea was calm and the sky was grey. " * 120
    needle = "The astronomer measured the orbit of the comet with a brass telescope. " * 30
    plain, ends = encoder.encode([filler, filler + needle])
    question = encoder.encode(["an astronomer and a comet"])[0]
    assert question @ ends > question @ plain + 0.1


def test_a_long_text_is_the_weighted_mean_of_its_windows(int8: ChunkEncoder) -> None:
    words = [f"word{number % 7}" for number in range(600)]
    ids = int8.tokenizer.encode(" ".join(words), add_special_tokens=False).ids
    pieces = -(-len(ids) // 254)
    cuts = [len(ids) * piece // pieces for piece in range(pieces + 1)]
    windows = [int8.tokenizer.decode(ids[a:b]) for a, b in pairwise(cuts)]
    weights = np.array([[b - a + 2] for a, b in pairwise(cuts)])
    mean = (int8.encode(windows) * weights).sum(axis=0)
    vector = int8.encode([" ".join(words)])[0]
    assert vector @ (mean / np.linalg.norm(mean)) > 0.99


def test_asking_loads_no_torch_and_what_converts_models_only_for_others() -> None:
    code = (
        "import sys; from nlb_retriever.encoding import load_encoder; "
        "load_encoder(use='ask').encode(['why?'], query=True); "
        "assert not {'torch', 'transformers', 'sentence_transformers', 'openvino.tools.ovc'} & set(sys.modules); "
        "import openvino; from openvino import convert_model; assert convert_model is openvino.convert_model; "
        "assert 'openvino_telemetry' not in sys.modules; assert not hasattr(openvino, 'nothing')"
    )
    subprocess.run([sys.executable, "-c", code], check=True, timeout=120)


def test_loading_and_encoding_open_no_socket_and_report_nothing(tmp_path: Path) -> None:
    code = (
        "import os, sys; sys.addaudithook(lambda event, args: os.write(2, event.encode()) "
        "if event == 'os.fork' or (event.startswith('socket.') and 'AF_UNIX' not in str(args)) else None); "
        "from nlb_retriever.encoding import load_encoder; from nlb_retriever.encoding.load import load_torch_encoder; "
        "load_encoder(device='cpu').encode(['a']); load_torch_encoder().encode(['a']); "
        "import openvino_telemetry"  # left as it was, for others
    )
    paths = os.pathsep.join(path for path in sys.path if path)
    env = {key: value for key, value in os.environ.items() if key not in {"CI", "TF_BUILD", "JENKINS_URL"}}
    env |= {"HOME": str(tmp_path), "PYTHONPATH": paths}
    done = subprocess.run([sys.executable, "-c", code], env=env, capture_output=True, text=True, timeout=120)
    assert (done.returncode, done.stderr) == (0, "")
    assert not (tmp_path / "intel").exists()


def _copy_int8(folder: Path) -> Path:
    return Path(shutil.copytree(loading.DEFAULT_FOLDER, folder / "int8"))


@pytest.fixture
def no_cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A home without compiled encoders, so that a model's own files are read."""
    monkeypatch.setenv("NLB_HOME", str(tmp_path / "fresh-home"))
    return tmp_path / "fresh-home" / "cache" / "openvino"


@pytest.mark.usefixtures("no_cache")
@pytest.mark.parametrize("name", ["model.bin", "model.xml", "tokenizer.json"])
def test_a_damaged_file_is_refused_by_name(name: str, tmp_path: Path) -> None:
    folder = _copy_int8(tmp_path)
    content = (folder / name).read_bytes()
    (folder / name).write_bytes(content[: len(content) // 2])
    with pytest.raises(EncoderError, match=f"{name} is damaged.*SHA-256"):
        load_encoder(folder, device="cpu").encode(["a"])


@pytest.mark.usefixtures("no_cache")
@pytest.mark.parametrize("name", ["model.bin", "tokenizer.json"])
def test_a_missing_file_is_named(name: str, tmp_path: Path) -> None:
    folder = _copy_int8(tmp_path)
    (folder / name).unlink()
    with pytest.raises(EncoderError, match=f"{name} cannot be read"):
        load_encoder(folder, device="cpu").encode(["a"])


def test_a_config_without_its_keys_is_refused(tmp_path: Path) -> None:
    folder = _copy_int8(tmp_path)
    (folder / "encoder.json").write_text(json.dumps({"name": "x"}))
    with pytest.raises(EncoderError, match="lacks some of"):
        identify_encoder(folder)


def test_damaged_weights_for_torch_are_refused(tmp_path: Path) -> None:
    folder = _copy_int8(tmp_path)
    (folder / "layers.safetensors").write_bytes(b"damaged")
    with pytest.raises(EncoderError, match=r"layers.safetensors is damaged.*SHA-256"):
        load_torch_encoder(folder)


def test_weights_for_torch_that_the_base_model_has_no_place_for_are_refused(tmp_path: Path) -> None:
    folder = _copy_int8(tmp_path)
    save_file({"encoder.layer.99.output.dense.bias": torch.zeros(384)}, folder / "layers.safetensors")
    config = json.loads((folder / "encoder.json").read_text())
    config["files"]["layers.safetensors"] = hashlib.sha256((folder / "layers.safetensors").read_bytes()).hexdigest()
    (folder / "encoder.json").write_text(json.dumps(config))
    with pytest.raises(EncoderError, match=r"it has no encoder\.layer\.99\.output\.dense\.bias"):
        load_torch_encoder(folder)


def test_a_name_that_the_system_refuses_to_look_for_is_no_folder(tmp_path: Path) -> None:
    name = tmp_path / ("long" * 70)
    assert loading._int8_folder(name) is None
    with pytest.raises(EncoderError, match="is neither a folder nor a model's name"):
        loading.find_weights(name)


def test_packaged_weights_that_are_not_the_official_ones_are_refused(tmp_path: Path) -> None:
    (tmp_path / "model.safetensors").write_bytes(b"not the weights")
    with pytest.raises(EncoderError, match="not the official all-MiniLM-L6-v2"):
        loading._weights_sha256("all-MiniLM-L6-v2", tmp_path)


def test_the_hash_of_one_weights_file_is_its_own(tmp_path: Path) -> None:
    (tmp_path / "model.safetensors").write_bytes(b"weights")
    assert loading._weights_sha256("mine", tmp_path) == hashlib.sha256(b"weights").hexdigest()


def test_an_unknown_model_offline_is_one_line(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HF_HUB_OFFLINE", "1")
    with pytest.raises(EncoderError, match="nobody/no-such-model is not on this machine and HF_HUB_OFFLINE"):
        load_encoder("nobody/no-such-model", device="cpu")


@pytest.mark.parametrize("device", ["gpu", "cuda:99"])
def test_a_device_that_is_not_there_is_told(device: str) -> None:
    with pytest.raises(EncoderError, match=f"cannot use a device '{device}' on this machine: give auto or cpu"):
        load_encoder(device=device)


def test_a_folder_without_a_model_is_one_line(tmp_path: Path) -> None:
    with pytest.raises(EncoderError, match="holds no weights"):
        load_encoder(tmp_path, device="cpu")


def test_any_sentence_transformers_folder_can_be_the_encoder(tmp_path: Path, fp32: TorchEncoder) -> None:
    folder = tmp_path / "my-model"
    fp32.model.save(str(folder))
    mine = load_encoder(folder, device="cpu")
    assert isinstance(mine, TorchEncoder)
    assert mine.identity.name == "my-model"
    np.testing.assert_allclose(mine.encode(SENTENCES), fp32.encode(SENTENCES), atol=1e-6)


def test_a_models_prompts_are_put_before_questions_and_passages(tmp_path: Path, fp32: TorchEncoder) -> None:
    folder = tmp_path / "prompted"
    fp32.model.save(str(folder))
    config = json.loads((folder / "config_sentence_transformers.json").read_text())
    config["prompts"] = {"query": "query: ", "document": "passage: "}
    (folder / "config_sentence_transformers.json").write_text(json.dumps(config))
    mine = load_encoder(folder, device="cpu")
    text = SENTENCES[1]
    np.testing.assert_allclose(mine.encode([text], query=True), fp32.encode(["query: " + text]), atol=1e-5)
    np.testing.assert_allclose(mine.encode([text]), fp32.encode(["passage: " + text]), atol=1e-5)


def test_out_of_memory_halves_the_batch_and_keeps_the_vectors(
    fp32: TorchEncoder, monkeypatch: pytest.MonkeyPatch
) -> None:
    import torch

    texts = [f"sentence number {number} about the sea" for number in range(40)]
    expected = fp32.encode(texts)
    infer = TorchEncoder._infer
    sizes: list[int] = []

    def small_device(self: TorchEncoder, rows: list[list[int]], *, states: bool) -> object:
        if len(rows) > 7:
            raise torch.OutOfMemoryError("no room")
        sizes.append(len(rows))
        return infer(self, rows, states=states)

    monkeypatch.setattr(TorchEncoder, "_infer", small_device)
    monkeypatch.setattr(fp32, "_budget", fp32._budget)
    np.testing.assert_allclose(fp32.encode(texts), expected, atol=1e-6)
    assert max(sizes) <= 7
    assert sum(sizes) == len(texts)


def test_batches_hold_rows_of_similar_length(int8: ChunkEncoder, monkeypatch: pytest.MonkeyPatch) -> None:
    seen: list[Sequence[int]] = []
    forward = OpenVinoEncoder._forward

    def watch(self: OpenVinoEncoder, batches: list[list[list[int]]]) -> object:
        seen.extend([len(row) for row in rows] for rows in batches)
        return forward(self, batches)

    monkeypatch.setattr(OpenVinoEncoder, "_forward", watch)
    int8.encode(["word " * (1 + number * 37 % 250) for number in range(100)])
    padded = sum(max(lengths) * len(lengths) for lengths in seen)
    assert padded < 1.15 * sum(sum(lengths) for lengths in seen)


@pytest.fixture
def model_with_code(tmp_path: Path, fp32: TorchEncoder) -> tuple[Path, Path]:
    """A model's folder with a file of Python code, and the file that the code would write."""
    folder, trace = tmp_path / "stranger", tmp_path / "trace"
    fp32.model.save(str(folder))
    (folder / "custom.py").write_text(
        f"open({str(trace)!r}, 'w').close()\n"
        "from sentence_transformers.models import Normalize\nfrom transformers import BertModel, BertConfig\n"
        "class Module(Normalize): ...\nclass Model(BertModel): ...\nclass Config(BertConfig): ...\n"
    )
    return folder, trace


def name_code_as_module(folder: Path) -> None:
    modules = json.loads((folder / "modules.json").read_text())
    modules[-1]["type"] = "custom.Module"
    (folder / "modules.json").write_text(json.dumps(modules))


def name_code_as_model(folder: Path) -> None:
    config = json.loads((folder / "config.json").read_text())
    config["model_type"] = "stranger"
    config["auto_map"] = {"AutoConfig": "custom.Config", "AutoModel": "custom.Model"}
    (folder / "config.json").write_text(json.dumps(config))


@pytest.mark.parametrize("name_code", [name_code_as_module, name_code_as_model])
def test_python_code_of_a_models_folder_is_never_run(
    name_code: Callable[[Path], None], model_with_code: tuple[Path, Path]
) -> None:
    folder, trace = model_with_code
    name_code(folder)
    with pytest.raises(EncoderError, match="holds Python code, which is never run"):
        load_encoder(folder, device="cpu")
    assert not trace.exists()


@pytest.mark.parametrize("name_code", [name_code_as_module, name_code_as_model])
def test_a_strangers_library_runs_no_code_of_the_model_that_it_names(
    name_code: Callable[[Path], None], model_with_code: tuple[Path, Path], tmp_path: Path
) -> None:
    folder, trace = model_with_code
    library, book = tmp_path / "library", tmp_path / "whale.txt"
    book.write_text("Ahab hunts the white whale. " * 30)
    index_files([book], library, chunk_encoder=folder)
    name_code(folder)
    with pytest.raises(EncoderError, match="holds Python code"), Retriever(library) as retriever:
        retriever.search("Who hunts the whale?")
    assert not trace.exists()
