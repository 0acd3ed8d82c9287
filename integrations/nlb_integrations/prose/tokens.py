"""A llama.cpp server's own tokenizer, over HTTP."""

from __future__ import annotations

import weakref

import httpx


class ServerTokenizer:
    """Turns text to tokens as the model of a llama.cpp server does.

    Args:
        client: with the server's address as its base URL, and its key.
    """

    def __init__(self, client: httpx.Client) -> None:
        self._client = client
        weakref.finalize(self, client.close)

    def encode(self, text: str) -> list[int]:
        """The tokens of a text, control tokens' names read as text.

        Raises:
            httpx.HTTPError: the server does not answer, or has no tokenizer to ask.
        """
        response = self._client.post("/tokenize", json={"content": text})
        response.raise_for_status()
        tokens: list[int] = response.json()["tokens"]
        return tokens
