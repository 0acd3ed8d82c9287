"""Other spellings of a foreign name: "Pozdnyshev" is "Posdnicheff" in one translation, "Calchas" is "Calkas".

Letters that stand for the same sound of a foreign name in English, French and German books are exchanged, and single
letters for double ones; an "e" at the end is left out ("Agramante", "Agramant"). The groups hold what the romanizations
of Cyrillic and Greek (ALA-LC, and the French and German ones of the 19th century) make of the same letter.
"""

from __future__ import annotations

SOUNDS = (
    "f ff ph", "v w", "ev ew ef eff", "ov ow of off",
    "sh sch ch sz", "ch tch tsch cz", "k c ch kh ck q", "s ss z", "z ts tz c", "x ks",
    "t th", "g gh", "r rh", "y i j ie ii", "ya ia ja", "yu iu ju", "u ou oo", "e ae oe",
)  # fmt: skip
MOST_CHANGES = 4
_SPELLINGS: dict[str, frozenset[str]] = {}
for _group in (sound.split() for sound in SOUNDS):
    for _letters in _group:
        _SPELLINGS[_letters] = _SPELLINGS.get(_letters, frozenset()) | frozenset(_group)
_LONGEST_FIRST = sorted(_SPELLINGS, key=lambda letters: (-len(letters), letters))
_VOWELS = "aeiouy"


def make_variants(name: str, most: int) -> list[str]:
    """Other spellings of a name in lower case, those with the fewest changes first; of as many changes in the
    order of the alphabet.

    Args:
        name: in lower case.
        most: so many at most.
    """
    variants = {"": 0}
    for letters, others in _parts(name):
        longer = {start + letters: changes for start, changes in variants.items()}
        for start, changes in variants.items():
            if changes < MOST_CHANGES:
                for other in others:
                    longer[start + other] = min(changes + 1, longer.get(start + other, MOST_CHANGES))
        fewest = sorted(longer.items(), key=lambda variant: (variant[1], variant[0]))
        variants = dict(fewest[: most + 1])  # a long name has millions
    return [variant for variant in variants if variant != name]


def _parts(name: str) -> list[tuple[str, list[str]]]:
    """The letters of each sound of a name, in order, with the other ways to write it."""
    parts = []
    at = 0
    while at < len(name):
        letters = next((each for each in _LONGEST_FIRST if name.startswith(each, at)), name[at])
        single, double = name[at], name[at] * 2
        if len(letters) == 1 and name.startswith(double, at):
            letters = double
        others = _SPELLINGS.get(letters, frozenset())
        if letters == double:
            others |= {single} | _SPELLINGS.get(single, frozenset())
        elif letters == single and single not in _VOWELS and at:
            others |= {double}
        if letters == "e" and at == len(name) - 1:
            others |= {""}
        parts.append((letters, sorted(others - {letters})))
        at += len(letters)
    return parts
