"""A short campaign of hostile files; the long one is run by hand."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.conftest import find_data
from tests.faults.hostile_files import SUFFIXES, run


def test_mutated_files_lose_no_word_without_a_warning(tmp_path: Path) -> None:
    campaign = run(seed=1, folder=tmp_path, rounds=12)
    assert not campaign.findings, "\n".join(map(str, campaign.findings))
    assert set(campaign.files) == set(SUFFIXES)


def test_mutated_real_books_lose_no_word_without_a_warning(tmp_path: Path) -> None:
    data = find_data()
    if not (data / "library").is_dir():
        pytest.skip(f"no data at {data} (set NLB_DATA)")
    campaign = run(seed=2, folder=tmp_path, rounds=4, data=data)
    assert not campaign.findings, "\n".join(map(str, campaign.findings))
