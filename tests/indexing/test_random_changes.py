"""Whatever happens to a folder of notes, what a library has of it is what a new one has."""

from __future__ import annotations

import random
from pathlib import Path

import pytest

from nlb_retriever.encoding import DEFAULT_ENCODER
from nlb_retriever.indexing import indexer, request
from nlb_retriever.indexing.indexer import index_files
from nlb_retriever.store import open_store
from tests.doubles import KeywordEncoder

NAMES = [
    f"{folder}{name}{suffix}" for folder in ("", "b/", "b/c/") for name in ("x", "Y 2") for suffix in (".md", ".txt")
]
KINDS = ("write", "write", "write", "rename", "rename", "swap", "delete", "hide", "link", "move folder", "link folder")


class Folder:
    """A folder of notes that is changed at random."""

    def __init__(self, path: Path, seed: int) -> None:
        self.path = path
        self.random = random.Random(seed)
        self.written = self.moved = 0

    def change(self) -> str:
        kind = self.random.choice(KINDS)
        target = self.path / self.random.choice(NAMES)
        files = sorted(path for path in self.path.rglob("*") if path.is_file() and not path.parent.name.startswith("."))
        if kind == "write" or not files:
            self._write(target)
        elif kind == "move folder" and (self.path / "b").is_dir():
            self.moved += 1
            (self.path / "b").rename(self.path / f"d{self.moved}")
        elif kind == "link folder" and (self.path / "b").is_dir() and not (self.path / "a").exists():
            (self.path / "a").symlink_to(self.path / "b")
        else:
            self._change_file(kind, self.random.choice(files), target)
        for link in [path for path in self.path.rglob("*") if path.is_symlink() and not path.exists()]:
            link.unlink()
        return kind

    def _write(self, path: Path) -> None:
        self.written += 1
        heading = self.random.choice(("", "# The Lamp\n\n", "---\ntitle: Lamp\n---\n"))
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(f"{heading}The *lamp* was lit for the {self.written}th time.\n")

    def _change_file(self, kind: str, file: Path, target: Path) -> None:
        hidden = self.path / ".trash" / file.name
        for path in (hidden, target):
            path.parent.mkdir(parents=True, exist_ok=True)
        if kind == "rename" and not (target.is_symlink() or file.is_symlink()):
            file.replace(target)
        elif kind == "swap" and target.is_file() and not file.samefile(target):
            file.replace(hidden)
            target.replace(file)
            hidden.replace(target)
        elif kind == "delete":
            file.unlink()
        elif kind == "hide":
            file.replace(hidden)
        elif kind == "link" and not target.exists() and not file.is_symlink():
            target.symlink_to(file)


@pytest.mark.parametrize("seed", range(2))
def test_a_library_of_a_changing_folder_is_as_a_new_one(
    tmp_path: Path, seed: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    encoder, identify = KeywordEncoder("lamp", "time"), request.identify_encoder
    monkeypatch.setattr(
        request, "identify_encoder", lambda name: identify(name) if name == DEFAULT_ENCODER else encoder.identity
    )
    monkeypatch.setattr(indexer, "load_encoder", lambda name, *, device: encoder)
    folder = Folder(tmp_path / "notes", seed)
    folder.path.mkdir()
    done: list[str] = []
    for step in range(6):
        done += [folder.change() for _ in range(3)]
        index_files([folder.path], tmp_path / "library", chunk_encoder="keywords", prune=True, prune_empty=True)
        index_files([folder.path], tmp_path / f"new-{step}", chunk_encoder="keywords")
        if (tmp_path / f"new-{step}").exists():
            assert _known(tmp_path / "library") == _known(tmp_path / f"new-{step}"), done


def _known(library: Path) -> list[tuple[object, ...]]:
    with open_store(library) as store:
        return sorted(
            (book.source, book.title, store.book_text(book.id), [section.path for section in store.sections(book.id)])
            for book in store.books()
        )
