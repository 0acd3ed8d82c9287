"""Questions on plots that were written for this project, beside passages of the book that may answer them.

A large language model wrote on train books, in its own words, what somebody may ask who knows the story
(docs/reader.md): on the chapters of 119 that summaries tell of, and on 122 others whose plot it knew.
`plot_questions.jsonl.bz2`, beside this module, has for each question its "answers", in one or two wordings, and the
"span" of the chapter or part whose summary tells of it (none: the whole book's).
"""

from __future__ import annotations

import random
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from nlb_retriever.reader import Reader
from nlb_training.reader.candidates import Candidates, Found
from nlb_training.reader.cloze import content_words
from nlb_training.reader.examples import Example, Span
from nlb_training.reader.novels import cut_example
from nlb_training.reader.wordings import find_wordings
from nlb_training.training_data import read_jsonl

FILE = Path(__file__).with_name("plot_questions.jsonl.bz2")
_READ = 6
"""Passages with the answer's words, of those that the retriever found, that the teacher reads, a question; of those
without them four."""
_CUT, _AROUND, _SHARED, _OFTEN = 10, 420, 150, 150
"""Passages around the answer's words that it reads as well, characters on both sides of these, characters that two
passages may share, and how often a text may have the words: a name that it has more often tells little."""
_LEAST = {"chapter": -2.2, "book": -0.5, "without": 1.0}
"""Relevance, by the teacher, of a right passage with the answer's words in a chapter or in a whole book, and of one
without them."""
_CLOSE = 1.0
"""Less relevance than the best one's that a second right passage may have."""
_NEAR = 1500
"""Characters about a chapter in which no passage is wrong."""


def read_plot_questions() -> list[dict[str, Any]]:
    """The rows, with "id", "question", "answers" and "book_file" (a file of corpus/train-*.tar.bz2), see above."""
    return [{"id": f"plots-{number}", **row} for number, row in enumerate(read_jsonl(FILE))]


def plot_examples(
    rows: Sequence[Mapping[str, Any]],
    texts: Mapping[str, str],
    candidates: Mapping[str, Candidates],
    teacher: Reader,
    draw: random.Random,
    *,
    negatives: int,
    lengths: Sequence[int],
) -> Iterator[Example]:
    """The questions, each with one or two passages that answer and some of the best of its book that do not.

    No row says which passage answers. Right are those of the chapter (or book) with the answer's words, or where no
    passage of a chapter has them, any that the retriever found there, which a reader holds for the most relevant (hard
    EM, arXiv 1909.04849, with the reader's scores); wrong are those without the words, of other chapters.

    Args:
        rows: of `read_plot_questions`.
        texts: of their books, by file.
        candidates: what the retriever found in the question's book, by the rows' ids.
        teacher: the reader.
        draw: of everything random.
        negatives: passages without an answer, at most so many a question and at least two.
        lengths: tokens of a passage, one of them at random; longer passages are cut around what matters in them.
    """
    for row in rows:
        text, found = texts[row["book_file"]], candidates[row["id"]].found
        low, high = row.get("span") or (0, len(text))
        spans = {each: find_wordings(each.text, row["question"], row["answers"]) for each in found}
        wrong = [each for each in found if not spans[each]]
        if "span" in row:
            wrong = [each for each in wrong if not low - _NEAR <= (each.start + each.end) / 2 < high + _NEAR]
        inside = [each for each in found if low <= (each.start + each.end) / 2 < high]
        pool = [each for each in inside if spans[each]][:_READ]
        cut = _cut_around(row, text, low, high)
        pool += [each for each in cut if not any(_overlap(each, other) for other in pool)]
        kind = "book" if "span" not in row else "chapter" if pool else "without"
        right = _choose(row["question"], inside[:4] if kind == "without" else pool, teacher, _LEAST[kind])
        if not right or len(wrong) < 2:
            continue
        answering = [(each.text, find_wordings(each.text, row["question"], row["answers"])) for each in right]
        count = min(negatives, len(wrong))
        yield cut_example("plots", row["question"], answering, wrong, draw, negatives=count, lengths=lengths)


def _cut_around(row: Mapping[str, Any], text: str, low: int, high: int) -> list[Found]:
    """Passages of some 900 characters around the answer's words, those with most of the question's words."""
    chapter, runs = text[low:high], list[Span]()
    spans = find_wordings(chapter, row["question"], row["answers"])
    for first, last in spans if len(spans) <= _OFTEN else []:
        start, end = max(0, first - _AROUND), min(len(chapter), last + _AROUND)
        if runs and start < runs[-1][1] - _AROUND // 2 and end - runs[-1][0] < 1500:
            runs[-1] = runs[-1][0], end
        else:
            runs.append((start, end))
    wanted, passages = content_words(row["question"]), list[Found]()
    for first, last in runs:
        start = chapter.find(" ", first) + 1 if first else 0
        end = chapter.rfind(" ", start, last) if last < len(chapter) else last
        score = float(len(wanted & content_words(chapter[start:end])))
        passages.append(
            Found(file=row["book_file"], start=low + start, end=low + end, score=score, text=chapter[start:end])
        )
    return sorted(passages, key=lambda each: -each.score)[:_CUT]


def _overlap(first: Found, second: Found) -> bool:
    return min(first.end, second.end) - max(first.start, second.start) > _SHARED


def _choose(question: str, pool: Sequence[Found], teacher: Reader, least: float) -> list[Found]:
    """The one or two most relevant passages, the best first."""
    if not pool:
        return []
    scores = [each.relevance for each in teacher.read(question, [each.text for each in pool])]
    best = max(scores)
    order = sorted(range(len(pool)), key=lambda index: -scores[index])[:2]
    return [pool[index] for index in order if scores[index] >= max(least, best - _CLOSE)] if best >= least else []
