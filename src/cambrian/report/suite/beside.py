"""A section's comparison of published cells with measured ones, as words, a figure and tables."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import replace

import altair as alt
import polars as pl

from cambrian.effects.where import matching
from cambrian.published.agreement import WORDS
from cambrian.published.compare import Compared
from cambrian.report import layout
from cambrian.report.charts import names, theory
from cambrian.report.figures import colours
from cambrian.report.figures.figure import PANEL_HEIGHT, Figure, Panel, inline
from cambrian.report.layout import Column, Row
from cambrian.report.sections import Piece, Table, Words
from cambrian.report.suite import tables
from cambrian.report.words import counted

#: a figure needs this number of measured cells
_FEWEST_POINTS = 4
#: most colours that a reader can distinguish
_MOST_COLOURS = len(colours.PALETTE)
_OF_PART = "or ours is the count, the least or the largest of only a part of the paper's values"
_MEANS = {
    "inside": "inside: the published figure, known to half a unit of its last digit, lies in our 95 % "
    "interval, or the two intervals overlap",
    "near": "near: outside our interval, but within {near:g} % of the published figure",
    "higher": "higher, lower: our figure is above or below the published one",
    "lower": "higher, lower: our figure is above or below the published one",
    "agrees": "agrees: our whole 95 % interval is on the published side; disagrees: no part of it is",
    "disagrees": "agrees: our whole 95 % interval is on the published side; disagrees: no part of it is",
    "inconclusive": f"inconclusive: only part of our interval is on the published side, {_OF_PART}",
    "no interval": "no interval: we have too few trials, or without one of the seeds our figure is not "
    "defined",
    "not complete": "not complete: some of our transfers or page loads did not end in their trial's time",
    "not defined": "not defined: our figure would divide by 0, is a geometric mean with a 0, or has no seed "
    "with a value in each trial and group",
}
#: of figures, which are on no side
_OPEN = f"inconclusive: our interval has every value that is possible, {_OF_PART}"


def content(
    compared: Compared,
    observations: pl.DataFrame | None,
    name: str,
    labels: Mapping[str, str],
    *,
    with_theory: bool,
) -> tuple[Piece, ...]:
    """The section's content, with data."""
    figure = _figure(compared, f"{name}-scatter", labels)
    table = Table(_table(compared, f"{name}.csv", labels), compared.frame)
    predicted = None
    if with_theory and observations is not None:
        predicted = _theory(compared, observations, f"{name}-theory.csv", labels)
    words = (_summary(compared), theory.WORDS) if predicted else (_summary(compared),)
    pieces = (Words(words, found=True), figure, table, predicted)
    return tuple(one for one in pieces if one is not None)


def _summary(compared: Compared) -> str:
    words = [str(word) for word in compared.frame["agrees"]]
    counts = [f"{words.count(word):,} {word}" for word in WORDS if word in words]
    near = compared.comparison.near_percent or 0.0
    means = _MEANS | {"inconclusive": _OPEN} if compared.comparison.has_figures else _MEANS
    meanings = "; ".join(
        dict.fromkeys(means[word].format(near=near) for word in WORDS if word in words and word in means)
    )
    note = f" ({compared.note})" if compared.note else ""
    ending = f" ({meanings[:1].upper() + meanings[1:]}.)" if meanings else ""
    return f"{counted(len(words), 'published cell')}, compared with ours{note}: {', '.join(counts)}.{ending}"


