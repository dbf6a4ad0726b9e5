"""Whom a contestant is judged against: kernel TCP."""

from __future__ import annotations

from collections.abc import Callable

from cambrian.study.model import Contestant

#: The stack that plays the reference.
REFERENCE_STACK = "tcp"

#: ``(stack, cca)`` → the kernel CCA that it is judged against, or None.
ReferenceOf = Callable[[str, str], "str | None"]


def reference_contestant(cca: str) -> Contestant:
    """Kernel TCP with ``cca``, all knobs at their defaults."""
    return Contestant(stack=REFERENCE_STACK, cca=cca)
