"""Presets: all settings of a training run, as TOML files with a reason beside each."""

from __future__ import annotations

import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field, fields
from pathlib import Path
from typing import Any, Literal, TypeVar

from nlb_retriever.config import expand
from nlb_retriever.errors import TrainingError
from nlb_retriever.model.config import NextLevelConfig
from nlb_training.corpus import Chunking
from nlb_training.corpus.cutting import MIN_OFFSET
from nlb_training.pretraining.settings import LoopSettings, PretrainingSettings
from nlb_training.projections.settings import RetrievalSettings
from nlb_training.settings import read_settings

_Table = TypeVar("_Table")
FOLDER = Path(__file__).parent / "presets"


@dataclass(frozen=True, kw_only=True)
class CorpusSettings:
    """How the books are chunked, and which are held out.

    Raises:
        TrainingError: a number is out of range.
    """

    tokens: int = 256
    """Chunk length of the libraries that the encoder is for, with the special tokens; 0 for sentences."""
    also: tuple[int, ...] = ()
    """Further chunk lengths to pretrain on."""
    offsets: tuple[float, ...] = (0.0,)
    """Shares of a chunk by which chunk boundaries are shifted; each gives another sequence of every book."""
    held_out: float = 0.05
    """Share of the books that pretraining leaves out, to validate on."""
    examples_only: bool = False
    """Whether books without examples are skipped."""

    def __post_init__(self) -> None:
        if not self.offsets or self.offsets[0] != 0 or not all(0 <= offset < 1 for offset in self.offsets):
            raise TrainingError(f"offsets {list(self.offsets)} must be shares of a chunk below 1, the first 0")
        if not 0 <= self.held_out < 1:
            raise TrainingError(f"held_out ({self.held_out}) must be a share of the books below 1")
        self.chunkings()

    def chunkings(self) -> tuple[Chunking, ...]:
        """Every length at every offset; first that of libraries."""
        distinct: dict[Chunking, None] = {}
        for tokens in (self.tokens, *self.also):
            for share in self.offsets if tokens else (0.0,):
                offset = int(share * tokens)
                distinct[Chunking(tokens=tokens, offset=offset if offset >= MIN_OFFSET else 0)] = None
        return tuple(distinct)


@dataclass(frozen=True, kw_only=True)
class ExampleSettings:
    """Synthetic examples that are made from the books themselves.

    Raises:
        TrainingError: a number is out of range.
    """

    titles: bool = True
    """Section titles of three words or more."""
    sentences: int = 2
    """Number of queries from each section's sentences."""
    least: int = 1
    """Minimum number of sentences of such a query."""
    most: int = 4
    """Maximum number of sentences of such a query."""

    def __post_init__(self) -> None:
        if self.sentences < 0 or not 1 <= self.least <= self.most:
            raise TrainingError(
                f"sentences ({self.sentences}) must be 0 or more, least ({self.least}) 1 to most ({self.most})"
            )


@dataclass(frozen=True, kw_only=True)
class Preset:
    """All settings of a run."""

    name: str
    about: str
    """Its purpose, one line."""
    start: Literal["released", "scratch"]
    """Where training starts, unless the command names another checkpoint."""
    corpus: CorpusSettings
    examples: ExampleSettings
    model: Mapping[str, Any] = field(repr=False)
    """Shape of a new backbone: fields of `NextLevelConfig` except chunk_dim, which is the chunk encoder's."""
    pretraining: PretrainingSettings | None
    """None to skip this stage."""
    retrieval: RetrievalSettings | None
    """None to skip this stage."""
    loop: LoopSettings
    """Of pretraining; its seed is that of the whole run."""

    def new_model(self, chunk_dim: int) -> NextLevelConfig:
        """Shape of a new next-level encoder over vectors of length `chunk_dim`.

        Raises:
            EncoderError: the numbers do not fit together.
        """
        return read_settings(NextLevelConfig, {**self.model, "chunk_dim": chunk_dim}, f"{self.name} [model]")

    def to_dict(self) -> dict[str, Any]:
        """Every setting, including defaults."""
        return asdict(self)


