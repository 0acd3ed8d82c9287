"""Mean vector of encyclopedia articles, for the judgement whether a library answers (nlb_retriever.search.relevance).

    python -m nlb_training.encoder.articles DATA ENCODER

DATA has eval/squad_dev.jsonl.bz2; ENCODER, a folder of nlb_training.quantize, gets the file.
"""

from __future__ import annotations

import hashlib
import json
import sys
from collections.abc import Sequence
from pathlib import Path

import numpy as np

from nlb_retriever.atomic import write_file
from nlb_retriever.encoding import ChunkEncoder, Vectors, load_encoder
from nlb_retriever.encoding.openvino import ARTICLES_FILE, CONFIG_FILE
from nlb_retriever.errors import NlbError
from nlb_training.encoder.queries import read_articles


def mean_of_articles(folder: Path, encoder: ChunkEncoder) -> Vectors:
    """Unit vector (D,): the mean of the articles, each the mean of its paragraphs.

    Args:
        folder: of the training data; SQuAD's held-out articles are left out.
        encoder: encodes the paragraphs.

    Raises:
        TrainingError: the data cannot be read.
    """
    _, texts = read_articles(folder)
    means = [_unit(encoder.encode(text.split("\n\n")).mean(axis=0)) for text in texts.values()]
    return _unit(np.mean(means, axis=0))


def _unit(vector: Vectors) -> Vectors:
    return np.asarray(vector / np.linalg.norm(vector), dtype=np.float32)


def main(arguments: Sequence[str]) -> int:
    """Run as a command: DATA ENCODER."""
    if len(arguments) != 2:
        print("usage: python -m nlb_training.encoder.articles DATA ENCODER", file=sys.stderr)
        return 2
    data, folder = map(Path, arguments)
    try:
        vector = mean_of_articles(data, load_encoder(folder, device="cpu"))
        write_file(folder / ARTICLES_FILE, lambda stream: np.save(stream, vector))
        config = json.loads((folder / CONFIG_FILE).read_text(encoding="utf-8"))
        config["files"][ARTICLES_FILE] = hashlib.sha256((folder / ARTICLES_FILE).read_bytes()).hexdigest()
        (folder / CONFIG_FILE).write_text(json.dumps(config, indent=2) + "\n", encoding="utf-8")
    except (NlbError, OSError) as error:
        print(f"articles: {error}", file=sys.stderr)
        return 2
    return 0


if __name__ == "__main__":
    raise SystemExit(main(sys.argv[1:]))
