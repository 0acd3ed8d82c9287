"""What an index run is to do, and which encoders it does it with."""

from __future__ import annotations

import operator
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import SupportsIndex

from nlb_retriever.config import DEFAULT_CHUNK_TOKENS, RELEASED, UNTRAINED, Manifest, expand
from nlb_retriever.encoding import (
    DEFAULT_ENCODER,
    ChunkEncoder,
    EncoderIdentity,
    find_term_projection,
    identify_encoder,
)
from nlb_retriever.errors import EncoderError, MismatchError, brief
from nlb_retriever.indexing.plan import Prune
from nlb_retriever.indexing.report import Observer
from nlb_retriever.model import checkpoint as checkpoints
from nlb_retriever.model.checkpoint import Checkpoint
from nlb_retriever.records import Book
from nlb_retriever.text.chunking import FEWEST_TOKENS, MOST_TOKENS


@dataclass(frozen=True, kw_only=True)
class IndexRequest:
    """What a run is to do. Nothing in it changes while the run goes on."""

    location: str | Path
    """The library's folder, or its URL on a server (`config.locate_library`)."""
    load: Callable[[str], ChunkEncoder]
    """Loads a chunk encoder by its name or folder."""
    paths: tuple[str | Path, ...] = ()
    """Files, folders and glob patterns."""
    books: tuple[Book, ...] = ()
    """Books that are not files."""
    chunk_encoder: str | Path | None = None
    """Name or folder; None for the library's own, or the default one."""
    checkpoint: str | Path | None = None
    """Folder; None for the library's own, or the released one."""
    chunk_tokens: int | None = None
    """None for the library's own, or what the checkpoint was trained on."""
    prune: Prune = "no"
    dry_run: bool = False
    rebuild: bool = False
    observer: Observer | None = None


def choose_manifest(request: IndexRequest, pinned: Manifest | None) -> Manifest:
    """The manifest that a request asks for.

    Args:
        request: what it leaves open is taken from `pinned`.
        pinned: the library's own; None for a new library.

    Raises:
        EncoderError: an encoder is not found, or `chunk_tokens` is none.
        MismatchError: the checkpoint does not fit the chunk encoder.
    """
    name = request.chunk_encoder or (pinned.chunk_encoder if pinned and _is_current(pinned) else DEFAULT_ENCODER)
    identity = identify_encoder(name)
    checkpoint, folder = _choose_checkpoint(request, pinned, identity)
    tokens = request.chunk_tokens
    if tokens is None:
        tokens = pinned.chunk_tokens if pinned else checkpoint.config.chunk_tokens or DEFAULT_CHUNK_TOKENS
    tokens = _check_tokens(tokens)
    checkpoint.check(identity, tokens)
    terms = find_term_projection(identity.sha256)
    return Manifest(
        chunk_encoder=_pinned_name(name),
        chunk_encoder_sha256=identity.sha256,
        dim=identity.dim,
        chunk_tokens=tokens,
        checkpoint=folder,
        checkpoint_sha256=checkpoint.sha256,
        order_dim=checkpoint.projections.section_dim - identity.dim if checkpoint.projections else 0,
        terms_sha256=pinned.terms_sha256 if pinned else terms.sha256 if terms else None,
    )


def keep_settings(request: IndexRequest, pinned: Manifest) -> IndexRequest:
    """A request to rebuild a library, with what it leaves open as the library has it.

    Of a library of a released checkpoint the encoders are today's. A checkpoint of one's own is kept where neither it
    nor a chunk encoder is named.
    """
    if request.chunk_tokens is None:
        request = replace(request, chunk_tokens=pinned.chunk_tokens)
    if request.chunk_encoder or request.checkpoint or pinned.checkpoint == RELEASED:
        return request
    own = None if pinned.checkpoint == UNTRAINED else pinned.checkpoint
    return replace(request, chunk_encoder=pinned.chunk_encoder, checkpoint=own)


def _check_tokens(tokens: object) -> int:
    """A chunk length as a number; a wrong one that a new library pins would stay in it."""
    number = operator.index(tokens) if isinstance(tokens, SupportsIndex) else -1
    if number and not FEWEST_TOKENS <= number <= MOST_TOKENS:
        raise EncoderError(
            f"chunk_tokens must be a whole number from {FEWEST_TOKENS} to {MOST_TOKENS:,}, or 0 for one sentence a "
            f"chunk, not {brief(tokens)}"
        )
    return number


def _pinned_name(name: str | Path) -> str:
    """A folder's absolute path; the default encoder's name means no folder here that is called so."""
    folder = expand(name)
    return str(folder.absolute()) if folder.is_dir() and str(name) != DEFAULT_ENCODER else str(name)


def _is_current(pinned: Manifest) -> bool:
    """False for a library of a former version's encoders, which need not be on this machine any more."""
    return pinned.checkpoint != RELEASED or checkpoints.load().sha256 == pinned.checkpoint_sha256


def _choose_checkpoint(
    request: IndexRequest, pinned: Manifest | None, identity: EncoderIdentity
) -> tuple[Checkpoint, str]:
    """The checkpoint and its name in a manifest: the requested one, else the library's, else the released one.

    A chunk encoder that the released checkpoint was not trained on gets the untrained one. A chunk encoder that is
    not the library's gets here what a new library would get: `Manifest.check` refuses it afterwards.
    """
    if request.checkpoint:
        return checkpoints.load(request.checkpoint), str(expand(request.checkpoint).absolute())
    if pinned and pinned.chunk_encoder_sha256 == identity.sha256:
        return checkpoints.pinned(pinned.checkpoint), pinned.checkpoint
    released = checkpoints.load()
    try:
        released.check(identity)
    except MismatchError:
        return checkpoints.load(checkpoints.UNTRAINED), UNTRAINED
    return released, RELEASED
