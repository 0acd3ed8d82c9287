"""The bare chunk encoder: tokens a second, and its share of this machine's int8 matrix peak.

    python benchmarks/encoder.py [--torch]

Encodes passages of real books, all in memory, and measures in the same run what the machine reaches
on nothing but large int8 matrix products (OpenVINO, the kernels that the encoder uses too where the CPU has VNNI).
`--torch` adds fp32 torch on the CPU and the cosine between both.
"""

from __future__ import annotations

import argparse
import json
import time
from collections.abc import Callable, Sequence
from pathlib import Path

import numpy as np
from data import dev_texts

from nlb_retriever.encoding import ChunkEncoder, load_encoder
from nlb_retriever.encoding.load import load_torch_encoder
from nlb_retriever.encoding.openvino_core import load_openvino, shared_core
from nlb_retriever.records import Section
from nlb_retriever.text.chunking import Chunker

LAYERS, HIDDEN, INNER = 6, 384, 1536
"""Of MiniLM."""


def operations(lengths: Sequence[int]) -> float:
    """Multiplications and additions to encode rows of these lengths, in tokens with special ones."""
    per_token = LAYERS * 2 * (4 * HIDDEN * HIDDEN + 2 * HIDDEN * INNER)
    return float(sum(n * per_token + LAYERS * 2 * 2 * n * n * HIDDEN for n in lengths))


def int8_peak(size: int = 2048, layers: int = 8) -> float:
    """Operations a second of a chain of int8 matrix products, the best of several."""
    openvino = load_openvino()
    op = openvino.opset13
    rows = op.parameter([size, size], np.float32)
    hidden = rows
    random = np.random.default_rng(0)
    zero, high = op.constant(np.float32(0)), op.constant(np.float32(2.55))
    for _ in range(layers):
        weights = op.constant(random.integers(-127, 128, (size, size)).astype(np.int8))
        hidden = op.fake_quantize(hidden, zero, high, zero, high, 256)
        real = op.multiply(op.convert(weights, np.float32), op.constant(np.float32(0.01)))
        hidden = op.matmul(hidden, real, False, False)
    model = shared_core().compile_model(openvino.Model([hidden], [rows]), "CPU", {"NUM_STREAMS": 1})
    request, given = model.create_infer_request(), random.random((size, size), dtype=np.float32)
    return layers * 2 * size**3 / min(timed(lambda: request.infer({0: given})) for _ in range(10))


def timed(work: Callable[[], object]) -> float:
    started = time.perf_counter()
    work()
    return time.perf_counter() - started


def passages(encoder: ChunkEncoder, texts: Sequence[str], count: int) -> list[str]:
    chunker = Chunker(encoder.tokenizer)
    found: list[str] = []
    for text in texts:
        whole = Section(path=("all",), start=0, end=len(text))
        found += [text[passage.start : passage.end] for passage in chunker.passages(text, [whole])]
        if len(found) >= count:
            break
    return found[:count]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--torch", action="store_true", help="also measure fp32 torch on the CPU")
    parser.add_argument("--passages", type=int, default=2000)
    parser.add_argument("--runs", type=int, default=3)
    parser.add_argument("--data", type=Path, help="folder of the dev data")
    arguments = parser.parse_args()
    encoder = load_encoder(device="cpu")
    texts = passages(encoder, dev_texts(arguments.data), arguments.passages)
    lengths = [len(encoding.ids) for encoding in encoder.tokenizer.encode_batch(texts)]
    encoder.encode(texts[:64])
    seconds, peaks = [], []
    for _ in range(arguments.runs):
        seconds.append(timed(lambda: encoder.encode(texts)))
        peaks.append(int8_peak())
    best, peak = min(seconds), max(peaks)
    result: dict[str, str | float] = {
        "backend": encoder.backend,
        "passages": len(texts),
        "tokens": sum(lengths),
        "tokens_per_second": round(sum(lengths) / best),
        "tera_operations_per_second": round(operations(lengths) / best / 1e12, 3),
        "int8_peak_tera_operations_per_second": round(peak / 1e12, 3),
        "share_of_int8_peak": round(operations(lengths) / best / peak, 3),
    }
    if arguments.torch:
        plain = load_torch_encoder()
        few = texts[: len(texts) // 4]
        vectors = encoder.encode(few)
        started = time.perf_counter()
        reference = plain.encode(few)
        plain_speed = round(sum(lengths[: len(few)]) / (time.perf_counter() - started))
        result["torch_fp32_tokens_per_second"] = plain_speed
        result["times_torch_fp32"] = round(sum(lengths) / best / plain_speed, 2)
        result["cosine_to_fp32"] = round(float((vectors * reference).sum(1).mean()), 4)
    print(json.dumps(result, indent=2))


if __name__ == "__main__":
    main()
