from __future__ import annotations

import errno
import os
import pickle
import tarfile
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context
from pathlib import Path

import numpy as np
import pytest
from datasets import Dataset

from nlb_retriever.atomic import TEMPORARY
from nlb_retriever.errors import MismatchError, TrainingError
from nlb_retriever.indexing.report import IndexEvent
from nlb_retriever.reading import read_book
from nlb_retriever.records import Section
from nlb_training.corpus import Chunking, Corpus, CorpusBook, build_corpus, open_corpus
from nlb_training.corpus import building as corpus_building
from nlb_training.corpus.books import book_file
from nlb_training.corpus.cutting import Cutter
from tests.doubles import KeywordEncoder
from tests.training.books import KEYWORDS, CountingEncoder, write_books

SHORT = Chunking(tokens=32)
SHIFTED = Chunking(tokens=32, offset=16)
SENTENCES = Chunking(tokens=0)


def only(corpus: Corpus, file: str, chunking: Chunking) -> CorpusBook:
    [book] = [book for book in corpus.books if (book.file, book.chunking) == (file, chunking)]
    return book


def test_each_vector_is_its_chunks_own_in_every_chunking(tmp_path: Path) -> None:
    books = write_books(tmp_path / "books")
    made = build_corpus(books, tmp_path / "corpus", encoder=KEYWORDS, chunkings=[SHORT, SHIFTED, SENTENCES])
    corpus = open_corpus(tmp_path / "corpus")
    assert corpus == made
    assert corpus.encoder == KEYWORDS.identity
    assert [(book.file, book.chunking) for book in corpus.books] == [
        (f"book{number}.md", chunking) for number in (0, 1) for chunking in (SHORT, SHIFTED, SENTENCES)
    ]
    for book in corpus.books:
        text, spans = corpus.text(book), corpus.spans(book)
        texts = [text[start:end] for start, end in spans.tolist()]
        np.testing.assert_allclose(corpus.vectors(book), KEYWORDS.encode(texts), atol=1e-3)
        assert corpus.vectors(book).dtype == np.float16 and not corpus.vectors(book).flags.writeable
        assert "".join("".join(texts).split()) == "".join(text.split())  # nothing is lost, nothing is there twice
        counts = [len(KEYWORDS.tokenizer.encode(text, add_special_tokens=False)) for text in texts]
        assert max(counts) <= (book.chunking.tokens or 256) - 2
        assert sum(counts) == book.tokens
    assert [book.title for book in corpus.books[::3]] == ["Book number 0", "Book number 1"]
    assert [section.title for section in corpus.sections(corpus.books[0])][1].startswith("CHAPTER 2. The ")


def test_an_offset_makes_each_sections_first_chunk_that_short_and_other_chunks_of_the_same_text() -> None:
    text = " ".join(f"The word number {number} is here." for number in range(80))
    sections = [Section(path=("one",), start=0, end=1000), Section(path=("two",), start=1000, end=len(text))]
    plain = Cutter(KEYWORDS.tokenizer, Chunking(tokens=64)).cut(text, sections)
    moved = Cutter(KEYWORDS.tokenizer, Chunking(tokens=64, offset=20)).cut(text, sections)
    heads = [next(chunk for chunk in moved if chunk.section == number) for number in (0, 1)]
    assert [chunk.tokens for chunk in heads] == [19, 19]  # the 20th would part a word from its full stop
    assert all(chunk.tokens > 19 for chunk in moved if chunk not in heads and chunk.end < 990)
    shared = {(chunk.start, chunk.end) for chunk in plain} & {(chunk.start, chunk.end) for chunk in moved}
    assert len(shared) < len(plain) / 3
    assert {chunk.section for chunk in moved} == {0, 1}


def test_no_chunk_crosses_a_given_border(tmp_path: Path) -> None:
    [book] = write_books(tmp_path / "books", 1)
    text = read_book(book).text
    borders = [text.index("4th hour"), text.index("7th hour"), 10_000_000]
    corpus = build_corpus(
        [book], tmp_path / "corpus", encoder=KEYWORDS, chunkings=[SHORT], borders={book.name: borders}
    )
    spans = corpus.spans(corpus.books[0])
    assert corpus.text(corpus.books[0]) == text
    for border in borders[:2]:
        assert not ((spans[:, 0] < border) & (border < spans[:, 1])).any()
    unbound = build_corpus([book], tmp_path / "corpus", encoder=KEYWORDS, chunkings=[SHORT])
    assert any(
        ((unbound.spans(unbound.books[0])[:, 0] < b) & (b < unbound.spans(unbound.books[0])[:, 1])).any()
        for b in borders
    )


