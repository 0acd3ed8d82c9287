"""Which sentences of a passage are quoted."""

from __future__ import annotations

from dataclasses import replace

import pytest

from nlb_cli.output.hits import answer_lines
from nlb_retriever.records import Answer, Hit
from nlb_retriever.search.answers.quotes import Quote, choose_quotes, cite, is_code, is_prose, join_quotes
from nlb_retriever.text.sentences import sentence_spans

LONG = "The keeper of the lamp walked slowly along the narrow stair and looked towards"


def hit_of(text: str) -> Hit:
    title = "The Manual; or, What to Do"
    return Hit(level="passage", id="1", book_id="2", title=title, author=None, source="", section=("Extras",),
               section_id=None, start=0, end=len(text), page=None, score=1.0, text=text, metadata={})  # fmt: skip


@pytest.mark.parametrize(
    "text",
    [
        "llm  ask --llm, chat\nmcp  nlb mcp\neval  nlb eval",
        "passages  2,619 steps  1.2e-4\nbooks  667 steps  2e-4, stopped early.",
        "room  does  may import",
        "extra  for",
        "Extras",
        "THE MANUAL.",
        "Or, What to Do",
        "One\nTwo\nThree\nFour",
        "The Mill\nThe Mill by Night\nThe Miller Rides over the River\nThe Mill Burns",
        "הטחנה\nהטחנה בלילה\nהטוחן רוכב\nסוף",
        "Emma  Jane Austen\nDracula  Bram Stoker",
        "All rights reserved.",
        "_Letter, Lucy Westenra to Mina Murray._",
        "_4 May_.",
        "1.3.1.",
        "The Ogg page format  . . . . . . . . . . . . . . . . .",
        "6. The Ogg page format  . . . . . . . .  8",
        "13 3.4 Meeting Minimum Requirements . . . . . . . . 9",
        "Section 1.20 [appoggiatura], page 6, Section 1.146 [grace notes], page 36.",
        "ES: acento, I: accento, F: accent, D: Akzent.",
    ],
)
def test_tables_headings_lists_and_licences_are_no_sentences(text: str) -> None:
    assert not is_prose(hit_of(text), 0, len(text))


@pytest.mark.parametrize(
    "text",
    [
        "The keeper  trimmed the lamp and went to bed.",
        "Mr.  Wick rowed across the river,  and sang",
        "He rowed across\nthe river in a  green boat\nand did not row on Sundays.",
        "Nobody thanked him",
        "200 ml double cream\n1 shallot\n2 tablespoons of mustard\na pinch of salt",
        "Price: 89 euros\nMaterial: canvas\nWeight: 7 kg\nMade in: Italy",
        "O lamp that burned in the long night\nO keeper of the lamp\nO harbour of the south\nYou wait for me",
        "-e  Stops at the first error\n-u NAME  Sends NAME as the user\n-v  Prints all that is done.",
        "  -n   Shows what would be copied",
        "The keeper trimmed the lamp (see Section 3.4 [Lamps], page 9).",
        "He waited ..... and went.",
        "_Nobody_ thanked the keeper.",
        "_The keeper said that the lamp had burnt all night, and that nobody had thanked him for it._",
    ],
)
def test_prose_with_wide_spaces_or_italics_is_quoted(text: str) -> None:
    assert is_prose(hit_of(text), 0, len(text))


def test_what_stands_in_a_list_of_references_is_not_quoted() -> None:
    text = "Ann A (1901). A study of the tides of the harbour and of those who sail on them."
    assert is_prose(hit_of(text), 0, len(text))
    contents = ("CONTENTS.", "Table of Contents", "Contents of Volume II", "List of Illustrations")
    for title in ("References", "8. References", "Bibliography", "WORKS CITED", *contents):
        assert not is_prose(replace(hit_of(text), section=("Extras", title)), 0, len(text))
    for section in (("References", "Letters"), ("The Contents of the Box",)):
        assert is_prose(replace(hit_of(text), section=section), 0, len(text))


@pytest.mark.parametrize("prompt", ["R>", ">>>", "sqlite>", "In [12]:"])
def test_what_is_typed_at_a_prompt_is_code(prompt: str) -> None:
    text = f"A reason for that is that {prompt} summary of all tides"
    assert is_code(hit_of(text), 0, len(text))
    assert not is_code(hit_of("x>y is a reason"), 0, 15)


