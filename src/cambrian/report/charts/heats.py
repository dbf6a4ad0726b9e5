"""A section's heat maps: an effect by two columns, a panel for each value of a third."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import altair as alt
import numpy as np
import polars as pl

from cambrian.effects.cells import cells
from cambrian.effects.where import matching
from cambrian.report import layout
from cambrian.report.charts import names
from cambrian.report.charts.model import Heat
from cambrian.report.figures import heat as heat_map
from cambrian.report.figures.figure import PANEL_WIDTH, Figure, Panel, inline
from cambrian.stats import states

#: pixels that a column needs for its numbers
COLUMN = 34
#: the quantity whose natural null is an equal share
SHARE = "share_percent"
#: the designs whose trials with two flows are of pairs of contestants
_PAIRS = ("pairwise", "versus-reference")
#: significant digits of a number on an axis, and those that any number has at most
_DIGITS, _MOST_DIGITS = 6, 17
#: part of a side of the scale above which a cell is too dark for dark text
_DARK = 0.62


@dataclass(frozen=True)
class _Shade:
    """The colours' scale: ``middle`` is no effect; it is logarithmic if ``by_factor``."""

    least: float
    middle: float | None
    most: float
    by_factor: bool

    def place(self, effect: float) -> float:
        """An effect's value on the scale."""
        return math.log2(effect) if self.by_factor else effect


def figure(
    frame: pl.DataFrame, heat: Heat, name: str, labels: Mapping[str, str]
) -> tuple[Figure, pl.DataFrame]:
    """The figure of ``heat`` on an observations frame, and its cells.

    Raises:
        EffectError: the frame has no such cell or column.
    """
    nulls = _nulls(frame, heat)
    effects = cells(frame, heat.spec, nulls).drop_nulls("effect")
    fair = [] if nulls is None else nulls["null"].drop_nulls().unique().to_list()
    shade = _shade(effects["effect"], heat, fair[0] if len(fair) == 1 else None)
    if shade.by_factor:
        effects = effects.filter(pl.col("effect") > 0)
    tested = heat.b is not None or nulls is not None
    conclusive = pl.col("state").ne_missing("inconclusive") if tested else pl.lit(True)
    number = pl.col("effect").map_elements(
        lambda one: layout.number(one, heat.digits), return_dtype=pl.String
    )
    same = pl.when(pl.col("state") == states.SAME).then(pl.lit(f" {layout.SAME}")).otherwise(pl.lit(""))
    shown = effects.with_columns(
        pl.col("effect").map_elements(shade.place, return_dtype=pl.Float64).alias("shade"),
        conclusive.cast(pl.Int8).alias("conclusive"),
        pl.when(conclusive).then(number + same).otherwise("(" + number + ")").alias("text"),
    )
    # every panel has all rows and columns: missing cells are blank
    places = _words(shown[heat.x]), _words(shown[heat.y])
    shown = shown.with_columns(
        pl.Series(axis, [words[one] for one in shown[column]], dtype=pl.String)
        for axis, column, words in zip("xy", (heat.x, heat.y), places, strict=True)
    )
    orders = [*places[0].values()], [*places[1].values()]
    values = None if heat.panel is None else shown[heat.panel]
    panels = [
        Panel(_chart(part, heat, shade, labels, above, orders), _alt(part, heat, above, tested=tested))
        for part, above in names.panels(shown, values, labels)
    ]
    height = heat_map.ROW * len(orders[1])
    return (
        Figure(
            name=name,
            network="",
            heading=heat.title,
            caption=_caption(heat, tested=tested),
            panels=tuple(panels),
            data=effects,
            height=height,
            least_width=heat_map.least_width(shown, orders[1], len(orders[0])),
            wide=COLUMN * len(orders[0]) > PANEL_WIDTH,
        ),
        effects,
    )


def _words(column: pl.Series) -> dict[object, str]:
    """Value → text on the axis, in order. Numbers have six digits, or more if fewer do not tell them apart.

    An axis of texts has exactly the values of the chart's data. Numbers are rounded there, and a cell with a
    value that its axis lacks would be drawn over the cells of the first one.
    """
    values = column.unique().sort(nulls_last=True).to_list()
    for digits in range(_DIGITS, _MOST_DIGITS):
        words = {one: _word(one, digits) for one in values}
        if len({*words.values()}) == len(values):
            return words
    return {one: _word(one, _MOST_DIGITS) for one in values}


def _word(value: object, digits: int) -> str:
    if value is None:
        return "not set"
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, float) and not value.is_integer():
        return np.format_float_positional(value, digits, fractional=False, trim="-")
    return str(int(value)) if isinstance(value, float) else str(value)


def _shade(effects: pl.Series, heat: Heat, fair: float | None = None) -> _Shade:
    """``fair``: the equal share of all cells. A difference within its margin is never a strong colour."""
    values = [float(one) for one in effects]
    by_factor = (heat.kind == "ratio" or heat.logarithmic) and any(one > 0 for one in values)
    if by_factor:
        values = [math.log2(one) for one in values if one > 0]
    if fair is not None and not by_factor:
        most = max([*(abs(one - fair) for one in values), 2 * states.of_share(fair).high])
        return _Shade(fair - most, fair, fair + most, by_factor)
    if heat.kind == "value":
        low, high = min(values, default=0.0), max(values, default=1.0)
        return _Shade(low, None, high if high > low else low + 1, by_factor)
    most = max((abs(one) for one in values), default=1.0) or 1.0
    return _Shade(-most, 0.0, most, by_factor)


