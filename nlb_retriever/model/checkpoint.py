"""A next-level encoder on disk: a folder with its config and its weights.

Reading a checkpoint's identity parses one small JSON file. torch is imported only to build an encoder
with layers.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass, fields
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

from nlb_retriever import config as settings
from nlb_retriever.atomic import write_folder
from nlb_retriever.config import expand
from nlb_retriever.errors import EncoderError, MismatchError, extra
from nlb_retriever.model.config import NextLevelConfig, check_keys
from nlb_retriever.model.projections import PREFIX, Projections

if TYPE_CHECKING:
    from nlb_retriever.encoding import EncoderIdentity
    from nlb_retriever.model.next_level import NextLevelEncoder

FORMAT = 1
"""Version of a checkpoint's layout; raised when older ones can no longer be read."""

RELEASED = Path(__file__).parent.parent / "assets" / "next_level"
"""The checkpoint that comes with this package."""
UNTRAINED = Path(__file__).parent.parent / "assets" / "mean"
"""A checkpoint without trained parts: section and book vectors are the mean of chunk vectors."""


@dataclass(frozen=True, kw_only=True)
class CheckpointFiles:
    """Names of the files in a checkpoint's folder."""

    config: str = "config.json"
    weights: str = "model.safetensors"


FILES = CheckpointFiles()
_OTHER_ENCODER = "name that encoder (--chunk-encoder), or train a checkpoint for yours (nlb train --from scratch)"
_RENEWED = "train it anew (nlb train), or do without it (nlb index --rebuild --chunk-encoder {})"


@dataclass(frozen=True, kw_only=True)
class CheckpointConfig:
    """What config.json holds."""

    name: str
    chunk_encoder: str | None
    """Name of the chunk encoder whose vectors it was trained on; None for any (an untrained checkpoint)."""
    chunk_encoder_sha256: str | None
    chunk_tokens: int | None
    """Chunk length it was trained on, in tokens with [CLS] and [SEP] (0: sentences); None for any."""
    weights_sha256: str
    model: NextLevelConfig
    heads: bool = False
    """Whether it has projections; without, vectors stay in the chunk encoder's space."""
    format: int = FORMAT

    def to_dict(self) -> dict[str, Any]:
        values = {**asdict(self), "model": self.model.to_dict()}
        if not self.heads:  # so that the identities of checkpoints without projections stay the same
            del values["heads"]
        return values

    @classmethod
    def from_dict(cls, values: Mapping[str, Any]) -> CheckpointConfig:
        """Read back what `to_dict` gave.

        Raises:
            EncoderError: it has another format version, or a key is unknown or missing.
        """
        if values.get("format") != FORMAT:
            raise EncoderError(f"its format is {values.get('format')!r}, this version reads {FORMAT}")
        values = {"heads": False, **values}
        check_keys(values, {field.name for field in fields(cls)}, FILES.config)
        return cls(**{**values, "model": NextLevelConfig.from_dict(values["model"])})


@dataclass(frozen=True, kw_only=True)
class Checkpoint:
    """A checkpoint on disk; its weights are read when first used."""

    folder: Path
    config: CheckpointConfig

    @property
    def name(self) -> str:
        return self.config.name

    @cached_property
    def sha256(self) -> str:
        """Hash of all that its vectors depend on: the config, which holds the hash of the weights."""
        return hashlib.sha256(json.dumps(self.config.to_dict(), sort_keys=True).encode()).hexdigest()

    def check(self, encoder: EncoderIdentity, chunk_tokens: int | None = None) -> None:
        """Refuse a chunk encoder or chunk length that this checkpoint was not trained on.

        Args:
            encoder: the chunk encoder.
            chunk_tokens: the chunk length; None if any fits.

        Raises:
            MismatchError: naming both sides.
        """
        config = self.config
        if config.model.chunk_dim not in {None, encoder.dim}:
            raise MismatchError(
                f"checkpoint {self.name} takes {config.model.chunk_dim}-d chunk vectors of "
                f"{config.chunk_encoder}, {encoder.name} gives {encoder.dim}-d: {_OTHER_ENCODER}"
            )
        if config.chunk_encoder_sha256 not in {None, encoder.sha256}:
            is_renewed = config.chunk_encoder == encoder.name
            raise MismatchError(
                f"checkpoint {self.name} was trained on vectors of {config.chunk_encoder} "
                f"({str(config.chunk_encoder_sha256)[:12]}), this is {encoder.name} ({encoder.sha256[:12]}): "
                f"{_RENEWED.format(encoder.name) if is_renewed else _OTHER_ENCODER}"
            )
        if chunk_tokens is not None and config.chunk_tokens not in {None, chunk_tokens}:
            raise MismatchError(
                f"checkpoint {self.name} was trained on chunks of {config.chunk_tokens} tokens, not "
                f"{chunk_tokens}: use {config.chunk_tokens}"
            )

    def build(self) -> NextLevelEncoder:
        """Build the encoder with its weights, in eval mode, on the CPU.

        Raises:
            EncoderError: the weights are missing, damaged or do not fit the config.
            MissingExtra: torch is not installed.
        """
        with extra("gpu"):
            import torch

            from nlb_retriever.model.next_level import NextLevelEncoder

            encoder = NextLevelEncoder(self.config.model)
        file = self.folder / FILES.weights
        tensors = {
            name: torch.from_numpy(tensor) for name, tensor in self._tensors.items() if not name.startswith(PREFIX)
        }
        wanted = {name: list(tensor.shape) for name, tensor in encoder.state_dict().items()}
        stored = {name: list(tensor.shape) for name, tensor in tensors.items()}
        if wrong := sorted(name for name in wanted.keys() | stored.keys() if wanted.get(name) != stored.get(name)):
            first = wrong[0]
            raise EncoderError(
                f"{file} does not fit its {FILES.config} in {len(wrong)} of {len(wanted)} tensors: {first} is "
                f"{stored.get(first, 'missing')}, should be {wanted.get(first, 'absent')}: get the checkpoint again"
            )
        encoder.load_state_dict(tensors)
        return encoder.eval()

    @cached_property
    def projections(self) -> Projections | None:
        """Its projections, or None; read without torch.

        Raises:
            EncoderError: the weights are missing, damaged or do not fit the config.
        """
        dim = self.config.model.chunk_dim
        if not self.config.heads or dim is None:
            return None
        try:
            return Projections.from_tensors(self._tensors, dim)
        except EncoderError as error:
            raise EncoderError(f"{self.folder / FILES.weights}: {error}") from error

    @cached_property
    def _tensors(self) -> dict[str, Any]:
        """All weights by name, as NumPy arrays."""
        from safetensors import SafetensorError
        from safetensors.numpy import load as parse

        file = self.folder / FILES.weights
        content = _read(file)
        if (found := hashlib.sha256(content).hexdigest()) != self.config.weights_sha256:
            raise EncoderError(
                f"{file} is damaged: {len(content)} bytes with SHA-256 {found[:12]}, "
                f"{FILES.config} says {self.config.weights_sha256[:12]}: get the checkpoint again"
            )
        try:
            return parse(content)
        except SafetensorError as error:
            raise EncoderError(f"{file} is not a safetensors file ({error}): get the checkpoint again") from error


