"""A language model that says what it is told to."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from llama_index.core.base.llms.types import (
    ChatMessage,
    ChatResponse,
    ChatResponseGen,
    CompletionResponse,
    CompletionResponseGen,
    LLMMetadata,
)
from llama_index.core.bridge.pydantic import Field
from llama_index.core.llms.custom import CustomLLM


class Scripted(CustomLLM):
    """Answers each question with the next of its texts, a few characters at a time; keeps what it was asked."""

    texts: list[str]
    window: int = 4096
    room: int = 64
    asked: list[list[ChatMessage]] = Field(default_factory=list)

    @property
    def metadata(self) -> LLMMetadata:
        return LLMMetadata(context_window=self.window, num_output=self.room, is_chat_model=True, model_name="scripted")

    def stream_chat(self, messages: Sequence[ChatMessage], **kwargs: Any) -> ChatResponseGen:
        self.asked.append(list(messages))
        text = self.texts[min(len(self.asked), len(self.texts)) - 1]

        def pieces() -> ChatResponseGen:
            for start in range(0, len(text), 5):
                whole = ChatMessage(role="assistant", content=text[: start + 5])
                yield ChatResponse(message=whole, delta=text[start : start + 5])

        return pieces()

    def complete(self, prompt: str, formatted: bool = False, **kwargs: Any) -> CompletionResponse:
        raise NotImplementedError

    def stream_complete(self, prompt: str, formatted: bool = False, **kwargs: Any) -> CompletionResponseGen:
        raise NotImplementedError
