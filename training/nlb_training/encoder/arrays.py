"""Arrays that are made of a chunk encoder's vectors and lie in its folder."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable, Sequence
from pathlib import Path

import numpy as np

from nlb_retriever.atomic import write_file
from nlb_retriever.encoding import ChunkEncoder, Vectors, load_encoder
from nlb_retriever.encoding.openvino import CONFIG_FILE
from nlb_retriever.errors import NlbError
from nlb_training.run_control import hash_file


def run(module: str, file: str, make: Callable[[Path, ChunkEncoder], Vectors], arguments: Sequence[str]) -> int:
    """Run a module as a command: DATA ENCODER.

    Args:
        module: its last name.
        file: what to write in ENCODER, a folder of nlb_training.quantize; its SHA-256 goes into encoder.json.
        make: makes the array, given DATA and the encoder.
        arguments: DATA and ENCODER.
    """
    if len(arguments) != 2:
        print(f"usage: python -m nlb_training.encoder.{module} DATA ENCODER", file=sys.stderr)
        return 2
    data, folder = map(Path, arguments)
    try:
        array = make(data, load_encoder(folder, device="cpu"))
        write_file(folder / file, lambda stream: np.save(stream, array))
        config = json.loads((folder / CONFIG_FILE).read_text(encoding="utf-8"))
        config["files"][file] = hash_file(folder / file)
        (folder / CONFIG_FILE).write_text(json.dumps(config, indent=2) + "\n", encoding="utf-8")
    except (NlbError, OSError) as error:
        print(f"{module}: {error}", file=sys.stderr)
        return 2
    return 0
