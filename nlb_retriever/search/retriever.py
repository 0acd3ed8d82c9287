"""The reading side: a question to ranked hits at one level, coarse to fine, meaning and words fused."""

from __future__ import annotations

import threading
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, replace
from pathlib import Path
from types import TracebackType
from typing import Literal, cast

import numpy as np

from nlb_retriever.config import Manifest, locate_library
from nlb_retriever.encoding import load_encoder
from nlb_retriever.errors import MismatchError, NlbError, QueryError
from nlb_retriever.model import checkpoint as checkpoints
from nlb_retriever.model.reranker import LEAST_SENTENCES, features, score
from nlb_retriever.model.vectorizer import Question, Vectorizer, clean_question
from nlb_retriever.records import LEVELS, Hit, Level
from nlb_retriever.search.fusion import Pool, from_levels_above, from_passages, make_pool
from nlb_retriever.search.hits import to_hit
from nlb_retriever.search.overlap import gather_evidence
from nlb_retriever.search.scope import Scope, make_scope
from nlb_retriever.store import Filter, LibraryStore, StoredPoint, StoreQuery, open_store
from nlb_retriever.store.engine import PayloadKeys
from nlb_retriever.store.filters import check
from nlb_retriever.text.sentences import sentence_spans

Mode = Literal["fused", "dense", "bm25"]
Strategy = Literal["coarse-to-fine", "flat"]

CANDIDATES = 100
"""Nearest by meaning, and as many by words, that are scored at each level: with 200 and every missing
score looked up, nothing on the dev data gets better; with 30, all gets a little worse."""
READ_CLOSELY = 20
"""Best passages whose sentences decide their order, and so which are the first ten: 0.5 more of 100 of FairytaleQA's
train questions have their answer there than with 10."""
SENTENCE_WEIGHT = 0.2
RERANKED = 50
"""Best sections that the reranker puts in order."""
CHUNKS_READ = 64
"""Most passages of a section that the reranker looks at, evenly spread: bounds its time."""
_KEYS: Mapping[Level, PayloadKeys] = {
    "book": ("book_id",),
    "section": False,  # known by their ids; to fetch any key is to read the section's whole text
    "passage": ("book_id", "section_id"),
}
"""What fusion has to know of a candidate."""
_NEEDED: Mapping[Level, tuple[Level, ...]] = {
    "book": ("book", "passage"),
    "section": ("section", "passage"),
    "passage": LEVELS,
}
"""Levels whose scores make those of a level, coarse to fine."""


@dataclass(frozen=True, kw_only=True)
class Ranking:
    """All candidates of a question, scored, before their texts are fetched."""

    question: str
    level: Level
    scores: Mapping[str, float]
    """Point id -> score."""
    pools: Mapping[Level, Pool]
    dense: Mapping[Level, Sequence[StoredPoint]]
    """What each level's search by vector found, best first, with the cosine as score."""
    words: Mapping[Level, Sequence[StoredPoint]]
    """What each level's search by words found, best first, with BM25 as score."""
    asked: Question | None = None
    """What was searched with; None for words alone."""

    def at(self, level: Level) -> Ranking:
        """The candidates of another level, where this ranking was made coarse to fine from all of them."""
        return self if level == self.level else replace(self, level=level, scores=_scores(level, self.pools))

    def top(self, count: int) -> list[str]:
        return sorted(self.scores, key=lambda point: (-self.scores[point], point))[:count]


