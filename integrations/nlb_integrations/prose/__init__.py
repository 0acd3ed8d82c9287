"""Answers in prose by a language model, each sentence checked against the library.

    from nlb_integrations.prose import Writer, open_llm
    from nlb_retriever import Retriever

    with Retriever() as retriever:
        print(Writer(open_llm("smollm2"), retriever).answer("Who hunts the whale?").text)

Names are resolved when first used: making an argument of a name, or catching an error, loads no framework.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from nlb_integrations.prose.chat import Chat as Chat
    from nlb_integrations.prose.models import open_llm as open_llm
    from nlb_integrations.prose.records import Prose as Prose
    from nlb_integrations.prose.records import ProseSentence as ProseSentence
    from nlb_integrations.prose.writer import Writer as Writer

_HOME = {"Chat": "chat", "Prose": "records", "ProseSentence": "records", "Writer": "writer", "open_llm": "models"}
__all__ = ["Chat", "Prose", "ProseSentence", "Writer", "open_llm"]


def __getattr__(name: str) -> Any:
    if name not in _HOME:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(f"{__name__}.{_HOME[name]}"), name)


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})  # for completion
