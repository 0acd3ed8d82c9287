"""Questions in ten languages, put to one library of all of them: docs/benchmarks.md, "Other languages".

    python benchmarks/languages.py FOLDER

FOLDER has the Debian FAQ in ten languages: usr/share/doc/debian/FAQ of Debian's packages debian-faq and
debian-faq-{de,fr,it,ja,ko,nl,pt,ru,zh-cn}. Its headings are its questions, so each section is called by its number
alone, and the question is put to the library. Counted are sections in the question's language. What a translation left
in English is not put.
"""

from __future__ import annotations

import re
import sys
import tempfile
from pathlib import Path

from selectolax.lexbor import LexborHTMLParser

from nlb_retriever import Retriever, index_files

LANGUAGES = ("en", "de", "fr", "it", "nl", "pt", "ru", "ja", "ko", "zh-cn")
TITLE = re.compile(r"(?:Chapter\s)?(\d+(?:\.\d+)+)\.?\s*(.*)")
LEAST, BEGINNING = 60, 80
"""Characters of a section that is asked for, and of its beginning, which must not be that of the English one."""


def main() -> None:
    """Print the MRR of sections and passages for each language."""
    folder = Path(sys.argv[1])
    sections = {language: read_faq(folder, language) for language in LANGUAGES}
    with tempfile.TemporaryDirectory() as scratch:
        books = Path(scratch) / "books"
        for language, found in sections.items():
            (books / language).mkdir(parents=True)
            parts = ["# FAQ", *(f"## {number}\n\n{body}" for number, (_, body) in found.items())]
            (books / language / "faq.md").write_text("\n\n".join(parts), encoding="utf-8")
        index_files([books], Path(scratch) / "library")
        with Retriever(Path(scratch) / "library") as retriever:
            for language, found in sections.items():
                questions = {
                    number: question
                    for number, (question, _) in found.items()
                    if is_translated(number, language, sections)
                }
                scores = [
                    f"{level}s {mode} {100 * mean_reciprocal_rank(retriever, questions, language, level, mode):.1f}"
                    for level in ("section", "passage")
                    for mode in ("dense", "bm25", "fused")
                ]
                print(f"{language} ({len(questions)}): {', '.join(scores)}", flush=True)


def read_faq(folder: Path, language: str) -> dict[str, tuple[str, str]]:
    """Question and text of each section, by its number."""
    found = {}
    for path in sorted((folder if language == "en" else folder / language).glob(f"*.{language}.html")):
        if path.name.startswith(("index", "faqinfo")):
            continue
        for section in LexborHTMLParser(path.read_text(encoding="utf-8")).css("div.section, section.section"):
            title = section.css_first("h2.title, h3.title, h4.title")
            if match := TITLE.match(" ".join(title.text().split())) if title else None:
                own = LexborHTMLParser(section.html or "")
                for inner in (*own.css("div.titlepage"), *own.css("div.section div.section")):
                    inner.decompose()
                lines = (" ".join(node.text().split()) for node in own.css("p, pre, li"))
                found[match[1]] = (match[2], "\n\n".join(filter(None, lines)))
    return dict(sorted(found.items(), key=lambda item: [int(part) for part in item[0].split(".")]))


def is_translated(number: str, language: str, sections: dict[str, dict[str, tuple[str, str]]]) -> bool:
    """Whether a section is long enough, and neither its question nor its text is the English one."""
    question, body = sections[language][number]
    if len(body) <= LEAST or number not in sections["en"]:
        return False
    english = sections["en"][number]
    return language == "en" or (question != english[0] and body[:BEGINNING] != english[1][:BEGINNING])


def mean_reciprocal_rank(
    retriever: Retriever, questions: dict[str, str], language: str, level: str, mode: str
) -> float:
    """Of the first hit in a question's section, among ten."""
    total = 0.0
    for number, question in questions.items():
        hits = retriever.search(question, level=level, mode=mode)  # type: ignore[arg-type]
        ranks = (
            rank
            for rank, hit in enumerate(hits, 1)
            if hit.source.endswith(f"{language}/faq.md") and hit.section and hit.section[-1] == number
        )
        total += 1 / next(ranks, float("inf"))
    return total / len(questions)


if __name__ == "__main__":
    main()
