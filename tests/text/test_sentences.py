from __future__ import annotations

import time

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from nlb_retriever.text.sentences import sentence_spans


def sentences(text: str) -> list[str]:
    return [text[start:end] for start, end in sentence_spans(text)]


@pytest.mark.parametrize(
    "expected",
    [
        ["He went.", "She stayed!", "Why?", "No one knew."],
        ["“He went.”", "She stayed.", "“Did she?!”", "“No…”", "Nothing more."],
        ['"Are you mad?" said he.', '"I am."', "'Tis so."],
        ["Mr. and Mrs. Bennet met Dr. J. R. Watson in St. James's.", "It rained."],
        ["SELBORNE, _Jan. 22nd_: _Mr. Wick_ and _J. Reed_ read _No. 5_.", "_It_ rained."],
        ["See No. 5, vol. 2, p. 17, i.e. the U.S. edition of Prof. Tolkien.", "No.", "He would not."],
        ["It cost 3.14 pounds, v. the 2.50 of old.", "Cheap!"],
        ["Oh! dear me.", "Well . . . perhaps.", "He left...", "The door shut."],
        ["_Never!_", "(He wept.)", "[Exit.]", "—And then?"],
        ["It was I.", "You knew."],
        ["1. The first thing.", "2. The second thing.", "IV. The fourth."],
        ["Он ушёл.", "Она осталась.", "«Почему?» спросил он."],
        ["सच है।", "झूठ है।"],
        ["« Viens ! » dit-il.", "« Non ! »", "Elle partit.", "« Pourquoi ? », dit-elle."],
        ["— Иди! — сказал он.", "— Нет.", "«Иди!» — сказал он.", "— Idź! – powiedział."],
        ["Τι θέλεις;", "Τίποτε!", "«Πόσο;» ρώτησε· είπε.", "«Γιατί;»", "Έφυγε."],
        [
            "Das 3. Buch lag da.",
            "Er kam im 2. Jahr, d. h. Freitag, vgl. Abb. 3.",
            "»Warum?« fragte er.",
            "»Nein.«",
            "„Ja!“",
            "»Weil ich den 1. Zug nahm.«",
        ],
        ["O Sr. Silva viu o sig. Rossi e MM. Durand.", "El Sr. Linares rió."],
        ["Am 24. Dezember kam Frl. Bürstner.", "Er las z. B. Goethe.", "Das war im 19. Jahrhundert."],
        ["El hijo del Sr. Pérez habló con la Sra. López.", "Llovía."],
        ["А. С. Пушкин жил на ул. Садовой.", "Князь Н. Болконский вошёл.", "Ο κ. Παπαδόπουλος ήρθε."],
        ["He was 24.", "Der Dezember kam.", "John Smith, Sr.", "He left."],
        ["The mill (c. 1300) burned (Wick et al. 2011).", "Orme et al. (2014) doubt it.", "See Eq. 5 and Ps. 31:5."],
        [
            "The mill burned.[12]",
            "It was rebuilt.[note 3][4]",
            "“Who paid?”[b]",
            "Nobody knows.[citation needed]",
            "So.",
        ],
        ["The keeper slept.[5]:12", "The lamp burned.:43, 301", "He said: [Exit.]", "He read x[0] and left."],
    ],
)
def test_sentences_are_found_as_a_reader_would(expected: list[str]) -> None:
    assert sentences(" ".join(expected)) == expected


def test_chinese_and_japanese_need_no_spaces() -> None:
    expected = [
        "他走了。",
        "她说：「为什么？」",
        "没人知道！",
        "「行こう。」と言った。",
        "「なぜ？」",
        "彼女は聞いた。",
        "完",
    ]
    assert sentences("".join(expected)) == expected


def test_a_blank_line_is_always_a_border() -> None:
    text = "CHAPTER I\n\nthe Loomings of Mr.\n \t\nAnd then  \r\n\r\nthe end"
    assert sentences(text) == ["CHAPTER I", "the Loomings of Mr.", "And then", "the end"]


def test_verse_without_stops_is_one_sentence() -> None:
    text = "Of Man's first disobedience,\nand the fruit\nOf that forbidden tree"
    assert sentences(text) == [text]


def test_numbered_items_without_stops_are_sentences() -> None:
    items = ["1. Boots stay in the hall", "2. Wood is brought in before dark", " (3.) The last one puts out the lamp"]
    assert sentences("\n".join(items)) == [item.strip() for item in items]
    assert sentences("He was born in\n24. He died.") == ["He was born in", "24. He died."]
    assert sentences("He counted to\n24.\nThen he slept.") == ["He counted to\n24.", "Then he slept."]
    assert sentences("He counted to 24. Then he slept.") == ["He counted to 24.", "Then he slept."]


@pytest.mark.parametrize(
    "time", ["12:04 ", "[12:04] ", "2024-03-01 12:04:31 ", "12/03/2021, 18:20 - ", " [1.2.24, 8:20:33] "]
)
def test_lines_that_begin_with_a_time_are_sentences(time: str) -> None:
    lines = [f"{time}<ann> Who brings the tent?", f"{time}<ben> I do. The green one", f"{time}<cleo> I bring the stove"]
    spoken = [lines[0], f"{time}<ben> I do.", "The green one", lines[2]]
    assert sentences("\n".join(lines)) == [line.strip() for line in spoken]
    assert sentences(f"He came at\n{time}and left") == [f"He came at\n{time}and left"]


def test_only_the_given_span_is_cut() -> None:
    text = "One. Two.  Three. Four."
    assert [text[a:b] for a, b in sentence_spans(text, 5, 17)] == ["Two.", "Three."]
    assert sentence_spans(text, 9, 11) == []
    assert sentence_spans("") == []


@settings(deadline=None)
@given(st.text(alphabet=st.one_of(st.sampled_from('aB1 .!?…\n\t"”’(_。」'), st.characters())))
def test_sentences_cover_all_text_in_order(text: str) -> None:
    at = 0
    for start, end in sentence_spans(text):
        assert start < end and text[start:end] == text[start:end].strip()
        assert not text[at:start].strip()
        at = end
    assert not text[at:].strip()


@pytest.mark.parametrize(
    "unit",
    [
        "a",
        ".",
        '."',
        ". ",
        " ",
        "\n",
        "\n ",
        "。",
        "。. ",
        "(",
        "a. (",
        "?” ",
        "I. ",
        "No. 5 ",
        "— ",
        "\n2. A ",
        "\n12:04",
        "\n1-1-1",
        "[.]",
        ".[1]",
    ],
)
def test_hostile_repetition_takes_linear_time(unit: str) -> None:
    began = time.process_time()
    for text in (unit * (400_000 // len(unit)) + "x", "x." + unit * (400_000 // len(unit))):
        sentence_spans(text)
    assert time.process_time() - began < 5  # quadratic would be many minutes
