"""A retrieval task of mteb from texts in memory."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from datasets import Dataset  # type: ignore[import-untyped]
from mteb.abstasks.retrieval import AbsTaskRetrieval  # type: ignore[import-not-found, unused-ignore]
from mteb.abstasks.retrieval_dataset_loaders import RetrievalSplitData  # type: ignore[import-not-found, unused-ignore]
from mteb.abstasks.task_metadata import TaskMetadata  # type: ignore[import-not-found, unused-ignore]


def make_task(documents: Mapping[str, str], queries: Mapping[str, str], right: Mapping[str, str]) -> Any:
    """The task to find the document that answers each query.

    Args:
        documents: id -> text.
        queries: id -> text.
        right: query id -> document id.
    """
    split = RetrievalSplitData(
        corpus=Dataset.from_list([{"id": key, "text": text, "title": ""} for key, text in documents.items()]),
        queries=Dataset.from_list([{"id": key, "text": text} for key, text in queries.items()]),
        relevant_docs={query: {document: 1} for query, document in right.items()},
        top_ranked=None,
    )

    class LocalTask(AbsTaskRetrieval):  # type: ignore[misc]
        metadata = TaskMetadata(
            type="Retrieval",
            name="LocalBooks",
            description="Questions on books.",
            reference="https://example.org",
            dataset={"path": "local", "revision": "1"},
            category="t2t",
            eval_splits=["test"],
            eval_langs=["eng-Latn"],
            date=("2026-01-01", "2026-01-01"),
            domains=["Fiction"],
            task_subtypes=[],
            license="cc-by-4.0",
            annotations_creators="derived",
            dialect=[],
            modalities=["text"],
            sample_creation="found",
            bibtex_citation="",
            main_score="ndcg_at_10",
        )

        def load_data(self, num_proc: int | None = None, **_: Any) -> None:
            self.dataset = {"default": {"test": split}}
            self.data_loaded = True

    return LocalTask()
