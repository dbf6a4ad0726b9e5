"""A section's lines: an effect along one column, with one line or panel for each value of other columns."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Mapping, Sequence

import altair as alt
import numpy as np
import polars as pl

from cambrian.effects.cells import cells
from cambrian.effects.where import matching
from cambrian.report.charts import names, theory
from cambrian.report.charts.model import Lines
from cambrian.report.figures import colours
from cambrian.report.figures.figure import PANEL_HEIGHT, Figure, Panel, inline

_MODELS = (("mathis_mbps", "Mathis", "#767b82"), ("rfc9438_mbps", "RFC 9438", "#8a6d3b"))
#: stroke dashes of the two predictions: neither hides the other
_DASHES = {"Mathis": [2, 2], "RFC 9438": [6, 3]}
_POINT = 36
#: numbers on axes: at most six digits
_NUMBER = ".6~g"
#: the digits of each power of ten with a label on a logarithmic axis, coarse ones first; the fewest labels
_LABELLED = ((1, 2, 5), range(1, 10), np.arange(1, 10, 0.5).tolist(), np.arange(1, 10, 0.1).tolist())
_LEAST_LABELS = 3
#: characters of a name that needs its own row in a legend
_LONG_NAME = 22


def figure(
    frame: pl.DataFrame,
    lines: Lines,
    name: str,
    labels: Mapping[str, str],
    inks: Mapping[str, str] | None = None,
) -> Figure:
    """The figure of ``lines`` on an observations frame; ``inks`` gives lines their colours.

    Raises:
        EffectError: the frame has no such cell or column.
    """
    effects = cells(frame, lines.spec).drop_nulls("effect")
    drawn = _named(effects, lines, labels).with_columns(pl.lit("measured").alias("kind"))
    if lines.theory:
        drawn = pl.concat([drawn, _predicted(frame, lines, labels)], how="diagonal_relaxed")
    series = drawn["series"].unique(maintain_order=True).to_list()
    colour_of = {one: _colour(one, series) for one in series} | dict(inks or {})
    span = _span(drawn, lines)
    values = None if lines.panel is None else effects[lines.panel]
    panels = [
        Panel(_chart(part, lines, labels, above, colour_of, span), _alt(part, lines, above))
        for part, above in names.panels(drawn, values, labels)
    ]
    return Figure(
        name=name,
        network="",
        heading=lines.title,
        caption=_caption(lines),
        panels=tuple(panels),
        data=drawn,
        height=PANEL_HEIGHT,
        wide=lines.panel is None,
    )


def _named(found: pl.DataFrame, lines: Lines, labels: Mapping[str, str]) -> pl.DataFrame:
    if lines.colour is None:
        return found.with_columns(pl.lit(lines.title).alias("series"))
    column = lines.colour
    return found.with_columns(
        pl.Series("series", [names.value(column, one, labels) for one in found[column]], dtype=pl.String)
    )


def _predicted(frame: pl.DataFrame, lines: Lines, labels: Mapping[str, str]) -> pl.DataFrame:
    """The models' lines; predictions above the link's rate are drawn at that rate."""
    spec = lines.spec
    rows = matching(matching(frame, spec.where), spec.a)
    predictions = theory.predictions(rows, spec.cell, spec.quantity)
    parts = []
    for column, name, _ in _MODELS:
        one = predictions.with_columns(
            pl.min_horizontal(pl.col(column).fill_null(float("inf")), "limit_mbps").alias("effect"),
            pl.lit(name).alias("series"),
            pl.lit("predicted").alias("kind"),
        )
        parts.append(one.select(*spec.cell, "effect", "series", "kind"))
    predicted = pl.concat(parts)
    # a prediction is one line in each panel, unless it depends on the coloured column
    if lines.colour in ("rate_mbps", "rtt_ms"):
        values = [names.value(lines.colour, one, labels) for one in predicted[lines.colour]]
        return predicted.with_columns(pl.col("series") + ", " + pl.Series(values, dtype=pl.String))
    return predicted.unique(maintain_order=True)


def _span(drawn: pl.DataFrame, lines: Lines) -> tuple[float, float]:
    """Ends of the axis of the effect, the same in every panel."""
    values = pl.concat([drawn[name].drop_nulls() for name in ("effect", "low", "high")]).to_list()
    if lines.logarithmic:
        positive = [one for one in values if one > 0]
        return min(positive, default=0.1) / 1.15, max(positive, default=1.0) * 1.15
    low, high = min(values, default=0.0), max(values, default=1.0)
    return min(0.0, 1.05 * low), max(0.0, 1.05 * high)


def _chart(
    part: pl.DataFrame,
    lines: Lines,
    labels: Mapping[str, str],
    above: str | None,
    colour_of: Mapping[str, str],
    span: tuple[float, float],
) -> alt.TopLevelMixin:
    data = part.select(
        pl.col(lines.x).alias("x"),
        "series",
        "kind",
        "effect",
        *(
            pl.col(one) if one in part.columns else pl.lit(None, dtype=pl.Float64).alias(one)
            for one in ("low", "high", "trials_a")
        ),
    ).sort("x")
    there = [one for one in colour_of if one in set(data["series"])]
    measured = set(part.filter(pl.col("kind") == "measured")["series"])
    # a panel of the whole width has room for two short names in a row, even on a phone
    columns = 1 if lines.panel or max(map(len, there), default=0) > _LONG_NAME else 2
    legend = (
        alt.Legend(columns=columns, direction="horizontal", symbolType="stroke") if len(there) > 1 else None
    )
    colour = alt.Color(
        "series:N",
        title=None,
        scale=alt.Scale(domain=there, range=[colour_of[one] for one in there]),
        legend=legend,
    )
    dash = alt.StrokeDash(
        "series:N",
        title=None,
        scale=alt.Scale(domain=there, range=_dashes(there, measured, colour_of)),
        legend=legend,
    )
    numeric = part.schema[lines.x].is_numeric()
    scale = alt.Scale(type="log", nice=False) if lines.logarithmic_x else alt.Scale(zero=False, padding=8)
    x = (
        alt.X("x:Q", title=names.heading(lines.x, labels), scale=scale,
              axis=alt.Axis(values=data["x"].unique().sort().to_list(), grid=False, format=_NUMBER))
        if numeric
        else alt.X("x:O", title=names.heading(lines.x, labels), axis=alt.Axis(labelAngle=0))
    )  # fmt: skip
    y_scale = alt.Scale(type="log" if lines.logarithmic else "linear", domain=list(span), nice=False)
    base = alt.Chart(inline(data, series="string", kind="string", **({} if numeric else {"x": "string"})))
    y = alt.Y("effect:Q", title=lines.title, scale=y_scale, axis=_axis(lines, span))
    # words have no order, so there is no line: their points stand beside each other
    beside = {} if numeric else {"xOffset": alt.XOffset("series:N", sort=there)}
    rules = (
        base.transform_filter("isValid(datum.low)")
        .mark_rule(strokeWidth=1.5, clip=True)
        .encode(x=x, y=alt.Y("low:Q", title=lines.title, scale=y_scale), y2="high:Q", color=colour, **beside)
    )
    drawn = base.mark_line(strokeWidth=1.75, clip=True).encode(x=x, y=y, color=colour, strokeDash=dash)
    points = base.transform_filter("datum.kind == 'measured'").mark_point(size=_POINT, filled=True, opacity=1)
    tooltip = [
        alt.Tooltip("series:N", title="Line"),
        alt.Tooltip("x:N", title=names.heading(lines.x, labels)),
        alt.Tooltip("effect:Q", title=lines.title, format=".4~g"),
        alt.Tooltip("low:Q", title="95 % from", format=".4~g"),
        alt.Tooltip("high:Q", title="to", format=".4~g"),
        alt.Tooltip("trials_a:Q", title="Trials"),
    ]
    dots = points.encode(x=x, y=y, color=colour, tooltip=tooltip, **beside)
    panel = alt.layer(*([drawn] if numeric else []), rules, dots)
    panel = panel.properties(height=PANEL_HEIGHT)
    return panel.properties(title=above) if above else panel


def _axis(lines: Lines, span: tuple[float, float]) -> alt.Axis:
    """An axis; a logarithmic one has labels at 1, 2 and 5 of each power of ten, or more if they are few."""
    if not lines.logarithmic:
        return alt.Axis(format=_NUMBER)
    powers = range(math.floor(math.log10(span[0])), math.ceil(math.log10(span[1])) + 1)
    values: list[float] = []
    for digits in _LABELLED:
        named = (digit * 10.0**power for power in powers for digit in digits)
        values = [one for one in named if span[0] <= one <= span[1]]
        # with one label nobody can read a logarithmic axis
        if len(values) >= _LEAST_LABELS:
            break
    return alt.Axis(format=_NUMBER, values=values)


def _colour(series: str, all_series: list[str]) -> str:
    own = [one for one in all_series if not _is_model(one)]
    if _is_model(series):
        _, _, rest = series.partition(", ")
        return (
            colours.PALETTE[own.index(rest) % len(colours.PALETTE)]
            if rest in own
            else next(colour for _, name, colour in _MODELS if series.startswith(name))
        )
    return colours.PALETTE[own.index(series) % len(colours.PALETTE)]


def _dashes(series: list[str], measured: set[str], colour_of: Mapping[str, str]) -> list[Sequence[int]]:
    """Predictions have dashes of their own; measured lines of one colour differ by their dashes."""
    seen: Counter[str] = Counter()
    found: list[Sequence[int]] = []
    for one in series:
        if one not in measured:
            found.append(_DASHES[one.partition(", ")[0]])
            continue
        found.append(colours.DASHES[seen[colour_of[one]] % len(colours.DASHES)])
        seen[colour_of[one]] += 1
    return found


def _is_model(series: str) -> bool:
    return series.partition(", ")[0] in _DASHES


def _caption(lines: Lines) -> str:
    text = "Mean over seeds; bars: 95 % interval."
    return f"{text} {theory.WORDS} The figure draws it at the link’s rate." if lines.theory else text


def _alt(part: pl.DataFrame, lines: Lines, above: str | None) -> str:
    where = f", {above}" if above else ""
    ends = []
    for series in part.filter(pl.col("kind") == "measured")["series"].unique(maintain_order=True):
        one = part.filter(pl.col("series") == series).sort(lines.x)
        first, last = one.row(0, named=True), one.row(-1, named=True)
        ends.append(
            f"{series} {first['effect']:.3g} at {first[lines.x]} to {last['effect']:.3g} at {last[lines.x]}"
        )
    return f"Line chart{where}: {lines.title} by {lines.x}. {'; '.join(ends)}."
