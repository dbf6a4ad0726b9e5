"""The program ``cambrian``, and ``python -m cambrian``."""

from __future__ import annotations

import io
import sys

from cambrian import interrupts


def main() -> None:
    """Entry point: the commands, with an end in words from the first moment on."""
    interrupts.listen()
    if isinstance(sys.stdout, io.TextIOWrapper) and sys.stdout.errors == "strict":
        # a character that the terminal's encoding lacks, such as α in Latin-1, is shown as "?"
        sys.stdout.reconfigure(errors="replace")
    try:
        # this takes up to a second
        from cambrian.cli import main as commands

        commands()
    except interrupts.Interrupted as stop:
        print(stop, file=sys.stderr)
        sys.exit(stop.status)


if __name__ == "__main__":
    main()
