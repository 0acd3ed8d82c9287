"""Classification of long documents, by frozen document vectors and by fine-tuning (arXiv 2402.17682, section 4).

Frozen: logistic regression on standardized vectors. Fine-tuned: see `tuning`. Cross-validated, with all documents of
one group (an author's books) in the same fold; the F1 scores are those of all folds together.
"""

from __future__ import annotations

import csv
import re
import warnings
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from nlb_retriever.errors import QueryError
from nlb_training.evaluation import metrics
from nlb_training.evaluation.books import BookCollection
from nlb_training.evaluation.documents import Document
from nlb_training.evaluation.results import Measurement
from nlb_training.evaluation.rows import Row

TASK = "classification"
FOLDS = 5
STRETCH = 60_000
"""Characters from a book's middle (15,000 tokens, about 60 chunks): title pages give away names and years."""
_BEFORE = 1800

Split = tuple[NDArray[np.int64], NDArray[np.int64]]
Classify = Callable[[Sequence[int], Sequence[str], Sequence[int], int], Sequence[str]]
"""(training documents, their labels, others, seed) -> labels of the others."""


@dataclass(frozen=True, kw_only=True)
class Labelled:
    """A document with its label and its group."""

    document: Document
    label: str
    group: str


def read_centuries(table: Path, collections: Sequence[BookCollection]) -> list[Labelled]:
    """The middle of each book with a known year, labelled with its century; the group is the author.

    Args:
        table: books.tsv of the data folder.
        collections: of the books.

    Raises:
        QueryError: the table cannot be read.
    """
    try:
        with table.open(encoding="utf-8", newline="") as stream:
            entries = list(csv.DictReader(stream, delimiter="\t"))
        known = [(entry["file"], entry["author"], entry["year"]) for entry in entries if entry["year"]]
    except (OSError, KeyError, UnicodeDecodeError) as error:
        raise QueryError(f"{table} cannot be read ({error}): get the evaluation data again") from error
    labelled = []
    for file, author, year in known:
        if books := next((books for books in collections if file in books.files), None):
            text = books.text(file)
            start = max(0, (len(text) - STRETCH) // 2)
            document = Document(name=file, text=text[start : start + STRETCH])
            labelled.append(Labelled(document=document, label=_century(year), group=_surname(author) or file))
    return labelled


def read_origins(rows: Sequence[Row], books: BookCollection) -> list[Labelled]:
    """The tales of FairytaleQA's rows, labelled with their collection."""
    tales = {(row.file, row.group, tuple(row.values["story_span"])) for row in rows if "story_span" in row.values}
    return [
        Labelled(
            document=Document(name=f"{file} {tale}", text=books.text(file)[start:end]),
            label=Path(file).stem,
            group=tale,
        )
        for file, tale, (start, end) in sorted(tales)
    ]


def read_own(rows: Sequence[Row], books: BookCollection) -> list[Labelled]:
    """The user's rows with "label" (here the query), "file" and perhaps a span and a "group"."""
    labelled = []
    for number, row in enumerate(rows):
        text = books.text(row.file)
        start, end = row.spans[0] if row.spans else (0, len(text))
        group = str(row.values.get("group", f"{row.file} {number}"))
        document = Document(name=f"{row.file} {start}", text=text[start:end])
        labelled.append(Labelled(document=document, label=row.query, group=group))
    return labelled


def keep_frequent(labelled: Sequence[Labelled]) -> list[Labelled]:
    """Only documents whose label is in at least `FOLDS` groups.

    Raises:
        QueryError: fewer than two labels are left.
    """
    groups = Counter(label for label, _ in {(each.label, each.group) for each in labelled})
    kept = [each for each in labelled if groups[each.label] >= FOLDS]
    if len({each.label for each in kept}) < 2:
        raise QueryError(
            f"{len(groups)} labels in {len(labelled)} documents: classification needs two labels or more "
            f"that are in {FOLDS} groups each"
        )
    return kept


def measure(
    name: str, labelled: Sequence[Labelled], system: str, classify: Classify, seeds: Sequence[int], *, trained: bool
) -> list[Measurement]:
    """Macro and micro F1 of a classifier, mean and spread over seeds."""
    labels = [each.label for each in labelled]
    scores = []
    for seed in seeds:
        guesses = [""] * len(labelled)
        for training, others in splits(labelled, seed):
            predicted = classify(training.tolist(), [labels[index] for index in training], others.tolist(), seed)
            for index, label in zip(others, predicted, strict=True):
                guesses[index] = label
        scores.append(metrics.f1_scores(labels, guesses))
    return [
        Measurement(
            task=TASK,
            set=name,
            system=system,
            metric=metric,
            value=float(np.mean(values)),
            spread=float(np.std(values)) if len(scores) > 1 else None,
            queries=len(labelled),
            groups=len({each.group for each in labelled}),
            trained=trained,
        )
        for metric, values in zip(("macro-f1", "micro-f1"), zip(*scores, strict=True), strict=True)
    ]


def splits(labelled: Sequence[Labelled], seed: int) -> list[Split]:
    """Folds with about the same share of every label, and whole groups."""
    from sklearn.model_selection import StratifiedGroupKFold  # type: ignore[import-untyped]

    folds = StratifiedGroupKFold(FOLDS, shuffle=True, random_state=seed)
    labels = [each.label for each in labelled]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)  # a rare label may be missing from a fold
        return list(folds.split(np.zeros(len(labels)), labels, [each.group for each in labelled]))


