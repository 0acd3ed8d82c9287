"""`nlb info` and `nlb doctor`."""

from __future__ import annotations

import json
import os
import re
import shutil
from importlib.metadata import PackageNotFoundError
from pathlib import Path

import pytest

from nlb_cli import checks
from nlb_retriever import open_store
from nlb_retriever.encoding.openvino_core import best_precision
from nlb_retriever.errors import EncoderError
from nlb_retriever.reader import find_reader
from nlb_retriever.reader.load import RELEASED
from tests.cli.conftest import InProcess


def test_info_tells_what_the_library_is(nlb: InProcess, shelf: Path) -> None:
    ran = nlb("info", "--json", "--library", shelf)
    assert (ran.code, ran.err) == (0, "")
    told = json.loads(ran.out)
    with open_store(shelf) as store:
        manifest = store.manifest.to_dict()
    assert told["library"] == str(shelf)
    assert (told["books"], told["sections"], told["passages"], told["tokens"]) == (3, 9, 9, 409)
    assert told["bytes"] > 10_000
    assert {key: told[key] for key in manifest} == manifest
    assert "version" in told

    rows = dict(re.split(r"\s{2,}", line, maxsplit=1) for line in nlb("info", "--library", shelf).out.splitlines())
    assert rows["Library"] == str(shelf)
    assert rows["Books"] == "3"
    assert rows["Chunk encoder"] == "all-MiniLM-L6-v2-books (384-d, SHA-256 36e667e10dc4)"


def test_a_healthy_library_passes_every_check(nlb: InProcess, shelf: Path) -> None:
    ran = nlb("doctor", "--json", "--library", shelf)
    told = json.loads(ran.out)
    assert ran.code == 0
    assert told["healthy"] is True
    checks = {check["name"]: check for check in told["checks"]}
    assert {"Python", "packages", "data folder", "chunk encoder (ask)", "chunk encoder (index)", "checkpoint"} < set(
        checks
    )
    assert checks["library"]["status"] == "ok"
    assert "36e667e10dc4" in checks["chunk encoder (ask)"]["detail"]
    assert "3 books, all whole" in checks["library"]["detail"]


