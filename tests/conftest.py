"""Fixtures for all tests: the real data where it is present, and a home of their own."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent


def find_data() -> Path:
    return Path(os.environ.get("NLB_DATA", ROOT.parent / "shared" / "data"))


@pytest.fixture(scope="session")
def data_dir() -> Path:
    """The folder of real books and questions (corpus/, eval/, library/)."""
    folder = find_data()
    if not (folder / "library").is_dir():
        pytest.skip(f"no data at {folder} (set NLB_DATA)")
    return folder


@pytest.fixture(autouse=True)
def own_home(tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Every test has its own NLB_HOME, so that none sees the user's libraries."""
    folder = tmp_path_factory.mktemp("home")
    monkeypatch.setenv("NLB_HOME", str(folder))
    monkeypatch.delenv("NLB_LIBRARY", raising=False)
    return folder
