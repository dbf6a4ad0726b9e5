"""All known stacks, by name."""

from __future__ import annotations

import os
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from cambrian import paths
from cambrian.stacks import manifest, releases, unavailable
from cambrian.stacks.manifest import Manifest, ManifestError, Role
from cambrian.study.offered import Stacks

REFERENCE_STACK = manifest.REFERENCE_STACK


@dataclass(frozen=True)
class Stack:
    """A stack's manifest and its file.

    ``release``: of its package, ``instead_of`` the version that its source has; None: as its source is.
    """

    file: Path
    manifest: Manifest
    release: str | None = None
    instead_of: str = ""

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


@dataclass(frozen=True)
class Broken:
    """A manifest that cannot be used: the name of its stack, its file, and the error with its remedy."""

    name: str
    file: Path
    error: str

    @property
    def remedy(self) -> str:
        """How to be rid of the error."""
        if self.file.is_relative_to(own_folder()):
            return f"correct the file, or remove it: cambrian stacks remove {self.name}"
        return "correct the file, or delete it"


def own_folder() -> Path:
    """The folder of a user's stacks (``cambrian stacks add``) in the user's configuration."""
    base = os.environ.get("XDG_CONFIG_HOME", "")
    home = Path(base) if Path(base).is_absolute() else Path.home() / ".config"
    return home / "cambrian" / "stacks"


def folders() -> list[Path]:
    """The folders with stacks, in order.

    Cambrian's own, the user's configuration, then each folder in ``CAMBRIAN_STACKS`` (a:b).
    """
    named = [Path(text) for text in os.environ.get("CAMBRIAN_STACKS", "").split(":") if text]
    return [paths.data() / "stacks", own_folder(), *named]


def look_in(folder: Path) -> None:
    """Add ``folder`` to :func:`folders`, for this process and its children."""
    named = os.environ.get("CAMBRIAN_STACKS", "")
    if folder.is_dir() and folder not in folders():
        os.environ["CAMBRIAN_STACKS"] = f"{named}:{folder}".lstrip(":")
        load.cache_clear()


def look_only_in(named: str) -> None:
    """Set the folders of :func:`folders` that the user named, as ``CAMBRIAN_STACKS`` has them (a:b)."""
    os.environ["CAMBRIAN_STACKS"] = named
    load.cache_clear()


class Catalogue(dict[str, Stack]):
    """Name → stack; ``broken`` has the manifests with an error, by name. The two share no name but tcp.

    A stack with releases is found under ``STACK@RELEASE`` too, but only listed under its own name. Whether
    the registry has the release shows when it is built.
    """

    def __init__(self) -> None:
        super().__init__()
        self.broken: dict[str, Broken] = {}

    def _at_release(self, name: object) -> Stack | None:
        stack, release = releases.split(name) if isinstance(name, str) else ("", None)
        own = super().get(stack)
        if own is None or release is None or own.manifest.releases is None or not releases.is_exact(release):
            return None
        return Stack(own.file, own.manifest.at(release), release, own.manifest.version)

    def __contains__(self, name: object) -> bool:
        """Is there such a stack, or such a stack with releases?"""
        return super().__contains__(name) or self._at_release(name) is not None

    def __missing__(self, name: str) -> Stack:
        """A stack at a release, or why a stack cannot be used, wherever its name is looked up."""
        found = self._at_release(name)
        if found is not None:
            return found
        if (own := releases.split(name)[0]) in self.broken:
            raise ManifestError(self.broken[own].error)
        raise KeyError(name)

    def find(self, name: str) -> Stack | None:
        """The stack with this name; None if there is none."""
        return super().get(name) or self._at_release(name)


@cache
def load() -> Catalogue:
    """Name → stack, for each ``NAME/manifest.toml`` and ``NAME.toml`` of :func:`folders`.

    A stack of a later folder replaces a stack with the same name of an earlier folder, except the
    reference: nothing replaces it. A manifest with an error does not stop the others
    (:attr:`Catalogue.broken`).
    """
    stacks = Catalogue()
    for folder in folders():
        for path in sorted([*folder.glob("*/manifest.toml"), *folder.glob("*.toml")]):
            name = manifest.name_of(path)
            try:
                stack = Stack(path, manifest.read(path))
                if name == REFERENCE_STACK and name in stacks:
                    raise ManifestError(reserved(path))
            except ManifestError as error:
                stacks.broken[name] = Broken(name, path, str(error))
                if name != REFERENCE_STACK:
                    stacks.pop(name, None)
                continue
            stacks.broken.pop(name, None)
            stacks[name] = stack
    return stacks


def reserved(path: Path) -> str:
    """The error of a manifest that would replace the reference."""
    return (
        f'{path}: name: "{REFERENCE_STACK}" is the reference, kernel TCP, and nothing replaces it\n'
        "  remedy: give the stack another name, and its file or folder too"
    )


def ccas() -> Stacks:
    """Stack → its CCAs, for the reader of studies.

    Raises:
        ManifestError: a manifest would replace the reference, which every comparison needs.
    """
    known = load()
    if REFERENCE_STACK in known.broken:
        raise ManifestError(known.broken[REFERENCE_STACK].error)
    offered = {name: list(stack.manifest.ccas) for name, stack in known.items()}

    def at_release(name: str) -> list[str] | None:
        return list(known[name].manifest.ccas) if name in known else None

    broken = {name: one.error for name, one in known.broken.items()}
    return Stacks(offered, broken, at_release, unavailable.remedy)


def reference_of(stack: str, cca: str) -> str | None:
    """The kernel CCA that is the reference of a stack's CCA; None if the kernel has none."""
    return load()[stack].manifest.ccas[cca].reference
