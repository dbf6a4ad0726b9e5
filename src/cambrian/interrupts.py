"""Ctrl-C and SIGTERM end a command with a sentence, from its first moment on.

It imports little: the modules of the commands take up to a second, in which a signal may come too.
"""

from __future__ import annotations

import signal
from typing import NoReturn

#: what an interrupted run says more
KEPT = "; finished trials are kept"


class Interrupted(BaseException):
    """Ctrl-C, or SIGTERM, as a batch queue sends it: typer would handle a KeyboardInterrupt silently."""

    def __init__(self, number: int) -> None:
        super().__init__(number)
        self.number = number
        #: what has become of the command's work, if that can be said
        self.left = ""

    def __str__(self) -> str:
        """What the command says."""
        return f"cambrian: interrupted{self.left}"

    @property
    def status(self) -> int:
        """The exit status, as shells have it."""
        return 128 + self.number


def listen() -> None:
    """Raise :class:`Interrupted` for both signals from now on."""
    for number in (signal.SIGINT, signal.SIGTERM):
        # a shell lets a command in the background ignore Ctrl-C
        if signal.getsignal(number) is not signal.SIG_IGN:
            signal.signal(number, _interrupt)


def _interrupt(number: int, frame: object) -> NoReturn:
    raise Interrupted(number)
