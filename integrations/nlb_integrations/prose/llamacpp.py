"""llama.cpp in this process: a GGUF file as a LlamaIndex LLM, through the prebuilt wheel `xllamacpp`."""

from __future__ import annotations

import os
import secrets
import threading
import weakref
from collections.abc import Iterator, Sequence
from importlib import import_module
from pathlib import Path
from queue import SimpleQueue
from types import ModuleType
from typing import Any

import httpx
from llama_index.core.base.llms.types import (
    ChatMessage,
    ChatResponse,
    ChatResponseGen,
    CompletionResponse,
    CompletionResponseGen,
    LLMMetadata,
    MessageRole,
)
from llama_index.core.bridge.pydantic import Field, PrivateAttr
from llama_index.core.llms.callbacks import llm_chat_callback, llm_completion_callback
from llama_index.core.llms.custom import CustomLLM

from nlb_integrations.prose.budget import ANSWER_TOKENS
from nlb_retriever.errors import LanguageModelError, MissingExtra, QueryError, extra

WINDOW = 8192
"""Tokens of a model's window that are used, if it has as many: a window's keys and values take memory."""


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


class LlamaCpp(CustomLLM):
    """A GGUF model in this process, with the chat template that its file holds.

    The same prompt gives the same answer: temperature 0, fixed seed. The beginning that a prompt shares with the one
    before is not read again. llama.cpp comes as a server: it also listens on a free port of 127.0.0.1, behind a key
    that is drawn anew each time.

    Args:
        path: of the file. It is opened at once.
        max_tokens: an answer's.
        context_window: at most so many tokens.
        temperature, seed: of the sampling.

    Raises:
        QueryError: there is no such file.
        LanguageModelError: llama.cpp cannot use it, or cannot be loaded.
        MissingExtra: xllamacpp is not installed.
    """

    path: Path
    max_tokens: int = ANSWER_TOKENS
    context_window: int = WINDOW
    temperature: float = 0.0
    seed: int = 0
    cached_tokens: int = Field(default=0, description="Tokens of the last prompt that did not have to be read again.")
    prompt_tokens: int = Field(default=0, description="All tokens of the last prompt.")
    _server: Any = PrivateAttr()
    _tokenizer: ServerTokenizer = PrivateAttr()

    def model_post_init(self, context: Any, /) -> None:
        super().model_post_init(context)
        if not os.path.isfile(self.path):  # noqa: PTH113 - never raises
            raise QueryError(f"no model at {self.path}: name a GGUF file that is there")
        xllamacpp = _load()
        key = secrets.token_hex()
        params = xllamacpp.CommonParams()
        params.model.path = str(self.path)
        params.n_ctx = self.context_window
        params.n_parallel = 1
        params.cache_ram_mib = 0  # the last prompt stays in the window; no others are kept beside it
        params.warmup = False
        params.verbosity = -1
        params.ui = False
        params.endpoint_slots = False
        params.api_keys = [key]
        try:
            self._server = xllamacpp.Server(params)
        except RuntimeError as error:
            raise LanguageModelError(
                f"{self.path} cannot be used: llama.cpp takes GGUF files whose model it knows and that fit the memory"
            ) from error
        # No proxy stands between us and ourselves, and on a busy machine we wait.
        client = httpx.Client(
            base_url=self._server.listening_address,
            headers={"Authorization": f"Bearer {key}"},
            trust_env=False,
            timeout=None,
        )
        self._tokenizer = ServerTokenizer(client)
        self.context_window = client.get("/props").json()["default_generation_settings"]["n_ctx"]

    @classmethod
    def class_name(cls) -> str:
        return "nlb_llama_cpp"

    @property
    def model(self) -> str:
        """The file's name."""
        return self.path.name

    @property
    def tokenizer(self) -> ServerTokenizer:
        """The model's own."""
        return self._tokenizer

    @property
    def metadata(self) -> LLMMetadata:
        return LLMMetadata(
            context_window=self.context_window,
            num_output=self.max_tokens,
            is_chat_model=True,
            model_name=self.model,
        )

    @llm_chat_callback()
    def chat(self, messages: Sequence[ChatMessage], **kwargs: Any) -> ChatResponse:
        return _last(self._chat(messages, **kwargs))

    @llm_chat_callback()
    def stream_chat(self, messages: Sequence[ChatMessage], **kwargs: Any) -> ChatResponseGen:
        return self._chat(messages, **kwargs)

    @llm_completion_callback()
    def complete(self, prompt: str, formatted: bool = False, **kwargs: Any) -> CompletionResponse:
        response = _last(self._chat([ChatMessage(role=MessageRole.USER, content=prompt)], **kwargs))
        return CompletionResponse(text=response.message.content or "", raw=response.raw)

    @llm_completion_callback()
    def stream_complete(self, prompt: str, formatted: bool = False, **kwargs: Any) -> CompletionResponseGen:
        for response in self._chat([ChatMessage(role=MessageRole.USER, content=prompt)], **kwargs):
            yield CompletionResponse(text=response.message.content or "", delta=response.delta, raw=response.raw)

    def _chat(self, messages: Sequence[ChatMessage], **kwargs: Any) -> ChatResponseGen:
        """The model's text as it is written; closing the iterator stops it."""
        text = ""
        request = {
            "messages": [{"role": message.role.value, "content": message.content or ""} for message in messages],
            "stream": True,
            "max_tokens": self.max_tokens,
            "temperature": self.temperature,
            "seed": self.seed,
            "dry_multiplier": 0.8,  # small models fall into loops
            "dry_penalty_last_n": 128,
            **kwargs,
        }
        for chunk in self._chunks(request):
            if error := chunk.get("error"):
                raise LanguageModelError(f"{self.model} failed: {error.get('message', error)}")
            if timings := chunk.get("timings"):
                self.cached_tokens = timings["cache_n"]
                self.prompt_tokens = timings["cache_n"] + timings["prompt_n"]
            delta = chunk["choices"][0]["delta"].get("content") or "" if chunk.get("choices") else ""
            text += delta
            message = ChatMessage(role=MessageRole.ASSISTANT, content=text)
            yield ChatResponse(message=message, delta=delta, raw=chunk)

    def _chunks(self, request: dict[str, Any]) -> Iterator[dict[str, Any]]:
        """The server's chunks: it passes them to a callback, and a thread makes them an iterator."""
        chunks: SimpleQueue[dict[str, Any] | None] = SimpleQueue()
        stop = threading.Event()

        def take(chunk: dict[str, Any]) -> bool:
            chunks.put(chunk)
            return stop.is_set()  # True ends the writing

        def write() -> None:
            try:
                self._server.handle_chat_completions(request, take)
            except RuntimeError as error:
                chunks.put({"error": {"message": str(error)}})
            finally:
                chunks.put(None)

        threading.Thread(target=write, name="nlb-llama", daemon=True).start()
        try:
            while (chunk := chunks.get()) is not None:
                yield chunk
        finally:
            stop.set()  # not waited for: a long prompt is read to its end, and the server lets the next one queue


def _load() -> ModuleType:
    """Import xllamacpp so that its threads wait asleep: spinning, two of them on a busy machine of two cores were ten
    times slower. OpenMP looks only once, when it is loaded.

    Raises:
        MissingExtra: it is not installed.
        LanguageModelError: this system cannot load it.
    """
    policy = os.environ.get("OMP_WAIT_POLICY")
    os.environ["OMP_WAIT_POLICY"] = policy or "passive"
    try:
        with extra("llm"):
            return import_module("xllamacpp")
    except MissingExtra:
        raise
    except (ImportError, OSError) as error:  # no libgomp, an old libc, another processor
        raise LanguageModelError(f"llama.cpp cannot be loaded on this system: {error}") from error
    finally:
        if policy is None:
            del os.environ["OMP_WAIT_POLICY"]


def _last(responses: Iterator[ChatResponse]) -> ChatResponse:
    *_, last = responses
    return last
