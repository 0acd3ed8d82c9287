from __future__ import annotations

import random
import time
from pathlib import Path

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from tokenizers import Tokenizer, models, normalizers, pre_tokenizers, trainers

from nlb_retriever.errors import EncoderError
from nlb_retriever.records import Passage, Section
from nlb_retriever.text.chunking import Chunker
from nlb_retriever.text.sentences import sentence_spans
from tests.doubles import bare_tokenizer, minilm_tokenizer

MINILM = minilm_tokenizer()
BARE = bare_tokenizer()


def byte_pairs() -> Tokenizer:
    """A tokenizer like GPT-2's, where a word's tokens depend on the space before it."""
    tokenizer = Tokenizer(models.BPE())
    tokenizer.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    alphabet = pre_tokenizers.ByteLevel.alphabet()
    trainer = trainers.BpeTrainer(vocab_size=400, initial_alphabet=alphabet, show_progress=False)
    tokenizer.train_from_iterator([PROSE * 3], trainer)
    return tokenizer


def prose(paragraphs: int, seed: int = 1) -> str:
    rng = random.Random(seed)
    words = ["the", "whale", "a", "sea", "of", "old", "captain", "quietly", "wintry", "harpooneer's"]

    def sentence() -> str:
        stop = rng.choice([".", "!", ".”", "?"])
        return " ".join(rng.choices(words, k=rng.randint(3, 30))).capitalize() + stop

    return "\n\n".join(" ".join(sentence() for _ in range(rng.randint(1, 9))) for _ in range(paragraphs))


PROSE = prose(60)
BYTE_PAIRS = byte_pairs()
CHINESE_WORDS = Tokenizer.from_str(BARE.to_str())
CHINESE_WORDS.normalizer = normalizers.BertNormalizer(handle_chinese_chars=False)


def whole(text: str) -> list[Section]:
    return [Section(path=("All",), start=0, end=len(text))]


def halves(text: str) -> list[Section]:
    middle = len(text) // 2
    return [Section(path=("One",), start=0, end=middle), Section(path=("Two",), start=middle, end=len(text))]


def check(
    text: str, sections: list[Section], passages: tuple[Passage, ...], limit: int, bare: Tokenizer = BARE
) -> None:
    """Everything that is promised about any text."""
    at = 0
    for passage in passages:
        section = sections[passage.section]
        shown = text[passage.start : passage.end]
        assert section.start <= passage.start < passage.end <= section.end
        assert not text[at : passage.start].strip()  # so in order, without overlap, nothing lost
        assert shown == shown.strip()
        assert passage.tokens == len(bare.encode(shown, add_special_tokens=False)) <= limit
        at = passage.end
    assert not text[at:].strip()


ODD = "ab Z1.!?,'\"”“—-…_[]#@\n\t\r\0\x0b\x0c\x1c\x85\xa0\u200b\u2028\u3000\ufeff\u0301é"
WIDE = "中文。」ひラ한ﬁ𠀀🐳ßİ"
LUMPS = ["[CLS]", "[SEP]", "[MASK]", "word ", "Mr. ", "hippopotamus", "x" * 99, "y" * 120, "\n\n", "z" * 300]
weird_text = st.lists(
    st.one_of(st.sampled_from(ODD + WIDE), st.sampled_from(LUMPS), st.characters(exclude_categories=["Cs"])),
    max_size=150,
).map("".join)


@settings(deadline=None, max_examples=150)
@given(weird_text, st.sampled_from([0, 10, 24, 256]), st.sampled_from(["sentence", "fixed"]))
@example("no.\x0cspace", 0, "sentence")
@example("a [CLS]b", 10, "fixed")
def test_any_text_is_covered_once_with_exact_counts(text: str, tokens: int, boundary: str) -> None:
    chunker = Chunker(BARE, tokens=tokens, boundary=boundary)  # type: ignore[arg-type]
    sections = halves(text)
    check(text, sections, chunker.passages(text, sections), (tokens or 256) - 2)


@settings(deadline=None, max_examples=75)
@given(weird_text, st.sampled_from([0, 12, 256]), st.sampled_from([BYTE_PAIRS, CHINESE_WORDS]))
@example("中文" * 30, 12, CHINESE_WORDS)
def test_a_tokenizer_whose_words_depend_on_each_other_is_counted_exactly_too(
    text: str, tokens: int, tokenizer: Tokenizer
) -> None:
    sections = halves(text)
    limit = (tokens or 256) - tokenizer.num_special_tokens_to_add(False)
    check(text, sections, Chunker(tokenizer, tokens=tokens).passages(text, sections), limit, tokenizer)


@pytest.mark.parametrize("tokenizer", [MINILM, BYTE_PAIRS], ids=["wordpiece", "byte pairs"])
def test_passages_of_prose_are_full_and_end_with_sentences(tokenizer: Tokenizer) -> None:
    passages = Chunker(tokenizer, tokens=256).passages(PROSE, whole(PROSE))
    assert len(passages) > 10
    for passage in passages:
        assert PROSE[passage.end - 1] in ".!?”"
    assert min(passage.tokens for passage in passages) > 100  # the last two were balanced
    assert sum(passage.tokens for passage in passages) / len(passages) > 200


def test_a_paragraph_end_is_preferred_to_a_later_sentence_end() -> None:
    text = "One two three. " * 50 + "End.\n\n" + "Four five six. " * 60
    first = Chunker(MINILM, tokens=256).passages(text, whole(text))[0]
    assert text[first.start : first.end].endswith("End.")


