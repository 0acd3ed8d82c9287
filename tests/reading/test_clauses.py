"""Laws, licences and contracts in plain text: articles, amendments and numbered paragraphs."""

from __future__ import annotations

from collections.abc import Iterable
from itertools import count
from pathlib import Path

import pytest

from nlb_retriever.reading import read_book

PROSE = (
    "No person shall wind the clock of the town without the consent of the council, and whoever winds it without such "
    "consent shall pay for the hours that were lost, in such manner as the council shall by law direct, and no more."
)
TITLES = ["Definitions", "Grant of Licence", "Redistribution", "Disclaimer of Warranty", "Limits", "Termination"]


def read(tmp_path: Path, *paragraphs: str) -> list[tuple[str, ...]]:
    (tmp_path / "law.txt").write_text("\n\n".join(paragraphs))
    return [section.path for section in read_book(tmp_path / "law.txt").sections]


def articles(sections: int) -> Iterable[str]:
    for article in ("I", "II", "III"):
        yield f"Article {article}"
        for section in range(1, sections + 1):
            yield from (f"Section {section}", f"{PROSE} {PROSE}")


def test_a_constitution_has_articles_with_sections_and_short_amendments(tmp_path: Path) -> None:
    amendments = [part for n in range(1, 8) for part in (f"Amendment {n}", f"Passed on May {n}, 179{n}.", PROSE[:90])]
    found = read(tmp_path, "The Law of the Clock", *articles(2), *amendments)
    assert found[:6] == [(f"Article {n}", f"Section {s}") for n in ("I", "II", "III") for s in (1, 2)]
    assert found[6:] == [(f"Amendment {n}",) for n in range(1, 8)]
    assert read_book(tmp_path / "law.txt").title == "The Law of the Clock"


def test_articles_lie_inside_the_sections_of_chapters(tmp_path: Path) -> None:
    parts: list[str] = []
    numbers = count(1)
    for chapter in ("I", "II", "III"):
        parts += [f"CHAPTER {chapter}", "Rules of the clock"]
        for section in (1, 2):
            parts += [f"Section {section}", "Rules of the bell"]
            for _ in range(2):
                parts += [f"Article {next(numbers)}", "Who winds it", PROSE]
    found = read(tmp_path, *parts)
    assert found[:3] == [
        ("CHAPTER I. Rules of the clock", "Section 1. Rules of the bell", "Article 1. Who winds it"),
        ("CHAPTER I. Rules of the clock", "Section 1. Rules of the bell", "Article 2. Who winds it"),
        ("CHAPTER I. Rules of the clock", "Section 2. Rules of the bell", "Article 3. Who winds it"),
    ]
    assert len(found) == 12


@pytest.mark.parametrize(
    "label", ["{}. ", "{}) ", "Section {}. ", "Sec. {}. ", "Sect. {}. ", "§ {}. ", "Art. {} - ", "第{}条 ", "제{}조 "]
)
def test_numbered_paragraphs_are_sections(tmp_path: Path, label: str) -> None:
    found = read(tmp_path, *(f"{label.format(n)}{title}. {PROSE}" for n, title in enumerate(TITLES, 1)))
    assert [path[-1].partition(" ")[2].endswith(title) for path, title in zip(found, TITLES, strict=True)] == [True] * 6


def test_a_paragraph_without_a_title_is_called_by_its_first_words(tmp_path: Path) -> None:
    found = read(tmp_path, *(f"{n}. {PROSE}" for n in range(6)))
    assert found[0] == ("0. No person shall wind the clock of the town without the…",)
    assert len(found) == 6


def test_articles_of_chinese_laws_have_chinese_numbers(tmp_path: Path) -> None:
    clause = "凡在城中敲钟者应当遵守本法的各项规定，违者应当赔偿因此造成的全部损失。敲钟的人应当按时敲钟。"
    found = read(tmp_path, *(f"第{n}条\u3000{clause}" for n in "一二三四五六七八九十"))
    assert len(found) == 10
    assert found[9][0].startswith("第十条 凡在城中敲钟者")


