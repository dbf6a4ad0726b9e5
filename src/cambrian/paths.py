"""Paths on disk: this checkout, and the cache that all checkouts share."""

from __future__ import annotations

import os
from pathlib import Path


def repository() -> Path:
    """The checkout of this package (it is always installed editable)."""
    return Path(__file__).resolve().parents[2]


def cache() -> Path:
    """The folder for everything that can be rebuilt: kernels, stacks, toolchains.

    ``CAMBRIAN_CACHE`` if set, else ``$XDG_CACHE_HOME/cambrian``, else ``~/.cache/cambrian``.
    This function does not create it.
    """
    chosen = os.environ.get("CAMBRIAN_CACHE")
    if chosen:
        return Path(chosen).expanduser().absolute()
    base = os.environ.get("XDG_CACHE_HOME")
    # XDG specification: relative paths are invalid and must be ignored
    if base and Path(base).is_absolute():
        return Path(base) / "cambrian"
    return Path.home() / ".cache" / "cambrian"
