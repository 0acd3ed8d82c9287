"""Training runs stop, go on and fail as they should."""

from __future__ import annotations

import json
import os
import resource
import signal
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import torch
from torch import Tensor, nn
from torch.utils.data import Dataset

from nlb_retriever.errors import TrainingError, TrainingInterrupted
from nlb_training.events import TrainingEvent
from nlb_training.pretraining.history import LOSS_FILE, PLOT_FILE, History
from nlb_training.pretraining.loop import CHECKPOINTS, run_training
from nlb_training.pretraining.settings import LoopSettings
from tests.training.memory import no_old_garbage  # noqa: F401  (a fixture of every test here)

SETTINGS = LoopSettings(steps=6, batch_size=4, learning_rate=0.01, checkpoint_every=3, validate_every=3, device="cpu")


class Numbers(Dataset[dict[str, Tensor]]):
    """16 rows: six steps of four go into a second pass."""

    rows = torch.randn(16, 8, generator=torch.Generator().manual_seed(0))

    def __len__(self) -> int:
        return 16

    def __getitem__(self, index: int) -> dict[str, Tensor]:
        return {"rows": self.rows[index]}


def stack(rows: list[dict[str, Tensor]]) -> dict[str, Tensor]:
    return {"rows": torch.stack([row["rows"] for row in rows])}


class Copier(nn.Module):
    """Learns to give back its input through dropout."""

    def __init__(self, width: int = 32) -> None:
        super().__init__()
        self.layers = nn.Sequential(nn.Linear(8, width), nn.GELU(), nn.Dropout(0.5), nn.Linear(width, 8))

    def forward(self, rows: Tensor) -> dict[str, Tensor]:
        return {"loss": (self.layers(rows) - rows).square().mean()}


def copier(width: int = 32) -> Copier:
    torch.manual_seed(3)
    return Copier(width)


def weights(model: nn.Module) -> Tensor:
    return torch.cat([parameter.detach().flatten() for parameter in model.parameters()])


def at_step(step: int, act: Callable[[], None]) -> Callable[[TrainingEvent], None]:
    """An observer that does something once, behind the given step."""

    def observe(event: TrainingEvent) -> None:
        if event.kind == "step" and event.step == step:
            act()

    return observe


def terminate() -> None:
    os.kill(os.getpid(), signal.SIGTERM)


def interrupt() -> None:
    os.kill(os.getpid(), signal.SIGINT)


def checkpoints(folder: Path) -> list[str]:
    return sorted(path.name for path in (folder / CHECKPOINTS).iterdir())


def figures(model: nn.Module) -> dict[str, float]:
    torch.rand(5)  # must not change what training draws
    return {"loss": float(model(rows=Numbers.rows)["loss"])}


@pytest.fixture(scope="module")
def unbroken_run(tmp_path_factory: pytest.TempPathFactory) -> tuple[Copier, History]:
    model = copier()
    return model, run_training(model, Numbers(), stack, SETTINGS, tmp_path_factory.mktemp("run"), validate=figures)


@pytest.mark.parametrize(("stop", "how"), [(1, interrupt), (3, terminate), (4, interrupt), (5, terminate)])
def test_a_resumed_run_is_the_unbroken_one_bit_for_bit(
    tmp_path: Path, stop: int, how: Callable[[], None], unbroken_run: tuple[Copier, History]
) -> None:
    unbroken, expected = unbroken_run
    with pytest.raises(TrainingInterrupted, match=rf"stopped after step {stop} of 6, .*--resume"):
        run_training(
            copier(), Numbers(), stack, SETTINGS, tmp_path / "b", observer=at_step(stop, how), validate=figures
        )
    torch.manual_seed(stop)  # whatever state the second process starts in
    resumed = copier()
    with torch.no_grad():
        resumed.layers[0].weight.zero_()  # weights come from the checkpoint
    found = run_training(resumed, Numbers(), stack, SETTINGS, tmp_path / "b", validate=figures)
    assert torch.equal(weights(resumed), weights(unbroken))
    assert found.losses == expected.losses and len(found.losses) == 6
    assert found.validation == expected.validation
    assert [row["step"] for row in found.validation] == [0, 3, 6]


