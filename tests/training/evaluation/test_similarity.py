"""Summaries and chapters of two tiny books, in a space with one axis a keyword."""

from __future__ import annotations

from math import log
from pathlib import Path

import numpy as np
import pytest

from nlb_retriever.errors import EncoderError, QueryError
from nlb_retriever.model import checkpoint
from nlb_retriever.model.config import NextLevelConfig
from nlb_retriever.model.next_level import NextLevelEncoder
from nlb_retriever.model.projections import KINDS, Projection, Projections
from nlb_retriever.model.reranker import FEATURES
from nlb_training.evaluation import similarity
from nlb_training.evaluation.books import BookCollection
from nlb_training.evaluation.lexical import WordIndex
from nlb_training.evaluation.pairs import RankingSet, make_ranking_set
from nlb_training.evaluation.reranked import make_reranked
from nlb_training.evaluation.rows import Row
from nlb_training.evaluation.systems import Space, System, make_baselines, make_trained
from nlb_training.evaluation.vectors import ChunkVectors
from tests.doubles import KeywordEncoder

SEA = "The whale swam. The whale dived. " + "\n\n" + "A duel at dawn. Nobody died. "
LAND = "A horse ran. The horse ate. " + "\n\n" + "The duel was off. The whale was far. "
FIRST, SECOND = (0, 33), (35, len(SEA))
ENCODER = KeywordEncoder("whale", "duel", "horse")


class CountingEncoder(KeywordEncoder):
    """Counts what it is asked to encode."""

    encoded = 0

    def encode(self, texts, *, query=False):  # type: ignore[no-untyped-def]
        self.encoded += len(texts)
        return super().encode(texts, query=query)


def row(query: str, file: str, *spans: tuple[int, int]) -> Row:
    return Row(query=query, file=file, spans=spans, group=file, where="test", values={})


@pytest.fixture
def shelf(tmp_path: Path) -> BookCollection:
    folder = tmp_path / "books"
    folder.mkdir()
    for name, text in (("sea.txt", SEA), ("land.txt", LAND)):
        (folder / name).write_text(text)
    return BookCollection("two", {path.name: path for path in folder.iterdir()}, folder)


def sections(shelf: BookCollection) -> RankingSet:
    rows = [
        row("a whale", "sea.txt", FIRST),
        row("a duel", "sea.txt", SECOND),
        row("a horse", "land.txt", (0, 28)),
        row("whale and whale again", "sea.txt", FIRST),
    ]
    return make_ranking_set("tiny", "summary -> chapter", "section", rows, shelf)


def space(shelf: BookCollection, folder: Path, encoder: KeywordEncoder = ENCODER) -> Space:
    borders = {"sea.txt": [*FIRST, *SECOND], "land.txt": [0, 28]}
    return Space(ChunkVectors(folder, encoder), shelf, borders)


def test_equal_spans_are_one_document_and_every_row_a_query(shelf: BookCollection) -> None:
    pairs = sections(shelf)
    assert [document.text for document in pairs.documents] == [SEA[:33], SEA[35:], LAND[:28]]
    assert pairs.relevant.tolist() == [[1, 0, 0], [0, 1, 0], [0, 0, 1], [1, 0, 0]]
    assert pairs.reverse().relevant.tolist() == [[1, 0, 0, 1], [0, 1, 0, 0], [0, 0, 1, 0]]
    assert pairs.reverse().title == "chapter -> summary"


def test_the_mean_scores_a_span_by_its_own_chunks_alone(shelf: BookCollection, tmp_path: Path) -> None:
    [mean] = make_baselines(["mean"], space(shelf, tmp_path))
    assert mean.score(sections(shelf)) == pytest.approx(
        np.array([[1, 0, 0], [0, 1, 0], [0, 0, 1], [1, 0, 0]]), abs=1e-3
    )


