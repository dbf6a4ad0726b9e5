"""Heat maps: squares with numbers, faint where inconclusive; and a map of contestants by contestants."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import altair as alt
import polars as pl

from cambrian.report import layout
from cambrian.report.figures.figure import inline

#: pixels of a row
ROW = 30
#: pixels of a character in a cell or a label, of the space around it, and of an axis's title
_CHARACTER = 6
_SPACE = 6
_TITLE = 30
#: opacity of an inconclusive cell
_FAINT = 0.3


def labelled(cells: pl.DataFrame, value: str) -> pl.DataFrame:
    """``cells`` with ``text``: the value, in parentheses where the column ``conclusive`` is not true."""
    number = pl.col(value).map_elements(lambda one: layout.number(one, 2), return_dtype=pl.String)
    conclusive = pl.col("conclusive").fill_null(False)
    return cells.with_columns(
        conclusive.cast(pl.Int8).alias("conclusive"),
        pl.when(conclusive).then(number).otherwise("(" + number + ")").alias("text"),
    )


def least_width(cells: pl.DataFrame, rows: Sequence[object], columns: int) -> int:
    """Pixels that the texts of ``cells`` (column ``text``) need in ``columns`` columns."""
    widest = max((len(text) for text in cells["text"]), default=0)
    label = max((len(str(row)) for row in rows), default=0)
    return _TITLE + _CHARACTER * label + columns * (_CHARACTER * widest + _SPACE)


def chart(
    cells: pl.DataFrame,
    value: str,
    order: Sequence[str],
    *,
    across: str,
    title: str,
    domain: tuple[float, float, float],
    title_above: str | None = None,
) -> alt.TopLevelMixin:
    """One square for each row of ``cells`` (``x`` is its row, ``y`` its column; see :func:`labelled`).

    ``order`` is that of rows and columns, ``across`` the title of the columns, ``title`` that of the
    colours; ``domain`` is lowest, middle and highest value. ``title_above`` is the title of one panel among
    several.
    """
    rows, columns = ([name for name in order if name in set(cells[one])] for one in ("x", "y"))
    data = inline(
        cells.select("x", "y", value, "text", "conclusive", "seeds"), x="string", y="string", text="string"
    )
    base = alt.Chart(data).encode(
        x=alt.X("y:N", sort=columns, title=across, axis=alt.Axis(labelAngle=-40, orient="top", grid=False)),
        y=alt.Y("x:N", sort=rows, title=None, axis=alt.Axis(grid=False)),
    )
    least, middle, most = domain
    colour = alt.Color(
        f"{value}:Q",
        title=title,
        scale=alt.Scale(scheme="purpleorange", domain=[least, most], domainMid=middle, clamp=True),
        legend=legend(),
    )
    tooltip = [
        alt.Tooltip("x:N", title="row"),
        alt.Tooltip("y:N", title="column"),
        alt.Tooltip(f"{value}:Q", title=title, format=".3f"),
        alt.Tooltip("seeds:Q", title="Seeds"),
    ]
    # dark at both ends of the scale
    low, high = middle - 0.5 * (middle - least), middle + 0.74 * (most - middle)
    dark = f"datum.{value} < {low} || datum.{value} > {high}"
    return squares(base, colour, tooltip, dark, height=ROW * len(rows), above=title_above)


def legend(**more: Any) -> alt.Legend:
    """The scale of colours, below the map."""
    return alt.Legend(
        orient="bottom", direction="horizontal", gradientLength=180, gradientThickness=10, **more
    )


def squares(
    base: alt.Chart,
    colour: alt.Color,
    tooltip: list[alt.Tooltip],
    dark: str,
    *,
    height: int,
    above: str | None,
) -> alt.TopLevelMixin:
    """The squares of ``base`` with their texts, from its columns ``text`` and ``conclusive`` (1 or 0).

    ``dark``: where a conclusive square needs light text; an inconclusive one is faint. ``above``: a title.
    """
    drawn = base.mark_rect().encode(
        color=colour,
        opacity=alt.condition("datum.conclusive == 1", alt.value(1), alt.value(_FAINT)),
        tooltip=tooltip,
    )
    ink = {
        "condition": [
            {"test": f"datum.conclusive == 1 && ({dark})", "value": "white"},
            {"test": "datum.conclusive == 1", "value": "#1b1f24"},
        ],
        "value": "#767b82",
    }
    sized = alt.layer(drawn, base.mark_text(fontSize=11).encode(text="text:N", color=ink)).properties(
        height=height
    )
    return sized.properties(title=above) if above else sized