def _table(compared: Compared, csv: str, labels: Mapping[str, str]) -> layout.Shown:
    comparison = compared.comparison
    unit = f" ({comparison.unit})" if comparison.unit else ""
    digits = comparison.digits
    columns = [tables.key(one, labels, "any", number=False) for one in compared.keys]
    if comparison.published_sign is not None:
        columns.append(layout.text("published_sign", "Published sign"))
    elif comparison.published_bound is not None:
        side = comparison.published_bound
        columns.append(Column(f"Published{unit}", lambda row: _bound(row, side, digits)))
    else:
        columns.append(_published(unit, digits))
    columns += [
        layout.spread("measured", f"Measured{unit}", digits),
        Column("Trials", lambda row: layout.NOTHING if row["trials"] is None else str(row["trials"])),
    ]
    if comparison.has_figures:
        columns.append(layout.plain("ratio", "Measured / published", 2))
    columns.append(layout.text("agrees", "Measured is" if comparison.has_figures else "Measured"))
    caption = f"{comparison.title}: published ({comparison.source}) beside measured"
    return replace(layout.shown(compared.frame, columns, caption, csv), keyed=True)


def _published(unit: str, digits: int) -> Column:
    """Figures with at most the digits that the paper prints: 4 stands for 3.5 to 4.5, 4.00 would not.

    ``digits``: most decimals, and those of exact figures and of those with an interval.
    """

    def show(row: Row) -> str:
        half = row["published_half_unit"] if row["published_low"] is None else None
        printed = max(0, round(-math.log10(2 * half))) if half else digits
        return layout.interval(row, "published", min(digits, printed))

    return Column(f"Published{unit}", show)


def _bound(row: Row, side: str, digits: int) -> str:
    return layout.NOTHING if row["published"] is None else f"{side} {layout.number(row['published'], digits)}"


def _figure(compared: Compared, name: str, labels: Mapping[str, str]) -> Figure | None:
    """Measured against published, a panel for each side; equal figures lie on the diagonal."""
    comparison = compared.comparison
    there = compared.frame.drop_nulls(["published", "measured"])
    if there.height < _FEWEST_POINTS or comparison.published_bound is not None:
        return None
    values = pl.concat([there[one].drop_nulls() for one in ("published", "measured")])
    span = [min(0.0, float(values.min() or 0)), 1.05 * float(values.max() or 1)]  # type: ignore[arg-type]
    sides = there["side"].unique(maintain_order=True).to_list() if "side" in there.columns else [None]
    panels = []
    for side in sides:
        part = there if side is None else there.filter(pl.col("side") == side)
        panels.append(Panel(_scatter(part, compared, span, side, labels), _alt(part, side)))
    unit = f", {comparison.unit}" if comparison.unit else ""
    return Figure(
        name=name,
        network="",
        heading=f"Measured against published{unit}",
        caption="One point for each cell. Bars: 95 % intervals; published intervals come from the SD and the "
        "number of runs, if known. Dashed line: both are equal.",
        panels=tuple(panels),
        data=there,
        height=PANEL_HEIGHT,
    )