def _chart(
    part: pl.DataFrame,
    heat: Heat,
    shade: _Shade,
    labels: Mapping[str, str],
    above: str | None,
    orders: tuple[list[str], list[str]],
) -> alt.TopLevelMixin:
    drawn = part.select(
        "x", "y", "effect", "shade", "text", "conclusive", "low", "high", "seeds", "p_bh", "state"
    )
    order_x, order_y = orders
    # an axis of names needs all labels; an axis of numbers may leave some out
    named = not part.schema[heat.x].is_numeric()
    axis = alt.Axis(grid=False, labelAngle=-30 if named else 0, labelOverlap=not named)
    base = alt.Chart(inline(drawn, **dict.fromkeys(("x", "y", "text", "state"), "string"))).encode(
        x=alt.X("x:O", scale=alt.Scale(domain=order_x), title=names.heading(heat.x, labels), axis=axis),
        y=alt.Y(
            "y:O",
            scale=alt.Scale(domain=order_y[::-1]),
            title=names.heading(heat.y, labels),
            axis=alt.Axis(grid=False),
        ),
    )
    tooltip = [
        alt.Tooltip("x:N", title=names.heading(heat.x, labels)),
        alt.Tooltip("y:N", title=names.heading(heat.y, labels)),
        alt.Tooltip("effect:Q", title=heat.title, format=".4~g"),
        alt.Tooltip("low:Q", title="95 % from", format=".4~g"),
        alt.Tooltip("high:Q", title="to", format=".4~g"),
        alt.Tooltip("p_bh:Q", title="p (corrected)", format=".2g"),
        alt.Tooltip("state:N", title="State"),
        alt.Tooltip("seeds:Q", title="Seeds"),
    ]
    if shade.middle is None:
        dark = f"datum.shade > {shade.least + _DARK * (shade.most - shade.least)}"
    else:
        dark = f"abs(datum.shade - {shade.middle}) > {_DARK * (shade.most - shade.middle)}"
    height = heat_map.ROW * len(order_y)
    return heat_map.squares(base, _colour(heat, shade), tooltip, dark, height=height, above=above)


def _colour(heat: Heat, shade: _Shade) -> alt.Color:
    label = "format(pow(2, datum.value), '.3~g')" if shade.by_factor else "format(datum.value, '.3~g')"
    middle = (shade.least + shade.most) / 2 if shade.middle is None else shade.middle
    # the colours of shares reach as far below an equal share as above it; shares do not
    least, most = shade.least, shade.most
    if shade.middle:
        least, most = max(least, 0.0), min(most, 100.0)
    legend = heat_map.legend(labelExpr=label, values=[least, middle, most], titleLimit=0)
    both: dict[str, Any] = {} if shade.middle is None else {"domainMid": shade.middle}
    scale = alt.Scale(scheme="purpleorange" if both else "blues", domain=[shade.least, shade.most], **both)
    return alt.Color("shade:Q", title=heat.title, scale=scale, legend=legend)


def _nulls(frame: pl.DataFrame, heat: Heat) -> pl.DataFrame | None:
    """Each cell's equal share in percent, for a map of shares; null for a contestant against itself.

    An equal share is 100 divided by the number of flows. If all flows of a trial are in the cell, the share
    is equal by construction. The two flows of a contestant against itself differ by chance alone, so one of
    them is not tested either, except in a study that lists its flows: there one may begin later.
    ``of_pairs``: are the cell's trials of pairs, in which chance may decide who takes most of the link?
    """
    if heat.b is not None or heat.quantity != SHARE or heat.flows not in ("mean", "sum"):
        return None
    keys = list(heat.spec.cell)
    rows = matching(matching(frame, heat.where), heat.a).drop_nulls(SHARE)
    itself = (pl.col("contestant") == pl.col("against")) & (pl.col("design") != "flows")
    by_trial = rows.group_by(*keys, "trial").agg(
        pl.col("flows", "design").first(), pl.len().alias("here"), itself.any().alias("itself")
    )
    count = pl.col("here") if heat.flows == "sum" else pl.lit(1)
    fair = by_trial.with_columns((100 * count / pl.col("flows")).alias("fair"))
    return fair.group_by(keys).agg(
        pl.when(
            (pl.col("fair").n_unique() == 1) & ((pl.col("here") < pl.col("flows")) & ~pl.col("itself")).all()
        )
        .then(pl.col("fair").first())
        .alias("null"),
        pl.col("design").is_in(_PAIRS).all().alias("of_pairs"),
    )


def _caption(heat: Heat, *, tested: bool) -> str:
    if not tested:
        return "Mean over seeds in each cell; not tested, because there is no natural value to test against."
    family = f"Benjamini–Hochberg over all cells of this figure, {100 * states.LEVEL:g} %"
    same = "“=”: the same in every seed, so seeds add no variation and nothing is tested."
    if heat.b is None:
        return (
            "Mean over seeds in each cell. Faint and in parentheses: inconclusive, that is neither different "
            f"from an equal share (t over seeds; {family}) nor equivalent to it (within "
            f"{100 * states.SHARE_PART:g} % of it, or of the rest if that is less). A contestant against "
            "itself has an equal share by construction and is not tested. " + same
        )
    return (
        "Faint and in parentheses: inconclusive, that is neither different from no effect (t over seeds, "
        f"paired if both sides have the same seeds; {family}) nor equivalent to it (within "
        f"{states.PERCENT.high:g} %). " + same
    )


def _alt(part: pl.DataFrame, heat: Heat, above: str | None, *, tested: bool) -> str:
    values = [float(one) for one in part["effect"]]
    span = f" from {min(values):.3g} to {max(values):.3g}" if values else ""
    inconclusive = f"; {(1 - part['conclusive']).sum()} inconclusive" if tested else ""
    where = f", {above}" if above else ""
    return f"Heat map{where}: {heat.title}, {part.height} cells{span}{inconclusive}."
