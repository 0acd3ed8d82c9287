"""A fast evaluation of an encoder on validation data: exact cosines over passages, alone and fused with BM25.

Not the product's figures (no projections, no levels, plain fusion), but they move with them.
"""

from __future__ import annotations

import hashlib
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from nlb_retriever.text.sentences import sentence_spans
from nlb_retriever.text.words import count_words
from nlb_training.encoder.bert import Ids
from nlb_training.encoder.books import Span, TokenizedBooks, read_archives, read_rows
from nlb_training.encoder.queries import read_articles
from nlb_training.encoder.similarity import Encoder, Floats, SpanIndex, best_of_units, cut_spans, means_of_units
from nlb_training.evaluation.lexical import score_words

PASSAGE_TOKENS = 256
"""Of the longest passage, with the special tokens."""


@dataclass(frozen=True, kw_only=True)
class Questions:
    """Questions on one collection and which of its passages answer each."""

    name: str
    collection: str
    texts: list[str]
    right: list[NDArray[np.int64]]
    """Indexes of passages, or of units where `units` is given."""
    units: NDArray[np.int64] | None = None
    """(P,) the book or section of each passage (-1: none), if these are ranked."""
    pool: str = "passage"
    """What is ranked: "passage", a unit by its best passage ("max") or by its mean vector ("mean")."""
    inside: list[NDArray[np.int64]] = field(default_factory=list)
    """If not empty, the passages or units that each question ranks; default: all."""
    measure: str = "MRR"
    """"MRR", or "hit@N": whether one of the first N is right."""


