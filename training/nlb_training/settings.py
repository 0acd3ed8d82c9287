"""Settings of a run: from TOML tables as frozen dataclasses that refuse unknown keys, and the same in a resume."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping, Sequence
from dataclasses import fields
from pathlib import Path
from typing import Any, Literal, TypeVar, get_args, get_origin, get_type_hints

from nlb_retriever.atomic import write_file
from nlb_retriever.errors import TrainingError

Settings = TypeVar("Settings")


def read_settings(kind: type[Settings], table: Mapping[str, Any], where: str) -> Settings:
    """Build a settings dataclass from a TOML table; missing keys keep their defaults.

    Args:
        kind: a dataclass whose fields are bool, int, float, str or Literal.
        table: as parsed.
        where: name of the table in errors, as in "paper.toml [pretraining]".

    Raises:
        TrainingError: a key is unknown, or a value has the wrong type; names those that are known.
    """
    hints = get_type_hints(kind)
    known = [field.name for field in fields(kind)]  # type: ignore[arg-type]
    if wrong := sorted(set(table) - set(known)):
        raise TrainingError(f"{where} has unknown keys {wrong}; known: {known}")
    for key, value in table.items():
        hint = hints[key]
        if get_origin(hint) is Literal:
            if value not in get_args(hint):
                raise TrainingError(f"{where}: {key} = {value!r}; known: {', '.join(map(repr, get_args(hint)))}")
        elif isinstance(hint, type):
            fits = type(value) in {int, float} if hint is float else type(value) is hint
            if not fits:
                raise TrainingError(f"{where}: {key} = {value!r} should be of type {hint.__name__}")
    return kind(**table)


def check_numbers(
    settings: object,
    *,
    counts: Sequence[str] = (),
    positive: Sequence[str] = (),
    shares: Sequence[str] = (),
    least_zero: Sequence[str] = (),
) -> None:
    """See that a dataclass's numbers are in their ranges.

    Args:
        settings: the dataclass.
        counts: fields that must be 1 or more.
        positive: those above 0.
        shares: those from 0, and below 1.
        least_zero: those of 0 or more.

    Raises:
        TrainingError: one is not.
    """
    for name in (*counts, *positive, *shares, *least_zero):
        value = getattr(settings, name)
        if name in counts:
            fits, wanted = value >= 1, "1 or more"
        elif name in positive:
            fits, wanted = 0 < value < math.inf, "more than 0"
        elif name in shares:
            fits, wanted = 0 <= value < 1, "0 or more and less than 1"
        else:
            fits, wanted = 0 <= value < math.inf, "0 or more"
        if not fits:
            raise TrainingError(f"{name} is {value}, must be {wanted}")


def write_json(file: Path, content: object) -> None:
    """Write what people may read, too.

    Raises:
        OSError: it cannot be written.
    """
    write_file(file, (json.dumps(content, indent=1) + "\n").encode())


def check_same(record: Mapping[str, Any], file: Path, folder: Path) -> None:
    """See that a run to be resumed was begun with the same settings.

    Args:
        record: all settings that the result depends on.
        file: the record of the earlier run, as `write_json` wrote it.
        folder: of the run.

    Raises:
        OSError: the file cannot be read.
        TrainingError: it is damaged, or settings differ; names them.
    """
    try:
        earlier = json.loads(file.read_text(encoding="utf-8"))
    except ValueError as error:
        raise TrainingError(f"{file} is damaged ({error}): start the run again in another folder") from error
    refuse_differences(json.loads(json.dumps(record)), earlier if isinstance(earlier, dict) else {}, folder)


def refuse_differences(mine: Mapping[str, Any], theirs: Mapping[str, Any], folder: Path) -> None:
    """See that the settings of a run in a folder are those of the earlier run.

    Raises:
        TrainingError: they differ; names the differences.
    """
    if differences := _list_differences(mine, theirs):
        raise TrainingError(
            f"{folder} cannot be resumed with other settings: {'; '.join(differences)}: use the same settings, "
            "or name another folder (--out)"
        )


def read_numbers(changes: Sequence[str], kinds: Mapping[str, type[int] | type[float]]) -> dict[str, int | float]:
    """Read changes like "learning_rate=3e-5".

    Args:
        changes: "key=value" each.
        kinds: of all settings.

    Raises:
        TrainingError: a change names no setting, or its value is no number of its kind, or below zero.
    """
    values: dict[str, int | float] = {}
    for change in changes:
        key, _, value = change.partition("=")
        if key not in kinds:
            raise TrainingError(f"there is no setting {key!r}: known are {', '.join(kinds)}")
        try:
            values[key] = kinds[key](value)
        except ValueError as error:
            raise TrainingError(f"{key}={value} is no number of the right kind") from error
        if not math.isfinite(values[key]):
            raise TrainingError(f"{key}={value} is no number of the right kind")
        if values[key] < 0:
            raise TrainingError(f"{key}={value} is below zero")
    return values


def _list_differences(mine: Mapping[str, Any], theirs: Mapping[str, Any], prefix: str = "") -> list[str]:
    """Differences of two (nested) tables, one line each: "loop.seed is 1, was 0"."""
    lines = []
    for key in [*mine, *(key for key in theirs if key not in mine)]:
        one, other = mine.get(key), theirs.get(key)
        if isinstance(one, Mapping) and isinstance(other, Mapping):
            lines += _list_differences(one, other, f"{prefix}{key}.")
        elif one != other:
            lines.append(f"{prefix}{key} is {one!r}, was {other!r}")
    return lines
