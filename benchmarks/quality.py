"""Quality of search and answers on the dev data: the tables of docs/benchmarks.md.

    python benchmarks/quality.py [--sets NAME ...] [--every N] [--checkpoint FOLDER ...] [--reader FOLDER]
                                 [--cache FOLDER] [--json FILE]

`nlb eval --tasks retrieval,answers,reading` measures the same; this prints vectors, BM25, fused search, and passages
reranked by the reader side by side, with the differences of fused search to BM25 and of the reader to fused search, and
their 95% intervals over resampled books. Libraries are kept in the cache by a fingerprint of encoder and checkpoint,
and reused. On two idle cores the novels take hours to index once (355 books), all other libraries ten minutes, and the
questions half an hour without the reader; `--every 10` uses a tenth of them.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Iterator
from pathlib import Path

from data import data_folder

from nlb_training.evaluation import Difference, Measurement, Results, Settings, evaluate
from nlb_training.evaluation.context import Task
from nlb_training.evaluation.retrieval import READER

TASKS: tuple[Task, ...] = ("retrieval", "answers", "reading")


def retrieval_lines(results: Results) -> Iterator[str]:
    """A Markdown table: one row for each set and metric, one column for each way to search."""
    yield "| set | queries | metric x 100 | vectors | BM25 | fused | fused - BM25 [95%] | reader | - fused [95%] |"
    yield "|---|---:|---|---:|---:|---:|---:|---:|---:|"
    cells = {(each.set, each.metric, each.system): each for each in results.measurements if each.task == "retrieval"}
    differences = {(each.set, each.metric, each.system): each for each in results.differences}
    for (name, metric, system), difference in differences.items():
        if difference.baseline != "bm25":
            continue
        checkpoint = system.removesuffix(" fused")
        shown = [f"{checkpoint} dense", "bm25", system, f"{checkpoint} {READER}"]
        dense, bm25, fused, reader = (cells.get((name, metric, each)) for each in shown)
        values = [_value(dense), _value(bm25), _value(fused), _change(difference)]
        values += [_value(reader), _change(differences.get((name, metric, shown[-1])))]
        yield f"| {name} | {cells[name, metric, system].queries:,} | {metric} | {' | '.join(values)} |"


def _value(measurement: Measurement | None) -> str:
    return f"{measurement.scale * measurement.value:.1f}" if measurement else ""


def _change(difference: Difference | None) -> str:
    if difference is None:
        return ""
    return f"{100 * difference.value:+.1f} [{100 * difference.low:+.1f}, {100 * difference.high:+.1f}]"


def other_lines(results: Results, task: str) -> Iterator[str]:
    """A Markdown table of all measurements of a task."""
    yield "| set | questions | system | metric | value [95%] |"
    yield "|---|---:|---|---|---:|"
    for each in results.measurements:
        if each.task == task:
            yield f"| {each.set} | {each.queries:,} | {each.system} | {each.metric} | {_value_with_interval(each)} |"


def _value_with_interval(measurement: Measurement) -> str:
    value, low, high = (
        None if each is None else measurement.scale * each
        for each in (measurement.value, measurement.low, measurement.high)
    )
    return f"{value:.1f}" if low is None or high is None else f"{value:.1f} [{low:.1f}, {high:.1f}]"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--tasks", nargs="*", default=list(TASKS), choices=TASKS, help="default: all")
    parser.add_argument("--sets", nargs="*", default=[], help="only sets whose names begin so (literaryqa, ...)")
    parser.add_argument("--every", type=int, default=1, help="only every n-th query")
    parser.add_argument("--checkpoint", type=Path, action="append", help="default: the released one")
    parser.add_argument("--baseline", action="append", default=[], choices=["mean"], help="also the untrained mean")
    parser.add_argument("--reader", type=Path, help="folder of a reader; default: the released one")
    parser.add_argument("--data", type=Path, help="folder of the dev data")
    parser.add_argument("--cache", type=Path, help="of books, vectors and libraries")
    parser.add_argument("--json", type=Path, metavar="FILE", help="also write all figures there")
    arguments = parser.parse_args()
    results = evaluate(
        Settings(
            tasks=arguments.tasks,
            data=data_folder(arguments.data),
            checkpoints=arguments.checkpoint or [None],
            baselines=arguments.baseline,
            every=arguments.every,
            sets=arguments.sets,
            cache=arguments.cache,
            reader=arguments.reader,
        ),
        notice=lambda line: print(line, file=sys.stderr, flush=True),
    )
    for problem in results.problems:
        print(f"warning: {problem}", file=sys.stderr)
    for task in arguments.tasks:
        lines = retrieval_lines(results) if task == "retrieval" else other_lines(results, task)
        print(f"\n### {task}\n", *lines, sep="\n")
    if arguments.json:
        arguments.json.write_text(json.dumps(results.to_json(), indent=2) + "\n")


if __name__ == "__main__":
    main()
