"""The catalogue of pages that a study may name (``pages.toml``)."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import Any

from cambrian.study.toml_file import TomlFile

_FILE = Path(__file__).with_name("pages.toml")


@cache
def catalogue() -> Mapping[str, dict[str, Any]]:
    """Name → the page's table, with the keys that a study would use."""
    return {
        name: {"name": name, **table}
        for name, table in TomlFile(_FILE, "docs/reference/studies.md").raw.items()
    }
