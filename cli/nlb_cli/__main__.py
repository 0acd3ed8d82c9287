"""Where `nlb` begins. `python -m nlb_cli` is `nlb`, too, for where its script is not on the path."""

from __future__ import annotations

import sys


def main() -> None:
    """Run the command line; Ctrl-C while it is being loaded is a line, too, and no traceback."""
    try:
        from nlb_cli.app import main as run

        run()
    except KeyboardInterrupt:
        print("nlb: interrupted", file=sys.stderr)
        sys.exit(130)


if __name__ == "__main__":
    main()
