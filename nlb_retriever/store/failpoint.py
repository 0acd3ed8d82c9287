"""A place where a test can make the process die."""

from __future__ import annotations

import os
import signal


def failpoint(name: str) -> None:
    """Kill this process, as a power cut would, where $NLB_FAILPOINT names this place."""
    if os.environ.get("NLB_FAILPOINT") == name:
        os.kill(os.getpid(), signal.SIGKILL)
