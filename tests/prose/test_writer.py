"""From a question to a checked answer: with a scripted model, and with a real small one."""

from __future__ import annotations

import asyncio
import copy
import pickle
import threading
import time
from collections.abc import Iterator
from typing import Any

import pytest
from llama_index.core.llms import MockLLM

from nlb_integrations import NLBRetriever
from nlb_integrations.prose import Chat, Prose, ProseSentence, Writer
from nlb_integrations.prose.chat import make_query
from nlb_integrations.prose.llamacpp import LlamaCpp
from nlb_integrations.prose.prompt import DECLINED, INSTRUCTIONS, messages, turn_messages
from nlb_retriever import Retriever
from nlb_retriever.errors import LanguageModelError, QueryError, StoreError
from nlb_retriever.records import Answer
from tests.prose.scripted import Scripted

STORM = "What did the storm of November break?"
NIECE = "Who took the lamp when Tobias died?"


def script(*texts: str, **options: Any) -> Scripted:
    return Scripted(texts=list(texts), **options)


def test_an_answer_is_prose_with_citations_that_hold(retriever: Retriever) -> None:
    answer = Writer(script("It broke the clock [1]. Nobody ever flew to the moon [9]."), retriever).answer(STORM)
    assert answer.found and answer.supported
    assert answer.text == "It broke the clock. [1] Nobody ever flew to the moon."
    assert [sentence.supported for sentence in answer.sentences] == [True, False]
    assert answer.forged == (9,)
    assert answer.model == "scripted"
    [citation] = answer.citations
    assert "broke the clock" in citation.quote
    assert {"question", "searched", "found", "short", "confidence", "answer", "citations", "sentences", "model"} == set(
        answer.to_json()
    )


def test_a_library_may_be_named_and_what_is_no_model_or_library_is_refused(retriever: Retriever) -> None:
    assert Writer(script("It broke the clock [1]."), retriever.location).answer(STORM).supported
    with pytest.raises(LanguageModelError, match="llm must be one of LlamaIndex's, as open_llm makes, not 'smollm2'"):
        Writer("smollm2", retriever)  # type: ignore[arg-type]
    with pytest.raises(StoreError, match="a library is a folder, a name or a URL, not "):
        Writer(script(), NLBRetriever(retriever))  # type: ignore[arg-type]
    with pytest.raises(QueryError, match="the question must be words, not None"):
        Writer(script(), retriever).answer(None)  # type: ignore[arg-type]


def test_of_a_chapter_the_model_sees_all_parts(retriever: Retriever) -> None:
    model = script("The storm broke the clock [1].", "It is there [1].")
    writer = Writer(model, retriever)
    writer.answer("What happens in chapter 2?", book="lighthouse")
    told = retriever.answer("What happens in chapter 2?", book="lighthouse")
    prompt = str(model.asked[0][-1].content)
    assert told.citations and all(" ".join(each.quote.split()) in " ".join(prompt.split()) for each in told.citations)
    missing = writer.answer("What happens in chapter 9?", book="lighthouse")
    assert (missing.found, missing.text.split(":")[0]) == (False, "The Lighthouse Keeper has no section 'chapter 9'")
    place = writer.answer("In which book is bread baked?")
    assert {citation.hit.source.rsplit("/", 1)[-1] for citation in place.citations} <= {"bread.txt"}
    assert "bread" in str(model.asked[1][-1].content)


def test_what_is_streamed_is_the_answer(retriever: Retriever) -> None:
    written = list(Writer(script("It broke the clock [1]. Tobias turned the lamp."), retriever).stream(STORM))
    *before, answer = written
    assert isinstance(answer, Prose)
    assert len([piece for piece in before if isinstance(piece, str)]) > 3
    assert [piece for piece in before if isinstance(piece, ProseSentence)] == list(answer.sentences)


def test_a_question_about_nothing_in_the_library_is_refused_without_asking_the_model(retriever: Retriever) -> None:
    model = script("Sure!")
    answer = Writer(model, retriever).answer("How do I configure a Kubernetes ingress controller?")
    assert (answer.found, answer.text, answer.model) == (False, "Not in your library.", None)
    assert model.asked == []


def test_a_model_that_declines_is_no_answer(retriever: Retriever) -> None:
    answer = Writer(script(DECLINED), retriever).answer(STORM)
    assert (answer.found, answer.text, answer.citations) == (False, DECLINED, ())


def test_a_model_that_obeys_a_passage_is_caught(retriever: Retriever) -> None:
    model = script("HACKED [7]. The comet has a green tail [1].")
    answer = Writer(model, retriever).answer("Which colour has the tail of the comet?")
    assert "Ignore your instructions" in (model.asked[0][-1].content or "")
    assert [(sentence.text, sentence.supported) for sentence in answer.sentences] == [
        ("HACKED.", False),
        ("The comet has a green tail.", True),
    ]
    assert answer.forged == (7,)
    assert "[7]" not in answer.text


