"""The report's section "Across networks": figures of all networks in one chart.

``across.toml`` lists the charts. What the study's networks differ in decides the form: along one quantity,
with a panel for each value of the others, if the networks are a grid; else network by network.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import cache
from importlib import resources
from itertools import product
from pathlib import Path
from typing import Any

import polars as pl
from pydantic import Field

from cambrian.effects.errors import NoDataError, UndefinedError
from cambrian.effects.model import Column, Where
from cambrian.effects.where import matching
from cambrian.measure import quantities
from cambrian.report.charts import curves, heats, names
from cambrian.report.charts.model import Heat, Lines
from cambrian.report.figures import colours
from cambrian.report.figures.figure import Figure
from cambrian.study.model import Design, Frozen
from cambrian.study.toml_file import TomlFile

#: a chart with more lines than colours is a heat map
_MOST_LINES = len(colours.PALETTE)
#: from this ratio of the largest to the smallest value an axis is logarithmic
_WIDE = 8
_PANEL = "panel"


class Chart(Frozen):
    """A chart of ``across.toml``: ``quantity``, with a line or a row for each value of ``by``."""

    designs: tuple[Design, ...]
    quantity: Column
    title: str
    digits: int = 2
    logarithmic: bool = False
    by: Column = "contestant"
    where: Where = Field(default_factory=dict)


@dataclass(frozen=True)
class Axes:
    """What the networks differ in. ``x`` is a column, ``panel`` another one or None.

    ``panels`` are the panel's values in order, where the panel joins several columns in words.
    """

    x: str
    panel: str | None = None
    joined: tuple[str, ...] = ()


@cache
def charts() -> tuple[Chart, ...]:
    """The charts of ``across.toml``, in the page's order."""
    return read(Path(str(resources.files(__package__).joinpath("across.toml"))))


def read(path: Path) -> tuple[Chart, ...]:
    """The charts of a file.

    Raises:
        StudyError: a chart is wrong; the message has its line, its key and the remedy.
    """
    return tuple(TomlFile(path, "docs/how-to/add-a-chart.md").tables("chart", Chart))


def figures(
    observed: pl.DataFrame,
    networks: Sequence[str],
    design: Design,
    inks: Mapping[str, str],
) -> tuple[Figure, ...]:
    """The figures of a study of this design from its observations; none for one network.

    ``networks`` are the names in the study's order; ``inks``: contestant → colour.
    """
    if observed["network"].n_unique() < 2:
        return ()
    frame = observed.with_columns(pl.col("network").cast(pl.Enum(networks)))
    found = axes(frame)
    if found.joined:
        frame = _with_panels(frame, found.joined)
    drawn = (
        _figure(one, rows, found, inks, page)
        for chart in charts()
        if design in chart.designs
        for one, rows, page in _by_page(chart, _rows(chart, frame), design)
    )
    return tuple(one for one in drawn if one is not None)


def _by_page(
    chart: Chart, rows: pl.DataFrame, design: Design
) -> Iterator[tuple[Chart, pl.DataFrame, str | None]]:
    """The chart with its rows, for each page that contestants load: a mean of two pages is of neither.

    The trials of a ``flows`` study may load several pages at once; there a line is a line-up.
    """
    pages = rows["page"].unique(maintain_order=True).to_list()
    if design == "flows" or len(pages) < 2:
        yield chart, rows, None
        return
    for page in pages:
        title = chart.title if page is None else f"{chart.title}, page {page}"
        named = chart.model_copy(update={"title": title})
        yield named, rows.filter(pl.col("page").eq_missing(page)), page


def axes(frame: pl.DataFrame) -> Axes:
    """How to lay out the networks of these observations."""
    of_network = [
        name for name, one in quantities.ALL.items() if one.level == "network" and name != "network"
    ]
    # the bytes of a buffer follow from the other columns if it is given in BDP
    if frame["buffer_bdp"].null_count() == 0:
        of_network.remove("buffer_bytes")
    networks = frame.select("network", *of_network).unique()
    values = {name: networks[name].unique().to_list() for name in of_network}
    differ = {name: found for name, found in values.items() if len(found) > 1}
    numeric = [name for name in differ if networks.schema[name].is_numeric() and None not in differ[name]]
    is_grid = math.prod(map(len, differ.values())) == networks.height == networks["network"].n_unique()
    if not numeric or not is_grid:
        return Axes("network")
    # of several with as many values the last, which is nearest to the queue
    x = max(reversed(numeric), key=lambda name: len(differ[name]))
    others = tuple(name for name in differ if name != x)
    if len(others) < 2:
        return Axes(x, others[0] if others else None)
    return Axes(x, _PANEL, others)


def _with_panels(frame: pl.DataFrame, joined: Sequence[str]) -> pl.DataFrame:
    """The observations with the words of a panel that joins these columns, in the order of their values."""
    # keys that a network does not set come first
    values = [frame[name].unique().sort(nulls_last=False).to_list() for name in joined]
    words = {
        place: ", ".join(names.value(*pair) for pair in zip(joined, place, strict=True))
        for place in product(*values)
    }
    panel = [words[place] for place in frame.select(joined).iter_rows()]
    return frame.with_columns(pl.Series(_PANEL, panel, dtype=pl.Enum(list(words.values()))))


def _rows(chart: Chart, frame: pl.DataFrame) -> pl.DataFrame:
    """The chart's observations."""
    if quantities.ALL[chart.quantity].of_complete:
        # the loads of a group that are complete are its fastest
        frame = frame.filter((pl.col("not_complete").fill_null(0) == 0).all().over("group"))
    # a trial without a value leaves out its seed, a flow that never has one its group
    measured = pl.col(chart.quantity).is_not_null().any().over("group", "flow")
    rows = matching(frame, chart.where).drop_nulls(chart.by).filter(measured)
    # a contestant against itself has an equal share by construction
    return rows.filter(pl.col("contestant").ne_missing(pl.col("against")) | (pl.col("design") != "pairwise"))


def _figure(
    chart: Chart, rows: pl.DataFrame, found: Axes, inks: Mapping[str, str], page: str | None
) -> Figure | None:
    if rows["network"].n_unique() < 2:
        return None
    name = f"across-{chart.quantity.replace('_', '-')}" + (f"_{page}" if page else "")
    common: dict[str, Any] = {
        "part": "study",
        "quantity": chart.quantity,
        "title": chart.title,
        "logarithmic": chart.logarithmic,
        "x": found.x,
        "panel": found.panel,
    }
    with suppress(NoDataError, UndefinedError):
        if found.x == "network" or rows[chart.by].n_unique() > _MOST_LINES:
            return heats.figure(rows, Heat(**common, y=chart.by, digits=chart.digits), name, {})[0]
        values = rows[found.x].to_list()
        wide = min(values) > 0 and max(values) / min(values) >= _WIDE
        lines = Lines(**common, colour=chart.by, logarithmic_x=wide)
        return curves.figure(rows, lines, name, {}, inks)
    return None