def test_gradients_accumulate_over_batches_and_resume_between_them(tmp_path: Path) -> None:
    settings = replace(SETTINGS, batch_size=2, accumulate=3)
    unbroken, resumed = copier(), copier()
    expected = run_training(unbroken, Numbers(), stack, settings, tmp_path / "a")
    with pytest.raises(TrainingInterrupted):
        run_training(copier(), Numbers(), stack, settings, tmp_path / "b", observer=at_step(4, terminate))
    found = run_training(resumed, Numbers(), stack, settings, tmp_path / "b")
    assert torch.equal(weights(resumed), weights(unbroken)) and found.losses == expected.losses


def test_a_run_goes_down_and_leaves_its_curve_and_its_last_checkpoints(tmp_path: Path) -> None:
    model = copier()
    events: list[TrainingEvent] = []
    settings = replace(SETTINGS, steps=60, checkpoint_every=20, validate_every=30)
    history = run_training(model, Numbers(), stack, settings, tmp_path, observer=events.append, validate=figures)
    assert history.validation[-1]["loss"] < 0.5 * history.validation[0]["loss"]
    assert not model.training
    assert checkpoints(tmp_path) == ["checkpoint-40", "checkpoint-60"]
    saved = json.loads((tmp_path / LOSS_FILE).read_text())
    assert saved == {"steps": 60, "losses": list(history.losses), "validation": list(history.validation)}
    assert (tmp_path / PLOT_FILE).read_bytes()[:8] == b"\x89PNG\r\n\x1a\n"
    kinds = [event.kind for event in events]
    assert (kinds[0], kinds[-1], kinds.count("step"), kinds.count("checkpoint")) == ("start", "done", 60, 3)
    rates = [event.learning_rate or 0 for event in events if event.kind == "step"]
    assert rates.index(max(rates)) + 1 == 3 and max(rates) == 0.01  # 5% of 60 steps of warm-up
    assert rates[31] == pytest.approx(0.01 * 0.5, rel=0.05) and rates[-1] == pytest.approx(0, abs=1e-9)


