"""The learned space: one affine map a kind of text, after which nearness means more than before.

Chunk vectors of one encoder lie in a narrow cone and share a few strong directions that tell nothing
(Ethayarajh 2019, arXiv 1909.00512; Su et al. 2021, arXiv 2103.15316, whiten them away). Passages,
sections, books, short and long questions each have their own cone. Each head moves its kind's centre to
the origin and turns and weighs the directions: whitened at first, then trained on questions and what
answers them (nlb_training.projections.training). Behind a section's vector, and a long question's, stands what it says
of the order of things (nlb_retriever.model.dct). Kept in NumPy, so that a question needs no torch.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, fields

import numpy as np
from numpy.typing import NDArray

from nlb_retriever.encoding import Vectors
from nlb_retriever.errors import EncoderError
from nlb_retriever.model.dct import Order, waves
from nlb_retriever.model.reranker import FEATURES

Indexes = NDArray[np.int64]
AFFINES = ("question_long", "question_short", "passage", "section", "book")


@dataclass(frozen=True, kw_only=True)
class Affine:
    """x -> the unit vector of (x - center) @ matrix."""

    center: Vectors
    """(D,)"""
    matrix: Vectors
    """(D, D)"""

    def __call__(self, vectors: Vectors) -> Vectors:
        """Map unit vectors (..., D) to unit vectors (..., D); what lies at the centre stays as it is."""
        return self.measured(vectors)[0]

    def measured(self, vectors: Vectors) -> tuple[Vectors, Vectors]:
        """Besides the unit vectors (..., D), the lengths (...) that they had before."""
        mapped = (vectors - self.center) @ self.matrix
        lengths = np.linalg.norm(mapped, axis=-1, keepdims=True)
        unit = np.where(lengths > 1e-6, mapped / np.maximum(lengths, 1e-6), vectors)
        return np.asarray(unit, dtype=np.float32), np.asarray(lengths[..., 0], dtype=np.float32)


@dataclass(frozen=True, kw_only=True)
class Heads:
    """What makes the vectors of a library from the chunk encoder's: questions and all levels in one space."""

    question_long: Affine
    """For questions of several sentences, such as summaries."""
    question_short: Affine
    """For questions of one sentence, and the single sentences of longer ones."""
    passage: Affine
    section: Affine
    book: Affine
    gate: Vectors
    """(3,): share of the long head in a question of n sentences is gate[2] * sigmoid(gate[0] * ln n + gate[1])."""
    reranker: Vectors
    """(F,): weights of `nlb_retriever.model.reranker.FEATURES`; all 0 where it was not trained."""
    context: Vectors
    """(1,): weight of each of a passage's two neighbours in its section, beside 1 for its own vector."""
    order: Order | None = None
    """What makes the order parts of sections and questions; None where there are none."""

    @property
    def frequencies(self) -> int:
        """F, those of the order part."""
        return len(self.order.weights) if self.order else 0

    @property
    def section_dim(self) -> int:
        """D and the width of the order part."""
        return len(self.section.center) + (self.order.width if self.order else 0)

    def sections(self, means: Vectors, transforms: Vectors) -> Vectors:
        """Vectors (s, section_dim) of sections: unit vectors (D,), each with its order part behind it.

        Args:
            means: (s, D) unit means of their chunks.
            transforms: (s, F, D) `order.waves` of their chunks; not looked at without an order.
        """
        mapped, lengths = self.section.measured(means)
        if self.order is None:
            return mapped
        return np.concatenate([mapped, self.order.of_sections(transforms, lengths)], axis=1)

    def passages(self, chunks: Vectors, sections: Indexes) -> Vectors:
        """Contextual vectors (n, D) of passages that follow each other.

        Args:
            chunks: (n, D) the chunk encoder's vectors of them.
            sections: (n,) number of each one's section; neighbours of another section do not count.
        """
        own = self.passage(chunks)
        if not self.context.any() or len(own) < 2:
            return own
        near = (sections[1:] == sections[:-1])[:, None] * self.context
        mixed = own.copy()
        mixed[1:] += near * own[:-1]
        mixed[:-1] += near * own[1:]
        lengths = np.linalg.norm(mixed, axis=-1, keepdims=True)
        return np.asarray(np.where(lengths > 1e-6, mixed / np.maximum(lengths, 1e-6), own), dtype=np.float32)

    def question(self, whole: Vectors, sentences: Vectors) -> Vectors:
        """The vector (section_dim,) of a question, for sections; its first D numbers are for passages and books.

        Args:
            whole: (D,) the vector of all of its text.
            sentences: (n, D) those of its sentences, in order.
        """
        both = _unit(whole + _unit(sentences.mean(axis=0)))
        scale, shift, most = self.gate
        share = most / (1 + np.exp(-(scale * np.log(len(sentences)) + shift)))
        long, length = self.question_long.measured(both)
        vector = _unit(share * long + (1 - share) * self.question_short(both))
        if self.order is None:
            return vector
        transform = waves(sentences, self.frequencies)
        return np.concatenate([vector, self.order.of_question(transform, float(length), len(sentences))])

    def tensors(self) -> dict[str, Vectors]:
        """By the names that a checkpoint keeps them under."""
        parts = {f"heads.{name}.{part}": getattr(getattr(self, name), part) for name in AFFINES for part in _PARTS}
        order = {f"heads.order.{part}": getattr(self.order, part) for part in _ORDER} if self.order else {}
        return {
            **parts,
            **order,
            "heads.gate": self.gate,
            "heads.reranker": self.reranker,
            "heads.context": self.context,
        }

    @classmethod
    def from_tensors(cls, tensors: Mapping[str, Vectors], dim: int) -> Heads:
        """Read back what `tensors` made.

        Args:
            tensors: by name; others than those of heads are passed over. Without a context or order there is none.
            dim: D.

        Raises:
            EncoderError: one is missing or has another shape, or holds what is no number.
        """
        shapes: dict[str, tuple[int, ...]] = {f"heads.{name}.center": (dim,) for name in AFFINES}
        shapes |= {f"heads.{name}.matrix": (dim, dim) for name in AFFINES}
        shapes |= {"heads.gate": (3,), "heads.reranker": (len(FEATURES),), "heads.context": (1,)}
        tensors = {"heads.context": np.zeros(1, dtype=np.float32), **tensors}
        ordered = any(name.startswith("heads.order.") for name in tensors)
        if ordered:
            some = np.zeros(1)
            rank = tensors.get("heads.order.directions", some).shape[-1]
            count = tensors.get("heads.order.weights", some).shape[-1]
            shapes |= {"heads.order.directions": (dim, rank), "heads.order.weights": (count,), "heads.order.half": (1,)}
        for name, shape in shapes.items():
            if name not in tensors or tensors[name].shape != shape:
                found = list(tensors[name].shape) if name in tensors else "missing"
                raise EncoderError(f"{name} is {found}, should be {list(shape)}: get the checkpoint again")
            if not np.isfinite(tensors[name]).all():
                raise EncoderError(f"{name} holds NaN or infinity: get the checkpoint again")
        kept = {name: np.asarray(tensors[name], dtype=np.float32) for name in shapes}
        affines = {name: Affine(**{part: kept[f"heads.{name}.{part}"] for part in _PARTS}) for name in AFFINES}
        return cls(
            **affines,
            gate=kept["heads.gate"],
            reranker=kept["heads.reranker"],
            context=kept["heads.context"],
            order=Order(**{part: kept[f"heads.order.{part}"] for part in _ORDER}) if ordered else None,
        )


_PARTS = tuple(field.name for field in fields(Affine))
_ORDER = tuple(field.name for field in fields(Order))


def _unit(vector: Vectors) -> Vectors:
    return np.asarray(vector / max(float(np.linalg.norm(vector)), 1e-9), dtype=np.float32)
