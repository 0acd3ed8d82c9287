"""LlamaIndex's documents and nodes as books: which of them make one book, and its metadata."""

from __future__ import annotations

import logging
import math
import os
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from typing import Any

from llama_index.core.schema import BaseNode, Document, MetadataMode

from nlb_integrations.conventions import CHAPTER_SEPARATOR, EXCLUDED
from nlb_retriever.errors import several
from nlb_retriever.indexing.plan import is_random_name
from nlb_retriever.reading.book import language_tag
from nlb_retriever.reading.draft import clean
from nlb_retriever.reading.text import book_from_text, to_year
from nlb_retriever.records import Book, Page, Section

_OF_A_PART = ("page_label", "header_path", "chapter")
_VOLATILE = ("file_size", "creation_date", "last_modified_date", "last_accessed_date")
"""Facts of a file system that may change without the text: no reason to encode it again."""
_FEW_WORDS = 5

_log = logging.getLogger(__name__)


@dataclass(frozen=True, kw_only=True)
class Part:
    """A stretch of a book: a document, one page of it, or a node."""

    text: str
    label: str | None = None
    """Label of its page."""
    path: tuple[str, ...] | None = None
    """Titles, where the part is a section; None where sections are found in the whole text."""
    joint: str = "\n\n"
    """What separates it from the part before."""
    metadata: Mapping[str, Any] = field(default_factory=dict)
    """Of a node, what it has beside the metadata of all."""


@dataclass(frozen=True, kw_only=True)
class DocumentGroup:
    """Documents or nodes that make one book."""

    source: str
    """The lasting name that identifies the book."""
    parts: tuple[Part, ...]
    metadata: Mapping[str, Any]
    """What all parts have in common."""
    owners: tuple[str, ...]
    """Ids of the documents."""

    @property
    def paged(self) -> bool:
        """Whether it is made of pages."""
        return all(part.label is not None and part.path is None for part in self.parts)

    @property
    def nodes(self) -> bool:
        """Whether it is made of nodes."""
        return all(part.path is not None for part in self.parts)

    def to_book(self) -> Book:
        """The book; where the parts are nodes, each is a section."""
        pieces, pages, starts, length = list[str](), list[Page](), list[int](), 0
        for part in self.parts:
            joint = part.joint if length else ""
            length += len(joint)
            starts.append(length)
            if part.label is not None and (part.path is None or not pages or pages[-1].label != part.label):
                pages.append(Page(start=length, number=len(pages) + 1, label=part.label))
            pieces += joint, part.text
            length += len(part.text)
        text = "".join(pieces)
        borders = [0, *starts[1:], len(text)]
        sections = [
            Section(path=part.path or (), start=start, end=end, metadata=part.metadata)
            for part, (start, end) in zip(self.parts if self.nodes else (), pairwise(borders), strict=False)
        ]
        year = to_year(self.metadata.get("year"))
        language = _text(self.metadata.get("language"))
        author = self.metadata.get("author")
        authors = author if isinstance(author, list | tuple) else None
        kept = {"year": year is None, "language": language_tag(language) is None, "author": authors is not None}
        used = {"title", *(_OF_A_PART if self.nodes else ("page_label",)), *(key for key in kept if not kept[key])}
        return book_from_text(
            text,
            source=self.source,
            title=_text(self.metadata.get("title")),
            author=_text(author) if authors is None else authors,
            language=language,
            year=year,
            file_name=_text(self.metadata.get("file_name")),
            sections=sections,
            pages=pages,
            metadata={key: value for key, value in self.metadata.items() if key not in used},
            volatile=_VOLATILE,
        )


def listed(items: BaseNode | Sequence[BaseNode]) -> tuple[Any, ...]:
    """Documents or nodes, which may be one, as a tuple.

    Raises:
        QueryError: one is neither.
    """
    return several(items, BaseNode, "give LlamaIndex's documents or nodes")


def group(items: Sequence[BaseNode]) -> list[DocumentGroup]:
    """Group documents, or nodes of other parsers, by the book that they belong to, in order.

    Pages (`page_label`) of one file (`file_path`) make one book, and so do the nodes of one document. Anything else
    is a book of its own, identified by its id; where that is a random one, by its file, if it is the only document
    of that file.
    """
    owned: dict[str, set[str]] = {}
    for item in items:
        if (file := _file(item)) and "page_label" not in item.metadata:
            owned.setdefault(file, set()).add(_owner(item))
    found: dict[str, list[BaseNode]] = {}
    for item in items:
        found.setdefault(_source(item, owned), []).append(item)
    return [_group(source, members) for source, members in found.items()]


def _group(source: str, members: Sequence[BaseNode]) -> DocumentGroup:
    common = _common([member.metadata for member in members])
    parts = tuple(_parts(members, common))
    keys = {str(key) for member in members for key in member.metadata}
    kept = {*common, *_OF_A_PART, *_VOLATILE, *(key for part in parts for key in part.metadata)}
    if lost := sorted(keys - kept):
        _log.warning("%s: metadata that not all of its parts share is left out: %s", source, ", ".join(lost))
    return DocumentGroup(
        source=source,
        parts=parts,
        metadata={**common, **_excluded(members)},
        owners=tuple(dict.fromkeys(map(_owner, members))),
    )


def roots(nodes: Sequence[BaseNode]) -> list[BaseNode]:
    """Nodes without those that are inside others of them, whose text they repeat."""
    there = {node.node_id for node in nodes}
    return [node for node in nodes if not (node.parent_node and node.parent_node.node_id in there)]


