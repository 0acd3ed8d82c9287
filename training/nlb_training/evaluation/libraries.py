"""Libraries of an evaluation: one for each collection, encoder and checkpoint, kept in the cache."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import AbstractContextManager
from pathlib import Path

from nlb_retriever.config import Manifest
from nlb_retriever.encoding import load_encoder
from nlb_retriever.errors import MismatchError, QueryError
from nlb_retriever.indexing.indexer import index_files
from nlb_retriever.indexing.report import Observer
from nlb_retriever.indexing.request import IndexRequest, choose_manifest
from nlb_retriever.model.checkpoint import Checkpoint
from nlb_retriever.records import source_of
from nlb_retriever.store import open_store
from nlb_training.evaluation.books import BookCollection

IndexWatch = Callable[[], AbstractContextManager[Observer | None]]
"""Opens an observer of `index_files`, as long as a library is indexed."""


def build_library(
    books: BookCollection, checkpoint: Checkpoint, encoder: tuple[str, int], cache: Path, watch: IndexWatch
) -> Path:
    """Index a collection with a checkpoint; books that are already indexed are not encoded again.

    Args:
        books: the collection.
        checkpoint: the next-level encoder.
        encoder: name of the chunk encoder, and chunk length.
        cache: folder of the libraries.
        watch: opened meanwhile.

    Returns:
        Its folder, named after the collection and a fingerprint of all that the vectors depend on.

    Raises:
        QueryError: no book could be indexed.
        StoreError, EncoderError: as `index_files`.
    """
    name, tokens = encoder
    folder = cache / "libraries" / f"{books.name}-{_fingerprint(name, tokens, checkpoint)}"
    with watch() as observer:
        for rebuild in (False, True):
            try:
                report = index_files(
                    books.paths,
                    folder,
                    chunk_encoder=name,
                    chunk_tokens=tokens,
                    checkpoint=checkpoint.folder,
                    observer=observer,
                    rebuild=rebuild,
                )
                break
            except MismatchError:  # the cache has a library of another format version
                if rebuild:
                    raise
    if not (report.indexed or report.unchanged or report.renamed):
        reason = report.failed[0].reason if report.failed else "it is empty"
        raise QueryError(f"{books.folder} cannot be indexed: {reason}")
    _drop_others(folder, books)
    return folder


def _drop_others(folder: Path, books: BookCollection) -> None:
    """Remove books of an earlier evaluation that the collection has not any more."""
    sources = {source_of(path) for path in books.paths}
    with open_store(folder) as store:
        gone = [book.id for book in store.books() if book.source not in sources]
    if gone:
        with open_store(folder, writer=True) as store:
            store.remove(*gone)


def _fingerprint(name: str, tokens: int, checkpoint: Checkpoint) -> str:
    request = IndexRequest(
        location="", load=load_encoder, chunk_encoder=name, chunk_tokens=tokens, checkpoint=checkpoint.folder
    )
    manifest: Manifest = choose_manifest(request, None)
    return manifest.fingerprint()