def load(folder: str | Path | None = None) -> Checkpoint:
    """Find a checkpoint and read its config.

    Args:
        folder: of the checkpoint; None for the released one.

    Raises:
        EncoderError: there is none, or its config cannot be read.
    """
    folder = RELEASED if folder is None else expand(folder)
    file = folder / FILES.config
    content = _read(file)
    try:
        values = json.loads(content)
        if not isinstance(values, dict) or not isinstance(values.get("model", {}), dict):
            raise TypeError("not an object of the right shape")
        config = CheckpointConfig.from_dict(values)
    except EncoderError as error:
        raise EncoderError(f"checkpoint {folder}: {error}") from error
    except (ValueError, TypeError) as error:
        raise EncoderError(f"{file} is damaged ({error}): get the checkpoint again") from error
    return Checkpoint(folder=folder, config=config)


def pinned(name: str) -> Checkpoint:
    """The checkpoint that a library was made with.

    Args:
        name: in its manifest: a folder, "released" or "untrained".

    Raises:
        EncoderError: there is none, or its config cannot be read.
    """
    return load({settings.RELEASED: None, settings.UNTRAINED: UNTRAINED}.get(name, name))


def save(
    encoder: NextLevelEncoder,
    folder: str | Path,
    *,
    name: str,
    chunk_encoder: EncoderIdentity | None,
    chunk_tokens: int | None,
    projections: Projections | None = None,
) -> Checkpoint:
    """Write a checkpoint atomically; an existing folder is replaced.

    Args:
        encoder: its config and weights are saved.
        folder: of the checkpoint.
        name: that libraries know it by.
        chunk_encoder: that it was trained on; None for any.
        chunk_tokens: chunk length that it was trained on; None for any.
        projections: None for none.

    Raises:
        OSError: it cannot be written; what was there is kept.
    """
    from safetensors.numpy import save as serialize

    folder = expand(folder).absolute()
    tensors = {key: value.detach().cpu().contiguous().numpy() for key, value in encoder.state_dict().items()}
    weights = serialize({**tensors, **(projections.tensors() if projections else {})})
    config = CheckpointConfig(
        name=name,
        chunk_encoder=chunk_encoder.name if chunk_encoder else None,
        chunk_encoder_sha256=chunk_encoder.sha256 if chunk_encoder else None,
        chunk_tokens=chunk_tokens,
        weights_sha256=hashlib.sha256(weights).hexdigest(),
        model=encoder.config,
        heads=projections is not None,
    )
    with write_folder(folder) as new:
        (new / FILES.weights).write_bytes(weights)
        (new / FILES.config).write_bytes((json.dumps(config.to_dict(), indent=2) + "\n").encode())
    return Checkpoint(folder=folder, config=config)


def _read(file: Path) -> bytes:
    try:
        return file.read_bytes()
    except OSError as error:
        raise EncoderError(
            f"cannot read {file} ({error.strerror}): give the folder of a next-level checkpoint"
        ) from error
