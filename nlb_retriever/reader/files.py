"""A reader's folder: what is in it, and whether it is whole.

reader.json         what it is; the SHA-256 of all other files
model.xml, .bin     int8 for OpenVINO
tokenizer.json
words.safetensors, layers.safetensors
                    the weights in half precision, for torch; may be left out
"""

from __future__ import annotations

import hashlib
import json
from pathlib import Path
from typing import Any

from nlb_retriever.errors import EncoderError

CONFIG, MODEL, WEIGHTS, TOKENIZER = "reader.json", "model.xml", "model.bin", "tokenizer.json"
WORDS, LAYERS = "words.safetensors", "layers.safetensors"
FORMAT = 1


def read_config(folder: Path) -> dict[str, Any]:
    """Read reader.json.

    Raises:
        EncoderError: it is missing, damaged, or of another version.
    """
    path = folder / CONFIG
    try:
        config = json.loads(path.read_text(encoding="utf-8"))
    except FileNotFoundError as error:
        raise EncoderError(f"{folder} holds no reader: it has no {CONFIG}") from error
    except (OSError, ValueError) as error:
        raise EncoderError(f"{path} is damaged ({error}): install the reader again") from error
    if not isinstance(config, dict) or config.get("format") != FORMAT:
        raise EncoderError(f"{path} is of a format that this version does not read: install the reader again")
    if missing := {"name", "network", "files"} - set(config):
        raise EncoderError(f"{path} lacks {', '.join(sorted(missing))}: install the reader again")
    return config


def check_files(folder: Path) -> None:
    """See that all files are what reader.json says; the weights for torch may be left out.

    Raises:
        EncoderError: one is not.
    """
    config = read_config(folder)
    for name in config["files"]:
        if name not in {WORDS, LAYERS} or (folder / name).exists():
            check_file(folder, name, config)


def check_file(folder: Path, name: str, config: dict[str, Any]) -> None:
    """See that a file is what reader.json says.

    Raises:
        EncoderError: it is not.
    """
    path = folder / name
    try:
        with path.open("rb") as file:
            digest = hashlib.file_digest(file, "sha256").hexdigest()
    except OSError as error:
        raise EncoderError(f"{path} cannot be read ({error.strerror}): install the reader again") from error
    if digest != config["files"].get(name):
        raise EncoderError(f"{path} is damaged or of another reader: its SHA-256 is not what {CONFIG} says")
