"""The reference of a contestant: kernel TCP."""

from __future__ import annotations

from collections.abc import Callable

from cambrian.study.model import Contestant

#: name of the reference's stack
REFERENCE_STACK = "tcp"

#: ``(stack, cca)`` → the kernel CCA of its reference, or None
ReferenceOf = Callable[[str, str], "str | None"]


def reference_contestant(cca: str) -> Contestant:
    """Kernel TCP with ``cca`` and all defaults."""
    return Contestant(stack=REFERENCE_STACK, cca=cca)
