"""Ours beside LlamaIndex' own retrievers, on the same passages and questions, in one run.

    python benchmarks/frameworks.py [--data DIR] [--sets LiteraryQA FairytaleQA] [--sample N] [--out FILE.json]

Over the passages of a library of the 57 dev books, and of one of FairytaleQA's collections (made, or brought up to
date, first), these are built (benchmarks/pipelines.py) and get the same questions:

    plain              VectorStoreIndex: MiniLM by torch in fp32, QdrantVectorStore on qdrant-client's local mode in a
                       folder; and once more with its in-memory client, which differs in where it keeps the points
    auto-merging       AutoMergingRetriever over plain, sections being the parents
    BM25               BM25Retriever (English stemmer)
    fusion with BM25   QueryFusionRetriever (reciprocal ranks, no LLM) of plain and BM25
    ours               NLBRetriever; where a book is looked for, also with level="book"

All retrieve 10 nodes, so MRR looks at 10. A book's rank is that of its first passage among the books of the passages
found; a passage (or the section that auto-merging put in its place) is right where it shares anything with the
evidence; an answer is found where all words of a human answer that the question lacks stand in one of 5 passages.
Intervals are 95 %, by resampling whole books (or tales), paired. Systems take turns at every question, and each
question is a fresh `retriever.retrieve(question)`. The adapter's overhead is that less `Retriever.search`, question
by question, in either order.

The passages' vectors are made once and kept in --cache (about 25 minutes in fp32 on two cores); questions are always
encoded within the timed call.
"""

from __future__ import annotations

import argparse
import gc
import json
import os
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import platformdirs
from data import Collection, books_folder, data_folder
from latency import spread
from llama_index.core.schema import NodeWithScore
from pipelines import System, build, read_nodes

from nlb_integrations import NLBRetriever
from nlb_retriever import Hit, Retriever, index_files
from nlb_retriever.records import Level
from nlb_training.evaluation import metrics
from nlb_training.evaluation.answer_match import holds_answer, required_stems
from nlb_training.evaluation.metrics import Values
from nlb_training.evaluation.retrieval import first_right, right_by_span
from nlb_training.evaluation.rows import Row, read_rows

TOP = 10
"""`similarity_top_k` of every system."""
WARM_UP = 5
"""Questions that every system answers before any is timed."""
Found = dict[str, list[list[Hit]]]
"""System -> what it found for each question, best first."""
Notice = Callable[[str], None]


@dataclass(frozen=True, kw_only=True)
class Task:
    """What is judged of what was found."""

    name: str
    judge: Callable[[Row, Sequence[Hit]], dict[str, float]]
    asks: Callable[[Row], bool] = lambda row: True
    """Whether a question can be judged so."""
    of_books: bool = True
    """Whether a system that gives books is judged too."""


@dataclass(frozen=True, kw_only=True)
class Questions:
    name: str
    collection: Collection
    file: str
    tasks: tuple[Task, ...]
    books: bool
    """Whether a book is what is looked for."""


def judge_book(row: Row, hits: Sequence[Hit]) -> dict[str, float]:
    books = list(dict.fromkeys(hit.source for hit in hits))
    return _of_rank(books.index(row.file) + 1 if row.file in books else float("inf"))


def judge_passage(row: Row, hits: Sequence[Hit]) -> dict[str, float]:
    return _of_rank(first_right(hits, right_by_span(row, "passage", row.file)))


def judge_answer(row: Row, hits: Sequence[Hit]) -> dict[str, float]:
    required = _required(row)
    return {"answer in top 5": float(any(holds_answer(hit.text, required) for hit in hits[:5]))}


def _required(row: Row) -> tuple[frozenset[int], ...]:
    return required_stems(row.query, row.values["answers"])


def _of_rank(rank: float) -> dict[str, float]:
    return {"recall@1": float(rank <= 1), "recall@5": float(rank <= 5), f"MRR@{TOP}": 1 / rank}


SETS = (
    Questions(
        name="LiteraryQA",
        collection="dev",
        file="literaryqa_val_questions",
        books=True,
        tasks=(
            Task(name="question -> book", judge=judge_book),
            Task(name="question -> answer", judge=judge_answer, asks=lambda row: bool(_required(row)), of_books=False),
        ),
    ),
    Questions(
        name="FairytaleQA",
        collection="fairytaleqa",
        file="fairytaleqa_val",
        books=False,
        tasks=(Task(name="question -> passage", judge=judge_passage),),
    ),
)


