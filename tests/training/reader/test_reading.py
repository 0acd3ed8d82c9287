"""Reading passages: windows, spans, and the same answers from the int8 folder as from the network."""

from __future__ import annotations

import resource
import signal
import subprocess
import sys
from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest
import torch
from tokenizers import Tokenizer

from nlb_retriever.encoding.openvino_core import best_precision
from nlb_retriever.errors import EncoderError, TrainingError
from nlb_retriever.reader import load_reader
from nlb_retriever.reader.files import CONFIG, MODEL, WEIGHTS
from nlb_retriever.reader.pairs import QUESTION_TOKENS, cut_windows, make_rows
from nlb_retriever.reader.spans import best_spans, widen
from nlb_retriever.reader.torch_reader import TorchReader
from nlb_training.reader.loop import LoopSettings, run_stage
from nlb_training.reader.quantize import write_reader
from nlb_training.reader.rows import tokenize
from tests.training.reader.conftest import make_network, read_tokenizer
from tests.training.reader.questions import make_examples


def test_windows_cover_everything_and_overlap_by_a_quarter() -> None:
    for length in (1, 99, 100, 101, 175, 1000):
        windows = cut_windows(length, 100)
        assert windows[0][0] == 0
        assert windows[-1][1] == length
        assert all(end - start <= 100 for start, end in windows)
        assert all(end - start >= 25 for (_, end), (start, _) in pairwise(windows))


def test_a_question_of_five_thousand_words_leaves_room_for_the_passage(tokenizer: Tokenizer) -> None:
    (row,) = make_rows(tokenizer, "why " * 5000, ["It rained."])
    assert row.first == QUESTION_TOKENS + 2
    assert len(row.offsets) == 3


def test_the_best_spans_are_those_with_the_highest_sums_and_do_not_overlap() -> None:
    scores = np.zeros((6, 2), dtype=np.float32)
    scores[1, 0], scores[2, 1], scores[4, 0], scores[4, 1] = 5, 5, 4, 4
    spans = best_spans(scores, count=3)
    assert spans[:2] == [(1, 2, 10.0), (4, 4, 8.0)]
    assert all(a[1] < b[0] or b[1] < a[0] for a in spans for b in spans if a != b)


def test_a_span_may_have_to_be_long() -> None:
    scores = np.zeros((6, 2), dtype=np.float32)
    scores[1, 0], scores[1, 1], scores[3, 1] = 5, 5, 4
    assert best_spans(scores, shortest=3) == [(1, 3, 9.0)]
    assert best_spans(scores[:2], shortest=3) == [(0, 1, 5.0)]


def test_a_span_never_ends_before_it_begins() -> None:
    scores = np.zeros((4, 2), dtype=np.float32)
    scores[3, 0], scores[0, 1] = 9, 9
    ((first, last, _),) = best_spans(scores)
    assert first <= last


def test_a_span_is_widened_to_whole_words() -> None:
    assert widen("the harpooneer said", 4, 8) == (4, 14)


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A tiny trained reader's folder."""
    pytest.importorskip("nncf")

    torch.set_num_threads(1)
    network, tokenizer = make_network(), read_tokenizer()
    out = tmp_path_factory.mktemp("reader")
    rows = tokenize(make_examples(1500), tokenizer, longest=64)
    settings = LoopSettings(tokens=1000, learning_rate=5e-3, dropout=0.0, mean_decay=0.9)
    run_stage(network, rows, out / "run", settings)
    calibration = [(each.question, each.candidates[0].text) for each in make_examples(50, seed=1)]
    write_reader(network, tokenizer, out / "made", name="tiny", calibration=calibration)
    return out / "made"


def test_the_int8_folder_reads_as_the_network_does(folder: Path) -> None:
    fast, exact = load_reader(folder), TorchReader.load(folder, device="cpu")
    assert fast.backend == f"openvino {best_precision()}"
    same = total = 0
    for example in make_examples(40, seed=5):
        texts = [each.text for each in example.candidates]
        for one, other in zip(fast.read(example.question, texts), exact.read(example.question, texts), strict=True):
            assert abs(one.relevance - other.relevance) < 1
            first, second = one.spans[0], other.spans[0]
            same += (first.start, first.end) == (second.start, second.end)
            total += 1
    assert same / total > 0.9


def test_a_disk_that_is_full_when_a_reader_is_written_is_one_line(tmp_path: Path) -> None:
    pytest.importorskip("nncf")
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    before = signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    resource.setrlimit(resource.RLIMIT_FSIZE, (20_000, hard))
    try:
        with pytest.raises(TrainingError, match="made cannot be written .*--resume") as caught:
            write_reader(
                make_network(), read_tokenizer(), tmp_path / "made", name="tiny", calibration=[("Who?", "He.")]
            )
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))
        signal.signal(signal.SIGXFSZ, before)
    assert "\n" not in str(caught.value)
    assert not list(tmp_path.iterdir())


def test_the_order_of_passages_changes_nothing(folder: Path) -> None:
    reader = load_reader(folder)
    texts = [each.text for example in make_examples(9, seed=3) for each in example.candidates]
    forward, backward = reader.read("Who has a lamp?", texts), reader.read("Who has a lamp?", texts[::-1])
    assert [each.relevance for each in forward] == pytest.approx([each.relevance for each in backward[::-1]], abs=0.2)


def test_strange_input_has_a_sensible_reading(folder: Path) -> None:
    reader = load_reader(folder)
    assert reader.read("Who?", []) == []
    word, empty, long = reader.read("hm", ["Anna", "", "Anna has a boat. " * 200])
    assert [(span.start, span.end) for span in word.spans] == [(0, 4)]
    assert empty.spans == ()
    assert all(span.end > span.start for span in long.spans)


def test_on_the_cpu_no_torch_is_imported(folder: Path) -> None:
    code = (
        "import sys; from nlb_retriever.reader import load_reader; "
        f"load_reader({str(folder)!r}).read('Who has a boat?', ['Anna has a boat.']); "
        "assert not {'torch', 'transformers'} & set(sys.modules)"
    )
    subprocess.run([sys.executable, "-c", code], check=True)


def test_a_damaged_or_missing_file_is_named(folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("NLB_HOME", str(tmp_path / "home"))  # nothing compiled is there
    with pytest.raises(EncoderError, match=f"has no {CONFIG}"):
        load_reader(tmp_path)
    for name in (CONFIG, MODEL, "tokenizer.json"):
        (tmp_path / name).write_bytes((folder / name).read_bytes())
    (tmp_path / WEIGHTS).write_bytes(b"short")
    with pytest.raises(EncoderError, match=f"{WEIGHTS} is damaged"):
        load_reader(tmp_path).read("Who?", ["Anna"])
