"""`nlb index`: what it prints, what it leaves in the library, and how it ends."""

from __future__ import annotations

import json
import os
import random
import re
import signal
import subprocess
import sys
import zipfile
from pathlib import Path

from nlb_retriever import open_store
from tests.cli.conftest import RUN, InProcess, OnTerminal, environment


def masked(text: str) -> str:
    """Output without what differs from run to run."""
    return re.sub(r"in [\d.]+ s: \d+ tokens", "in S: N tokens", text)


def titles(library: Path) -> list[str]:
    with open_store(library) as store:
        return [book.title for book in store.books()]


def write_story(path: Path) -> Path:
    path.write_text("THE CAT\n\nby Jo Lee\n\nCHAPTER I\n\nThe cat Mog ate the red balloon.\n")
    return path


def test_it_reports_what_it_did_and_the_library_holds_it(
    nlb: InProcess, books: Path, own_home: Path, tmp_path: Path
) -> None:
    library = own_home / "libraries" / "default"
    ran = nlb("index", books)
    assert ran.code == 0
    assert masked(ran.out) == f"Indexed 3 books in S: N tokens.\nLibrary: {library}\n"
    assert ": 409 tokens." in ran.out
    assert ran.err == (
        "[1/3] A NIGHT AT THE OBSERVATORY\n[2/3] THE LAMP OF SKERRY\n[3/3] Orchard Letters\n"
        "nlb: boilerplate was skipped in 1 file\n"
    )
    with open_store(library) as store:
        rows = [(book.title, book.author, book.year, book.sections, book.source) for book in store.books()]
    assert rows == [
        ("A NIGHT AT THE OBSERVATORY", "Anna Morrow", None, 2, str(books / "comet.txt")),
        ("Orchard Letters", "Paul Linden", 1931, 3, str(books / "orchard.md")),
        ("THE LAMP OF SKERRY", "Anna Morrow", None, 4, str(books / "lamp.txt")),
    ]

    again = nlb("index", books)
    assert (again.code, again.err) == (0, "")
    assert again.out == f"Nothing to do.\n3 books unchanged.\nLibrary: {library}\n"

    quiet = nlb("index", books, "--quiet")
    assert (quiet.code, quiet.out, quiet.err) == (0, "", "")


def test_quiet_hides_guesses_and_boilerplate_but_not_what_was_left_out(nlb: InProcess, tmp_path: Path) -> None:
    page = f"<nav><a href='x'>Home</a></nav><p>{'The lamp burned all night. ' * 20}</p>"
    (tmp_path / "page.html").write_text(page)
    (tmp_path / "guessed.txt").write_bytes(("Élodie lit à l'école. " * 30).encode("cp1252"))
    with zipfile.ZipFile(tmp_path / "b.epub", "w") as archive:
        archive.writestr("a.xhtml", f"<html><body><p>{'The cat slept all day. ' * 20}</p></body></html>")
        archive.writestr("old.xhtml", "<html><body><p>An older draft.</p></body></html>")
        item = '<manifest><item id="a" href="a.xhtml"/></manifest><spine><itemref idref="a"/></spine>'
        archive.writestr("b.opf", f"<package>{item}</package>")
        archive.writestr("META-INF/container.xml", '<container><rootfile full-path="b.opf"/></container>')
    left_out = f"nlb: warning: {tmp_path}/b.epub: left out: old.xhtml (3 words): the package does not list it"
    loud = nlb("index", tmp_path, "--library", tmp_path / "one")
    assert left_out in loud.err
    assert "guessed.txt: the encoding was guessed: cp1252" in loud.err
    assert "nlb: boilerplate was skipped in 1 file" in loud.err
    quiet = nlb("index", tmp_path, "--library", tmp_path / "two", "--quiet")
    assert (quiet.out, quiet.err) == ("", f"{left_out}\n")
    shown = nlb("show", "Page", "--library", tmp_path / "one")
    assert "Boilerplate skipped: 1 <nav> element (1 word)" in shown.out


def test_documents_that_are_not_read_are_named_even_with_quiet(nlb: InProcess, books: Path, tmp_path: Path) -> None:
    for name in ("slides.pptx", "old.ppt", "talk.pptx", "picture.png"):
        (books / name).write_bytes(b"PK")
    ran = nlb("index", books, "--dry-run", "--quiet", "--library", tmp_path / "library")
    assert ran.code == 0
    assert "nlb: warning: not read: 2 .pptx, 1 .ppt (LibreOffice or Calibre saves" in ran.err


