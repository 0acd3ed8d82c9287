"""Plain text: every word of a file is in the book, or a warning names what was left out and why."""

from __future__ import annotations

import random
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from nlb_retriever.errors import NotABook
from nlb_retriever.reading import read_book
from nlb_retriever.records import Book

from .words import assert_all_words, missing_words, named_words, read_all_words, text_of_file, words_of

STORY = "\n\n".join(f"He came to river{i} and saw no{i} in the light of it." for i in range(20)) + "\n\n"
HEADER = (
    "The Project Gutenberg EBook of {title}, by Ann Author\n\nThis eBook is for the use of anyone anywhere.\n\n"
    "Title: {title}\n\nAuthor: Ann Author\n\nLanguage: English\n\n"
    "*** START OF THIS PROJECT GUTENBERG EBOOK {upper} ***\n\n"
)
PRODUCED = "Produced by Some One and the Online Distributed Proofreading Team at http://www.pgdp.net\n\n\n"
END = (
    "End of the Project Gutenberg EBook of {title}, by Ann Author\n\n"
    "*** END OF THIS PROJECT GUTENBERG EBOOK {upper} ***\n"
)
LICENSE = (
    "\nUpdated editions will replace the previous one--the old editions will\nbe renamed.\n\nSTART: FULL LICENSE\n\n"
    "THE FULL PROJECT GUTENBERG LICENSE\n\nSection 1. General Terms of Use and Redistributing Project\n"
    "Gutenberg-tm electronic works\n\n"
    + "1.A. By reading or using any part of this Project Gutenberg-tm electronic work, you agree.\n\n"
    * 150
    + "This Web site includes information about Project Gutenberg-tm, and how to\n"
    "subscribe to our email newsletter to hear about new eBooks.\n"
)


def gutenberg(title: str, story: str = STORY, *, license_text: str = LICENSE) -> str:
    names = {"title": title, "upper": title.upper()}
    return HEADER.format(**names) + PRODUCED + story + END.format(**names) + license_text


def read(tmp_path: Path, source: str | bytes, words: str | None = None) -> Book:
    path = tmp_path / "a.txt"
    path.write_bytes(source.encode() if isinstance(source, str) else source)
    return read_all_words(path, words)


def test_the_gutenberg_wrapper_goes_and_is_named(tmp_path: Path) -> None:
    book = read(tmp_path, gutenberg("The Clock"))
    assert book.text.startswith("He came to river0")
    assert "Gutenberg" not in book.text
    assert named_words(book.warnings) == len(words_of(gutenberg("The Clock", "")))


@pytest.mark.parametrize("between", ["", "\n\n\n", "\n\n-----\n\n", "Some words of the person who joined them.\n\n"])
@pytest.mark.parametrize("license_text", [LICENSE, ""])
@pytest.mark.parametrize("count", [2, 3])
def test_several_gutenberg_texts_in_one_file_are_all_kept(
    tmp_path: Path, between: str, license_text: str, count: int
) -> None:
    stories = [STORY.replace("river", f"river{n}x") for n in range(count)]
    texts = [gutenberg(f"Book {n}", story, license_text=license_text) for n, story in enumerate(stories)]
    book = read(tmp_path, between.join(texts))
    for n in range(count):
        assert book.text.count(f"He came to river{n}x") == 20
    assert book.title == "Book 0"
    assert "General Terms" not in book.text


CITED = [
    "*** END OF THE PROJECT GUTENBERG EBOOK MOBY DICK ***",
    "*** END OF THIS PROJECT GUTENBERG EBOOK MOBY DICK ***",
    "End of the Project Gutenberg EBook of Moby Dick",
    "End of Project Gutenberg's Moby Dick, by Herman Melville",
    "*** START OF THE PROJECT GUTENBERG EBOOK MOBY DICK ***",
    "*** START: FULL LICENSE ***",
    "*END*THE SMALL PRINT! FOR PUBLIC DOMAIN ETEXTS*Ver.04.29.93*END*",
    "Produced by Some One",
    "The Project Gutenberg EBook of Moby Dick",
]


@pytest.mark.parametrize("cited", CITED)
@pytest.mark.parametrize("wrapped", [False, True])
@pytest.mark.parametrize("long", [1, 60])
def test_a_text_that_cites_a_marker_is_kept(tmp_path: Path, cited: str, wrapped: bool, long: int) -> None:
    story = f"{STORY * long}Then he read the line\n\n{cited}\n\nand went on.\n\n{STORY.replace('river', 'lake')}"
    book = read(tmp_path, gutenberg("The Clock", story) if wrapped else story)
    assert book.text.count("He came to lake") == 20
    assert book.text.count("He came to river") == 20 * long


