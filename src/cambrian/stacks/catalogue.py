"""All known stacks, by name."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from cambrian import paths
from cambrian.stacks import manifest
from cambrian.stacks.manifest import Manifest, Role

#: kernel TCP: the reference for all other stacks
REFERENCE_STACK = "tcp"


@dataclass(frozen=True)
class Stack:
    """A stack's manifest and its file."""

    file: Path
    manifest: Manifest

    @property
    def name(self) -> str:
        """The name that studies use."""
        return self.manifest.name

    @property
    def folder(self) -> Path:
        """The folder that the manifest's paths are relative to."""
        return self.file.parent

    @property
    def alone(self) -> bool:
        """Whether the stack is a single TOML file without its own folder."""
        return self.file.name != "manifest.toml"

    def sides(self) -> list[Role]:
        """The server, and the client if there is one."""
        return [side for side in (self.manifest.server, self.manifest.client) if side is not None]


def own_folder() -> Path:
    """The folder of a user's stacks (``cambrian stacks add``) in the user's configuration."""
    base = os.environ.get("XDG_CONFIG_HOME", "")
    home = Path(base) if Path(base).is_absolute() else Path.home() / ".config"
    return home / "cambrian" / "stacks"


def folders() -> list[Path]:
    """The folders with stacks, in order.

    This checkout, the user's configuration, then each folder in ``CAMBRIAN_STACKS`` (a:b).
    """
    named = [Path(text) for text in os.environ.get("CAMBRIAN_STACKS", "").split(":") if text]
    return [paths.repository() / "stacks", own_folder(), *named]


def look_in(folder: Path) -> None:
    """Add ``folder`` to :func:`folders`, for this process and its children."""
    named = os.environ.get("CAMBRIAN_STACKS", "")
    if folder.is_dir() and folder not in folders():
        os.environ["CAMBRIAN_STACKS"] = f"{named}:{folder}".lstrip(":")
        load.cache_clear()


@cache
def load() -> Mapping[str, Stack]:
    """Name → stack, for each ``NAME/manifest.toml`` and ``NAME.toml`` of :func:`folders`.

    A stack of a later folder replaces a stack with the same name of an earlier folder.

    Raises:
        ManifestError: a manifest has an error.
    """
    stacks = {}
    for folder in folders():
        for path in sorted([*folder.glob("*/manifest.toml"), *folder.glob("*.toml")]):
            stack = Stack(path, manifest.read(path))
            stacks[stack.name] = stack
    return stacks


def ccas() -> dict[str, list[str]]:
    """Stack → its CCAs, for the reader of studies."""
    return {name: list(stack.manifest.ccas) for name, stack in load().items()}


def reference_of(stack: str, cca: str) -> str | None:
    """The kernel CCA that is the reference of a stack's CCA; None if the kernel has none."""
    return load()[stack].manifest.ccas[cca].reference
