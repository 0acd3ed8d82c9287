"""Headings of books in other languages than English."""

from __future__ import annotations

import pytest

from nlb_retriever.reading.headings.looks import parse_line
from tests.reading.test_headings import book, paths


@pytest.mark.parametrize(
    ("line", "kind", "number", "rest"),
    [
        ("第十二章 旅立ち", "chapter", 12, "旅立ち"),
        ("第二十一回：宝玉", "chapter", 21, "宝玉"),
        ("第3章", "chapter", 3, ""),
        ("第百二十回", "chapter", 120, ""),
        ("第一二章", "chapter", 12, ""),
        ("第二部", "part", 2, ""),
        ("제 3 장 시작", "chapter", 3, "시작"),
        ("Глава первая", "chapter", 1, ""),
        ("ЧАСТЬ II", "part", 2, ""),
        ("Einundzwanzigstes Kapitel", "chapter", 21, ""),
        ("CHAPITRE ONZIÈME", "chapter", 11, ""),
        ("Capítulo quinto", "chapter", 5, ""),
        ("I. fejezet", "chapter", 1, ""),
        ("Rozdział 3", "chapter", 3, ""),
        ("Глава двадцать первая", "chapter", 21, ""),
        ("Том четвертый", "volume", 4, ""),
        ("ROZDZIAŁ DWUDZIESTY PIERWSZY", "chapter", 21, ""),
        ("Birinci Bölüm", "chapter", 1, ""),
        ("İKİNCİ BÖLÜM", "chapter", 2, ""),
        ("ΚΕΦΑΛΑΙΟ ΠΡΩΤΟ", "chapter", 1, ""),
        ("Chapitre Ier. Le retour", "chapter", 1, "Le retour"),
        ("2e partie", "part", 2, ""),
        ("CHAPITRE DEUXIEME", "chapter", 2, ""),
        ("Chapitre vingt et unième", "chapter", 21, ""),
        ("Capítulo noveno", "chapter", 9, ""),
        ("Capítulo uno", "chapter", 1, ""),
        ("Kapitel eins", "chapter", 1, ""),
        ("Das erste Kapitel", "chapter", 1, ""),
        ("Eerste hoofdstuk", "chapter", 1, ""),
        ("الفصل الأول", "chapter", 1, ""),
        ("فصل ۲", "chapter", 2, ""),
        ("פרק ב", "chapter", 2, ""),
        ("अध्याय 1", "chapter", 1, ""),
        ("제이장", "chapter", 2, ""),
        ("2장", "chapter", 2, ""),
        ("卷一", "volume", 1, ""),
        ("二", "bare", 2, ""),
        ("三、后来", "bare", 3, "后来"),
        ("CAP. IV", "chapter", 4, ""),
        ("פרק א'", "chapter", 1, ""),
        ("פרק י״ב", "chapter", 12, ""),
        ('פרק ט"ו', "chapter", 15, ""),
        ("Κεφάλαιο 2ο", "chapter", 2, ""),
        ("ΚΕΦΑΛΑΙΟ ΙΒ΄", "chapter", 12, ""),
        ("Ραψωδία Γ", "canto", 3, ""),
        ("Zweiter Auftritt", "scene", 2, ""),
        ("Jornada segunda", "act", 2, ""),
        ("Derde bedrijf", "act", 3, ""),
        ("İkinci Perde", "act", 2, ""),
        ("第二場", "scene", 2, ""),
        ("2막", "act", 2, ""),
        ("Песнь первая", "canto", 1, ""),
        ("Письмо третье", "letter", 3, ""),
        ("Раздел 2. Море", "part", 2, "Море"),
        ("Novella quinta", "story", 5, ""),
        ("Nachwort", "named", 0, "Nachwort"),
        ("Avant-propos", "named", 0, "Avant-propos"),
        ("ЭПИЛОГ", "named", 0, "ЭПИЛОГ"),
        ("خاتمة", "named", 0, "خاتمة"),
        ("אחרית דבר", "named", 0, "אחרית דבר"),
        ("プロローグ", "named", 0, "プロローグ"),
        ("尾声", "named", 0, "尾声"),
        ("에필로그", "named", 0, "에필로그"),
    ],
)
def test_headings_in_other_languages(line: str, kind: str, number: int, rest: str) -> None:
    [found] = parse_line(line, 0, len(line))
    assert (found.kind, found.number, found.rest) == (kind, number, rest)


def test_chinese_titles_right_behind_their_numbers_are_known_by_their_row() -> None:
    titles = ["第一章老人", "第二章城市", "第三章女儿", "第四章房子", "第五章大海"]
    assert paths(book(*titles)) == [(title,) for title in titles]
    assert paths(book(*titles[:2])) == [("The Clock",)]


@pytest.mark.parametrize(
    "line",
    [
        "第一章では彼が町に着く。",
        "第一章では彼が",
        "第二次世界大戦",
        "Главный герой",
        "Введение в море",
        "פרק א'ב",
        "Cap in hand",
        "第" * 200,
        "3장 더 주세요.",
        "Part un",
        "Epistle to the Romans",
        "Le livre",
        "Vie chapter",
    ],
)
def test_sentences_in_other_languages_are_no_headings(line: str) -> None:
    assert parse_line(line, 0, len(line)) == []


@pytest.mark.parametrize(
    "titles", [("第一章 到来", "第二章 信", "第三章 大火"), ("제1장 도착", "제2장 편지", "제3장 바다")]
)
def test_a_table_of_contents_with_titles_of_two_letters_is_no_part(titles: tuple[str, ...]) -> None:
    assert paths("\n".join(titles) + "\n\n" + book(*titles)) == [(title,) for title in titles]


@pytest.mark.parametrize(
    ("numbers", "title"),
    [
        (("第一章", "第二章", "第三章"), "绿色的信"),
        (("الفصل الأول", "الفصل الثاني", "الفصل الثالث"), "الرسالة الخضراء"),
        (("פרק א", "פרק ב", "פרק ג"), "המכתב"),
    ],
)
def test_a_title_without_capitals_stands_below_its_number(numbers: tuple[str, ...], title: str) -> None:
    assert paths(book(*(f"{number}\n\n{title}" for number in numbers))) == [(f"{n}. {title}",) for n in numbers]
    assert paths(book(*(f"{number}\n\n{title}。" for number in numbers))) == [(number,) for number in numbers]


@pytest.mark.parametrize("names", [("Пролог", "Эпилог"), ("序章", "後記"), ("Önsöz", "Sonsöz")])
def test_a_prologue_and_an_epilogue_are_no_part_of_chapters(names: tuple[str, str]) -> None:
    first, last = names
    titles = [first, "Глава 1", "Глава 2", "Глава 3", last]
    assert paths(book(*titles)) == [(title,) for title in titles]


@pytest.mark.parametrize("piece", ["un-", "no ", "second ", "I", "一", "Chapter "])
def test_long_lines_are_read_in_linear_time(piece: str) -> None:
    for line in (piece * 50_000, f"Chapter {piece * 50_000}", f"第{piece * 50_000}"):
        assert len(parse_line(line, 0, len(line))) < 2