@pytest.mark.parametrize("cited", CITED)
def test_a_short_text_about_gutenberg_is_kept(tmp_path: Path, cited: str) -> None:
    book = read(tmp_path, f"On Project Gutenberg\n\nIts files had the line\n\n{cited}\n\nwhich I liked.\n")
    assert "which I liked" in book.text


def test_text_after_the_license_is_kept(tmp_path: Path) -> None:
    after = STORY.replace("river", "after")
    book = read(tmp_path, gutenberg("The Clock") + "\n\n" + after)
    assert book.text.count("He came to after") == 20


def test_text_after_an_end_marker_without_a_license_is_kept(tmp_path: Path) -> None:
    book = read(tmp_path, gutenberg("The Clock", license_text="") + "\n\n" + STORY.replace("river", "after"))
    assert book.text.count("He came to after") == 20


def test_a_long_text_before_the_start_marker_is_kept(tmp_path: Path) -> None:
    book = read(tmp_path, STORY.replace("river", "before") * 3 + gutenberg("The Clock"))
    assert book.text.count("He came to before") == 60


@pytest.mark.parametrize(
    "first",
    [
        "Prepared for the worst, he went down to the sea and never came back to us.\n\n",
        "Produced by the hand of a master, the watch was gold. He loved it more than his own house.\n\n",
        "Scanned faces passed him by in the street that leads to the harbour, as every morning.\n\n",
        "Transcribed from his own words, as he spoke them on the last evening.\n\n",
    ],
)
def test_a_story_that_begins_like_credits_is_kept(tmp_path: Path, first: str) -> None:
    source = gutenberg("The Clock", first + STORY).replace(PRODUCED, "")
    assert first.strip()[:20] in read(tmp_path, source).text


def test_the_small_print_of_old_files_goes_and_is_named(tmp_path: Path) -> None:
    small = "Why is this Small Print! statement here? You know: lawyers.\n" * 80
    source = (
        "The Project Gutenberg Etext of The Clock, by Ann Author\n\n"
        f"***START**THE SMALL PRINT!**FOR PUBLIC DOMAIN ETEXTS**START***\n{small}"
        "*END*THE SMALL PRINT! FOR PUBLIC DOMAIN ETEXTS*Ver.04.29.93*END*\n\n"
        f"{STORY}End of Project Gutenberg's The Clock, by Ann Author\n"
    )
    book = read(tmp_path, source)
    assert book.text.startswith("He came to river0")
    assert "lawyers" not in book.text


ENGLISH = (
    "The old clock on the landing struck the hour, and nobody in the house was awake to count it (not one).\n" * 30
)
FOREIGN = {
    "utf-7": "Élodie était très simple: être aimée, à l’âge où l’on rêve. 1 + 1 = 2, a+b.\n",
    "hz": "他说：我们今天去河边看书，然后回家。The end.\n",
    "iso2022_jp": "彼は今日、川へ行って本を読んだ。それから家へ帰った。The end.\n",
    "iso2022_kr": "그는 오늘 강에 가서 책을 읽었다. The end.\n",
    "cp037": "The old clock struck (twice); he said: it is 12!\n",
    "cp500": "The old clock struck (twice); he said: it is 12.\n",
    "cp1140": "The old clock struck (twice); he said: it is 12.\n",
    "cp273": "Die alte Uhr schlug zweimal, und er sagte: es ist zwölf.\n",
    "gb18030": "他说：我们今天去河边看书，然后回家。\n",
    "big5": "他說：我們今天去河邊看書，然後回家。\n",
    "shift_jis": "彼は今日、川へ行って本を読んだ。それから家へ帰った。\n",
    "euc_jp": "彼は今日、川へ行って本を読んだ。それから家へ帰った。\n",
    "euc_kr": "그는 오늘 강에 가서 책을 읽었다.\n",
    "koi8-r": "Все счастливые семьи похожи друг на друга, каждая несчастлива по-своему.\n",
    "cp1251": "Все счастливые семьи похожи друг на друга, каждая несчастлива по-своему.\n",
    "utf-16-le": "彼は今日、川へ行って本を読んだ。それから家へ帰った。\n",
    "utf-32-le": "L’été, déjà vu, naïve.\n",
    "utf-32-be": "L’été, déjà vu, naïve.\n",
    "mac_roman": "Cet été-là, il marchait vers l’école et disait: “déjà vu” – naïve et sans cœur.\n",
}


