"""The texts of the pages' sections "Methods": the entries of ``methods.toml`` that apply to a page."""

from __future__ import annotations

from collections.abc import Collection
from functools import cache
from importlib import resources
from pathlib import Path
from typing import Literal

from cambrian.report.sections import Facts
from cambrian.study.model import Design, Frozen
from cambrian.study.toml_file import TomlFile

Page = Literal["study", "suite", "comparison"]


class Method(Frozen):
    """An entry: the pages, designs and table that it needs, and its text with ``{words}`` to fill in."""

    page: Page
    name: str
    text: str
    designs: tuple[Design, ...] = ()
    table: str | None = None


@cache
def methods() -> tuple[Method, ...]:
    """All entries of ``methods.toml``."""
    path = Path(str(resources.files(__package__).joinpath("methods.toml")))
    return tuple(TomlFile(path, "docs/how-to/add-a-chart.md").tables("method", Method))


def of(page: Page, *, design: Design | None = None, tables: Collection[str] = (), **words: str) -> Facts:
    """The methods of a page; ``tables`` are the report's, ``words`` what the texts leave open."""
    return Facts(
        tuple(
            (one.name, one.text.format(**words))
            for one in methods()
            if one.page == page
            and (not one.designs or design in one.designs)
            and (one.table is None or one.table in tables)
        ),
        prose=True,
    )
