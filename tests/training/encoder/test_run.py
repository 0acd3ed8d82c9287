"""Training runs: the same twice, resumed to the bit, stopped and failing without loss."""

from __future__ import annotations

import os
import resource
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
import torch
from safetensors.torch import load_file

from nlb_retriever.encoding.load import load_torch_encoder
from nlb_retriever.encoding.openvino import TERMS_FILE
from nlb_retriever.encoding.terms import TermProjection
from nlb_retriever.errors import NlbError, TrainingError, TrainingInterrupted
from nlb_training.encoder.bert import Bert
from nlb_training.encoder.planner import Mix
from nlb_training.encoder.run import EncoderRequest, read_changes, train_encoder
from nlb_training.encoder.term_map import BIAS, WEIGHT
from nlb_training.encoder.trainer import Settings, save_model
from nlb_training.events import Observer, TrainingEvent
from tests.training.encoder.small import DIM, WordReader, write_data, write_model, write_plot_questions

MIX = Mix(
    steps=3, summary=2, summary_books=1, novel=1, plot=1, plot_books=1, tale=1, tale_books=1, article=1,
    article_books=1, cloze=1, cloze_books=1,
)  # fmt: skip
ONE = replace(MIX, steps=1, summary=1, novel=0, plot=0, book=0, title=0, tale=0, article=0, cloze=0)
"""A round of one step with one query."""
SETTINGS = Settings(steps=5, cooldown=2, warmup=2, learning_rate=1e-3, save_every=100)


@pytest.fixture(scope="module", autouse=True)
def reader(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("nlb_training.encoder.run.load_reader", lambda folder, *, device: WordReader())
        patch.setattr("nlb_training.reader.plot_questions.FILE", write_plot_questions(tmp_path_factory.mktemp("plots")))
        yield


@pytest.fixture(scope="module")
def request_of_run(tmp_path_factory: pytest.TempPathFactory) -> EncoderRequest:
    folder = tmp_path_factory.mktemp("small")
    data, start = write_data(folder / "data"), write_model(folder / "model")
    return EncoderRequest(data=data, out=folder / "run", start=str(start), settings=SETTINGS, mix=MIX)


@pytest.fixture(scope="module")
def whole(request_of_run: EncoderRequest) -> Path:
    """The model of a run that nothing interrupted."""
    return train_encoder(request_of_run)


def at_step(step: int | None, act: Callable[[], object]) -> Observer:
    """An observer that does something after one step, or after each."""

    def observe(event: object) -> None:
        if isinstance(event, TrainingEvent) and step in {None, event.step}:
            act()

    return observe


def terminate() -> None:
    os.kill(os.getpid(), signal.SIGTERM)


def fail() -> None:
    raise MemoryError  # nothing is written after it, as after a kill


def weights_of(model: Path) -> bytes:
    return (model / "model.safetensors").read_bytes() + (model / TERMS_FILE).read_bytes()


def test_a_run_makes_another_model_that_sentence_transformers_reads(
    request_of_run: EncoderRequest, whole: Path
) -> None:
    before, after = load_file(Path(request_of_run.start) / "model.safetensors"), load_file(whole / "model.safetensors")
    assert before.keys() == after.keys()
    table = "embeddings.word_embeddings.weight"
    assert before[table].equal(after[table])
    assert not before["encoder.layer.0.output.dense.weight"].equal(after["encoder.layer.0.output.dense.weight"])
    assert load_torch_encoder(whole).encode(["The whale."]).shape == (1, DIM)
    assert TermProjection.read(whole / TERMS_FILE).weight.shape == (DIM, DIM)


def test_the_same_command_makes_the_same_bytes(request_of_run: EncoderRequest, whole: Path, tmp_path: Path) -> None:
    again = train_encoder(replace(request_of_run, out=tmp_path / "again"))
    assert weights_of(again) == weights_of(whole)


@pytest.mark.parametrize("step", [1, 2, 3, 4])
def test_a_run_stopped_after_any_step_goes_on_to_the_bit(
    request_of_run: EncoderRequest, whole: Path, tmp_path: Path, step: int
) -> None:
    request = replace(request_of_run, out=tmp_path / "stopped")
    with pytest.raises(TrainingInterrupted, match=f"after step {step}: go on with --resume"):
        train_encoder(request, observer=at_step(step, terminate))
    assert weights_of(train_encoder(request, resume=True)) == weights_of(whole)


def test_a_killed_run_goes_on_from_its_last_state_to_the_bit(
    request_of_run: EncoderRequest, whole: Path, tmp_path: Path
) -> None:
    settings = replace(SETTINGS, save_every=2)
    request = replace(request_of_run, out=tmp_path / "killed", settings=settings)
    with pytest.raises(MemoryError):
        train_encoder(request, observer=at_step(4, fail))
    assert weights_of(train_encoder(request, resume=True)) == weights_of(whole)


def test_a_full_disk_is_one_line_and_keeps_the_last_state(
    request_of_run: EncoderRequest, whole: Path, tmp_path: Path
) -> None:
    request = replace(request_of_run, out=tmp_path / "full", settings=replace(SETTINGS, save_every=1))
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    before = signal.signal(signal.SIGXFSZ, signal.SIG_IGN)

    def fill() -> None:
        resource.setrlimit(resource.RLIMIT_FSIZE, (20_000, hard))

    try:
        with pytest.raises(TrainingError, match=r"state\.pt cannot be written .*--resume") as caught:
            train_encoder(request, observer=at_step(2, fill))
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))
        signal.signal(signal.SIGXFSZ, before)
    assert "\n" not in str(caught.value)
    assert weights_of(train_encoder(request, resume=True)) == weights_of(whole)


