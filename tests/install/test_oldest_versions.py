"""The oldest versions that the base requirements allow do the main job."""

from __future__ import annotations

import json
import re
import sys
import tomllib
from pathlib import Path

import pytest

from tests.install.environments import ROOT, Environment, create_environment

pytestmark = pytest.mark.skipif(sys.version_info >= (3, 14), reason="the oldest versions are not built for Python 3.14")


def oldest() -> dict[str, str]:
    """Each base requirement and the lowest version that it allows."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    bounds = {}
    for requirement in project["dependencies"]:
        name, bound = re.match(r"([\w.-]+)>=([\d.]+)", requirement).groups()  # type: ignore[union-attr]
        bounds[name] = bound
    return bounds


@pytest.fixture(scope="module")
def environment(wheel: Path, tmp_path_factory: pytest.TempPathFactory) -> Environment:
    pins = [f"{name}=={version}" for name, version in oldest().items()]
    return create_environment(tmp_path_factory.mktemp("oldest"), str(wheel), *pins)


def test_the_oldest_versions_are_installed(environment: Environment) -> None:
    installed = environment.versions()
    for name, version in oldest().items():
        assert re.match(rf"{re.escape(version)}(\.0)*$", installed[name]), (name, installed[name])


def test_the_oldest_versions_index_answer_and_check(environment: Environment) -> None:
    indexed = environment.run("nlb", "index", "books", "--quiet")
    assert indexed.returncode == 0, indexed.stderr
    assert indexed.stderr == ""
    answer = json.loads(environment.run("nlb", "ask", "--json", "Who took the lamp after Tobias died?").stdout)
    assert "Margaret" in answer["citations"][0]["quote"]
    checked = json.loads(environment.run("nlb", "doctor", "--json").stdout)
    assert checked["healthy"], checked


PAGE = """<title>The Ferry</title><body><!-- a note --><h1>The Ferry</h1>
<div class="box"><div class="box"><div class="box">Ruth the ferrywoman owned nine boats of glass.</div></div></div>
<ul class="box"><li><a href="a">A</a></li></ul>"""


def test_the_oldest_versions_read_html_with_comments_and_boxes(environment: Environment) -> None:
    (environment.user / "ferry.html").write_text(PAGE, encoding="utf-8")
    done = environment.run("nlb", "index", "ferry.html", "--library", "./page")
    assert done.returncode == 0, done.stderr
    assert "nine boats of glass" in environment.run("nlb", "show", "Ferry", "--text", "--library", "./page").stdout


AGREEMENT = """
import numpy as np
from nlb_retriever.encoding import load_encoder

words = ("The storm of that November broke the great clock of the lighthouse. " * 8).split()
texts = [" ".join(words[:count]) for count in range(1, 80)]
together = load_encoder(device="cpu").encode(texts)
alone = load_encoder(use="ask").encode(texts)
cosines = (together * alone).sum(axis=1)
assert cosines.min() > 0.98, cosines.round(3)
"""


def test_the_oldest_openvino_gives_a_text_one_vector_whatever_its_batch(environment: Environment) -> None:
    done = environment.run("python", "-c", AGREEMENT)
    assert done.returncode == 0, done.stderr


def test_the_llamaindex_retriever_works(environment: Environment) -> None:
    code = (
        "from llama_index.retrievers.nlb import NLBRetriever\n"
        "print(NLBRetriever(library='llama').retrieve('Who took the lamp?')[0].node.metadata['title'])\n"
    )
    assert environment.run("nlb", "index", "books", "--library", "llama").returncode == 0
    done = environment.run("python", "-c", code)
    assert done.stdout == "THE LIGHTHOUSE OF CARROW POINT\n", done.stderr
