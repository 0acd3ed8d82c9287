"""Plans rounds: draws books and queries, finds candidates with the model as it is, and lets a reader judge them."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
from tokenizers import Tokenizer

from nlb_retriever.errors import TrainingError
from nlb_retriever.reader import Reader
from nlb_training.encoder.bert import Bert
from nlb_training.encoder.books import Span, TokenizedBooks
from nlb_training.encoder.cloze import make_cloze
from nlb_training.encoder.passages import Passages
from nlb_training.encoder.queries import (
    SOURCES,
    Query,
    Source,
    read_articles,
    read_books,
    read_novel_questions,
    read_plots,
    read_summaries,
    read_tales,
    read_titles,
)
from nlb_training.encoder.questions import to_question
from nlb_training.encoder.rounds import Batch, Candidate, Example, draw_candidates, make_batch
from nlb_training.reader.wordings import find_wordings

LENGTHS = (96, 128, 192, 256)
_LENGTH_WEIGHTS = (0.2, 0.25, 0.25, 0.3)
_WINDOW = 20_000
"""Tokens of a book that cloze queries are made from."""
_QUESTIONS = 0.5
"""Share of the summaries' sentences about a person that become questions."""
_FOREIGN = 8
"""Most similar passages of other texts that two candidates of a query are drawn from."""
_OFTEN = 150
"""Places with the words of an answer, of which more tell little."""


@dataclass(frozen=True, kw_only=True)
class Mix:
    """How many queries of each source a step has, and from how many texts a round draws them."""

    steps: int = 100
    """Of a round."""
    summary: int = 18
    summary_books: int = 6
    novel: int = 7
    plot: int = 8
    plot_books: int = 6
    book: int = 1
    title: int = 1
    tale: int = 8
    tale_books: int = 3
    article: int = 5
    article_books: int = 8
    cloze: int = 4
    cloze_books: int = 6

    def __post_init__(self) -> None:
        if self.steps < 1:
            raise TrainingError(f"mix.steps is {self.steps}, must be 1 or more")


class Planner:
    """All training queries and texts.

    Args:
        folder: of the training data.
        tokenizer: the encoder's.
        cache: folder for the tokenized texts.
        mix: of sources.
        reader: judges which of a query's candidates are relevant.
    """

    def __init__(self, folder: Path, tokenizer: Tokenizer, cache: Path, mix: Mix, reader: Reader) -> None:
        self._mix = mix
        self._reader = reader
        articles, texts = read_articles(folder)
        texts |= read_books(folder)
        self.books = TokenizedBooks(tokenizer, cache, texts)
        self._tales: dict[str, list[tuple[Query, Span]]] = defaultdict(list)
        for query, story in read_tales(folder):
            self._tales[query.book].append((query, story))
        self._summaries = _by_book(read_summaries(folder, "summary"), texts)
        self._book_summaries = _by_book(read_summaries(folder, "book"), texts)
        self._novels = _by_book(read_novel_questions(folder, texts), texts)
        self._plots = _by_book(read_plots(texts), texts)
        self._titles = _by_book(read_titles(folder), texts)
        self._articles = _by_book(articles, texts)

    def plan(self, model: Bert, seed: int, number: int) -> list[Batch]:
        """A round, the same for the same model, seed and number."""
        mix = self._mix
        search = _Search(model, self.books, np.random.default_rng([seed, number]))
        found: dict[Source, list[Example]] = {}
        opened = {name: search.open(name) for name in search.draw(self._summaries, mix.summary_books)}
        found["summary"] = search.find(self._summaries, opened, mix.summary * mix.steps)
        found["novel"] = search.find(self._novels, opened, mix.novel * mix.steps)
        found["book"] = search.find(self._book_summaries, opened, mix.book * mix.steps)
        found["title"] = search.find(self._titles, opened, mix.title * mix.steps)
        opened = {name: search.open(name) for name in search.draw(self._plots, mix.plot_books)}
        found["plot"] = search.find(self._plots, opened, mix.plot * mix.steps)
        opened = {name: self._open_tales(name, search) for name in search.draw(self._tales, mix.tale_books)}
        tales = {name: [query for query, _ in self._tales[name]] for name in opened}
        found["tale"] = search.find(tales, opened, mix.tale * mix.steps)
        opened = {name: search.open(name) for name in search.draw(self._articles, mix.article_books)}
        found["article"] = search.find(self._articles, opened, mix.article * mix.steps)
        books = [name for name in self.books.names if not name.startswith("squad/") and name not in self._tales]
        found["cloze"] = search.find_cloze(books, mix.cloze_books, mix.cloze * mix.steps)
        return self._assemble({source: self._read(search.add_foreign(own)) for source, own in found.items()}, search)

    def _open_tales(self, name: str, search: _Search) -> Passages:
        """A collection's passages; none crosses the border of a tale."""
        book = self.books.open(name)
        return search.open(name, within=[book.find_tokens(span) for span in sorted({s for _, s in self._tales[name]})])

    def _read(self, examples: Sequence[Example]) -> list[Example]:
        """Let the reader judge all candidates."""
        return [self._read_one(example) if example.text else example for example in examples]

    def _read_one(self, example: Example) -> Example:
        passages = [each.book.find_text(each.span) for each in example.candidates]
        readings = self._reader.read(example.text, passages)
        judged = (
            replace(each, relevance=reading.relevance)
            for each, reading in zip(example.candidates, readings, strict=True)
        )
        return replace(example, candidates=tuple(judged))

    def _assemble(self, found: Mapping[Source, Sequence[Example]], search: _Search) -> list[Batch]:
        orders = {source: search.random.permutation(len(own)) for source, own in found.items() if own}
        used = dict.fromkeys(orders, 0)
        batches = []
        for _ in range(self._mix.steps):
            examples: list[Example] = []
            for source, order in orders.items():
                for _ in range(int(getattr(self._mix, source))):
                    example = found[source][order[used[source] % len(order)]]
                    used[source] += 1
                    examples.append(draw_candidates(example, search.random))
            if not examples:
                raise TrainingError("there is no query to train on: raise a share of the mix (--set mix.summary=18)")
            batches.append(make_batch(examples, SOURCES))
        return batches