def test_a_sentence_in_italics_within_a_paragraph_is_quoted() -> None:
    letter, inside = "_Letter, Ada to Boris._", "_Do not come!_"
    text = f"He read it aloud.\n\n{letter}\n\n{inside} she wrote."
    assert not is_prose(hit_of(text), text.index(letter), text.index(letter) + len(letter))
    assert is_prose(hit_of(text), text.index(inside), text.index(inside) + len(inside))


CONTENTS = """Contents

 I. THE KEY TO THE GARDEN
 II. THE ROBIN WHO SHOWED THE WAY
 III. “I AM COLIN”

CHAPTER 1. Loomings.

CHAPTER 2. The Carpet-Bag.

All this has happened before.

BOOK I

When she was sent to the manor, everybody said that she was disagreeable.

1. Boil the water.
2. Add the tea.

LOST: ONE DOG"""


@pytest.mark.parametrize(
    ("text", "quoted"),
    [
        ("THE ROBIN WHO SHOWED THE WAY", False),
        ("I. THE KEY TO THE GARDEN\n II. THE ROBIN WHO SHOWED THE WAY\n III.", False),
        ("“I AM COLIN”", False),
        ("Loomings.", False),
        ("CHAPTER 2. The Carpet-Bag.", False),
        ("LOST: ONE DOG", False),
        ("BOOK I\n\nWhen she was sent to the manor, everybody said that she was disagreeable.", True),
        ("When she was sent to the manor, everybody said that she was disagreeable.", True),
        ("Boil the water.", True),
        ("Add the tea.", True),
    ],
)
def test_entries_of_a_table_of_contents_are_not_quoted(text: str, quoted: bool) -> None:
    start = CONTENTS.index(text)
    assert is_prose(hit_of(CONTENTS), start, start + len(text)) is quoted


def test_what_has_a_rule_is_not_quoted() -> None:
    text = "-----------\n$ clock wind\n-----------\n\nIt winds the clock, as the --- of the manual says."
    assert not is_prose(hit_of(text), 0, text.index("\n\n"))
    assert is_prose(hit_of(text), text.index("It winds"), len(text))


LISTED = (
    "3.1.9. What happens when it ends?\n3.1.10. I have a clock\n  that strikes. Who winds it?\n3.2. Bells\n3.3. Hands\n"
    "\n4.1 The tenant winds the clock.\n4.2 The landlord pays for it;\n\n1.1. Bells\n\nThe bells are of bronze."
)


@pytest.mark.parametrize(
    ("text", "quoted"),
    [
        ("3.1.10. I have a clock\n  that strikes.", False),
        ("3.2. Bells", False),
        ("4.1 The tenant winds the clock.", True),
        ("4.2 The landlord pays for it;", True),
        ("The bells are of bronze.", True),
    ],
)
def test_numbered_titles_of_a_table_of_contents_are_not_quoted(text: str, quoted: bool) -> None:
    start = LISTED.index(text)
    assert is_prose(hit_of(LISTED), start, start + len(text)) is quoted


@pytest.mark.parametrize(
    ("text", "code"),
    [
        ("let value = Rc::new(RefCell::new(5));", True),
        ("Type: <string> | <Object>", True),
        ("const server = http.createServer((req, res) => { res.end('okay'); });", True),
        ("Instead, it has the type Result<T, E> for errors, and panic! stops.", False),
        ("Calling process.exit(code) overrides process.exitCode; it is final.", False),
        ("=Acid=, =base=: names of =opposite= things in chemistry.", False),
        ("Hence |a - b| <= |a| + |b| for all a.", False),
        ("See https://a.b/c?d=e&f=g and http://x.y//z?a=b for it.", False),
        ("The force is F = ma = (2 kg)(3 m/s²) = 6 N.", False),
    ],
)
def test_code_is_told_from_prose(text: str, code: bool) -> None:
    assert is_code(hit_of(text), 0, len(text)) == code


