from __future__ import annotations

import errno
import json
import os
import shutil
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from nlb_retriever.encoding import EncoderIdentity
from nlb_retriever.errors import EncoderError, MismatchError, TrainingError, TrainingInterrupted
from nlb_retriever.model import checkpoint
from nlb_retriever.model.checkpoint import FILES
from nlb_training import run as training_run
from nlb_training.corpus import Chunking, open_corpus
from nlb_training.data.examples import read_examples
from nlb_training.events import StageEvent, TrainingEvent
from nlb_training.presets import read_preset
from nlb_training.report import Request
from nlb_training.run import train
from tests.doubles import KeywordEncoder
from tests.training.books import KEYWORDS, CountingEncoder, write_books
from tests.training.memory import no_old_garbage  # noqa: F401  (a fixture of every test here)

STAGES = ("corpus", "examples", "pretraining", "retrieval", "saving")
CHANGES = (
    "loop.device=cpu",
    "loop.steps=6",
    "loop.checkpoint_every=2",
    "corpus.held_out=0.3",
    "corpus.offsets=[0,0.5]",
)


@pytest.fixture(autouse=True)
def keywords(monkeypatch: pytest.MonkeyPatch) -> None:
    """The chunk encoder of all runs here."""
    use(monkeypatch, KEYWORDS)


def use(monkeypatch: pytest.MonkeyPatch, encoder: KeywordEncoder) -> None:
    def identify(_name: str) -> EncoderIdentity:
        return encoder.identity

    def load(_name: str, *, device: str) -> KeywordEncoder:
        return encoder

    monkeypatch.setattr(training_run, "identify_encoder", identify)
    monkeypatch.setattr(training_run, "load_encoder", load)


def ask(folder: Path, out: str = "whales", *, changes: tuple[str, ...] = CHANGES, **more: Any) -> Request:
    if not (folder / "books").exists():
        write_books(folder / "books", 4)
    preset = read_preset("tiny", changes)
    return Request(books=(str(folder / "books"),), out=folder / out, preset=preset, **more)


class Stopper:
    """Stops a run like Ctrl-C at the n-th step, or where a stage begins."""

    def __init__(self, *, step: int = 0, stage: str = "") -> None:
        self.step, self.stage = step, stage

    def __call__(self, event: object) -> None:
        if isinstance(event, TrainingEvent) and event.kind == "step" and event.step == self.step:
            raise KeyboardInterrupt
        if isinstance(event, StageEvent) and event.stage == self.stage:
            raise KeyboardInterrupt


