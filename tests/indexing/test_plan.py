"""What a run would do: files and texts compared with the books of a library, without reading or encoding any."""

from __future__ import annotations

import os
import shutil
from dataclasses import replace
from pathlib import Path

import pytest

from nlb_retriever import book_from_text
from nlb_retriever.errors import ReadingError
from nlb_retriever.indexing.plan import FileSource, Inputs, Plan, collect_inputs, hash_source, is_random_name, make_plan
from nlb_retriever.reading import Discovery, discover
from nlb_retriever.records import BookRecord, source_of


def record_of(path: Path, digest: str = "0" * 64) -> BookRecord:
    """A library's book that was read from this file."""
    return BookRecord(
        id=path.stem, uuid="u", title="A book", author=None, language=None, year=None, source=str(path),
        content_hash=digest, version="1", sections=1, passages=1, chars=1, tokens=1,
    )  # fmt: skip


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Three books in two folders, and an empty folder."""
    for name in ("one/a.txt", "one/b.txt", "two/c.txt"):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text(f"The book {name}.")
    (tmp_path / "mounted").mkdir()
    return tmp_path


def plan_of(folder: Path, records: list[BookRecord], prune: str) -> Plan:
    return make_plan(collect_inputs(discover([folder])), records, prune)  # type: ignore[arg-type]


def test_pruning_removes_what_is_gone_from_a_folder_that_still_has_books(folder: Path) -> None:
    gone, outside = record_of(folder / "one" / "gone.txt"), record_of(folder.parent / "elsewhere.txt")
    plan = plan_of(folder, [gone, outside], "certain")
    assert (plan.removed, plan.kept) == ((gone,), ())
    assert plan_of(folder, [gone, outside], "no").removed == ()


def test_without_pruning_books_whose_files_are_gone_are_named(folder: Path) -> None:
    gone, elsewhere = record_of(folder / "one" / "gone.txt"), record_of(folder.parent / "elsewhere" / "gone.txt")
    plan = plan_of(folder, [gone, elsewhere], "no")
    assert (plan.removed, plan.kept) == ((), (gone,))


@pytest.mark.parametrize(("prune", "removed"), [("no", False), ("certain", False), ("all", True)])
def test_books_of_a_named_folder_that_is_gone_are_removed_if_told_twice(
    folder: Path, prune: str, removed: bool
) -> None:
    lost = record_of(folder / "former" / "a.txt")
    plan = plan_of(folder / "former", [lost], prune)
    assert (plan.removed, plan.kept) == (((lost,), ()) if removed else ((), (lost,)))


def test_a_book_that_icloud_keeps_elsewhere_is_kept(folder: Path) -> None:
    away = record_of(folder / "one" / "away.txt")
    (folder / "one" / ".away.txt.icloud").write_bytes(b"bplist00")
    plan = plan_of(folder, [away], "certain")
    assert (plan.removed, plan.kept) == ((), (away,))


def test_pruning_removes_the_books_of_a_subfolder_that_was_deleted(folder: Path) -> None:
    shutil.rmtree(folder / "two")
    plan = plan_of(
        folder, [record_of(folder / "two" / "c.txt"), record_of(folder / "two" / "deep" / "d.txt")], "certain"
    )
    assert len(plan.removed) == 2


@pytest.mark.parametrize("name", ["mounted/lost.txt", "mounted/deep/lost.txt"])
def test_books_of_a_folder_without_any_book_are_kept_unless_told_twice(folder: Path, name: str) -> None:
    lost = record_of(folder / name)
    once = plan_of(folder, [lost], "certain")
    assert (once.removed, once.kept) == ((), (lost,))
    twice = plan_of(folder, [lost], "all")
    assert (twice.removed, twice.kept) == ((lost,), ())


def test_books_behind_a_link_to_a_drive_that_is_not_mounted_are_kept(folder: Path, tmp_path: Path) -> None:
    (folder / "one" / "link").symlink_to(tmp_path / "drive" / "books")
    lost = record_of(folder / "one" / "link" / "deep" / "lost.txt")
    plan = plan_of(folder, [lost], "certain")
    assert (plan.removed, plan.kept) == ((), (lost,))
    (folder / "one" / "link").unlink()
    assert plan_of(folder, [lost], "certain").removed == (lost,)


def test_all_books_are_kept_where_the_named_folder_is_empty(tmp_path: Path) -> None:
    (tmp_path / "drive").mkdir()
    lost = [record_of(tmp_path / "drive" / f"{number}.txt") for number in range(3)]
    plan = plan_of(tmp_path / "drive", lost, "certain")
    assert (plan.removed, plan.kept) == ((), tuple(lost))


@pytest.mark.parametrize("name", [b"latin-\xe9", rb"slash-\xe9"])
def test_a_book_whose_name_is_no_text_is_lost_only_where_its_file_is_gone(folder: Path, name: bytes) -> None:
    book = folder / os.fsdecode(name) / os.fsdecode(name + b".txt")
    book.parent.mkdir()
    book.write_text("The book of the lamp.")
    digest = hash_source(book).content_hash
    record = replace(record_of(book, digest), source=source_of(book))
    (folder / "two" / "copy.txt").write_text("The book of the lamp.")
    out_of_reach = replace(collect_inputs(discover([folder / "two"])), discovery=discover([folder]))
    plan = make_plan(out_of_reach, [record], "all")
    assert (plan.removed, plan.renamed, len(plan.duplicates)) == ((), (), 1)
    (folder / "two" / "copy.txt").unlink()
    book.unlink()
    (book.parent / "other.txt").write_text("Another book.")
    assert plan_of(folder, [record], "certain").removed == (record,)


@pytest.mark.parametrize("mode", [0o000, 0o400])
def test_books_below_a_folder_that_cannot_be_read_are_kept(bound_folder: Path, mode: int) -> None:
    (bound_folder / "open.txt").write_text("An open book.")
    locked = bound_folder / "locked"
    locked.mkdir()
    (locked / "a.txt").write_text("A book out of sight.")
    out_of_sight, gone = record_of(locked / "a.txt"), record_of(bound_folder / "gone.txt")
    locked.chmod(mode)
    try:
        plan = plan_of(bound_folder, [out_of_sight, gone], "certain")
    finally:
        locked.chmod(0o700)
    assert (plan.removed, plan.kept) == ((gone,), (out_of_sight,))


def test_a_file_that_is_deleted_while_others_are_hashed_fails_alone(folder: Path) -> None:
    discovery = discover([folder])
    (folder / "one" / "b.txt").unlink()
    inputs = collect_inputs(discovery)
    assert [file.path.name for file in inputs.files] == ["a.txt", "c.txt"]
    assert [failed.reason for failed in inputs.failed] == [
        f"{folder / 'one' / 'b.txt'}: cannot be read (No such file or directory)"
    ]
    with pytest.raises(ReadingError):
        hash_source(folder / "one" / "b.txt")


def test_empty_files_are_no_copies_of_each_other(folder: Path) -> None:
    for name in ("a.txt", "b.txt"):
        (folder / "one" / name).write_bytes(b"")
    inputs = collect_inputs(discover([folder / "one" / "a.txt", folder / "one" / "b.txt"]))
    assert [failed.reason for failed in inputs.failed] == [
        f"{folder / 'one' / name}: is empty (0 bytes)" for name in ("a.txt", "b.txt")
    ]
    assert make_plan(inputs, []).duplicates == ()


@pytest.mark.parametrize("content", [b"", b"\n", b"\xef\xbb\xbf \r\n"])
def test_an_empty_file_in_a_folder_fails_only_where_the_library_has_its_former_text(
    folder: Path, content: bytes
) -> None:
    for name in ("a.txt", "b.txt"):
        (folder / "one" / name).write_bytes(content)
    had = record_of(folder / "one" / "a.txt")
    inputs = collect_inputs(discover([folder]))
    plan = make_plan(inputs, [had], "all")
    assert (inputs.failed, inputs.discovery.skipped) == ((), {"empty": 2})
    assert [failed.source for failed in plan.failed] == [had.source]
    assert (plan.removed, plan.kept) == ((), ())


def test_a_file_whose_name_leads_to_nothing_or_a_folder_is_lost(folder: Path) -> None:
    linked, replaced = folder / "one" / "linked.txt", folder / "two" / "c.txt"
    linked.symlink_to(folder / "nowhere.txt")
    replaced.unlink()
    replaced.mkdir()
    (replaced / "d.txt").write_text("A book in a folder of that name.")
    records = [record_of(linked), record_of(replaced)]
    plan = plan_of(folder, records, "certain")
    assert (plan.removed, plan.kept) == ((records[1],), (records[0],))  # the link may lead to a drive
    assert plan_of(folder, records, "all").removed == (*records,)


def test_a_known_path_with_new_bytes_is_a_new_version_and_known_bytes_elsewhere_a_rename(folder: Path) -> None:
    files = collect_inputs(discover([folder])).files
    changed = record_of(folder / "one" / "a.txt")
    moved = record_of(folder / "before.txt", digest=files[1].content_hash)
    plan = plan_of(folder, [changed, moved], "certain")
    assert [(task.input.source, task.replaces) for task in plan.tasks] == [
        (files[0].source, changed),
        (files[2].source, None),
    ]
    assert plan.renamed == ((moved, files[1].source),)
    assert plan.removed == ()


def test_a_lasting_id_is_kept_where_it_is_free_and_never_given_twice() -> None:
    files = tuple(
        FileSource(source=f"/{name}", path=Path(f"/{name}"), content_hash=name * 64, size=1, book_id=book_id)
        for name, book_id in (("a", "lasting"), ("b", "lasting"), ("c", None))
    )
    plan = make_plan(Inputs(discovery=Discovery(), files=files), [])
    first, second, third = (task.book_id for task in plan.tasks)
    assert (first, second, third) == ("lasting", "b" * 16, "c" * 16)


def test_a_book_that_calibre_renamed_to_its_corrected_title_keeps_its_id(folder: Path) -> None:
    book = folder / "Unknown" / "clock.txt"
    book.parent.mkdir()
    book.write_text("The clock.")
    record = record_of(book, hash_source(book).content_hash)
    moved = folder / "Ann Author" / "The Town Clock.txt"
    book.parent.rename(moved.parent)
    (moved.parent / book.name).rename(moved)
    assert plan_of(folder, [record], "no").renamed == ((record, str(moved)),)
    opf = "<package><metadata><title>The Town Clock</title><creator>Ann Author</creator></metadata></package>"
    (moved.parent / "metadata.opf").write_text(opf)
    plan = plan_of(folder, [record], "no")
    assert [(t.book_id, t.replaces, t.input.source) for t in plan.tasks if t.replaces] == [
        (record.id, record, str(moved))
    ]
    book.parent.mkdir()
    shutil.copy(moved, book)  # the former file is there, too: two books
    assert not [task for task in plan_of(folder, [record], "no").tasks if task.replaces]


def test_two_books_of_the_same_bytes_that_calibre_renamed_keep_their_ids(tmp_path: Path) -> None:
    def write(name: str, title: str) -> Path:
        path = tmp_path / name / f"{name}.txt"
        path.parent.mkdir()
        path.write_text("The kite.")
        opf = f"<package><metadata><title>{title}</title><creator>Ann Author</creator></metadata></package>"
        (path.parent / "metadata.opf").write_text(opf)
        return path

    former = [write("kite", "Kite"), write("other", "Other")]
    records = [record_of(path, hash_source(path).content_hash) for path in former]
    for path in former:
        shutil.rmtree(path.parent)
    now = [write("The Kite", "The Kite"), write("The Other", "The Other")]
    plan = plan_of(tmp_path, records, "certain")
    assert [(task.input.source, task.replaces) for task in plan.tasks] == [
        (str(path), record) for path, record in zip(now, records, strict=True)
    ]
    assert plan.removed == ()


def test_a_file_that_was_changed_and_copied_stays_the_book(folder: Path) -> None:
    book = folder / "one" / "b.txt"
    record = record_of(book)
    shutil.copy(book, book.with_name("a copy of b.txt"))
    plan = plan_of(folder, [record], "no")
    assert [task.input.source for task in plan.tasks if task.replaces == record] == [str(book)]
    assert plan.duplicates == ((str(book.with_name("a copy of b.txt")), str(book)),)
    assert plan.removed == ()


@pytest.mark.parametrize("edited", [False, True])
def test_a_file_that_is_spelt_otherwise_now_is_the_same_on_a_disk_that_does_not_tell(
    folder: Path, edited: bool
) -> None:
    small, large = folder / "two" / "cafe\u0301.txt", folder / "two" / "Caf\u00e9.txt"
    small.write_text("The book of the coffee house.")
    os.link(small, large)  # as if the disk found it by both names
    record = record_of(large, "0" * 64 if edited else hash_source(small).content_hash)
    inputs = collect_inputs(discover([small]))
    plan = replace(make_plan(inputs, [record], "all"), kept=())
    assert (plan.duplicates, plan.removed) == ((), ())
    assert [replaces for _, replaces in ((task, task.replaces) for task in plan.tasks)] == [record] * edited
    assert plan.renamed == ((record, str(small)),) * (not edited)


@pytest.mark.parametrize("edited", [False, True])
def test_a_book_whose_file_is_found_through_a_link_now_is_the_same(folder: Path, edited: bool) -> None:
    book = folder / "two" / "c.txt"
    record = record_of(book, "0" * 64 if edited else hash_source(book).content_hash)
    (folder / "one" / "link").symlink_to(folder / "two")
    plan = plan_of(folder, [record], "certain")
    assert (plan.duplicates, plan.removed, plan.kept) == ((), (), ())
    found = str(folder / "one" / "link" / "c.txt")
    assert [task.input.source for task in plan.tasks if task.replaces] == [found] * edited
    assert plan.renamed == ((record, found),) * (not edited)


def test_a_book_whose_file_now_is_another_book_is_removed(folder: Path) -> None:
    first, second, third = (folder / name for name in ("one/a.txt", "one/b.txt", "two/c.txt"))
    records = [record_of(path, hash_source(path).content_hash) for path in (first, second, third)]
    given = replace(records[0], id="given", from_file=False)
    second.rename(first)
    plan = plan_of(folder, [*records, given], "no")
    assert (plan.renamed, plan.removed) == (((records[1], str(first)),), (records[0],))
    shutil.copy(third, first)
    plan = plan_of(folder, [replace(records[1], source=str(first)), records[2]], "certain")
    assert plan.duplicates == ((str(first), str(third)),)
    assert [record.id for record in plan.removed] == ["b"]


def test_only_a_random_uuid_is_no_name() -> None:
    assert is_random_name("16FD2706-8baf-433b-82eb-8c7fada847da")
    for name in (
        "6fa459ea-ee8a-3ca4-894e-db77e160355e",  # made of a name
        "6ba7b810-9dad-11d1-80b4-00c04fd430c8",  # of a time and place
        "16fd2706-8baf-433b-c2eb-8c7fada847da",  # not the usual form
        "16fd2706-8baf-433b-82eb-8c7fada847da.txt",
    ):
        assert not is_random_name(name)


def test_no_file_of_the_library_is_looked_at_for_a_text(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    inputs = collect_inputs(discover([]), [book_from_text("Rye makes a dark loaf.", source="rye")])
    records = [record_of(folder / "two" / "c.txt")]
    with monkeypatch.context() as patch:
        for name in ("stat", "lstat"):
            patch.setattr(os, name, lambda *_, **__: pytest.fail("a file is looked at"))
        plan = make_plan(inputs, records)
    assert [task.input.source for task in plan.tasks] == ["rye"]
