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
from nlb_training.encoder.books import Shelf, Span
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
"""Queries that are looked at for each that is trained on."""
_QUESTIONS = 0.5
"""Share of the summaries' sentences that are made questions, where their subject is a person."""
_EASY = 0.1
"""By how much, in cosine, the right passage of an easy query leads: there is little left to learn."""
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
        cache: folder for what is tokenised.
        mix: of sources.
    """

    def __init__(self, folder: Path, tokenizer: Tokenizer, cache: Path, mix: Mix) -> None:
        self._mix = mix
        articles, texts = read_articles(folder)
        self.shelf = Shelf(tokenizer, cache, {**read_books(folder), **texts})
        self._tales: dict[str, list[tuple[Query, Span]]] = defaultdict(list)
        for query, story in read_tales(folder):
            self._tales[query.book].append((query, story))
        self._summaries = _by_book(query for query in read_summaries(folder) if query.source == "summary")
        self._book_summaries = _by_book(query for query in read_summaries(folder) if query.source == "book")
        self._titles = _by_book(read_titles(folder))
        self._articles = _by_book(articles)
        for group in (self._summaries, self._book_summaries, self._titles):
            for name in [name for name in group if name not in self.shelf]:
                del group[name]

    def plan(self, model: Bert, seed: int, number: int) -> list[Batch]:
        """A round, the same for the same model, seed and number."""
        random = np.random.default_rng([seed, number])
        mix = self._mix
        groups: dict[Source, list[list[Pair]]] = {}
        names = _draw(self._summaries, mix.summary_books, random)
        opened = {name: Passages(model, self.shelf.open(name), _length(random), random) for name in names}
        groups["summary"] = self._chained(model, self._summaries, opened, mix.summary * mix.steps, random)
        groups["book"] = self._chained(model, self._book_summaries, opened, mix.book * mix.steps, random)
        groups["title"] = self._chained(model, self._titles, opened, mix.title * mix.steps, random)
        groups["tale"] = self._tale_pairs(model, mix.tale * mix.steps, random)
        names = _draw(self._articles, mix.article_books, random)
        opened = {name: Passages(model, self.shelf.open(name), _length(random), random) for name in names}
        groups["article"] = self._exact(
            model, {name: self._articles[name] for name in names}, opened, mix.article * mix.steps, random
        )
        groups["cloze"] = self._cloze_pairs(model, mix.cloze * mix.steps, random)
        return self._assemble(groups, random)

    def _chained(
        self,
        model: Bert,
        queries: Mapping[str, list[Query]],
        opened: Mapping[str, Passages],
        count: int,
        random: np.random.Generator,
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
            order = [list(chains)[index] for index in random.permutation(len(chains))]
            for chain in order:
                if len(chosen) >= _CANDIDATES * wanted:
                    break
                chosen += chains[chain]
            pairs = opened[name].pair_bags(model, chosen, self.shelf.encode([each.text for each in chosen]), random)
            pairs = self._as_questions(pairs, random) if chosen[0].chain >= 0 else pairs
            groups += _grouped(select_pairs(pairs, wanted, random), self._mix.group, random)
        return groups

    def _as_questions(self, pairs: Sequence[Pair], random: np.random.Generator) -> list[Pair]:
        """Some of the sentences turned to questions."""
        drawn = random.random(len(pairs)) < _QUESTIONS
        asked = [to_question(pair.text) if own else None for pair, own in zip(pairs, drawn, strict=True)]
        encoded = self.shelf.encode([text or "" for text in asked])
        return [
            replace(pair, query=ids) if text else pair for pair, text, ids in zip(pairs, asked, encoded, strict=True)
        ]

    def _exact(
        self,
        model: Bert,
        queries: Mapping[str, list[Query]],
        opened: Mapping[str, Passages],
        count: int,
        random: np.random.Generator,
    ) -> list[list[Pair]]:
        """Questions whose evidence is marked."""
        groups: list[list[Pair]] = []
        for name, own in queries.items():
            wanted = -(-count // len(queries))
            chosen = [own[index] for index in random.permutation(len(own))[: int(_CANDIDATES * wanted)]]
            pairs = opened[name].pair_exact(model, chosen, self.shelf.encode([each.text for each in chosen]), random)
            groups += _grouped(select_pairs(pairs, wanted, random), self._mix.group // 2, random)
        return groups

    def _tale_pairs(self, model: Bert, count: int, random: np.random.Generator) -> list[list[Pair]]:
        names = _draw(
            {name: [query for query, _ in own] for name, own in self._tales.items()}, self._mix.tale_books, random
        )
        queries, opened = {}, {}
        for name in names:
            stories = sorted({story for _, story in self._tales[name]})
            book = self.shelf.open(name)
            opened[name] = Passages(
                model, book, _length(random), random, within=[book.find_tokens(story) for story in stories]
            )
            queries[name] = [query for query, _ in self._tales[name]]
        return self._exact(model, queries, opened, count, random)

    def _cloze_pairs(self, model: Bert, count: int, random: np.random.Generator) -> list[list[Pair]]:
        """Sentences of the books themselves, as people half remember them."""
        books = [name for name in self.shelf.names if not name.startswith("squad/") and name not in self._tales]
        groups = []
        wanted = -(-count // self._mix.cloze_books)
        for index in random.choice(len(books), self._mix.cloze_books, replace=False):
            book = self.shelf.open(books[index])
            start = int(random.integers(max(1, len(book.ids) - _WINDOW)))
            window = (start, min(len(book.ids), start + _WINDOW))
            passages = Passages(model, book, _length(random), random, within=[window])
            made = make_cloze(book, passages.spans, int(_CANDIDATES * wanted), random)
            pairs = select_pairs(passages.pair_cloze(model, made, random), wanted, random)
            groups += _grouped(pairs, self._mix.group // 2, random)
        return groups

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
                room = int(getattr(self._mix, source))
                while room > 0:
                    group = own[used[source] % len(own)][:room]
                    used[source] += 1
                    pairs += group
                    room -= len(group)
            batches.append(make_batch(pairs, SOURCES, rarity))
        return batches


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


def _draw(queries: Mapping[str, Sequence[object]], count: int, random: np.random.Generator) -> list[str]:
    """Texts, likelier the more queries they have."""
    names = sorted(queries)
    weights = np.array([len(queries[name]) for name in names], dtype=np.float64)
    chosen = random.choice(len(names), min(count, len(names)), replace=False, p=weights / weights.sum())
    return [names[index] for index in chosen]


def _grouped(pairs: Sequence[Pair], size: int, random: np.random.Generator) -> list[list[Pair]]:
    mixed = [pairs[index] for index in random.permutation(len(pairs))]
    return [mixed[start : start + size] for start in range(0, len(mixed), size)]


def _length(random: np.random.Generator) -> int:
    return int(random.choice(LENGTHS, p=_LENGTH_WEIGHTS))
