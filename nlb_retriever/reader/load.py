"""Finding a reader's folder and choosing what runs it."""

from __future__ import annotations

from pathlib import Path

from nlb_retriever.reader.files import MODEL, read_config
from nlb_retriever.reader.interface import Reader


def load_reader(folder: str | Path, *, device: str = "cpu") -> Reader:
    """Load a reader.

    Args:
        folder: as nlb_training.reader.quantize writes it.
        device: "cpu", or a torch device.

    Raises:
        EncoderError: the folder holds no whole reader, or the machine has no such device.
    """
    folder = Path(folder).expanduser()
    read_config(folder)
    if device == "cpu" and (folder / MODEL).exists():
        from nlb_retriever.reader.openvino_reader import OpenVinoReader

        return OpenVinoReader(folder)
    from nlb_retriever.reader.torch_reader import TorchReader

    return TorchReader.load(folder, device=device)