def test_a_killed_run_goes_on_from_a_state_of_some_rounds_ago(request_of_run: EncoderRequest, tmp_path: Path) -> None:
    settings, mix = replace(SETTINGS, steps=6, save_every=3), replace(ONE, cloze=1)
    whole = train_encoder(replace(request_of_run, out=tmp_path / "whole", settings=settings, mix=mix))
    request = replace(request_of_run, out=tmp_path / "killed", settings=settings, mix=mix)
    with pytest.raises(MemoryError):  # in the fifth round; the state is of the third
        train_encoder(request, observer=at_step(5, fail))
    half = request.out / ".encoder-1.part"  # as a killed process leaves it
    half.mkdir()
    for part in (request.out / ".state.pt.1.part", half / ".encoder.json.1.part"):
        part.touch()
    assert weights_of(train_encoder(request, resume=True)) == weights_of(whole)
    assert not list(request.out.glob(".*"))
    assert not list(request.out.glob("round-*"))


@pytest.mark.parametrize("room", [100_000, 1_400_000])  # too little for the tokenizer, for the weights
def test_a_disk_that_is_full_when_the_model_is_written_is_one_line(
    request_of_run: EncoderRequest, tmp_path: Path, room: int
) -> None:
    start = Path(request_of_run.start)
    weights = Bert.load(start).weights() | {WEIGHT: torch.zeros(DIM, DIM), BIAS: torch.zeros(DIM)}
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    before = signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    resource.setrlimit(resource.RLIMIT_FSIZE, (room, hard))
    try:
        with pytest.raises(
            TrainingError, match=r"encoder cannot be written \([^\[]*File too large.*--resume"
        ) as caught:
            save_model(weights, start, tmp_path / "encoder")
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))
        signal.signal(signal.SIGXFSZ, before)
    assert "\n" not in str(caught.value)
    assert not list(tmp_path.iterdir())


def test_the_result_keeps_its_share_of_the_start(request_of_run: EncoderRequest, tmp_path: Path) -> None:
    start = load_file(Path(request_of_run.start) / "model.safetensors")
    made = {}
    for share in (0.0, 0.5, 1.0):
        settings = replace(SETTINGS, steps=1, cooldown=0, start_share=share)
        request = replace(request_of_run, out=tmp_path / str(share), settings=settings, mix=ONE)
        made[share] = load_file(train_encoder(request) / "model.safetensors")
    assert all(made[1.0][name].equal(start[name]) for name in made[1.0])
    assert any(not made[0.0][name].equal(start[name]) for name in made[0.0])
    maps = [TermProjection.read(tmp_path / share / "encoder" / TERMS_FILE).weight for share in ("0.0", "0.5", "1.0")]
    np.testing.assert_allclose(maps[1], (maps[0] + maps[2]) / 2, atol=1e-6)
    assert not np.array_equal(maps[0], maps[2])
    for name, weights in made[0.5].items():
        torch.testing.assert_close(weights, (made[0.0][name] + start[name]) / 2)
    with pytest.raises(TrainingError, match=r"start_share=1\.5 is above 1: give a share from 0 to 1"):
        replace(SETTINGS, start_share=1.5)


