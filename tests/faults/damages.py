"""Files of a library are damaged: a flipped bit, zeros, a cut, a lost file. Then it is read, examined and repaired."""

from __future__ import annotations

import functools
import os
import random
import shutil
import tempfile
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from nlb_retriever.encoding import DEFAULT_ENCODER, ChunkEncoder, load_encoder
from nlb_retriever.errors import LibraryDamaged, NlbError
from nlb_retriever.indexing.indexer import index_files
from nlb_retriever.indexing.repair import repair_library
from nlb_retriever.records import LEVELS
from nlb_retriever.store import LibraryStore, StoreQuery, open_store
from nlb_retriever.store.backends.base import Floats
from tests.faults.tally import Broken, Tally
from tests.indexing.test_indexer import write_book

_BOOKS = 6
_QUERY = "river soldier lantern"
_SMALL = 1e-5
"""Scores of vectors that were made again differ by less: texts are encoded in other batches."""


@dataclass(frozen=True)
class Shelf:
    """A library with its books' files, and all that it answers."""

    folder: Path
    answers: Mapping[str, object]


@functools.cache
def shelf() -> Shelf:
    """A library in two segments, with a book that was removed and one that was moved; made once a process."""
    folder = Path(tempfile.mkdtemp(prefix="nlb-shelf-"))
    books, library = folder / "books", folder / "library"
    for number in range(_BOOKS + 1):
        _write_titled(books / f"book-{number}.md", number)
    index_files([books], library)
    (books / f"book-{_BOOKS}.md").unlink()
    (books / "book-1.md").rename(books / "moved.md")
    _write_titled(books / "late.md", 99)
    index_files([books], library, prune=True)
    with open_store(library) as store:
        return Shelf(folder, answer_all(store))


def _write_titled(path: Path, number: int) -> None:
    """A book whose title does not depend on its file's name."""
    text = write_book(path, number, chapters=2 + number % 3).read_text().replace("CHAPTER", "# Chapter")
    path.write_text(f"---\ntitle: The Book of {number}\n---\n\n{text}")


def answer_all(store: LibraryStore) -> dict[str, object]:
    """Books, texts, passages and searches, comparable with those of a repaired library."""
    vector = encoder(DEFAULT_ENCODER).encode([_QUERY], query=True)[0]
    queries = []
    for level in LEVELS:
        dense = np.zeros(store.manifest.dims[level], np.float32)
        dense[: len(vector)] = vector
        queries += [StoreQuery(level=level, dense=dense, limit=8), StoreQuery(level=level, text=_QUERY, limit=8)]
    books = store.books()
    return {
        "books": [(book.id, book.title, Path(book.source).name, book.content_hash) for book in books],
        "texts": {book.id: store.book_text(book.id) for book in books},
        "passages": {book.id: [passage.text for passage in store.passages(book.id)] for book in books},
        "found": [[(hit.book_id, hit.id, hit.score) for hit in hits] for hits in store.search(queries)],
    }


@functools.cache
def encoder(name: str) -> ChunkEncoder:
    """The chunk encoder, loaded once a process."""
    return load_encoder(name, device="cpu")


def damage_files(dice: random.Random, folder: Path, tally: Tally) -> None:
    """One file, seldom two, of a copy of the library is damaged."""
    whole = shelf()
    library, books = folder / "library", folder / "books"
    shutil.copytree(whole.folder / "library", library)
    shutil.copytree(whole.folder / "books", books)
    files = sorted((library / "segments").iterdir())
    chosen = dice.sample(
        [*files, *files, library / "library.json", library / "library.copy.json"], 1 + (dice.random() < 0.2)
    )
    what = ", ".join(f"{_damage(path, dice)} {path.name}" for path in dict.fromkeys(chosen))
    tally.faults += 1
    try:
        with open_store(library) as store:
            _expect(answer_all(store), whole.answers, "wrong", what)
            is_found = bool(store.verify())
    except NlbError as error:
        _expect_clear(error, what)
        tally.errors += 1
        is_found = True
    if not is_found:
        return  # a copy that is not read, or zeros in place of zeros
    try:
        if dice.random() < 0.3:
            lines = [f"rebuilt: {index_files([books], library, rebuild=True).warnings}"]
        else:
            repair = repair_library(library, load=encoder)
            lines = [*repair.done, *repair.lost]
    except LibraryDamaged as error:  # nothing at all can be read
        _expect_clear(error, what)
        shutil.rmtree(library)
        lines = []
    with_head = not any("may be back" in line for line in lines)
    index_files([books], library, prune=True)
    with open_store(library) as store:
        answers, problems = answer_all(store), store.verify()
    if problems:
        raise Broken("wrong", f"{what}: {problems} after the repair: {lines}")
    if with_head:
        _expect(answers, whole.answers, "wrong", f"{what}, after the repair: {lines}")
    elif sorted(_texts(answers)) != sorted(_texts(whole.answers)):
        raise Broken("lost", f"{what}: other texts after the repair: {lines}")


def _damage(path: Path, dice: random.Random) -> str:
    size = path.stat().st_size if path.exists() else 0
    kind = dice.choice(("flip", "flip", "zero", "cut", "delete", "grow")) if size else "nothing to"
    at = dice.randrange(size) if size else 0
    match kind:
        case "flip" | "zero":
            with path.open("r+b") as file:
                file.seek(at)
                old = file.read(1 if kind == "flip" else 4096)
                file.seek(at)
                file.write(bytes([old[0] ^ 1 << dice.randrange(8)]) if kind == "flip" else bytes(len(old)))
        case "cut":
            os.truncate(path, at)
        case "delete":
            path.unlink()
        case "grow":
            with path.open("ab") as file:
                file.write(dice.randbytes(1 + at % 100))
    return f"{kind} {at}"


def _expect_clear(error: NlbError, what: str) -> None:
    if "\n" in str(error) or len(str(error)) > 600:
        raise Broken("traceback", f"{what}: no clear line: {error}")


def _expect(found: Mapping[str, object], right: Mapping[str, object], kind: str, what: str) -> None:
    ids, expected = ([book[0] for book in answers["books"]] for answers in (found, right))  # type: ignore[attr-defined]
    if len(set(ids)) < len(ids):
        raise Broken("doubled", f"{what}: {ids}")
    if set(expected) - set(ids):
        raise Broken("lost", f"{what}: {set(expected) - set(ids)}")
    for key, answer in right.items():
        own = found[key]
        if key == "found":
            own_scores, scores = _scores(own), _scores(answer)
            if own_scores.shape != scores.shape or not np.allclose(own_scores, scores, atol=_SMALL):
                raise Broken(kind, f"{what}: other scores")
        elif own != answer:
            raise Broken(kind, f"{what}: other {key}")


def _scores(found: object) -> Floats:
    return np.array([hit[2] for hits in found for hit in hits], np.float32)  # type: ignore[attr-defined]


def _texts(answers: Mapping[str, object]) -> list[str]:
    return list(answers["texts"].values())  # type: ignore[attr-defined]
