"""Getting at a library: is there one, is it whole, may we."""

from __future__ import annotations

from pathlib import Path

from nlb_retriever.config import Manifest
from nlb_retriever.errors import LibraryNotFound, StoreError
from nlb_retriever.store.engine import Engine
from nlb_retriever.store.library import LibraryStore
from nlb_retriever.store.lock import WriterLock
from nlb_retriever.store.points import STATE_ID, State


def open_store(location: str | Path, *, create: Manifest | None = None, writer: bool = False) -> LibraryStore:
    """Open a library.

    Args:
        location: from `config.locate_library`: a folder, or a server's `http://host:port/NAME`.
        create: make it with this manifest where it isn't there; where it is, check that it fits.
        writer: also to change it; one process at a time may.

    Raises:
        LibraryNotFound: there is none, and none is to be made.
        LibraryBusy: another process writes to it, or has it open for too long.
        MismatchError: it was made with something else than `create` says.
        StoreError: it is damaged, something else, or cannot be read or written.
    """
    if isinstance(location, str) and location.startswith(("http://", "https://")):
        from nlb_retriever.store.remote import RemoteEngine

        return open_engine(RemoteEngine.connect(location), create=create, writer=writer)
    from nlb_retriever.store.edge import EdgeEngine

    folder = Path(location)
    _check_folder(folder, create is not None)
    lock = WriterLock(folder) if writer or (create is not None) else None
    try:
        store = open_engine(EdgeEngine(folder), create=create, writer=writer, lock=lock if writer else None)
    except BaseException:
        if lock is not None:
            lock.release()
        raise
    if lock is not None and not writer:
        lock.release()
    return store


def open_engine(
    engine: Engine, *, create: Manifest | None = None, writer: bool = False, lock: WriterLock | None = None
) -> LibraryStore:
    """Open the library that an engine holds; otherwise like `open_store`."""
    try:
        if not engine.exists() or (create is not None and not engine.retrieve("book", [STATE_ID])):
            if create is None:
                raise LibraryNotFound(f"no library at {engine.place}: run `nlb index FOLDER` first")
            engine.create(create.dims, State(manifest=create).to_point())
        store = LibraryStore(engine, writer=writer, lock=lock)
        if create is not None:
            store.manifest.check(create, engine.place)
        return store
    except BaseException:
        engine.close()
        raise


def _check_folder(folder: Path, create: bool) -> None:
    """Refuse what is no library's folder, and make an empty one where a library is to be made."""
    from nlb_retriever.store.shards import FOLDERS, foreign_files

    try:
        if folder.exists() and not folder.is_dir():
            raise StoreError(f"{folder} is a file, no library: name a folder")
        if (folder / FOLDERS["book"]).is_dir():
            return
        foreign = foreign_files(folder) if folder.is_dir() else []
        if foreign:
            raise StoreError(f"{folder} is no library: it holds other files ({', '.join(foreign[:3])})")
        if create:
            folder.mkdir(parents=True, exist_ok=True)
            return
        if any((folder / name).is_dir() for name in FOLDERS.values()):
            raise StoreError(f"library {folder} is incomplete (its books index is missing): index your books again")
    except OSError as error:
        raise StoreError(f"cannot use {folder} as a library: {error.strerror or error}") from error
    raise LibraryNotFound(f"no library at {folder}: run `nlb index FOLDER` first")
