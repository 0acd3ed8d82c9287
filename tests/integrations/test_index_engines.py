"""NLBIndex: its engines, and what LlamaIndex's own indexes take and give."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest
from llama_index.core.chat_engine import CondensePlusContextChatEngine, ContextChatEngine
from llama_index.core.chat_engine.types import ChatMode
from llama_index.core.llms import MockLLM
from llama_index.core.memory import ChatMemoryBuffer

from nlb_integrations import NLBIndex
from nlb_retriever.errors import QueryError
from tests.integrations.indexed import documents

LAMP = "Who took the lamp?"


@pytest.fixture
def library(tmp_path: Path) -> Path:
    return tmp_path / "library"


def new_memory() -> ChatMemoryBuffer:
    """LlamaIndex's default one leaves a database open."""
    return ChatMemoryBuffer.from_defaults(token_limit=3000)


def test_llamaindexs_update_kwargs_are_taken(library: Path) -> None:
    index = NLBIndex.from_documents(documents(), library)
    docstore = {"delete_kwargs": {"delete_from_docstore": True}}
    assert index.refresh_ref_docs(documents(), update_kwargs=docstore) == [False, False]
    assert asyncio.run(index.arefresh_ref_docs(documents(), update_kwargs=docstore)) == [False, False]
    index.update_ref_doc(documents()[0], update_kwargs=docstore)
    asyncio.run(index.aupdate_ref_doc(documents()[0], update_kwargs=docstore))


@pytest.mark.parametrize(
    ("mode", "kind"),
    [("context", ContextChatEngine), (ChatMode.CONDENSE_PLUS_CONTEXT, CondensePlusContextChatEngine)],
)
def test_a_chat_engine_gives_the_llm_what_is_found(mode: ChatMode, kind: type, library: Path) -> None:
    index = NLBIndex.from_documents(documents(), library)
    engine = index.as_chat_engine(mode, MockLLM(), similarity_top_k=1, system_prompt="Be brief.", memory=new_memory())
    assert isinstance(engine, kind)
    response = engine.chat(LAMP)
    assert len(response.source_nodes) == 1 and "Margaret" in response.source_nodes[0].text
    assert "Be brief." in str(response)  # MockLLM repeats its prompt


def test_a_chat_engine_needs_an_llm_and_a_mode_that_retrieves(library: Path) -> None:
    assert isinstance(
        NLBIndex(library).as_chat_engine(llm=MockLLM(), memory=new_memory()), CondensePlusContextChatEngine
    )
    with pytest.raises(QueryError, match="needs an LLM"):
        NLBIndex(library).as_chat_engine()
    with pytest.raises(QueryError, match="known: context, condense_plus_context, best"):
        NLBIndex(library).as_chat_engine(ChatMode.SIMPLE, MockLLM())


def test_before_the_first_write_nothing_is_found(library: Path) -> None:
    index = NLBIndex(library)
    retriever = index.as_retriever()
    assert retriever.retrieve(LAMP) == asyncio.run(retriever.aretrieve(LAMP)) == []
    response = index.as_query_engine().query(LAMP)
    assert str(response) == "Not in your library." and response.source_nodes == []
    assert not library.exists()
    index.insert(documents()[0])
    assert retriever.retrieve(LAMP) and index.as_query_engine().query(LAMP).source_nodes
