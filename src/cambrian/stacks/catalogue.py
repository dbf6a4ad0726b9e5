"""Every stack that there is, by name."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from cambrian import paths
from cambrian.stacks import manifest
from cambrian.stacks.manifest import Manifest

#: kernel TCP: what every other stack is judged against
REFERENCE_STACK = "tcp"


@dataclass(frozen=True)
class Stack:
    """A stack's manifest and the folder that holds it."""

    folder: Path
    manifest: Manifest

    @property
    def name(self) -> str:
        """The name that studies use."""
        return self.manifest.name


def folders() -> list[Path]:
    """Where stacks are looked for: this checkout, then each folder that ``CAMBRIAN_STACKS`` names (a:b)."""
    named = [Path(text) for text in os.environ.get("CAMBRIAN_STACKS", "").split(":") if text]
    return [paths.repository() / "stacks", *named]


@cache
def load() -> Mapping[str, Stack]:
    """Name → stack, for each ``NAME/manifest.toml`` of :func:`folders`; a later folder's stack wins.

    Raises:
        ManifestError: a manifest is wrong.
    """
    found = [path for folder in folders() for path in sorted(folder.glob("*/manifest.toml"))]
    return {path.parent.name: Stack(path.parent, manifest.read(path)) for path in found}


def ccas() -> dict[str, list[str]]:
    """Stack → its CCAs, as a study's reader wants it."""
    return {name: list(stack.manifest.ccas) for name, stack in load().items()}


def reference_of(stack: str, cca: str) -> str | None:
    """The kernel CCA that a stack's CCA is judged against; None if the kernel has none."""
    return load()[stack].manifest.ccas[cca].reference


def client_of(stack: Stack, receiver: str = "own") -> tuple[Stack, manifest.Client]:
    """The stack whose client fetches from ``stack``, and how to run it.

    ``receiver`` names another stack, or is ``"own"`` (what the manifest says).

    Raises:
        ValueError: that stack has no client.
    """
    catalogue = load()
    if receiver != "own":
        other = catalogue[receiver]
        if other.manifest.client is None:
            raise ValueError(f'stack "{receiver}" has no client, so it cannot be a receiver')
        return other, other.manifest.client
    own = stack.manifest.client
    if own is None:
        raise ValueError(f'stack "{stack.name}" has no client: name a receiver')
    return (catalogue[own.stack], own) if own.stack else (stack, own)