def list_presets() -> list[str]:
    """Names of the presets that come with the package."""
    return sorted(file.stem for file in FOLDER.glob("*.toml"))


def read_preset(name: str | Path, changes: Sequence[str] = ()) -> Preset:
    """Read a preset.

    Args:
        name: of a preset of the package, or a TOML file.
        changes: "table.key=value" with a TOML value; text needs no quotes.

    Raises:
        TrainingError: there is no such preset, or a table, key or value is unknown.
        EncoderError: the model's numbers do not fit together.
    """
    file = expand(name)
    if file.suffix != ".toml":
        file = FOLDER / f"{name}.toml"
        if not file.is_file() or str(name) not in list_presets():
            raise TrainingError(
                f"there is no preset {str(name)!r}; known: {', '.join(list_presets())}, or a .toml file"
            )
    try:
        tables = tomllib.loads(file.read_text(encoding="utf-8"))
    except (OSError, UnicodeDecodeError) as error:
        raise TrainingError(f"preset {file} cannot be read ({getattr(error, 'strerror', None) or error})") from error
    except tomllib.TOMLDecodeError as error:
        raise TrainingError(f"preset {file} is not valid TOML ({error})") from error
    for change in changes:
        _change(tables, change)
    return _parse(tables, file.stem)


def _parse(tables: Mapping[str, Any], name: str) -> Preset:
    known = [field.name for field in fields(Preset) if field.name != "name"]
    if wrong := sorted(set(tables) - set(known)):
        raise TrainingError(f"preset {name} has unknown tables or keys {wrong}; known: {known}")
    start = tables.get("start", "scratch")
    if start not in {"released", "scratch"}:
        raise TrainingError(f"preset {name}: start = {start!r}; known: 'released', 'scratch'")
    table = {key: value for key, value in tables.items() if key not in {"about", "start"}}
    if not_tables := [key for key, value in table.items() if not isinstance(value, dict)]:
        raise TrainingError(f"preset {name}: {not_tables[0]} is not a table")
    if "chunk_dim" in table.get("model", {}):
        raise TrainingError(f"preset {name} [model]: chunk_dim is the chunk encoder's: remove it")
    corpus = {key: tuple(value) if isinstance(value, list) else value for key, value in table.get("corpus", {}).items()}
    for key, kinds in (("also", {int}), ("offsets", {int, float})):
        if not isinstance(corpus.get(key, ()), tuple) or any(type(value) not in kinds for value in corpus.get(key, ())):
            raise TrainingError(f"preset {name} [corpus]: {key} = {corpus[key]!r} should be a list of numbers")

    def read(key: str, kind: type[_Table]) -> _Table:
        return read_settings(kind, table.get(key, {}), f"preset {name} [{key}]")

    hidden = table.get("model", {}).get("hidden", NextLevelConfig(chunk_dim=None, layers=0).hidden)
    shape = {**table.get("model", {}), "chunk_dim": hidden}
    model = asdict(read_settings(NextLevelConfig, shape, f"preset {name} [model]"))
    del model["chunk_dim"]
    return Preset(
        name=name,
        about=str(tables.get("about", "")),
        start=start,
        corpus=read_settings(CorpusSettings, corpus, f"preset {name} [corpus]"),
        examples=read("examples", ExampleSettings),
        model=model,
        pretraining=read("pretraining", PretrainingSettings) if "pretraining" in table else None,
        retrieval=read("retrieval", RetrievalSettings) if "retrieval" in table else None,
        loop=read("loop", LoopSettings),
    )


def _change(tables: dict[str, Any], change: str) -> None:
    """Apply one "table.key=value" to the tables."""
    name, equals, text = change.partition("=")
    *path, key = name.strip().split(".")
    if not equals or not key or len(path) > 1:
        raise TrainingError(f"cannot read {change!r}: write table.key=value, as in loop.steps=100")
    try:
        value = tomllib.loads(f"value = {text}")["value"]
    except tomllib.TOMLDecodeError:
        value = text.strip()
    table = tables.setdefault(path[0], {}) if path else tables
    if not isinstance(table, dict):
        raise TrainingError(f"cannot apply {change!r}: {path[0]} is not a table")
    table[key] = value