def test_without_sentence_ends_a_passage_ends_with_a_word() -> None:
    text = "whale " * 1100
    passages = Chunker(MINILM, tokens=256).passages(text, whole(text))
    assert [passage.tokens for passage in passages] == [254, 254, 254, 169, 169]
    mixed = "harpooneer's-own 中 " * 300  # a wide character makes words divisible, but a space is better
    for passage in Chunker(MINILM, tokens=64).passages(mixed, whole(mixed)):
        assert mixed[passage.start : passage.end].startswith(("harpooneer's-own", "中"))


def test_the_last_two_passages_of_a_section_share_its_rest() -> None:
    chunker = Chunker(MINILM)
    for count in range(255, 381):
        text = " ".join(["sea"] * count)
        sizes = [passage.tokens for passage in chunker.passages(text, whole(text))]
        assert sum(sizes) == count and abs(sizes[0] - sizes[1]) <= 1


def test_the_fixed_chunk_of_the_paper_is_filled_to_the_last_word() -> None:
    passages = Chunker(MINILM, tokens=256, boundary="fixed").passages(PROSE, whole(PROSE))
    assert all(passage.tokens > 245 for passage in passages[:-1])


def test_chunk_size_zero_gives_a_sentence_a_passage() -> None:
    text = "He went. She stayed!\n\nWhy? " + "On and on " * 100 + "they ran. 他走了。完！"
    passages = Chunker(MINILM, tokens=0).passages(text, whole(text))
    shown = [text[passage.start : passage.end] for passage in passages]
    assert shown[:3] == ["He went.", "She stayed!", "Why?"]
    assert shown[-2:] == ["他走了。", "完！"]
    assert [passage.tokens <= 254 for passage in passages[3:5]] == [True, True]  # too long for one
    assert len(shown) == 7


def test_no_passage_crosses_a_section_border() -> None:
    starts = range(0, len(PROSE), 97)
    sections = [Section(path=("x",), start=at, end=min(at + 97, len(PROSE))) for at in starts]
    check(PROSE, sections, Chunker(MINILM).passages(PROSE, sections), 254)


def test_sections_without_text_have_no_passages() -> None:
    assert Chunker(MINILM).passages("", []) == ()
    assert Chunker(MINILM).passages(" \n ", whole(" \n ")) == ()


def test_a_tokenizer_with_truncation_is_left_as_it_was() -> None:
    tokenizer = minilm_tokenizer()
    before = tokenizer.to_str()
    text = "whale " * 300
    assert sum(passage.tokens for passage in Chunker(tokenizer).passages(text, whole(text))) == 300
    assert tokenizer.to_str() == before


def test_a_chunk_too_short_for_text_or_too_long_is_refused_with_the_numbers() -> None:
    with pytest.raises(EncoderError, match=r"chunk of 1,000,000,000 tokens is too long: use at most 1,000,000"):
        Chunker(minilm_tokenizer(), tokens=10**9)
    with pytest.raises(EncoderError, match=r"chunk of 9 tokens holds no text beside 2 special .* use 10 or"):
        Chunker(MINILM, tokens=9)


MONSTERS = {
    "a novel without line ends": "the quick brown fox jumps over the lazy dog and ",
    "no spaces": "a",
    "commas for spaces": "a,",
    "dashes only": "—",
    "Chinese": "我走了很远的路。",
    "Thai": "ภาษาไทย",
    "blank lines": "a\n\n",
    "form feeds": "a\x0cb ",
    "spaces": "a" + " " * 99_999,
}


@pytest.mark.parametrize("unit", MONSTERS.values(), ids=MONSTERS.keys())
@pytest.mark.parametrize("tokens", [0, 256])
def test_monstrous_text_takes_linear_time(unit: str, tokens: int) -> None:
    text = unit * (300_000 // len(unit))
    chunker = Chunker(MINILM, tokens=tokens)
    began = time.process_time()
    passages = chunker.passages(text, whole(text))
    assert time.process_time() - began < 30
    check(text, whole(text), passages, 254)
    assert max(passage.end - passage.start for passage in passages) <= 254 * 16


def test_real_books_are_cut_whole(data_dir: Path) -> None:
    for name in ("time-machine.txt", "republic.md"):
        text = (data_dir / "library" / name).read_text(encoding="utf-8")
        starts = range(0, len(text), 50_000)
        sections = [Section(path=("x",), start=at, end=min(at + 50_000, len(text))) for at in starts]
        passages = Chunker(MINILM).passages(text, sections)
        check(text, sections, passages, 254)
        ended = sum(text[passage.end - 1] in ".!?”’\"'" for passage in passages)
        assert ended > len(passages) * 0.8  # the rest: sentences longer than a quarter of a chunk


def test_three_million_tokens_are_cut_whole() -> None:
    text = "The whale swam on. " * 600_000  # five tokens each, 11 MB, twelve blocks
    passages = Chunker(MINILM).passages(text, whole(text))
    assert sum(passage.tokens for passage in passages) == 3_000_000
    assert len(passages) < 12_200


def test_passages_in_other_letters_begin_with_a_sentence() -> None:
    short = "Он благополучно избегнул встречи с хозяйкой на лестнице. "
    long = "Каморка его приходилась под кровлей высокого дома и походила на шкаф, "
    long += "чем он был недоволен, и дверь её почти никогда не закрывалась, как и окно над лестницей. "
    text = ((short + long) * 30).strip()
    starts = {start for start, _ in sentence_spans(text)}
    passages = Chunker(MINILM).passages(text, [Section(path=("x",), start=0, end=len(text))])
    assert all(passage.start in starts for passage in passages)
    assert all(passage.tokens <= 254 for passage in passages)
