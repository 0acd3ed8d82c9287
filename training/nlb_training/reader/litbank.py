"""Questions made from LitBank's coreference and quotations: who "she" is, and who speaks (arXiv 1912.01140).

LitBank's texts are tokens with spaces between them; passages are detokenized.
"""

from __future__ import annotations

import random
import re
import tarfile
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path, PurePosixPath

from nlb_training.reader.contexts import TOKEN_CHARACTERS
from nlb_training.reader.examples import Candidate, Example, Span
from nlb_training.training_data import unreadable

_CLOSE = frozenset(", . ; : ! ? ) ” ’ '' ...".split())
_OPEN = frozenset("( “ ‘ `` _".split())
_CLITIC = re.compile(r"['’](?:s|d|ll|re|ve|m|t)$|n['’]t$", re.IGNORECASE)
_STOP = re.compile(r"^(?:[,;:.!?”“)(]|--|''|``)+$")
_SUBJECTS = frozenset({"he", "she", "they"})
_CHARACTERS = int(230 * TOKEN_CHARACTERS)


@dataclass(frozen=True, kw_only=True)
class _Mention:
    first: int
    last: int
    """Tokens, inclusive."""
    kind: str
    """PROP, NOM or PRON."""
    entity: str


@dataclass(frozen=True, kw_only=True)
class _Text:
    tokens: tuple[str, ...]
    mentions: tuple[_Mention, ...]
    quotes: tuple[tuple[int, int, str], ...]
    """First and last token, and the speaker."""


def litbank_examples(data: Path, draw: random.Random) -> Iterator[Example]:
    """Questions on LitBank's novels: "Who BROKE HIS LEG?" for "He broke his leg", "Who says: ...?" for a quotation.

    Raises:
        TrainingError: the archive is missing or damaged.
    """
    archive = data / "corpus" / "litbank.tar.bz2"
    files: dict[str, dict[str, str]] = defaultdict(dict)
    try:
        with tarfile.open(archive) as tar:
            for member in tar:
                path = PurePosixPath(member.name)
                kind = path.parts[-3] if len(path.parts) >= 3 else ""
                if member.isfile() and kind in {"coref", "quotations"} and (file := tar.extractfile(member)):
                    files[path.stem][f"{kind}{path.suffix}"] = file.read().decode("utf-8")
    except (OSError, EOFError, ValueError, tarfile.TarError) as error:
        raise unreadable(archive, error) from error
    for _, parts in sorted(files.items()):
        text = _parse(parts)
        yield from _pronoun_examples(text, draw)
        yield from _quote_examples(text, draw)


def _parse(parts: Mapping[str, str]) -> _Text:
    raw = parts["coref.txt"]
    matches = list(re.finditer(r"\S+", raw))
    at = {match.start(): index for index, match in enumerate(matches)}
    until = {match.end(): index for index, match in enumerate(matches)}
    labels: dict[Span, list[str]] = defaultdict(list)
    for line in parts["coref.ann"].splitlines():
        if line.startswith("T"):
            label, *offsets = line.split("\t")[1].split(" ")
            labels[int(offsets[0]), int(offsets[1])].append(label)
    mentions = []
    for (start, end), own in labels.items():
        kinds = [label.partition("_")[0] for label in own if re.match(r"(PROP|NOM|PRON)_PER$", label)]
        entities = [label for label in own if not re.match(r"(PROP|NOM|PRON)_[A-Z]{3}$", label)]
        if kinds and entities and start in at and end in until:
            mentions.append(_Mention(first=at[start], last=until[end], kind=kinds[0], entity=entities[0]))
    starts = [0]
    for line in raw.split("\n"):
        starts.append(starts[-1] + len(line.split()))
    spans: dict[str, Span] = {}
    quotes = []
    for line in parts.get("quotations.ann", "").splitlines():
        fields = line.split("\t")
        if fields[0] == "QUOTE":
            spans[fields[1]] = starts[int(fields[2])] + int(fields[3]), starts[int(fields[4])] + int(fields[5])
        elif fields[0] == "ATTRIB" and fields[1] in spans:
            quotes.append((*spans[fields[1]], fields[2]))
    tokens = tuple(match.group() for match in matches)
    return _Text(tokens=tokens, mentions=tuple(sorted(mentions, key=lambda each: each.first)), quotes=tuple(quotes))