def _scatter(
    part: pl.DataFrame, compared: Compared, span: list[float], side: str | None, labels: Mapping[str, str]
) -> alt.TopLevelMixin:
    unit = f" ({compared.comparison.unit})" if compared.comparison.unit else ""
    keys = [one for one in compared.keys if one != "side"]
    key = next((one for one in reversed(keys) if 1 < part[one].n_unique() <= _MOST_COLOURS), None)
    named = part.with_columns(
        pl.Series("series", [names.value(key, one, labels) if key else "cell" for one in
                             (part[key] if key else part["measured"])], dtype=pl.String)
    )  # fmt: skip
    domain = named.sort(key)["series"].unique(maintain_order=True).to_list() if key else ["cell"]
    figures = ["published", "published_low", "published_high", "measured", "measured_low", "measured_high"]
    data = inline(
        named.select(*keys, "series", *figures),
        **{one: "string" for one in keys if not part.schema[one].is_numeric()},
        series="string",
    )
    x = alt.X("published:Q", title=f"Published{unit}", scale=alt.Scale(domain=span, nice=False))
    y = alt.Y("measured:Q", title=f"Measured{unit}", scale=alt.Scale(domain=span, nice=False))
    colour = alt.Color(
        "series:N",
        title=None,
        scale=alt.Scale(domain=domain, range=list(colours.PALETTE[: len(domain)])),
        legend=alt.Legend(columns=2) if key else None,
    )
    base = alt.Chart(data)
    ours = alt.Y("measured_low:Q", title=f"Measured{unit}")
    theirs = alt.X("published_low:Q", title=f"Published{unit}")
    known = {one: base.transform_filter(f"isValid(datum.{one}_low)") for one in ("measured", "published")}
    rules = [
        known["measured"].mark_rule(opacity=0.6).encode(x=x, y=ours, y2="measured_high:Q", color=colour),
        known["published"].mark_rule(opacity=0.6).encode(y=y, x=theirs, x2="published_high:Q", color=colour),
    ]
    tooltip = [alt.Tooltip(f"{one}:N", title=names.heading(one, labels)) for one in keys]
    tooltip += [alt.Tooltip(f"{one}:Q", title=names.heading(one), format=".4~g") for one in figures]
    points = base.mark_point(filled=True, size=32, opacity=0.9).encode(
        x=x, y=y, color=colour, tooltip=tooltip
    )
    ends = pl.DataFrame({"published": span, "measured": span})
    diagonal = alt.Chart(inline(ends)).mark_line(strokeDash=[4, 3], strokeWidth=1, color=colours.GREY)
    panel = alt.layer(diagonal.encode(x=x, y=y), *rules, points).properties(height=PANEL_HEIGHT)
    return panel.properties(title=str(side)) if side is not None else panel


def _alt(part: pl.DataFrame, side: str | None) -> str:
    above = (part["measured"] > part["published"]).sum()
    whose = f" {side}:" if side else ""
    what = f"Scatter plot,{whose} measured against published in {part.height} cells"
    return f"{what}; measured is above in {above}."


def _theory(
    compared: Compared, observations: pl.DataFrame, csv: str, labels: Mapping[str, str]
) -> Table | None:
    """Kernel TCP's cells: published, measured and predicted figures."""
    comparison = compared.comparison
    spec = comparison.measured
    keys = [one for one in compared.keys if one != "side"]
    rows = matching(matching(observations, spec.where), spec.a)
    sides: dict[str | None, pl.DataFrame] = (
        {side: matching(rows, where) for side, where in comparison.sides.items()}
        if comparison.sides
        else {None: rows}
    )
    parts = []
    for side, part in sides.items():
        predicted = theory.predictions(part, keys, spec.quantity)
        ours = compared.frame if side is None else compared.frame.filter(pl.col("side") == side)
        kept = ours.filter(pl.col("measured").is_not_null())
        typed = predicted.with_columns(pl.col(name).cast(kept.schema[name]) for name in keys)
        parts.append(kept.join(typed, on=keys, how="inner", maintain_order="left"))
    frame = pl.concat(parts, how="vertical_relaxed")
    if frame.is_empty():
        return None
    unit = f" ({comparison.unit})" if comparison.unit else ""
    loss_limited = pl.col("rfc9438_mbps") <= pl.col("limit_mbps")
    ratio = pl.col("measured") / pl.col("rfc9438_mbps")
    frame = frame.with_columns(pl.when(loss_limited).then(ratio).alias("measured_over_rfc9438"))
    columns = [tables.key(one, labels, "any", number=False) for one in keys] + [
        _published(unit, comparison.digits),
        layout.spread("measured", f"Measured{unit}", comparison.digits),
        Column("Mathis", lambda row: theory.text(row["mathis_mbps"], row["limit_mbps"], comparison.digits)),
        Column(
            "RFC 9438", lambda row: theory.text(row["rfc9438_mbps"], row["limit_mbps"], comparison.digits)
        ),
        layout.plain("measured_over_rfc9438", "Measured / RFC 9438", 2),
    ]
    shown = layout.shown(frame, columns, "Kernel TCP compared with theory", csv)
    return Table(replace(shown, keyed=True), frame)
