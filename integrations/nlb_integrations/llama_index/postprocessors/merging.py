"""Neighbouring passages as one text, or as their whole section, within a budget of tokens."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from uuid import UUID, uuid5

from llama_index.core.schema import (
    MetadataMode,
    NodeRelationship,
    NodeWithScore,
    QueryBundle,
    RelatedNodeInfo,
    TextNode,
)

from nlb_integrations.llama_index.nodes import section_of, to_nodes
from nlb_integrations.llama_index.postprocessors.library import Library, LibraryPostprocessor
from nlb_retriever.errors import QueryError
from nlb_retriever.records import SectionRecord
from nlb_retriever.search.hits import to_hit


class MergeNeighbours(LibraryPostprocessor):
    """Joins neighbouring passages of a section, or takes the whole section, within a token budget.

    Retrieved nodes come first, the best-scored before the rest; what does not fit is left out. With what is then
    left of the budget, a section of which at least `ratio` was retrieved is taken whole. A joined node's text is the
    exact span of the book, with what is between its passages; its score is the best of theirs, its id is the same
    for the same span, its CHILD relationship names its passages, and it has the parent, previous, next and source of
    its span. A section taken whole is the node of `NLBRetriever(level="section")`.

    Nodes that are not passages of this library (books, other retrievers' nodes) stay as they are, and count.

    Args:
        library: a `Retriever` or `NLBRetriever`, which is then shared; or a folder, name or URL, None for the default.
        token_budget: most tokens of all nodes together as a language model sees them (with title, author, chapter and
            page), by the tokenizer of the library's chunk encoder. The default leaves a model with a window of 4,096
            tokens room for the question and its answer.
        ratio: least share of a section's passages; 0 for every section that fits, above 1 for none.

    Raises:
        QueryError: the budget is not above 0 or the ratio is negative.
    """

    token_budget: int = 3000
    ratio: float = 0.5

    def __init__(self, library: Library = None, *, token_budget: int = 3000, ratio: float = 0.5) -> None:
        if isinstance(token_budget, bool) or not isinstance(token_budget, int) or token_budget < 1:
            raise QueryError(f"token_budget must be a whole number of tokens from 1, not {token_budget!r}")
        if not ratio >= 0:
            raise QueryError(f"ratio must be a share of a section's passages, from 0, not {ratio!r}")
        super().__init__(library)
        self.token_budget = token_budget
        self.ratio = ratio

    @classmethod
    def class_name(cls) -> str:
        return "MergeNeighbours"

    def _postprocess_nodes(
        self, nodes: list[NodeWithScore], query_bundle: QueryBundle | None = None
    ) -> list[NodeWithScore]:
        if not nodes:
            return []
        ids = dict.fromkeys(section_id for node in nodes if (section_id := section_of(node.node)))
        sections = {section.id: section for section in self._library.store.get_sections(list(ids))}
        taken: dict[str, _Taken] = {}
        others: list[NodeWithScore] = []
        left = self.token_budget
        for node in sorted(nodes, key=lambda node: -node.get_score()):
            section = sections.get(section_of(node.node) or "")
            piece = _to_piece(node, section) if section else None
            if section and piece:
                before = taken.get(section.id, _Taken(section=section))
                pieces = (*before.pieces, piece)
                after = self._take(section, pieces, _join(section, pieces))
            else:
                before, after = _NOTHING, self._take(None, (), [NodeWithScore(node=node.node, score=node.get_score())])
            if after.tokens - before.tokens > left:
                continue
            left -= after.tokens - before.tokens
            if after.section:
                taken[after.section.id] = after
            else:
                others += after.nodes
        for key, part in taken.items():
            whole = self._whole(part)
            if whole and whole.tokens - part.tokens <= left:
                left -= whole.tokens - part.tokens
                taken[key] = whole
        merged = [node for part in taken.values() for node in part.nodes]
        return sorted([*merged, *others], key=lambda node: -node.get_score())

    def _whole(self, part: _Taken) -> _Taken | None:
        """The whole section, where enough of it was retrieved."""
        assert part.section
        ordinals = {ordinal for piece in part.pieces for ordinal in piece.ordinals}
        if len(ordinals) < self.ratio * len(range(*part.section.passages)):
            return None
        best = max(node.get_score() for node in part.nodes)
        return self._take(part.section, part.pieces, to_nodes([to_hit(part.section, best)], self._library.store))

    def _take(self, section: SectionRecord | None, pieces: tuple[_Piece, ...], nodes: list[NodeWithScore]) -> _Taken:
        tokenizer = self._library.vectorizer.encoder.tokenizer
        texts = [node.node.get_content(MetadataMode.LLM) for node in nodes]
        tokens = sum(map(len, tokenizer.encode_batch_fast(texts, add_special_tokens=False)))
        return _Taken(section=section, pieces=pieces, nodes=nodes, tokens=tokens)


@dataclass(frozen=True, kw_only=True)
class _Piece:
    """A node that is an exact span of its section."""

    node: TextNode
    score: float
    start: int
    end: int
    ordinals: range
    """Of the passages that it holds."""


@dataclass(frozen=True, kw_only=True)
class _Taken:
    """The nodes taken of a section, or a node that is of none."""

    section: SectionRecord | None = None
    pieces: tuple[_Piece, ...] = ()
    nodes: list[NodeWithScore] = field(default_factory=list)
    tokens: int = 0


_NOTHING = _Taken()


def _to_piece(scored: NodeWithScore, section: SectionRecord) -> _Piece | None:
    """A section's node, a passage or some joined before; None for one that has been cut or changed since."""
    node = scored.node
    start, end = getattr(node, "start_char_idx", None), getattr(node, "end_char_idx", None)
    if not isinstance(node, TextNode) or start is None or end is None:
        return None
    if start < section.start or section.text[start - section.start : end - section.start] != node.text:
        return None
    first = node.metadata.get("ordinal")
    if node.node_id == section.id:
        ordinals = range(*section.passages)
    elif isinstance(first, int):
        ordinals = range(first, first + len(node.child_nodes or [node]))
    else:
        return None
    return _Piece(node=node, score=scored.get_score(), start=start, end=end, ordinals=ordinals) if ordinals else None


def _join(section: SectionRecord, pieces: Sequence[_Piece]) -> list[NodeWithScore]:
    """Pieces of a section that touch each other as one node each."""
    runs: list[list[_Piece]] = []
    last = -2
    for piece in sorted(pieces, key=lambda piece: (piece.start, -piece.end)):
        if piece.ordinals.start > last + 1:
            runs.append([])
        runs[-1].append(piece)
        last = max(last, piece.ordinals.stop - 1)
    return [_to_node(section, run) for run in runs]


def _to_node(section: SectionRecord, run: Sequence[_Piece]) -> NodeWithScore:
    score = max(piece.score for piece in run)
    first, last = run[0], max(run, key=lambda piece: piece.end)
    if last.end == first.end:
        return NodeWithScore(node=first.node, score=score)
    passages: dict[int, RelatedNodeInfo] = {}
    for piece in run:
        children = piece.node.child_nodes or [piece.node.as_related_node_info()]
        passages |= zip(piece.ordinals, children, strict=True)
    relationships = dict(first.node.relationships)
    relationships[NodeRelationship.CHILD] = [passages[ordinal] for ordinal in sorted(passages)]
    relationships.pop(NodeRelationship.NEXT, None)
    if last.node.next_node:
        relationships[NodeRelationship.NEXT] = last.node.next_node
    node = TextNode(
        id_=str(uuid5(UUID(section.id), f"{first.ordinals.start}-{last.ordinals.stop}")),
        text=section.text[first.start - section.start : last.end - section.start],
        start_char_idx=first.start,
        end_char_idx=last.end,
        metadata=dict(first.node.metadata),
        excluded_llm_metadata_keys=list(first.node.excluded_llm_metadata_keys),
        excluded_embed_metadata_keys=list(first.node.excluded_embed_metadata_keys),
        relationships=relationships,
    )
    return NodeWithScore(node=node, score=score)
