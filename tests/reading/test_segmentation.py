"""Sections of texts without headings."""

from __future__ import annotations

import random
from itertools import islice
from pathlib import Path

import numpy as np
import pytest

from nlb_retriever import book_from_text
from nlb_retriever.reading.segmentation import LONGEST, SHORTEST, best_borders, find_paragraphs, segment
from nlb_retriever.reading.structure import partition, split_evenly

SEA = "ship sail captain storm harbour anchor deck sailors wind wave mast rope tide gull island compass".split()
FARM = "barn cow field harvest wheat farmer plough fence meadow horse hay mill orchard sheep milk soil".split()


def tell(words: list[str], count: int, seed: int) -> list[str]:
    """Paragraphs that speak of the same few things."""
    draw = random.Random(seed)
    return [
        " ".join(f"He saw the {draw.choice(words)} and the {draw.choice(words)}." for _ in range(8))
        for _ in range(count)
    ]


def test_a_section_begins_where_the_story_turns() -> None:
    turn = "Early in the morning of the following day the two of them came home. " * 3
    text = "\n\n".join([*tell(SEA, 60, 1), turn, *tell(FARM, 60, 2), turn, *tell(SEA, 60, 3)])
    turns = [index for index in range(len(text)) if text.startswith(turn, index)]
    starts = [start for start, _ in segment(text, 0, len(text))]
    assert set(turns) <= set(starts)
    assert len(starts) <= 6


def test_a_section_begins_behind_a_scene_break() -> None:
    scene = "\n\n".join(tell(SEA, 50, 4))
    for mark in ("* * *", "#", "⁂", "--------"):
        text = f"\n\n{mark}\n\n".join([scene] * 4)
        assert [text[start - 2 - len(mark) : start] for start, _ in segment(text, 0, len(text))[1:]] == [
            f"{mark}\n\n"
        ] * 3
    text = "\n\n\n\n".join([scene] * 4)
    assert [start for start, _ in segment(text, 0, len(text))] == [index * (len(scene) + 4) for index in range(4)]


@pytest.mark.parametrize("seed", range(8))
def test_sections_cover_any_text_once_and_are_of_sensible_length(seed: int) -> None:
    draw = random.Random(seed)
    pieces = [
        "word ",
        "Wort. ",
        "«да», ",
        "語。",
        "\n",
        "\n\n",
        "\n \n\t\n",
        "* * *",
        '"Yes!" ',
        "\ud800",
        "\x00",
        "1 ",
    ]
    text = "".join(draw.choice(pieces) * draw.randrange(1, 6) for _ in range(30_000))
    start, stop = 17, len(text) - 5
    spans = segment(text, start, stop)
    assert [start, *(end for _, end in spans)] == [*(begin for begin, _ in spans), stop]
    assert all(SHORTEST <= end - begin <= LONGEST for begin, end in spans)
    parts = partition(text, [], "x")
    assert "".join(text[each.start : each.end] for each in parts) == text


@pytest.mark.parametrize("text", ["", " \n\n ", "one", "***", "***\n\n***", "one\n\n***", "***\n\none", "a\n\n" * 3])
def test_a_short_text_is_one_section(text: str) -> None:
    assert segment(text, 0, len(text)) == [(0, len(text))]


def test_a_text_without_paragraphs_is_cut_by_length() -> None:
    text = "He went on and on without an end. " * 5_000
    sections = book_from_text(text, source="x").sections
    assert all(6_000 < each.end - each.start < 18_000 for each in sections)
    assert "".join(text[each.start : each.end] for each in sections) == text


def test_paragraphs_know_scene_breaks_and_cover_the_text() -> None:
    text = "One.\n\n* * *\n\nTwo.\n\n\n\n\nThree.\n\nFour.\n\n"
    paragraphs = find_paragraphs(text, 0, len(text))
    assert [(each.text, each.breaks) for each in paragraphs] == [
        ("One.", False), ("Two.", True), ("Three.", True), ("Four.", False),
    ]  # fmt: skip
    assert "".join(text[each.start : each.end] for each in paragraphs) == text


def test_the_best_borders_are_the_best_of_all() -> None:
    """Beside all choices of borders among ten paragraphs, with the prior as it is written down."""
    draw = np.random.default_rng(0)
    for _ in range(20):
        scores, sizes = draw.normal(0, 3, 10), draw.uniform(2_000, 20_000, 10)
        ends = np.concatenate([[0.0], np.cumsum(sizes)])

        def total(firsts: list[int], scores: np.ndarray = scores, ends: np.ndarray = ends) -> float:
            lengths = np.diff(ends[[*firsts, 10]])
            if lengths.max() > LONGEST:
                return -np.inf
            prior = -0.5 * ((np.log(lengths) - np.log(16_000)) / 0.7) ** 2 - 50 * (lengths < SHORTEST)
            return float(scores[firsts[1:]].sum() + prior.sum())

        choices = ([0, *(index for index in range(1, 10) if chosen >> index & 1)] for chosen in range(0, 1 << 10, 2))
        assert best_borders(scores, sizes) == max(choices, key=total)


def test_chapters_of_real_books_are_found_without_their_headings(
    data_dir: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """On books that the weights were not learnt from, far more than parts of equal length meet by chance."""
    monkeypatch.syspath_prepend(str(Path(__file__).resolve().parents[2] / "benchmarks"))
    import segmentation as benchmark

    books = list(islice(benchmark.read_collection(data_dir, "val", tmp_path), 8))
    parts = benchmark.measure(books, lambda text: [start for start, _ in split_evenly(text, 0, len(text))])
    found = benchmark.measure(books, lambda text: [section.start for section in partition(text, [], "")])
    assert found.found > 2 * parts.found
    assert found.right > 2 * parts.right
    assert found.pk < parts.pk - 5
    assert found.window_diff < parts.window_diff - 5
