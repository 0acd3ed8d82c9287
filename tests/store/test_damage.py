"""Files that are torn, flipped, lost or not ours, and disks that are full or read-only: one line, or right answers."""

from __future__ import annotations

import os
import random
import shutil
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from nlb_retriever.errors import LibraryDamaged, StoreError
from nlb_retriever.indexing.repair import repair_library
from nlb_retriever.store import RescuedLibrary, open_store
from nlb_retriever.store.backends.array_file import ArrayFile
from nlb_retriever.store.backends.head import read_head, write_head
from tests.store.books import MANIFEST, make_book
from tests.store.sample import BOOKS, make_library, read_all


def segments(folder: Path) -> list[Path]:
    """The largest last."""
    return sorted((folder / "segments").iterdir(), key=lambda path: path.stat().st_size)


def flip(path: Path, at: int) -> None:
    with path.open("r+b") as file:
        file.seek(at)
        byte = file.read(1)[0]
        file.seek(at)
        file.write(bytes([byte ^ 4]))


def cut(path: Path, at: int) -> None:
    os.truncate(path, at)


def blank(path: Path, at: int) -> None:
    """Zeros, as in a page that was never written."""
    with path.open("r+b") as file:
        file.seek(at)
        file.write(bytes(min(4096, path.stat().st_size - at)))


def grow(path: Path, at: int) -> None:
    with path.open("ab") as file:
        file.write(bytes(at % 7 + 1))


def delete(path: Path, at: int) -> None:
    path.unlink()


DAMAGES = [flip, cut, blank, grow, delete]


@pytest.mark.parametrize("damage", DAMAGES)
def test_every_damage_to_a_segment_is_found_when_the_library_is_opened(
    library: Path, copy: Path, right: list[object], damage: Callable[[Path, int], None]
) -> None:
    dice = random.Random(damage.__name__)
    for segment in segments(copy):
        whole = segment.read_bytes()
        size = len(whole)
        for at in {0, 9, size - 1, *(dice.randrange(size) for _ in range(60))} if damage is not delete else (0,):
            damage(segment, at)
            if segment.exists() and segment.read_bytes() == whole:
                continue  # zeros in a place of zeros
            try:
                with open_store(copy) as store:
                    assert read_all(store) == right, "alignment between arrays means nothing"
            except LibraryDamaged as error:
                assert segment.name in str(error)
                assert "nlb doctor --repair" in str(error)
                assert "\n" not in str(error)
            segment.write_bytes(whole)
    with open_store(copy) as store:
        assert read_all(store) == right


@pytest.mark.parametrize("damage", DAMAGES)
def test_a_damaged_head_is_found(copy: Path, damage: Callable[[Path, int], None]) -> None:
    head = copy / "library.json"
    whole = head.read_bytes()
    dice = random.Random(1)
    for at in [0, *(dice.randrange(len(whole)) for _ in range(60))]:
        damage(head, at)
        with pytest.raises(LibraryDamaged, match="library.json") as caught:
            open_store(copy)
        assert "\n" not in str(caught.value)
        head.write_bytes(whole)
    open_store(copy).close()


