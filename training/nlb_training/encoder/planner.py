"""Plans rounds: draws books and queries, finds each query's passage with the model as it is, and hard negatives."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
from tokenizers import Tokenizer

from nlb_training.encoder.bert import Bert
from nlb_training.encoder.books import Span, TokenizedBooks
from nlb_training.encoder.cloze import make_cloze
from nlb_training.encoder.mining import weigh_ids
from nlb_training.encoder.passages import Passages
from nlb_training.encoder.queries import (
    SOURCES,
    Query,
    Source,
    read_articles,
    read_books,
    read_summaries,
    read_tales,
    read_titles,
)
from nlb_training.encoder.questions import to_question
from nlb_training.encoder.rounds import Batch, Pair, make_batch

LENGTHS = (64, 96, 128, 192, 256)
_LENGTH_WEIGHTS = (0.2, 0.25, 0.25, 0.15, 0.15)
_WINDOW = 20_000
"""Tokens of a book that cloze queries are made from."""
_CANDIDATES = 1.7
"""Queries that are encoded for each that is trained on."""
_QUESTIONS = 0.5
"""Share of the summaries' sentences about a person that become questions."""
_EASY = 0.1
"""A query is easy if its right passage leads all wrong ones by more, in cosine."""
_EASY_SHARE = 0.25
"""Weight of an easy query beside others."""


@dataclass(frozen=True, kw_only=True)
class Mix:
    """How many queries of each source a step has, and from how many texts a round draws them."""

    steps: int = 100
    """Of a round."""
    summary: int = 24
    summary_books: int = 6
    group: int = 8
    """Queries from one text that stand in one batch: their passages are each other's negatives."""
    book: int = 1
    title: int = 1
    tale: int = 10
    tale_books: int = 3
    article: int = 4
    article_books: int = 8
    cloze: int = 4
    cloze_books: int = 6


class Planner:
    """All training queries and texts.

    Args:
        folder: of the training data.
        tokenizer: the encoder's.
        cache: folder for the tokenized texts.
        mix: of sources.
    """

    def __init__(self, folder: Path, tokenizer: Tokenizer, cache: Path, mix: Mix) -> None:
        self._mix = mix
        articles, texts = read_articles(folder)
        self.books = TokenizedBooks(tokenizer, cache, {**read_books(folder), **texts})
        self._tales: dict[str, list[tuple[Query, Span]]] = defaultdict(list)
        for query, story in read_tales(folder):
            self._tales[query.book].append((query, story))
        self._summaries = _by_book(query for query in read_summaries(folder) if query.source == "summary")
        self._book_summaries = _by_book(query for query in read_summaries(folder) if query.source == "book")
        self._titles = _by_book(read_titles(folder))
        self._articles = _by_book(articles)
        for group in (self._summaries, self._book_summaries, self._titles):
            for name in [name for name in group if name not in self.books]:
                del group[name]

    def plan(self, model: Bert, seed: int, number: int) -> list[Batch]:
        """A round, the same for the same model, seed and number."""
        mix = self._mix
        pairing = _Pairing(model, self.books, np.random.default_rng([seed, number]), group=mix.group)
        groups: dict[Source, list[list[Pair]]] = {}
        opened = {name: pairing.open(name) for name in pairing.draw(self._summaries, mix.summary_books)}
        groups["summary"] = pairing.pair_chained(self._summaries, opened, mix.summary * mix.steps)
        groups["book"] = pairing.pair_chained(self._book_summaries, opened, mix.book * mix.steps)
        groups["title"] = pairing.pair_chained(self._titles, opened, mix.title * mix.steps)
        opened = {name: self._open_tales(name, pairing) for name in pairing.draw(self._tales, mix.tale_books)}
        tales = {name: [query for query, _ in self._tales[name]] for name in opened}
        groups["tale"] = pairing.pair_exact(tales, opened, mix.tale * mix.steps)
        opened = {name: pairing.open(name) for name in pairing.draw(self._articles, mix.article_books)}
        articles = {name: self._articles[name] for name in opened}
        groups["article"] = pairing.pair_exact(articles, opened, mix.article * mix.steps)
        books = [name for name in self.books.names if not name.startswith("squad/") and name not in self._tales]
        groups["cloze"] = pairing.pair_cloze(books, mix.cloze_books, mix.cloze * mix.steps)
        return self._assemble(groups, pairing.random)

    def _open_tales(self, name: str, pairing: _Pairing) -> Passages:
        """A collection's passages; none crosses the border of a tale."""
        book = self.books.open(name)
        return pairing.open(name, within=[book.find_tokens(span) for span in sorted({s for _, s in self._tales[name]})])

    def _assemble(self, groups: Mapping[Source, list[list[Pair]]], random: np.random.Generator) -> list[Batch]:
        shuffled = {
            source: [own[index] for index in random.permutation(len(own))] for source, own in groups.items() if own
        }
        used = dict.fromkeys(shuffled, 0)
        pairs_of_round = [pair for own in groups.values() for group in own for pair in group]
        rarity = weigh_ids([pair.book.ids[slice(*pair.positive)] for pair in pairs_of_round])
        batches = []
        for _ in range(self._mix.steps):
            pairs: list[Pair] = []
            for source, own in shuffled.items():
                missing = int(getattr(self._mix, source))
                while missing > 0:
                    group = own[used[source] % len(own)][:missing]
                    used[source] += 1
                    pairs += group
                    missing -= len(group)
            batches.append(make_batch(pairs, SOURCES, rarity))
        return batches