def test_the_name_before_a_speech_is_not_quoted() -> None:
    text = "Kent. I thought the king was kind. He.\nGlo. It did so.\nKent. Silence."
    assert not is_prose(hit_of(text), 0, 5)
    assert is_prose(hit_of(text), 6, 34)
    assert is_prose(hit_of(text), 35, 38)
    assert is_prose(hit_of("London. Michaelmas Term lately over."), 0, 7)
    assert is_prose(hit_of("He saw it.\nKent.\nIt rained."), 11, 16)


def test_a_sentence_is_quoted_once_a_book() -> None:
    hits = [hit_of("The keeper trimmed the lamp\nat night."), hit_of("The keeper trimmed the lamp at night.")]
    quotes = [Quote(hit=index, order=0, start=0, end=len(hit.text)) for index, hit in enumerate(hits)]
    assert choose_quotes(hits, quotes, None) == quotes[:1]
    assert choose_quotes([hits[0], replace(hits[1], book_id="3", title="Another")], quotes, None) == quotes


def test_a_sentence_of_two_copies_is_quoted_once() -> None:
    text = "“The keeper trimmed the lamp at night and slept until the morning.”"
    hits = [hit_of(text), replace(hit_of(f"_{text[1:-1]}_"), book_id="3")]
    quotes = [Quote(hit=index, order=0, start=0, end=len(text)) for index in (0, 1)]
    assert choose_quotes(hits, quotes, None) == quotes[:1]


def test_sentences_without_spaces_have_words() -> None:
    text = "老渔夫住在海边的小屋里。灯塔的灯是他父亲点的。好。" + "他每天早上都去看灯塔" * 20 + "。"
    spans = [(start, end) for start, end in sentence_spans(text)]
    quotes = [Quote(hit=0, order=order, start=start, end=end) for order, (start, end) in enumerate(spans)]
    assert choose_quotes([hit_of(text)], quotes, None) == quotes[:2]  # the third is too short, the last too long


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        (LONG, f"{LONG} …"),
        (f"and {LONG}.", f"… and {LONG}."),
        (f"{LONG}.\nA list of lamps", f"{LONG}. A list of lamps"),
        ("of brass\nand of tin", "of brass and of tin"),
    ],
)
def test_a_quote_that_its_passage_cuts_says_so(text: str, shown: str) -> None:
    (citation,) = cite([hit_of(text)], [Quote(hit=0, order=0, start=0, end=len(text))])
    assert join_quotes([citation]) == shown
    assert citation.quote == text


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("The lamp burned.", "“The lamp burned.”"),
        ("“The lamp burned,” he said.", "“The lamp burned,” he said."),
        ("The lamp burned.”", "“The lamp burned.”"),
        ("“The lamp burned.", "“The lamp burned.”"),
        (LONG, f"“{LONG} …”"),
    ],
)
def test_a_quote_is_shown_between_its_marks(text: str, shown: str) -> None:
    citations = cite([hit_of(text)], [Quote(hit=0, order=0, start=0, end=len(text))])
    answer = Answer(question="x", found=True, text=text, citations=citations)
    *_, last = answer_lines(answer, None, styled=False)
    assert "".join(span[0] for span in last.spans) == shown


def test_of_a_synopsis_the_item_that_answers_is_quoted() -> None:
    text = 'Departure.--A storm.--The mate is lost.--"The Gannet" sinks.--We reach Dunmore.--A supper and a toast.'
    answers = [(text.index(words), text.index(words) + len(words)) for words in ("Gannet", "Dunmore")]
    quotes = [Quote(hit=0, order=0, start=0, end=len(text), answer=answer) for answer in answers]
    [citation] = cite([hit_of(text)], choose_quotes([hit_of(text)], quotes, None))
    assert citation.quote == '"The Gannet" sinks.'
    longer = f"{text} Nobody thanked the keeper of the lamp."
    after = Quote(hit=0, order=1, start=len(text) + 1, end=len(longer))
    both = cite([hit_of(longer)], choose_quotes([hit_of(longer)], [quotes[0], after], None))
    assert [each.quote for each in both] == ['"The Gannet" sinks.', "Nobody thanked the keeper of the lamp."]
    few = text[: text.index("--We")]
    [citation] = cite([hit_of(few)], choose_quotes([hit_of(few)], [replace(quotes[0], end=len(few))], None))
    assert citation.quote == few
