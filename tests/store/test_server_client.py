"""Requests to a real HTTP server that has bad days."""

from __future__ import annotations

import json
import logging
import socket
import threading
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import pytest

from nlb_retriever.errors import StoreError
from nlb_retriever.store import open_store
from nlb_retriever.store.backends import server_client
from nlb_retriever.store.backends.server_client import Server
from nlb_retriever.store.backends.server_points import Collections

KEY = "QDRANT_API_KEY"


class QuietServer(ThreadingHTTPServer):
    """Does not print when a client goes away."""

    def handle_error(self, request: object, client_address: object) -> None:
        pass


@contextmanager
def server(*statuses: int, port: int = 0) -> Iterator[tuple[str, list[tuple[str, str | None]]]]:
    """Answers with these statuses in turn, then with a count of 7; notes paths and keys."""
    left, seen = list(statuses), list[tuple[str, str | None]]()

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_POST(self) -> None:
            self.rfile.read(int(self.headers["Content-Length"]))
            key = self.headers.get("api-key")
            seen.append((self.path, key))
            status = left.pop(0) if left else 200
            reason = {"error": f"Forbidden:\nkey {key} may only \x1b[31mread"}
            body = json.dumps(
                {"status": "ok", "time": 0, "result": {"count": 7}} if status == 200 else {"status": reason}
            )
            self.send_response(status)
            self.send_header("Content-Type", "application/json")
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body.encode())

        def log_message(self, *_: object) -> None:
            pass

    listening = QuietServer(("127.0.0.1", port), Handler)
    thread = threading.Thread(target=listening.serve_forever)
    thread.start()
    try:
        yield f"http://127.0.0.1:{listening.server_port}/shelf", seen
    finally:
        listening.shutdown()
        listening.server_close()
        thread.join()


@contextmanager
def counting(url: str) -> Iterator[Callable[[], int]]:
    """Asks the library at an address how many passages it has."""
    connected, name = Server.connect(url)
    yield lambda: Collections(connected, name).count("passage")
    connected.close()


@pytest.fixture(autouse=True)
def short_waits(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(server_client, "PAUSE", 0.01)
    monkeypatch.setattr(server_client, "LONGEST_PAUSE", 0.05)
    monkeypatch.setattr(server_client, "FIRST_WAIT", 0.3)
    monkeypatch.delenv(KEY, raising=False)


def test_a_busy_server_is_tried_again(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(server_client, "FIRST_WAIT", 30)  # a busy machine is slow, too
    with server(429, 500, 503) as (url, seen), counting(url) as count:
        assert count() == 7
    assert [path.split("?")[0] for path, _ in seen] == ["/collections/shelf_passages/points/count"] * 4


def test_a_server_that_refuses_is_not_tried_again() -> None:
    with server(400) as (url, seen), counting(url) as count, pytest.raises(StoreError, match="the server answers 400"):
        count()
    assert len(seen) == 1


def test_a_server_that_stays_busy_is_given_up_in_one_line() -> None:
    refusal = pytest.raises(StoreError, match="the server answers 503.*try again later")
    with server(*[503] * 99) as (url, seen), counting(url) as count, refusal as caught:
        count()
    assert len(seen) > 3
    assert "\n" not in str(caught.value)


def test_a_server_that_restarts_is_waited_for_and_that_is_said(caplog: pytest.LogCaptureFixture) -> None:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    with server(port=port) as (url, _):
        connected, name = Server.connect(url)
        assert Collections(connected, name).count("passage") == 7
    results: list[int] = []
    waiting = threading.Thread(target=lambda: results.append(Collections(connected, name).count("passage")))
    with caplog.at_level(logging.WARNING):
        waiting.start()
        waiting.join(1.0)
        assert waiting.is_alive(), "longer than a server that never answered is tried"
        with server(port=port):
            waiting.join(20)
    connected.close()
    assert results == [7]
    [line] = caplog.messages
    assert "cannot be reached" in line
    assert "waiting for it, up to 60 s" in line


def test_a_server_that_does_not_come_back_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(server_client, "WAIT", 0.5)
    with server() as (url, _):
        connected, name = Server.connect(url)
        Collections(connected, name).count("passage")
    with pytest.raises(StoreError, match=f"{url}: the server cannot be reached.*is it running"):
        Collections(connected, name).count("passage")
    connected.close()


def test_the_key_comes_from_the_environment_without_a_python_warning(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(KEY, "secret")
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        with server() as (url, seen), counting(url) as count:
            count()
    assert seen[0][1] == "secret"


@pytest.mark.parametrize("proxy", ["http://127.0.0.1:9", "socks://127.0.0.1:9/"])
def test_no_proxy_stands_before_a_server_on_this_machine(proxy: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ALL_PROXY", proxy)
    monkeypatch.setenv("HTTP_PROXY", proxy)
    with server() as (url, _), counting(url) as count:
        assert count() == 7


def test_a_proxy_of_an_unknown_kind_is_one_line(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ALL_PROXY", "socks://127.0.0.1:9/")
    with pytest.raises(StoreError, match=r"/shelf: the proxies or certificates .* cannot be used \(.*\): check"):
        Server.connect("https://library.example/shelf")


def test_a_key_that_leaves_the_machine_unencrypted_is_one_line_of_warning(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setenv(KEY, "secret")
    Server.connect("http://library.example:6333/shelf")[0].close()
    assert caplog.messages == [f"the key in {KEY} goes to library.example:6333 unencrypted: use https"]


@pytest.mark.parametrize("status", [401, 403])
def test_a_key_that_is_refused_is_one_line_without_the_key(monkeypatch: pytest.MonkeyPatch, status: int) -> None:
    monkeypatch.setenv(KEY, "topsecret")
    refusal = pytest.raises(StoreError, match=f"the server refuses the key in {KEY} \\({status}")
    with server(status) as (url, _), counting(url) as count, refusal as caught:
        count()
    message = str(caught.value)
    assert f"set {KEY} to a key that may do this" in message
    assert "topsecret" not in message
    assert message.isprintable()


def test_a_missing_key_is_asked_for() -> None:
    refusal = pytest.raises(StoreError, match=f"{KEY} is not set.*set {KEY} to a key")
    with server(401) as (url, _), counting(url) as count, refusal:
        count()


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


def test_a_password_in_an_address_is_refused_without_being_shown() -> None:
    with pytest.raises(StoreError, match=f"a key belongs in {KEY}") as caught:
        open_store("http://me:topsecret@localhost:6333/shelf")
    assert "topsecret" not in str(caught.value)
