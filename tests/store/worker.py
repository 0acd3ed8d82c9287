"""What a child process of a test does to a library: python worker.py FOLDER COMMAND [ARGUMENT].

Prints "ready" when the work begins, "holding" in the middle of it where the command waits there, and "done".
"""

from __future__ import annotations

import sys
import time
from itertools import count
from pathlib import Path

from nlb_retriever.store import LibraryStore, StoreQuery, open_store
from tests.store.books import MANIFEST, make_book

READING = ("hold", "idle")


def publish(store: LibraryStore, number: str, edition: str) -> None:
    store.publish(*make_book(int(number), edition=int(edition)).parts)


def churn(store: LibraryStore) -> None:
    """Publish new editions of two books, for ever."""
    for edition in count(1):
        store.publish(*make_book(1 + edition % 2, edition=edition, sections=2 + edition % 3).parts)
        if edition % 5 == 0:
            store.remove(make_book(2).book.id)
        if edition % 7 == 0:
            store.optimize(purge=edition % 2 == 0)


def hold(store: LibraryStore) -> None:
    """Be in the middle of a search."""
    with store.session():
        store.books()
        print("holding", flush=True)
        time.sleep(60)


def idle(store: LibraryStore) -> None:
    """Answer once, then wait for more, as a server does between two questions."""
    store.search([StoreQuery(level="passage", text="book1")])
    print("holding", flush=True)
    time.sleep(60)


def rebuild(store: LibraryStore) -> None:
    """Make the library anew with one book."""
    with store.start_rebuild(MANIFEST) as fresh:
        fresh.publish(*make_book(9).parts)
        fresh.take_over()


def main() -> None:
    folder, command, *arguments = sys.argv[1:]
    is_reader = command in READING
    print("ready", flush=True)
    with open_store(Path(folder), create=None if is_reader else MANIFEST, writer=not is_reader) as store:
        match command:
            case "publish":
                publish(store, *arguments)
            case "churn":
                churn(store)
            case "hold":
                hold(store)
            case "idle":
                idle(store)
            case "remove":
                store.remove(*arguments)
            case "rename":
                store.rename(dict(zip(arguments[::2], arguments[1::2], strict=True)))
            case "optimize":
                store.optimize(purge="purge" in arguments)
            case "rebuild":
                rebuild(store)
    print("done", flush=True)


if __name__ == "__main__":
    main()
