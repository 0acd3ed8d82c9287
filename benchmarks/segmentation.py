"""Sections of texts without headings: learn the weights of `nlb_retriever.reading.segmentation`, and measure it.

    python benchmarks/segmentation.py                       # measure on dev and val
    python benchmarks/segmentation.py --fit weights.json    # learn from the train books, and measure that

Headings are taken out of books that have them; their sections should be found again. Pk (Beeferman et al. 1999) and
WindowDiff (Pevzner & Hearst 2002) are over words, with half of a book's mean section as the window; lower is better.
"Found" is the share of section starts with a border at most 100 words away.
"""

from __future__ import annotations

import argparse
import json
import re
import sys
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

import numpy as np
from data import data_folder

from nlb_retriever.reading import read_book
from nlb_retriever.reading import segmentation as seg
from nlb_retriever.reading.structure import partition, split_evenly
from nlb_training.evaluation.books import cache_folder, open_archive
from nlb_training.training_data import TRAIN_ARCHIVES

VAL = ("dev", "val")
LEAST_SECTIONS, WORDS = 5, (800, 9000)
"""Of a book that counts: sections, and their mean length in words."""
BOOKS = 10
"""In so many books a section starts beside a word that gets a weight."""
STRENGTH = 0.05
"""Inverse of the penalty."""
_FINISHED = re.compile(r"[.!?:;,\"”’'—-]\s*$")
_PART = re.compile(r"Part \d+ of \d+")


@dataclass(frozen=True)
class Headless:
    """A book without its headings."""

    text: str
    starts: tuple[int, ...]
    """Where its sections begin, 0 included."""


def take_out_headings(path: Path) -> Headless:
    """The sections of a book without the titles above them, joined by one empty line each; none if it has no titles."""
    book = read_book(path)
    if any(_PART.fullmatch(section.path[-1]) for section in book.sections):
        return Headless("", ())
    pieces: list[str] = []
    starts: list[int] = []
    size = 0
    for section in book.sections:
        title = _letters(" ".join(section.path))
        paragraphs = [each for each in re.split(r"\n\s*\n", book.text[section.start : section.end]) if each.strip()]
        while paragraphs and _is_title(paragraphs[0], title):
            paragraphs.pop(0)
        if paragraphs:
            piece = "\n\n".join(each.strip() for each in paragraphs) + "\n\n"
            pieces.append(piece)
            starts.append(size)
            size += len(piece)
    return Headless("".join(pieces), tuple(starts))


def _is_title(paragraph: str, title: str) -> bool:
    letters = _letters(paragraph)
    short = len(paragraph.split()) <= 12 and not _FINISHED.search(paragraph)
    return letters in title or short or paragraph.isupper()


def _letters(text: str) -> str:
    return re.sub(r"[\W_]+", "", text).casefold()


def read_collection(data: Path, name: str, cache: Path) -> Iterator[Headless]:
    """The books of an archive that have headings, and sections of usual lengths."""
    for book in map(take_out_headings, open_archive(data, name, cache).paths):
        if len(book.starts) >= LEAST_SECTIONS and WORDS[0] <= len(book.text.split()) / len(book.starts) <= WORDS[1]:
            yield book


