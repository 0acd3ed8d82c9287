"""What is shown of the pieces in which a model's text comes."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import pytest
from llama_index.core.llms import ChatMessage, ChatResponse

from nlb_integrations.prose import Writer
from nlb_retriever import Retriever
from nlb_retriever.errors import LanguageModelError
from tests.prose.scripted import Scripted
from tests.prose.test_writer import STORM, script

THOUGHTS = "<think>The storm, or the moon? [7] The passages tell of a storm.</think>"


def thoughts(opening: str, closing: str) -> str:
    return THOUGHTS.replace("<think>", opening).replace("</think>", closing)


@pytest.mark.parametrize(
    "text",
    [
        f"{THOUGHTS}\n\nIt broke the clock [1].",
        f" \n{THOUGHTS}It broke the clock [1].",
        f"{THOUGHTS}\n{THOUGHTS}It broke the clock [1].",
        f"It broke {THOUGHTS}the clock [1]. {THOUGHTS}",
        *(
            f"{thoughts(opening, closing)}\nIt broke the clock [1]."
            for opening, closing in [
                ("<thinking>", "</thinking>"),
                ("<THINK>", "</THINK>"),
                ("<reasoning>", "</reasoning>"),
                ("<thought>", "</thought>"),
                ("[THINK]", "[/THINK]"),
                ("", "</think>"),  # the prompt has the first mark
                ("", "[/THINK]"),
            ]
        ),
    ],
)
def test_what_a_model_thinks_first_is_no_part_of_its_answer(retriever: Retriever, text: str) -> None:
    answer = Writer(script(text), retriever).answer(STORM)
    assert (answer.text, answer.forged) == ("It broke the clock. [1]", ())
    assert [sentence.supported for sentence in answer.sentences] == [True]


@pytest.mark.parametrize(
    "text", ["<thi>It broke the clock</thi>.", "It [think] broke the clock.", "It broke the clock.</thin"]
)
def test_what_only_looks_like_thoughts_is_shown(retriever: Retriever, text: str) -> None:
    answer = Writer(script(text), retriever).answer(STORM)
    assert answer.text == f"{text} [1]"


def test_a_mark_of_thoughts_before_nothing_ends_no_thoughts(retriever: Retriever) -> None:
    answer = Writer(script("It broke the clock [1].</think> \n"), retriever).answer(STORM)
    assert answer.text == "It broke the clock. [1]"


@pytest.mark.parametrize("shape", ["Ollama", "OpenAI"])
def test_an_answer_that_is_cut_off_in_its_first_sentence_shows_it(retriever: Retriever, shape: str) -> None:
    class CutOff(Scripted):
        def stream_chat(self, messages: Any, **kwargs: Any) -> Any:
            yield from super().stream_chat(messages, **kwargs)
            yield ChatResponse(message=ChatMessage(content=""), delta="", raw=raw_length(shape))
            yield ChatResponse(message=ChatMessage(content=""), delta="", raw={"choices": [], "usage": {}})

    answer = Writer(CutOff(texts=["The storm of November broke the clock of the"]), retriever).answer(STORM)
    assert answer.text == "The storm of November broke the clock of the… [1]"


def raw_length(shape: str) -> Any:
    return {
        "Ollama": {"message": {"content": ""}, "done_reason": "length"},
        "OpenAI": {"choices": [{"delta": {}, "finish_reason": "length"}]},
        "OpenAI's client": SimpleNamespace(choices=[SimpleNamespace(finish_reason="length")]),
    }[shape]


@pytest.mark.parametrize("shape", ["Ollama", "OpenAI", "OpenAI's client", "endless thoughts"])
def test_a_model_that_only_thinks_is_named_so(retriever: Retriever, shape: str) -> None:
    class Thinking(Scripted):
        def stream_chat(self, messages: Any, **kwargs: Any) -> Any:
            yield from super().stream_chat(messages, **kwargs)
            if shape != "endless thoughts":
                yield ChatResponse(message=ChatMessage(content=""), delta="", raw=raw_length(shape))
                yield ChatResponse(message=ChatMessage(content=""), delta="", raw={"choices": [], "usage": {}})

    text = "<think>" + "Hm. " * (1000 if shape == "endless thoughts" else 3)
    with pytest.raises(LanguageModelError, match="scripted used up its 64 tokens before it answered: if it thinks"):
        Writer(Thinking(texts=[text]), retriever).answer(STORM)


def test_halves_of_characters_are_joined_or_replaced(retriever: Retriever) -> None:
    answer = Writer(script("The \ud83d\ude00 storm \ud83d broke\ude00 the clock \ud83d"), retriever).answer(STORM)
    assert "".join(sentence.text for sentence in answer.sentences) == "The 😀 storm \ufffd broke\ufffd the clock \ufffd"
