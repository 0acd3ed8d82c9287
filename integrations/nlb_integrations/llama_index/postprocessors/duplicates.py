"""Near-duplicates: the same text in two editions, and spans that overlap."""

from __future__ import annotations

import re

from llama_index.core.postprocessor.types import BaseNodePostprocessor
from llama_index.core.schema import MetadataMode, NodeWithScore, QueryBundle

from nlb_retriever.errors import QueryError

_WORDS_TOGETHER = 3
_WORDS = re.compile("[\u2e80-\u9fff\uac00-\ud7a3]|[^\\W\u2e80-\u9fff\uac00-\ud7a3]+")
"""Words; where a script has no spaces, characters."""


class DropDuplicates(BaseNodePostprocessor):
    """Drops a node where better-scored ones have already said what it says.

    What a text says are its runs of three words, without case and punctuation; it is dropped where `threshold` of
    them stand in what is kept. So of two editions the better-scored one stays, a passage inside a section that was
    found too goes, and one that half overlaps another stays. Only texts are compared: any retriever's nodes will do.

    Args:
        threshold: share of a node's runs of words, above 0 to 1.

    Raises:
        QueryError: it is not.
    """

    threshold: float = 0.7

    def __init__(self, threshold: float = 0.7) -> None:
        if not 0 < threshold <= 1:
            raise QueryError(f"threshold must be above 0 and at most 1, not {threshold!r}")
        super().__init__()
        self.threshold = threshold

    @classmethod
    def class_name(cls) -> str:
        return "DropDuplicates"

    def _postprocess_nodes(
        self, nodes: list[NodeWithScore], query_bundle: QueryBundle | None = None
    ) -> list[NodeWithScore]:
        said: set[tuple[str, ...]] = set()
        kept: set[int] = set()
        for place in sorted(range(len(nodes)), key=lambda place: -nodes[place].get_score()):
            own = _runs_of_words(nodes[place].node.get_content(MetadataMode.NONE))
            if not own or len(own & said) < self.threshold * len(own):
                kept.add(place)
                said |= own
        return [node for place, node in enumerate(nodes) if place in kept]


def _runs_of_words(text: str) -> set[tuple[str, ...]]:
    words = _WORDS.findall(text.casefold())
    count = max(1, len(words) - _WORDS_TOGETHER + 1) if words else 0
    return {tuple(words[start : start + _WORDS_TOGETHER]) for start in range(count)}
