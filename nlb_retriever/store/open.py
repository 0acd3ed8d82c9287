"""Opening a library: whether there is one, whether it is whole, whether it may be written."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from nlb_retriever.config import Manifest, missing_library
from nlb_retriever.errors import LibraryDamaged, StoreError
from nlb_retriever.store.backends.folder import FolderBackend
from nlb_retriever.store.backends.head import COPY, HEAD
from nlb_retriever.store.backends.reading import SEGMENTS
from nlb_retriever.store.library import LibraryStore
from nlb_retriever.store.lock import LOCK, WriterLock

if TYPE_CHECKING:
    from nlb_retriever.store.backends.server_client import Server


def open_store(location: str | Path, *, create: Manifest | None = None, writer: bool = False) -> LibraryStore:
    """Open a library.

    Args:
        location: from `config.locate_library`: a folder, or a server's `http://host:port/NAME`.
        create: make the library with this manifest where there is none; where there is one, check that it fits.
        writer: also to change it; one process at a time may.

    Raises:
        LibraryNotFound: there is none, and none is to be made.
        LibraryBusy: another process writes to it.
        LibraryDamaged: its files are not what was written.
        MismatchError: it was made with something else than `create` says.
        StoreError: it is something else, or cannot be read or written.
    """
    if isinstance(location, str) and location.startswith(("http://", "https://")):
        from nlb_retriever.store.backends.server_client import Server

        return open_on_server(*Server.connect(location), create=create, writer=writer)
    return _checked(_open_folder(Path(location), create, writer=writer), create)


def open_on_server(server: Server, name: str, *, create: Manifest | None = None, writer: bool = False) -> LibraryStore:
    """Open a library by its name on a server; otherwise like `open_store`."""
    from nlb_retriever.store.backends.server import ServerBackend

    try:
        if create is not None:
            ServerBackend.make(server, name, create)
        return _checked(LibraryStore(ServerBackend(server, name, writer=writer)), create)
    except BaseException:
        server.close()
        raise


def _checked(store: LibraryStore, create: Manifest | None) -> LibraryStore:
    if create is not None:
        try:
            store.manifest.check(create, store.location)
        except BaseException:
            store.close()
            raise
    return store


def _open_folder(folder: Path, create: Manifest | None, *, writer: bool) -> LibraryStore:
    is_new = _check_folder(folder, create is not None)
    lock = WriterLock(folder) if writer or is_new else None
    try:
        if is_new and create is not None and _check_folder(folder, create=True):  # nobody made it meanwhile
            FolderBackend.make(folder, create)
        store = LibraryStore(FolderBackend(folder, lock=lock if writer else None), lock=lock)
    except BaseException:
        if lock is not None:
            lock.release()
        raise
    if lock is not None and not writer:
        lock.release()
    return store


def _check_folder(folder: Path, create: bool) -> bool:
    """Refuse what is no library's folder; returns whether a library is to be made in it.

    Nothing that is there is ever touched: a library is made only in a folder that is empty, but for hidden files, as
    of the Finder, and what a writer leaves that was stopped while making one.
    """
    try:
        if folder.exists() and not folder.is_dir():
            raise StoreError(f"{folder} is a file, no library: name a folder")
        if (folder / HEAD).exists():
            return False
        names = {path.name for path in folder.iterdir()} if folder.is_dir() else set()
        if COPY in names or (SEGMENTS in names and any((folder / SEGMENTS).glob("*.seg"))):
            raise LibraryDamaged(
                f"library {folder} is damaged (its {HEAD} is missing): run `nlb doctor --repair`, "
                "or `nlb index --rebuild` on your books"
            )
        if foreign := sorted(name for name in names - {LOCK} if not name.startswith(".")):
            raise StoreError(f"{folder} is no library: it holds other files ({', '.join(foreign[:3])})")
        if not create:
            raise missing_library(folder)
        folder.mkdir(parents=True, exist_ok=True)
    except FileExistsError as error:
        raise StoreError(
            f"cannot use {folder} as a library: {error.filename} is a link to what is not there"
        ) from error
    except OSError as error:
        raise StoreError(f"cannot use {folder} as a library: {error.strerror or error}") from error
    return True
