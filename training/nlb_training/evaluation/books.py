"""The books of an evaluation: a folder of files, or an archive of the data folder, which is unpacked once."""

from __future__ import annotations

import hashlib
import os
import tarfile
from collections.abc import Iterable, Mapping
from functools import cached_property
from pathlib import Path

from nlb_retriever.atomic import write_folder
from nlb_retriever.config import expand, home
from nlb_retriever.errors import NlbError, QueryError
from nlb_retriever.reading import discover, read_book
from nlb_training.run_control import hash_file
from nlb_training.training_data import TRAIN_ARCHIVES

NOVELS = "novels"
"""The books of `dev` and others, as many as the documents of MTEB's LEMBNarrativeQA."""
NOVELS_ARCHIVES = ("dev", *TRAIN_ARCHIVES)
NOVELS_COUNT = 355


def cache_folder(folder: Path | None = None) -> Path:
    """Folder of the cache for vectors, unpacked books and libraries; default: `evaluation` under $NLB_HOME."""
    return folder or home() / "evaluation"


def data_folder(named: Path | None = None) -> Path:
    """The folder with corpus/*.tar.bz2 and eval/*.jsonl.bz2.

    Raises:
        QueryError: there is no such folder.
    """
    folder = named or (Path(variable) if (variable := os.environ.get("NLB_DATA")) else None)
    if folder is None:
        raise QueryError(
            "no evaluation data: name its folder (corpus/*.tar.bz2, eval/*.jsonl.bz2) with --data or NLB_DATA, "
            "or give a JSONL file of your own questions"
        )
    folder = expand(folder)
    if not (folder / "corpus").is_dir() or not (folder / "eval").is_dir():
        raise QueryError(f"{folder} is not a folder of evaluation data: it has no corpus/ and eval/")
    return folder


class BookCollection:
    """Books by file name; a text is read when it is first used."""

    def __init__(self, name: str, files: Mapping[str, Path], folder: Path) -> None:
        self.name = name
        """Unique; names its cached library."""
        self.files = files
        self.folder = folder
        """Of the files, for messages."""
        self._texts: dict[str, str] = {}

    @property
    def paths(self) -> list[Path]:
        """The distinct files, sorted."""
        return sorted({*self.files.values()})

    def text(self, file: str) -> str:
        """The text of a book as in a library, which spans refer to.

        Raises:
            ReadingError: the file cannot be read as a book.
        """
        if file not in self._texts:
            self._texts[file] = read_book(self.files[file]).text
        return self._texts[file]

    def texts(self, files: Iterable[str]) -> dict[str, str]:
        """The texts of those of `files` that can be read."""
        texts = {}
        for file in files:
            if file in self.files:
                try:
                    texts[file] = self.text(file)
                except NlbError as error:
                    self.unusable[file] = str(error)
        return texts

    @cached_property
    def unusable(self) -> dict[str, str]:
        """Names that several books have, and books that could not be read so far, and why they cannot be used."""
        return {}


def open_folder(folder: Path) -> BookCollection:
    """A user's own books.

    Raises:
        QueryError: it has no books.
    """
    folder = expand(folder).absolute()
    files = discover([folder]).files if folder.is_dir() else ()
    if not files:
        raise QueryError(f"no books in {folder}: name the folder of your books with --books")
    whole: dict[str, Path] = {}
    parts: dict[str, set[Path]] = {}
    first: dict[str, Path] = {}  # of copies, which a library has once
    for path in map(Path, files):
        own = first.setdefault(_digest(path), path)
        names = path.relative_to(folder).parts
        whole[str(Path(*names))] = whole[str(path)] = own
        for start in range(1, len(names)):
            parts.setdefault(str(Path(*names[start:])), set()).add(own)
    digest = hashlib.sha256(os.fsencode(folder)).hexdigest()[:8]
    books = BookCollection(
        f"{folder.name}-{digest}",
        {**{name: own for name, (own, *others) in parts.items() if not others}, **whole},
        folder,
    )
    for name, paths in parts.items():
        if len(paths) > 1 and name not in whole:
            books.unusable[name] = f"{len(paths)} books in {folder} are called {name}: write more of the path"
    return books


def archive_path(data: Path, name: str) -> Path:
    """Path of a collection of the data folder."""
    return data / "corpus" / f"{name}.tar.bz2"


def archives_of(name: str) -> tuple[str, ...]:
    """The archives that a collection consists of."""
    return NOVELS_ARCHIVES if name == NOVELS else (name,)


def open_collection(data: Path, name: str, cache: Path) -> BookCollection:
    """A collection of the data folder: an archive of corpus/, or `NOVELS`.

    Raises:
        QueryError: an archive is missing or damaged.
    """
    if name != NOVELS:
        return open_archive(data, name, cache)
    first, *others = (open_archive(data, archive, cache) for archive in NOVELS_ARCHIVES)
    more = {file: path for books in others for file, path in books.files.items()}
    chosen = sorted(more, key=lambda file: hashlib.sha256(file.encode()).hexdigest())[: NOVELS_COUNT - len(first.files)]
    files = {**first.files, **{file: more[file] for file in chosen}}
    return BookCollection(f"{NOVELS}-{len(files)}-{first.name}", files, first.folder)


def open_archive(data: Path, name: str, cache: Path) -> BookCollection:
    """The books of corpus/NAME.tar.bz2.

    Raises:
        QueryError: there is no such archive, or it is damaged.
    """
    archive = archive_path(data, name)
    try:
        stamp = archive.stat()
        folder = cache / "books" / f"{name}-{stamp.st_size}-{int(stamp.st_mtime)}"
        if not folder.is_dir():
            _unpack(archive, folder)
    except (OSError, tarfile.TarError, EOFError) as error:
        reason = getattr(error, "strerror", None) or error
        raise QueryError(f"{archive} cannot be unpacked ({reason}): get the evaluation data again") from error
    return BookCollection(folder.name, {path.name: path for path in sorted(folder.iterdir())}, folder)


def _unpack(archive: Path, folder: Path) -> None:
    with write_folder(folder) as new, tarfile.open(archive) as tar:
        tar.extractall(new, filter="data")


def _digest(path: Path) -> str:
    """Of a file's bytes; of one that cannot be read, its path."""
    try:
        return hash_file(path)
    except OSError:
        return str(path)