def test_what_changed_on_the_disk_by_itself_is_found_by_verify(copy: Path) -> None:
    segment = segments(copy)[-1]
    open_store(copy).close()
    before = segment.stat()
    flip(segment, before.st_size // 2)
    os.utime(segment, ns=(before.st_atime_ns, before.st_mtime_ns))
    with open_store(copy) as store:
        [line] = store.verify()
    assert f"{segment.name} is damaged" in line


def test_a_whole_library_is_not_read_again_before_every_use(copy: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    open_store(copy).close()
    monkeypatch.setattr(ArrayFile, "find_damage", lambda self: pytest.fail("it was read again"))
    open_store(copy).close()


@pytest.mark.parametrize("damage", DAMAGES)
def test_what_is_whole_of_a_damaged_library_is_rescued(copy: Path, damage: Callable[[Path, int], None]) -> None:
    dice = random.Random(damage.__name__)
    expected = {made.book.id: made for made in BOOKS}
    whole = lost = 0
    for segment in segments(copy):
        content = segment.read_bytes()
        for at in {dice.randrange(len(content)) for _ in range(25)} if damage is not delete else (0,):
            damage(segment, at)
            with RescuedLibrary(copy) as rescued:
                found = {record.id: record for record in rescued.books()}
                assert found.keys() <= expected.keys()
                lost += len(expected) - len(found)
                for record in found.values():
                    made = expected[record.id]
                    source = "/moved.txt" if made is BOOKS[0] else made.book.source
                    book = rescued.read_book(record, is_strict=True)
                    if book is None:
                        assert rescued.notes
                        continue
                    assert book == replace(made.book, source=source)
                    if vectors := rescued.read_vectors(record):
                        assert tuple(vectors[0]) == made.passages
                        np.testing.assert_array_equal(vectors[1].passages, made.vectors.passages)
                        np.testing.assert_array_equal(vectors[1].sections, made.vectors.sections)
                        np.testing.assert_array_equal(vectors[1].book, made.vectors.book)
                        for part in ("spans", "terms"):
                            kept, wanted = getattr(vectors[1], part), getattr(made.vectors, part)
                            for own, right in zip(kept, wanted, strict=True):
                                np.testing.assert_array_equal(own, right)
                        whole += 1
            segment.write_bytes(content)
    assert whole > 0 or damage is delete
    assert lost > 0 or damage is not delete


def test_a_file_that_holds_all_and_is_still_not_as_written_is_written_anew(copy: Path, right: list[object]) -> None:
    grow(segments(copy)[0], 3)
    with RescuedLibrary(copy) as rescued:
        assert not rescued.restore_head(), "it would not help"
        assert rescued.notes
        with rescued.start_rebuild(rescued.manifest) as fresh:
            for record in rescued.books():
                book, vectors = rescued.read_book(record, is_strict=True), rescued.read_vectors(record)
                assert book is not None
                assert vectors is not None
                fresh.publish(book, *vectors)
            fresh.take_over()
    with open_store(copy) as store:
        assert read_all(store) == right


def test_a_book_with_damaged_text_is_kept_with_a_warning(copy: Path) -> None:
    segment = segments(copy)[0]
    text = BOOKS[3].book.text.encode()
    flip(segment, segment.read_bytes().index(text) + 30)
    with RescuedLibrary(copy) as rescued:
        record = next(record for record in rescued.books() if record.id == BOOKS[3].book.id)
        assert rescued.read_book(record, is_strict=True) is None
        book = rescued.read_book(record)
    assert book is not None
    assert sum(one != other for one, other in zip(book.text, BOOKS[3].book.text, strict=True)) == 1
    assert "damaged between its bytes 0 and" in book.warnings[0]


@pytest.mark.parametrize("how", ["head", "both"])
def test_a_library_whose_head_is_lost_is_rescued(copy: Path, right: list[object], how: str) -> None:
    (copy / "library.json").unlink()
    if how == "both":
        (copy / "library.copy.json").write_text("{")
    for create in (None, MANIFEST):
        with pytest.raises(LibraryDamaged, match=r"its library.json is missing.*doctor --repair"):
            open_store(copy, create=create, writer=True)
    with RescuedLibrary(copy) as rescued:
        assert rescued.restore_head() == (how == "head")
        titles = {record.title for record in rescued.books()}
        assert titles >= {made.book.title for made in BOOKS}
        assert any("may be back" in note for note in rescued.notes) == (how == "both")
        assert rescued.notes[0] == "library.json cannot be read (it is missing)"
        assert rescued.manifest == MANIFEST
    if how == "head":
        with open_store(copy) as store:
            assert read_all(store) == right


@pytest.mark.parametrize("is_older", [True, False])
def test_a_head_that_is_older_or_newer_than_the_segments_loses_no_book(
    copy: Path, tmp_path: Path, *, is_older: bool
) -> None:
    """As in a copy of a library in use."""
    before = shutil.copytree(copy, tmp_path / "before")
    with open_store(copy, writer=True) as store:
        store.publish(*make_book(5).parts)
        assert store.optimize(purge=True)
        store.remove(BOOKS[0].book.id)
    mixed, heads = (copy, before) if is_older else (before, copy)
    for name in ("library.json", "library.copy.json"):
        shutil.copy(heads / name, mixed / name)
    with RescuedLibrary(mixed) as rescued:
        assert {record.id for record in rescued.books()} >= {made.book.id for made in BOOKS[1:]}
        assert rescued.notes == ["books that were removed or replaced may be back"]
        assert all(line.endswith("lost (it is missing): index your books again") for line in rescued.lost)
        assert rescued.lost
        assert not rescued.restore_head()


@pytest.mark.parametrize("name", ["segment", "segments", "library.copy.json"])
def test_what_may_not_be_read_is_not_taken_for_lost(bound_folder: Path, name: str) -> None:
    make_library(bound_folder / "library")
    damaged, segment = sorted((bound_folder / "library" / "segments").iterdir())
    if name == "segment":
        cut(damaged, 1000)
    else:
        (bound_folder / "library" / "library.json").write_text("{")
    if name == "segments":
        (bound_folder / "library" / "library.copy.json").unlink()
    locked = segment if name == "segment" else bound_folder / "library" / name
    before, mode = segment.read_bytes(), locked.stat().st_mode
    locked.chmod(0)
    try:
        with pytest.raises(StoreError, match="Permission denied") as caught:
            repair_library(bound_folder / "library")
    finally:
        locked.chmod(mode)
    assert not isinstance(caught.value, LibraryDamaged)
    assert segment.read_bytes() == before


def test_nothing_but_our_errors_comes_out_of_segments_that_are_nonsense(copy: Path) -> None:
    segment = segments(copy)[0]
    whole = segment.read_bytes()
    for text in (b"", b"x", bytes(100_000), b"nlbarr01", b"nlbarr01" + bytes(8), whole[:200], whole[::-1]):
        segment.write_bytes(text)
        with pytest.raises(LibraryDamaged):
            open_store(copy)
        with RescuedLibrary(copy) as rescued:
            assert len(rescued.books()) == 3
            assert f"1 book of segment {segment.name} is lost" in rescued.lost[0]


def test_a_file_that_a_stranger_made_is_refused_without_a_traceback(tmp_path: Path) -> None:
    """Whatever the index of a file without a seal says, reading it raises our error or gives an array."""
    make_library(tmp_path / "library")
    segment = segments(tmp_path / "library")[0]
    content = segment.read_bytes()
    dice = random.Random(5)
    for _ in range(300):
        at = dice.randrange(16, 3000)
        path = tmp_path / "stranger.seg"
        path.write_bytes(content[:at] + bytes([dice.randrange(32, 127)]) + content[at + 1 :])
        try:
            file = ArrayFile(path, is_strict=False)
            file.find_damage()
            for name in ("text", "passage.dense", "passage.firsts"):
                file[name].sum()
        except (LibraryDamaged, KeyError):
            pass


@pytest.mark.parametrize("field", ["library", "segment"])
def test_a_head_that_a_stranger_made_leads_to_no_other_folder(copy: Path, tmp_path: Path, field: str) -> None:
    head = read_head(copy / "library.json")[0]
    [first, *others] = head.segments
    shutil.copy(copy / "segments" / first.name, tmp_path / "other.seg")
    outside = replace(first, name=os.path.relpath(tmp_path / "other.seg", copy / "segments"))
    changes = {"library": "../other"} if field == "library" else {"segments": (outside, *others)}
    write_head(copy, replace(head, **changes))
    with pytest.raises(LibraryDamaged, match="makes no sense"):
        open_store(copy)