def test_a_second_run_tells_new_changed_renamed_and_gone_books(nlb: InProcess, books: Path, tmp_path: Path) -> None:
    library = tmp_path / "library"
    nlb("index", books, "--library", library)
    (books / "comet.txt").rename(books / "night.txt")
    (books / "lamp.txt").write_text((books / "lamp.txt").read_text() + "\nAnd they sent a cake.\n")
    (books / "orchard.md").rename(tmp_path / "orchard.md")
    write_story(books / "cat.txt")
    (books / "copy.txt").write_bytes((books / "cat.txt").read_bytes())
    (books / "picture.png").write_bytes(b"\x89PNG")

    plan = nlb("index", books, "--prune", "--dry-run", "--library", library)
    assert plan.code == 0
    assert plan.out == (
        "Nothing is done yet; without --dry-run this would be:\n"
        f"  index   {books}/cat.txt\n"
        f"  update  {books}/lamp.txt\n"
        f"  rename  {books}/night.txt\n"
        f"  remove  {books}/orchard.md\n"
        "  keep    0 books unchanged\n"
        f"Left out: {books}/copy.txt is the same as {books}/cat.txt.\n"
        "Skipped in folders: 1 no book's suffix (.png).\n"
        f"Library: {library}\n"
    )
    assert titles(library) == ["A NIGHT AT THE OBSERVATORY", "Orchard Letters", "THE LAMP OF SKERRY"]

    ran = nlb("index", books, "--prune", "--library", library)
    assert masked(ran.out) == (
        "Indexed 2 books (1 of them changed) in S: N tokens.\n"
        "1 book renamed, 1 book removed.\n"
        f"Renamed: {books}/night.txt\n"
        f"Removed: {books}/orchard.md\n"
        f"Left out: {books}/copy.txt is the same as {books}/cat.txt.\n"
        "Skipped in folders: 1 no book's suffix (.png).\n"
        f"Library: {library}\n"
    )
    assert titles(library) == ["A NIGHT AT THE OBSERVATORY", "THE CAT", "THE LAMP OF SKERRY"]


def test_pruning_by_a_pattern_says_that_it_needs_a_folder(nlb: InProcess, tmp_path: Path) -> None:
    (tmp_path / "drive").mkdir()
    story = write_story(tmp_path / "drive" / "cat.txt")
    complaint = "nlb: --prune had no effect: it looks for lost files in the folders that are named, and none is\n"
    args = ("index", "--library", tmp_path / "library", "--prune")
    for path in (tmp_path / "drive" / "*.txt", story):
        ran = nlb(*args, path)
        assert ran.code == 0 and ran.err.endswith(complaint)
    assert nlb(*args, tmp_path / "drive").err == ""


def test_books_of_an_empty_folder_are_pruned_only_when_told_twice(nlb: InProcess, tmp_path: Path) -> None:
    drive, library = tmp_path / "drive", tmp_path / "library"
    drive.mkdir()
    story = write_story(drive / "cat.txt")
    nlb("index", drive, "--library", library)
    story.unlink()
    ran = nlb("index", drive, "--prune", "--library", library)
    assert ran.code == 2
    assert f"Kept: {story} cannot be found, but the folder cannot be read or holds no book" in ran.out
    assert titles(library) == ["THE CAT"]
    assert nlb("index", drive, "--prune-empty", "--library", library).code == 2
    told = json.loads(nlb("index", drive, "--prune", "--dry-run", "--json", "--library", library).out)
    assert ([book["source"] for book in told["kept"]], told["removed"]) == ([str(story)], [])
    assert "1 book removed" in nlb("index", drive, "--prune", "--prune-empty", "--library", library).out
    assert titles(library) == []


def test_books_without_a_file_or_with_a_damaged_one_are_named(nlb: InProcess, tmp_path: Path) -> None:
    shelf, library = tmp_path / "shelf", tmp_path / "library"
    shelf.mkdir()
    gone, damaged = write_story(shelf / "cat.txt"), shelf / "night.txt"
    damaged.write_text("THE NIGHT\n\nIt was dark over the hill.")
    (shelf / "tea.txt").write_text("TEA\n\nTea is brown.")
    nlb("index", shelf, "--library", library)
    gone.unlink()
    damaged.write_bytes(b"PK\x03\x04 no more")
    ran = nlb("index", shelf, "--library", library)
    assert f"Kept: {gone} cannot be found: give --prune to remove.\n" in ran.out
    assert ran.err.endswith("though its suffix is .txt (its former text stays in the library)\n")
    assert (
        f"1 book unchanged, 1 book removed.\nRemoved: {gone}\n"
        in nlb("index", shelf, "--prune", "--library", library).out
    )


