"""Evaluation of next-level encoders beside baselines.

`evaluate(Settings(...))` runs the three task types of NextLevelBERT (arXiv 2402.17682) and the library's own search:
similarity (summaries and chapters), classification, multiple choice over long documents, retrieval from a library.
Vectors and libraries are cached in a folder.
"""

from nlb_training.evaluation.context import TASKS, Settings, Task
from nlb_training.evaluation.pairs import Item, RankingSet
from nlb_training.evaluation.results import Difference, Measurement, Results, Table, Threshold
from nlb_training.evaluation.run import evaluate
from nlb_training.evaluation.systems import Space, System

__all__ = [
    "TASKS", "Difference", "Item", "Measurement", "RankingSet", "Results", "Settings", "Space", "System", "Table",
    "Task", "Threshold", "evaluate",
]  # fmt: skip
