"""Small examples that a tiny network can learn: who has what."""

from __future__ import annotations

import random

from nlb_training.reader.examples import Candidate, Example

NAMES = ("Anna", "Boris", "Clara", "David", "Emma", "Frank", "Greta", "Henry")
THINGS = ("a boat", "a horse", "a lamp", "a sword", "a book", "a crown")


def make_examples(count: int, seed: int = 0) -> list[Example]:
    """Questions whose answer is the name before "has THING", each with a passage beside it that lacks the thing."""
    draw = random.Random(seed)
    examples = []
    for _ in range(count):
        names, things = draw.sample(NAMES, 2), draw.sample(THINGS, 3)
        text = f"{names[0]} has {things[0]}. {names[1]} has {things[1]}."
        start = text.index(names[1])
        good = Candidate(text=text, relevant=True, spans=((start, start + len(names[1])),))
        bad = Candidate(text=f"{names[0]} has {things[2]}.", relevant=False)
        examples.append(Example(source="test", question=f"Who has {things[1]}?", candidates=(good, bad)))
    return examples