def test_a_damaged_regression_is_found(nlb: InProcess, shelf: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(sha256: str) -> None:
        raise EncoderError("salience.npy is damaged: reinstall nlb-retriever")

    monkeypatch.setattr("nlb_retriever.encoding.find_salience", refuse)
    ran = nlb("doctor", "--json", "--library", shelf)
    assert ran.code != 0
    [found] = [each for each in json.loads(ran.out)["checks"] if each["name"] == "refusals, digests"]
    assert found == {**found, "status": "problem", "detail": "salience.npy is damaged: reinstall nlb-retriever"}


def test_a_library_of_a_former_version_is_told_how_to_get_terms(
    nlb: InProcess, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def check(*wanted: str | Path) -> tuple[str, str]:
        ran = nlb("doctor", "--json", *wanted)
        assert ran.code == 0
        [found] = [each for each in json.loads(ran.out)["checks"] if each["name"] == "terms"]
        return found["status"], found["detail"]

    (tmp_path / "lamp.txt").write_text("The lamp of Skerry burnt all night.\n", encoding="utf-8")
    library = ("--library", tmp_path / "library")
    with monkeypatch.context() as former:
        former.setattr("nlb_retriever.indexing.request.find_term_projection", lambda _: None)
        assert nlb("index", tmp_path / "lamp.txt", *library).code == 0
    status, detail = check(*library)
    assert status == "note" and "`nlb index --rebuild`" in detail
    assert nlb("index", "--rebuild", *library).code == 0
    status, detail = check(*library)
    assert status == "ok" and detail.startswith("SHA-256 ")
    assert check() == (status, detail)


def test_the_reader_is_whole_damaged_or_left_out(
    nlb: InProcess, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    if find_reader() is None:
        pytest.skip("the package's reader has been left out")
    reader = Path(shutil.copytree(RELEASED, tmp_path / "reader"))
    monkeypatch.setattr("nlb_retriever.reader.load.RELEASED", reader)

    def check() -> tuple[str, str, int]:
        ran = nlb("doctor", "--json")
        [found] = [each for each in json.loads(ran.out)["checks"] if each["name"] == "reader"]
        return found["status"], found["detail"], ran.code

    assert check() == ("ok", f"nlb-reader, all files whole, by openvino {best_precision()}", 0)
    weights = bytearray((reader / "model.bin").read_bytes())
    weights[len(weights) // 2] ^= 1
    (reader / "model.bin").write_bytes(weights)
    status, detail, code = check()
    assert (status, code) == ("problem", 1)
    assert "model.bin is damaged" in detail and "\n" not in detail
    (reader / "reader.json").unlink()
    status, detail, code = check()
    assert (status, code) == ("note", 0)
    assert "answers are whole sentences" in detail


def test_a_new_user_without_a_library_is_healthy(nlb: InProcess) -> None:
    ran = nlb("doctor")
    assert ran.code == 0
    assert ran.out.splitlines()[-1].startswith("note     library")
    assert "nlb index" in ran.out.splitlines()[-1]


def test_a_library_that_was_named_must_be_there(nlb: InProcess) -> None:
    ran = nlb("doctor", "--library", "nowhere")
    assert ran.code == 1
    assert ran.out.splitlines()[-1].startswith("problem  library")


def test_damage_is_found_and_mended(nlb: InProcess, shelf: Path, tmp_path: Path) -> None:
    library = Path(shutil.copytree(shelf, tmp_path / "damaged"))
    with open_store(library) as store:
        text = store.sections(store.find_book("lamp").id)[0].text.encode()
        right = {book.title: store.book_text(book.id) for book in store.books()}
    [segment] = [path for path in (library / "segments").iterdir() if text in path.read_bytes()]
    content = bytearray(segment.read_bytes())
    content[content.index(text)] ^= 1
    segment.write_bytes(content)
    for command in (("doctor",), ("books",), ("ask", "Who keeps the lamp?")):
        ran = nlb(*command, "--library", library)
        assert ran.code in (1, 2)
        assert f"{segment.name} is damaged (text)" in ran.out + ran.err
        assert "Traceback" not in ran.out + ran.err

    mended = nlb("doctor", "--repair", "--library", library)
    assert mended.code == 0
    assert "made again: THE LAMP OF SKERRY" in mended.out
    assert "3 books, all whole" in mended.out
    with open_store(library) as store:
        assert {book.title: store.book_text(book.id) for book in store.books()} == right
    assert "Indexed" not in nlb("index", shelf.parent / "books", "--library", library).out
    assert nlb("doctor", "--repair", "--library", library).out.count("repair") == 0


def test_a_copy_of_a_library_in_use_keeps_its_books_and_a_loss_is_a_problem(
    nlb: InProcess, shelf: Path, tmp_path: Path
) -> None:
    library, heads = Path(shutil.copytree(shelf, tmp_path / "copy")), ("library.json", "library.copy.json")
    old = {name: (library / name).read_bytes() for name in heads}
    with open_store(library, writer=True) as store:
        gone, *kept = [book.title for book in store.books()]
        store.remove(store.find_book(gone).id)
        store.optimize(purge=True)
    for name in heads:
        (library / name).write_bytes(old[name])
    mended = nlb("doctor", "--repair", "--library", library)
    assert mended.code == 1
    [line] = [line for line in mended.out.splitlines() if line.startswith("problem")]
    assert "lost (it is missing): index your books again" in line
    assert "[Errno" not in mended.out
    with open_store(library) as store:
        assert {book.title for book in store.books()} >= set(kept)
    assert nlb("doctor", "--library", library).code == 0


def test_a_package_that_is_missing_or_too_old_or_new_is_a_problem(
    nlb: InProcess, monkeypatch: pytest.MonkeyPatch
) -> None:
    wanted = ["numpy>=2.0", "rich>=13.7", "qdrant-edge-py<0.10,>=0.9.0", "nowhere>=1", "torch>=2.4; extra == 'gpu'"]
    versions = {"numpy": "2.0", "rich": "13.6.0", "qdrant-edge-py": "0.10.1"}

    def version_of(name: str) -> str:
        if name not in versions:
            raise PackageNotFoundError(name)
        return versions[name]

    monkeypatch.setattr("importlib.metadata.requires", lambda name: wanted)
    monkeypatch.setattr("importlib.metadata.version", version_of)
    ran = nlb("doctor", "--json")
    assert ran.code == 1
    checks = json.loads(ran.out)["checks"]
    assert [(each["status"], each["detail"]) for each in checks if each["name"] == "packages"] == [
        ("problem", "rich is 13.6.0: run `pip install 'rich>=13.7'`"),
        ("problem", "qdrant-edge-py is 0.10.1: run `pip install 'qdrant-edge-py<0.10,>=0.9.0'`"),
        ("problem", "nowhere is missing: run `pip install 'nowhere>=1'`"),
        ("ok", "numpy 2.0"),
    ]


def test_a_data_folder_that_may_not_be_looked_at_is_a_problem(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """As where a container's user is not the one whose HOME is set."""
    locked, stat, access = tmp_path / "root", os.stat, os.access
    locked.mkdir()

    def refuse(path: str | Path, **options: bool) -> os.stat_result:
        if locked in Path(path).parents:
            raise PermissionError(13, "Permission denied", str(path))
        return stat(path, **options)

    monkeypatch.setattr("os.stat", refuse)
    monkeypatch.setattr("os.access", lambda path, mode: Path(path) != locked and access(path, mode))
    check = checks._folder("data folder", locked / "share" / "nlb-retriever")
    assert (check.status, check.detail) == (
        "note",
        f"{locked}/share/nlb-retriever can only be read: to index there change its rights, or set NLB_HOME",
    )
