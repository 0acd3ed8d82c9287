"""Each framework is loaded by its own adapter alone, and one that is missing is told with what installs it."""

from __future__ import annotations

import os
import subprocess
import sys

import pytest

FRAMEWORKS = ("langchain_core", "haystack", "mcp", "llama_index.core")


def python(code: str, *arguments: str) -> str:
    """What a fresh interpreter prints; its error's last line if it ends by one."""
    paths = os.pathsep.join(path for path in sys.path if path)
    done = subprocess.run(
        [sys.executable, "-c", code, *arguments],
        capture_output=True,
        text=True,
        env={**os.environ, "PYTHONPATH": paths},
    )
    return (done.stdout if done.returncode == 0 else done.stderr).strip().splitlines()[-1]


@pytest.mark.parametrize(
    "doing",
    [
        "import nlb_integrations",
        "import nlb_integrations.conventions",
        "from nlb_cli.app import app; app(['--help'], prog_name='nlb', standalone_mode=False)",
        "from nlb_cli.app import app; app(['mcp', '--help'], prog_name='nlb', standalone_mode=False)",
    ],
)
def test_no_framework_is_loaded_before_it_is_used(doing: str) -> None:
    assert python(f"{doing}\nimport sys\nprint([name for name in {FRAMEWORKS!r} if name in sys.modules])") == "[]"


@pytest.mark.parametrize(
    ("module", "others"),
    [
        ("langchain", {"haystack", "mcp", "llama_index.core"}),
        ("haystack", {"langchain_core", "mcp", "llama_index.core"}),
        ("mcp", {"langchain_core", "haystack", "llama_index.core"}),
    ],
)
def test_one_frameworks_adapter_loads_no_other_framework(module: str, others: set[str]) -> None:
    code = f"import sys\nimport nlb_integrations.{module}\nprint({others!r} & set(sys.modules))"
    assert python(code) == "set()"


@pytest.mark.parametrize(
    ("module", "framework", "extra"),
    [
        ("langchain", "langchain_core", "langchain"),
        ("haystack", "haystack", "haystack"),
        ("mcp", "mcp", "mcp"),
    ],
)
def test_a_missing_framework_is_reported_with_what_installs_it(module: str, framework: str, extra: str) -> None:
    told = python(f"import sys\nsys.modules[{framework!r}] = None\nimport nlb_integrations.{module}")
    assert told == (
        f"nlb_retriever.errors.MissingExtra: {framework} is not installed: run `pip install 'nlb-retriever[{extra}]'`"
    )


def test_a_missing_framework_is_an_import_error_for_those_who_try_and_do_without() -> None:
    code = (
        "import sys\nsys.modules['haystack'] = None\n"
        "try:\n    import nlb_integrations.haystack\nexcept ImportError:\n    print('without')"
    )
    assert python(code) == "without"


def test_a_missing_package_for_language_models_is_not_taken_for_the_core_of_llamaindex() -> None:
    told = python("""
import sys
sys.modules["llama_index.llms.ollama"] = None
from nlb_integrations.prose import open_llm
open_llm("ollama:any")
""")
    assert "llama_index.llms.ollama is not installed: run `pip install 'nlb-retriever[llm]'`" in told
