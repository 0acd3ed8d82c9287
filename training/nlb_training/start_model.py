"""Files of the model that a training run starts from."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from nlb_retriever.encoding.base import open_tokenizer
from nlb_retriever.errors import TrainingError

if TYPE_CHECKING:
    from tokenizers import Tokenizer


def read_tokenizer(folder: Path) -> Tokenizer:
    """A model's tokenizer, without truncation and padding.

    Raises:
        TrainingError: tokenizer.json is missing or damaged.
    """
    file = folder / "tokenizer.json"
    try:
        return open_tokenizer(file)
    except Exception as error:  # tokenizers raises nothing narrower
        raise TrainingError(f"{file} is missing or no tokenizer: give a whole model with --from") from error
