"""What an option, a setting, a version or a code is, by its own entry of a manual."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from nlb_retriever import Retriever, book_from_text, index_books
from nlb_retriever.search.answers.manual_entries import put_entries_first
from nlb_retriever.search.request import SearchRequest

SETTINGS = """\
Settings of the lamp

Each of these is a line in the file of settings. MAX_GLOW and its default are often changed, MIN_GLOW is not.

LAMP_NAME

    The name of the lamp, as the list of lamps shows it.

    Default: Beacon

LAMP_PORT

    Where the lamp listens for orders from the harbour.

    Default: 4417

MAX_GLOW

    How bright the lamp may be in the hours of the night, in parts of a hundred.

    Default: 73

DeckLight

    How many lamps burn on the deck.

    Default: 12
"""
OPTIONS = """\
NAME
       lamp - turn a lamp on and off

OPTIONS
       --dry-run, -n
              Shows what the lamp would do, and leaves it dark. The option --quick works beside this option, too, and
              what this option does is shown in the log, where each option that works has a line.

       --quick
              Skips the check of the oil before the wick is lit.

       --slow
              This option waits for the keeper at each step.

EXIT VALUES
       o      11 - The oil is spilt
       o      23 - The wick is wet
"""
CHANGES = """\
Version 2.1.3
-------------

Released 2021-03-04

-   The wick is trimmed at noon.

Version 2.1
-----------

Released 2019-11-30

-   Lamps burn longer.

Version 2.0
-----------

Released 2018-05-06

-   The first lamp with two wicks.
"""


@pytest.fixture(scope="module")
def retriever(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Retriever]:
    library: Path = tmp_path_factory.mktemp("manuals") / "library"
    texts = {"Settings": SETTINGS, "lamp(1)": OPTIONS, "Changes": CHANGES}
    index_books([book_from_text(text, title=title, source=title) for title, text in texts.items()], library=library)
    with Retriever(library) as opened:
        yield opened


@pytest.mark.parametrize(
    ("question", "short", "quote"),
    [
        ("What is the default of LAMP_NAME?", "Beacon", "Default: Beacon"),
        ("What is the default of MAX_GLOW?", "73", "Default: 73"),
        ("What is the default of DeckLight?", "12", "Default: 12"),
        ("What does the --quick option do?", "Skips the check of the oil", "Skips the check"),
        ("What does exit code 23 mean?", "wick is wet", "23 - The wick is wet"),
        ("When was Lamp 2.1 released?", "2019-11-30", "Released 2019-11-30"),
    ],
)
def test_the_entry_that_a_question_names_answers_first(
    retriever: Retriever, question: str, short: str, quote: str
) -> None:
    answer = retriever.answer(question)
    assert short in (answer.short or "")
    assert quote in answer.citations[0].quote
    for citation in answer.citations:
        text = retriever.store.book_text(citation.hit.book_id)
        assert text[citation.quote_start : citation.quote_end] == citation.quote
        assert text[citation.hit.start : citation.hit.end] == citation.hit.text


@pytest.mark.parametrize(
    "question", ["Who is Captain McWick?", "Who is DeWick?", "The keeper lost his ____ when?", "What is oil?"]
)
def test_a_question_that_names_nothing_of_a_program_reads_no_entries(retriever: Retriever, question: str) -> None:
    result = retriever.run(SearchRequest(query=question, rerank=True))
    assert put_entries_first(result, retriever.store, retriever.reader) is result
