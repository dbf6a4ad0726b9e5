"""A root folder for one program, where its own or fixed places are what it needs.

The folder is a small tmpfs whose entries are bind mounts of another tree's: the unpacked packages
of a stack, or the guest's own root. /proc, /sys, /dev, /tmp and /run are the guest's, so a path
below /run/cambrian means the same inside.
"""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import TYPE_CHECKING

from cambrian.testbed import system, users

if TYPE_CHECKING:
    from cambrian.testbed.contract import RootPlan

SHARED = ("proc", "sys", "dev", "tmp", "run")
#: what Debian keeps below /usr and links to, by a package that others do not depend on
MERGED = ("bin", "sbin", "lib", "lib64")


def make(place: Path, wanted: RootPlan, user: int | None) -> Path:
    """Mount a root for ``user`` at ``place`` and return it.

    ``wanted``: ``tree``, the folder to mirror; then, each optional, ``folders`` to add (writable),
    ``copies`` (place → file), ``sparse`` (place → bytes of a file of zeros), ``links`` (place →
    target) and ``texts`` (place → what a file says, over the tree's own).
    """
    system.mount("none", str(place), "tmpfs")
    tree = Path(wanted["tree"])
    entries = {entry.name: entry for entry in tree.iterdir() if entry.name not in SHARED}
    entries |= {name: Path("/") / name for name in SHARED}
    for name, entry in entries.items():
        if entry.is_symlink():
            (place / name).symlink_to(entry.readlink())
        elif entry.is_dir():
            system.mount(str(entry), str(place / name), "none", system.MS_BIND | system.MS_REC)
    for name in MERGED:
        if name not in entries and (tree / "usr" / name).is_dir():
            (place / name).symlink_to(f"usr/{name}")
    for folder in wanted.get("folders", ()):
        _below(place, folder).mkdir(parents=True, exist_ok=True)
        users.give(_below(place, folder), user)
    for to, source in wanted.get("copies", {}).items():
        shutil.copyfile(source, _below(place, to))
    for to, size_bytes in wanted.get("sparse", {}).items():
        with _below(place, to).open("wb") as file:
            file.truncate(size_bytes)
    for to, target in wanted.get("links", {}).items():
        _below(place, to).symlink_to(target)
    for number, (to, text) in enumerate(wanted.get("texts", {}).items()):
        _overlay(place, to, text, number)
    if user is not None:
        users.give_alone(place, user)
    return place


def _below(place: Path, inside: str) -> Path:
    return place / inside.lstrip("/")


def _overlay(place: Path, to: str, text: str, number: int) -> None:
    """A file over one of the tree's, which is read-only; without one there is nothing to cover."""
    covered = _below(place, to)
    if covered.exists():
        own = place / f".text{number}"
        own.write_text(text)
        system.bind_file(str(own), str(covered), create=False)
