"""Virtual environments with the built wheel, as a user has them: nothing of the source tree is importable."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import venv
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
SECONDS = 600
"""That pip may take for an environment."""

BOOK = """THE LIGHTHOUSE OF CARROW POINT

by Anna Morrow

CHAPTER I

Old Tobias kept the lighthouse at Carrow Point for forty years. Every evening he climbed the two
hundred steps, lit the lamp and wound the great clock that turned it.

CHAPTER II

The storm of that November broke the clock. Tobias turned the lamp by hand until the morning, and no
ship was lost. He died in the spring, and his niece Margaret took the lamp.
"""


@dataclass(frozen=True, kw_only=True)
class Environment:
    """A virtual environment, and a user's folder with books in ./books."""

    folder: Path
    user: Path

    def versions(self) -> dict[str, str]:
        """What is installed in the environment."""
        code = (
            "import importlib.metadata as metadata, json; "
            "print(json.dumps({each.name.lower(): each.version for each in metadata.distributions()}))"
        )
        found: dict[str, str] = json.loads(self.run("python", "-c", code).stdout)
        return found

    def run(self, *command: str, seconds: int = 120) -> subprocess.CompletedProcess[str]:
        """Run a script of the environment in the user's folder."""
        script, *arguments = command
        home = {"HOME": str(self.user), "NLB_HOME": str(self.user / "home")}
        return subprocess.run(
            [self.folder / "bin" / script, *arguments],
            cwd=self.user,
            env={**home, "PATH": os.environ["PATH"], "LANG": "C.UTF-8"},
            capture_output=True,
            text=True,
            timeout=seconds,
        )


def build_wheel(folder: Path) -> Path:
    """Build the project's wheel into a folder."""
    _pip("wheel", "--no-deps", "--wheel-dir", str(folder), str(ROOT))
    (wheel,) = folder.glob("*.whl")
    return wheel


def create_environment(folder: Path, *requirements: str) -> Environment:
    """Make a virtual environment with nothing but these requirements and what they need."""
    venv.create(folder / "venv", symlinks=True)
    _pip("--python", str(folder / "venv" / "bin" / "python"), "install", "--no-compile", *requirements)
    user = folder / "user"
    (user / "books").mkdir(parents=True)
    (user / "books" / "lighthouse.txt").write_text(BOOK, encoding="utf-8")
    return Environment(folder=folder / "venv", user=user)


def _pip(*arguments: str) -> None:
    done = subprocess.run(
        [sys.executable, "-m", "pip", *arguments, "--quiet", "--disable-pip-version-check"],
        capture_output=True,
        text=True,
        timeout=SECONDS,
    )
    assert done.returncode == 0, done.stderr
