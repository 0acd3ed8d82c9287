"""A RAG application over a folder of books: python examples/rag_in_20_lines.py BOOKS "Who hunts the whale?"

Retrieval needs no language model. For answers in prose replace MockLLM by any LLM of
LlamaIndex's, such as llama_index.llms.ollama.Ollama("llama3.2"); the mock repeats its prompt.
"""

import sys
import tempfile

from llama_index.core.llms import MockLLM

from llama_index.retrievers.nlb import NLBRetriever
from nlb_retriever import index_files


def main(books: str, question: str, library: str) -> None:
    index_files([books], library)
    with NLBRetriever(library, similarity_top_k=3) as retriever:
        print("In the books' own words:", retriever.as_query_engine().query(question))
        response = retriever.as_query_engine(llm=MockLLM()).query(question)
        print("By the language model:", response)
        for number, node in enumerate(response.source_nodes, start=1):
            source = ", ".join(filter(None, (node.metadata["title"], node.metadata["chapter"])))
            print(f"[{number}] {source} ({node.score:.2f})")


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as folder:
        main(sys.argv[1], sys.argv[2], folder)
