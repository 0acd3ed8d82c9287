"""Evaluation of next-level encoders beside baselines.

`evaluate(Settings(...))` runs the three task types of NextLevelBERT (arXiv 2402.17682) and the library's own search:
similarity (summaries and chapters), classification, multiple choice over long documents, retrieval from a library.
Vectors and libraries are cached in a folder.
"""

from nlb_training.evaluation.context import TASKS, Settings
from nlb_training.evaluation.results import Difference, Measurement, Results, Table, Threshold
from nlb_training.evaluation.run import evaluate

__all__ = ["TASKS", "Difference", "Measurement", "Results", "Settings", "Table", "Threshold", "evaluate"]
