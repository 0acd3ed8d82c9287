"""Whether an event loop goes on while something runs that it waits for."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Awaitable, Callable
from typing import Any

import pytest


def run_while_ticking(
    monkeypatch: pytest.MonkeyPatch, owner: Any, name: str, work: Callable[[], Awaitable[Any]]
) -> Any:
    """What `work` gives, every call of `owner.name` in it waiting for the loop to tick five times.

    A loop that such a call blocked would not tick before the wait is given up, and the test fails.
    """
    ticked = threading.Event()
    waited: list[bool] = []
    real = getattr(owner, name)

    def slow(*args: Any, **kwargs: Any) -> Any:
        waited.append(ticked.wait(timeout=10))
        return real(*args, **kwargs)

    async def tick() -> None:
        for _ in range(5):
            await asyncio.sleep(0.01)
        ticked.set()

    async def both() -> Any:
        result, _ = await asyncio.gather(work(), tick())
        return result

    with monkeypatch.context() as patched:
        patched.setattr(owner, name, slow)
        result = asyncio.run(both())
    assert waited and all(waited)
    return result
