"""A point where a test can kill the process."""

from __future__ import annotations

import os
import signal


def failpoint(name: str) -> None:
    """Kill this process, as a power cut would, where $NLB_FAILPOINT names this point."""
    if os.environ.get("NLB_FAILPOINT") == name:
        os.kill(os.getpid(), signal.SIGKILL)