def classify_vectors(vectors: NDArray[np.float32]) -> Classify:
    """Logistic regression on standardized document vectors (n, D)."""
    from sklearn.linear_model import LogisticRegression  # type: ignore[import-untyped]
    from sklearn.pipeline import make_pipeline  # type: ignore[import-untyped]
    from sklearn.preprocessing import StandardScaler  # type: ignore[import-untyped]

    def classify(training: Sequence[int], labels: Sequence[str], others: Sequence[int], seed: int) -> Sequence[str]:
        model = make_pipeline(
            StandardScaler(), LogisticRegression(C=0.1, class_weight="balanced", max_iter=2000, random_state=seed)
        )
        return [str(label) for label in model.fit(vectors[training], labels).predict(vectors[others])]

    return classify


def classify_words(labelled: Sequence[Labelled]) -> Classify:
    """Logistic regression on words (tf-idf with sublinear counts)."""
    from sklearn.feature_extraction.text import TfidfVectorizer  # type: ignore[import-untyped]
    from sklearn.linear_model import LogisticRegression

    texts = [each.document.text for each in labelled]

    def classify(training: Sequence[int], labels: Sequence[str], others: Sequence[int], seed: int) -> Sequence[str]:
        words = TfidfVectorizer(sublinear_tf=True, min_df=2, max_features=50_000)
        model = LogisticRegression(C=10, class_weight="balanced", max_iter=2000, random_state=seed)
        model.fit(words.fit_transform([texts[index] for index in training]), labels)
        return [str(label) for label in model.predict(words.transform([texts[index] for index in others]))]

    return classify


def classify_as_majority() -> Classify:
    """The most frequent label for every document."""

    def classify(training: Sequence[int], labels: Sequence[str], others: Sequence[int], seed: int) -> Sequence[str]:
        return [Counter(sorted(labels)).most_common(1)[0][0]] * len(others)

    return classify


def _century(year: str) -> str:
    """ "19th century" of "1864"; one label for all years before 1800."""
    number = int(match[0]) if (match := re.search(r"\d+", year)) else 0
    if "BC" in year or number < _BEFORE:
        return "before 1800"
    return f"{number // 100 + 1}th century" if number < 2000 else "21st century"


def _surname(author: str) -> str:
    """ "conrad" of "Joseph Conrad" and of "Conrad, Joseph (1857-1924)"."""
    name = re.sub(r"\(.*?\)|\d", "", author).strip()
    last = name.split(",")[0] if "," in name else name.rpartition(" ")[2]
    return last.strip().casefold()
