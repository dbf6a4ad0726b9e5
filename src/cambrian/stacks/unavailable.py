"""The stacks that are wanted and cannot be had from a registry, with the reason."""

from __future__ import annotations

import tomllib
from pathlib import Path

from pydantic import TypeAdapter

from cambrian.stacks.manifest import Frozen

FILE = Path(__file__).with_name("unavailable.toml")
#: how to bring one
REMEDY = "build it, then write a manifest (docs/bring-your-own-stack.md)"


class Unavailable(Frozen):
    """One such stack."""

    title: str
    language: str
    ccas: tuple[str, ...]
    why: str


def load() -> dict[str, Unavailable]:
    """Name → stack."""
    return TypeAdapter(dict[str, Unavailable]).validate_python(tomllib.loads(FILE.read_text()))