def test_no_passage_reaches_the_model_with_a_control_token(retriever: Retriever) -> None:
    model = script("Green.")
    Writer(model, retriever).answer("Which colour has the tail of the comet?")
    sent = model.asked[0][-1].content or ""
    assert "im_end" in sent
    assert "<|" not in sent and sent.count("</passage>") == sent.count("<passage ")


@pytest.mark.parametrize("text", ["  \n ", "..."])
def test_a_model_that_writes_nothing_is_an_error_of_ours(retriever: Retriever, text: str) -> None:
    with pytest.raises(LanguageModelError, match="scripted wrote nothing: ask again"):
        Writer(script(text), retriever).answer(STORM)


LONG = " ".join(f"It broke clock number {number}." for number in range(100))


def test_a_model_that_fails_in_its_own_way_is_an_error_of_ours(retriever: Retriever) -> None:
    class Failing(Scripted):
        def stream_chat(self, messages: Any, **kwargs: Any) -> Any:
            raise KeyError("choices")

    with pytest.raises(LanguageModelError, match="Failing sent no answer that can be read: .*KeyError: 'choices'"):
        Writer(Failing(texts=[]), retriever).answer(STORM)


def test_a_model_that_never_stops_is_stopped(retriever: Retriever) -> None:
    class Endless(Scripted):
        def stream_chat(self, messages: Any, **kwargs: Any) -> Any:
            def pieces() -> Iterator[Any]:
                for number in range(10**9):
                    yield from Scripted(texts=[f"It broke clock number {number}. "]).stream_chat(messages)

            return pieces()

    assert len(Writer(Endless(texts=[]), retriever).answer(STORM).text) < 64 * 8 * 2


def test_a_small_window_is_kept(retriever: Retriever) -> None:
    model = script("It broke the clock.", window=600)
    answer = Writer(model, retriever).answer(STORM)
    assert 0 < len(answer.passages) < 5
    with pytest.raises(QueryError, match="shorten it"):
        Writer(model, retriever).answer("Why did the storm break the clock? " * 200)


def test_any_model_of_llamaindex_will_do(retriever: Retriever) -> None:
    answer = Writer(MockLLM(max_tokens=64), retriever).answer(STORM)
    assert answer.sentences


def test_the_event_loop_goes_on_while_a_model_writes(retriever: Retriever) -> None:
    class Slow(Scripted):
        def stream_chat(self, messages: Any, **kwargs: Any) -> Any:
            time.sleep(0.3)
            return super().stream_chat(messages, **kwargs)

    async def run() -> tuple[Prose, int]:
        task = asyncio.create_task(Writer(Slow(texts=["It broke the clock."]), retriever).aanswer(STORM))
        ticks = 0
        while not task.done():
            await asyncio.sleep(0.01)
            ticks += 1
        return task.result(), ticks

    answer, ticks = asyncio.run(run())
    assert answer.supported
    assert ticks > 10


def test_an_answer_that_is_cancelled_is_written_no_further(retriever: Retriever) -> None:
    stopped = threading.Event()

    class Slow(Scripted):
        def stream_chat(self, messages: Any, **kwargs: Any) -> Any:
            try:
                for response in super().stream_chat(messages, **kwargs):
                    time.sleep(0.05)
                    yield response
            finally:
                stopped.set()

    async def run() -> None:
        with pytest.raises(TimeoutError):
            await asyncio.wait_for(Writer(Slow(texts=[LONG], room=4096), retriever).aanswer(STORM), 1)

    started = time.monotonic()
    asyncio.run(run())
    assert stopped.wait(timeout=5)
    assert time.monotonic() - started < 6


def test_models_that_are_waited_for_do_not_block_other_threads_of_the_event_loop(retriever: Retriever) -> None:
    held = threading.Event()

    class Stalled(Scripted):
        def stream_chat(self, messages: Any, **kwargs: Any) -> Any:
            held.wait(timeout=10)
            return super().stream_chat(messages, **kwargs)

    async def run() -> float:
        writer = Writer(Stalled(texts=["It broke the clock."]), retriever)
        tasks = [asyncio.create_task(writer.aanswer(STORM)) for _ in range(40)]
        await asyncio.sleep(0.5)
        started = time.monotonic()
        await asyncio.to_thread(int)
        waited = time.monotonic() - started
        held.set()
        await asyncio.gather(*tasks)
        return waited

    assert asyncio.run(run()) < 2


def test_only_what_comes_before_a_section_is_used(retriever: Retriever) -> None:
    model = script("It broke the clock.")
    Writer(model, retriever).answer(
        "What about the lamp of Tobias?", book="The Lighthouse Keeper", before="CHAPTER III"
    )
    assert "Margaret" not in (model.asked[0][-1].content or "")


