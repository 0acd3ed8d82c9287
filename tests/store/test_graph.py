"""Approximate search: what `optimize` builds for large libraries, and what it may not change."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import uuid
from pathlib import Path

import numpy as np
import pytest
from nlb_retriever.store.edge import EdgeEngine
from nlb_retriever.store.engine import EngineQuery, Floats, Point

from nlb_retriever.records import LEVELS
from nlb_retriever.store import StoreQuery, open_engine, open_store
from tests.conftest import ROOT
from tests.store.books import MANIFEST, make_book, unit

DIM = 48


def clustered(count: int) -> Floats:
    """Vectors that lie in clusters, as those of passages do."""
    dice = np.random.default_rng(7)
    centres = dice.standard_normal((60, DIM))
    return unit(centres[dice.integers(0, 60, count)] + 0.7 * dice.standard_normal((count, DIM)))


def test_a_graph_finds_nine_and_a_half_of_the_ten_nearest(tmp_path: Path) -> None:
    vectors = clustered(12_000)
    first = Point(id=str(uuid.uuid4()), payload={"kind": "state"})
    engine = EdgeEngine(tmp_path, graph_from=2_000)
    engine.create(dict.fromkeys(LEVELS, DIM), first)
    engine.upsert(
        "passage",
        (Point(id=str(uuid.UUID(int=row + 1)), payload={"ordinal": row}, dense=vectors[row]) for row in range(12_000)),
    )
    assert engine.optimize(DIM), "there was something to build"
    questions = unit(vectors[::240] + 0.1 * np.random.default_rng(8).standard_normal((50, DIM)))
    queries = [EngineQuery(vector=row, limit=10, exact=False, payload=False) for row in questions]
    exact = [EngineQuery(vector=row, limit=10, exact=True, payload=False) for row in questions]
    shares = [
        len({hit.id for hit in near} & {hit.id for hit in nearest}) / 10
        for near, nearest in zip(
            engine.query_batch("passage", queries), engine.query_batch("passage", exact), strict=True
        )
    ]
    true = [{str(uuid.UUID(int=int(row) + 1)) for row in np.argsort(-vectors @ one)[:10]} for one in questions]
    assert [{hit.id for hit in hits} for hits in engine.query_batch("passage", exact)] == true
    assert float(np.mean(shares)) >= 0.95
    assert _has_graph(tmp_path)
    assert engine.count("passage") == 12_000
    engine.close()
    assert sorted(path.name for path in tmp_path.iterdir()) == [
        "books", "passages", "queue.lock", "sections", "shards.lock",
    ]  # fmt: skip


def _has_graph(folder: Path) -> bool:
    return any(path.stat().st_size > 50_000 for path in folder.glob("passages/segments/*/*dense/links*.bin"))


def test_optimizing_changes_no_answer(tmp_path: Path) -> None:
    with open_engine(EdgeEngine(tmp_path, graph_from=10_000), create=MANIFEST, writer=True) as store:
        for number in range(1, 10):
            store.publish(*make_book(number, passages=240).parts)
        queries = [
            StoreQuery(level="passage", dense=make_book(3, passages=240).vectors.passages[7], limit=30),
            StoreQuery(level="passage", text="whale storm", limit=30),
            StoreQuery(level="section", dense=make_book(5).vectors.sections[1]),
            StoreQuery(level="book", text="book7"),
        ]
        before = store.search(queries)
        assert store.optimize()
        after = store.search(queries)
        assert [[hit.id for hit in hits] for hits in after[:1]] == [[hit.id for hit in hits] for hits in before[:1]]
        for old, new in zip(before, after, strict=True):
            assert [hit.score for hit in new] == pytest.approx([hit.score for hit in old], abs=1e-5)
        assert store.verify() == []
        store.publish(*make_book(3, edition=1, passages=20).parts)
        store.remove(make_book(4).book.id)
        assert store.verify() == []
        assert store.optimize() in (True, False)
        assert store.count("book") == 8


GRAPH = """
import sys
from pathlib import Path
from nlb_retriever.store import open_engine
from nlb_retriever.store.edge import EdgeEngine
from nlb_retriever.store.lock import WriterLock
with open_engine(EdgeEngine(Path(sys.argv[1]), graph_from=20), writer=True) as store:
    print(store.optimize())
"""


def test_killed_between_old_and_new_graph_a_library_is_still_whole(tmp_path: Path) -> None:
    made = make_book(1, sections=4, passages=10)
    with open_store(tmp_path, create=MANIFEST, writer=True) as store:
        store.publish(*made.parts)
    for failpoint, code in (("swapping", -signal.SIGKILL), ("", 0)):
        environment = {**os.environ, "PYTHONPATH": str(ROOT), "NLB_FAILPOINT": failpoint}
        run = subprocess.run([sys.executable, "-c", GRAPH, str(tmp_path)], env=environment, capture_output=True)
        assert run.returncode == code, run.stderr
        with open_store(tmp_path) as store:
            assert store.book_text(made.book.id) == made.book.text
            assert store.verify() == []
    assert run.stdout.strip() == b"True"
