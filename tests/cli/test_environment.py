"""A hostile shell: closed streams, removed folders, odd names and secrets are at most one clear line."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from types import SimpleNamespace
from typing import NoReturn

import pytest

from nlb_cli.__main__ import main
from tests.cli.conftest import RUN, InProcess, OnTerminal, environment, write_books


def run_in_shell(redirection: str, *args: str | Path, cwd: Path | None = None) -> subprocess.CompletedProcess[bytes]:
    command = ["sh", "-c", f'exec "$@" {redirection}', "sh", sys.executable, "-c", RUN, *map(str, args)]
    return subprocess.run(command, env=environment(), cwd=cwd, capture_output=True, timeout=120, check=False)


@pytest.mark.parametrize("redirection", [">&-", "2>&-", "<&- >&- 2>&-"])
def test_a_closed_stream_is_like_dev_null(redirection: str, shelf: Path) -> None:
    done = run_in_shell(redirection, "books", "--json", "--library", shelf)
    assert (done.returncode, done.stderr) == (0, b"")
    assert (len(json.loads(done.stdout)) == 3) if redirection == "2>&-" else done.stdout == b""


def test_indexing_with_closed_streams_writes_a_whole_library(nlb: InProcess, tmp_path: Path) -> None:
    books = write_books(tmp_path / "books")
    done = run_in_shell("<&- >&- 2>&-", "index", books, "--library", tmp_path / "library")
    assert done.returncode == 0
    checks = json.loads(nlb("doctor", "--json", "--library", tmp_path / "library").out)["checks"]
    assert checks[-1] == {"name": "library", "status": "ok", "detail": f"{tmp_path}/library, 3 books, all whole"}


def test_errors_stay_out_of_stdout_where_stderr_is_closed(tmp_path: Path) -> None:
    done = run_in_shell("2>&-", "books", "--library", tmp_path / "nowhere")
    assert (done.returncode, done.stdout) == (2, b"")


def test_a_working_folder_that_was_removed_is_one_line(tmp_path: Path) -> None:
    gone = tmp_path / "gone"
    gone.mkdir()
    script = 'cd "$1" && rmdir "$1" && shift && exec "$@"'
    command = ["sh", "-c", script, "sh", str(gone), sys.executable, "-c", RUN, "index", "books"]
    done = subprocess.run(command, env=environment(), capture_output=True, timeout=120, check=False)
    assert done.returncode == 2
    assert done.stderr == b"nlb: the current folder has been removed: change to another one\n"


@pytest.mark.parametrize(
    ("args", "env", "complaint"),
    [
        (("books", "--library", "~nobody-here/x"), {}, "library ~nobody-here/x: there is no home folder of that user"),
        (("books",), {"NLB_HOME": "~nobody-here/x"}, "NLB_HOME ~nobody-here/x: there is no home folder of that user"),
        (
            ("index", ".", "--chunk-encoder", "~nobody-here/x"),
            {},
            "~nobody-here/x: there is no home folder of that user",
        ),
        (("index", ".", "--checkpoint", "~nobody-here/x"), {}, "~nobody-here/x: there is no home folder of that user"),
        (("eval", "~nobody-here/q.jsonl"), {}, "~nobody-here/q.jsonl: there is no home folder of that user"),
        (("books",), {"NLB_LIBRARY": "ftp://host/name"}, "ftp://host/name is not a library's URL"),
        (("search", "whale", "--year", "9" * 5000), {}, "is not a year or a span of years"),
        (("search", "whale", "--year", "1851-18511"), {}, "is not a year or a span of years"),
    ],
)
def test_what_cannot_be_used_is_one_short_line(
    nlb: InProcess, monkeypatch: pytest.MonkeyPatch, args: tuple[str, ...], env: dict[str, str], complaint: str
) -> None:
    for name, value in env.items():
        monkeypatch.setenv(name, value)
    ran = nlb(*args)
    assert (ran.code, ran.out) == (2, "")
    assert ran.err.count("\n") == 1
    assert len(ran.err) < 200
    assert complaint in ran.err


def test_a_user_without_a_home_folder_is_told_of_nlb_home(nlb: InProcess, monkeypatch: pytest.MonkeyPatch) -> None:
    """As in a container with --user: no HOME, and no such user on the system."""
    for name in ("HOME", "NLB_HOME", "XDG_DATA_HOME"):
        monkeypatch.delenv(name, raising=False)

    def find(number: int) -> object:
        raise KeyError(number)

    monkeypatch.setattr("pwd.getpwuid", find)
    line = "nlb: this user has no home folder: set NLB_HOME to a folder for libraries and the cache\n"
    for args in (("books",), ("ask", "Who?"), ("index", "."), ("doctor",)):
        ran = nlb(*args)
        assert (ran.code, ran.out, ran.err) == (2, "", line)
    monkeypatch.setattr("platformdirs.user_data_path", lambda name: Path("~/.local/share", name))  # as in 4.2
    assert nlb("books").err == line


@pytest.mark.parametrize(
    "url",
    [
        "http://reader:sesame@host:6333/books",
        "https://sesame@host/books",
        "http://host:6333/books?api-key=sesame",
        "http://host:6333/books#sesame",
        "http://[sesame/books",
    ],
)
def test_a_secret_in_a_librarys_url_is_refused_and_not_repeated(nlb: InProcess, url: str, tmp_path: Path) -> None:
    for args in (("books",), ("index", tmp_path), ("info",)):
        ran = nlb(*args, "--library", url)
        assert (ran.code, ran.out) == (2, "")
        assert ran.err.count("\n") == 1
        assert "http://HOST:6333/NAME" in ran.err
        assert "sesame" not in ran.err


def test_an_empty_path_is_not_the_current_folder(nlb: InProcess, tmp_path: Path) -> None:
    ran = nlb("index", "", "--library", tmp_path / "library")
    assert ran.code == 2
    assert "nlb: failed: '' is not a path: name a file or folder\n" in ran.err
    assert not (tmp_path / "library").exists()


def test_a_librarys_path_cannot_steer_the_terminal(nlb_terminal: OnTerminal, tmp_path: Path) -> None:
    library = tmp_path / "\x1b]0;gone\x07lib"
    commands = (
        ("index", write_books(tmp_path / "books")),
        ("info",),
        ("search", "the comet"),
        ("ask", "Who discovered the comet?"),
        ("show", "Moby-Dick"),
        ("index", tmp_path / "nowhere", "--rebuild"),
    )
    for args in commands:
        ran = nlb_terminal(*args, "--library", library, env={"NO_COLOR": "1"}, columns=120)
        assert "\x1b]0" not in ran.out
        assert "\x07" not in ran.out
        assert "gone" in ran.out


def test_an_interrupt_while_it_is_loaded_is_one_line(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def interrupt() -> NoReturn:
        raise KeyboardInterrupt

    monkeypatch.setitem(sys.modules, "nlb_cli.app", SimpleNamespace(main=interrupt))
    with pytest.raises(SystemExit) as left:
        main()
    assert (left.value.code, *capsys.readouterr()) == (130, "", "nlb: interrupted\n")


@pytest.mark.parametrize(
    "error",
    [MemoryError(), ImportError("libopenvino.so: failed to map segment from shared object")],
    ids=["allocated", "loaded"],
)
def test_too_little_memory_is_one_line(
    error: Exception, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def fail() -> NoReturn:
        raise error

    monkeypatch.setitem(sys.modules, "nlb_cli.app", SimpleNamespace(main=fail))
    with pytest.raises(SystemExit) as left:
        main()
    line = "nlb: there is not enough memory: close other programs, or raise the limit on it\n"
    assert (left.value.code, *capsys.readouterr()) == (2, "", line)


def test_another_error_keeps_its_traceback(monkeypatch: pytest.MonkeyPatch) -> None:
    def fail() -> NoReturn:
        raise ImportError("no module of that name")

    monkeypatch.setitem(sys.modules, "nlb_cli.app", SimpleNamespace(main=fail))
    with pytest.raises(ImportError):
        main()


def test_completion_that_cannot_be_installed_is_one_line(tmp_path: Path) -> None:
    home = tmp_path / "file"
    home.touch()
    command = [sys.executable, "-c", RUN, "--install-completion", "bash"]
    env = {**environment(), "HOME": str(home), "_TYPER_COMPLETE_TEST_DISABLE_SHELL_DETECTION": "1"}
    done = subprocess.run(command, env=env, capture_output=True, timeout=120, check=False)
    assert done.returncode == 2
    assert done.stderr.startswith(b"nlb: the completion cannot be installed: ")
    assert done.stderr.count(b"\n") == 1
