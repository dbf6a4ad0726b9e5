"""Stacks that no registry offers, with the reason; and names that people use for those that are here."""

from __future__ import annotations

from pathlib import Path

from cambrian import paths
from cambrian.stacks.manifest import Frozen
from cambrian.study.toml_file import TomlFile

FILE = Path(__file__).with_name("unavailable.toml")
#: how to add one
REMEDY = f"build it, then write a manifest ({paths.page('docs/how-to/add-a-stack.md')})"
#: name that people use → its stack here, or its row in ``unavailable.toml``
ALSO_CALLED = {
    "chrome": "google-quiche",
    "chromium": "google-quiche",
    "cloudflare": "quiche",
    "cloudflare-quiche": "quiche",
    "envoy": "google-quiche",
    "facebook": "mvfst",
    "firefox": "neqo",
    "go": "x-net-quic",
    "gquic": "google-quiche",
    "gquiche": "google-quiche",
    "h2o": "quicly",
    "kernel": "tcp",
    "linux": "tcp",
    "linux-tcp": "tcp",
    "litespeed": "lsquic",
    "mozquic": "neqo",
    "proxygen": "mvfst",
    "quicgo": "quic-go",
    "s2n": "s2n-quic",
    "xnetquic": "x-net-quic",
}


class Unavailable(Frozen):
    """One stack that no registry offers."""

    title: str
    language: str
    ccas: tuple[str, ...]
    why: str


def load() -> dict[str, Unavailable]:
    """Name → stack."""
    return TomlFile(FILE, "docs/reference/stacks.md").tables_by_name(Unavailable)


def remedy(name: str) -> str | None:
    """What to do about a name that no stack here has; None for a name that nobody knows."""
    folded = name.lower().replace("_", "-").replace(" ", "-")
    real = ALSO_CALLED.get(folded, folded)
    if missing := load().get(real):
        return f"{missing.title} cannot be installed from a package: {missing.why} To use it, {REMEDY}"
    return f"its name here is {real}" if folded in ALSO_CALLED else None
