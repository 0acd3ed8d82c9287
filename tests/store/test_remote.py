"""The server engine against a real HTTP server that has bad days."""

from __future__ import annotations

import json
import socket
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import pytest

from nlb_retriever.errors import StoreError
from nlb_retriever.store import open_store, remote
from nlb_retriever.store.remote import RemoteEngine


@contextmanager
def server(*statuses: int) -> Iterator[tuple[str, list[tuple[str, str | None]]]]:
    """Answers with these statuses in turn, then with a count of 7; notes paths and keys."""
    left, seen = list(statuses), list[tuple[str, str | None]]()

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_POST(self) -> None:
            self.rfile.read(int(self.headers["Content-Length"]))
            seen.append((self.path, self.headers.get("api-key")))
            status = left.pop(0) if left else 200
            body = json.dumps(
                {"status": "ok", "time": 0, "result": {"count": 7}} if status == 200 else {"status": "bad"}
            )
            self.send_response(status)
            self.send_header("Content-Type", "application/json")
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body.encode())

        def log_message(self, *_: object) -> None:
            pass

    listening = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    thread = threading.Thread(target=listening.serve_forever)
    thread.start()
    try:
        yield f"http://127.0.0.1:{listening.server_port}/shelf", seen
    finally:
        listening.shutdown()
        listening.server_close()
        thread.join()


@pytest.fixture(autouse=True)
def short_pauses(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(remote, "PAUSE", 0.01)


def test_a_busy_server_is_asked_again() -> None:
    with server(429, 500, 503) as (url, seen):
        engine = RemoteEngine.connect(url)
        assert engine.count("passage") == 7
        engine.close()
    assert [path.split("?")[0] for path, _ in seen] == ["/collections/shelf_passages/points/count"] * 4


def test_a_server_that_refuses_is_not_asked_again() -> None:
    with server(403) as (url, seen):
        engine = RemoteEngine.connect(url)
        with pytest.raises(StoreError, match="the server answers 403"):
            engine.count("passage")
        engine.close()
    assert len(seen) == 1


def test_a_server_that_stays_busy_is_given_up_in_one_line() -> None:
    with server(*[503] * 50) as (url, seen):
        engine = RemoteEngine.connect(url)
        with pytest.raises(StoreError, match="the server answers 503") as caught:
            engine.count("passage")
        engine.close()
    assert len(seen) == remote.TRIES
    assert "\n" not in str(caught.value)


def test_the_key_comes_from_the_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("QDRANT_API_KEY", "secret")
    with server() as (url, seen), pytest.warns(UserWarning, match="insecure"):
        engine = RemoteEngine.connect(url)
        engine.count("book")
        engine.close()
    assert seen[0][1] == "secret"


def test_a_server_that_is_not_there_is_named() -> None:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        url = f"http://127.0.0.1:{free.getsockname()[1]}/shelf"
    with pytest.raises(StoreError, match="cannot be reached.*is it running") as caught:
        open_store(url)
    assert url in str(caught.value)
    assert "\n" not in str(caught.value)


def test_an_address_without_a_librarys_name_is_refused() -> None:
    for url in ("http://localhost:6333", "http://localhost:6333/a/b", "http://localhost:6333/"):
        with pytest.raises(StoreError, match="write http://HOST:6333/NAME"):
            open_store(url)