def test_a_bad_file_is_named_and_the_rest_is_indexed(nlb: InProcess, tmp_path: Path) -> None:
    stories, library = tmp_path / "stories", tmp_path / "library"
    stories.mkdir()
    write_story(stories / "cat.txt")
    broken = stories / "broken  book\n.epub"
    broken.write_bytes(b"PK\x03\x04 no more")
    ran = nlb("index", stories, "--library", library, "--json")
    assert ran.code == 1
    assert "[1/2] broken book .epub failed\n" in ran.err
    last = ran.err.splitlines()[-1]
    assert last.startswith("nlb: failed: " + str(broken).replace("\n", "\\n"))
    assert last.count(str(stories)) == 1
    assert titles(library) == ["THE CAT"]

    told = json.loads(ran.out)
    assert {"indexed", "unchanged", "removed", "renamed", "failed", "skipped", "suffixes", "seconds", "tokens"} <= set(
        told
    )
    assert [book["title"] for book in told["indexed"]] == ["THE CAT"]
    assert [file["source"] for file in told["failed"]] == [str(broken)]


def test_where_everything_failed_the_exit_code_is_2(nlb: InProcess, tmp_path: Path) -> None:
    (tmp_path / "empty.txt").write_bytes(b"")
    ran = nlb("index", tmp_path / "empty.txt", tmp_path / "missing.epub")
    assert ran.code == 2
    assert ran.out.startswith("Nothing is indexed.\n")
    failures = [line for line in ran.err.splitlines() if line.startswith("nlb: failed: ")]
    assert len(failures) == 2
    assert any("missing.epub: there is no such file or folder" in line for line in failures)


def test_rebuild_needs_no_paths_and_keeps_the_books(nlb: InProcess, tmp_path: Path) -> None:
    library = tmp_path / "library"
    nlb("index", write_story(tmp_path / "cat.txt"), "--library", library)
    ran = nlb("index", "--rebuild", "--chunk-tokens", "0", "--library", library)
    assert ran.code == 0
    assert "Indexed 1 book" in ran.out
    with open_store(library) as store:
        assert [book.title for book in store.books()] == ["THE CAT"]
        assert store.manifest.chunk_tokens == 0


def test_other_chunks_than_the_library_has_are_refused_in_one_line(nlb: InProcess, shelf: Path) -> None:
    ran = nlb("index", shelf.parent / "books", "--chunk-tokens", "64", "--library", shelf)
    assert (ran.code, ran.out) == (2, "")
    assert ran.err.count("\n") == 1
    assert "was made with other settings (chunk_tokens 256 in the library, 64 requested)" in ran.err


def test_a_terminal_shows_bars_unless_colour_is_not_wanted(nlb_terminal: OnTerminal, tmp_path: Path) -> None:
    story = write_story(tmp_path / "cat.txt")
    bars = nlb_terminal("index", story, "--library", tmp_path / "one")
    assert bars.code == 0
    assert "of 1 book" in bars.out
    assert "━" in bars.out
    assert bars.out.endswith(f"{tmp_path}/one\n")
    plain = nlb_terminal("index", story, "--library", tmp_path / "two", env={"NO_COLOR": "1"})
    assert plain.code == 0
    assert masked(plain.out).split() == f"[1/1] THE CAT Indexed 1 book in S: N tokens. Library: {tmp_path}/two".split()


def write_novel(path: Path, seed: int) -> None:
    """About 5,000 tokens."""
    words = random.Random(seed)
    names = "harbour lantern captain storm letter garden winter brother forest silver bread window".split()
    lines = [f"The {' '.join(words.choices(names, k=9))}." for _ in range(450)]
    path.write_text("\n\n".join([f"CHAPTER {seed}", *lines]), encoding="utf-8")


def test_after_ctrl_c_the_same_command_goes_on(tmp_path: Path) -> None:
    novels, library = tmp_path / "novels", tmp_path / "library"
    novels.mkdir()
    for seed in range(1, 5):
        write_novel(novels / f"novel{seed}.txt", seed)
    command = [sys.executable, "-c", RUN, "index", str(novels), "--library", str(library)]
    process = subprocess.Popen(
        command,
        env=environment(),
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
    )
    with process:
        assert process.stderr is not None
        first = process.stderr.readline()
        os.killpg(process.pid, signal.SIGINT)  # as a terminal does: to the workers, too
        out, err = process.communicate(timeout=60)
    assert first == "[1/4] Novel1\n"
    assert process.returncode == 130
    assert out == ""
    assert "Traceback" not in err
    told = re.fullmatch(
        r"nlb: interrupted: ([123]) of 4 books (is|are) published; the same command goes on from there",
        err.splitlines()[-1],
    )
    assert told
    assert len(titles(library)) == int(told[1])

    again = subprocess.run(command, env=environment(), capture_output=True, text=True, timeout=60, check=False)
    assert again.returncode == 0
    assert f"Indexed {4 - int(told[1])} book" in again.stdout
    with open_store(library) as store:
        assert [book.title for book in store.books()] == ["Novel1", "Novel2", "Novel3", "Novel4"]
        assert store.verify() == []
