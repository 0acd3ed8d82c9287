"""Titles before names, and nouns that say who somebody is: relatives, professions, ranks, peoples, "friend", "girl"."""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Literal

Gender = Literal["female", "male"]

TITLES = frozenset(
    "mr mrs ms miss dr sir lady lord madame madam mademoiselle monsieur signor signior messer mistress mester captain"
    " colonel major general sergeant inspector king queen prince princess professor aunt uncle count countess duke"
    " duchess baron abbot bishop cardinal minister master father mother brother sister saint st".split()
)
"""Words that stand before a name, in small letters and without a stop."""
_NOUNS = frozenset(
    # relatives
    "father mother papa mamma dad mom mum parent son daughter child baby infant twin brother sister husband wife "
    "spouse widow widower bride bridegroom fiancé fiancée betrothed uncle aunt nephew niece cousin grandfather "
    "grandmother grandson granddaughter grandchild half-brother half-sister stepfather stepmother stepson "
    "stepdaughter godfather godmother godson goddaughter son-in-law daughter-in-law brother-in-law sister-in-law "
    "father-in-law mother-in-law heir heiress orphan guardian ward descendant relative relation kinsman kinswoman "
    "eldest youngest elder younger "
    # ranks and offices
    "king queen prince princess emperor empress sultan duke duchess marquis earl count countess viscount baron "
    "baroness baronet knight squire lord lady nobleman noble chief chieftain leader head governor mayor president "
    "minister ambassador consul secretary judge magistrate sheriff captain mate sailor seaman soldier officer "
    "lieutenant colonel major general sergeant corporal ensign admiral commander midshipman skipper pilot boatswain "
    "harpooner harpooneer whaler recruit spy messenger "
    # professions and trades
    "lawyer solicitor barrister attorney advocate notary clerk doctor physician surgeon apothecary practitioner "
    "nurse midwife professor teacher tutor schoolmaster schoolmistress governess scholar student pupil "
    "undergraduate philosopher scientist physicist chemist naturalist astronomer inventor engineer priest clergyman "
    "vicar curate rector parson bishop monk nun friar abbot deacon chaplain preacher missionary cook steward "
    "servant maid housemaid housekeeper butler valet footman coachman groom page gardener keeper gamekeeper porter "
    "landlord landlady innkeeper host hostess barmaid waiter merchant trader grocer baker butcher tailor shoemaker "
    "smith blacksmith carpenter miller mason farmer shepherd peasant labourer laborer shopkeeper banker broker agent "
    "factor manager manufacturer dealer jobber miner hunter detective policeman constable inspector poet writer "
    "author novelist journalist editor painter artist musician singer actor actress dancer composer orator sophist "
    "conjurer chaperon mentor executor sculptor director producer reporter researcher biographer designer developer "
    "programmer driver player founder architect accountant coach athlete boxer senator "
    # what somebody is to others, or does
    "boyfriend girlfriend boss employee colleague classmate roommate friend companion comrade playmate partner "
    "helper follower disciple apprentice assistant lover suitor sweetheart mistress master owner patron patroness "
    "rival enemy accomplice victim hero heroine member neighbour neighbor guest tenant lodger visitor stranger "
    "traveller traveler passenger settler squatter emigrant exile citizen inhabitant native foreigner patient "
    "invalid cripple hunchback lunatic madman genius tramp beggar hermit thief robber pirate smuggler murderer "
    "assassin criminal convict prisoner outlaw villain traitor slave millionaire "
    # peoples, where no ending tells
    "arab parsee dane dutchman englishman frenchman greek irishman jew pole scot spaniard swede swiss turk negro "
    "cannibal savage pagan heathen "
    # beings of tales
    "god goddess devil demon monster giant giantess dwarf ogre fairy elf witch wizard magician sorcerer sorceress "
    "enchantress vampire ghost spirit mermaid dragon angel creature whale horse dog cat wolf fox bear lion "
    # the young
    "boy girl lad lass youth maiden teenager kid".split()
)
_FEMALE = frozenset(
    "mrs ms miss lady madame madam mademoiselle mistress queen princess countess duchess empress baroness mother mamma"
    " mom mum aunt sister half-sister daughter wife widow bride fiancée niece grandmother granddaughter stepmother"
    " stepdaughter godmother goddaughter daughter-in-law sister-in-law mother-in-law heiress kinswoman midwife"
    " schoolmistress governess nun maid housemaid housekeeper landlady hostess barmaid actress girlfriend patroness"
    " heroine goddess giantess witch sorceress enchantress mermaid girl lass maiden woman gentlewoman".split()
)
_MALE = frozenset(
    "mr sir lord monsieur signor king prince count duke emperor sultan marquis viscount baron baronet knight father"
    " papa dad uncle brother half-brother son husband widower bridegroom fiancé nephew grandfather grandson stepfather"
    " stepson godfather godson son-in-law brother-in-law father-in-law kinsman nobleman schoolmaster priest monk friar"
    " abbot butler footman landlord boyfriend hero god wizard sorcerer boy lad man gentleman fellow".split()
)
_LEAST_PRONOUNS, _MOST_OTHERS = 3, 0.5
"""Pronouns that must follow a name, and how many of the others may, as a share of these."""
_VAGUE = frozenset("man woman gentleman gentlewoman lady fellow person people one".split())
"""Nouns that say nothing alone."""
_ENDINGS = re.compile(
    r"[a-z]{3,}(?:man|woman|men|women|ist|stress|smith|monger|keeper|maker|seller|wright|master|mistress|mother|father)"
    r"|[a-z]{3,}ian|[A-Z][a-z]+(?:ian|ean|ese|can)"
)
_WORD = re.compile(r"[^\W\d_][\w’'-]*")
_PART = re.compile(r"[,;:()—]|\band\b|\bor\b")
_DET = r"\b(?:the|an?|his|her|its|my|our|their|your|this|that)\b"
_FIRST = re.compile(rf"^\s*{_DET}", re.IGNORECASE)
_AFTER = re.compile(
    rf"{_DET}|\b(?:of|in|from|to|for|with|at|on|by|like|than|as|who|whom|whose|which|when|where|was|is|had|has)\b"
)