class _Search:
    """Finds the candidates of a round's queries in the texts that it opens.

    Args:
        model: encodes both.
        books: all texts.
        random: of the round.
    """

    def __init__(self, model: Bert, books: TokenizedBooks, random: np.random.Generator) -> None:
        self.random = random
        self._model = model
        self._books = books
        self._opened: list[Passages] = []

    def draw(self, queries: Mapping[str, Sequence[object]], count: int) -> list[str]:
        """Names of texts, more likely ones with more queries."""
        names = sorted(queries)
        if not names:
            return []
        weights = np.array([len(queries[name]) for name in names], dtype=np.float64)
        chosen = self.random.choice(len(names), min(count, len(names)), replace=False, p=weights / weights.sum())
        return [names[index] for index in chosen]

    def open(self, name: str, within: Sequence[Span] | None = None) -> Passages:
        """A text's passages, of a random length."""
        length = int(self.random.choice(LENGTHS, p=_LENGTH_WEIGHTS))
        passages = Passages(self._model, self._books.open(name), length, self.random, within=within)
        self._opened.append(passages)
        return passages

    def find(self, queries: Mapping[str, list[Query]], opened: Mapping[str, Passages], count: int) -> list[Example]:
        """About so many examples of one source, as many from each text."""
        known = [name for name in opened if name in queries]
        examples: list[Example] = []
        for name in known:
            own = queries[name]
            wanted = -(-count // len(known))
            chosen = [
                self._locate(self._as_question(own[index])) for index in self.random.permutation(len(own))[:wanted]
            ]
            texts = [each.text for each in chosen]
            ids, terms = self._books.encode(texts), self._books.find_query_terms(texts)
            examples += opened[name].find(self._model, chosen, ids, terms, self.random)
        return examples

    def find_cloze(self, names: Sequence[str], books: int, count: int) -> list[Example]:
        """Sentences of some of the texts with words removed."""
        examples: list[Example] = []
        books = min(books, len(names))
        wanted = -(-count // max(1, books))
        for index in self.random.choice(len(names), books, replace=False):
            book = self._books.open(names[index])
            start = int(self.random.integers(max(1, len(book.ids) - _WINDOW)))
            passages = self.open(names[index], within=[(start, min(len(book.ids), start + _WINDOW))])
            made = make_cloze(book, passages.spans, wanted, self.random)
            examples += passages.find_cloze(self._model, made, self.random)
        return examples

    def add_foreign(self, examples: Sequence[Example]) -> list[Example]:
        """Add passages of other opened texts that are like the queries."""
        candidates = [Candidate(book=each.book, span=span) for each in self._opened for span in each.spans]
        vectors = np.concatenate([each.vectors for each in self._opened])
        numbers = {each.book.name: number for number, each in enumerate(self._opened)}
        books = np.array([numbers[candidate.book.name] for candidate in candidates])
        result = []
        for example in examples:
            scores = np.where(books == numbers[example.book.name], -np.inf, vectors @ example.vector)
            nearest = np.argpartition(-scores, min(_FOREIGN, len(scores)) - 1)[:_FOREIGN]
            chosen = [candidates[index] for index in self.random.permutation(nearest)[:2] if np.isfinite(scores[index])]
            result.append(replace(example, candidates=(*example.candidates, *chosen)))
        return result

    def _as_question(self, query: Query) -> Query:
        """Turn some of the sentences into questions."""
        drawn = query.source in ("summary", "book") and self.random.random() < _QUESTIONS
        question = to_question(query.text) if drawn else None
        return replace(query, text=question) if question else query

    def _locate(self, query: Query) -> Query:
        """Of a query whose answer is known, where its span says it; nowhere if that is too often."""
        if not query.answers:
            return query
        ((start, end),) = query.spans
        found = find_wordings(self._books.open(query.book).text[start:end], query.text, query.answers)
        places = found if len(found) <= _OFTEN else []
        return replace(query, spans=tuple((start + first, start + last) for first, last in places))


def _by_book(queries: Iterable[Query], texts: Mapping[str, str]) -> dict[str, list[Query]]:
    """Queries by their text, where there is one."""
    result: dict[str, list[Query]] = defaultdict(list)
    for query in queries:
        if query.book in texts:
            result[query.book].append(query)
    return dict(result)
