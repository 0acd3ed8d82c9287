"""Any sentence-transformers model through torch: CUDA in bf16, or the CPU in fp32."""

from __future__ import annotations

import logging
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import sentence_transformers
import torch
import transformers
from safetensors.torch import load_file

from nlb_retriever.encoding.base import EncoderIdentity, Parts, Take, Vectors, encode_parts, encode_windows, pad
from nlb_retriever.errors import EncoderError

if TYPE_CHECKING:
    from tokenizers import Tokenizer

_BATCH_TOKENS = {"cuda": 512 * 256, "cpu": 32 * 256}
_MIN_BATCH_TOKENS = 1024

_log = logging.getLogger(__name__)


class TorchEncoder:
    """A sentence-transformers model with all of its modules (pooling, dense, normalise).

    Batches hold rows of similar length. Where a CUDA device runs out of memory the batch is halved
    and tried again, and later ones stay at what fitted. Python code in the folder is never run.

    Args:
        folder: the model's folder.
        name: what to call it.
        sha256: of its weights.
        device: as torch names it ("cpu", "cuda", "cuda:1", "mps").
        layers: weights in place of the folder's own of the same names.

    Raises:
        EncoderError: the folder holds no usable sentence-transformers model, or the machine no such device.
    """

    def __init__(self, folder: Path, *, name: str, sha256: str, device: str, layers: Path | None = None) -> None:
        transformers.utils.logging.disable_progress_bar()  # type: ignore[no-untyped-call]  # of reading the weights: only the command line draws
        try:
            torch.zeros(1, device=device).item()
        except (RuntimeError, AssertionError) as error:  # the second: a torch that was built without CUDA
            raise EncoderError(f"torch cannot use a device {device!r} on this machine: give auto or cpu") from error
        kind = device.partition(":")[0]
        dtype = torch.bfloat16 if kind == "cuda" else torch.float32
        try:
            self.model = sentence_transformers.SentenceTransformer(
                str(folder),
                device=device,
                local_files_only=True,
                trust_remote_code=False,
                model_kwargs={"dtype": dtype},
            ).eval()
            if layers:
                transformer: Any = self.model[0]
                if unknown := transformer.model.load_state_dict(load_file(layers), strict=False).unexpected_keys:
                    raise KeyError(f"it has no {unknown[0]}, which {layers} is for")
            backend = self.model.tokenizer.backend_tokenizer
        except (OSError, ValueError, RuntimeError, AttributeError, KeyError) as error:
            if "trust_remote_code" in str(error):
                raise EncoderError(
                    f"{folder} holds Python code, which is never run: use a model that needs no code of its own"
                ) from error
            line = str(error).strip().splitlines()[0] if str(error).strip() else type(error).__name__
            raise EncoderError(f"{folder} holds no usable sentence-transformers model: {line}") from error
        dim, longest = self.model.get_embedding_dimension(), self.model.max_seq_length
        if not dim or not longest:
            raise EncoderError(f"{folder}: the model does not say its dimension or longest input")
        self.identity = EncoderIdentity(name=name, sha256=sha256, dim=int(dim), max_tokens=int(longest))
        self.backend = f"torch {device}"
        self._device = device
        self._budget = _BATCH_TOKENS.get(kind, _BATCH_TOKENS["cpu"])
        self.padding_id = int(self.model.tokenizer.pad_token_id or 0)
        self.tokenizer = _bare(backend)

    def encode(self, texts: Sequence[str], *, query: bool = False) -> Vectors:
        """See `ChunkEncoder.encode`."""
        return encode_windows(
            texts,
            self.tokenizer,
            identity=self.identity,
            prompt=self.prompt(query=query),
            batch_tokens=self._budget,
            forward=lambda batches: [self._run(rows)[0] for rows in batches],
        )

    def encode_parts(
        self,
        texts: Sequence[str],
        starts: Sequence[Sequence[int]],
        offsets: Sequence[Sequence[int]] = (),
        *,
        query: bool = False,
    ) -> Parts:
        """See `ChunkEncoder.encode_parts`."""
        _, pooling, *others = self.model
        is_plain = all(type(module).__name__ == "Normalize" for module in others)
        if getattr(pooling, "pooling_mode", None) != "mean" or not is_plain:
            return Parts(whole=self.encode(texts, query=query), spans=[], states=[])

        def forward(batches: list[list[list[int]]], take: Take) -> None:
            for index, rows in enumerate(batches):
                take(index, *self._run(rows, states=True))

        return encode_parts(
            texts,
            starts,
            offsets,
            self.tokenizer,
            identity=self.identity,
            prompt=self.prompt(query=query),
            batch_tokens=self._budget,
            forward=forward,
        )

    def prompt(self, *, query: bool) -> str:
        """What the model wants before a question or a passage; "" for most models."""
        prompts: dict[str, str | None] = self.model.prompts or {}
        kinds = ("query",) if query else ("document", "passage")
        return next((prompt for kind in kinds if (prompt := prompts.get(kind))), "")

    def _run(self, rows: list[list[int]], *, states: bool = False) -> tuple[Vectors, list[Vectors]]:
        """Vectors (rows, D) of rows of token ids, and if wanted the states (tokens, D) of each row's tokens."""
        try:
            return self._infer(rows, states=states)
        except torch.OutOfMemoryError:
            if len(rows) == 1:
                raise
            half = len(rows) // 2
        # Outside the handler, so that the failed batch's tensors are free.
        torch.cuda.empty_cache()
        self._budget = max(_MIN_BATCH_TOKENS, min(self._budget, half * len(rows[0])))
        _log.warning("%s is out of memory: going on with %d tokens a batch", self._device, self._budget)
        (one, own), (other, others) = (self._run(part, states=states) for part in (rows[:half], rows[half:]))
        return np.concatenate([one, other]), [*own, *others]

    def _infer(self, rows: list[list[int]], *, states: bool) -> tuple[Vectors, list[Vectors]]:
        ids, mask = pad(rows, self.padding_id)
        features: dict[str, Any] = {
            "input_ids": torch.from_numpy(ids).to(self._device),
            "attention_mask": torch.from_numpy(mask).to(self._device),
        }
        with torch.inference_mode():
            found = self.model(features)
            vectors = torch.nn.functional.normalize(found["sentence_embedding"].float(), dim=-1)
        result: Vectors = vectors.cpu().numpy()
        return result, list(found["token_embeddings"].float().cpu().numpy()) if states else []


def _bare(backend: Any) -> Tokenizer:
    """A copy of a tokenizer that neither pads nor cuts."""
    from tokenizers import Tokenizer

    tokenizer: Tokenizer = Tokenizer.from_str(backend.to_str())
    tokenizer.no_padding()
    tokenizer.no_truncation()
    return tokenizer
