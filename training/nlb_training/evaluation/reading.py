"""A reader by itself: answers in given paragraphs, and which questions their paragraph does not answer.

Measured as in `nlb_training.reader.evaluation`: SQuAD's articles that no reader is trained on, BiPaR's valid split, and
FairytaleQA val with its evidence.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Protocol

from nlb_training.evaluation.results import Measurement

if TYPE_CHECKING:
    from nlb_retriever.reader import Reading
    from nlb_training.reader.evaluation import Paragraph

TASK = "reading"


class PassageReader(Protocol):
    """Any object that reads passages, such as `nlb_retriever.reader.Reader`."""

    def read(self, question: str, passages: Sequence[str]) -> list[Reading]:
        """The best span of each passage, with its scores."""
        ...


def paragraph_sets(data: Path) -> Iterator[tuple[str, list[Paragraph]]]:
    """The sets that the data folder has, by name."""
    from nlb_training.reader.evaluation import bipar_paragraphs, squad_paragraphs, tale_paragraphs

    for name, file, read in (
        ("squad-held", "squad_dev", squad_paragraphs),
        ("bipar", "bipar_en_valid", bipar_paragraphs),
        ("fairytaleqa-evidence", "fairytaleqa_val", tale_paragraphs),
    ):
        if (data / "eval" / f"{file}.jsonl.bz2").is_file():
            yield name, read(data)


def measure_reading(reader: PassageReader, name: str, paragraphs: Sequence[Paragraph]) -> list[Measurement]:
    """Exact match, token F1 and AUC of a reader on one set, without intervals."""
    from nlb_training.reader.evaluation import measure_paragraphs

    return [
        Measurement(
            task=TASK,
            set=name,
            system="reader",
            metric=metric.lower().replace(" ", "-"),
            value=value / 100,
            low=None,
            high=None,
            queries=len(paragraphs),
            groups=len({paragraph.text for paragraph in paragraphs}),
            trained=True,
        )
        for metric, value in measure_paragraphs(reader.read, paragraphs).items()
    ]
