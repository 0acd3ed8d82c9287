"""What a child process of a test does to a library: python worker.py FOLDER COMMAND [ARGUMENT].

Prints "ready" when the work begins or the shards are held, and the result as JSON at the end.
"""

from __future__ import annotations

import json
import sys
import time
from itertools import count
from pathlib import Path

from nlb_retriever.store import LibraryStore, StoreQuery, open_store
from tests.store.books import MANIFEST, make_book


def publish(store: LibraryStore, number: str, edition: str) -> None:
    store.publish(*make_book(int(number), edition=int(edition)).parts)


def churn(store: LibraryStore) -> None:
    """Publish new editions of two books, for ever."""
    for edition in count(1):
        store.publish(*make_book(1 + edition % 2, edition=edition, sections=2 + edition % 3).parts)
        if edition % 5 == 0:
            store.remove(make_book(2).book.id)


def hold(store: LibraryStore, seconds: str) -> None:
    """Be in the middle of something."""
    with store._engine.session():
        store.books()
        print("holding", flush=True)
        time.sleep(float(seconds))


def idle(store: LibraryStore) -> None:
    """Answer once, then wait for more: a server between two questions."""
    store.search([StoreQuery(level="passage", text="book1")])
    print("holding", flush=True)
    time.sleep(60)


def main() -> None:
    folder, command, *arguments = sys.argv[1:]
    reading = command in ("hold", "idle")
    print("ready", flush=True)
    with open_store(Path(folder), create=None if reading else MANIFEST, writer=not reading) as store:
        match command:
            case "publish":
                publish(store, *arguments)
            case "churn":
                churn(store)
            case "hold":
                hold(store, *arguments)
            case "idle":
                idle(store)
            case "remove":
                store.remove(*arguments)
            case "rename":
                store.rename(*arguments)
    print(json.dumps("done"), flush=True)


if __name__ == "__main__":
    main()
