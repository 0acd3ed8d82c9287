"""Finding a reader's folder and choosing what runs it."""

from __future__ import annotations

from pathlib import Path

from nlb_retriever.config import expand
from nlb_retriever.reader.files import CONFIG, LAYERS, MODEL, read_config
from nlb_retriever.reader.interface import Reader

RELEASED = Path(__file__).parent.parent / "assets" / "reader"
"""The reader that comes with this package: int8 alone."""


def find_reader() -> Path | None:
    """The folder of the reader that comes with this package; None where it has been left out."""
    return RELEASED if (RELEASED / CONFIG).is_file() else None


def load_reader(folder: str | Path, *, device: str = "cpu") -> Reader:
    """Load a reader.

    Args:
        folder: as nlb_training.reader.quantize writes it.
        device: "cpu" or "auto", or a torch device, which is used where the folder has weights for torch.

    Raises:
        EncoderError: the folder holds no whole reader, or the machine has no such device.
    """
    folder = expand(folder)
    read_config(folder)
    if (folder / MODEL).exists() and (device in {"cpu", "auto"} or not (folder / LAYERS).exists()):
        from nlb_retriever.reader.openvino_reader import OpenVinoReader

        return OpenVinoReader(folder)
    from nlb_retriever.reader.torch_reader import TorchReader

    return TorchReader.load(folder, device="cpu" if device == "auto" else device)
