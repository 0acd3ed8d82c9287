"""Fixtures for all tests: the real data where it is present, and a home of their own."""

from __future__ import annotations

import os
import shutil
import signal
import sys
import tempfile
from collections.abc import Iterator
from contextlib import nullcontext
from functools import cached_property
from pathlib import Path
from typing import Any
from weakref import WeakValueDictionary

import pytest
from hypothesis import settings

os.environ.setdefault("OMP_NUM_THREADS", "1")  # torch's threads wait for each other where tests run side by side
settings.register_profile("repeatable", derandomize=True)  # the same examples in every run
settings.load_profile("repeatable")

ROOT = Path(__file__).resolve().parent.parent
ASSETS = ROOT / "nlb_retriever" / "assets"


if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:  # a shell has it so for what it runs in the background
    signal.signal(signal.SIGINT, signal.default_int_handler)  # and some tests press Ctrl-C


def find_data() -> Path:
    return Path(os.environ.get("NLB_DATA", ROOT.parent / "shared" / "data"))


@pytest.fixture(scope="session")
def data_dir() -> Path:
    """The folder of real books and questions (corpus/, eval/, library/)."""
    folder = find_data()
    if not (folder / "library").is_dir():
        pytest.skip(f"no data at {folder} (set NLB_DATA)")
    return folder


@pytest.fixture(scope="session")
def compiled(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Where the session's compiled encoders are kept: compiling one takes a second."""
    return tmp_path_factory.mktemp("compiled")


class _Kept(WeakValueDictionary[tuple[Any, ...], Any]):
    """Models that are in use, and the package's own once they were: a process forked by a test must not free them."""

    def __init__(self) -> None:
        super().__init__()
        self._own: list[object] = []

    def setdefault(self, key: tuple[Any, ...], default: Any = None) -> Any:
        model = super().setdefault(key, default)
        if ASSETS in key[0].parents and model is default:
            self._own.append(model)
        return model


@pytest.fixture(scope="session", autouse=True)
def kept_models() -> Iterator[None]:
    """What one test loads stays for those after it: loading a model takes 0.2 s."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("nlb_retriever.encoding.compiled._models", _Kept())
        yield


@pytest.fixture(autouse=True)
def own_home(tmp_path_factory: pytest.TempPathFactory, compiled: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Every test has its own NLB_HOME, so that none sees the user's libraries."""
    folder = tmp_path_factory.mktemp("home")
    (folder / "cache").symlink_to(compiled)
    monkeypatch.setenv("NLB_HOME", str(folder))
    monkeypatch.delenv("NLB_LIBRARY", raising=False)
    return folder


@pytest.fixture
def no_locks(monkeypatch: pytest.MonkeyPatch) -> None:
    """As since Python 3.12, whose `functools.cached_property` has no lock: several threads may compute a value."""
    modules = [module for name, module in sys.modules.items() if name.startswith("nlb_")]
    classes = {each for module in modules for each in vars(module).values() if isinstance(each, type)}
    for value in [value for each in classes for value in vars(each).values() if isinstance(value, cached_property)]:
        monkeypatch.setattr(value, "lock", nullcontext(), raising=False)


@pytest.fixture
def few_everyday_questions(monkeypatch: pytest.MonkeyPatch) -> None:
    """Six of the 248 everyday questions that a measurement of answers puts to its library: each takes 0.2 s."""
    from nlb_training.everyday import read_everyday

    monkeypatch.setattr("nlb_training.evaluation.answers.read_everyday", lambda part: read_everyday(part)[:6])


@pytest.fixture
def bound_folder() -> Iterator[Path]:
    """A folder, in a process that file permissions bind: root gives up its rights for the test."""
    folder = Path(tempfile.mkdtemp(prefix="nlb-bound-"))
    user = os.geteuid()
    if user == 0:
        folder.chmod(0o777)
        os.seteuid(65534)
    try:
        yield folder
    finally:
        os.seteuid(user)
        shutil.rmtree(folder)
