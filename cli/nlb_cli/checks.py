"""What `nlb doctor` looks at, one `Check` a thing."""

from __future__ import annotations

import os
import platform
import shutil
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from importlib import metadata
from pathlib import Path
from typing import TYPE_CHECKING, Literal

from packaging.requirements import Requirement

from nlb_retriever.config import RELEASED, Manifest, home, locate_library
from nlb_retriever.errors import LibraryNotFound, NlbError, counted

if TYPE_CHECKING:
    from nlb_retriever.encoding.load import Use

_LEAST_SPACE = 500_000_000
"""Bytes below which a disk is called nearly full."""


@dataclass(frozen=True)
class Check:
    """One thing looked at."""

    name: str
    status: Literal["ok", "note", "problem"]
    detail: str


def examine(library: str | None, *, repair: bool) -> Iterator[Check]:
    """Look at the environment, the encoders, the reader and a library.

    Args:
        library: as the user named it; None for the default one, which need not be there.
        repair: mend the library first.
    """
    yield _python()
    yield from _packages()
    yield _folder("data folder", home())
    manifest = None
    try:
        location = locate_library(library)
        if repair:
            yield from _repaired(location)
        manifest, checks = _library(location, named=library is not None or "NLB_LIBRARY" in os.environ)
    except NlbError as error:
        checks = [Check("library", "problem", str(error))]
    yield from _encoders(manifest)
    yield _checkpoint(manifest)
    yield from _terms(manifest)
    yield _judges()
    yield _reader()
    yield from checks


def _python() -> Check:
    fits = sys.version_info >= (3, 11)
    summary = f"{platform.python_version()} on {platform.system()} {platform.machine()}, {os.cpu_count()} cores"
    return Check("Python", "ok" if fits else "problem", summary if fits else f"{summary}: nlb needs 3.11 or newer")


def _packages() -> Iterator[Check]:
    """The packages that nlb was installed with, by their versions."""
    try:
        wanted = metadata.requires("nlb-retriever") or []
    except metadata.PackageNotFoundError:
        yield Check("packages", "note", "nlb-retriever runs from its sources, not installed: its needs are unknown")
        return
    there: list[str] = []
    for need in (Requirement(line) for line in wanted if "extra ==" not in line):
        name, versions = need.name, need.specifier
        try:
            version = metadata.version(name)
        except metadata.PackageNotFoundError:
            yield Check("packages", "problem", f"{name} is missing: run `pip install '{name}{versions}'`")
            continue
        if versions.contains(version, prereleases=True):
            there.append(f"{name} {version}")
        else:
            yield Check("packages", "problem", f"{name} is {version}: run `pip install '{name}{versions}'`")
    yield Check("packages", "ok", ", ".join(there))


def _folder(name: str, folder: Path) -> Check:
    """Whether a folder, or where it would be made, takes files."""
    there = next(path for path in (folder, *folder.parents) if os.path.exists(path))  # noqa: PTH110 - never raises
    if not os.access(there, os.W_OK):
        detail = f"{folder} can only be read: to index there change its rights, or set NLB_HOME"
        return Check(name, "note", detail)
    free = shutil.disk_usage(there).free
    if free < _LEAST_SPACE:
        return Check(name, "problem", f"{folder} has only {free / 1e6:,.0f} MB left: make room, or set NLB_HOME")
    return Check(name, "ok", f"{folder}, {free / 1e9:,.1f} GB free")


def _encoders(manifest: Manifest | None) -> Iterator[Check]:
    """Load the chunk encoder as for questions and as for books, check its files' SHA-256, and use it."""
    from nlb_retriever.encoding import DEFAULT_ENCODER, load_encoder
    from nlb_retriever.encoding.openvino import OpenVinoEncoder

    name = manifest.chunk_encoder if manifest else DEFAULT_ENCODER
    uses: tuple[tuple[str, Use], ...] = (("chunk encoder (ask)", "ask"), ("chunk encoder (index)", "index"))
    for what, use in uses:
        try:
            encoder = load_encoder(name, use=use)
            if isinstance(encoder, OpenVinoEncoder):
                encoder.check_files()
            encoder.encode(["All is well."], query=use == "ask")
        except NlbError as error:
            yield Check(what, "problem", str(error))
            continue
        sha256 = encoder.identity.sha256
        summary = f"{encoder.identity.name}, {encoder.identity.dim}-d, SHA-256 {sha256[:12]}, by {encoder.backend}"
        if manifest and manifest.chunk_encoder_sha256 != sha256:
            pinned = manifest.chunk_encoder_sha256[:12]
            yield Check(what, "problem", f"{summary}; the library's is {pinned}: run `nlb index --rebuild`")
        else:
            yield Check(what, "ok", summary)


