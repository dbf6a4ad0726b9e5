"""A kernel's recipe: this version's config fragment and patches, with one hash."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from pathlib import Path

from cambrian import paths
from cambrian.kernel.model import KernelError

#: increased by one when a change of the build method changes the binary
METHOD = 1


@dataclass(frozen=True)
class Recipe:
    """A config fragment and patches, in the order in which they apply."""

    fragment: Path
    patches: tuple[Path, ...]

    @property
    def digest(self) -> str:
        """SHA-256 of the method, and of the fragment and the patches with their names (so, their order)."""
        hasher = hashlib.sha256(f"method {METHOD}\n".encode())
        for part in (self.fragment, *self.patches):
            content = part.read_bytes()
            hasher.update(f"{part.name} {len(content)}\n".encode() + content)
        return hasher.hexdigest()


def current() -> Recipe:
    """This version's recipe: ``kernel/config-fragment`` and ``kernel/patches/*.patch`` by name.

    Raises :class:`KernelError` if the fragment is missing.
    """
    folder = paths.data() / "kernel"
    fragment = folder / "config-fragment"
    if not fragment.is_file():
        raise KernelError(f"{fragment} is missing; remedy: install cambrian again")
    return Recipe(fragment, tuple(sorted((folder / "patches").glob("*.patch"))))


def key(recipe: Recipe, source_sha256: str, compiler: str) -> str:
    """The name of the kernel's folder in the cache: 16 hexadecimal digits of a hash of the inputs."""
    text = f"{recipe.digest}\n{source_sha256}\n{compiler}\n"
    return hashlib.sha256(text.encode()).hexdigest()[:16]
