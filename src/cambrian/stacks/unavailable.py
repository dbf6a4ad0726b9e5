"""Stacks that no registry offers, with the reason."""

from __future__ import annotations

from pathlib import Path

from cambrian import paths
from cambrian.stacks.manifest import Frozen
from cambrian.study.toml_file import TomlFile

FILE = Path(__file__).with_name("unavailable.toml")
#: how to add one
REMEDY = f"build it, then write a manifest ({paths.page('docs/how-to/add-a-stack.md')})"


class Unavailable(Frozen):
    """One stack that no registry offers."""

    title: str
    language: str
    ccas: tuple[str, ...]
    why: str


def load() -> dict[str, Unavailable]:
    """Name → stack."""
    return TomlFile(FILE, "docs/reference/stacks.md").tables_by_name(Unavailable)
