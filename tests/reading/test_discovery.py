"""Discovery: every input ends as a file, a count or a reason, in a stable order."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from nlb_retriever.errors import NotABook, ReadingError
from nlb_retriever.reading import discover, hash_file, read_book


@pytest.fixture
def shelf(tmp_path: Path) -> Path:
    for name in [
        "b.txt",
        "a.md",
        "sub/c.epub",
        "sub/notes.xls",
        ".hidden.txt",
        ".git/d.txt",
        "sub/.e/f.txt",
        "G.PDF",
        "~$b.docx",
    ]:
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text("Once upon a time.")
    return tmp_path


def names(folder: Path, *inputs: str | Path) -> list[str]:
    return [str(f.relative_to(folder)) for f in discover(inputs or (folder,)).files]


def test_a_folder_is_walked_in_sorted_order_and_the_rest_is_counted(shelf: Path) -> None:
    found = discover([shelf])
    assert [str(f.relative_to(shelf)) for f in found.files] == ["G.PDF", "a.md", "b.txt", "sub/c.epub"]
    assert found.skipped == {"hidden": 4, "no book's suffix": 1}
    assert found.suffixes == {".xls": 1}
    assert found.failed == ()


def test_documents_that_are_not_read_come_first_among_other_files(tmp_path: Path) -> None:
    for name in ("a.png", "b.png", "c.js", "slides.pptx", "notes.tex", "a.txt"):
        (tmp_path / name).write_text("Once upon a time.")
    assert [*discover([tmp_path]).suffixes] == [".tex", ".pptx", ".png", ".js"]
    assert "slides.pptx: .pptx files are not read: LibreOffice" in discover([tmp_path / "slides.pptx"]).failed[0].reason


def test_folders_of_packages_are_entered_only_if_they_are_named(shelf: Path) -> None:
    package = shelf / "node_modules" / "pad" / "README.md"
    package.parent.mkdir(parents=True)
    package.write_text("# pad\n\nIt pads.")
    found = discover([shelf])
    assert (package in found.files, found.skipped["folder of packages"]) == (False, 1)
    assert discover([shelf / "node_modules"]).files == (package,)


def test_deleted_files_in_the_bin_of_a_drive_are_no_books(tmp_path: Path) -> None:
    for name in ("kept.txt", "$RECYCLE.BIN/S-1-5/$RAB12.txt", "#recycle/gone.txt", "sub/@Recycle/gone.txt"):
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text("A text.")
    found = discover([tmp_path])
    assert found.files == (tmp_path / "kept.txt",)
    assert found.skipped == {"folder of deleted files": 3}


def test_the_parts_of_a_page_that_a_browser_saved_are_no_books(tmp_path: Path) -> None:
    (tmp_path / "Tides. A page.html").write_text("<p>The tide turns.")
    for folder in ("Tides. A page_files", "other_files"):
        (tmp_path / folder).mkdir()
        (tmp_path / folder / "frame.html").write_text("<p>Buy shoes.")
    found = discover([tmp_path])
    assert found.files == (tmp_path / "Tides. A page.html", tmp_path / "other_files" / "frame.html")


def test_globs_and_single_files_are_taken_once_each(shelf: Path) -> None:
    found = discover([str(shelf / "*.md"), shelf / "b.txt", str(shelf / "**" / "*.epub"), shelf / "b.txt"])
    assert [f.name for f in found.files] == ["a.md", "b.txt", "c.epub"]


@pytest.mark.parametrize(
    ("given", "reason"),
    [
        ("nowhere.txt", "there is no such file or folder"),
        ("*.nothing", "no file matches this pattern"),
        ("sub/notes.xls", "has no suffix of a book"),
        ("empty", "holds no book"),
    ],
)
def test_what_was_named_and_cannot_be_read_fails_with_one_line(shelf: Path, given: str, reason: str) -> None:
    (shelf / "empty").mkdir()
    found = discover([str(shelf / given)])
    assert found.files == ()
    assert len(found.failed) == 1
    assert reason in found.failed[0].reason
    assert found.failed[0].source == str(shelf / given)


def test_loops_of_links_end(shelf: Path) -> None:
    (shelf / "sub" / "up").symlink_to(shelf)
    (shelf / "self").symlink_to(shelf / "self")
    (shelf / "dangling.txt").symlink_to(shelf / "nowhere")
    found = discover([shelf])
    assert len(found.files) == 4
    assert found.skipped["folder seen before (a link's loop)"] == 1
    assert found.skipped["broken link"] == 2


@pytest.mark.parametrize("names", [("", ""), ("", "sub"), ("sub", "")])
def test_a_folder_that_is_named_twice_is_no_failure(shelf: Path, names: tuple[str, str]) -> None:
    for file in shelf.iterdir():
        if file.is_file():
            file.unlink()
    found = discover([shelf / name for name in names])
    assert found.failed == ()
    assert found.files == discover([shelf]).files != ()
    assert found.skipped["named twice"] == 1


def test_a_fifo_is_never_opened(shelf: Path) -> None:
    os.mkfifo(shelf / "pipe.txt")
    assert discover([shelf]).skipped["no regular file"] == 1
    assert "is no regular file" in discover([shelf / "pipe.txt"]).failed[0].reason
    for use in (read_book, hash_file):
        with pytest.raises(NotABook, match="no regular file"):
            use(shelf / "pipe.txt")
    with pytest.raises(ReadingError, match="no regular file"):
        read_book(Path("/dev/null"))


@pytest.mark.parametrize(
    "name", ["-rf.txt", "new\nline.txt", "🦊 fox.txt", os.fsdecode(b"caf\xe9.txt"), "x" * 250 + ".txt", "a[b]*.txt"]
)
def test_odd_file_names_are_read_and_shown_in_one_line(tmp_path: Path, name: str) -> None:
    path = tmp_path / name
    try:
        path.write_text("Once upon a time.")
    except OSError as error:
        pytest.skip(f"this file system does not take the name: {error}")
    assert discover([tmp_path]).files == discover([str(path)]).files == (path,)
    book = read_book(path)
    assert Path(book.source) == path
    book.title.encode()
    path.write_bytes(b"")
    with pytest.raises(NotABook) as caught:
        read_book(path)
    str(caught.value).encode()
    assert "\n" not in str(caught.value)


def test_a_file_without_permission_gives_one_line(bound_folder: Path) -> None:
    path = bound_folder / "a.txt"
    path.write_text("x")
    path.chmod(0)
    with pytest.raises(ReadingError, match=r"a\.txt: cannot be read \(Permission denied\)"):
        read_book(path)


def test_an_empty_name_is_not_the_current_folder(shelf: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(shelf)
    found = discover([""])
    assert (found.files, [failed.reason for failed in found.failed]) == (
        (),
        ["'' is not a path: name a file or folder"],
    )


def test_the_home_folder_of_an_unknown_user_is_not_there(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    assert "~nobody-here/x: there is no such file or folder" in discover(["~nobody-here/x"]).failed[0].reason


def test_a_folder_that_can_be_listed_but_not_entered_fails_alone(bound_folder: Path) -> None:
    for name in ("open", "listed"):
        (bound_folder / name).mkdir()
        (bound_folder / name / "a.txt").write_text("Once upon a time.")
    (bound_folder / "listed" / "b.txt").write_text("Once upon a time.")
    (bound_folder / "listed").chmod(0o400)
    try:
        found = discover([bound_folder])
    finally:
        (bound_folder / "listed").chmod(0o700)
    assert found.files == (bound_folder / "open" / "a.txt",)
    assert [failed.reason for failed in found.failed] == [
        f"{bound_folder / 'listed'}: cannot be read whole (Permission denied)"
    ]
    assert found.unreadable == (bound_folder / "listed",)
    assert found.skipped == {"unreadable": 2}


def test_a_path_that_is_too_long_fails_and_the_rest_is_found(shelf: Path) -> None:
    folder = os.open(shelf, os.O_RDONLY)
    for _ in range(20):  # 5,000 bytes
        os.mkdir("x" * 250, dir_fd=folder)
        below = os.open("x" * 250, os.O_RDONLY, dir_fd=folder)
        os.close(folder)
        folder = below
    os.close(folder)
    found = discover([shelf])
    assert len(found.files) == 4
    assert [failed.reason.rpartition(": ")[2] for failed in found.failed] == [
        "cannot be read whole (File name too long)"
    ]
    assert "File name too long" in discover([shelf / ("x" * 300)]).failed[0].reason


def test_a_folder_named_like_a_book_is_a_folder(tmp_path: Path) -> None:
    (tmp_path / "a.txt").mkdir()
    (tmp_path / "a.txt" / "b.txt").write_text("x")
    assert names(tmp_path) == ["a.txt/b.txt"]
    with pytest.raises(ReadingError):
        read_book(tmp_path / "a.txt")


def test_the_hash_is_that_of_the_book(tmp_path: Path) -> None:
    path = tmp_path / "a.txt"
    path.write_text("Once upon a time.")
    assert hash_file(path) == read_book(path).content_hash
    assert read_book(path).id == hash_file(path)[:16]
    with pytest.raises(ReadingError, match="cannot be read"):
        hash_file(tmp_path / "b.txt")


SITES = {
    "Sphinx": "objects.inv genindex.html genindex-A.html search.html _sources/a.rst.txt _static/LICENSE.txt",
    "mdBook": "book-a0b12cfe.js print.html toc.html 404.html",
    "Javadoc": "element-list index-all.html allclasses-index.html legal/COPYRIGHT.txt package-summary.html"
    " package-tree.html class-use/Bell.html",
    "rustdoc": "static.files/a.md help.html src/bell/lib.rs.html sidebar-items1.95.0.js all.html",
    "MkDocs": "sitemap.xml 404.html",
}


@pytest.mark.parametrize("names", SITES.values(), ids=SITES)
def test_what_a_site_has_beside_its_pages_is_passed_over(tmp_path: Path, names: str) -> None:
    for name in ("bell.html", "guide/search.html", *names.split()):
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text("<p>The bell rings at six.</p>")
    found = [path.relative_to(tmp_path).as_posix() for path in discover([tmp_path]).files]
    assert found == ["bell.html", *["package-summary.html"] * ("package-summary" in names), "guide/search.html"]


def test_search_and_print_are_pages_of_other_folders(tmp_path: Path) -> None:
    for name in ("search.html", "print.html", "404.html", "legal/search.html", "_sources/a.txt"):
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text("<p>The bell rings at six.</p>")
    assert len(discover([tmp_path]).files) == 5


def test_a_page_that_only_leads_to_another_is_passed_over(tmp_path: Path) -> None:
    page = '<html><head><meta http-equiv="Refresh" content="{}; url=b.html"></head><body>Go on.</body></html>'
    (tmp_path / "a.html").write_text(page.format(0))
    (tmp_path / "b.html").write_text(page.format(600))
    found = discover([tmp_path])
    assert [path.name for path in found.files] == ["b.html"]
    assert found.skipped == {"redirect to another page": 1}
    assert [path.name for path in discover([tmp_path / "a.html"]).files] == ["a.html"]


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("a.rst", ".. include:: ../CHANGES.rst\n   :start-line: 2\n"),
        ("a.md", '[//]: # "authors"\n\n```{include} ../AUTHORS.md\n:end-line: 9\n```\n'),
        ("a.md", '--8<-- "README.md"\n'),
        ("a.adoc", "include::../changes.adoc[]\n"),
    ],
)
def test_a_page_that_only_includes_another_file_is_passed_over(tmp_path: Path, name: str, text: str) -> None:
    (tmp_path / name).write_text(text)
    (tmp_path / f"b-{name}").write_text(f"The keeper waits.\n\n{text}")
    found = discover([tmp_path])
    assert [path.name for path in found.files] == [f"b-{name}"]
    assert found.skipped == {"page that only includes another file": 1}
