"""The history and passages that fit a model's window beside its answer."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

from llama_index.core.llms import LLM

from nlb_integrations.prose import prompt
from nlb_retriever.errors import QueryError
from nlb_retriever.records import Answer, Hit
from nlb_retriever.text.sentences import sentence_spans

ANSWER_TOKENS = 256
"""Room for the answer where the model does not declare how much it writes."""
LETTERS_PER_TOKEN = 2.5
"""Fewer than English has in an unknown tokenizer: pieces of 1,000 characters of tales have 3.4 to 4.9 in SmolLM2's
(49,152 tokens), and larger vocabularies make fewer tokens."""
MESSAGE_TOKENS = 8
"""What a chat template puts around a message, at most."""
BLOCK = 4
"""Turns are dropped so many at a time: dropping one at each turn would end the prefix that a server has kept."""

Count = Callable[[str], int]


@dataclass(frozen=True, kw_only=True)
class Fitted:
    """The parts of a prompt that fit."""

    history: tuple[Answer, ...]
    """The newest turns."""
    hits: tuple[Hit, ...]
    """The first passages; the last one may end early, at the end of a sentence."""


def counter_of(llm: LLM) -> Count:
    """How many tokens a text has: by the model's own tokenizer where it brings one, else a safe estimate."""
    tokenizer = getattr(llm, "tokenizer", None)
    if tokenizer is None or isinstance(tokenizer, str):  # some models only name theirs
        return estimate
    return lambda text: len(tokenizer.encode(text))


def estimate(text: str) -> int:
    """No fewer tokens than prose has; of other scripts than ours each byte may be one (0.8 of them are, of Chinese)."""
    letters = sum(map(str.isascii, text))
    others = len(text.encode("utf-8", "replace")) - letters
    return others + math.ceil(letters / LETTERS_PER_TOKEN)


def answer_room(llm: LLM) -> int:
    """Tokens kept free for the answer, at most half of the window."""
    metadata = llm.metadata
    wanted = metadata.num_output if metadata.num_output > 0 else ANSWER_TOKENS
    return min(wanted, metadata.context_window // 2)


def fit(question: str, hits: Sequence[Hit], history: Sequence[Answer], *, room: int, count: Count) -> Fitted:
    """Choose what fits `room` tokens.

    History takes at most half of what the question leaves; its oldest turns go first. Passages go from the end, and
    the last one that stays is cut at the end of a sentence.

    Raises:
        QueryError: the question, or the first sentence of the first passage with it, does not fit.
    """
    fixed = count(prompt.INSTRUCTIONS) + count(prompt.question_block(question)) + 2 * MESSAGE_TOKENS
    if fixed > room:
        raise QueryError(
            f"the question needs {fixed} tokens with its instructions, and the model's window has room for {room} "
            "beside the answer: shorten it, or take a model with a larger window"
        )
    sizes = [
        sum(count(message.content or "") + MESSAGE_TOKENS for message in prompt.turn_messages(turn)) for turn in history
    ]
    first = 0
    while sum(sizes[first:]) > (room - fixed) // 2:
        first += BLOCK
    left = room - fixed - sum(sizes[first:])
    kept: list[Hit] = []
    for number, hit in enumerate(hits, 1):
        size = count(prompt.passage_block(number, hit))
        if size > left:
            if shorter := _cut(hit, number, left, count):
                kept.append(shorter)
            break
        kept.append(hit)
        left -= size
    if hits and not kept:
        raise QueryError(
            f"no sentence of a passage fits the {left} tokens that the question leaves of the model's window: "
            "shorten it, or take a model with a larger window"
        )
    return Fitted(history=tuple(history[first:]), hits=tuple(kept))


def _cut(hit: Hit, number: int, room: int, count: Count) -> Hit | None:
    """A passage's first sentences, as many as fit; None where not even one does."""
    for _, end in reversed(sentence_spans(hit.text)[:-1]):
        shorter = replace(hit, text=hit.text[:end], end=hit.start + end)
        if count(prompt.passage_block(number, shorter)) <= room:
            return shorter
    return None