def test_numbers_begin_anew_below_a_heading_only(tmp_path: Path) -> None:
    clauses = [f"{n}. {title}. {PROSE}" for n, title in enumerate(TITLES, 1)]
    found = read(tmp_path, "PART ONE", *clauses, "PART TWO", *clauses)
    assert found[6] == ("PART TWO", "1. Definitions")
    assert len(found) == 12


def test_a_list_in_a_clause_is_text_of_it(tmp_path: Path) -> None:
    items = [f"{n}. what the {word} says;" for n, word in enumerate(("clock", "bell"), 1)]
    clauses = [f"{n}. {title}. {PROSE}" for n, title in enumerate(TITLES, 1)]
    found = read(tmp_path, *clauses[:3], *items, *clauses[3:])
    assert [path[-1] for path in found] == [f"{n}. {title}" for n, title in enumerate(TITLES, 1)]


@pytest.mark.parametrize(
    "paragraphs",
    [
        [PROSE, *(f"{n}. What is the {title.lower()}?" for n, title in enumerate(TITLES, 1))],  # questions
        [*[PROSE] * 20, *(f"{n}. {PROSE}" for n in range(1, 7))],  # notes at the end
        [*(f"{n}. {PROSE}" for n in range(1, 5)), f"5. {PROSE * 30}"],  # one that holds nearly all
        [*(f"{n}. {PROSE}" for n in (1, 2, 9, 4, 7, 3, 8, 6))],
        [*[PROSE] * 30, *articles(0), *[PROSE] * 30],  # a law that somebody reads
    ],
)
def test_other_numbers_are_none(tmp_path: Path, paragraphs: list[str]) -> None:
    titles = [path[-1] for path in read(tmp_path, *paragraphs)]
    assert not any(title[0].isdigit() or title.startswith("Article") for title in titles)


def test_clauses_have_inner_ones(tmp_path: Path) -> None:
    parts: list[str] = []
    for n, title in enumerate(TITLES, 1):
        parts += [f"{n}. {title.upper()}", f"{n}.1 {PROSE}", f"{n}.2. “Bell” means this. {PROSE}", f"(a) {PROSE}"]
    found = read(tmp_path, *parts)
    assert found[3] == ("2. GRANT OF LICENCE", "2.2. “Bell” means this. No person shall wind the clock of the…")
    assert len(found) == 12


def test_a_number_may_be_missing_and_lists_are_indented(tmp_path: Path) -> None:
    items = "\n\n".join(f"   {n}. the {n} bells that are rung;" for n in range(1, 5))
    clauses = [f"{n}.0 {title}. {PROSE}\n\n{items}" for n, title in enumerate(TITLES, 1) if n != 4]
    assert [path[-1][:3] for path in read(tmp_path, *clauses)] == ["1.0", "2.0", "3.0", "5.0", "6.0"]


def test_long_lines_need_no_blank_ones_between(tmp_path: Path) -> None:
    text = "\n".join(f"{n}. {title}. {PROSE}" for n, title in enumerate(TITLES, 1))
    assert [path[-1] for path in read(tmp_path, text)] == [f"{n}. {title}" for n, title in enumerate(TITLES, 1)]


def test_the_title_of_a_licence_is_in_the_middle(tmp_path: Path) -> None:
    head = "                 CLOCK LICENCE\n              Version 2, May 1891\n          http://example.org/clock"
    read(tmp_path, head, *(f"{n}. {title}. {PROSE}" for n, title in enumerate(TITLES, 1)))
    assert read_book(tmp_path / "law.txt").title == "CLOCK LICENCE, Version 2, May 1891"


def test_the_version_in_a_file_s_name_keeps_its_point(tmp_path: Path) -> None:
    (tmp_path / "clock-licence-2.0.txt").write_text(PROSE)
    assert read_book(tmp_path / "clock-licence-2.0.txt").title == "Clock Licence 2.0"


def test_the_work_is_linear_in_the_text(tmp_path: Path) -> None:
    text = "\n\n".join(f"{n % 900}. {PROSE}" for n in range(30_000))
    (tmp_path / "law.txt").write_text(text)
    assert read_book(tmp_path / "law.txt").sections


