"""Plain text: what the file says is what the reader gives, and the wrapping goes."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from nlb_retriever.errors import NotABook, ReadingError
from nlb_retriever.reading import Limits, read_book
from nlb_retriever.reading.formats.plain import read_plain
from nlb_retriever.reading.gutenberg import find_wrapper, kept_pieces
from nlb_retriever.reading.markup.unwrap import unwrap
from nlb_retriever.reading.omissions import Omissions
from nlb_retriever.reading.structure import partition
from nlb_retriever.records import Book

FRENCH = (
    "Le vœu d’Élodie était très simple : être aimée, à l’âge où l’on rêve. « Ça ira », dit-elle — où ? Là-bas.\n" * 20
)
WRAPPED = (
    "It was the best of times, it was the worst of times, it was the age of\n"
    "wisdom, it was the age of foolishness, it was the epoch of belief, it\n"
    "was the epoch of incredulity, it was the season of Light, it was the\n"
    "season of Darkness, it was the spring of hope.\n"
)
POEM = "    Tyger Tyger, burning bright,\n    In the forests of the night;\n    What immortal hand or eye,\n"


def write(tmp_path: Path, content: str | bytes, name: str = "book.txt") -> Path:
    path = tmp_path / name
    path.write_bytes(content.encode() if isinstance(content, str) else content)
    return path


def read(tmp_path: Path, content: str | bytes, name: str = "book.txt") -> Book:
    return read_book(write(tmp_path, content, name))


def test_a_clean_file_is_read_character_for_character(tmp_path: Path) -> None:
    text = "\n\n  CHAPTER I\n\nHello there.  Two spaces,\ta tab.\n\n\n\nAn end — fin 🦊 é.  \n"
    assert read(tmp_path, text).text == text


@pytest.mark.parametrize("encoding", ["utf-8-sig", "utf-16", "utf-32", "utf-16-le", "utf-16-be", "cp1252", "utf-8"])
def test_western_text_survives_every_encoding(tmp_path: Path, encoding: str) -> None:
    book = read(tmp_path, FRENCH.encode(encoding))
    assert book.text == FRENCH


def test_a_guessed_encoding_is_named_in_a_warning_and_a_declared_one_is_not(tmp_path: Path) -> None:
    assert "cp1252" in read(tmp_path, FRENCH.encode("cp1252")).warnings[0]
    assert read(tmp_path, FRENCH).warnings == ()


@pytest.mark.parametrize(
    ("encoding", "text"),
    [
        (
            "cp1251",
            "Все счастливые семьи похожи друг на друга, каждая несчастливая семья несчастлива по-своему.\n" * 20,
        ),
        ("cp1250", "Zażółć gęślą jaźń. Litwo, Ojczyzno moja! ty jesteś jak zdrowie; ile cię trzeba cenić.\n" * 20),
    ],
)
def test_other_scripts_are_not_forced_into_the_western_encoding(tmp_path: Path, encoding: str, text: str) -> None:
    assert read(tmp_path, text.encode(encoding)).text == text


TURKISH = "Bir sabah erkenden kalktı ve pencereyi açtı. Dışarıda yağmur yağıyordu, çocuklar gidiyor, kuşlar ötüyordu.\n"
HUNGARIAN = "Egy reggel korán felkelt. Az esős idő után gyűlt a felhő, hűvös szél fújt, és kinyitotta az ablakot.\n"
CZECH = "Jednoho rána vstal brzy a otevřel okno. Venku padal tichý déšť, děti šly do školy, pan Žižka ležel.\n"


@pytest.mark.parametrize(
    ("encoding", "text"),
    [
        ("cp1254", TURKISH),
        ("cp1250", HUNGARIAN),
        ("iso8859_2", HUNGARIAN),
        ("cp1250", CZECH),
        ("iso8859_2", CZECH),
        (
            "iso8859_2",
            "Słońce wychodziło zza chmur, a pan Żółkiewski wstał, gdy ją zobaczył; miał pożółkłą książkę.\n",
        ),
        ("cp1250", "Într-o dimineaţă s-a sculat devreme şi a deschis fereastra; vânzătorii strigau.\n"),
        ("cp1252", "Þegar ég kom út í morgun var það ýmist sól eða rigning, og hún sagði þá ekkert; ýmsir bíða þar.\n"),
        (
            "cp1252",
            "Já não há razões: as intenções são más, e ele põe à mesa três pães e um avô; não se vê ninguém.\n",
        ),
        ("cp1252", "Perché è già così? Più giù c'è la città, però lì non può più salire né l'uomo né il caffè.\n"),
    ],
)
def test_the_letters_of_a_language_tell_its_encoding(tmp_path: Path, encoding: str, text: str) -> None:
    assert read(tmp_path, (text * 10).encode(encoding)).text == text * 10


def test_stray_bytes_in_utf8_are_mended_and_reported(tmp_path: Path) -> None:
    book = read(tmp_path, "déjà vu, café, très bien. ".encode() * 10 + b"caf\xe9 " + "noël ".encode() * 5)
    assert "café noël" in book.text
    assert "stray" in book.warnings[0]


def test_line_ends_and_control_characters_become_plain(tmp_path: Path) -> None:
    assert read(tmp_path, "one\r\ntwo\rthree\n\x00a\x07b\n").text == "one\ntwo\nthree\n a b\n"


def test_lone_surrogates_never_reach_the_text(tmp_path: Path) -> None:
    book = read(tmp_path, ("a" * 50 + " b\n").encode("utf-16-le") + b"\x00\xd8" + " end\n".encode("utf-16-le"))
    book.text.encode("utf-8")


@pytest.mark.parametrize("content", [b"", b"   \n\n\t ", b"\xef\xbb\xbf"])
def test_a_file_without_text_is_no_book(tmp_path: Path, content: bytes) -> None:
    with pytest.raises(NotABook, match=r"book\.txt: (is empty|holds no text)"):
        read(tmp_path, content)


def test_binary_data_named_txt_is_refused_by_name(tmp_path: Path) -> None:
    with pytest.raises(NotABook, match=r"/noise\.txt: is binary data"):
        read(tmp_path, bytes(range(256)) * 40, "noise.txt")
    with pytest.raises(NotABook, match="is a PNG image"):
        read(tmp_path, b"\x89PNG\r\n\x1a\n" + b"\x00" * 99)
    with pytest.raises(NotABook, match=r"PDF document: rename it to \.pdf"):
        read(tmp_path, b"%PDF-1.7\n1 0 obj")


def test_hard_wrapped_paragraphs_are_joined_and_verse_is_not(tmp_path: Path) -> None:
    text = read(tmp_path, (WRAPPED + "\n") * 6 + POEM + "\n" + WRAPPED).text
    assert "it was the age of wisdom, it was" in text
    assert text.count("hope.\n\n") == 6
    assert POEM in text


def test_a_poem_alone_keeps_its_lines(tmp_path: Path) -> None:
    poem = "Of Man's first disobedience, and the fruit\nOf that forbidden tree whose mortal taste\n" * 40
    assert read(tmp_path, poem).text == poem


def test_an_address_in_a_wrapped_text_keeps_its_lines(tmp_path: Path) -> None:
    address = "Miss Bates,\nThe Vicarage,\nHighbury.\n"
    assert address in read(tmp_path, (WRAPPED + "\n") * 5 + address + "\n" + WRAPPED).text


GUTENBERG = (
    "The Project Gutenberg EBook of The Clock, by Ann Author\n\n"
    "Title: The Clock\n       Or, Time\n\nAuthor: Ann Author\n\n"
    "Release Date: May 30, 2014 [EBook #45839]\n\nLanguage: French\n\nOriginal publication: Paris: Plon, 1897\n\n"
    "*** START OF THIS PROJECT GUTENBERG EBOOK THE CLOCK ***\n\nProduced by Some One and others\n\n\n"
    "CHAPTER I\n\nTick.\n\n"
    "*** END OF THIS PROJECT GUTENBERG EBOOK THE CLOCK ***\n\nSection 1. General Terms of Use\n"
)


def test_the_gutenberg_wrapper_gives_its_facts_and_goes(tmp_path: Path) -> None:
    book = read(tmp_path, GUTENBERG)
    assert (book.title, book.author, book.language, book.year) == ("The Clock Or, Time", "Ann Author", "fr", 1897)
    assert book.text.strip() == "CHAPTER I\n\nTick."


def test_old_gutenberg_wrappers_are_known_too() -> None:
    old = (
        "The Project Gutenberg Etext of The Clock, by Ann Author\n\n"
        "***START**THE SMALL PRINT!**FOR PUBLIC DOMAIN ETEXTS**START***\n"
        "Why is this here?\n*END*THE SMALL PRINT! FOR PUBLIC DOMAIN ETEXTS*Ver.04.29.93*END*\n\nTick.\n\n"
        "End of Project Gutenberg's The Clock, by Ann Author\n"
    )
    wrapper = find_wrapper(old)
    assert wrapper
    assert kept_pieces(old, wrapper, Omissions()) == [(old.index("Tick."), "Tick.")]
    assert (wrapper.title, wrapper.author) == ("The Clock", "Ann Author")


@pytest.mark.parametrize(
    ("name", "title"),
    [
        ("moby-dick.txt", "Moby Dick"),
        ("Gutenberg_Text__emile_zola_his_masterpiece.txt", "Emile Zola His Masterpiece"),
        ("the_wind_in_the_willows.txt", "The Wind in the Willows"),
        ("a_doll_s_house.txt", "A Doll's House"),
        ("u_s_history.txt", "U S History"),
        ("Harry S Truman.txt", "Harry S Truman"),
        ("Le phare de Saint-Guénolé - brouillon.txt", "Le phare de Saint-Guénolé brouillon"),
        ("2024-03-12.txt", "2024-03-12"),
        ("2024_03_12.txt", "2024-03-12"),
        ("minutes-2024-03-12_harbour.txt", "Minutes 2024-03-12 Harbour"),
        ("2024-13-12.txt", "2024 13 12"),
        ("Holidays c9f0f895fb98ab9159f51fd0297e236d.txt", "Holidays"),
    ],
)
def test_a_book_without_a_title_takes_a_readable_one_from_its_file_name(tmp_path: Path, name: str, title: str) -> None:
    assert read(tmp_path, "Once upon a time.\n", name).title == title


def test_title_and_author_on_the_first_page_are_taken(tmp_path: Path) -> None:
    book = read(tmp_path, "THE CLOCK\n\nby Ann Author\n\nOnce upon a time there was a clock.\n")
    assert (book.title, book.author) == ("THE CLOCK", "Ann Author")


@pytest.mark.parametrize("title", ["THE CLOCK", "THE\nCLOCK", "THE CLOCK\n\nA TALE"])
def test_a_half_title_is_no_part_of_the_title(tmp_path: Path, title: str) -> None:
    book = read(tmp_path, f"THE CLOCK\n\n{title}\n\nBY\n\nAnn Author\n\nOnce upon a time there was a clock.\n")
    assert (book.title, book.author) == (title.replace("\n\n", " ").replace("\n", " "), "Ann Author")


def test_one_line_of_fifty_megabytes_is_cut_into_sections(tmp_path: Path) -> None:
    data = b"It struck twelve. " * 2_800_000
    draft = read_plain(data, Limits())
    sections = partition(draft.text, draft.headings, "x")
    assert len(sections) > 1_000
    assert max(s.end - s.start for s in sections) < 20_000


@settings(max_examples=150, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.binary(max_size=400) | st.text(max_size=300).map(lambda t: t.encode("utf-8", "surrogatepass")))
def test_any_bytes_give_a_sound_book_or_a_reading_error(tmp_path: Path, content: bytes) -> None:
    try:
        book = read(tmp_path, content)
    except ReadingError as error:
        assert str(error).count("\n") == 0
        return
    book.text.encode("utf-8")
    assert "\x00" not in book.text
    assert "".join(book.text[s.start : s.end] for s in book.sections) == book.text


def test_words_parted_at_line_ends_are_whole_and_compounds_keep_their_hyphens() -> None:
    known = "Whoever is responsible for a well-known lamp is responsible to all the boats.\n\n"
    line = "The keeper of the lamp walked slowly along the narrow stair and {}-\n{} came that night at last to him.\n\n"
    parts = [("respon", "sible"), ("well", "known"), ("un", "steady")]
    text = unwrap(known + "".join(line.format(*each) for each in parts), 72)
    assert [word in text for word in ("responsible came", "well-known came", "un-steady came")] == [True] * 3
    text = unwrap(known + "".join(line.format(*each) for each in [*parts[::2], parts[0]]), 72)
    assert "unsteady came" in text  # in a text that parts words


def test_letters_and_their_marks_are_one_character(tmp_path: Path) -> None:
    text = read(tmp_path, "La rivie\u0300re, \u1112\u1161\u11ab, か\u3099, an o\ufb03ce.").text
    assert text == "La rivière, 한, が, an office."


def test_invisible_characters_part_no_words(tmp_path: Path) -> None:
    assert read(tmp_path, "Re\xadspon\xadsi\u200bble he is.").text == "Responsible he is."


@pytest.mark.parametrize(
    ("front", "title"),
    [
        ("Ann Harrow\n12 Coast Road\nann@example.org\n\n\nTHE LAMP\n\nby Ann Harrow\n", "THE LAMP"),
        ("THE LAMP\n\nWritten by\n\nAnn Harrow\n", "THE LAMP"),
        ("THE LAMP\n\nA Tale\n\nBY\nAnn Harrow\n", "THE LAMP A Tale"),
        (
            "Digitized by the Internet Archive\nin 2010 with funding from\nVenn Library\n\n\n"
            "http://www.archive.org/details/lamp00harr\n\n\nTHE LAMP\n\nBY\n\nAnn Harrow\n",
            "THE LAMP",
        ),
    ],
)
def test_a_manuscript_s_title_page_is_known(tmp_path: Path, front: str, title: str) -> None:
    book = read(tmp_path, f"{front}\n\nChapter 1\n\n{WRAPPED * 3}\n")
    assert (book.title, book.author) == (title, "Ann Harrow")


@pytest.mark.parametrize(
    "front", ["_Translation by A. Wick_", "THE TALES\n\nBY WAY OF THANKS", "LAMP\n\nBY NINE WRITERS"]
)
def test_not_all_behind_by_wrote_the_book(tmp_path: Path, front: str) -> None:
    book = read(tmp_path, f"{front}\n\nChapter 1\n\n{WRAPPED * 3}\n")
    assert (book.title, book.author) == ("LAMP" if "LAMP" in front else read(tmp_path, WRAPPED).title, None)


def test_chapters_of_a_text_of_a_paragraph_a_line_need_no_blank_lines(tmp_path: Path) -> None:
    paragraph = " ".join(WRAPPED.split())
    text = "".join(f"Chapter {number}\n" + f"{paragraph}\n" * 8 for number in range(1, 6))
    assert [section.path[-1] for section in read(tmp_path, text).sections] == [f"Chapter {n}" for n in range(1, 6)]


def test_a_title_that_a_program_wrote_is_none(tmp_path: Path) -> None:
    html = f"<title>Unknown</title><h1>A</h1><p>{WRAPPED}</p><h1>B</h1><p>{WRAPPED}</p>"
    assert read(tmp_path, html, "town_clock.html").title == "Town Clock"


def test_boxes_of_asterisks_are_open(tmp_path: Path) -> None:
    box = (
        "*" * 30
        + "\n*                            *\n*  2. Doors                  *\n*  --------                  *\n*"
        + " " * 28
    )
    box += f"*\n*  Keep them shut.           *\n*                            *\n{'*' * 30}\n"
    one = "1. Bells\n--------\n\nRing them.\n\n"
    three = "\n3. Clocks\n---------\n\nWind them.\n\n4. Stairs\n---------\n\nClimb * them *.\n"
    (tmp_path / "a.txt").write_text(one + box + three)
    book = read_book(tmp_path / "a.txt")
    assert [section.title for section in book.sections] == ["1. Bells", "2. Doors", "3. Clocks", "4. Stairs"]
    assert "\nKeep them shut.\n" in book.text and "Climb * them *." in book.text


def test_a_term_stands_above_what_it_means() -> None:
    meaning = [
        "means the clock of the town, with all of its works,",
        "its hands, and the bell that is rung by whoever has",
        "wound it, and whatever else there may ever be added",
        "to it by those who keep the keys of the tower of it",
        "and its stairs.",
    ]
    assert unwrap("\n    ".join(['1.4. "Clock"', *meaning]), 56) == '1.4. "Clock"\n    ' + " ".join(meaning)


@pytest.mark.parametrize(
    ("front", "title", "author"),
    [
        ("The Salt Road by Ada Penwick\n", "The Salt Road", "Ada Penwick"),
        ("The Salt Road, by J. R. Hale and Ada de Venn\n", "The Salt Road", "J. R. Hale and Ada de Venn"),
        ('"The Salt Road" by Ada Penwick\n(c) 1998 Ada Penwick\n', "The Salt Road", "Ada Penwick"),
        ("Marrow by Ada Penwick\n", "Marrow", "Ada Penwick"),
        ("Title: The Salt Road\nAuthor: Ada Penwick\nDate: 1911\n", "The Salt Road", "Ada Penwick"),
        ("The Salt Road\n\na historical novel by\n\nAda Penwick\n", "The Salt Road", "Ada Penwick"),
        ("Death by Salt Water\n", "A", None),
        ("Translated by Ada Penwick\n", "A", None),
        ("It was found later by Ada Penwick\n", "A", None),
        ("The Salt Road by Ada Penwick\nwas long and white.\n", "A", None),
    ],
)
def test_the_first_lines_of_a_text_say_title_and_author(
    tmp_path: Path, front: str, title: str, author: str | None
) -> None:
    book = read(tmp_path, f"{front}\n\nThe salt and the water met there.\n\n{WRAPPED * 3}\n", "a.txt")
    assert (book.title, book.author) == (title, author)


@pytest.mark.parametrize("numbered", ["{0}                    {1}", "{1}     {0}"])
def test_numbers_of_verses_are_no_text(tmp_path: Path, numbered: str) -> None:
    lines = [f"The keeper of the lamp number {letter} walks" for letter in "abcdefghijklmnopqrstuvwx"]
    lines = [numbered.format(line, n) if n % 4 == 0 else line for n, line in enumerate(lines, 1)]
    stanzas = "\n\n".join("\n".join(lines[n : n + 3]) for n in range(0, len(lines), 3))
    book = read(tmp_path, f"THE LAMP\n\nby Ann Harrow\n\n{stanzas}\n")
    assert not any(map(str.isdigit, book.text))
    assert "The keeper of the lamp number d walks\n" in book.text
    assert book.warnings == ("boilerplate skipped: 6 line numbers (6 words)",)


def test_numbers_at_the_ends_of_other_lines_are_text(tmp_path: Path) -> None:
    rows = "\n".join(f"Lamps lit in the year {n}        {n * n}" for n in range(1, 9))
    assert read(tmp_path, f"Lamps\n\n{rows}\n").text.count("     ") == 8
