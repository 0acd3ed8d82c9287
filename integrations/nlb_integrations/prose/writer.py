"""A question to a checked answer in prose."""

from __future__ import annotations

import asyncio
import re
from collections.abc import Callable, Generator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from contextvars import copy_context
from dataclasses import replace
from functools import partial
from json import JSONDecodeError
from pathlib import Path
from threading import Event
from typing import Any, TypeVar

from llama_index.core.llms import LLM, ChatMessage, ChatResponse

from nlb_integrations.conventions import as_retriever
from nlb_integrations.prose.budget import answer_room, counter_of, fit
from nlb_integrations.prose.citations import Checker
from nlb_integrations.prose.pieces import ModelText
from nlb_integrations.prose.prompt import messages
from nlb_integrations.prose.records import Prose, ProseSentence, recorded
from nlb_integrations.prose.secrets import hide_secrets
from nlb_retriever.errors import LanguageModelError, NlbError, brief
from nlb_retriever.records import Answer, Hit
from nlb_retriever.search.answers.narrowing import narrow_to_part
from nlb_retriever.search.answers.order import narrow
from nlb_retriever.search.answers.quotes import NOT_FOUND
from nlb_retriever.search.courtesy import bare_question
from nlb_retriever.search.request import SearchRequest
from nlb_retriever.search.retriever import Retriever
from nlb_retriever.store import Filter
from nlb_retriever.text.cleaning import clean_query

PASSAGES = 5
"""In the prompt, at most."""
_MARGIN = 16
"""Error of counting tokens part by part, at most."""
_LONGEST_TOKEN = 8
"""Characters; a model that writes more than its room of these is stopped."""

_TOO_MANY = 429
"""The status by which a server refuses for now."""
_REFUSED = {401, 403}
"""Those by which it refuses a key."""

_T = TypeVar("_T")
StreamItem = str | ProseSentence | Prose
"""Text as it is written; after each sentence its record; last the whole answer."""


class Writer:
    """Answers questions from a library with a language model, and checks what it writes.

    Args:
        llm: any of LlamaIndex's.
        retriever: of the library; or its folder, name or server URL.
        passages: at most so many are in the prompt, the best first.

    Raises:
        LanguageModelError: `llm` is none.
        StoreError: `retriever` is none, nor a library.
    """

    def __init__(self, llm: LLM, retriever: Retriever | str | Path, *, passages: int = PASSAGES) -> None:
        if not isinstance(llm, LLM):
            raise LanguageModelError(f"llm must be one of LlamaIndex's, as open_llm makes, not {brief(llm)}")
        self.llm = llm
        self.retriever = as_retriever(retriever)
        self.passages = passages
        # Not the event loop's own: models that are waited for would block all that uses those.
        self._threads = ThreadPoolExecutor(thread_name_prefix="nlb-writer")

    def __reduce__(self) -> tuple[Callable[..., Writer], tuple[LLM, Retriever]]:
        """A copy, also in another process, has threads of its own."""
        return partial(Writer, passages=self.passages), (self.llm, self.retriever)

    def answer(self, question: str, **options: Any) -> Prose:
        """The whole answer at once: takes and raises what `stream` does."""
        return self._write(question, options, Event())

    async def aanswer(self, question: str, **options: Any) -> Prose:
        """`answer` without blocking the event loop; if it is cancelled, the model is stopped at its next words."""
        stop = Event()
        write = partial(copy_context().run, self._write, question, options, stop)
        try:
            return await asyncio.get_running_loop().run_in_executor(self._threads, write)
        finally:
            stop.set()

    def _write(self, question: str, options: dict[str, Any], stop: Event) -> Prose:
        with closing(self.stream(question, **options)) as items:
            for item in items:
                if isinstance(item, Prose):
                    return item
                if stop.is_set():
                    raise LanguageModelError("the answer was cancelled")
        raise AssertionError("a stream ends with the whole answer")

    def stream(
        self,
        question: str,
        *,
        history: Sequence[Answer] = (),
        query: str | None = None,
        book: str | Path | None = None,
        section: int | str | None = None,
        where: Filter | None = None,
        before: int | str | None = None,
    ) -> Generator[StreamItem, None, None]:
        """Answer while the model writes.

        Args:
            question: to answer.
            history: earlier turns, the oldest first; the model sees as many of the newest as fit.
            query: what to search the library for instead of the question.
            book, section, where, before: the part of the library to search, as in `Retriever.answer`.

        Yields:
            Text as it is written, without the model's citations; after each sentence its `ProseSentence`, with the
            citations that hold; last the `Prose`. Thoughts that begin without a mark are yielded, too, and are not in
            the `Prose`.

        Raises:
            LanguageModelError: the model cannot be reached, is too slow, fails or writes nothing.
            QueryError: the question is empty, names what is not there, or does not fit the model's window.
            LibraryNotFound, StoreError, EncoderError: see `Retriever.search`.
        """
        query = query or question
        request = SearchRequest(
            query=bare_question(clean_query(query)),
            limit=self.passages,
            book=book,
            section=section,
            before=before,
            where=where,
            rerank=self.retriever.has_reader,
            relevant_only=True,
        )
        found = self.retriever.find_record(request)
        if found and found.shorts:  # a number, a title: no passage says it
            answer = recorded(replace(found, question=question), query)
            for number, sentence in enumerate(answer.sentences):
                yield f"{'; ' if number else ''}{sentence.text}"
                yield sentence
            yield answer
            return
        if found is None:  # all of a chapter, or what a question looks for without its frame
            request = narrow(request, self.retriever.store)
            found = self.retriever.find_place(request)
        if found is None:
            result = self.retriever.run(narrow_to_part(request, self.retriever.store))
            hits, searched, missing = result.hits, result.searched, NOT_FOUND
        else:
            hits = tuple({each.hit.id: each.hit for each in found.citations}.values())
            searched, missing = found.searched, found.text
        if not hits:
            yield missing
            yield Prose(question=question, found=False, text=missing, query=query, searched=searched)
            return
        metadata = self._call(lambda: self.llm.metadata)
        name = metadata.model_name
        room = self._call(lambda: answer_room(self.llm))
        count = counter_of(self.llm)
        fitted = self._call(
            lambda: fit(question, hits, history, room=metadata.context_window - room - _MARGIN, count=count)
        )
        checker = Checker(question, fitted.hits)
        with closing(self._responses(messages(question, fitted.hits, fitted.history))) as responses:
            text = ModelText(responses, room * _LONGEST_TOKEN)
            for piece in text:
                if piece is None:
                    yield "\n\n" if checker.text else ""
                    checker = Checker(question, fitted.hits)
                    continue
                yield from checker.feed(piece)
                if checker.repeats:
                    break
        yield from checker.close(cut_off=text.cut_off)
        if not checker.sentences:
            if not text.came:
                raise LanguageModelError(
                    f"{name} sent no answer that can be read: check its URL, and that it streams its answers"
                )
            if text.cut_off:
                raise LanguageModelError(
                    f"{name} used up its {room} tokens before it answered: if it thinks first, turn that off, or take "
                    "another model"
                )
            raise LanguageModelError(
                f"{name} wrote nothing: ask again, take another model, or ask without --llm for the books' own words"
            )
        yield replace(_prose(question, query, checker, name, fitted.hits), searched=searched)

    def _responses(self, prompt: Sequence[ChatMessage]) -> Generator[ChatResponse, None, None]:
        """What the model sends."""
        stream = self._call(lambda: self.llm.stream_chat(prompt))
        begun = False
        try:
            while (response := self._call(lambda: next(stream, None), begun=begun)) is not None:
                yield response
                begun = True
        finally:
            stream.close()

    def _call(self, call: Callable[[], _T], *, begun: bool = False) -> _T:
        """Call the model, which may have begun its answer.

        Raises:
            LanguageModelError: it fails, in whatever way its client fails.
        """
        try:
            return call()
        except NlbError:
            raise
        except Exception as error:
            raise _failed(self.llm, error, begun=begun) from error