@pytest.mark.parametrize("encoding", FOREIGN)
def test_encodings_that_look_like_ascii_or_noise_are_read_and_named(tmp_path: Path, encoding: str) -> None:
    text = FOREIGN[encoding] * 40
    book = read(tmp_path, text.encode(encoding), text)
    assert len(book.warnings) == 1
    assert "guessed" in book.warnings[0]


@pytest.mark.parametrize(
    "text",
    [
        "Solve a+bcd-e and x+AAA-y; C++-like, +1-, and +- too.\n" * 20,
        "He wrote ~{ and }~ and ~~ in it, twice ~{ab~}.\n" * 20,
        "Red \x1b[31mwords\x1b[0m in a terminal, \x1b(B and more.\n" * 20,
        "base64: +AGEAYgBj- and +/v8- are odd; 2+2-4.\n" * 20,
        "a@b.c @@@ @@@@@@@@@@@@@@ |@@@@| @@@@@@@@\n" * 20,
    ],
)
def test_plain_ascii_that_looks_like_another_encoding_stays(tmp_path: Path, text: str) -> None:
    book = read(tmp_path, text)
    assert words_of(book.text.split("\n")[0]) == words_of(text.split("\n", maxsplit=1)[0].replace("\x1b", " "))


@pytest.mark.parametrize("strays", [1, 100, 5_000])
def test_stray_bytes_do_not_cost_a_word_however_many(tmp_path: Path, strays: int) -> None:
    good = "déjà vu, café, très bien, naïve. "
    source = good.encode() * (strays * 2 + 2) + b"caf\xe9 river " * strays
    book = read(tmp_path, source, good * (strays * 2 + 2) + "café river " * strays)
    assert "stray" in book.warnings[0]


@pytest.mark.parametrize(
    "damage", [bytes(512), bytes(4096), random.Random(0).randbytes(200)], ids=["zeros", "more zeros", "noise"]
)
def test_a_damaged_stretch_in_utf8_costs_that_stretch_only(tmp_path: Path, damage: bytes) -> None:
    text = "“Élodie,” he said, “the clock — the old one — has struck.” She didn’t answer.\n\n" * 200
    data = text.encode()
    at = data.index(b"\n\n", len(data) // 2) + 2
    book = read(tmp_path, data[:at] + damage + b"\n\n" + data[at:], text)
    assert not missing_words(text, book)


def test_bad_bytes_after_a_byte_order_mark_are_named(tmp_path: Path) -> None:
    book = read(tmp_path, b"\xef\xbb\xbf" + "déjà vu. ".encode() * 20 + b"caf\xe9 end", "déjà vu " * 20 + "café end")
    assert book.warnings


def test_an_odd_last_byte_of_utf16_is_no_reason_to_lose_a_word(tmp_path: Path) -> None:
    book = read(tmp_path, ENGLISH.encode("utf-16") + b"x", ENGLISH)
    assert "\ufffd" not in book.text[:-1]


def test_text_that_changes_its_encoding_in_the_middle_is_named(tmp_path: Path) -> None:
    source = ("déjà vu, " * 50).encode("cp1252") + ("été naïve, " * 50).encode("utf-8")
    assert read(tmp_path, source, "vu " * 50).warnings


PIECES = [*CITED, HEADER.format(title="X", upper="X"), PRODUCED, STORY, LICENSE, "word", "\n", "\n\n", "  ", "-\n"]
PIECES += ["CHAPTER I", "* * *", "and-", "| a | b |"]


@settings(max_examples=200, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.lists(st.sampled_from(PIECES), max_size=12))
def test_any_mix_of_markers_and_words_keeps_the_words_or_names_them(tmp_path: Path, pieces: list[str]) -> None:
    source = "".join(f"{piece} plain{i}\n" for i, piece in enumerate(pieces))
    (tmp_path / "a.txt").write_text(source, "utf-8")
    try:
        book = read_book(tmp_path / "a.txt")
    except NotABook:
        assert not source.strip()
        return
    assert_all_words(source, book)


@pytest.mark.parametrize("name", ["dracula", "frankenstein", "moby-dick", "secret-garden", "time-machine"])
def test_real_texts_keep_every_word(data_dir: Path, name: str) -> None:
    path = data_dir / "library" / f"{name}.txt"
    book = read_all_words(path)
    assert 2_500 < named_words(book.warnings) < 4_500
    assert len(words_of(text_of_file(path))) > 10_000
