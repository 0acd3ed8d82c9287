"""Title lines without numbers: short pieces are sections, stage directions and mere lines are not."""

from __future__ import annotations

import pytest

from nlb_retriever.reading.headings.outline import find_headings

NAMES = [f"{thing} and the {other}" for thing in ("Clock", "Bell", "Stair") for other in ("Door", "Hall", "Cat", "Owl")]
POEM = "The clock has struck upon the stair,\nand nobody has counted it;\n\n" * 4


def pieces(titles: list[str], text: str = POEM) -> str:
    return "THE OLD HOUSE\n\n" + "\n\n".join(f"{title}\n\n{text}" for title in titles)


def titles(text: str) -> list[str]:
    return [heading.title for heading in find_headings(text)]


@pytest.mark.parametrize(
    "names",
    [NAMES, [name.upper() for name in NAMES], [f"Tuesday, {day} March 1665" for day in range(1, 20)]],
    ids=["title-case", "capitals", "dates"],
)
def test_short_pieces_are_sections(names: list[str]) -> None:
    assert titles(pieces(names)) == names


@pytest.mark.parametrize(
    "text",
    [
        pieces(NAMES[:9]),
        pieces([name for name in NAMES[:8] for _ in range(2)]),
        pieces(NAMES, "The clock has struck.\n\n"),
        pieces(NAMES) + POEM * 40,
    ],
    ids=["few", "again and again", "of one line", "followed by a long text"],
)
def test_lines_that_do_not_cut_a_text_into_like_pieces_are_no_titles(text: str) -> None:
    assert not titles(text)


def test_stage_directions_are_no_titles() -> None:
    scenes = [f"The {name.upper()}" for name in NAMES]
    assert titles(pieces([f"{scene}\n\nEnter a SERVANT with a Lamp" for scene in scenes])) == scenes


@pytest.mark.parametrize("name", ["A. B. C.", "ANNA HARROW."])
def test_a_name_below_a_preface_is_no_title(name: str) -> None:
    tales = [title.upper() for title in NAMES[:6]]
    text = "The clock has struck upon the stair, and nobody has counted it.\n\n" * 60
    book = f"PREFACE\n\n{text}{name}\n\n" + "\n\n".join(f"{title}\n\n{text}" for title in tales)
    assert titles(book) == ["PREFACE", *tales]


def test_titles_may_end_with_stops() -> None:
    tales = [f"{title.upper()}." for title in NAMES[:6]]
    text = "The clock has struck upon the stair, and nobody has counted it.\n\n" * 60
    assert titles("\n\n".join(f"{title}\n\n{text}" for title in tales)) == tales


def test_who_wrote_a_poem_is_no_title() -> None:
    poems = [title.upper() for title in NAMES]
    signed = "\n\n".join(f"{title}\n\n{POEM}A. {title.split()[0]}{title.split()[-1]}." for title in poems)
    assert titles(f"THE OLD HOUSE\n\n{signed}") == poems


def test_a_cast_is_no_title() -> None:
    plays = [title.upper() for title in NAMES[:5]]
    speeches = "TOM. Who has struck the clock?\n\nANNA. Nobody has counted it, and nobody will.\n\n" * 60
    cast = ("CHARACTERS", "PERSONS IN THE PLAY", "_Dramatis Personae_", "CAST", "The Persons of the Drama.")
    text = "\n\n".join(
        f"{c}\n\nTOM\nANNA\nA KEEPER\n\n{title}\n\n{speeches}" for c, title in zip(cast, plays, strict=True)
    )
    assert titles(text) == plays
