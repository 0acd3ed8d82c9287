"""Torn files: what lay in a shard's folder when it was last closed in order.

The engine itself does not notice when a file of its was cut short or has gone; it answers from the
rest, or dies. So whoever closes a shard notes its files' sizes, and whoever opens it compares, and
takes the note away until it is closed again: after a crash there is none, and the engine's own log
sets things right.
"""

from __future__ import annotations

import contextlib
import json
import os
from pathlib import Path

LEDGER = "nlb-files.json"


def compare(shard: Path) -> str | None:
    """What is wrong with a closed shard's files; None where nothing is, or nothing is noted."""
    try:
        noted = json.loads((shard / LEDGER).read_bytes())
    except (OSError, ValueError):
        return None
    found = _sizes(shard)
    for name, size in noted.items():
        if name not in found:
            return f"its file {name} is missing"
        if found[name] != size:
            return f"its file {name} has {found[name]} bytes instead of {size}"
    return None


def take_away(shard: Path) -> None:
    with contextlib.suppress(FileNotFoundError):
        (shard / LEDGER).unlink()


def note(shard: Path) -> None:
    """Write down a closed shard's files."""
    making = shard / f"{LEDGER}.new"
    # without a note there is only no check: a full disk is no reason to fail here
    with contextlib.suppress(OSError):
        making.write_text(json.dumps(_sizes(shard)))
        making.replace(shard / LEDGER)


def _sizes(shard: Path) -> dict[str, int]:
    """Sizes in bytes by path, for all files but our own."""
    sizes: dict[str, int] = {}
    folders = [str(shard)]
    while folders:
        with os.scandir(folders.pop()) as entries:
            for entry in entries:
                if entry.is_dir(follow_symlinks=False):
                    folders.append(entry.path)
                elif not entry.name.startswith(LEDGER):
                    sizes[os.path.relpath(entry.path, shard)] = entry.stat().st_size
    return sizes