class Probes:
    """Validation sets with their passages and BM25 scores.

    Args:
        folder: of the data.
        tokenizer: of the encoders.
        cache: folder for the texts as tokens.
        quick: only a part of the books: minutes, not an hour.
    """

    def __init__(self, folder: Path, tokenizer: Any, cache: Path, *, quick: bool) -> None:
        self._folder = folder
        self._cache = cache
        self._quick = quick
        articles, texts = read_articles(folder, held_out=True)
        self._articles = articles
        self.books = TokenizedBooks(
            tokenizer, cache, {**dict(read_archives(folder, ("dev", "fairytaleqa", "openstax"))), **texts}
        )
        self.passages: dict[str, list[tuple[str, Span]]] = {}
        self.sets: list[Questions] = []
        self._add_tales()
        self._add_novels()
        self._add_textbooks()
        self._add_articles()

    def texts(self, collection: str) -> list[Ids]:
        """Token ids of a collection's passages."""
        return [self.books.open(name).ids[a:b] for name, (a, b) in self.passages[collection]]

    def run(self, encoder: Encoder, *, only: Sequence[str] = ()) -> dict[str, dict[str, float]]:
        """Measure an encoder on all sets.

        Returns:
            Set -> "vectors" (of whole passages), "spans" (as search compares them), "bm25", "sum" (z-scores of spans
            and BM25 added) -> x 100.
        """
        results: dict[str, dict[str, float]] = {}
        indexes: dict[str, SpanIndex] = {}
        for questions in self.sets:
            if only and questions.name not in only:
                continue
            if questions.collection not in indexes:
                passages = self.passages[questions.collection]
                starts = [cut_spans(self.books.open(name), span) for name, span in passages]
                indexes[questions.collection] = SpanIndex(encoder, self.texts(questions.collection), starts)
            queries = encoder.encode(self.books.encode(questions.texts))
            results[questions.name] = self._measure(questions, indexes[questions.collection], queries)
        return results

    def _measure(self, questions: Questions, index: SpanIndex, queries: Floats) -> dict[str, float]:
        words = self.words(questions)
        if questions.units is not None and questions.pool == "mean":
            dense = spans = queries @ means_of_units(index.wholes, questions.units).T
        else:
            dense, spans = queries @ index.wholes.T, index.score(queries)
            if questions.units is not None:
                dense, spans = best_of_units(dense, questions.units), best_of_units(spans, questions.units)
        values: dict[str, list[float]] = defaultdict(list)
        for row, right in enumerate(questions.right):
            pool = questions.inside[row] if questions.inside else slice(None)
            d, s, b = dense[row, pool], spans[row, pool], words[row, pool]
            truth = np.isin(questions.inside[row], right) if questions.inside else right
            wanted = np.flatnonzero(truth) if questions.inside else right
            scores = {
                "vectors": d,
                "spans": s,
                "bm25": b,
                "sum": _standard(s) + _standard(b),
            }
            for name, score in scores.items():
                values[name].append(_judge(score, wanted, questions.measure))
        return {name: 100 * float(np.mean(each)) for name, each in values.items()}

    def words(self, questions: Questions) -> Floats:
        """(Q, P or units) BM25 scores, kept on disk."""
        key = repr((questions.name, questions.texts, self.passages[questions.collection], questions.pool))
        file = self._cache / f"words-{hashlib.sha256(key.encode()).hexdigest()[:16]}.npy"
        if file.is_file():
            return np.asarray(np.load(file))
        if questions.pool == "mean" and questions.units is not None:
            documents: list[list[str]] = [[] for _ in range(int(questions.units.max()) + 1)]
            for (name, span), unit in zip(self.passages[questions.collection], questions.units, strict=True):
                if unit >= 0:
                    documents[unit].append(self.books.open(name).find_text(span))
            scores = score_words(questions.texts, ["\n".join(each) for each in documents], "section").astype(np.float32)
        else:
            texts = [self.books.open(name).find_text(span) for name, span in self.passages[questions.collection]]
            scores = score_words(questions.texts, texts, "passage").astype(np.float32)
            if questions.units is not None:
                scores = best_of_units(scores, questions.units)
        np.save(file, scores)
        return scores

    def _cut(self, collection: str, names: Sequence[str], borders: dict[str, set[int]] | None = None) -> None:
        """Passages of whole sentences; none crosses a border."""
        self.passages[collection] = []
        for name in names:
            book = self.books.open(name)
            stops = sorted({0, len(book.ids), *(book.find_tokens((at, at))[0] for at in (borders or {}).get(name, ()))})
            for low, high in pairwise(stops):
                self.passages[collection] += [(name, span) for span in book.cut(PASSAGE_TOKENS, (low, high))]

    def _rows(self, name: str) -> list[dict[str, Any]]:
        return read_rows(self._folder / "eval" / f"{name}.jsonl.bz2")

    def _touching(self, collection: str, name: str, spans: Sequence[Span]) -> NDArray[np.int64]:
        """Passages that share anything with one of the spans."""
        book = self.books.open(name)
        ranges = [book.find_tokens(span) for span in spans]
        return np.array(
            [
                index
                for index, (own, (start, end)) in enumerate(self.passages[collection])
                if own == name and any(start < max(b, a + 1) and a < end for a, b in ranges)
            ]
        )

    def _overlapping(self, collection: str, name: str, spans: Sequence[Span]) -> NDArray[np.int64]:
        """Passages that lie in one of the spans as a whole, else the one that holds most of them."""
        book = self.books.open(name)
        numbers = [index for index, (own, _) in enumerate(self.passages[collection]) if own == name]
        starts, ends = np.array([self.passages[collection][index][1] for index in numbers]).T
        shares = np.zeros(len(numbers), dtype=np.int64)
        for a, b in (book.find_tokens(span) for span in spans):
            shares += np.maximum(np.minimum(ends, b) - np.maximum(starts, a), 0)
        whole = np.flatnonzero(shares == ends - starts)
        chosen = whole if len(whole) else [int(shares.argmax())]
        return np.array(numbers)[chosen]

    def _add_tales(self) -> None:
        rows = self._rows("fairytaleqa_val")
        borders: dict[str, set[int]] = defaultdict(set)
        for row in (*rows, *self._rows("fairytaleqa_train")):
            borders[row["book_file"]].update(row["story_span"])
        self._cut("tales", sorted(borders), borders)
        right = [self._touching("tales", row["book_file"], row["evidence_spans"]) for row in rows]
        texts = [row["question"] for row in rows]
        self.sets.append(Questions(name="tale passage", collection="tales", texts=texts, right=right))

    def _add_novels(self) -> None:
        questions, chapters = self._rows("literaryqa_val_questions"), self._rows("booksum_chapters_val")
        words = {row["book_file"]: int(row["book_words"]) for row in (*questions, *chapters)}
        names = sorted(words)
        if self._quick:
            smallest = sorted(words, key=lambda name: words[name])
            with_questions = {row["book_file"] for row in questions}
            with_summaries = {row["book_file"] for row in chapters}
            names = sorted(
                {
                    *[name for name in smallest if name in with_questions][:13],
                    *[name for name in smallest if name in with_summaries][:8],
                }
            )
        self._cut("novels", names)
        units = np.array([names.index(name) for name, _ in self.passages["novels"]])
        own = {name: np.flatnonzero(units == index) for index, name in enumerate(names)}
        rows = [row for row in questions if row["book_file"] in own]
        texts = [row["question"] for row in rows]
        book = [np.array([names.index(row["book_file"])]) for row in rows]
        self.sets.append(
            Questions(
                name="novel book",
                collection="novels",
                texts=texts,
                right=book,
                units=units,
                pool="max",
                measure="hit@1",
            )
        )
        self._add_answers(rows, own)
        self._add_chapters([row for row in chapters if row["book_file"] in own])

    def _add_answers(self, rows: Sequence[dict[str, Any]], own: dict[str, NDArray[np.int64]]) -> None:
        stems: dict[int, frozenset[int]] = {}
        kept: list[tuple[str, NDArray[np.int64], NDArray[np.int64]]] = []
        for row in rows:
            question = frozenset(count_words(row["question"]).indices)
            answers = [frozenset(count_words(text).indices) - question for text in row["answers"]]
            answers = [answer for answer in answers if answer]
            inside = own[row["book_file"]]
            for index in inside:
                if int(index) not in stems:
                    name, span = self.passages["novels"][index]
                    stems[int(index)] = frozenset(count_words(self.books.open(name).find_text(span)).indices)
            if answers:
                right = [index for index in inside if any(answer <= stems[int(index)] for answer in answers)]
                kept.append((row["question"], np.array(right, dtype=np.int64), inside))
        self.sets.append(
            Questions(
                name="novel answer in book",
                collection="novels",
                texts=[text for text, _, _ in kept],
                right=[right for _, right, _ in kept],
                inside=[inside for _, _, inside in kept],
                measure="hit@5",
            )
        )

    def _add_chapters(self, rows: Sequence[dict[str, Any]]) -> None:
        exact = [row for row in rows if not row["is_aggregate"]]
        spans = sorted({(row["book_file"], row["start"], row["end"]) for row in exact})
        units = np.full(len(self.passages["novels"]), -1)
        for unit, (name, start, end) in enumerate(spans):
            for index in self._overlapping("novels", name, [(start, end)]):
                units[index] = unit
        numbers = {key: index for index, key in enumerate(spans)}
        there = set(units.tolist())
        exact = [row for row in exact if numbers[row["book_file"], row["start"], row["end"]] in there]
        right = [np.array([numbers[row["book_file"], row["start"], row["end"]]]) for row in exact]
        self.sets.append(
            Questions(
                name="summary chapter",
                collection="novels",
                texts=[row["summary"] for row in exact],
                right=right,
                units=units,
                pool="mean",
            )
        )
        of_book = {
            name: np.array([index for index, (own, _, _) in enumerate(spans) if own == name])
            for name in {row["book_file"] for row in exact}
        }
        sentences = [
            (row["summary"][a:b], truth, of_book[row["book_file"]])
            for row, truth in zip(exact, right, strict=True)
            for a, b in sentence_spans(row["summary"])
        ][:: 3 if self._quick else 1]
        self.sets.append(
            Questions(
                name="sentence chapter in book",
                collection="novels",
                texts=[text for text, _, _ in sentences],
                right=[truth for _, truth, _ in sentences],
                inside=[inside for _, _, inside in sentences],
                units=units,
                pool="max",
                measure="hit@1",
            )
        )

    def _add_textbooks(self) -> None:
        questions, summaries = self._rows("openstax_questions_dev"), self._rows("openstax_summaries_dev")
        names = sorted({row["book_file"] for row in questions})
        names = names[:2] if self._quick else names
        borders: dict[str, set[int]] = defaultdict(set)
        for row in (*questions, *summaries):
            borders[row["book_file"]].update((row["start"], row["end"]))
        self._cut("textbooks", names, borders)
        spans = sorted({(row["book_file"], row["start"], row["end"]) for row in (*questions, *summaries)})
        spans = [span for span in spans if span[0] in names]
        units = np.full(len(self.passages["textbooks"]), -1)
        for unit, (name, start, end) in enumerate(spans):
            units[self._overlapping("textbooks", name, [(start, end)])] = unit
        numbers = {key: index for index, key in enumerate(spans)}
        for name, key, rows in (
            ("textbook question", "question", questions),
            ("textbook summary", "summary", summaries),
        ):
            kept = [row for row in rows if row["book_file"] in names]
            self.sets.append(
                Questions(
                    name=name,
                    collection="textbooks",
                    texts=[row[key] for row in kept],
                    right=[np.array([numbers[row["book_file"], row["start"], row["end"]]]) for row in kept],
                    units=units,
                    pool="mean",
                )
            )

    def _add_articles(self) -> None:
        names = sorted({query.book for query in self._articles})
        self._cut("articles", names)
        right = [self._touching("articles", query.book, query.spans) for query in self._articles]
        texts = [query.text for query in self._articles]
        self.sets.append(Questions(name="article passage", collection="articles", texts=texts, right=right))


def _standard(scores: Floats) -> Floats:
    return np.asarray((scores - scores.mean()) / (scores.std() + 1e-9), dtype=np.float32)


def _judge(scores: Floats, right: NDArray[np.int64], measure: str) -> float:
    rank = int((scores > scores[right].max()).sum()) + 1 if len(right) else np.inf
    return 1 / rank if measure == "MRR" else float(rank <= int(measure.partition("@")[2]))
