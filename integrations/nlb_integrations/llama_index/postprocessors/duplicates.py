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
    """Drops a node whose text better-scored nodes already contain.

    Texts are compared by their runs of three words, without case and punctuation; a node is dropped where `threshold`
    of its runs are in the nodes that are kept. So of two editions the better-scored one stays, a passage inside a
    retrieved section is dropped, and one that half overlaps another stays. Any retriever's nodes will do.

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
        seen: set[tuple[str, ...]] = set()
        kept: set[int] = set()
        for index in sorted(range(len(nodes)), key=lambda index: -nodes[index].get_score()):
            runs = _runs_of_words(nodes[index].node.get_content(MetadataMode.NONE))
            if not runs or len(runs & seen) < self.threshold * len(runs):
                kept.add(index)
                seen |= runs
        return [node for index, node in enumerate(nodes) if index in kept]


def _runs_of_words(text: str) -> set[tuple[str, ...]]:
    words = _WORDS.findall(text.casefold())
    count = max(1, len(words) - _WORDS_TOGETHER + 1) if words else 0
    return {tuple(words[start : start + _WORDS_TOGETHER]) for start in range(count)}
