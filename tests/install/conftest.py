"""The built wheel, once a session."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.install.environments import SECONDS, build_wheel


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    for item in items:
        if Path(__file__).parent in item.path.parents:
            item.add_marker(pytest.mark.install)
            item.add_marker(pytest.mark.timeout(2 * SECONDS))  # the first test waits for pip


@pytest.fixture(scope="session")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return build_wheel(tmp_path_factory.mktemp("wheel"))