def test_nothing_is_printed_and_nothing_written_beside_the_folder(
    tmp_path: Path, capfd: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    run_training(copier(), Numbers(), stack, SETTINGS, tmp_path / "run")
    assert capfd.readouterr() == ("", "")
    assert [path.name for path in tmp_path.iterdir()] == ["run"]
    assert sorted(path.name for path in (tmp_path / "run").iterdir()) == [
        CHECKPOINTS,
        LOSS_FILE,
        PLOT_FILE,
    ]


def test_a_finished_run_that_is_resumed_gives_its_weights_and_trains_no_further(tmp_path: Path) -> None:
    first, second = copier(), copier()
    done = run_training(first, Numbers(), stack, SETTINGS, tmp_path)
    again = run_training(second, Numbers(), stack, SETTINGS, tmp_path)
    assert torch.equal(weights(first), weights(second)) and again.losses == done.losses


def test_a_run_stopped_before_its_first_step_starts_anew_when_resumed(tmp_path: Path) -> None:
    def stop(event: TrainingEvent) -> None:
        if event.kind == "start":
            raise KeyboardInterrupt

    with pytest.raises(TrainingInterrupted, match="--resume to continue from the start"):
        run_training(copier(), Numbers(), stack, SETTINGS, tmp_path, observer=stop)
    assert len(run_training(copier(), Numbers(), stack, SETTINGS, tmp_path).losses) == 6


def test_signals_are_as_they_were_after_a_run(tmp_path: Path) -> None:
    before = signal.getsignal(signal.SIGINT), signal.getsignal(signal.SIGTERM)
    run_training(copier(), Numbers(), stack, SETTINGS, tmp_path)
    assert (signal.getsignal(signal.SIGINT), signal.getsignal(signal.SIGTERM)) == before


def test_a_process_killed_while_it_writes_leaves_a_run_that_goes_on(
    tmp_path: Path, unbroken_run: tuple[Copier, History]
) -> None:
    with pytest.raises(TrainingInterrupted):
        run_training(copier(), Numbers(), stack, SETTINGS, tmp_path, observer=at_step(4, terminate), validate=figures)
    torn = tmp_path / CHECKPOINTS / ".partial" / "checkpoint-6"
    torn.mkdir(parents=True)
    (torn / "model.safetensors").write_bytes(b"half")
    found = run_training(copier(), Numbers(), stack, SETTINGS, tmp_path, validate=figures)
    assert found.losses == unbroken_run[1].losses
    assert not torn.exists()


@pytest.mark.parametrize("name", ["model.safetensors", "optimizer.pt", "scheduler.pt", "rng_state.pth"])
def test_a_damaged_checkpoint_is_named(tmp_path: Path, name: str) -> None:
    with pytest.raises(TrainingInterrupted):
        run_training(copier(), Numbers(), stack, SETTINGS, tmp_path, observer=at_step(4, terminate))
    file = tmp_path / CHECKPOINTS / "checkpoint-4" / name
    file.write_bytes(file.read_bytes()[:50])
    with pytest.raises(TrainingError, match=r"checkpoint-4 is damaged .*: delete it to resume from the one before"):
        run_training(copier(), Numbers(), stack, SETTINGS, tmp_path)


def test_a_loss_that_is_no_number_stops_the_run_with_one_line(tmp_path: Path) -> None:
    model = copier()

    def poison() -> None:
        with torch.no_grad():
            model.layers[0].bias[0] = torch.nan

    with pytest.raises(
        TrainingError, match=r"the loss is NaN or infinite at step 5 of 6: .*below 0.01.*checkpoint-3 is intact"
    ) as e:
        run_training(model, Numbers(), stack, SETTINGS, tmp_path, observer=at_step(4, poison))
    assert "\n" not in str(e.value)
    assert checkpoints(tmp_path) == ["checkpoint-3"]


def test_weights_that_are_no_numbers_are_not_saved(tmp_path: Path) -> None:
    model = copier()

    def poison() -> None:
        with torch.no_grad():
            model.layers[0].bias[0] = torch.nan

    with pytest.raises(TrainingError, match=r"the weights are NaN or infinite"):
        run_training(model, Numbers(), stack, SETTINGS, tmp_path, observer=at_step(6, poison))
    assert checkpoints(tmp_path) == ["checkpoint-3"]


@contextmanager
def full_disk() -> Iterator[Callable[[int], None]]:
    """Gives what makes every write beyond so many bytes of a file fail."""
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    try:
        yield lambda size: resource.setrlimit(resource.RLIMIT_FSIZE, (size, before[1]))
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)


@pytest.mark.parametrize(("room", "why"), [(10_000, "File too large"), (100_000, "(only a part of it was written)")])
def test_a_full_disk_keeps_the_earlier_checkpoint_and_the_run_can_go_on(tmp_path: Path, room: int, why: str) -> None:
    wide = 1000  # 68 kB of weights, 136 kB of the optimizer's: the first or only the second does not fit
    expected = run_training(copier(wide), Numbers(), stack, SETTINGS, tmp_path / "a")
    with full_disk() as limit, pytest.raises(TrainingError, match=r"cannot write checkpoint .*checkpoint-6 \(") as e:
        run_training(copier(wide), Numbers(), stack, SETTINGS, tmp_path / "b", observer=at_step(4, lambda: limit(room)))
    assert why in str(e.value) and "free some space" in str(e.value)
    assert "continue from step 3" in str(e.value) and "\n" not in str(e.value)
    assert checkpoints(tmp_path / "b") == ["checkpoint-3"]
    found = run_training(copier(wide), Numbers(), stack, SETTINGS, tmp_path / "b")
    assert found.losses == expected.losses


@pytest.mark.parametrize(
    "wrong", [{"batch_size": 0}, {"learning_rate": -1.0}, {"warmup": 1.0}, {"steps": -1}, {"keep": 0}]
)
def test_settings_that_cannot_be_are_refused(wrong: dict[str, Any]) -> None:
    with pytest.raises(TrainingError, match=next(iter(wrong))):
        replace(SETTINGS, **wrong)