def test_the_untrained_checkpoint_scores_as_the_mean_does(shelf: BookCollection, tmp_path: Path) -> None:
    where = space(shelf, tmp_path)
    [mean] = make_baselines(["mean"], where)
    alone, _ = make_trained(checkpoint.load(checkpoint.UNTRAINED), "ours", where)
    for pairs in (sections(shelf), sections(shelf).reverse()):
        assert np.array_equal(alone.score(pairs), mean.score(pairs))


def test_the_reranker_prefers_the_section_that_tells_it_in_order_and_leaves_short_questions(tmp_path: Path) -> None:
    in_order, backwards = (
        "A whale swam. \n\nA duel at dawn. \n\nA horse ran. ",
        "A horse ran. \n\nA duel at dawn. \n\nA whale swam. ",
    )
    folder = tmp_path / "books"
    folder.mkdir()
    (folder / "in_order.txt").write_text(in_order)
    (folder / "backwards.txt").write_text(backwards)
    shelf = BookCollection("two", {path.name: path for path in folder.iterdir()}, folder)
    spans = [(0, 13), (15, 31), (33, len(in_order))], [(0, 12), (14, 30), (32, len(backwards))]
    borders = {
        file: sorted({edge for span in own for edge in span})
        for file, own in zip(("in_order.txt", "backwards.txt"), spans, strict=True)
    }
    where = Space(ChunkVectors(tmp_path, ENCODER), shelf, borders)
    query = "There is a whale in it. Then there is a duel. Then there is a horse."
    rows = [
        row(query, "in_order.txt", (0, len(in_order))),
        row("A whale and a horse.", "backwards.txt", (0, len(backwards))),
    ]
    pairs = make_ranking_set("tiny", "summary -> chapter", "section", rows, shelf)
    same = Projection(center=np.zeros(4, dtype=np.float32), matrix=np.eye(4, dtype=np.float32))
    projections = Projections(
        **dict.fromkeys(KINDS, same),
        gate=np.array([0, 0, 1], dtype=np.float32),
        reranker=np.array([float(name == "order") for name in FEATURES], dtype=np.float32),
        context=np.zeros(1, dtype=np.float32),
    )
    encoder = NextLevelEncoder(NextLevelConfig(chunk_dim=4, layers=0))
    ours = checkpoint.save(
        encoder,
        tmp_path / "ours",
        name="ours",
        chunk_encoder=ENCODER.identity,
        chunk_tokens=None,
        projections=projections,
    )
    first = make_trained(ours, "ours", where)[1]
    reranked = make_reranked(ours, first, where)
    assert reranked is not None and reranked.fused and not reranked.both_ways
    before, after = first.score(pairs), reranked.score(pairs)
    right = [document.file for document in pairs.documents].index("in_order.txt")
    assert before[0, right] == pytest.approx(before[0, 1 - right])
    assert after[0, right] > after[0, 1 - right] + 1
    assert np.array_equal(after[1], before[1])
    assert make_reranked(checkpoint.load(checkpoint.UNTRAINED), first, where) is None


def test_first_and_max_see_the_first_and_the_nearest_chunk(shelf: BookCollection, tmp_path: Path) -> None:
    rows = [row("a duel", "sea.txt", (0, len(SEA))), row("a horse", "land.txt", (0, len(LAND)))]
    pairs = make_ranking_set("tiny", "summary -> chapter", "section", rows, shelf)
    where = space(shelf, tmp_path)
    first, largest = make_baselines(["first", "max"], where)
    assert first.score(pairs) == pytest.approx(np.array([[0, 0], [0, 1]]), abs=1e-3)
    assert largest.score(pairs) == pytest.approx(np.array([[1, 0.7071], [0, 1]]), abs=1e-3)
    assert largest.score(pairs.reverse()) == pytest.approx(largest.score(pairs).T)


