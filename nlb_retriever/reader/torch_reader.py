"""The reader through torch: on a GPU in bf16, or wherever there is no int8 model."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from nlb_retriever.encoding.base import open_tokenizer
from nlb_retriever.errors import EncoderError
from nlb_retriever.reader.files import LAYERS, TOKENIZER, WORDS, check_file, read_config
from nlb_retriever.reader.interface import Reading, Scores, read_passages
from nlb_retriever.reader.pairs import Row, pad_rows

if TYPE_CHECKING:
    from tokenizers import Tokenizer

    from nlb_retriever.reader.network import ReaderNetwork

_BATCH_TOKENS = 64 * 320


class TorchReader:
    """A reader's network on a torch device.

    Args:
        network: trained.
        tokenizer: BERT's, without padding or truncation.
        device: as torch names it ("cpu", "cuda").

    Raises:
        EncoderError: the machine has no such device.
    """

    def __init__(self, network: ReaderNetwork, tokenizer: Tokenizer, *, device: str) -> None:
        import torch

        try:
            self._network = network.to(device).eval()
        except (RuntimeError, AssertionError) as error:
            raise EncoderError(f"torch cannot use a device {device!r} on this machine: give auto or cpu") from error
        self._device = torch.device(device)
        self.tokenizer = tokenizer
        self.backend = f"torch {self._device.type}"

    @classmethod
    def load(cls, folder: Path, *, device: str) -> TorchReader:
        """Load a reader's folder.

        Raises:
            EncoderError: a file is missing or damaged, or the machine has no such device.
        """
        from safetensors.torch import load_file

        from nlb_retriever.reader.network import NetworkConfig, ReaderNetwork

        config = read_config(folder)
        for name in (TOKENIZER, WORDS, LAYERS):
            check_file(folder, name, config)
        network = ReaderNetwork(NetworkConfig(**config["network"]))
        weights = load_file(folder / WORDS) | load_file(folder / LAYERS)
        network.load_state_dict({name: tensor.float() for name, tensor in weights.items()})
        return cls(network, open_tokenizer(folder / TOKENIZER), device=device)

    def read(self, question: str, passages: Sequence[str], *, shortest: int = 1) -> list[Reading]:
        """See `Reader.read`."""
        return read_passages(
            question, passages, self.tokenizer, shortest=shortest, batch_tokens=_BATCH_TOKENS, forward=self._forward
        )

    def _forward(self, batches: list[list[Row]]) -> list[Scores]:
        import torch

        results = []
        fast = self._device.type == "cuda"
        for batch in batches:
            ids, types, mask = (torch.from_numpy(each).to(self._device) for each in pad_rows(batch))
            with torch.inference_mode(), torch.autocast(self._device.type, torch.bfloat16, enabled=fast):
                spans, relevance = self._network(ids, types, mask)
            results.append((spans.float().cpu().numpy(), relevance.float().cpu().numpy()))
        return results
