"""The learned space: one affine map for each kind of text, after which similarity means more than before.

Chunk vectors of one encoder lie in a narrow cone and share a few strong directions that carry no information
(Ethayarajh 2019, arXiv 1909.00512; Su et al. 2021, arXiv 2103.15316, whiten them away). Passages, sections, books,
short and long queries each have their own cone. Each projection moves the centre of its kind to the origin, then
rotates and scales: whitening at first, then trained on queries and their answers (nlb_training.projections). The
vectors of sections and long queries end with order features (nlb_retriever.model.dct). In NumPy, so that a query
needs no torch.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, fields

import numpy as np
from numpy.typing import NDArray

from nlb_retriever.encoding import Vectors
from nlb_retriever.errors import EncoderError
from nlb_retriever.model.dct import OrderFeatures, dct_coefficients
from nlb_retriever.model.reranker import FEATURES

Indexes = NDArray[np.int64]
KINDS = ("long_query", "short_query", "passage", "section", "book")
"""Kinds of text that have a projection of their own."""


@dataclass(frozen=True, kw_only=True)
class Projection:
    """x -> the unit vector of (x - center) @ matrix."""

    center: Vectors
    """(D,)"""
    matrix: Vectors
    """(D, D)"""

    def __call__(self, vectors: Vectors) -> Vectors:
        """Map unit vectors (..., D) to unit vectors (..., D); a vector at the centre stays as it is."""
        return self.with_norms(vectors)[0]

    def with_norms(self, vectors: Vectors) -> tuple[Vectors, Vectors]:
        """The unit vectors (..., D), and the norms (...) that they had before they were normalised."""
        mapped = (vectors - self.center) @ self.matrix
        norms = np.linalg.norm(mapped, axis=-1, keepdims=True)
        unit = np.where(norms > 1e-6, mapped / np.maximum(norms, 1e-6), vectors)
        return np.asarray(unit, dtype=np.float32), np.asarray(norms[..., 0], dtype=np.float32)


@dataclass(frozen=True, kw_only=True)
class Projections:
    """Maps the chunk encoder's vectors to the vectors of a library: queries and all levels in one space."""

    long_query: Projection
    """For queries of several sentences, such as summaries."""
    short_query: Projection
    """For queries of one sentence, and the single sentences of longer ones."""
    passage: Projection
    section: Projection
    book: Projection
    gate: Vectors
    """(3,): a query of n sentences is mapped by `long_query` with the weight gate[2] * sigmoid(gate[0] * ln n +
    gate[1]), by `short_query` with the rest."""
    reranker: Vectors
    """(F,): weights of `nlb_retriever.model.reranker.FEATURES`; all 0 if it was not trained."""
    context: Vectors
    """(1,): weight of each of a passage's two neighbours in its section, beside 1 for its own vector."""
    order: OrderFeatures | None = None
    """Order features of sections and queries; None if there are none."""

    @property
    def frequencies(self) -> int:
        """F, of the order features."""
        return len(self.order.weights) if self.order else 0

    @property
    def section_dim(self) -> int:
        """D and the length of the order features."""
        return len(self.section.center) + (self.order.width if self.order else 0)

    def project_sections(self, means: Vectors, coefficients: Vectors) -> Vectors:
        """Vectors (s, section_dim) of sections: unit vectors (D,), then the order features.

        Args:
            means: (s, D) unit means of their chunks.
            coefficients: (s, F, D) `dct.dct_coefficients` of their chunks; unused without order features.
        """
        mapped, norms = self.section.with_norms(means)
        if self.order is None:
            return mapped
        return np.concatenate([mapped, self.order.project_sections(coefficients, norms)], axis=1)

    def project_passages(self, chunks: Vectors, sections: Indexes) -> Vectors:
        """Contextual vectors (n, D) of consecutive passages.

        Args:
            chunks: (n, D) the chunk encoder's vectors of them.
            sections: (n,) index of each one's section; neighbours in another section do not count.
        """
        own = self.passage(chunks)
        if not self.context.any() or len(own) < 2:
            return own
        weight = (sections[1:] == sections[:-1])[:, None] * self.context
        mixed = own.copy()
        mixed[1:] += weight * own[:-1]
        mixed[:-1] += weight * own[1:]
        norms = np.linalg.norm(mixed, axis=-1, keepdims=True)
        return np.asarray(np.where(norms > 1e-6, mixed / np.maximum(norms, 1e-6), own), dtype=np.float32)

    def project_query(self, whole: Vectors, sentences: Vectors) -> Vectors:
        """The vector (section_dim,) of a query for sections; its first D numbers are for passages and books.

        Args:
            whole: (D,) the vector of the whole text.
            sentences: (n, D) those of its sentences, in order.
        """
        both = _unit(whole + _unit(sentences.mean(axis=0)))
        scale, shift, most = self.gate
        share = most / (1 + np.exp(-(scale * np.log(len(sentences)) + shift)))
        long, norm = self.long_query.with_norms(both)
        vector = _unit(share * long + (1 - share) * self.short_query(both))
        if self.order is None:
            return vector
        coefficients = dct_coefficients(sentences, self.frequencies)
        return np.concatenate([vector, self.order.project_query(coefficients, float(norm), len(sentences))])

    def tensors(self) -> dict[str, Vectors]:
        """All arrays, by the names that a checkpoint keeps them under."""
        parts = {_key(name, part): getattr(getattr(self, name), part) for name in KINDS for part in _PARTS}
        order = {_key("order", part): getattr(self.order, part) for part in _ORDER} if self.order else {}
        single = {_key(name): getattr(self, name) for name in _SINGLE}
        return {**parts, **order, **single}

    @classmethod
    def from_tensors(cls, tensors: Mapping[str, Vectors], dim: int) -> Projections:
        """Read back what `tensors` gave.

        Args:
            tensors: by name; those of other parts of a checkpoint are ignored.
            dim: D.

        Raises:
            EncoderError: one is missing, has another shape, or holds NaN or infinity.
        """
        shapes: dict[str, tuple[int, ...]] = {_key(name, "center"): (dim,) for name in KINDS}
        shapes |= {_key(name, "matrix"): (dim, dim) for name in KINDS}
        shapes |= {_key("gate"): (3,), _key("reranker"): (len(FEATURES),), _key("context"): (1,)}
        ordered = any(name.startswith(_key("order", "")) for name in tensors)
        if ordered:
            unknown = np.zeros(1)
            rank = tensors.get(_key("order", "directions"), unknown).shape[-1]
            count = tensors.get(_key("order", "weights"), unknown).shape[-1]
            shapes |= {_key("order", "directions"): (dim, rank)}
            shapes |= {_key("order", "weights"): (count,), _key("order", "half"): (1,)}
        for name, shape in shapes.items():
            if name not in tensors or tensors[name].shape != shape:
                found = list(tensors[name].shape) if name in tensors else "missing"
                raise EncoderError(f"{name} is {found}, should be {list(shape)}: get the checkpoint again")
            if not np.isfinite(tensors[name]).all():
                raise EncoderError(f"{name} holds NaN or infinity: get the checkpoint again")
        kept = {name: np.asarray(tensors[name], dtype=np.float32) for name in shapes}
        projections = {name: Projection(**{part: kept[_key(name, part)] for part in _PARTS}) for name in KINDS}
        return cls(
            **projections,
            gate=kept[_key("gate")],
            reranker=kept[_key("reranker")],
            context=kept[_key("context")],
            order=OrderFeatures(**{part: kept[_key("order", part)] for part in _ORDER}) if ordered else None,
        )


PREFIX = "heads."
"""Of the names of these tensors in a checkpoint."""
_STORED = {"long_query": "question_long", "short_query": "question_short"}
_SINGLE = ("gate", "reranker", "context")
_PARTS = tuple(field.name for field in fields(Projection))
_ORDER = tuple(field.name for field in fields(OrderFeatures))


def _key(name: str, *parts: str) -> str:
    return PREFIX + ".".join((_STORED.get(name, name), *parts))


def _unit(vector: Vectors) -> Vectors:
    return np.asarray(vector / max(float(np.linalg.norm(vector)), 1e-9), dtype=np.float32)