def test_a_killed_run_goes_on_at_the_book_that_it_was_at(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(corpus_building, "BATCH_TOKENS", 100)
    books = write_books(tmp_path / "books", 3)
    folder = tmp_path / "corpus"
    with pytest.raises(KeyboardInterrupt):
        build_corpus(books, folder, encoder=CountingEncoder(stop="of book 2"), chunkings=[SHORT])
    with pytest.raises(TrainingError, match="is unfinished: run the command that made it again"):
        open_corpus(folder)
    kept = sorted((folder / "books").iterdir())
    assert len(kept) == 1
    before = kept[0].stat().st_mtime_ns
    (folder / "books" / f"abc.arrow.99{TEMPORARY}").write_bytes(b"half a book")
    events: list[IndexEvent] = []
    corpus = build_corpus(books, folder, encoder=KEYWORDS, chunkings=[SHORT], observer=events.append)
    assert [Path(event.source).name for event in events if event.kind == "done"] == ["book1.md", "book2.md"]
    assert [book.file for book in corpus.books] == ["book0.md", "book1.md", "book2.md"]
    assert kept[0].stat().st_mtime_ns == before
    assert not list(folder.rglob(f"*{TEMPORARY}"))
    fresh = build_corpus(books, tmp_path / "fresh", encoder=KEYWORDS, chunkings=[SHORT])
    for mine, other in zip(corpus.books, fresh.books, strict=True):
        assert mine == other
        assert np.array_equal(corpus.vectors(mine), fresh.vectors(other))


def test_what_is_there_is_not_encoded_again_though_its_folder_has_moved(tmp_path: Path) -> None:
    write_books(tmp_path / "books")
    build_corpus([tmp_path / "books"], tmp_path / "corpus", encoder=KEYWORDS, chunkings=[SHORT])
    (tmp_path / "books").rename(tmp_path / "moved")
    counting = CountingEncoder()
    corpus = build_corpus([tmp_path / "moved"], tmp_path / "corpus", encoder=counting, chunkings=[SHORT])
    assert counting.calls == []
    assert [Path(book.source).parent.name for book in corpus.books] == ["moved", "moved"]
    build_corpus([tmp_path / "moved"], tmp_path / "corpus", encoder=counting, chunkings=[SHORT, SENTENCES])
    assert sum(counting.calls) == sum(
        len(book) for book in open_corpus(tmp_path / "corpus").books if book.chunking == SENTENCES
    )


def test_batches_are_filled_from_several_books(tmp_path: Path) -> None:
    counting = CountingEncoder()
    corpus = build_corpus(write_books(tmp_path / "books", 4), tmp_path / "corpus", encoder=counting, chunkings=[SHORT])
    assert counting.calls == [corpus.chunks]


def test_a_books_file_is_a_hugging_face_dataset(tmp_path: Path) -> None:
    corpus = build_corpus(write_books(tmp_path / "b", 1), tmp_path / "corpus", encoder=KEYWORDS, chunkings=[SHORT])
    (book,) = corpus.books
    rows = Dataset.from_file(str(book_file(corpus.folder, book.key))).with_format("numpy")[:]
    assert np.array_equal(rows["vector"], corpus.vectors(book).astype(np.float32))
    assert np.array_equal(rows["start"], corpus.spans(book)[:, 0])


def _sum(corpus: Corpus, index: int) -> float:
    return float(corpus.vectors(corpus.books[index]).astype(np.float64).sum())


def test_several_processes_read_the_same_corpus(tmp_path: Path) -> None:
    corpus = build_corpus(write_books(tmp_path / "books"), tmp_path / "corpus", encoder=KEYWORDS, chunkings=[SHORT])
    corpus.vectors(corpus.books[0])
    assert len(pickle.dumps(corpus)) < 5_000  # workers map the files, they are not sent the vectors
    with ProcessPoolExecutor(2, mp_context=get_context("spawn")) as pool:
        assert list(pool.map(_sum, [corpus] * 2, range(2))) == [_sum(corpus, 0), _sum(corpus, 1)]


def test_files_that_cannot_be_read_are_named_and_stop_nothing(tmp_path: Path) -> None:
    books = write_books(tmp_path / "books", 1)
    (tmp_path / "books" / "broken.epub").write_bytes(b"PK\x03\x04 no book")
    (tmp_path / "books" / "empty.txt").touch()
    (tmp_path / "books" / "twin.md").write_bytes(books[0].read_bytes())
    events: list[IndexEvent] = []
    corpus = build_corpus(
        [tmp_path / "books", tmp_path / "none.txt"],
        tmp_path / "corpus",
        encoder=KEYWORDS,
        chunkings=[SHORT, SENTENCES],
        observer=events.append,
    )
    assert [book.file for book in corpus.books] == ["book0.md", "book0.md"]
    assert {Path(file.source).name for file in corpus.failed} == {"broken.epub", "none.txt"}
    assert len(corpus.failed) == 2
    assert (str(tmp_path / "books" / "twin.md"), f"skipped: the same as {books[0]}") in corpus.warnings
    assert [event.kind for event in events if event.kind in {"done", "failed"}] == ["done"] * 2 + ["failed"] * 2
    assert all(0 <= event.done_bytes <= event.total_bytes for event in events)
    assert events[-1].done_bytes > 0.99 * events[-1].total_bytes


def test_no_usable_book_is_one_line_with_the_first_reason(tmp_path: Path) -> None:
    (tmp_path / "empty.txt").touch()
    with pytest.raises(
        TrainingError, match=r"there is no book to train on: 1 cannot be used, the first: .*empty \(0 b"
    ) as caught:
        build_corpus([tmp_path / "empty.txt"], tmp_path / "corpus", encoder=KEYWORDS)
    assert "\n" not in str(caught.value)


def test_a_book_shorter_than_a_chunk_is_one_chunk_with_a_warning(tmp_path: Path) -> None:
    (tmp_path / "short.txt").write_text("The whale dived.")
    corpus = build_corpus([tmp_path / "short.txt"], tmp_path / "corpus", encoder=KEYWORDS)
    assert corpus.vectors(corpus.books[0]).shape == (1, 7)
    [(source, warning)] = corpus.warnings
    assert source.endswith("short.txt") and warning == "has only one chunk (256 tokens)"


def test_a_book_with_a_vector_that_is_none_is_refused_with_its_place(tmp_path: Path) -> None:
    books = write_books(tmp_path / "books")
    poisoned = CountingEncoder(poison="1.7th hour")
    (tmp_path / "books" / "book1.md").write_text(books[1].read_text().replace("1.7th", "1.8th"))
    corpus = build_corpus(books, tmp_path / "corpus", encoder=poisoned, chunkings=[SHORT])
    assert [book.file for book in corpus.books] == ["book1.md"]
    [failed] = corpus.failed
    found = int(failed.reason.split("characters ")[1].split()[0])
    assert "1.7th hour" in books[0].read_text()[found : found + 200]
    assert "gave no unit vector" in failed.reason


def test_vectors_that_went_bad_on_the_disk_are_named(tmp_path: Path) -> None:
    corpus = build_corpus(write_books(tmp_path / "b", 1), tmp_path / "corpus", encoder=KEYWORDS, chunkings=[SHORT])
    corpus.verify()
    [file] = (tmp_path / "corpus" / "books").iterdir()
    row = corpus.vectors(corpus.books[0])[2].tobytes()
    content = file.read_bytes()
    at = content.index(corpus.vectors(corpus.books[0]).tobytes()) + 2 * len(row)
    file.write_bytes(content[:at] + b"\x00\x7e" * (len(row) // 2) + content[at + len(row) :])
    with pytest.raises(
        TrainingError, match=r"no unit vector for 1 of \d+ chunks of book0.md \(the first: number 2, ch"
    ):
        open_corpus(tmp_path / "corpus").verify()


@pytest.mark.parametrize("share", [0.0, 0.1, 0.5, 0.99])
def test_a_torn_file_is_named(tmp_path: Path, share: float) -> None:
    corpus = build_corpus(write_books(tmp_path / "b", 1), tmp_path / "corpus", encoder=KEYWORDS, chunkings=[SHORT])
    [file] = (tmp_path / "corpus" / "books").iterdir()
    os.truncate(file, int(share * file.stat().st_size))
    with pytest.raises(TrainingError, match=r"\.arrow is missing or damaged \(.*build the corpus again"):
        open_corpus(tmp_path / "corpus").vectors(corpus.books[0])


def test_a_full_disk_is_one_line_and_keeps_the_books_so_far(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(corpus_building, "BATCH_TOKENS", 100)
    books, folder = write_books(tmp_path / "books", 3), tmp_path / "corpus"
    real = corpus_building.write_book
    written: list[Path] = []

    def fill(file: Path, *rest: object) -> CorpusBook:
        if written:
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
        written.append(file)
        return real(file, *rest)  # type: ignore[arg-type]

    monkeypatch.setattr(corpus_building, "write_book", fill)
    with pytest.raises(
        TrainingError, match=r"\(No space left on device\): the books encoded so far are kept; make room"
    ):
        build_corpus(books, folder, encoder=KEYWORDS, chunkings=[SHORT])
    assert list((folder / "books").iterdir()) == written
    monkeypatch.setattr(corpus_building, "write_book", real)
    counting = CountingEncoder()
    corpus = build_corpus(books, folder, encoder=counting, chunkings=[SHORT])
    assert sum(counting.calls) == corpus.chunks - len(corpus.books[0])


def test_a_full_disk_leaves_no_half_written_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(_descriptor: int) -> None:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    monkeypatch.setattr("os.fsync", full)
    with pytest.raises(TrainingError, match="No space left on device"):
        build_corpus(write_books(tmp_path / "books"), tmp_path / "corpus", encoder=KEYWORDS, chunkings=[SHORT])
    assert [file for file in (tmp_path / "corpus").rglob("*.*") if file.name != ".lock"] == []


def test_another_encoder_is_refused_with_both_names(tmp_path: Path) -> None:
    books = write_books(tmp_path / "books", 1)
    build_corpus(books, tmp_path / "corpus", encoder=KEYWORDS, chunkings=[SHORT])
    twin = KeywordEncoder("a", "b", name="twin", sha256="1" * 64)
    with pytest.raises(
        MismatchError, match=r"7-d vectors of keywords \(000000000000\), this is twin \(3-d, 111111111111"
    ):
        build_corpus(books, tmp_path / "corpus", encoder=twin, chunkings=[SHORT])
    assert open_corpus(tmp_path / "corpus").encoder == KEYWORDS.identity


def test_chunkings_out_of_range_are_refused() -> None:
    with pytest.raises(TrainingError, match="chunks of 8 tokens: use 16 to 512"):
        Chunking(tokens=8)
    with pytest.raises(TrainingError, match="cannot have the offset 64: use 0, or 8 to one less"):
        Chunking(tokens=64, offset=64)
    with pytest.raises(TrainingError, match="chunks of one sentence cannot have the offset 10"):
        Chunking(tokens=0, offset=10)


def test_no_corpus_at_that_place_and_a_damaged_listing(tmp_path: Path) -> None:
    with pytest.raises(TrainingError, match="there is no corpus at"):
        open_corpus(tmp_path)
    (tmp_path / "corpus.json").write_text('{"format": 1, "enc')
    with pytest.raises(TrainingError, match=r"corpus.json is damaged \("):
        open_corpus(tmp_path)


def test_gold_spans_index_the_text_that_the_reader_gives(data_dir: Path) -> None:
    with tarfile.open(data_dir / "corpus" / "fairytaleqa.tar.bz2") as archive:
        members = [member for member in archive if member.name.endswith(".txt")][:4]
        for member in members:
            stream = archive.extractfile(member)
            assert stream is not None
            content = stream.read().decode()
            file = Path(os.environ["NLB_HOME"]) / Path(member.name).name
            file.write_text(content, newline="")
            assert read_book(file).text == content