def test_a_run_may_be_made_longer_before_its_cooldown(request_of_run: EncoderRequest, tmp_path: Path) -> None:
    settings = replace(SETTINGS, steps=2, cooldown=0)
    request = replace(request_of_run, out=tmp_path / "longer", settings=settings, mix=ONE)
    train_encoder(request)
    longer = replace(request, settings=replace(SETTINGS, steps=3, cooldown=1))
    events: list[object] = []
    train_encoder(longer, resume=True, observer=events.append)
    assert [event.step for event in events if isinstance(event, TrainingEvent)] == [3]


def test_a_folder_in_use_without_resume_and_with_other_settings_is_refused(
    request_of_run: EncoderRequest, whole: Path
) -> None:
    assert whole.is_dir()
    with pytest.raises(TrainingError, match=r"holds an earlier run: go on with it \(--resume\)"):
        train_encoder(request_of_run)
    other = replace(request_of_run, settings=replace(SETTINGS, scale=5.0))
    with pytest.raises(TrainingError, match=r"with other settings: scale is 5\.0, was 20\.0: use the same"):
        train_encoder(other, resume=True)


def test_a_resume_with_another_reader_or_mix_is_refused(
    request_of_run: EncoderRequest, whole: Path, tmp_path: Path
) -> None:
    assert whole.is_dir()
    (tmp_path / "reader.json").write_text("{}")
    with pytest.raises(TrainingError, match="with other settings: reader is '"):
        train_encoder(replace(request_of_run, reader=tmp_path), resume=True)
    with pytest.raises(TrainingError, match=r"with other settings: mix\.tale is 3, was 1: use the same"):
        train_encoder(replace(request_of_run, mix=replace(MIX, tale=3)), resume=True)


def test_a_resume_from_another_start_is_refused(request_of_run: EncoderRequest, whole: Path) -> None:
    with pytest.raises(TrainingError, match="with other settings: from is '"):
        train_encoder(replace(request_of_run, start=str(whole)), resume=True)


def test_a_new_run_uses_nothing_of_one_that_was_killed_before_its_first_state(
    request_of_run: EncoderRequest, whole: Path, tmp_path: Path
) -> None:
    killed = tmp_path / "killed"
    killed.mkdir()
    (killed / "lock").touch()
    (killed / "round-0000.npz").write_bytes((request_of_run.out / "round-0001.npz").read_bytes())
    (killed / "log.jsonl").write_text('{"step": 1}\n')
    other = replace(request_of_run, settings=replace(SETTINGS, steps=1, cooldown=0, seed=7), mix=ONE)
    model = train_encoder(replace(other, out=killed))
    assert weights_of(model) == weights_of(train_encoder(replace(other, out=tmp_path / "fresh")))
    assert (killed / "log.jsonl").read_text().count("\n") == 1


@pytest.mark.parametrize(
    "change",
    ["steps=0", "save_every=0", "learning_rate=0", "scale=0", "average=1", "start_share=1.5", "mix.steps=0"],
)
def test_settings_that_cannot_be_are_one_line(change: str) -> None:
    with pytest.raises(TrainingError, match=change.partition("=")[0]):
        read_changes([change])


@pytest.mark.parametrize("content", [b"PK\x03\x04 half", b"", b"no state", b"\x80\x02]q\x00."])
def test_a_damaged_state_is_one_line(request_of_run: EncoderRequest, tmp_path: Path, content: bytes) -> None:
    (tmp_path / "state.pt").write_bytes(content)
    with pytest.raises(TrainingError, match=r"state\.pt is damaged") as caught:
        train_encoder(replace(request_of_run, out=tmp_path), resume=True)
    assert "\n" not in str(caught.value)


