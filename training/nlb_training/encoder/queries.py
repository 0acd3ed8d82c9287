"""Training queries from summaries, titles and questions, each with the span of a text that it is about."""

from __future__ import annotations

import hashlib
import random
from collections import defaultdict
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from nlb_retriever.text.sentences import sentence_spans
from nlb_training.encoder.books import Span
from nlb_training.reader.novels import novel_questions
from nlb_training.reader.plot_questions import read_plot_questions
from nlb_training.training_data import HELD_ARTICLES, TRAIN_ARCHIVES, read_archive, read_rows

Source = Literal["summary", "novel", "book", "title", "tale", "article", "cloze", "plot"]
SOURCES: tuple[Source, ...] = ("summary", "novel", "book", "title", "tale", "article", "cloze", "plot")
_WORDS = 5
"""Words that a summary's sentence has at least."""
_TALES_HELD_OUT = 20
"""One tale in so many is held out, to choose settings on."""


@dataclass(frozen=True, kw_only=True)
class Query:
    """A query and where its answer lies."""

    text: str
    source: Source
    book: str
    """Name of the text."""
    spans: tuple[Span, ...]
    """Characters that hold what answers it; a long span where the passage is not known."""
    position: float | None = None
    """In the summary that it is from, 0 to 1."""
    answers: tuple[str, ...] = ()
    """Wordings of its answer, if only passages of the span that have one may answer it."""


def read_summaries(folder: Path, source: Literal["summary", "book"]) -> Iterator[Query]:
    """Sentences of summaries of chapters ("summary") or of books."""
    for row in read_rows(folder, "booksum_chapters_train" if source == "summary" else "booksum_books_train"):
        text = row["summary"]
        sentences = [text[start:end] for start, end in sentence_spans(text)]
        for index, sentence in enumerate(sentences):
            if len(sentence.split()) >= _WORDS:
                yield Query(
                    text=sentence,
                    source=source,
                    book=row["book_file"],
                    spans=((row["start"], row["end"]),) if source == "summary" else ((0, 1 << 32),),
                    position=(index + 0.5) / len(sentences),
                )


def read_novel_questions(folder: Path, texts: Mapping[str, str]) -> Iterator[Query]:
    """Questions made of chapter summaries, the same ones at each run (`nlb_training.reader.novels`).

    Args:
        folder: of the data.
        texts: of books by name; questions on others are left out.
    """
    wanted = {row["book_file"] for row in read_rows(folder, "booksum_chapters_train")}
    novels = {name: texts[name] for name in wanted if name in texts}
    for row in novel_questions(folder, novels, random.Random(0)):
        yield Query(
            text=row["question"],
            source="novel",
            book=row["book_file"],
            spans=((row["start"], row["end"]),),
            position=row["place"],
        )


def read_plots(texts: Mapping[str, str]) -> Iterator[Query]:
    """The questions on plots of `nlb_training.reader.plot_questions`; of books without a text none."""
    for row in read_plot_questions():
        if row["book_file"] in texts:
            start, end = row.get("span") or (0, len(texts[row["book_file"]]))
            yield Query(
                text=row["question"],
                source="plot",
                book=row["book_file"],
                spans=((start, end),),
                answers=tuple(row["answers"]),
            )


def read_titles(folder: Path) -> Iterator[Query]:
    """Authors' own titles and synopses of chapters."""
    for name, key in (("chapter_titles_train", "chapter_title"), ("chapter_synopses_train", "synopsis")):
        for row in read_rows(folder, name):
            span = (row["start"], row["end"])
            yield Query(text=row[key], source="title", book=row["book_file"], spans=(span,))


def is_held_out(story: str) -> bool:
    """Whether a tale of FairytaleQA's train split is held out."""
    return int(hashlib.sha256(story.encode()).hexdigest(), 16) % _TALES_HELD_OUT == 0


def read_tales(folder: Path) -> Iterator[tuple[Query, Span]]:
    """Questions on tales but for those held out, each with its tale's span in the collection."""
    for row in read_rows(folder, "fairytaleqa_train"):
        if not is_held_out(row["story"]):
            spans = tuple((start, end) for start, end in row["evidence_spans"])
            query = Query(text=row["question"], source="tale", book=row["book_file"], spans=spans)
            yield query, (row["story_span"][0], row["story_span"][1])


def read_articles(folder: Path) -> tuple[list[Query], dict[str, str]]:
    """SQuAD's answerable questions, and its articles as texts, without `HELD_ARTICLES`."""
    rows = read_rows(folder, "squad_dev")
    paragraphs: dict[str, dict[int, str]] = defaultdict(dict)
    for row in rows:
        if row["article"] not in HELD_ARTICLES:
            paragraphs[row["article"]][row["paragraph"]] = row["context"]
    texts: dict[str, str] = {}
    begins: dict[tuple[str, int], int] = {}
    for article, numbered in paragraphs.items():
        length = 0
        for number in sorted(numbered):
            begins[article, number] = length
            length += len(numbered[number]) + 2
        texts[f"squad/{article}"] = "\n\n".join(numbered[number] for number in sorted(numbered))
    queries = []
    for row in rows:
        begin = begins.get((row["article"], row["paragraph"]))
        if begin is not None and row["answers"]:
            answer = row["answers"][0]
            span = (begin + answer["start"], begin + answer["start"] + len(answer["text"]))
            name = f"squad/{row['article']}"
            queries.append(Query(text=row["question"], source="article", book=name, spans=(span,)))
    return queries, texts


def read_books(folder: Path) -> dict[str, str]:
    """All texts that training may see: the 530 train books and the tales."""
    return {file: text for name in (*TRAIN_ARCHIVES, "fairytaleqa") for file, text in read_archive(folder, name)}
