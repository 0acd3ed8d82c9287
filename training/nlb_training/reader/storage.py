"""Examples on disk, a JSON line each: what is slow to make is made once."""

from __future__ import annotations

import gzip
import json
from collections.abc import Iterable, Iterator
from dataclasses import asdict
from pathlib import Path

from nlb_retriever.errors import TrainingError
from nlb_training.reader.examples import Candidate, Example


def write_examples(path: Path, examples: Iterable[Example]) -> int:
    """Write examples to a .jsonl.gz file, atomically; gives their number."""
    partial = path.with_name(f".{path.name}")
    count = 0
    with gzip.open(partial, "wt", encoding="utf-8", compresslevel=3) as file:
        for example in examples:
            file.write(json.dumps(asdict(example), ensure_ascii=False) + "\n")
            count += 1
    partial.replace(path)
    return count


def read_examples(path: Path) -> Iterator[Example]:
    """Read what `write_examples` wrote.

    Raises:
        TrainingError: the file is missing or damaged.
    """
    try:
        with gzip.open(path, "rt", encoding="utf-8") as file:
            for line in file:
                row = json.loads(line)
                candidates = tuple(
                    Candidate(
                        text=each["text"],
                        relevant=each["relevant"],
                        spans=tuple((start, end) for start, end in each["spans"]),
                    )
                    for each in row["candidates"]
                )
                yield Example(source=row["source"], question=row["question"], candidates=candidates)
    except (OSError, EOFError, ValueError, KeyError, TypeError) as error:
        raise TrainingError(f"{path} is missing or damaged ({error}): delete it, and make it again") from error
