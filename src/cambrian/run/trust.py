"""Asks before a stranger's stack is built, or run without a wall.

A study may bring stacks, in the folder ``stacks/`` beside it. Running one behind the wall
(:mod:`cambrian.trial.wall`) is harmless; building one runs its build script with the user's rights.
"""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

from cambrian import paths
from cambrian.stacks import build, catalogue, receivers
from cambrian.stacks.catalogue import Stack
from cambrian.trial.wall import Wall


class Untrusted(RuntimeError):
    """A study's own stack would run with the user's rights; the text says how to allow that."""


def check(names: Iterable[str], beside: Path, around: Wall) -> None:
    """Refuse the stacks in the folder ``beside`` a study that need the user's trust.

    These are the ones that must be built and are not built yet, and all of them if no wall stands around the
    guests. Cambrian's own stacks and those of the user's configuration are trusted.

    Raises:
        Untrusted: there is one.
    """
    own = (paths.data() / "stacks", catalogue.own_folder())
    if beside in own:
        return
    stacks = (catalogue.load()[name] for name in names)
    found = [text for stack in stacks if stack.file.is_relative_to(beside) and (text := _why(stack, around))]
    if found:
        lines = "\n".join(found)
        raise Untrusted(
            f"{lines}\n  remedy: read the manifest and its sources; if you trust them, add --trust, "
            "or `cambrian stacks add FILE`"
        )


def with_receiver(name: str) -> list[str]:
    """The stack of this name, and the one whose client receives from it by default."""
    try:
        return [name, receivers.choose(catalogue.load()[name]).stack.name]
    except receivers.NoReceiver:
        return [name]


def _why(stack: Stack, around: Wall) -> str:
    """Why running the stack needs trust; empty if it needs none."""
    kind = stack.manifest.build.kind
    if kind != "none" and build.status(stack).state != "built":
        return f"{stack.file}: the study's own stack would be built here by {kind}, with your rights"
    if around.program is None:
        return f"{stack.file}: the study's own stack would run with your rights, without a wall: {around.why}"
    return ""