def to_hit(found: NodeWithScore, level: Level) -> Hit:
    """Any system's node as a hit, with its file's name for the source."""
    node: Any = found.node
    return Hit(
        level=level,
        id=node.node_id,
        book_id=node.ref_doc_id or "",
        title=node.metadata["title"],
        author=None,
        source=Path(node.metadata["source"]).name,
        section=(),
        section_id=None,
        start=node.start_char_idx,
        end=node.end_char_idx,
        page=None,
        score=found.score or 0.0,
        text=node.text,
        metadata={},
    )


def ask(systems: Sequence[System], questions: Sequence[str], notice: Notice) -> tuple[Found, dict[str, list[float]]]:
    """Every question of every system, which take turns at being the first; and the seconds each took."""
    for question in questions[:WARM_UP]:
        for system in systems:
            system.retriever.retrieve(question)
    found: Found = {system.name: [] for system in systems}
    seconds: dict[str, list[float]] = {system.name: [] for system in systems}
    _settle()
    for number, question in enumerate(questions):
        turn = number % len(systems)
        for system in (*systems[turn:], *systems[:turn]):
            began = time.perf_counter()
            nodes = system.retriever.retrieve(question)
            seconds[system.name].append(time.perf_counter() - began)
            found[system.name].append([to_hit(node, system.level) for node in nodes[:TOP]])
        if number % 100 == 99:
            notice(f"{number + 1} of {len(questions)} questions")
    return found, seconds


def measure_overhead(retriever: Retriever, questions: Sequence[str]) -> dict[str, float]:
    """Seconds of the adapter's `retrieve` less those of the library's `search`, each question once before."""
    adapter = NLBRetriever(retriever, similarity_top_k=TOP)
    works: tuple[Callable[[str], Any], ...] = (
        adapter.retrieve,
        lambda question: retriever.search(question, limit=TOP),
    )
    differences = []
    _settle()
    for number, question in enumerate(questions):
        works[1](question)
        took = [0.0, 0.0]
        for which in (0, 1) if number % 2 else (1, 0):
            began = time.perf_counter()
            works[which](question)
            took[which] = time.perf_counter() - began
        differences.append(took[0] - took[1])
    return spread(differences)


def _settle() -> None:
    """What was built is no garbage: collecting does not look through it again."""
    gc.unfreeze()
    gc.collect()
    gc.freeze()


def judge(task: Task, rows: Sequence[Row], systems: Sequence[System], found: Found, samples: int) -> dict[str, Any]:
    """The means of a task's metrics, and how far ours are ahead of each of the others."""
    which = [number for number, row in enumerate(rows) if task.asks(row)]
    judged = [system for system in systems if task.of_books or system.level == "passage"]
    values: dict[str, dict[str, Values]] = {}
    for system in judged:
        each = [task.judge(rows[number], found[system.name][number]) for number in which]
        values[system.name] = {metric: np.array([one[metric] for one in each]) for metric in each[0]}
    groups = [rows[number].group for number in which]
    ahead = []
    for ours in (system for system in judged if system.ours):
        for other in (system for system in judged if not system.ours):
            for metric, own in values[ours.name].items():
                estimate = metrics.compare(own, values[other.name][metric], groups, samples=samples)
                record = {"ours": ours.name, "other": other.name, "metric": metric, "difference": estimate.value}
                ahead.append({**record, "low": estimate.low, "high": estimate.high})
    means = {name: {metric: float(own.mean()) for metric, own in of.items()} for name, of in values.items()}
    counts = {"questions": len(which), "groups": len(set(groups))}
    return {"task": task.name, **counts, "means": means, "ahead": ahead}