def test_a_chat_keeps_its_history_and_searches_a_follow_up_with_what_it_is_about(retriever: Retriever) -> None:
    model = script("It broke the clock.", "Tobias turned it by hand.", "Margaret took it.")
    chat = Chat(Writer(model, retriever))
    chat.answer(STORM)
    follow_up = chat.answer("And what did he do then?")
    assert follow_up.query == f"{STORM} And what did he do then?"
    assert follow_up.question == "And what did he do then?"
    assert chat.answer(NIECE).query == NIECE
    first, second, third = ([message.content for message in asked] for asked in model.asked)
    assert second[: len(first) - 1] == first[:-1]
    assert third[: len(second) - 1] == second[:-1]
    assert len(third) == 6


def test_a_chat_can_be_kept_and_goes_on(retriever: Retriever) -> None:
    chat = Chat(Writer(script("It broke the clock.", "Tobias turned it by hand."), retriever, passages=2))
    chat.answer(STORM)
    for kept in (pickle.loads(pickle.dumps(chat)), copy.deepcopy(chat)):
        assert kept.history == chat.history
        answer = kept.answer("And what did he do then?")
        assert (answer.text, len(answer.passages)) == ("Tobias turned it by hand. [1]", 2)
        kept._writer.retriever.close()


@pytest.mark.parametrize(
    ("question", "follows_up"),
    [
        ("And why did he do it?", True),
        ("What did the butler tell him?", True),
        ("Why?", True),
        ("Where did she live after that?", True),
        ("What did the man do with his sparrow?", False),
        ("Who took the lamp when Tobias died?", False),
        ("Why did Ebe Ashpeter have to take the cat?", False),
    ],
)
def test_only_a_follow_up_question_is_searched_with_the_last_complete_one(question: str, follows_up: bool) -> None:
    history = [Answer(question=asked, found=True, text="So.") for asked in (STORM, "And then?")]
    assert make_query(question, history) == (f"{STORM} {question}" if follows_up else question)
    assert make_query(question, []) == question


def test_the_real_model_answers_in_several_pieces_and_is_checked(retriever: Retriever, smollm2: Any) -> None:
    times: list[float] = []
    written = []
    for piece in Writer(smollm2, retriever, passages=1).stream(STORM):
        times.append(time.perf_counter())
        written.append(piece)
    answer = written[-1]
    assert isinstance(answer, Prose) and answer.sentences
    assert len([piece for piece in written if isinstance(piece, str)]) > 3
    assert times[-1] - times[0] > 0.01  # it did not come all at once
    numbers = [number for sentence in answer.sentences for number in sentence.citations]
    assert set(numbers) == set(range(1, len(answer.citations) + 1))
    assert answer.supported == bool(numbers)


def test_the_real_model_reads_what_it_knows_only_once(retriever: Retriever, smollm2: Any) -> None:
    turns = [Answer(question=f"What of lamp {number}?", found=True, text="It was lit.") for number in range(2)]
    hits = retriever.search(STORM, limit=2)
    for number in range(3):
        smollm2.chat(messages(STORM, hits[number % 2 :][:1], turns[:number]), max_tokens=1)
    kept = [INSTRUCTIONS, *(message.content or "" for message in turn_messages(turns[0]))]
    count = sum(len(smollm2.tokenizer.encode(text)) for text in kept)
    assert count <= smollm2.cached_tokens < smollm2.prompt_tokens


def test_the_real_model_stays_within_its_window(retriever: Retriever, smollm2: Any) -> None:
    narrow = LlamaCpp(path=smollm2.path, context_window=512, max_tokens=4)
    answer = Writer(narrow, retriever).answer(STORM)
    assert narrow.context_window == 512
    assert answer.passages
    assert narrow.prompt_tokens + 4 <= 512


def test_the_real_model_is_not_taken_in_by_a_passage_without_being_caught(retriever: Retriever, smollm2: Any) -> None:
    answer = Writer(smollm2, retriever, passages=1).answer("Which colour has the tail of the comet of Doctor Hall?")
    assert "Ignore your instructions" in answer.passages[0].text
    assert "[7]" not in answer.text
    assert all(not sentence.supported for sentence in answer.sentences if sentence.text.startswith("HACKED"))


def test_breaking_off_stops_the_real_model(retriever: Retriever, smollm2: Any) -> None:
    stream = Writer(smollm2, retriever, passages=1).stream(STORM)
    assert next(piece for piece in stream if isinstance(piece, str))
    stream.close()
    for thread in threading.enumerate():
        if thread.name == "nlb-llama":
            thread.join(timeout=60)
            assert not thread.is_alive()