def _pronoun_examples(text: _Text, draw: random.Random) -> Iterator[Example]:
    for mention in text.mentions:
        word = text.tokens[mention.first].lower()
        if mention.kind != "PRON" or word not in _SUBJECTS or mention.first != mention.last:
            continue
        before = text.tokens[mention.first - 1] if mention.first else "."
        if not (_STOP.match(before) or before.lower() in {"and", "but", "that", "when", "as", "because", "then"}):
            continue
        stop = mention.last + 1
        while stop < len(text.tokens) and not _STOP.match(text.tokens[stop]) and stop - mention.last <= 16:
            stop += 1
        if stop - mention.last < 4:
            continue
        rest, _ = _join(text.tokens[mention.last + 1 : stop])
        if example := _example(text, mention.first, stop, mention.entity, f"Who {rest}?", draw):
            yield example


def _quote_examples(text: _Text, draw: random.Random) -> Iterator[Example]:
    for first, last, speaker in text.quotes:
        words = text.tokens[first : last + 1]
        size = draw.randint(5, 14)
        start = draw.randrange(max(1, len(words) - size))
        quotation, _ = _join([word for word in words[start : start + size] if word not in {"“", "”", "``", "''"}])
        template = draw.choice(('Who says "{}"?', "Who says {}?", 'Who said: "{}"?', 'Who speaks of "{}"?'))
        if len(quotation) > 12 and (example := _example(text, first, last, speaker, template.format(quotation), draw)):
            yield example


def _example(text: _Text, first: int, last: int, entity: str, question: str, draw: random.Random) -> Example | None:
    """A passage around some tokens in which the entity is named, if it is."""
    low, high = _window(text.tokens, first, last, draw)
    named = [
        each
        for kind in ("PROP", "NOM")
        for each in text.mentions
        if each.kind == kind
        and each.entity == entity
        and low <= each.first
        and each.last < high
        and each.last - each.first < 5
    ]
    named = [each for each in named if each.kind == named[0].kind]
    if not named:
        return None
    passage, offsets = _join(text.tokens[low:high])
    spans = tuple(sorted({(offsets[each.first - low][0], offsets[each.last - low][1]) for each in named}))
    candidate = Candidate(text=passage, relevant=True, spans=spans)
    return Example(source="litbank", question=question, candidates=(candidate,))


def _window(tokens: Sequence[str], first: int, last: int, draw: random.Random) -> Span:
    """Tokens around some tokens, more of them before than behind, from a sentence's beginning."""
    characters = draw.randint(_CHARACTERS // 3, _CHARACTERS)
    low, high = first, last + 1
    size = sum(len(token) + 1 for token in tokens[low:high])
    while low > 0 and size < characters * 3 // 4:
        low -= 1
        size += len(tokens[low]) + 1
    while high < len(tokens) and size < characters:
        size += len(tokens[high]) + 1
        high += 1
    while low < first and low > 0 and tokens[low - 1] not in {".", "!", "?", "”"}:
        low += 1
    return low, high


def _join(tokens: Sequence[str]) -> tuple[str, list[Span]]:
    """Detokenized text, and the span of each token."""
    text = ""
    spans: list[Span] = []
    inside = opened = False
    for token in tokens:
        closes = token in _CLOSE or (token == '"' and inside) or bool(_CLITIC.search(token))
        if text and not (closes or opened or token == "--" or text.endswith("--")):
            text += " "
        opened = token in _OPEN or (token == '"' and not inside)
        inside ^= token == '"'
        spans.append((len(text), len(text) + len(token)))
        text += token
    return text, spans
