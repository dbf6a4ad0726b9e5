"""The program ``cambrian``, and ``python -m cambrian``."""

from __future__ import annotations

import sys

from cambrian import interrupts


def main() -> None:
    """Entry point: the commands, with an end in words from the first moment on."""
    interrupts.listen()
    try:
        # this takes up to a second
        from cambrian.cli import main as commands

        commands()
    except interrupts.Interrupted as stop:
        print(stop, file=sys.stderr)
        sys.exit(stop.status)


if __name__ == "__main__":
    main()