def fit(books: Sequence[Headless]) -> dict[str, object]:
    """Logistic regression on all borders of some books."""
    from scipy.sparse import csr_matrix, diags, hstack
    from sklearn.linear_model import LogisticRegression

    features, labels, words = [], [], []
    having: Counter[str] = Counter()
    for number, book in enumerate(books):
        paragraphs = seg.find_paragraphs(book.text, 0, len(book.text))
        starts = set(book.starts)
        features.append(seg.border_features(paragraphs)[1:])
        own = seg.border_words(paragraphs)[1:]
        begins = [each.start in starts for each in paragraphs[1:]]
        having.update({name for names, label in zip(own, begins, strict=True) if label for name in names})
        words += own
        labels += begins
        if number % 50 == 0:
            print(f"{number:,} of {len(books):,} books", file=sys.stderr)
    known = {name: index for index, name in enumerate(sorted(name for name, n in having.items() if n >= BOOKS))}
    columns = [sorted(known[name] for name in names if name in known) for names in words]
    indices = [index for row in columns for index in row]
    ends = np.cumsum([0, *(len(row) for row in columns)])
    dense = np.vstack(features)
    scales = 1 / np.sqrt((dense**2).mean(0) + 1e-9)
    sparse = csr_matrix((np.full(len(indices), 0.5), indices, ends), shape=(len(columns), len(known)))
    model = LogisticRegression(C=STRENGTH, max_iter=300).fit(
        hstack([csr_matrix(dense) @ diags(scales), sparse]), labels
    )
    weights = model.coef_[0]
    return {
        "features": [round(float(each), 4) for each in weights[: len(scales)] * scales],
        "words": {name: round(0.5 * float(weights[len(scales) + index]), 4) for name, index in known.items()},
    }


class Figures(NamedTuple):
    """Means over books; all but the counts x 100."""

    pk: float
    window_diff: float
    found: float
    """Section starts with a border near by."""
    right: float
    """Borders with a section start near by."""
    sections: float
    """That were made."""
    real: float
    """That the books have."""


def measure(books: Sequence[Headless], cut: Callable[[str], Sequence[int]]) -> Figures:
    """Compare the sections that a way makes of texts with the books' own."""
    rows = []
    for book in books:
        words = np.array([match.start() for match in re.finditer(r"\S+", book.text)])
        gold, found = (np.searchsorted(words, starts[1:]) for starts in (book.starts, cut(book.text)))
        places = np.arange(0, len(words), 25)
        one, other = (np.searchsorted(borders, places, side="right") for borders in (gold, found))
        window = max(1, round(len(words) / len(book.starts) / 2 / 25))
        one, other = (counts[window:] - counts[:-window] for counts in (one, other))
        rows.append((
            np.mean((one == 0) != (other == 0)), np.mean(one != other), _near(gold, found), _near(found, gold),
            (len(found) + 1) / 100, (len(gold) + 1) / 100,
        ))  # fmt: skip
    return Figures(*(100 * np.mean(rows, axis=0)).tolist())


def _near(ones: np.ndarray, others: np.ndarray, most: int = 100) -> float:
    if not len(ones) or not len(others):
        return 0.0
    return float(np.mean([np.abs(others - each).min() <= most for each in ones]))


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=Path, help="folder of the evaluation data; default: NLB_DATA")
    parser.add_argument("--cache", type=Path, help="of unpacked books; default: that of `nlb eval`")
    parser.add_argument("--fit", type=Path, metavar="FILE", help="learn weights from the train books, and write them")
    given = parser.parse_args()
    data, cache = data_folder(given.data), cache_folder(given.cache)
    if given.fit:
        books = [book for name in TRAIN_ARCHIVES for book in read_collection(data, name, cache)]
        given.fit.write_text(json.dumps(fit(books), indent=0, ensure_ascii=False) + "\n", encoding="utf-8")
        seg.WEIGHTS = given.fit
        seg._weights.cache_clear()
    ways: dict[str, Callable[[str], Sequence[int]]] = {
        "one section": lambda text: [0],
        "parts of 2,000 words": lambda text: [start for start, _ in split_evenly(text, 0, len(text))],
        "segmentation": lambda text: [section.start for section in partition(text, [], "")],
    }
    print(f"{'':30}     Pk WindowDiff    found    right sections")
    for name in VAL:
        books = list(read_collection(data, name, cache))
        for way, cut in ways.items():
            each = measure(books, cut)
            print(
                f"{name + ', ' + str(len(books)) + ' books':16} {way:22} {each.pk:6.1f} {each.window_diff:10.1f} "
                f"{each.found:8.1f} {each.right:8.1f} {each.sections:8.1f} of {each.real:.1f}",
                flush=True,
            )


if __name__ == "__main__":
    main()
