"""The folder of a training run: names of its files, and the rules for starting and resuming in it.

The folder of a run is also that of its checkpoint:

    config.json model.safetensors    the next-level encoder, for `nlb index --checkpoint`; written last
    README.md                        its model card
    training.json                    all settings and results of the run
    loss.json loss.png               of pretraining
    retrieval-loss.json, .png        of retrieval training
    run/                             results of the stages: settings.json, corpus.json, corpus/ (with query vectors),
                                     examples.jsonl, pretraining/, retrieval/; lock
"""

from __future__ import annotations

import json
import shutil
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from nlb_retriever.config import expand
from nlb_retriever.errors import TrainingError
from nlb_training.pretraining.history import LOSS_FILE, History
from nlb_training.run_control import check_folder, hash_file, lock_folder
from nlb_training.settings import check_same, write_json

RUN, CORPUS, EXAMPLES, PRETRAINING, ENCODER = "run", "corpus", "examples.jsonl", "pretraining", "encoder"
RETRIEVAL = "retrieval"
SETTINGS, RECORD, LISTING = "settings.json", "training.json", "corpus.json"


def open_run(out: Path, record: Mapping[str, Any], *, resume: bool) -> None:
    """Make the folder of a run, or check that it holds this run.

    Args:
        out: folder of the run.
        record: all settings that the result depends on.
        resume: whether an earlier run may be continued.

    Raises:
        TrainingError: it holds another run or other files, or none to resume.
    """
    folder = out / RUN
    file = folder / SETTINGS
    if resume:
        check_folder(out, has_run=file.exists(), resume=True)
    books = folder / CORPUS / "books"
    if not file.exists() or not ((folder / LISTING).exists() or any(books.glob("*.arrow"))):
        if file.exists():  # a run that ended before its first book
            with lock_folder(folder):
                shutil.rmtree(folder)
        check_folder(out, has_run=False, resume=False, own=())
        folder.mkdir(parents=True, exist_ok=True)
        write_json(file, record)
        return
    check_folder(out, has_run=True, resume=resume)
    check_same(record, file, out)


def read_history(folder: Path) -> History | None:
    """The losses of a finished stage; None if loss.json is missing or damaged."""
    try:
        return History(**json.loads((folder / LOSS_FILE).read_text(encoding="utf-8")))
    except (OSError, ValueError, TypeError):
        return None


def hash_examples(file: Path) -> str:
    """SHA-256 of a file of examples.

    Raises:
        TrainingError: it cannot be read.
    """
    try:
        return hash_file(expand(file))
    except OSError as error:
        raise TrainingError(f"examples {file} cannot be read ({error.strerror}): name a .jsonl file") from error
