"""`nlb mcp`: the library for AI assistants."""

from __future__ import annotations

import signal
import sys

from nlb_cli.options import Library
from nlb_cli.output.terminal import note


def mcp(library: Library = None) -> None:
    """Serve a library to an AI assistant: an MCP server on stdin and stdout."""
    from nlb_integrations.mcp import make_server

    server = make_server(library)
    signal.signal(signal.SIGINT, signal.SIG_DFL)  # else Python would wait for the thread that reads stdin
    if sys.stdin.isatty():
        note("nlb: waiting for an MCP client on stdin; Ctrl-C ends it")
    server.run("stdio")