def _terms(manifest: Manifest | None) -> Iterator[Check]:
    """Whether a library has the vectors of terms that its chunk encoder makes by now; other encoders make none."""
    from nlb_retriever.encoding import DEFAULT_ENCODER, find_term_projection, identify_encoder

    try:
        encoder = manifest.chunk_encoder_sha256 if manifest else identify_encoder(DEFAULT_ENCODER).sha256
        projection = find_term_projection(encoder)
    except NlbError as error:
        yield Check("terms", "problem", str(error))
        return
    if projection and manifest and manifest.terms_sha256 != projection.sha256:
        yield Check(
            "terms",
            "note",
            "the library has none, or a former version's: `nlb index --rebuild` makes them, and ranks passages better",
        )
    elif projection:
        yield Check("terms", "ok", f"SHA-256 {projection.sha256[:12]}")


def _judges() -> Check:
    """Whether what tells questions and sentences apart by the default encoder's vectors is whole."""
    from nlb_retriever.encoding import DEFAULT_ENCODER, facts_regression, find_salience, identify_encoder

    try:
        facts_regression()
        find_salience(identify_encoder(DEFAULT_ENCODER).sha256)
    except NlbError as error:
        return Check("refusals, digests", "problem", str(error))
    return Check("refusals, digests", "ok", "both regressions whole")


def _checkpoint(manifest: Manifest | None) -> Check:
    from nlb_retriever.model import checkpoint

    name = manifest.checkpoint if manifest else RELEASED
    try:
        found = checkpoint.pinned(name) if manifest else checkpoint.load()
        sha256 = found.sha256
    except NlbError as error:
        return Check("checkpoint", "problem", str(error))
    summary = f"{name}, SHA-256 {sha256[:12]}"
    if manifest and manifest.checkpoint_sha256 != sha256:
        pinned = manifest.checkpoint_sha256[:12]
        return Check("checkpoint", "problem", f"{summary}; the library's is {pinned}: run `nlb index --rebuild`")
    return Check("checkpoint", "ok", summary)


def _reader() -> Check:
    """Check the SHA-256 of the reader's files, load it, and use it."""
    from nlb_retriever.reader import find_reader, load_reader
    from nlb_retriever.reader.files import check_files, read_config

    folder = find_reader()
    if folder is None:
        return Check("reader", "note", "this installation has none: answers are whole sentences, not a few words")
    try:
        check_files(folder)
        reader = load_reader(folder)
        reader.read("Is all well?", ["All is well."])
    except NlbError as error:
        return Check("reader", "problem", str(error))
    return Check("reader", "ok", f"{read_config(folder)['name']}, all files whole, by {reader.backend}")


def _repaired(location: str | Path) -> Iterator[Check]:
    from nlb_retriever.indexing.repair import repair_library

    repair = repair_library(location)
    yield from (Check("repair", "note", line) for line in repair.done)
    yield from (Check("repair", "problem", line) for line in repair.lost)


def _library(location: str | Path, *, named: bool) -> tuple[Manifest | None, list[Check]]:
    from nlb_retriever.store import open_store

    try:
        with open_store(location) as store:
            books = len(store.books())
            problems = [Check("library", "problem", line) for line in store.verify()]
            whole = Check("library", "ok", f"{location}, {counted(books, 'book')}, all whole")
            return store.manifest, problems or [whole]
    except LibraryNotFound as error:
        if named:
            raise
        return None, [Check("library", "note", str(error))]
