"""Questions on novels, made of study guides, beside what the retriever found for them in the novel."""

from __future__ import annotations

import random
import re
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from nlb_retriever.text.sentences import sentence_spans
from nlb_training.reader.candidates import Candidates, Found
from nlb_training.reader.cloze import content_words, find_names
from nlb_training.reader.contexts import TOKEN_CHARACTERS, cut_candidate, sentence_window
from nlb_training.reader.examples import Candidate, Example, Span
from nlb_training.reader.ranking import cut_wrong, draw_first
from nlb_training.reader.statements import make_questions
from nlb_training.training_data import read_rows

_SUMMARY_WORDS = range(5, 31)
"""Of a statement."""
_EACH = 2
"""Questions of a statement."""
_REPEATS = 4
"""Questions of a summary with the same answer."""
_OFF = 0.3
"""How far a passage may lie from where the summary tells of it, as a share of the chapter."""
_RIGHT = 2
"""Passages that answer, a question."""
_MOST_SPANS = 6
"""Of an answer in a passage: a name that it has more often tells little."""
_NEAR = 150
"""Characters about an answer that are compared with the question."""


def novel_questions(data: Path, novels: Mapping[str, str], draw: random.Random) -> list[dict[str, Any]]:
    """Questions of the statements of chapter summaries.

    Args:
        data: folder of the data.
        novels: texts by name.
        draw: of everything random.

    Returns:
        Rows with "id", "question", "book_file", "answer" (None for why and how), "start" and "end" of the chapter, and
        "place", the share of the summary that comes before the statement.
    """
    names = {name: find_names(text) for name, text in sorted(novels.items())}
    rows: list[dict[str, Any]] = []
    for chapter in read_rows(data, "booksum_chapters_train"):
        if chapter["book_file"] not in novels:
            continue
        summary, used = chapter["summary"], list[str]()
        for start, end in sentence_spans(summary):
            statement = " ".join(summary[start:end].split())
            if len(statement.split()) not in _SUMMARY_WORDS or statement.endswith("?"):
                continue
            made = list(make_questions(statement, *names[chapter["book_file"]], draw))
            draw.shuffle(made)
            for question in made[:_EACH]:
                if question.answer and used.count(question.answer) >= _REPEATS:
                    continue
                used.append(question.answer or "")
                rows.append(
                    {
                        "id": f"novels-{len(rows)}",
                        "question": question.text,
                        "answer": question.answer,
                        "place": (start + end) / 2 / len(summary),
                        **{key: chapter[key] for key in ("book_file", "start", "end")},
                    }
                )
    return rows


def novel_examples(
    rows: Sequence[Mapping[str, Any]],
    candidates: Mapping[str, Candidates],
    draw: random.Random,
    *,
    negatives: int,
    lengths: Sequence[int],
) -> Iterator[Example]:
    """Questions on novels, each with passages that may answer and some of the best of other chapters.

    No row says which passage answers. Those that are trained as right have the answer's words and lie in the chapter
    about where its summary tells of it; the ranking loss asks for one of them (arXiv 1710.10723, section 3.2).

    Args:
        rows: of `novel_questions`.
        candidates: what the retriever found in the question's novel, by the rows' ids.
        draw: of everything random.
        negatives: passages of other chapters, a question.
        lengths: tokens of a passage, one of them at random; longer passages are cut around what matters in them.
    """
    for row in rows:
        if row["id"] not in candidates:
            continue
        found, pattern = candidates[row["id"]].found, _pattern(row["answer"])
        right = [each for each in found if _may_answer(each, row, pattern)][:_RIGHT]
        wrong = [each for each in found if each.end <= row["start"] or row["end"] <= each.start]
        if not right or len(wrong) < negatives:
            continue
        answering = [(each.text, _find(pattern, each.text)) for each in right]
        yield cut_example("novels", row["question"], answering, wrong, draw, negatives=negatives, lengths=lengths)


def _pattern(answer: str | None) -> re.Pattern[str] | None:
    """Finds an answer; of names their last words."""
    if answer is None:
        return None
    parts = [name.split()[-1] for name in answer.split(" and ")] if answer[0].isupper() else [answer]
    return re.compile("|".join(rf"\b{re.escape(part)}\b" for part in parts))


def _find(pattern: re.Pattern[str] | None, text: str) -> list[Span]:
    return [match.span() for match in pattern.finditer(text)] if pattern else []


def _may_answer(found: Found, row: Mapping[str, Any], pattern: re.Pattern[str] | None) -> bool:
    middle = (found.start + found.end) / 2
    place = (middle - row["start"]) / (row["end"] - row["start"])
    return (
        0 <= place < 1
        and abs(place - row["place"]) <= _OFF
        and (pattern is None or bool(pattern.search(found.text)))
        and bool(content_words(row["question"]) & content_words(found.text))
    )


def cut_example(
    source: str,
    question: str,
    right: Sequence[tuple[str, Sequence[Span]]],
    wrong: Sequence[Found],
    draw: random.Random,
    *,
    negatives: int,
    lengths: Sequence[int],
) -> Example:
    """A question beside windows of passages that may answer it, and of some that do not.

    Args:
        source: of the question.
        question: to be answered.
        right: passages that may answer, the likeliest first, each with where it has the answer's words.
        wrong: passages that do not, the best first.
        draw: of everything random.
        negatives: wrong passages.
        lengths: tokens of a window, one of them at random.
    """
    characters = int(draw.choice(lengths) * TOKEN_CHARACTERS)
    chosen = [wrong[index].text for index in draw_first(len(wrong), negatives, draw)]
    return Example(
        source=source,
        question=question,
        candidates=(
            *(
                _cut_likely(passage, question, spans, characters, draw, first=not rank)
                for rank, (passage, spans) in enumerate(right)
            ),
            *(cut_wrong(passage, question, characters, draw) for passage in chosen),
        ),
    )


def _cut_likely(
    passage: str, question: str, spans: Sequence[Span], characters: int, draw: random.Random, *, first: bool
) -> Candidate:
    """A window around the answer that stands nearest to the question's words; only the first passage's is a span."""
    wanted = content_words(question)

    def shared(span: Span) -> int:
        return len(wanted & content_words(passage[max(0, span[0] - _NEAR) : span[1] + _NEAR]))

    middle = max(spans or sentence_spans(passage), key=shared)
    kept = spans if first and len(spans) <= _MOST_SPANS else []
    return cut_candidate(passage, sentence_window(passage, middle, characters, draw), kept, relevant=True)
