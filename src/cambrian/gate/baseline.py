"""A baseline: a snapshot as a TOML file, made for review in a pull request."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import tomlkit

from cambrian import __version__
from cambrian.gate.snapshot import Snapshot
from cambrian.study.errors import StudyError
from cambrian.study.toml_file import TomlFile

_DOCS = "docs/how-to/gate-a-ci.md"


def read(path: Path) -> Snapshot:
    """The snapshot in ``path``.

    Raises:
        StudyError: it cannot be read, or is no baseline; with line, key and remedy.
    """
    file = TomlFile(path, _DOCS, called="the baseline", if_unread="make it: cambrian gate GATE.toml --update")
    try:
        return file.build(Snapshot, (), file.raw)
    except StudyError as error:
        # another version may have keys that this one does not know
        made_with = file.raw.get("made_with")
        made = made_with.get("cambrian", __version__) if isinstance(made_with, dict) else __version__
        if made != __version__:
            error.remedy += f"; or compare with Cambrian {made}, which made it (this is {__version__})"
        raise


def write(path: Path, snapshot: Snapshot, command: str) -> None:
    """Write the snapshot to ``path``, at once or not at all; ``command`` is what makes it."""
    document = tomlkit.document()
    document.add(tomlkit.comment(f"Made by `{command}`. Review its changes like those of code."))
    content: dict[str, Any] = snapshot.model_dump(exclude_none=True, exclude={"stopped"})
    places = content.pop("places")
    for key, value in content.items():
        document.add(key, value)
    document.add("places", _places(places))
    path.parent.mkdir(parents=True, exist_ok=True)
    fresh = path.with_name(f".{path.name}.new")
    fresh.write_text(tomlkit.dumps(document), encoding="utf-8")
    fresh.rename(path)


def _places(places: dict[str, Any]) -> tomlkit.items.Table:
    """A table for each place and kind, with one line for each quantity, parameter and probe."""
    found = tomlkit.table(is_super_table=True)
    for name, kinds in places.items():
        place = tomlkit.table(is_super_table=True)
        for kind, rows in kinds.items():
            if not rows:
                continue
            table = tomlkit.table()
            for key, row in rows.items():
                line = tomlkit.inline_table()
                line.update(row)
                table.add(key, line)
            place.add(kind, table)
        found.add(name, place)
    return found
