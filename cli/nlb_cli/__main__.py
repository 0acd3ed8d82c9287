"""Where `nlb` begins. `python -m nlb_cli` is `nlb`, too, for where its script is not on the path."""

from __future__ import annotations

import sys

_UNMAPPED = "failed to map segment"
"""What an ImportError, or OpenVINO's RuntimeError, says where a shared library has no room in memory."""


def main() -> None:
    """Run the command line; Ctrl-C while it is being loaded, or too little memory, is a line, too, and no traceback."""
    try:
        from nlb_cli.app import main as run

        run()
    except KeyboardInterrupt:
        print("nlb: interrupted", file=sys.stderr)
        sys.exit(130)
    except (MemoryError, ImportError, RuntimeError) as error:
        if not (isinstance(error, MemoryError) or _UNMAPPED in str(error)):
            raise
        print("nlb: there is not enough memory: close other programs, or raise the limit on it", file=sys.stderr)
        sys.exit(2)


if __name__ == "__main__":
    main()