def find_gender(name: str, texts: Iterable[str]) -> Gender | None:
    """The gender of somebody's title, else of most pronouns that follow the name before another; in doubt None.

    Args:
        name: with a capital: "Mrs. Hall", "Elizabeth Bennet", of whom "Elizabeth" is looked for.
        texts: of the book.
    """
    words = [word.strip(".,") for word in name.split()]
    if words[0].lower() in TITLES and (gender := gender_of(words[0])):
        return gender
    first = next((word for word in words if word[:1].isupper() and word.lower() not in TITLES), None)
    if first is None:
        return None
    behind = re.compile(
        rf"\b{re.escape(first)}(?![’'\w-])(?:\s+[A-Z][\w’-]*)*[^A-Z.;!?“”\"]*?\b(?:(?:he|him|his|himself)|(she|hers?|herself))\b"
    )
    found = [match[1] is not None for text in texts if first in text for match in behind.finditer(text)]
    female, male = sum(found), len(found) - sum(found)
    if max(female, male) < _LEAST_PRONOUNS or min(female, male) > _MOST_OTHERS * max(female, male):
        return None
    return "female" if female > male else "male"


def gender_of(noun: str) -> Gender | None:
    """The gender that a title or noun of a person says; None where it says none."""
    noun = noun.lower()
    if noun in _FEMALE or noun.endswith("woman"):
        return "female"
    return "male" if noun in _MALE else None


def find_person(phrase: str) -> str | None:
    """The noun of a phrase that says what kind of person somebody is; None where it has none.

    It is the last word before a preposition or relative clause, in one of the parts that commas and "and" make: "mate"
    of "the chief mate of the Pequod", "chief" of "the recipient of the letter, the chief of the police". "A man" says
    nothing, "a queer man" does.
    """
    for part in (_FIRST.sub("", part, count=1) for part in _PART.split(phrase)):
        words = _WORD.findall(_AFTER.split(part, maxsplit=1)[0])
        if not words:
            continue
        noun = re.sub(r"[’']s$", "", words[-1])
        low = noun.lower()
        if low in _VAGUE and part.strip(" .!?\"'“”‘’").lower() == low:
            continue
        forms = (low, low.rpartition("-")[2], low.removesuffix("s"))
        found = next((form for form in forms if form in _NOUNS or form in _VAGUE), None)
        if found or _ENDINGS.fullmatch(noun):
            return found or low
    return None