def pages_of(book: Book) -> list[Part]:
    """The pages of a book as parts."""
    borders = [*(page.start for page in book.pages), len(book.text)]
    return [
        Part(text=book.text[start:end].removesuffix("\n"), label=page.label, joint="\n")
        for page, (start, end) in zip(book.pages, pairwise(borders), strict=True)
    ]


def with_pages(old: Sequence[Part], new: Sequence[Part], *, instead: bool) -> tuple[Part, ...]:
    """A book's pages with further ones: by number where all have one, else at the end.

    Args:
        old: the book's pages.
        new: the further ones; those that the book already has are left out.
        instead: replace pages of the same label.
    """
    parts = list(old)
    for part in new:
        same = [index for index, each in enumerate(parts) if each.label == part.label]
        if same and instead:
            parts[same[0]] = part
        elif not any(parts[index].text == part.text for index in same):
            parts.append(part)
    if all(part.label and part.label.isdecimal() for part in parts):
        parts.sort(key=lambda part: int(part.label or 0))
    return tuple(parts)


def with_nodes(old: Book, new: Sequence[Part]) -> tuple[Part, ...]:
    """A book's sections as parts, then those of `new` that the book does not hold.

    It holds its sections, and longer texts that occur anywhere in it: what overlapping nodes share is kept once, so
    a node need not be a whole section. A few words may occur anywhere by chance.
    """
    labels = [next((page.label for page in reversed(old.pages) if page.start <= s.start), None) for s in old.sections]
    held = tuple(
        Part(
            text=old.text[section.start : section.end],
            path=section.path,
            label=label,
            joint="",
            metadata=section.metadata,
        )
        for section, label in zip(old.sections, labels, strict=True)
    )
    sections = {part.text.strip() for part in held}

    def is_held(text: str) -> bool:
        return text in sections or (len(text.split()) > _FEW_WORDS and text in old.text)

    return (*held, *(part for part in new if not is_held(part.text.strip())))


def _source(item: BaseNode, owned: Mapping[str, set[str]]) -> str:
    owner, file = _owner(item), _file(item)
    if file and ("page_label" in item.metadata or (is_random_name(owner) and len(owned[file]) == 1)):
        return file
    return owner


def _owner(item: BaseNode) -> str:
    return item.node_id if isinstance(item, Document) else item.ref_doc_id or item.node_id


def _file(item: BaseNode) -> str | None:
    """The absolute path of the file that an item is from."""
    path = item.metadata.get("file_path")
    if not path:
        return None
    return str(path) if "://" in str(path) else os.path.abspath(path)  # noqa: PTH100 - resolve() would follow links


def _parts(members: Sequence[BaseNode], common: Mapping[str, Any]) -> Iterable[Part]:
    before: BaseNode | None = None
    seen: set[str] = set()
    for number, member in enumerate(members, start=1):
        content = member.get_content(MetadataMode.NONE)
        text = clean(content)
        label = _text(member.metadata.get("page_label"))
        if not isinstance(member, Document):
            joint, overlap = _joint(before, member)
            if rest := clean(content[overlap:]):
                others = {*common, *_OF_A_PART, *_VOLATILE}
                own = {str(key): value for key, value in member.metadata.items() if str(key) not in others}
                yield Part(text=rest, label=label, path=_path(member, number), joint=joint, metadata=own)
        elif label is not None:
            yield Part(text=text.strip("\n"), label=label, joint="\n")
        elif text not in seen:  # the same document twice
            yield Part(text=text)
        seen.add(text)
        before = member


def _joint(before: BaseNode | None, node: BaseNode) -> tuple[str, int]:
    """What separates two nodes, and how many characters of the second the first already holds."""
    if before is None or before.ref_doc_id is None or before.ref_doc_id != node.ref_doc_id:
        return "\n\n", 0
    (first, end), (start, stop) = _span(before), _span(node)
    if not first <= start <= end:  # also where any is unknown
        return "\n\n", 0
    length = len(node.get_content(MetadataMode.NONE))
    return "", int(min(end - start, length)) if stop - start == length else 0


def _span(node: BaseNode) -> tuple[float, float]:
    """A node's span in its document; NaN where it does not say."""
    span = getattr(node, "start_char_idx", None), getattr(node, "end_char_idx", None)
    return (math.nan, math.nan) if None in span else span  # type: ignore[return-value]


def _path(node: BaseNode, number: int) -> tuple[str, ...]:
    """Titles above a node, as Markdown's parser and ours write them."""
    titles = _text(node.metadata.get("header_path"))
    path = titles.split("/") if titles else (_text(node.metadata.get("chapter")) or "").split(CHAPTER_SEPARATOR)
    return tuple(title for title in map(str.strip, path) if title) or (f"Part {number}",)


def _common(metadata: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    """What all parts of a book have in common."""
    first, *others = metadata
    return {
        str(key): value for key, value in first.items() if all(key in each and each[key] == value for each in others)
    }


def _excluded(members: Sequence[BaseNode]) -> dict[str, list[str]]:
    """Keys of metadata that some part hides from language or embedding models."""
    keys = {key for member in members for key in member.metadata}
    hidden = {name: {key for member in members for key in getattr(member, name)} & keys for name in EXCLUDED}
    return {name: sorted(found) for name, found in hidden.items() if found}


def _text(value: Any) -> str | None:
    return str(value) if value not in (None, "") else None
