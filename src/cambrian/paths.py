"""Paths on disk: the data that comes with the code, and the cache that all installations share."""

from __future__ import annotations

import os
from pathlib import Path

_PACKAGE = Path(__file__).resolve().parent


def data() -> Path:
    """The folder with ``studies``, ``stacks``, ``kernel``, ``published``, ``docs`` and more.

    It is the top of a checkout, and the package's own folder ``share`` where a wheel is installed
    (pyproject.toml lists what a wheel has). It may be read-only.
    """
    installed = _PACKAGE / "share"
    return installed if installed.is_dir() else _PACKAGE.parents[1]


def page(name: str) -> str:
    """A page of the documentation (``docs/…``) by the name that a user can open.

    In a checkout it is relative to its top.
    """
    installed = _PACKAGE / "share" / name
    return str(installed) if installed.exists() else name


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