def test_a_state_with_one_wrong_bit_is_damaged(request_of_run: EncoderRequest, whole: Path, tmp_path: Path) -> None:
    state = bytearray((request_of_run.out / "state.pt").read_bytes())
    state[len(state) // 2] ^= 1
    (tmp_path / "state.pt").write_bytes(state)
    with pytest.raises(TrainingError, match=r"state\.pt is damaged \(state\.pt: the sum of .* is wrong\)"):
        train_encoder(replace(request_of_run, out=tmp_path), resume=True)


def test_a_damaged_round_can_be_made_again_only_before_its_first_step(
    request_of_run: EncoderRequest, whole: Path, tmp_path: Path
) -> None:
    request = replace(request_of_run, out=tmp_path / "run", settings=replace(SETTINGS, save_every=3))
    with pytest.raises(MemoryError):  # the last state is that of step 3, the end of the first round
        train_encoder(request, observer=at_step(4, fail))
    file = tmp_path / "run" / "round-0001.npz"
    file.write_bytes(b"damaged")
    with pytest.raises(TrainingError, match=r"round-0001\.npz is damaged .*: delete it and go on"):
        train_encoder(request, resume=True)
    file.unlink()
    with pytest.raises(TrainingInterrupted):
        train_encoder(request, resume=True, observer=at_step(None, terminate))
    planned = file.read_bytes()
    file.write_bytes(b"damaged")
    with pytest.raises(TrainingError, match=r"round-0001\.npz is damaged .*: start anew in another folder"):
        train_encoder(request, resume=True)
    file.write_bytes(planned)
    assert weights_of(train_encoder(request, resume=True)) == weights_of(whole)


def test_a_folder_of_others_keeps_its_files_and_one_without_a_run_is_not_resumed(
    request_of_run: EncoderRequest, tmp_path: Path
) -> None:
    (tmp_path / "log.jsonl").write_text("mine")
    with pytest.raises(TrainingError, match=r"holds other files: name an empty or new folder \(--out\)"):
        train_encoder(replace(request_of_run, out=tmp_path))
    assert [each.name for each in tmp_path.iterdir()] == ["log.jsonl"]
    with pytest.raises(TrainingError, match="holds no run to resume: start it without --resume"):
        train_encoder(replace(request_of_run, out=tmp_path / "new"), resume=True)
    assert not (tmp_path / "new").exists()


def test_a_mix_without_queries_is_one_line(request_of_run: EncoderRequest, tmp_path: Path) -> None:
    nothing = replace(ONE, summary=0)
    with pytest.raises(TrainingError, match="there is no query to train on: raise a share of the mix"):
        train_encoder(replace(request_of_run, out=tmp_path / "run", mix=nothing))


def test_fewer_books_than_the_mix_asks_for_are_all_used(request_of_run: EncoderRequest, tmp_path: Path) -> None:
    settings, mix = replace(SETTINGS, steps=1, cooldown=0), replace(ONE, cloze=1, cloze_books=99)
    model = train_encoder(replace(request_of_run, out=tmp_path / "run", settings=settings, mix=mix))
    assert (model / "model.safetensors").is_file()


def test_data_that_is_not_there_is_one_line_and_nothing_is_trained(
    request_of_run: EncoderRequest, tmp_path: Path
) -> None:
    with pytest.raises(NlbError, match="give the folder of the training data"):
        train_encoder(replace(request_of_run, data=tmp_path / "nothing", out=tmp_path / "run"))
    assert not (tmp_path / "run" / "state.pt").exists()


def test_without_a_reader_nothing_is_trained(
    request_of_run: EncoderRequest, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("nlb_training.encoder.run.find_reader", lambda: None)
    with pytest.raises(TrainingError, match=r"this package has no reader: give the folder of one \(--reader\)"):
        train_encoder(replace(request_of_run, out=tmp_path / "run"))
    assert not (tmp_path / "run").exists()


def test_two_runs_do_not_share_a_folder(request_of_run: EncoderRequest, whole: Path) -> None:
    code = "import fcntl,sys; f=open(sys.argv[1],'w'); fcntl.flock(f,fcntl.LOCK_EX); print('held',flush=True); input()"
    with subprocess.Popen(
        [sys.executable, "-c", code, str(request_of_run.out / "lock")],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    ) as other:
        assert other.stdout is not None
        assert other.stdout.readline() == "held\n"
        with pytest.raises(TrainingError, match="another process trains in"):
            train_encoder(request_of_run, resume=True)
        other.communicate("\n")
