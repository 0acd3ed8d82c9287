"""Which segments are to become one: few of them, and little that is hidden, at a small cost.

Segments of about the same size are merged when there are `FAN` of them, so that a passage is copied about
log(passages) / log(`FAN`) times in a library's life.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

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
    """What is to be rewritten at the end of a run: all that is small, and what has much that is hidden."""
    whole = sum(_size(part) for part in parts)
    small = [part for part in parts if _size(part) * FAN < whole]
    return [part for part in parts if (part in small and len(small) > 1) or _is_stale(part, purge)]


def _size(part: Part) -> int:
    return max(1, part.segment.rows["passage"])


def _tier(part: Part) -> int:
    return int(math.log(_size(part), FAN))


def _is_stale(part: Part, purge: bool) -> bool:
    mask = part.mask("passage")
    if not part.hidden or mask is None:
        return False
    return purge or len(mask) - int(mask.sum()) > _HIDDEN * len(mask)
