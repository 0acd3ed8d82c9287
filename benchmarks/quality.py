"""How good the ranking is: flat dense, flat BM25 and the default, each by the library's own `search`.

    python benchmarks/quality.py [--sets NAME ...] [--answers] [--libraries FOLDER] [--json FILE]

Makes (or brings up to date) one library of the 57 dev books, one of FairytaleQA's collections and one of
OpenStax' textbooks, asks every question at the level of its set, and prints a table. MRR looks at the first
50 hits. The interval is that of the default's difference to the better of its two parts: 95 %, by
resampling whole books (tales, textbook sections), since questions on one book go right or wrong together.

A passage answers a LiteraryQA question where all words of one of its human answers stand in it, without
stop words and the question's own words, by their stems. A section is right for a span where they share half
of the shorter one, a passage where it shares anything with the evidence. On two cores the libraries take
about ten minutes, once, and the questions as long again; `--every 10` asks a tenth of them.
"""

from __future__ import annotations

import argparse
import json
import os
import sys
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import platformdirs
from data import Collection, books_folder, data_folder

from nlb_retriever import Hit, Retriever, index_files
from nlb_retriever.records import Level, Mode, source_of
from nlb_retriever.text.words import count_words
from nlb_training.evaluation import metrics
from nlb_training.evaluation.metrics import Values
from nlb_training.evaluation.retrieval import LOOK_AT, MODES, first_right
from nlb_training.evaluation.rows import Row, read_rows

COLLECTIONS: tuple[Collection, ...] = ("dev", "fairytaleqa", "openstax")
Judge = Callable[[Row, Sequence[Hit], Level, str], dict[str, float]]
"""The metrics of one question, from its hits, best first, and its book's source."""

STRANGE = (
    "How do I install Python on Windows?",
    "What is the capital of Mongolia?",
    "Who won the 2018 football World Cup?",
    "How long should I boil an egg?",
    "What is the boiling point of ethanol?",
    "How do I reset my router password?",
    "What is the difference between TCP and UDP?",
    "Which vitamins are in broccoli?",
    "How do I centre a div with CSS?",
    "What is the population of Brazil?",
    "Who invented the transistor?",
    "How do I change the oil of a Toyota Corolla?",
    "How many bits are in a byte?",
    "What is the exchange rate of the euro to the yen?",
    "How do I cancel my Netflix subscription?",
    "When does the next train to Berlin leave?",
    "What is the derivative of sin x?",
    "How does a nuclear reactor work?",
    "Who is the CEO of Microsoft?",
    "What is the recommended dose of ibuprofen for adults?",
    "How do I write a for loop in JavaScript?",
    "Which planets have rings?",
    "What is quantum entanglement?",
    "How do I file my tax return online?",
    "Why did Harry Potter go to Hogwarts?",
    "What did Katniss Everdeen do at the reaping?",
    "How does a diesel engine differ from a petrol engine?",
    "How do I train a neural network in PyTorch?",
    "What are the symptoms of dengue fever?",
    "How tall is Mount Kilimanjaro?",
)
"""Questions on nothing that is in the dev books."""


@dataclass(frozen=True)
class Task:
    name: str
    collection: Collection
    level: Level
    file: str
    """In eval/."""
    judge: Judge

    def rows(self, data: Path | None) -> list[Row]:
        rows = rows_of(self.file, data)
        return [row for row in rows if asked_for(row)] if self.judge is judge_words else rows


def rows_of(file: str, data: Path | None) -> list[Row]:
    return list(read_rows(data_folder(data) / "eval" / f"{file}.jsonl.bz2").rows)


def stems(text: str) -> frozenset[int]:
    return frozenset(count_words(text).indices)


def ranked(*cuts: int) -> Judge:
    """The reciprocal rank of the first right hit, and whether it is among the first of each cut."""

    def judge(row: Row, hits: Sequence[Hit], level: Level, source: str) -> dict[str, float]:
        rank = first_right(row, hits, level, source)
        return {"MRR": 1 / rank, **{f"recall@{cut}": float(rank <= cut) for cut in cuts}}

    return judge


def asked_for(row: Row) -> list[frozenset[int]]:
    """What each human answer says beyond the question; answers without such words are left out."""
    question = stems(row.query)
    return [said for text in row.values["answers"] if (said := stems(text) - question)]


def judge_words(row: Row, hits: Sequence[Hit], level: Level, source: str) -> dict[str, float]:
    answers = asked_for(row)
    found = [stems(hit.text) for hit in hits[:5]]
    return {"answer in top 5": float(any(said <= words for said in answers for words in found))}


LITERARY, CHAPTERS, TALES = "literaryqa_val_questions", "booksum_chapters_val", "fairytaleqa_val"
QUESTIONS, SUMMARIES = "openstax_questions_dev", "openstax_summaries_dev"
TASKS = (
    Task("LiteraryQA: question -> book", "dev", "book", LITERARY, ranked(1, 5)),
    Task("LiteraryQA: question -> answer", "dev", "passage", LITERARY, judge_words),
    Task("BookSum: summary -> section", "dev", "section", CHAPTERS, ranked(1, 5)),
    Task("BookSum: summary -> book", "dev", "book", CHAPTERS, ranked(1, 5)),
    Task("FairytaleQA: question -> passage", "fairytaleqa", "passage", TALES, ranked(1, 10)),
    Task("OpenStax: question -> section", "openstax", "section", QUESTIONS, ranked(1, 5)),
    Task("OpenStax: summary -> section", "openstax", "section", SUMMARIES, ranked(1, 5)),
)


