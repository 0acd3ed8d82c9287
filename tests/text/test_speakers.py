"""Who speaks in a play."""

from __future__ import annotations

import pytest

from nlb_retriever.text.characters import find_characters
from nlb_retriever.text.speakers import LEAST_SPEECHES, find_speeches, has_label

FORMS = {
    "lines of their own": "{capitals}.\n{speech}\n\n",
    "lines of their own without a stop": "{capitals}\n{speech}\n\n",
    "before the speech": "{capitals}. {speech}\n\n",
    "with a colon": "{capitals}: {speech}\n\n",
    "with a stage direction": "{capitals} [aside] {speech}\n\n",
    "in italics": "_{name}_. {speech}\n\n",
}


def play(form: str, times: int = LEAST_SPEECHES) -> str:
    speakers = [("Anna", "I saw it."), ("Mrs. Berg", "I? MY house!"), ("The Old Man", "O God.")]
    return "ACT I\n\n" + "".join(
        form.format(capitals=name.upper(), name=name, speech=speech) for name, speech in speakers * times
    )


@pytest.mark.parametrize("form", FORMS.values(), ids=FORMS)
def test_speakers_are_named_where_they_begin(form: str) -> None:
    text = play(form)
    speeches = find_speeches(["A garden.", text])
    assert [speech.speaker for speech in speeches] == ["Anna", "Mrs. Berg", "The Old Man"] * LEAST_SPEECHES
    assert {speech.text for speech in speeches} == {1}
    assert text[speeches[1].start :].lstrip().removeprefix("aside] ").startswith("I? MY house!")


def test_who_speaks_most_often_comes_first() -> None:
    text = play(FORMS["before the speech"]) + "MRS. BERG. No.\n\n" * 2 + "ANNA. Yes.\n\n"
    found = find_characters([text], 2)
    assert [(each.name, each.deeds) for each in found] == [("Mrs. Berg", 7), ("Anna", 6)]


def test_names_that_are_cut_short_are_written_out() -> None:
    lines = [
        "Enter Cordelia and Cornwall, Leonato and Mrs. Alving.",
        "Fear not, Cordelia.",
        "Cordelia, Leonato and Cornwall.",
    ]
    speeches = ["Cor. Nothing.", "Corn. Bind him.", "Leon. Ay.", "Leonato. Good.", "Mrs. Alving. Oswald!"]
    names = ["Cordelia", "Cornwall", "Leonato", "Leonato", "Mrs. Alving"]
    text = "\n\n".join([*lines, "Cornwall, Cordelia and Leonato.", *(speeches + speeches[::-1]) * LEAST_SPEECHES])
    assert [speech.speaker for speech in find_speeches([text])] == (names + names[::-1]) * LEAST_SPEECHES


@pytest.mark.parametrize(
    "form",
    [
        "{name}: {speech}\n\n",
        "[00:12:03] {name}: {speech}\n\n",
        "{name} (Chair):\n{speech}\n\n",
        "{name}  0:12\n{speech}\n\n",
        "{name} (00:12):\n{speech}\n\n",
        "1:02:03 - {name}: {speech}\n\n",
    ],
)
def test_speakers_of_a_transcript_are_named(form: str) -> None:
    names = ["Ada Penwick", "Speaker 2", "Audience member", "Ada Penwick", "Speaker 2"]
    text = "The Lamp\n\n" + "".join(form.format(name=name, speech="We keep the lamp: always.") for name in names)
    speeches = find_speeches([text])
    assert [speech.speaker for speech in speeches] == names
    assert text[speeches[1].start :].lstrip().startswith("We keep the lamp")
    assert text[speeches[1].label :].startswith(form.partition("{speech}")[0].format(name="Speaker 2").rstrip("\n"))
    assert has_label(text)
    assert not find_speeches([text, "It was dark, and nobody spoke. " * 500])


def test_cuts_of_a_screenplay_are_no_speakers() -> None:
    scene = "NELL\nGet out.\n\nBEN (O.S.)\nI am out.\n\nPIKE\nName?\n\nCUT TO:\n\nFADE OUT.\n\n"
    assert {speech.speaker for speech in find_speeches([scene * LEAST_SPEECHES])} == {"Nell", "Ben", "Pike"}


@pytest.mark.parametrize(
    "text",
    [
        "Mr. Reed came in.\n\nDr. Berg went out.\n\nFig. 3 shows it.\n\nNo. 7 is lost.\n\n" * 30,
        "Nest. In trees.\n\nEggs. Four.\n\nRange. Wide.\n\nFood. Flies.\n\n" * 30,
        play(FORMS["before the speech"], LEAST_SPEECHES - 1),
        play(FORMS["before the speech"]) + "The garden was dark, and nobody spoke in it any more. " * 500,
        "".join(f"{number}\n\nWhat is said here is in prose.\n\n" for number in ("I", "II", "XIV", "CHAPTER V")) * 9,
        "ANNA. Yes.\n\nOTTO. No.\n\n" * 30,
        "Present: Ann, Otto.\n\nApologies: Eve.\n\n" + "Action: Ann mends it.\n\nNote: By May.\n\n" * 9,
        "_Enter Anna._ She waits.\n\n_Exit Otto._ He weeps.\n\n_Exeunt both._ It rains.\n\n" * 30,
    ],
    ids=["titles", "entries", "a few speeches", "mostly prose", "numbers", "two names", "minutes", "directions"],
)
def test_other_texts_have_no_speakers(text: str) -> None:
    assert find_speeches([text]) == []
