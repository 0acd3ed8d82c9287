"""The chunk encoder: texts to unit vectors, frozen, on whatever this machine has.

`load_encoder` picks the fastest back end that gives the model's vectors: torch in bf16 on a CUDA
device, else OpenVINO's model (the default one is shipped, in int8), else torch on the CPU. All back ends of
one model share one `EncoderIdentity`: their vectors agree to a cosine of 0.99 or better, so a
library indexed on a GPU answers on a laptop.
"""

from __future__ import annotations

from nlb_retriever.encoding.base import ChunkEncoder, EncoderIdentity, Parts, Vectors
from nlb_retriever.encoding.load import (
    DEFAULT_ENCODER,
    facts_regression,
    find_salience,
    find_term_projection,
    identify_encoder,
    load_encoder,
)
from nlb_retriever.encoding.salience import mean_vector, score_sentences

__all__ = [
    "DEFAULT_ENCODER",
    "ChunkEncoder",
    "EncoderIdentity",
    "Parts",
    "Vectors",
    "facts_regression",
    "find_salience",
    "find_term_projection",
    "identify_encoder",
    "load_encoder",
    "mean_vector",
    "score_sentences",
]
