"""How well a library is searched, by level and mode: python examples/evaluation.py LIBRARY QUESTIONS.jsonl

A line of the file is a question and the span that answers it, as for `nlb eval`: {"query": "Who took the lamp?",
"file": "books/lighthouse.txt", "start": 637, "end": 750}. `file` is the book's file, title or id; `start` and `end`
index the text that `nlb show BOOK --text` prints. LlamaIndex's RetrieverEvaluator counts a passage or section as right
where it shares half of the shorter span with that span.
"""

import asyncio
import json
import sys
from contextlib import suppress
from pathlib import Path

from llama_index.core.evaluation import RetrieverEvaluator

from llama_index.postprocessor.nlb import NextLevelReranker
from llama_index.retrievers.nlb import NLBRetriever
from nlb_retriever import Retriever

METRICS = ["mrr", "hit_rate"]
EVERYTHING = 1_000_000


async def main(library: str, questions: str) -> None:
    rows = [json.loads(line) for line in Path(questions).read_text(encoding="utf-8").splitlines() if line.strip()]
    with Retriever(library) as shared:
        print(f"{'level':9}{'mode':17}" + "".join(f"{metric:>10}" for metric in METRICS))
        for level in ("book", "section", "passage"):
            expected = [expected_ids(shared, level, row) for row in rows]
            for mode in ("dense", "bm25", "fused"):
                retriever = NLBRetriever(shared, level=level, mode=mode, similarity_top_k=10)
                await measure(f"{level:9}{mode}", retriever, rows, expected)
            if level == "section":
                dense = NLBRetriever(shared, level=level, mode="dense", similarity_top_k=50)
                await measure("section  dense, reranked", dense, rows, expected, NextLevelReranker(shared, top_n=10))


def expected_ids(shared: Retriever, level: str, row: dict) -> list[str]:
    """Ids of all nodes of a level that hold a row's span."""
    book = NLBRetriever(shared, level=level, book=row["file"], mode="dense", similarity_top_k=EVERYTHING)
    nodes = [found.node for found in book.retrieve(row["query"])]
    right = [node.node_id for node in nodes if level == "book" or is_there(node.start_char_idx, node.end_char_idx, row)]
    return right or sys.exit(f"there is no {level} from {row['start']} to {row['end']} in {row['file']}")


def is_there(start: int, end: int, row: dict) -> bool:
    shared = min(end, row["end"]) - max(start, row["start"])
    return 2 * shared >= min(end - start, row["end"] - row["start"])


async def measure(
    name: str, retriever: NLBRetriever, rows: list[dict], expected: list[list[str]], *after: NextLevelReranker
) -> None:
    evaluator = RetrieverEvaluator.from_metric_names(METRICS, retriever=retriever, node_postprocessors=list(after))
    sums = dict.fromkeys(METRICS, 0.0)
    for row, ids in zip(rows, expected, strict=True):
        with suppress(ValueError):  # which LlamaIndex's metrics raise where nothing was found
            for metric, value in (await evaluator.aevaluate(row["query"], ids)).metric_vals_dict.items():
                sums[metric] += value
    print(f"{name:26}" + "".join(f"{total / len(rows):10.3f}" for total in sums.values()))


if __name__ == "__main__":
    asyncio.run(main(sys.argv[1], sys.argv[2]))