def difference(values: dict[Mode, Values], groups: Sequence[str], samples: int) -> dict[str, float]:
    """The default less the better of its parts, with a 95 % interval over resampled groups."""
    better = max(values["dense"], values["bm25"], key=lambda each: float(each.mean()))
    found = metrics.compare(values["fused"], better, groups, samples=samples)
    return {"difference": found.value, "low": found.low, "high": found.high}


def measure(task: Task, retriever: Retriever, data: Path | None, samples: int, every: int) -> list[dict[str, Any]]:
    """One record for each metric of a task."""
    rows = task.rows(data)[::every]
    books = books_folder(task.collection, data)
    got: dict[str, dict[Mode, list[float]]] = {}
    for row in rows:
        for mode in MODES:
            hits = retriever.search(row.query, level=task.level, mode=mode, limit=LOOK_AT)
            for metric, value in task.judge(row, hits, task.level, source_of(books / row.file)).items():
                got.setdefault(metric, {}).setdefault(mode, []).append(value)
    records = []
    groups = [row.group for row in rows]
    for metric, by_mode in got.items():
        values = {mode: np.array(by_mode[mode]) for mode in MODES}
        records.append(
            {
                "set": task.name,
                "metric": metric,
                "questions": len(rows),
                "groups": len(set(groups)),
                **{str(mode): float(each.mean()) for mode, each in values.items()},
                **difference(values, groups, samples),
            }
        )
    return records


def measure_answers(libraries: dict[Collection, Path], data: Path | None, every: int) -> dict[str, float]:
    """How often `Retriever.answer` answers where it should and where not, and how much of the answer it quotes."""
    quoted: list[bool] = []
    result = {}
    for collection, file in zip(COLLECTIONS, (LITERARY, TALES, QUESTIONS), strict=True):
        with Retriever(libraries[collection]) as retriever:
            found = []
            for row in rows_of(file, data)[::every]:
                answer = retriever.answer(row.query)
                found.append(answer.found)
                if collection == "fairytaleqa" and (wanted := asked_for(row)):
                    words = stems(answer.text) if answer.found else frozenset()
                    quoted.append(any(each <= words for each in wanted))
            result[f"found: questions on {collection}"] = float(np.mean(found))
            strange = [retriever.answer(question).found for question in STRANGE]
            result[f"found: everyday questions, asked of {collection}"] = float(np.mean(strange))
    result["FairytaleQA: all words of a human answer quoted"] = float(np.mean(quoted))
    return result


def print_table(records: Sequence[dict[str, Any]]) -> None:
    print(f"{'x 100':34}{'metric':>16}{'dense':>8}{'BM25':>8}{'default':>9}{'difference to the better [95 %]':>33}")
    for record in records:
        cells = "".join(f"{100 * record[mode]:{width}.1f}" for mode, width in zip(MODES, (8, 8, 9), strict=True))
        interval = f"{100 * record['difference']:+.1f} [{100 * record['low']:+.1f}, {100 * record['high']:+.1f}]"
        print(f"{record['set']:34}{record['metric']:>16}{cells}{interval:>33}")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--sets", nargs="*", default=[], help="only sets whose names begin so (LiteraryQA, ...)")
    parser.add_argument("--answers", action="store_true", help="also ask for answers; minutes more")
    parser.add_argument("--libraries", type=Path, help="where the libraries are kept; default: the user's cache")
    parser.add_argument("--data", type=Path, help="folder of the dev data")
    parser.add_argument("--every", type=int, default=1, help="only every n-th question")
    parser.add_argument("--samples", type=int, default=2000, help="resamplings for the interval")
    parser.add_argument("--json", type=Path, metavar="FILE", help="also write all figures there")
    arguments = parser.parse_args()
    tasks = [task for task in TASKS if not arguments.sets or task.name.startswith(tuple(arguments.sets))]
    home = arguments.libraries or Path(platformdirs.user_cache_dir("nlb-retriever")) / "benchmarks" / "libraries"
    os.environ.setdefault("NLB_HOME", str(home))

    libraries: dict[Collection, Path] = {}
    wanted = set(COLLECTIONS) if arguments.answers else {task.collection for task in tasks}
    for collection in (each for each in COLLECTIONS if each in wanted):
        libraries[collection] = home / collection
        report = index_files([books_folder(collection, arguments.data)], libraries[collection])
        if report.failed:
            sys.exit(f"{report.failed[0].source}: {report.failed[0].reason}")

    records: list[dict[str, Any]] = []
    for task in tasks:
        started = time.perf_counter()
        with Retriever(libraries[task.collection]) as retriever:
            records += measure(task, retriever, arguments.data, arguments.samples, arguments.every)
        print(f"{task.name}: {time.perf_counter() - started:.0f} s", file=sys.stderr)
    print_table(records)
    answers = measure_answers(libraries, arguments.data, arguments.every) if arguments.answers else {}
    for name, share in answers.items():
        print(f"{name}: {100 * share:.1f} %")
    if arguments.json:
        arguments.json.write_text(json.dumps({"ranking": records, "answers": answers}, indent=2) + "\n")


if __name__ == "__main__":
    main()
