"""What this checkout wants a kernel to be: the fragment and the patches, as one hash."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from pathlib import Path

from cambrian import paths
from cambrian.kernel.model import KernelError

#: Raised by one whenever the way of building changes what comes out.
METHOD = 1


@dataclass(frozen=True)
class Recipe:
    """A config fragment and patches, in the order in which they apply."""

    fragment: Path
    patches: tuple[Path, ...]

    @property
    def digest(self) -> str:
        """Changes with any byte of the fragment or of a patch, and with a patch's name (so, order)."""
        hasher = hashlib.sha256(f"method {METHOD}\n".encode())
        for part in (self.fragment, *self.patches):
            content = part.read_bytes()
            hasher.update(f"{part.name} {len(content)}\n".encode() + content)
        return hasher.hexdigest()


def current() -> Recipe:
    """The checkout's own: ``kernel/config-fragment`` and ``kernel/patches/*.patch`` by name.

    Raises :class:`KernelError` when this is not a whole checkout.
    """
    folder = paths.repository() / "kernel"
    fragment = folder / "config-fragment"
    if not fragment.is_file():
        raise KernelError(f"{fragment} is missing: cambrian runs from its own checkout (make setup)")
    return Recipe(fragment, tuple(sorted((folder / "patches").glob("*.patch"))))


def key(recipe: Recipe, source_sha256: str, compiler: str) -> str:
    """The cache folder's name: the same inputs, the same 16 hexadecimal digits."""
    text = f"{recipe.digest}\n{source_sha256}\n{compiler}\n"
    return hashlib.sha256(text.encode()).hexdigest()[:16]
