"""What the package promises to those who import it."""

from __future__ import annotations

import subprocess
import sys

import nlb_retriever


def test_the_public_names_are_these() -> None:
    records = ["Answer", "Hit", "NlbError", "Retriever"]
    calls = ["answer", "book_from_text", "index_books", "index_files", "open_store"]
    assert nlb_retriever.__all__ == [*records, *calls]
    for name in nlb_retriever.__all__:
        assert getattr(nlb_retriever, name).__name__ == name


def test_importing_the_package_loads_no_heavy_library() -> None:
    heavy = {"torch", "transformers", "numpy", "openvino", "qdrant_edge", "qdrant_client", "tokenizers", "llama_index"}
    code = f"import sys, nlb_retriever; loaded = {heavy!r} & set(sys.modules); assert not loaded, loaded"
    subprocess.run([sys.executable, "-c", code], check=True, timeout=60)
