"""Requests to a Qdrant server: connecting, waiting while it restarts, and its refusals in one line."""

from __future__ import annotations

import json
import logging
import os
import re
import time
import warnings
from collections.abc import Callable
from typing import TypeVar

from qdrant_client import QdrantClient
from qdrant_client.http.exceptions import ResponseHandlingException, UnexpectedResponse

from nlb_retriever.config import stays_here, unusable_network
from nlb_retriever.errors import StoreError

KEY = "QDRANT_API_KEY"
FIRST_WAIT = 3.0
"""Seconds for which a server that has not answered yet is tried."""
WAIT = 60.0
"""Seconds for which a server that has answered before is waited for: it may be restarting."""
PAUSE = 0.2
"""Seconds before the second try; doubled for each further one, up to `LONGEST_PAUSE`."""
LONGEST_PAUSE = 2.0
TIMEOUT = 60
"""Seconds for one request."""
_URL = re.compile(r"(https?)://([\w.:\[\]-]+)/([A-Za-z0-9][A-Za-z0-9._-]*)/?")
_PORTS = {"http": 6333, "https": 443}

T = TypeVar("T")
_log = logging.getLogger(__name__)


class Server:
    """A client, and what to do when the server does not answer."""

    def __init__(self, client: QdrantClient, location: str, *, owned: bool = False) -> None:
        """Over a client.

        Args:
            client: of the server.
            location: the library's address, for messages.
            owned: whether `close` closes the client.
        """
        self.client = client
        self.location = location
        self._owned = owned
        self._has_answered = False

    @classmethod
    def connect(cls, url: str) -> tuple[Server, str]:
        """A server, and the name of the library on it, by `http(s)://host:port/NAME`.

        The key is read from $QDRANT_API_KEY.

        Raises:
            StoreError: it is no such address, or the environment's proxies cannot be used.
        """
        match = _URL.fullmatch(url)
        if match is None:
            shown = re.sub(r"//[^/]*@", "//", url)
            shown = "".join(letter if letter.isprintable() else "?" for letter in shown)
            reason = f"; a key belongs in {KEY}" if "@" in url else ""
            raise StoreError(f"{shown} is no address of a library: write http://HOST:6333/NAME{reason}")
        scheme, host, name = match.groups()
        base = f"{scheme}://{host}" if re.search(r":\d+$", host) else f"{scheme}://{host}:{_PORTS[scheme]}"
        key = os.environ.get(KEY) or None
        if key and scheme == "http" and not stays_here(base):
            _log.warning("the key in %s goes to %s unencrypted: use https", KEY, host)
        with warnings.catch_warnings():
            warnings.filterwarnings("ignore", message=".*insecure connection", category=UserWarning)
            try:
                client = QdrantClient(
                    url=base, api_key=key, timeout=TIMEOUT, check_compatibility=False, trust_env=not stays_here(base)
                )
            except (ImportError, OSError, ValueError) as error:
                raise StoreError(f"library {url}: {unusable_network(error)}") from error
        return cls(client, url, owned=True), name

    def call(self, request: Callable[[QdrantClient], T]) -> T:
        """Make a request, again and again while the server is busy or out of reach.

        Raises:
            StoreError: it refuses, or has not answered for `WAIT` seconds.
        """
        started, pause, has_told = time.monotonic(), PAUSE, False
        while True:
            try:
                result = request(self.client)
            except UnexpectedResponse as error:
                status = error.status_code or 0
                if status != 429 and status < 500:
                    raise StoreError(f"library {self.location}: {_refusal(error)}") from error
                problem, advice, cause = f"the server answers {_status(error)}", "try again later", error
            except (ResponseHandlingException, OSError) as error:
                problem, advice = f"the server cannot be reached ({_line(error)})", "is it running?"
                cause = error  # type: ignore[assignment]
            except ValueError as error:
                raise StoreError(f"library {self.location}: {_line(error)}") from error
            else:
                self._has_answered = True
                return result
            wait = WAIT if self._has_answered else FIRST_WAIT
            if time.monotonic() - started + pause > wait:
                raise StoreError(f"library {self.location}: {problem}: {advice}") from cause
            if self._has_answered and not has_told:
                _log.warning("library %s: %s: waiting for it, up to %.0f s", self.location, problem, wait)
                has_told = True
            time.sleep(pause)
            pause = min(2 * pause, LONGEST_PAUSE)

    def close(self) -> None:
        if self._owned:
            self.client.close()


def _refusal(error: UnexpectedResponse) -> str:
    """Why a server will not do what it was asked for, and what to do about it."""
    if error.status_code in (401, 403):
        key = f"the key in {KEY}" if os.environ.get(KEY) else f"requests without a key ({KEY} is not set)"
        return f"the server refuses {key} ({_status(error)}): set {KEY} to a key that may do this"
    return f"the server answers {_status(error)}"


def _status(error: UnexpectedResponse) -> str:
    """The status, and what the server says of it."""
    try:
        said = json.loads(error.content)["status"]["error"]
    except (ValueError, KeyError, TypeError):
        said = error.content[:200].decode("utf-8", "replace")
    return " ".join(f"{error.status_code} {error.reason_phrase} {_clean(str(said))}".split())


def _line(error: Exception) -> str:
    return _clean(" ".join(str(error).split()))


def _clean(text: str) -> str:
    """Without the key, without control characters, short."""
    key = os.environ.get(KEY)
    shown = text.replace(key, "***") if key else text
    return "".join(letter if letter.isprintable() else "?" for letter in shown)[:200]