def _prose(question: str, query: str, checker: Checker, model: str, hits: Sequence[Hit]) -> Prose:
    supported = any(sentence.citations for sentence in checker.sentences)
    return Prose(
        question=question,
        found=supported or not checker.declined,
        text=checker.text,
        citations=tuple(checker.citations),
        sentences=tuple(checker.sentences),
        model=model,
        query=query,
        passages=tuple(hits),
        forged=tuple(checker.forged),
    )


def _failed(llm: LLM, error: Exception, *, begun: bool) -> LanguageModelError:
    """A model's failure and its remedy, by the name of its error: no client's classes are known here."""
    url = getattr(llm, "api_base", None) or getattr(llm, "base_url", None)
    name = hide_secrets(f"{getattr(llm, 'model', None) or type(llm).__name__}{f' at {url}' if url else ''}")
    kind, message = type(error).__name__, hide_secrets(" ".join(str(error).split()))[:300]
    words = f"{kind} {message}".lower()
    if "<html" in words:
        message = " ".join(re.sub("<[^<>]*>?", " ", message).split())
    if "timeout" in words or "timed out" in words:
        return LanguageModelError(f"{name} did not answer in time: ask again, or take a smaller model")
    if "ratelimit" in words or getattr(error, "status_code", None) == _TOO_MANY:
        return LanguageModelError(
            f"{name} takes no more questions ({_TOO_MANY}): wait and ask again, or raise its quota"
        )
    if getattr(error, "status_code", None) in _REFUSED and hasattr(llm, "api_base"):
        return LanguageModelError(f"{name} refuses the key: set OPENAI_API_KEY ({message})")
    if "<html" in words:
        return LanguageModelError(f"{name} answers with a web page, {message!r}: check its URL")
    if isinstance(error, TypeError | AttributeError | LookupError | JSONDecodeError):
        return LanguageModelError(f"{name} sent no answer that can be read: check its URL ({kind}: {message})")
    if "protocol" in kind.lower() or (begun and "connect" in words):
        return LanguageModelError(f"{name} broke off its answer: ask again")
    if "connect" in words:
        return LanguageModelError(f"{name} cannot be reached: start the server, or name another model with --llm")
    return LanguageModelError(f"{name} failed: {message or kind}")
