"""Which segments are to become one: few of them, and little that is hidden, at a small cost.

Segments of about the same size are merged when there are `FAN` of them, so that a passage is copied about
log(passages) / log(`FAN`) times while a run adds books. The end of a run copies a small segment only where all smaller
ones together have at least an eighth of its passages, so that many runs of one book copy little more.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from itertools import accumulate

from nlb_retriever.store.backends.snapshot import Part

FAN = 8
_HIDDEN = 0.25
"""Share of a segment's passages from which it is rewritten for what is hidden in it."""


def due(parts: Sequence[Part]) -> list[Part]:
    """What is to be merged now, after something was published."""
    sizes = [_tier(part) for part in parts]
    for size in sorted(set(sizes)):
        if sizes.count(size) >= FAN:
            return [part for part, own in zip(parts, sizes, strict=True) if own <= size]
    return []


def worthwhile(parts: Sequence[Part], *, purge: bool) -> list[Part]:
    """What is to be rewritten at the end of a run: what is small, and what has much that is hidden."""
    small = _small(parts)
    return [part for part in parts if part in small or _is_stale(part, purge)]


def _small(parts: Sequence[Part]) -> list[Part]:
    """Small parts that are to become one, without those that would be copied for the sake of far less."""
    whole = sum(map(_size, parts))
    small = sorted((part for part in parts if _size(part) * FAN < whole), key=_size)
    smaller = accumulate(map(_size, small), initial=0)
    worth = [at for at, (part, rest) in enumerate(zip(small, smaller, strict=False)) if _size(part) <= FAN * rest]
    return small[: worth[-1] + 1] if worth else []


def _size(part: Part) -> int:
    return max(1, part.segment.rows["passage"])


def _tier(part: Part) -> int:
    return int(math.log(_size(part), FAN))


def _is_stale(part: Part, purge: bool) -> bool:
    mask = part.mask("passage")
    if not part.hidden or mask is None:
        return False
    return purge or len(mask) - int(mask.sum()) > _HIDDEN * len(mask)
