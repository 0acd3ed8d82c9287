"""All campaigns on a library: names, shares of the time, and their table."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass

from tests.faults import crashes, damages, indexing, inputs, readers
from tests.faults.tally import KINDS, Round, Tally, repeat


@dataclass(frozen=True)
class Campaign:
    """One kind of fault."""

    round: Round
    share: float
    """Of the time of all."""
    name: str


CAMPAIGNS: Mapping[str, Campaign] = {
    "calls": Campaign(crashes.kill_at_call, 0.2, "writer killed at its n-th file call"),
    "times": Campaign(crashes.kill_at_any_time, 0.1, "writer killed at any time"),
    "power": Campaign(crashes.cut_power, 0.2, "power cut: what was not synced is old, zero or gone"),
    "full": Campaign(crashes.fill_disk, 0.1, "disk full, or a limit on the size of files"),
    "damages": Campaign(damages.damage_files, 0.2, "flipped bit, zeros, cut, grown or lost file"),
    "readers": Campaign(readers.read_and_write, 0.05, "4 readers, a stopped reader and a writer (faults: reads)"),
    "index": Campaign(indexing.kill_index, 0.1, "`nlb index` killed or interrupted"),
    "commands": Campaign(inputs.run_commands, 0.03, "hostile arguments of commands"),
    "mcp": Campaign(inputs.call_tools, 0.02, "hostile calls of MCP tools"),
}


def run_all(
    names: Iterable[str] = CAMPAIGNS, *, seed: int, seconds: float | None = None, rounds: int | None = None
) -> Iterator[Tally]:
    """Run campaigns one after the other, each for its share of the time or for so many rounds."""
    chosen = {name: CAMPAIGNS[name] for name in names}
    whole = sum(campaign.share for campaign in chosen.values())
    for campaign in chosen.values():
        own = None if seconds is None else seconds * campaign.share / whole
        yield repeat(Tally(name=campaign.name), campaign.round, seed=seed, seconds=own, rounds=rounds)


def table(tallies: Iterable[Tally]) -> Iterator[str]:
    """Markdown: what came of each campaign."""
    yield f"| fault | rounds | faults | clear errors | {' | '.join(KINDS)} |"
    yield "|---|" + "---|" * (3 + len(KINDS))
    for tally in tallies:
        yield f"| {' | '.join(f'{cell:,}' if isinstance(cell, int) else str(cell) for cell in tally.row())} |"