def test_metrics_of_a_set_are_those_of_its_ranks_in_all_books_and_in_the_right_one(shelf: BookCollection) -> None:
    pairs = sections(shelf)
    scores = np.array([[0.5, 0.1, 0.9], [0.9, 0.5, 0.1], [0.0, 0.0, 1.0], [0.9, 0.1, 0.2]])
    values = similarity.compute_metrics(scores, pairs)
    assert values["mrr"].tolist() == [0.5, 0.5, 1, 1]
    assert values["book.mrr"].tolist() == [1, 0.5, 1, 1]
    assert values["hit@1"].tolist() == [0, 0, 1, 1]
    assert values["hit@5"].tolist() == [1, 1, 1, 1]


def test_parts_are_standardized_for_each_query_and_added(shelf: BookCollection) -> None:
    one = System(name="one", parts=(lambda pairs: np.array([[0.0, 0.0, 3.0]]),))
    both = System(name="both", parts=(*one.parts, lambda pairs: np.array([[0.0, 200.0, 100.0]])))
    low, middle, high = both.score(sections(shelf))[0]
    assert middle == pytest.approx(1.2247 - 0.7071, abs=1e-3)
    assert high == pytest.approx(1.4142, abs=1e-3)
    assert low == pytest.approx(-0.7071 - 1.2247, abs=1e-3)


def test_a_trained_system_is_compared_with_the_best_baseline_of_its_kind(shelf: BookCollection) -> None:
    pairs = sections(shelf)
    right = System(name="right", parts=(lambda pairs: pairs.relevant.astype(float),), trained=True)
    wrong = System(name="wrong", parts=(lambda pairs: -pairs.relevant.astype(float),))
    flat = System(name="flat", parts=(lambda pairs: np.zeros(pairs.relevant.shape),))
    _, [difference] = similarity.measure(pairs, [wrong, flat, right])
    assert (difference.system, difference.baseline) == ("right", "wrong")
    assert difference.value == pytest.approx(1 - 1 / 3)


def test_plain_bm25_is_the_formula() -> None:
    documents = ["whale whale duel", "duel horse", "horse"]
    scores = WordIndex(documents).score(["whale", "duel duel"])
    rare, common = log(1 + 2.5 / 1.5), log(1 + 1.5 / 2.5)

    def weight(count: int, length: int) -> float:
        return count * 2.2 / (count + 1.2 * (1 - 0.75 + 0.75 * length / 2))

    assert scores == pytest.approx(
        np.array(
            [[rare * weight(2, 3), 0, 0], [common * weight(1, 3), common * weight(1, 2), 0]],
        )
    )


def test_vectors_are_kept_and_a_damaged_file_is_made_anew(
    shelf: BookCollection, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    pairs = sections(shelf)
    [first] = make_baselines(["mean"], space(shelf, tmp_path, encoder := CountingEncoder(*ENCODER.keywords)))
    wanted = first.score(pairs)
    before = encoder.encoded
    [again] = make_baselines(["mean"], space(shelf, tmp_path, encoder))
    assert np.array_equal(again.score(pairs), wanted)
    assert encoder.encoded == before > 0
    for file in tmp_path.rglob("*.npz"):
        file.write_bytes(file.read_bytes()[:50])
    [mended] = make_baselines(["mean"], space(shelf, tmp_path, encoder))
    assert np.array_equal(mended.score(pairs), wanted)
    assert encoder.encoded == 2 * before
    assert "is damaged" in caplog.text


def test_a_span_without_text_and_an_unknown_baseline_are_refused(shelf: BookCollection, tmp_path: Path) -> None:
    pairs = make_ranking_set("tiny", "a -> b", "section", [row("a whale", "sea.txt", (33, 35))], shelf)
    where = Space(ChunkVectors(tmp_path, ENCODER), shelf, {"sea.txt": [33, 35]})
    with pytest.raises(EncoderError, match="sea.txt: characters 33 to 35 have no text"):
        make_baselines(["mean"], where)[0].score(pairs)
    with pytest.raises(QueryError, match="no baseline 'mode': choose from mean, "):
        make_baselines(["mean+mode"], where)