class Retriever:
    """Searches a library. Nothing is opened or loaded before the first search.

    Safe to use from several threads. A retriever may stay open while others index: it lets go of the
    library's files between searches when another process waits for them, and sees what is published.

    Args:
        library: its folder, name or server URL; None for the default one.
        device: where questions are encoded; the CPU unless told otherwise.
    """

    def __init__(self, library: str | Path | None = None, *, device: str = "cpu") -> None:
        self._location = locate_library(library)
        self._device = device
        self._opening = threading.Lock()
        self._store: LibraryStore | None = None
        self._loaded: tuple[Manifest, Vectorizer] | None = None
        self._searching = threading.local()

    def __enter__(self) -> Retriever:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def close(self) -> None:
        """Close the library; a later search opens it again, as it is then."""
        with self._opening:
            store, self._store = self._store, None
        if store:
            store.close()  # not under our lock: it waits for searches, and a search may wait for that

    @property
    def store(self) -> LibraryStore:
        """The library.

        Raises:
            LibraryNotFound: there is none.
            StoreError: it is damaged.
        """
        if store := getattr(self._searching, "store", None):
            return cast(LibraryStore, store)
        with self._opening:
            self._store = self._store or open_store(self._location)
            return self._store

    @contextmanager
    def session(self) -> Iterator[None]:
        """`LibraryStore.session`, all of it on one store, even if another thread closes the library meanwhile."""
        before, store = getattr(self._searching, "store", None), self.store
        with store.session():
            self._searching.store = store
            try:
                yield
            finally:
                self._searching.store = before

    @property
    def vectorizer(self) -> Vectorizer:
        """The encoders that the library was made with.

        Raises:
            EncoderError: one is not to be found.
            MismatchError: one is no longer what it was.
        """
        store = self.store
        if not self._loaded or self._loaded[0] != store.manifest:  # another one after a rebuild
            with self._opening:
                if not self._loaded or self._loaded[0] != store.manifest:
                    self._loaded = store.manifest, self._load(store)
                return self._loaded[1]
        return self._loaded[1]

    def _load(self, store: LibraryStore) -> Vectorizer:
        manifest = store.manifest
        encoder = load_encoder(manifest.encoder, device=self._device, use="ask")
        # Opening the levels and reading them for the first time takes as long as compiling the encoder.
        threading.Thread(target=_warm, args=(store,), name="nlb-warm", daemon=True).start()
        checkpoint = checkpoints.pinned(manifest.checkpoint, manifest.checkpoint_sha256)
        for name, given, pinned in (
            (manifest.encoder, encoder.identity.sha256, manifest.encoder_sha256),
            (manifest.checkpoint, checkpoint.sha256, manifest.checkpoint_sha256),
        ):
            if given != pinned:
                raise MismatchError(
                    f"library {self._location} was made with {name} of SHA-256 {pinned[:12]}, the one here is "
                    f"{given[:12]}: run `nlb index --rebuild`, or restore the one it was made with"
                )
        return Vectorizer(encoder, checkpoint)

    def search(
        self,
        question: str,
        *,
        level: Level = "passage",
        limit: int = 10,
        book: str | None = None,
        section: str | None = None,
        before: str | None = None,
        where: Filter | None = None,
        mode: Mode = "fused",
        strategy: Strategy = "coarse-to-fine",
        neighbours: int = 0,
    ) -> list[Hit]:
        """Find what answers a question, best first.

        Args:
            question: words to look for; any length.
            level: what to find.
            limit: at most so many hits.
            book: only in this book: its id, title or path.
            section: only in this section of it, or in the sections of this part: number from 1, id or title.
            before: only in what comes before this section of it.
            where: conditions on the hits' payloads.
            mode: vectors and words together, or one of them alone (which makes it flat).
            strategy: "coarse-to-fine" lets books, sections and passages speak for each other, "flat" only
                the asked level for itself.
            neighbours: passages before and after each passage to show with it, inside its section.

        Raises:
            QueryError: the question is empty, or a name, filter or number cannot be asked with.
            LibraryNotFound, StoreError, EncoderError: see `store` and `vectorizer`.
        """
        if limit < 0 or neighbours < 0:
            raise QueryError(f"limit {limit} and neighbours {neighbours} must not be negative")
        question = clean_question(question)
        scope = make_scope(self.store, book=book, section=section, before=before, where=where)
        asked = self.vectorizer.question(question) if mode != "bm25" else None
        with self.session():
            ranking = self.rank(question, asked, level=level, limit=limit, scope=scope, mode=mode, strategy=strategy)
            hits = self.hits(ranking, limit)
            return [self._widened(hit, neighbours) for hit in hits] if neighbours and level == "passage" else hits

    def search_levels(
        self, question: str, *, limit: int = 10, book: str | None = None, where: Filter | None = None
    ) -> dict[Level, list[Hit]]:
        """The best books, sections and passages for one question, which is encoded and looked up once.

        Takes and raises what `search` does, and gives what three searches would.
        """
        question = clean_question(question)
        scope = make_scope(self.store, book=book, section=None, before=None, where=where)
        asked = self.vectorizer.question(question)
        with self.session():
            ranking = self.rank(question, asked, level="passage", limit=limit, scope=scope)
            return {level: self.hits(ranking.at(level), limit) for level in LEVELS}

    def rank(
        self,
        question: str,
        asked: Question | None,
        *,
        level: Level,
        limit: int,
        scope: Scope,
        mode: Mode = "fused",
        strategy: Strategy = "coarse-to-fine",
    ) -> Ranking:
        """Score the candidates of a question that is encoded."""
        if scope.where is not None:
            check(scope.where, level)  # in the words of the level asked for, not of one that helps it
        flat = strategy == "flat" or mode != "fused"
        levels: tuple[Level, ...] = (level,) if flat else _NEEDED[level]
        count = max(CANDIDATES, limit) if limit else 0
        queries: list[StoreQuery] = []
        for each in levels:
            own = scope if each == level else scope.at(each)
            where, keys = own.filter(each), _KEYS[each]
            if asked is not None and mode != "bm25":
                queries.append(StoreQuery(level=each, dense=asked.at(each), where=where, limit=count, payload=keys))
            if mode != "dense":
                queries.append(StoreQuery(level=each, text=question, where=where, limit=count, payload=keys))
        answers = self.store.search(queries)
        dense: dict[Level, list[StoredPoint]] = {each: [] for each in levels}
        words: dict[Level, list[StoredPoint]] = {each: [] for each in levels}
        for query, answer in zip(queries, answers, strict=True):
            (words if query.dense is None else dense)[query.level] = answer
        if mode != "fused":
            scores = {point.id: point.score for point in dense[level] or words[level]}
            return Ranking(
                question=question, level=level, scores=scores, pools={}, dense=dense, words=words, asked=asked
            )
        pools = {each: make_pool(each, dense[each], words[each]) for each in levels}
        scores = dict(pools[level].scores) if flat else _scores(level, pools)
        return Ranking(
            question=question, level=level, scores=scores, pools=pools, dense=dense, words=words, asked=asked
        )

    def hits(self, ranking: Ranking, limit: int) -> list[Hit]:
        """The best of a ranking with their texts."""
        if ranking.level == "passage" and "section" in ranking.pools:
            return self._passage_hits(ranking, limit)
        if ranking.level == "section" and "passage" in ranking.pools:
            ranking = self._reranked(ranking)
        points = self.store.retrieve(ranking.level, ranking.top(limit))
        if ranking.level == "book":
            return self._book_hits(points, ranking)
        return [to_hit(point, ranking.level, ranking.scores[point.id]) for point in points]

    def read_sections(self, ids: Sequence[str]) -> list[Hit]:
        """Whole sections by id, in the order asked, with score 0; those that are not there are left out.

        `metadata["passages"]` is the ordinal of its first passage and of the one behind its last.
        """
        return [to_hit(point, "section", 0.0) for point in self.store.retrieve("section", ids)]

    def rerank_sections(self, question: str, ids: Sequence[str]) -> dict[str, float]:
        """Judge the first `RERANKED` of some sections by what their passages hold of a long question's sentences.

        Args:
            question: of any length.
            ids: of sections that some search has found; those that are not there are left out.

        Returns:
            Section's id -> score, higher is better, comparable within these only. Nothing where the reranker has
            no say: the question has fewer than `reranker.LEAST_SENTENCES` sentences, fewer than two sections are
            there, or the library's checkpoint has no trained reranker.

        Raises:
            QueryError, LibraryNotFound, StoreError, EncoderError: see `search`.
        """
        question = clean_question(question)
        ids = list(dict.fromkeys(ids))[:RERANKED]
        if len(sentence_spans(question)) < LEAST_SENTENCES or len(ids) < 2:
            return {}
        asked = self.vectorizer.question(question)
        query = StoreQuery(level="section", text=question, ids=tuple(ids), limit=len(ids), payload=False)
        with self.session():
            return self._judge(asked, ids, self.store.search([query])[0])

    def _judge(self, asked: Question | None, ids: Sequence[str], words: Sequence[StoredPoint]) -> dict[str, float]:
        """Scores of sections by the reranker; nothing where it has no say."""
        heads = self.vectorizer.heads
        if heads is None or asked is None or not heads.reranker.any() or len(asked.sentences) < LEAST_SENTENCES:
            return {}
        found = self.store.section_vectors(ids, most=CHUNKS_READ)
        if len(found) < 2:
            return {}
        said = {point.id: point.score for point in words}
        known = features(
            asked.sentences,
            [section.passages for section in found],
            dense=np.array([asked.at("section") @ section.section for section in found]),
            words=np.array([said.get(section.id, 0.0) for section in found]),
        )
        return dict(zip((section.id for section in found), map(float, score(known, heads.reranker)), strict=True))

    def _reranked(self, ranking: Ranking) -> Ranking:
        """Sections put in order by the reranker, the best of them first."""
        best = ranking.top(RERANKED)
        scores = self._judge(ranking.asked, best, ranking.words["section"])
        if not scores:
            return ranking
        lowest = min(scores.values())
        rest = {point: lowest - 1 + value - ranking.scores[best[0]] for point, value in ranking.scores.items()}
        return replace(ranking, scores=rest | scores)

    def _passage_hits(self, ranking: Ranking, limit: int) -> list[Hit]:
        """Passages, the first of them put in order by what their sentences hold of the question."""
        points = self.store.retrieve("passage", ranking.top(max(limit, READ_CLOSELY) if limit else 0))
        best = max(ranking.scores.values(), default=0.0) or 1.0
        evidence = gather_evidence(ranking.question, [point.payload["text"] for point in points[:READ_CLOSELY]])
        bonuses = (*evidence.bonuses, *[0.0] * len(points))
        hits = [
            to_hit(point, "passage", ranking.scores[point.id] / best + SENTENCE_WEIGHT * bonus)
            for point, bonus in zip(points, bonuses, strict=False)
        ]
        return sorted(hits, key=lambda hit: -hit.score)[:limit]

    def _book_hits(self, points: Sequence[StoredPoint], ranking: Ranking) -> list[Hit]:
        """Books shown by their best passage, or by their first where no passage is near."""
        pool = ranking.pools.get("passage")
        best = {book: point for book, (_, point) in pool.best_by("book_id").items()} if pool else {}
        wanted = [best[point.payload["book_id"]] for point in points if point.payload["book_id"] in best]
        shown = {passage.payload["book_id"]: passage for passage in self.store.retrieve("passage", wanted)}
        hits = []
        for point in points:
            book_id = point.payload["book_id"]
            passage = shown.get(book_id) or next(iter(self.store.passages(book_id, 0, 1)), None)
            if passage is None:  # it was removed a moment ago
                continue
            hits.append(to_hit(passage, "book", ranking.scores[point.id], book=point))
        return hits

    def _widened(self, hit: Hit, neighbours: int) -> Hit:
        """A passage with those around it, as one span of the same section."""
        ordinal = hit.metadata["ordinal"]
        around = [
            point
            for point in self.store.passages(hit.book_id, max(0, ordinal - neighbours), ordinal + neighbours + 1)
            if point.payload["section_id"] == hit.section_id
        ]
        sections = self.store.retrieve("section", [hit.section_id]) if hit.section_id else []
        if not around or not sections:
            return hit
        start, end = around[0].payload["start"], around[-1].payload["end"]
        offset = sections[0].payload["start"]
        text = sections[0].payload["text"][start - offset : end - offset]
        return replace(hit, start=start, end=end, page=around[0].payload["page"], text=text)


def _scores(level: Level, pools: Mapping[Level, Pool]) -> dict[str, float]:
    """Scores of a level's candidates, each level speaking for the others."""
    if level == "passage":
        return from_levels_above(pools["passage"], pools["section"], pools["book"])
    return from_passages(level, pools[level], pools["passage"])


def _warm(store: LibraryStore) -> None:
    """Open all levels and look through their vectors once."""
    with suppress(NlbError):  # the search itself will say so
        for level in LEVELS:
            anything = np.zeros(store.manifest.dims[level], dtype=np.float32)
            anything[0] = 1
            store.search([StoreQuery(level=level, dense=anything, limit=1, payload=False)])
