"""The sentences of a text that tell most, one of each part of it."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from nlb_retriever.encoding import ChunkEncoder, Vectors, find_salience, score_sentences
from nlb_retriever.records import Hit
from nlb_retriever.search.answers.book_parts import ends_sentence
from nlb_retriever.search.answers.quotes import Quote, find_sentences, is_prose
from nlb_retriever.text.languages import number_of_words

SENTENCES, WORDS = 8, 150
"""Of a digest, at most."""
SHORTEST = 5
"""Words of a sentence."""
KEPT = 10
"""Words that are kept for each sentence that is still to come."""
COMPARED = 2_000
"""Most sentences that are compared; of a longer text, so many evenly chosen ones."""


def choose_telling(hits: Sequence[Hit], encoder: ChunkEncoder, count: int) -> list[Quote]:
    """The sentence that tells most of each of `count` parts of some passages.

    Args:
        hits: passages in order.
        encoder: the chunk encoder; with the default one, which sentences tell most is learnt from summaries of
            chapters, with others those that are most similar to the whole do.
        count: of sentences, at most.
    """
    quotes = read_sentences(hits)
    texts = [quote.text(hits) for quote in quotes]
    if not texts:
        return []
    lengths = np.array([number_of_words(text) for text in texts])
    scores = score_sentences(encoder.encode(texts), lengths, weights_of(encoder))
    return [quotes[index] for index in choose(scores, lengths, count)]


def read_sentences(hits: Sequence[Hit]) -> list[Quote]:
    """The sentences of prose of some passages, at most `COMPARED`; formulas and rows of tables end as none does."""
    quotes = [quote for quote in find_sentences(hits) if is_prose(hits[quote.hit], quote.start, quote.end)]
    whole = [quote for quote in quotes if ends_sentence(quote.text(hits))]
    quotes = whole if 2 * len(whole) >= len(quotes) else quotes
    return [quotes[at] for at in np.linspace(0, len(quotes) - 1, min(len(quotes), COMPARED)).astype(int)]


def weights_of(encoder: ChunkEncoder) -> Vectors | None:
    """What an encoder's vectors say of how much a sentence tells; None where that is not known."""
    return find_salience(encoder.identity.sha256)


def choose(scores: Vectors, lengths: NDArray[np.int64], count: int) -> list[int]:
    """The indexes of the best sentence of each of `count` parts of a text, in about `WORDS` words.

    Args:
        scores: of the text's sentences, in order.
        lengths: theirs in words.
        count: of parts; of more than `SENTENCES` in as many more words.
    """
    parts = (np.cumsum(lengths) - lengths) * count // max(int(lengths.sum()), 1)
    left = max(WORDS, count * WORDS // SENTENCES)
    chosen: list[int] = []
    for part in dict.fromkeys(parts[parts < count].tolist()):
        most = left - KEPT * (count - 1 - part)
        fitting = np.flatnonzero((parts == part) & (lengths >= SHORTEST) & (lengths <= most))
        if len(fitting):
            best = int(fitting[scores[fitting].argmax()])
            chosen.append(best)
            left -= int(lengths[best])
    return chosen