def test_the_paragraphs_of_articles_are_no_sections(tmp_path: Path) -> None:
    parts = ["REGULATION ON CLOCKS"]
    for n in range(1, 7):
        parts += [
            f"Article {n}",
            "Duties of the keeper of the clock in towns that have more than one bell of the said kind",
        ]
        parts += [f"{k}. {PROSE}" for k in (1, 2, 3)]
    found = read(tmp_path, *parts)
    assert [path[-1][:26] for path in found] == [f"Article {n}. Duties of the k" for n in range(1, 7)]


def test_a_short_paragraph_is_none_either(tmp_path: Path) -> None:
    parts = [
        part
        for n in range(1, 7)
        for part in (f"Article {n}", "Scope", f"1. {PROSE}", f"2. {PROSE}", "3. This does not apply to", f"(a) {PROSE}")
    ]
    assert [path[-1] for path in read(tmp_path, *parts)] == [f"Article {n}. Scope" for n in range(1, 7)]


def test_many_short_amendments_leave_the_articles_theirs(tmp_path: Path) -> None:
    long = [
        part
        for n in ("I", "II", "III")
        for part in (f"Article. {n}.", "Section. 1.", PROSE * 5, "Section. 2.", PROSE * 4)
    ]
    short = [part for n in range(1, 11) for part in (f"Amendment {n}", f"{PROSE[:77]}.")]
    found = read(tmp_path, "The Law of the Clock", PROSE, *long, *short, "Amendment 11", PROSE * 9)
    assert found[:6] == [(f"Article. {n}.", f"Section. {k}.") for n in ("I", "II", "III") for k in (1, 2)]
    assert found[6:] == [(f"Amendment {n}",) for n in range(1, 12)]


@pytest.mark.parametrize("mark", [".—", ". –", ".--"])
def test_a_title_before_a_stop_and_a_dash_may_be_in_small_letters(tmp_path: Path, mark: str) -> None:
    titles = [f"Protection of {word} and of persons who wind them, etc" for word in ("clocks", "bells", "locks")] * 2
    found = read(tmp_path, *(f"{n}. {title}{mark}{PROSE}" for n, title in enumerate(titles, 1)))
    assert [path[-1] for path in found] == [f"{n}. {title}" for n, title in enumerate(titles, 1)]


def test_a_line_alone_above_its_text_is_a_title(tmp_path: Path) -> None:
    titles = [
        "Scope of the rights granted",
        "Duties of the keeper",
        "Fees and payment",
        "Force majeure",
        "Applicable law",
    ]
    parts = [part for n, title in enumerate(titles, 1) for part in (f"{n}.{title}", PROSE * 3)]
    assert [path[-1] for path in read(tmp_path, *parts)] == [f"{n}. {title}" for n, title in enumerate(titles, 1)]


@pytest.mark.parametrize("schedules", [1, 2])
def test_the_schedules_of_a_contract_are_outside_its_clauses(tmp_path: Path, schedules: int) -> None:
    clauses = [part for n, title in enumerate(TITLES, 1) for part in (f"{n} {title}", PROSE * 3)]
    behind = [part for n in range(1, schedules + 1) for part in (f"SCHEDULE {n} – BELLS", PROSE)]
    found = read(tmp_path, "PART 1", *clauses[:6], "PART 2", *clauses[6:], *behind)
    assert found[5] == ("PART 2", "6. Termination")
    assert found[6:] == [(f"SCHEDULE {n} – BELLS",) for n in range(1, schedules + 1)]


@pytest.mark.parametrize(
    ("line", "title"), [("Clock Towers Act 2019", "Clock Towers Act 2019"), ("The Old Bell", "Law")]
)
def test_the_title_of_an_act_stands_alone_above_numbered_sections(tmp_path: Path, line: str, title: str) -> None:
    read(tmp_path, line, *(part for n, each in enumerate(TITLES, 1) for part in (f"{n} {each}", PROSE * 4)))
    assert read_book(tmp_path / "law.txt").title == title