@pytest.fixture(scope="module")
def finished(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with books and the run `whales` on them, for tests that copy it or only read it."""
    folder = tmp_path_factory.mktemp("finished")
    with pytest.MonkeyPatch.context() as monkeypatch:
        use(monkeypatch, KEYWORDS)
        train(ask(folder, command="nlb train books --out whales", licences={"books": "public domain"}))
    return folder


def test_a_run_leaves_a_checkpoint_with_its_card_settings_and_curve(finished: Path) -> None:
    made = checkpoint.load(finished / "whales")
    assert (made.name, made.config.chunk_tokens) == ("whales", 32)
    made.check(KEYWORDS.identity, 32)
    assert made.build().config.hidden == 32
    assert {path.name for path in (finished / "whales").iterdir()} == {
        *(FILES.config, FILES.weights, "README.md", "training.json", "loss.json", "loss.png", "run"),
        *("retrieval-loss.json", "retrieval-loss.png"),
    }
    card = (finished / "whales" / "README.md").read_text()
    for fact in (
        "# whales",
        f"SHA-256 of its weights `{'0' * 64}`",
        "nlb train books --out whales",
        "4 books",
        "Licence: public domain",
        "Retrieval training of the projections: ",
        "examples on 4 of 4 books, started from whitened, 5 steps",
        "| section, title | ",
        "Preset tiny, seed 0.",
        "6 steps, loss ",
        "| held-out books, after step | loss | cosine | accuracy |",
        "(32 tokens; 32 tokens from 16)",
        '"weight_decay": 0.01',
        "torch 2.",
        made.sha256,
    ):
        assert fact in card
    facts = json.loads((finished / "whales" / "training.json").read_text())
    assert facts["settings"]["preset"] == json.loads(json.dumps(read_preset("tiny", CHANGES).to_dict()))
    assert [book["file"] for book in facts["data"]["books"]["files"]] == [f"book{number}.md" for number in range(4)]
    losses = json.loads((finished / "whales" / "loss.json").read_text())
    assert len(losses["losses"]) == 6


def test_a_finished_run_is_not_done_again(finished: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    counting = CountingEncoder()
    use(monkeypatch, counting)
    before = {path: path.stat().st_mtime_ns for path in (finished / "whales").rglob("*") if path.is_file()}
    events: list[object] = []
    report = train(ask(finished), resume=True, observer=events.append)
    assert counting.calls == []
    assert events == [StageEvent(stage=stage, done=True) for stage in STAGES]
    assert {path: path.stat().st_mtime_ns for path in (finished / "whales").rglob("*") if path.is_file()} == before
    made = report.to_json()
    assert made["sha256"] == checkpoint.load(finished / "whales").sha256
    assert (made["books"], made["pretraining"]["steps"], made["failed"]) == (4, 6, [])


@pytest.mark.parametrize(
    "stopper",
    [Stopper(stage="examples"), Stopper(step=3), Stopper(stage="retrieval"), Stopper(stage="saving")],
    ids=["examples", "step", "retrieval", "saving"],
)
def test_a_run_stopped_anywhere_goes_on_to_the_same_checkpoint(
    finished: Path, tmp_path: Path, stopper: Stopper, monkeypatch: pytest.MonkeyPatch
) -> None:
    with pytest.raises((KeyboardInterrupt, TrainingInterrupted)):
        train(ask(finished, str(tmp_path / "whales")), observer=stopper)
    assert not (tmp_path / "whales" / FILES.config).exists()
    counting = CountingEncoder()
    use(monkeypatch, counting)
    report = train(ask(finished, str(tmp_path / "whales")), resume=True)
    queries = 0 if stopper.stage == "saving" else 1
    assert len(counting.calls) == queries  # no book is encoded again, queries only where they were not yet
    assert report.checkpoint.sha256 == checkpoint.load(finished / "whales").sha256


def test_a_resume_with_other_settings_is_refused_with_the_differences(finished: Path, tmp_path: Path) -> None:
    other = ask(finished, changes=(*CHANGES, "loop.steps=9", "pretraining.masking=0.3"))
    with pytest.raises(
        TrainingError, match=r"preset.pretraining.masking is 0.3, was 0.15; preset.loop.steps is 9, was 6: u"
    ):
        train(other, resume=True)
    with pytest.raises(TrainingError, match=r"cannot be resumed with other settings: books is \['.*/x'\], was "):
        train(replace(ask(finished), books=("x",)), resume=True)
    with pytest.raises(
        TrainingError, match=r"whales holds an earlier run: go on with it \(--resume\), or name another"
    ):
        train(ask(finished))
    with pytest.raises(TrainingError, match="none holds no run to resume: start it without --resume"):
        train(ask(finished, str(tmp_path / "none")), resume=True)
    (tmp_path / "photos").mkdir()
    (tmp_path / "photos" / "cat.jpg").touch()
    with pytest.raises(TrainingError, match=r"photos holds other files: name an empty or new folder"):
        train(ask(finished, str(tmp_path / "photos")))
    assert [path.name for path in (tmp_path / "photos").iterdir()] == ["cat.jpg"]


def test_a_folder_in_which_another_process_trains_is_refused_from_the_first_book_on(tmp_path: Path) -> None:
    request = ask(tmp_path)
    refused: list[str] = []

    def start_again(event: object) -> None:
        if isinstance(event, StageEvent) and not event.done:
            with pytest.raises(TrainingError, match="another process trains in .*whales"):
                train(request, resume=event.stage != "corpus")
            refused.append(event.stage)

    train(request, observer=start_again)
    assert refused == ["corpus", "examples", "pretraining", "retrieval", "saving"]


def test_damaged_examples_are_named_and_not_left_out(finished: Path, tmp_path: Path) -> None:
    out = shutil.copytree(finished / "whales", tmp_path / "torn")
    file = out / "run" / "examples.jsonl"
    os.truncate(file, file.stat().st_size - 9)
    with pytest.raises(TrainingError, match=r"examples\.jsonl line \d+: is not JSON .*: delete .*, and run"):
        train(ask(finished, str(out)), resume=True)


def test_another_seed_gives_another_encoder(finished: Path, tmp_path: Path) -> None:
    more = ask(
        finished, str(tmp_path / "other"), changes=(*CHANGES, "loop.seed=1"), corpus=finished / "whales/run/corpus"
    )
    assert train(more).checkpoint.sha256 != checkpoint.load(finished / "whales").sha256


def test_a_run_goes_on_from_a_checkpoint_with_that_ones_shape(finished: Path, tmp_path: Path) -> None:
    changes = (*CHANGES, "model.hidden=64", "loop.learning_rate=1e-9", "loop.steps=2")
    report = train(ask(finished, str(tmp_path / "on"), changes=changes, start=str(finished / "whales")))
    made, begun = report.checkpoint.build(), checkpoint.load(finished / "whales").build()
    assert made.config == begun.config
    for (name, mine), theirs in zip(made.state_dict().items(), begun.state_dict().values(), strict=True):
        np.testing.assert_allclose(mine.numpy(), theirs.numpy(), atol=1e-6, err_msg=name)
    assert "- started from: whales" in (tmp_path / "on" / "README.md").read_text()


def test_a_start_that_cannot_be_used_is_named_before_anything_is_made(
    finished: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    torn = shutil.copytree(finished / "whales", tmp_path / "torn", ignore=shutil.ignore_patterns("run"))
    os.truncate(torn / FILES.weights, 100)
    with pytest.raises(EncoderError, match=r"model.safetensors is damaged: 100 bytes with SHA-256"):
        train(ask(tmp_path, start=str(torn)))
    (torn / FILES.weights).unlink()
    with pytest.raises(EncoderError, match=r"cannot read .*model.safetensors"):
        train(ask(tmp_path, start=str(torn)))
    with pytest.raises(MismatchError, match="trained on chunks of 32 tokens, not 64: use 32"):
        train(ask(tmp_path, start=str(finished / "whales"), changes=("corpus.tokens=64",)))
    use(monkeypatch, KeywordEncoder(*"abcdef", name="twin", sha256="1" * 64))
    with pytest.raises(MismatchError, match=r"vectors of keywords \(000000000000\), this is twin \(111111111111\)"):
        train(ask(tmp_path, start=str(finished / "whales")))
    assert not (tmp_path / "whales").exists()


def test_a_model_folder_that_was_not_fetched_whole_is_one_line(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.undo()
    model = tmp_path / "model"
    model.mkdir()
    (model / "config.json").write_text('{"model_type": "bert"}')
    with pytest.raises(EncoderError, match=r"model holds no weights \(\*.safetensors\)") as caught:
        train(ask(tmp_path, chunk_encoder=str(model)))
    assert "\n" not in str(caught.value)
    assert not (tmp_path / "whales").exists()


def test_rows_that_are_given_are_used_their_borders_kept_and_wrong_ones_told(tmp_path: Path) -> None:
    request = ask(tmp_path, changes=(*CHANGES, "examples.titles=false", "examples.sentences=0"))
    rows = tmp_path / "rows.jsonl"
    good = {"query": "Who dives?", "file": "book1.md", "start": 300, "end": 700, "licence": "CC0"}
    far = {"query": "Who?", "file": "book1.md", "start": 3, "end": 7_000_000}
    rows.write_text("".join(f"{json.dumps(row)}\n" for row in (good, {"query": "Who?"}, far)))
    report = train(replace(request, examples=(rows,), corpus=tmp_path / "shared"))
    length = open_corpus(tmp_path / "shared").books[2].characters
    assert dict(report.examples) == {"summary": 1}
    assert [str(problem) for problem in report.problems] == [
        f"{rows} line 2: has no `file`: name the book's file",
        f"{rows} line 3: ends at 7000000, but book1.md has {length} characters",
    ]
    [example] = read_examples(tmp_path / "whales" / "run" / "examples.jsonl")[0]
    assert (example.query, example.spans, example.file) == (
        "Who dives?",
        ((300, 700),),
        str(tmp_path / "books/book1.md"),
    )
    corpus = open_corpus(tmp_path / "shared")
    for book in corpus.books:
        if book.file == "book1.md":
            spans = corpus.spans(book)
            assert not any(((spans[:, 0] < border) & (border < spans[:, 1])).any() for border in (300, 700))
    assert "- examples from rows.jsonl. Licence: CC0" in (tmp_path / "whales" / "README.md").read_text()


def test_two_runs_on_one_corpus_keep_to_their_own_books(finished: Path, tmp_path: Path) -> None:
    shared = tmp_path / "shared"
    with pytest.raises(KeyboardInterrupt):
        train(ask(finished, str(tmp_path / "all"), corpus=shared), observer=Stopper(stage="pretraining"))
    one = replace(ask(finished, str(tmp_path / "one"), corpus=shared), books=(str(finished / "books" / "book2.md"),))
    assert {book.file for book in train(one).corpus.books} == {"book2.md"}
    report = train(ask(finished, str(tmp_path / "all"), corpus=shared), resume=True)
    assert len({book.file for book in report.corpus.books}) == 4
    unbroken = checkpoint.load(finished / "whales")
    assert report.checkpoint.config.weights_sha256 == unbroken.config.weights_sha256
    assert not (tmp_path / "all" / "run" / "corpus").exists()


def test_a_run_in_a_folder_of_books_is_no_book(tmp_path: Path) -> None:
    request = ask(tmp_path, "books/whales")
    train(request)
    (tmp_path / "books" / "README.md").write_text("A text of one's own that happens to have that name.")
    again = train(replace(request, out=tmp_path / "again")).corpus
    assert [book.file for book in again.books][::2] == ["README.md", *(f"book{number}.md" for number in range(4))]
    assert again.failed == ()
    assert (str(tmp_path / "books/whales/README.md"), "skipped: the model card of a checkpoint") in again.warnings


def test_held_out_books_are_in_no_training_row(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    seen: dict[str, Any] = {}

    def look(encoder: object, corpus: Any, *_: object, held_out: Any, **__: object) -> None:
        seen.update(trained=corpus.books, aside=held_out.books)
        raise KeyboardInterrupt

    monkeypatch.setattr("nlb_training.pretraining.masked_chunks.pretrain", look)
    with pytest.raises(KeyboardInterrupt):
        train(ask(tmp_path))
    trained, aside = ({book.file for book in seen[key]} for key in ("trained", "aside"))
    assert (len(trained), len(aside), trained & aside) == (3, 1, set())
    assert [book.chunking for book in seen["aside"]] == [Chunking(tokens=32)]
    assert len(seen["trained"]) == 6


def test_vectors_that_went_bad_between_two_stages_are_refused(tmp_path: Path) -> None:
    with pytest.raises(KeyboardInterrupt):
        train(ask(tmp_path), observer=Stopper(stage="pretraining"))
    corpus = open_corpus(tmp_path / "whales" / "run" / "corpus")
    file = corpus.folder / "books" / f"{corpus.books[1].key}.arrow"
    vectors = corpus.vectors(corpus.books[1])
    bad = np.full_like(vectors[:1], np.nan).tobytes()
    content = file.read_bytes()
    at = content.index(vectors.tobytes())
    file.write_bytes(content[:at] + bad + content[at + len(bad) :])
    with pytest.raises(
        TrainingError, match=r"no unit vector for 1 of \d+ chunks of book0.md \(the first: number 0, char"
    ):
        train(ask(tmp_path), resume=True)


def test_no_usable_book_is_one_line(tmp_path: Path) -> None:
    (tmp_path / "books").mkdir()
    (tmp_path / "books" / "empty.txt").touch()
    with pytest.raises(TrainingError, match="there is no book to train on: 1 cannot be used, the first: "):
        train(ask(tmp_path))
    (tmp_path / "books").rename(tmp_path / "papers")
    train(ask(tmp_path, changes=(*CHANGES, "loop.steps=1")))  # nothing to go on with, so nothing in the way


def test_a_full_disk_at_the_end_loses_nothing(finished: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(*_: object) -> None:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    copy = shutil.copytree(finished / "whales", tmp_path / "whales")
    (copy / FILES.config).unlink()
    with monkeypatch.context() as patch:
        patch.setattr("os.fsync", full)
        with pytest.raises(TrainingError, match=r"cannot write .*\(No space left on device\): .*--resume$") as caught:
            train(ask(finished, str(copy)), resume=True)
        assert "\n" not in str(caught.value)
    report = train(ask(finished, str(copy)), resume=True)
    assert report.checkpoint.sha256 == checkpoint.load(finished / "whales").sha256
