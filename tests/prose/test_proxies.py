"""Servers of language models, and the proxies that the environment names."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from llama_index.llms.ollama import Ollama

from nlb_integrations.prose import Writer, open_llm
from nlb_retriever import Retriever
from nlb_retriever.errors import LanguageModelError
from tests.prose.conftest import Server

Serve = Callable[..., Server]
STORM = "What did the storm of November break?"
PROXIES = {"HTTP_PROXY": "http://127.0.0.1:9", "ALL_PROXY": "socks://127.0.0.1:9/", "SSL_CERT_FILE": "/nowhere.pem"}


@pytest.mark.parametrize("variable", PROXIES)
def test_no_proxy_stands_before_a_server_on_this_machine(
    variable: str, retriever: Retriever, serve: Serve, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(variable, PROXIES[variable])
    *_, answer = Writer(open_llm(serve("The storm broke the clock. [1]").url), retriever).stream(STORM)
    assert answer.found
    monkeypatch.setattr(Ollama, "get_context_window", lambda self: self.client._client.get("/").status_code)
    monkeypatch.setenv("OLLAMA_HOST", serve().url)
    assert open_llm("ollama:tiny").metadata.context_window == 200


@pytest.mark.parametrize("name", ["https://models.example/v1", "ollama:tiny"])
@pytest.mark.parametrize(
    ("variable", "value"),
    [("ALL_PROXY", "socks://127.0.0.1:9/"), ("ALL_PROXY", "odd://127.0.0.1:9"), ("SSL_CERT_FILE", "/nowhere.pem")],
)
def test_a_proxy_of_an_unknown_kind_is_one_line(
    name: str, variable: str, value: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OLLAMA_HOST", "https://models.example")
    monkeypatch.setenv(variable, value)
    with pytest.raises(LanguageModelError, match=r"^the proxies or certificates .* cannot be used \(.*\): check"):
        open_llm(name)
