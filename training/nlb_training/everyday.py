"""Questions on everyday things and on what is generally known, which books on other things do not answer.

They were written for this project by a large language model. `everyday_questions.jsonl.bz2`, beside this module, has a
"part" for each: "train", "val" (weights were chosen with them) or "test".
"""

from __future__ import annotations

from pathlib import Path
from typing import Literal

from nlb_training.training_data import read_jsonl

FILE = Path(__file__).with_name("everyday_questions.jsonl.bz2")


def read_everyday(part: Literal["train", "val", "test"]) -> list[str]:
    """The questions of one part; none of "train" is near one of the others."""
    return [row["question"] for row in read_jsonl(FILE) if row["part"] == part]
