"""The reader, quantized to int8, through OpenVINO: the fast way on a CPU, and no torch."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from nlb_retriever.encoding.base import open_tokenizer
from nlb_retriever.encoding.compiled import share_model
from nlb_retriever.encoding.openvino_core import best_precision, model_call, row_width, usable_cores
from nlb_retriever.reader.files import MODEL, TOKENIZER, WEIGHTS, check_file, read_config
from nlb_retriever.reader.interface import Reading, Scores, read_passages
from nlb_retriever.reader.pairs import Row, pad_rows

_BATCH_TOKENS = 1
"""One passage a request, so that all cores have work until the end: a passage is long enough to keep a core busy."""
_WIDTH_STEP = 16
"""Rows are padded to a multiple (`row_width`)."""
_SHAPES_KEPT = 64


class OpenVinoReader:
    """A reader as OpenVINO IR. Threads take turns.

    Args:
        folder: holds reader.json, model.xml, model.bin and tokenizer.json, as nlb_training.reader.quantize writes them.

    Raises:
        EncoderError: a file is missing or its SHA-256 differs from what reader.json says.
    """

    def __init__(self, folder: Path) -> None:
        config = read_config(folder)
        precision = best_precision()
        self.backend = f"openvino {precision}"
        threads = usable_cores()
        self._model = share_model(
            folder / MODEL,
            {
                "NUM_STREAMS": threads,
                "INFERENCE_NUM_THREADS": threads,
                "CPU_RUNTIME_CACHE_CAPACITY": _SHAPES_KEPT,
            },
            precision=precision,
            files={name: config["files"].get(name, "") for name in (MODEL, WEIGHTS)},
            requests=threads,
            check=partial(_check_files, folder, config),
        )
        check_file(folder, TOKENIZER, config)
        self.tokenizer = open_tokenizer(folder / TOKENIZER)

    @model_call()
    def read(self, question: str, passages: Sequence[str], *, shortest: int = 1) -> list[Reading]:
        """See `Reader.read`."""
        return read_passages(
            question, passages, self.tokenizer, shortest=shortest, batch_tokens=_BATCH_TOKENS, forward=self._forward
        )

    def _forward(self, batches: list[list[Row]]) -> list[Scores]:
        results: list[Any] = [None] * len(batches)

        def keep(index: int, *scores: NDArray[np.float32]) -> None:
            results[index] = tuple(each.copy() for each in scores)

        padded = (pad_rows(rows, width_of=partial(row_width, step=_WIDTH_STEP)) for rows in batches)
        self._model.run(
            ({"input_ids": ids, "token_type_ids": types, "attention_mask": mask} for ids, types, mask in padded), keep
        )
        return results


def _check_files(folder: Path, config: dict[str, Any]) -> None:
    for name in (MODEL, WEIGHTS):
        check_file(folder, name, config)
