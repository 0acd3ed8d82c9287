"""One training run of the chunk encoder: data, start and settings in, a sentence-transformers folder out."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass, field, fields
from pathlib import Path

from nlb_retriever.encoding.load import BASE_ENCODER, find_weights
from nlb_retriever.errors import TrainingError
from nlb_retriever.reader.files import CONFIG
from nlb_retriever.reader.load import find_reader, load_reader
from nlb_training.encoder.bert import Bert
from nlb_training.encoder.books import check_data
from nlb_training.encoder.planner import Mix, Planner
from nlb_training.encoder.trainer import LOG, STATE, Run, Settings, save_model
from nlb_training.events import Observer, StageEvent
from nlb_training.run_control import LOCK, check_folder, find_device, hash_file, lock_folder
from nlb_training.settings import read_numbers
from nlb_training.start_model import read_tokenizer

MODEL = "encoder"


@dataclass(frozen=True, kw_only=True)
class EncoderRequest:
    """What is to be trained."""

    data: Path
    """Folder with corpus/ and eval/."""
    out: Path
    """Of the run's state, and of the model in `encoder/` at its end."""
    start: str = BASE_ENCODER
    """A sentence-transformers model of MiniLM's kind: its name or folder."""
    reader: Path | None = None
    """Folder of the reader that judges passages; default: the package's."""
    device: str = "auto"
    """"auto", "cpu" or "cuda"."""
    settings: Settings = field(default_factory=Settings)
    mix: Mix = field(default_factory=Mix)


def read_changes(changes: Sequence[str]) -> tuple[Settings, Mix]:
    """Settings and mix with changes like "learning_rate=3e-5" or "mix.tale=12".

    Raises:
        TrainingError: a change names no setting, or its value is none.
    """
    kinds: dict[str, type[int] | type[float]] = {
        each.name: float if each.type == "float" else int for each in fields(Settings)
    }
    kinds |= {f"mix.{each.name}": int for each in fields(Mix)}
    values = read_numbers(changes, kinds)
    mix = {key.removeprefix("mix."): value for key, value in values.items() if key.startswith("mix.")}
    own = {key: value for key, value in values.items() if not key.startswith("mix.")}
    return Settings(**own), Mix(**mix)  # type: ignore[arg-type]


def train_encoder(request: EncoderRequest, *, resume: bool = False, observer: Observer | None = None) -> Path:
    """Train to the last step and write the model.

    Args:
        request: what is to be trained.
        resume: go on with the run in `request.out`.
        observer: called when the run begins, and after each step.

    Returns:
        The model's folder.

    Raises:
        TrainingInterrupted: a signal to stop came; resumed, the run goes on with the next step.
        TrainingError: data, settings or the folder do not allow it, the disk is full or the loss is no number.
        EncoderError: the model to start from, or the reader, is not to be found.
    """
    check_data(request.data)
    _, start = find_weights(request.start)
    folder = request.reader or find_reader()
    if folder is None:
        raise TrainingError("this package has no reader: give the folder of one (--reader)")
    device = find_device(request.device)
    reader = load_reader(folder, device=device)
    model = Bert.load(start, device)
    tokenizer = read_tokenizer(start)
    begun = (request.out / LOCK).is_file()  # perhaps ended before its first state
    there = (request.out / STATE).is_file()
    if there or not begun:
        check_folder(request.out, has_run=there, resume=resume)
    with lock_folder(request.out):
        if not there:
            _clear_rounds(request.out)
        if observer:
            observer(StageEvent(stage="encoder"))
        planner = Planner(request.data, tokenizer, request.out / "tokens", request.mix, reader)
        plan: dict[str, str | int] = {f"mix.{name}": count for name, count in asdict(request.mix).items()}
        plan["reader"] = hash_file(folder / CONFIG)
        plan["from"] = hash_file(start / "model.safetensors")
        run = Run(model, planner, request.settings, request.out, steps_a_round=request.mix.steps, plan=plan)
        if there:
            run.resume()
        run.train(observer)
        save_model(run.averaged(), start, request.out / MODEL)
    return request.out / MODEL


def _clear_rounds(folder: Path) -> None:
    """Delete what a run has planned and logged that was ended before its first state."""
    for file in (*folder.glob("round-*.npz"), folder / LOG):
        file.unlink(missing_ok=True)
