"""Questions on plots that were written for this project, beside what the retriever found for them in the book.

A large language model read summaries of 119 train books and wrote on them, in its own words, what somebody may ask who
knows the story (docs/reader.md). `plot_questions.jsonl.bz2`, beside this module, has for each question its "answers",
in one or two wordings, and the "span" of the chapter or part whose summary tells of it (none: the whole book's).
"""

from __future__ import annotations

import bz2
import json
import random
import re
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from nlb_retriever.reader import Reader
from nlb_training.reader.candidates import Candidates, Found
from nlb_training.reader.contexts import TOKEN_CHARACTERS
from nlb_training.reader.examples import Example
from nlb_training.reader.novels import cut_likely
from nlb_training.reader.ranking import cut_wrong, draw_first

FILE = Path(__file__).with_name("plot_questions.jsonl.bz2")
_READ = 6
"""Passages with the answer's words that the teacher reads, a question; of those without them four."""
_LEAST = -3.0, 1.0
"""Relevance, by the teacher, of a right passage with the answer's words, and of one without them."""
_CLOSE = 1.5
"""Less relevance than the best one's that a second right passage may have."""
_NEAR = 1500
"""Characters about a chapter in which no passage is wrong."""
_BEFORE = re.compile(r"(?:(?:the|an?|his|her|their|to|in|at|on|by|from|with|because|of)\s+){1,2}", re.IGNORECASE)
_TITLES = frozenset(
    "mr mrs miss dr sir lady lord captain count countess prince princess king queen father uncle aunt madame monsieur "
    "the a an his her their of and old young".split()
)


def read_plot_questions() -> list[dict[str, Any]]:
    """The rows, with "id", "question", "answers" and "book_file" (a file of corpus/train-*.tar.bz2), see above."""
    with bz2.open(FILE, "rt", encoding="utf-8") as lines:
        return [{"id": f"plots-{number}", **json.loads(line)} for number, line in enumerate(lines)]


def plot_examples(
    rows: Sequence[Mapping[str, Any]],
    candidates: Mapping[str, Candidates],
    teacher: Reader,
    draw: random.Random,
    *,
    negatives: int,
    lengths: Sequence[int],
) -> Iterator[Example]:
    """The questions, each with one or two passages that answer and some of the best of its book that do not.

    No row says which passage answers. Right are those of the chapter that have the answer's words, or where none has,
    any, which a reader holds for the most relevant (hard EM, arXiv 1909.04849, with the reader's scores); wrong are
    those without the words, of other chapters.

    Args:
        rows: of `read_plot_questions`.
        candidates: what the retriever found in the question's book, by the rows' ids.
        teacher: the reader.
        draw: of everything random.
        negatives: passages without an answer, at most so many a question and at least two.
        lengths: tokens of a passage, one of them at random; longer passages are cut around what matters in them.
    """
    for row in rows:
        found = candidates[row["id"]].found
        pattern = _pattern(row)
        low, high = row.get("span") or (0, max((each.end for each in found), default=0))
        inside = [each for each in found if low <= (each.start + each.end) / 2 < high]
        right = _choose(row["question"], inside, pattern, teacher, chapter="span" in row)
        wrong = [each for each in found if not (pattern and pattern.search(each.text))]
        if "span" in row:
            wrong = [each for each in wrong if not low - _NEAR <= (each.start + each.end) / 2 < high + _NEAR]
        if not right or len(wrong) < 2:
            continue
        characters = int(draw.choice(lengths) * TOKEN_CHARACTERS)
        chosen = [wrong[index] for index in draw_first(len(wrong), min(negatives, len(wrong)), draw)]
        yield Example(
            source="plots",
            question=row["question"],
            candidates=(
                *(cut_likely(each.text, row["question"], pattern, characters, draw, first=not rank)
                  for rank, each in enumerate(right)),
                *(cut_wrong(each.text, row["question"], characters, draw) for each in chosen),
            ),
        )  # fmt: skip


def _pattern(row: Mapping[str, Any]) -> re.Pattern[str] | None:
    """Finds an answer as it is worded, and of names the first and the last; nothing that the question says itself."""
    wordings: set[str] = set()
    for answer in row["answers"]:
        plain = _BEFORE.sub("", answer.strip(" ."), count=1) if _BEFORE.match(answer) else answer.strip(" .")
        words = re.findall(r"[\w'’-]+", plain)
        wordings.add(plain)
        if len(words) <= 4 and all(word[0].isupper() or word.lower() in _TITLES for word in words):
            names = [word for word in words if word.lower() not in _TITLES]
            wordings.update(names[:1] + names[-1:])
    question = row["question"].lower()
    kept = sorted((each for each in wordings if len(each) > 1 and each.lower() not in question), key=len, reverse=True)
    parts = (r"\s+".join(map(re.escape, each.split())) for each in kept)
    return re.compile("|".join(rf"(?<!\w){part}(?!\w)" for part in parts), re.IGNORECASE) if kept else None


def _choose(
    question: str, inside: Sequence[Found], pattern: re.Pattern[str] | None, teacher: Reader, *, chapter: bool
) -> list[Found]:
    """The one or two passages of a chapter that answer, the best first."""
    having = [each for each in inside if pattern and pattern.search(each.text)]
    pool = having[:_READ] or (list(inside[:4]) if chapter else [])
    if not pool:
        return []
    scores = [each.relevance for each in teacher.read(question, [each.text for each in pool])]
    best = max(scores)
    if best < _LEAST[0 if having else 1]:
        return []
    order = sorted(range(len(pool)), key=lambda index: -scores[index])[:2]
    return [pool[index] for index in order if scores[index] >= best - _CLOSE]
