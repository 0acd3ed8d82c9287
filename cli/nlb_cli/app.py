"""The command `nlb`: parse, call the library, print.

Exit codes: 0 done, 1 some of it failed (each part named, with the reason), 2 nothing could be done,
130 interrupted. Errors that the library raises on purpose become one line on stderr; any other is a
bug and keeps its traceback.
"""

from __future__ import annotations

import io
import logging
import os
import sys
from typing import Annotated, Any

import typer
from typer.core import TyperGroup

from nlb_cli.commands.ask import ask
from nlb_cli.commands.books import list_books, remove, show
from nlb_cli.commands.chat import chat
from nlb_cli.commands.eval import evaluate
from nlb_cli.commands.health import doctor, info
from nlb_cli.commands.index import index
from nlb_cli.commands.mcp import mcp
from nlb_cli.commands.search import search
from nlb_cli.commands.train import train
from nlb_cli.commands.train_encoder import train_encoder
from nlb_cli.commands.train_reader import train_reader
from nlb_cli.output.terminal import OutputError, exact, note
from nlb_retriever.errors import NlbError

_GONE = 141
"""The exit code where nobody reads the output any more: what a shell reports of a program that SIGPIPE ended."""


class _Commands(TyperGroup):
    """Turns what a command raises into a line and an exit code."""

    def invoke(self, ctx: Any) -> Any:
        for stream in (sys.stdout, sys.stderr):
            if isinstance(stream, io.TextIOWrapper):
                stream.reconfigure(errors="replace")
        _listen()
        try:
            _require_working_folder()
            return super().invoke(ctx)
        except NlbError as error:
            note(exact(f"nlb: {error}"))
            raise typer.Exit(2) from error
        except OutputError as error:
            if not error.gone:
                note(f"nlb: the output cannot be written: {error}")
                raise typer.Exit(2) from error
            _discard_stdout()
            raise typer.Exit(_GONE) from error
        except KeyboardInterrupt as error:
            note("nlb: interrupted")
            raise typer.Exit(130) from error


class _Notes(logging.Handler):
    """The library's warnings as lines on stderr."""

    def emit(self, record: logging.LogRecord) -> None:
        note(exact(f"nlb: {record.getMessage()}"))


def _require_working_folder() -> None:
    """Refuse to run in a folder that has been removed: no relative path means anything there.

    Raises:
        NlbError: it has been.
    """
    try:
        os.getcwd()  # noqa: PTH109 - Path.cwd() is the same call
    except FileNotFoundError as error:
        raise NlbError("the current folder has been removed: change to another one") from error


def _listen() -> None:
    for package in ("nlb_retriever", "nlb_training"):
        logger = logging.getLogger(package)
        if not any(isinstance(handler, _Notes) for handler in logger.handlers):
            logger.addHandler(_Notes(logging.WARNING))


app = typer.Typer(
    name="nlb",
    cls=_Commands,
    rich_markup_mode=None,
    pretty_exceptions_enable=False,
    no_args_is_help=True,
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100},
)


def _show_version(wanted: bool) -> None:
    if wanted:
        from nlb_retriever import __version__

        typer.echo(f"nlb {__version__}")
        raise typer.Exit


@app.callback()
def nlb(
    version: Annotated[
        bool, typer.Option("--version", callback=_show_version, is_eager=True, help="Show the version and exit.")
    ] = False,
) -> None:
    """Find the book, the section and the passage in a library of long documents, offline."""


app.command()(index)
app.command(short_help="Answer a question from your books, and cite them.")(ask)
app.command(short_help="Talk with a language model about your books.")(chat)
app.command()(search)
app.command("books")(list_books)
app.command(short_help="Show a book's sections, or the text of one.")(show)
app.command(short_help="Remove books from a library; their files stay.")(remove)
app.command(short_help="Serve a library to an AI assistant (MCP).")(mcp)
app.command()(train)
app.command()(train_encoder)
app.command()(train_reader)
app.command("eval")(evaluate)
app.command()(info)
app.command()(doctor)


def main() -> None:
    """Run the command line."""
    # NumPy, imported later, has threads that spin after each product: encoding needs the cores (3% faster).
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
    _replace_closed_streams()
    try:
        app(prog_name="nlb")
    except (OSError, SystemExit) as error:  # of typer's own output, as of --help: ours raises OutputError
        if isinstance(error, BrokenPipeError) or isinstance(error.__context__, BrokenPipeError):
            _discard_stdout()
            sys.exit(_GONE)
        if isinstance(error, OSError) and "--install-completion" in sys.argv:
            note(exact(f"nlb: the completion cannot be installed: {error}"))
            sys.exit(2)
        if type(error) is not OSError or error.filename is not None:
            raise
        note(f"nlb: the output cannot be written: {error.strerror}")
        sys.exit(2)


def _replace_closed_streams() -> None:
    """Put /dev/null where a shell closed a standard stream (`>&-`): the next file to be opened would get its number."""
    for name, mode in (("stdin", "r"), ("stdout", "w"), ("stderr", "w")):
        if getattr(sys, name) is None:
            setattr(sys, name, os.fdopen(os.open(os.devnull, os.O_RDWR), mode, encoding="utf-8"))


def _discard_stdout() -> None:
    """Keep the interpreter from complaining at exit that it cannot flush."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
