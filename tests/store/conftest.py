"""Libraries over every backend."""

from __future__ import annotations

import os
import shutil
import uuid
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from qdrant_client import QdrantClient

from nlb_retriever.records import LEVELS
from nlb_retriever.store import LibraryStore, open_store
from nlb_retriever.store.backends.server_client import Server
from nlb_retriever.store.open import open_on_server
from tests.store.books import MANIFEST
from tests.store.sample import make_library, read_all

Opener = Callable[..., LibraryStore]
BACKENDS = ["folder", "memory", *(["server"] if os.environ.get("NLB_QDRANT_URL") else [])]
"""The real server too where NLB_QDRANT_URL (http://host:port) names one."""


def opener(kind: str, folder: Path) -> tuple[Opener, Callable[[], None]]:
    """A function that opens one library, again and again, and one that cleans up after it."""
    stores: list[LibraryStore] = []
    if kind == "folder":

        def open_one(**how: object) -> LibraryStore:
            stores.append(open_store(folder, **{"create": MANIFEST, "writer": True, **how}))  # type: ignore[arg-type]
            return stores[-1]

        def close_all() -> None:
            for store in stores:
                store.close()

        return open_one, close_all
    if kind == "memory":
        client, name = QdrantClient(":memory:"), "test"
    else:
        client = QdrantClient(
            url=os.environ["NLB_QDRANT_URL"], api_key=os.environ.get("QDRANT_API_KEY"), check_compatibility=False
        )
        name = f"nlb-test-{uuid.uuid4().hex}"

    def open_remote(**how: object) -> LibraryStore:
        settings = {"create": MANIFEST, "writer": True, **how}
        return open_on_server(Server(client, name), name, **settings)  # type: ignore[arg-type]

    def clean() -> None:
        for level in LEVELS:
            client.delete_collection(f"{name}_{level}s")
        client.close()

    return open_remote, clean


@pytest.fixture(params=BACKENDS)
def open_library(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Opener]:
    """Opens the test's library: for writing, and made where absent, unless told otherwise."""
    open_one, clean = opener(request.param, tmp_path / "library")
    yield open_one
    clean()


@pytest.fixture(params=BACKENDS[1:])
def on_server(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Opener]:
    """The same for libraries on a server only."""
    open_one, clean = opener(request.param, tmp_path)
    yield open_one
    clean()


@pytest.fixture(scope="module")
def library(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("damage") / "library"
    make_library(folder)
    return folder


@pytest.fixture(scope="module")
def right(library: Path) -> list[object]:
    with open_store(library) as store:
        return read_all(store)


@pytest.fixture
def copy(library: Path, tmp_path: Path) -> Path:
    return Path(shutil.copytree(library, tmp_path / "copy"))
