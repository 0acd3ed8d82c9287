"""A short campaign of faults of every kind; the long one is run by hand: `python -m tests.faults --minutes 60`."""

from __future__ import annotations

import pytest

from tests.faults.campaigns import CAMPAIGNS, run_all

ROUNDS = {
    "calls": 12,
    "times": 6,
    "power": 12,
    "full": 6,
    "damages": 6,
    "readers": 1,
    "index": 1,
    "commands": 12,
    "mcp": 2,
}


@pytest.mark.parametrize("name", CAMPAIGNS)
@pytest.mark.filterwarnings("ignore:This process:DeprecationWarning")  # writers and readers are forked
def test_no_fault_loses_doubles_or_changes_a_book_or_hangs(name: str) -> None:
    [tally] = run_all([name], seed=0, rounds=ROUNDS[name])
    assert tally.rounds == ROUNDS[name]
    assert tally.faults > 0
    assert not tally.details, "\n".join(tally.details)