class _Pairing:
    """Pairs queries with passages of opened texts, for one round.

    Args:
        model: encodes both.
        books: all texts.
        random: of the round.
        group: queries of one text in a batch.
    """

    def __init__(self, model: Bert, books: TokenizedBooks, random: np.random.Generator, *, group: int) -> None:
        self.random = random
        self._model = model
        self._books = books
        self._group = group

    def draw(self, queries: Mapping[str, Sequence[object]], count: int) -> list[str]:
        """Names of texts, more likely ones with more queries."""
        names = sorted(queries)
        weights = np.array([len(queries[name]) for name in names], dtype=np.float64)
        chosen = self.random.choice(len(names), min(count, len(names)), replace=False, p=weights / weights.sum())
        return [names[index] for index in chosen]

    def open(self, name: str, within: Sequence[Span] | None = None) -> Passages:
        """A text's passages, of a random length."""
        length = int(self.random.choice(LENGTHS, p=_LENGTH_WEIGHTS))
        return Passages(self._model, self._books.open(name), length, self.random, within=within)

    def pair_chained(
        self, queries: Mapping[str, list[Query]], opened: Mapping[str, Passages], count: int
    ) -> list[list[Pair]]:
        """Queries whose passage is only roughly known: sentences of summaries and titles."""
        known = [name for name in opened if name in queries]
        groups: list[list[Pair]] = []
        for name in known:
            chains: dict[int, list[Query]] = defaultdict(list)
            for number, query in enumerate(queries[name]):
                chains[query.chain if query.chain >= 0 else -1 - number].append(query)
            wanted = -(-count // len(known))
            chosen: list[Query] = []
            order = [list(chains)[index] for index in self.random.permutation(len(chains))]
            for chain in order:
                if len(chosen) >= _CANDIDATES * wanted:
                    break
                chosen += chains[chain]
            ids = self._books.encode([each.text for each in chosen])
            pairs = opened[name].pair_bags(self._model, chosen, ids, self.random)
            pairs = self._as_questions(pairs) if chosen[0].chain >= 0 else pairs
            groups += self._select(pairs, wanted, self._group)
        return groups

    def pair_exact(
        self, queries: Mapping[str, list[Query]], opened: Mapping[str, Passages], count: int
    ) -> list[list[Pair]]:
        """Questions whose evidence is marked."""
        groups: list[list[Pair]] = []
        for name, own in queries.items():
            wanted = -(-count // len(queries))
            chosen = [own[index] for index in self.random.permutation(len(own))[: int(_CANDIDATES * wanted)]]
            ids = self._books.encode([each.text for each in chosen])
            pairs = opened[name].pair_exact(self._model, chosen, ids, self.random)
            groups += self._select(pairs, wanted, self._group // 2)
        return groups

    def pair_cloze(self, names: Sequence[str], books: int, count: int) -> list[list[Pair]]:
        """Sentences of some of the texts with words removed."""
        groups: list[list[Pair]] = []
        wanted = -(-count // books)
        for index in self.random.choice(len(names), books, replace=False):
            book = self._books.open(names[index])
            start = int(self.random.integers(max(1, len(book.ids) - _WINDOW)))
            passages = self.open(names[index], within=[(start, min(len(book.ids), start + _WINDOW))])
            made = make_cloze(book, passages.spans, int(_CANDIDATES * wanted), self.random)
            groups += self._select(passages.pair_cloze(self._model, made, self.random), wanted, self._group // 2)
        return groups

    def _as_questions(self, pairs: Sequence[Pair]) -> list[Pair]:
        """Turn some of the sentences into questions."""
        drawn = self.random.random(len(pairs)) < _QUESTIONS
        questions = [to_question(pair.text) if own else None for pair, own in zip(pairs, drawn, strict=True)]
        encoded = self._books.encode([text or "" for text in questions])
        return [
            replace(pair, query=ids) if text else pair
            for pair, text, ids in zip(pairs, questions, encoded, strict=True)
        ]

    def _select(self, pairs: Sequence[Pair], wanted: int, size: int) -> list[list[Pair]]:
        """Some of the pairs in random groups of at most `size`."""
        selected = select_pairs(pairs, wanted, self.random)
        mixed = [selected[index] for index in self.random.permutation(len(selected))]
        return [mixed[start : start + size] for start in range(0, len(mixed), size)]


def select_pairs(pairs: Sequence[Pair], wanted: int, random: np.random.Generator) -> list[Pair]:
    """Some of the pairs, hard ones rather than easy ones."""
    weights = np.array([_EASY_SHARE if pair.lead > _EASY else 1.0 for pair in pairs])
    if len(pairs) <= wanted:
        return list(pairs)
    chosen = random.choice(len(pairs), wanted, replace=False, p=weights / weights.sum())
    return [pairs[index] for index in np.sort(chosen)]


def _by_book(queries: Any) -> dict[str, list[Query]]:
    result: dict[str, list[Query]] = defaultdict(list)
    for query in queries:
        result[query.book].append(query)
    return dict(result)