def compare(questions: Questions, library: Path, arguments: argparse.Namespace, notice: Notice) -> dict[str, Any]:
    """One set of questions to all systems over a library."""
    rows = list(read_rows(data_folder(arguments.data) / "eval" / f"{questions.file}.jsonl.bz2").rows)
    if arguments.sample and arguments.sample < len(rows):
        rows = [rows[number * len(rows) // arguments.sample] for number in range(arguments.sample)]
    texts = [row.query for row in rows]
    nodes = read_nodes(library, arguments.cache / "vectors")
    notice(f"{len(nodes.passages):,} passages, vectors ready")
    with tempfile.TemporaryDirectory() as scratch, Retriever(library) as retriever:
        systems = build(nodes, retriever, Path(scratch), top=TOP, books=questions.books)
        notice("built: " + ", ".join(f"{each.name} {each.seconds:.0f} s" for each in systems if each.seconds))
        found, seconds = ask(systems, texts, notice)
        overhead = measure_overhead(retriever, texts)
    return {
        "set": questions.name,
        "passages": len(nodes.passages),
        "sections": len(nodes.sections),
        "vector_seconds": round(nodes.seconds, 1),
        "systems": {
            system.name: {"build_seconds": system.seconds, "query_seconds": spread(seconds[system.name])}
            for system in systems
        },
        "tasks": [judge(task, rows, systems, found, arguments.samples) for task in questions.tasks],
        "adapter_overhead_seconds": overhead,
    }


def print_report(record: dict[str, Any]) -> None:
    print(f"\n{record['set']}: {record['passages']:,} passages, {record['sections']:,} sections")
    print(f"{'':22}{'query p50':>12}{'p95':>12}{'build':>12}")
    for name, figures in record["systems"].items():
        times = figures["query_seconds"]
        built = f"{figures['build_seconds']:.1f} s" if figures["build_seconds"] is not None else record["library"]
        print(f"{name:22}{1000 * times['p50']:>9.1f} ms{1000 * times['p95']:>9.1f} ms{built:>12}")
    print(f"Builds are without the passages' vectors: {record['vector_seconds']:.0f} s, once.")
    overhead = record["adapter_overhead_seconds"]
    print(f"The adapter over the library's search: {1000 * overhead['p50']:+.2f} ms (p50 of {overhead['runs']})")
    for task in record["tasks"]:
        first = next(iter(task["means"].values()))
        title = f"{task['task']}, {task['questions']:,} questions in {task['groups']} groups, x 100"
        print(f"\n{record['set']}: {title}")
        print(f"{'':22}" + "".join(f"{metric:>17}" for metric in first))
        for name, means in task["means"].items():
            print(f"{name:22}" + "".join(f"{100 * value:>17.1f}" for value in means.values()))
        pairs: dict[tuple[str, str], str] = {}
        for one in task["ahead"]:
            interval = f"{100 * one['difference']:+.1f} [{100 * one['low']:+.1f}, {100 * one['high']:+.1f}]"
            pair = one["ours"], one["other"]
            pairs[pair] = pairs.get(pair, "") + f"  {one['metric']} {interval}"
        for (ours, other), line in pairs.items():
            print(f"{ours} less {other}:{line}")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    home = Path(platformdirs.user_cache_dir("nlb-retriever")) / "benchmarks"
    parser.add_argument("--data", type=Path, help="folder of the dev data")
    parser.add_argument("--sets", nargs="*", default=[], help="only sets whose names begin so")
    parser.add_argument("--sample", type=int, metavar="N", help="only N questions of each set, evenly spread")
    parser.add_argument("--libraries", type=Path, default=home / "libraries", help="where the libraries are kept")
    parser.add_argument("--cache", type=Path, default=home, help="where the passages' vectors are kept")
    parser.add_argument("--samples", type=int, default=2000, help="resamplings for the intervals")
    parser.add_argument("--out", type=Path, metavar="FILE", help="also write all figures there, as JSON")
    arguments = parser.parse_args()
    os.environ.setdefault("NLB_HOME", str(arguments.libraries))

    records = []
    for questions in SETS:
        if arguments.sets and not questions.name.startswith(tuple(arguments.sets)):
            continue
        began = time.perf_counter()

        def notice(line: str, name: str = questions.name, began: float = began) -> None:
            print(f"{name}, {time.perf_counter() - began:.0f} s: {line}", file=sys.stderr)

        library = arguments.libraries / questions.collection
        report = index_files([books_folder(questions.collection, arguments.data)], library)
        if report.failed:
            sys.exit(f"{report.failed[0].source}: {report.failed[0].reason}")
        record = compare(questions, library, arguments, notice)
        record["library"] = f"{report.seconds:.0f} s" if report.indexed else "kept"
        records.append(record)
        print_report(record)
    if arguments.out:
        arguments.out.write_text(json.dumps(records, indent=2) + "\n")


if __name__ == "__main__":
    main()
