"""Throughput over queueing delay: the points and envelopes of a contestant and its reference."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import altair as alt
import numpy as np
import polars as pl
import shapely

from cambrian.metrics.clustered import Region, outline
from cambrian.metrics.columns import FloatArray
from cambrian.metrics.envelope import Envelope
from cambrian.report import layout
from cambrian.report.collect import Cell
from cambrian.report.figures import colours
from cambrian.report.figures.figure import PANEL_HEIGHT, Panel, inline

#: most points of one envelope that a panel draws; the hull uses all of them
MOST_POINTS = 200


@dataclass(frozen=True)
class Side:
    """One envelope to draw: ``points`` (n, 2), their ``mean`` (2,), and its outlines, (k, 2) each."""

    label: str
    points: FloatArray
    mean: FloatArray
    rings: tuple[FloatArray, ...]


def envelope_side(envelope: Envelope, label: str) -> Side:
    """A side with one hull."""
    return Side(label, envelope.points, envelope.mean, (envelope.outline,))


def region_side(region: Region, label: str) -> Side:
    """A side with the outlines of a region: any number of pieces; a hole has an outline, too."""
    pieces = shapely.get_parts(outline(region))
    rings = [ring for piece in pieces for ring in (piece.exterior, *piece.interiors)]
    return Side(
        label, region.points, region.mean, tuple(shapely.get_coordinates(ring)[:-1] for ring in rings)
    )


@dataclass(frozen=True)
class Pair:
    """The two sides of one panel, and their conformance."""

    cell: Cell
    test: Side
    reference: Side
    score: float

    @property
    def sides(self) -> tuple[Side, Side]:
        """The contestant's side and the reference's."""
        return self.test, self.reference


def corner(pairs: Sequence[Pair]) -> tuple[float, float]:
    """Ends of the axes: (throughput_mbps, delay_ms), 5 % beyond the largest points."""
    points = np.concatenate([side.points for pair in pairs for side in pair.sides])
    throughput_mbps, delay_ms = points.max(axis=0)
    return 1.05 * max(float(throughput_mbps), 0.1), 1.05 * max(float(delay_ms), 0.1)


def _points(pair: Pair, most: int | None = None) -> pl.DataFrame:
    frames = []
    for side in pair.sides:
        points = side.points
        if most is not None and len(points) > most:
            points = points[np.linspace(0, len(points) - 1, most).round().astype(np.int64)]
        frames.append(_frame(points, side.label))
    return pl.concat(frames)


def _hulls(pair: Pair) -> pl.DataFrame:
    """Corners of both envelopes' outlines; each outline is closed."""
    frames = []
    for side in pair.sides:
        for number, ring in enumerate(side.rings):
            frame = _frame(np.concatenate([ring, ring[:1]]), side.label)
            frames.append(frame.with_row_index("corner").with_columns(pl.lit(number).alias("ring")))
    if not frames:
        return _frame(np.zeros((0, 2)), "").with_columns(
            pl.lit(0, pl.UInt32).alias("corner"), pl.lit(0, pl.Int32).alias("ring")
        )
    return pl.concat(frames)


def _frame(points: FloatArray, label: str) -> pl.DataFrame:
    return pl.DataFrame({"delay_ms": points[:, 1], "throughput_mbps": points[:, 0]}).with_columns(
        pl.lit(label).alias("series")
    )


def data(pairs: Sequence[Pair]) -> pl.DataFrame:
    """All points and corners, for the figure's CSV file."""
    frames = []
    for pair in pairs:
        group = pl.lit(pair.cell.key).alias("group")
        frames.append(_points(pair).select(group, pl.lit("point").alias("what"), pl.all()))
        frames.append(
            _hulls(pair).drop("corner", "ring").select(group, pl.lit("hull").alias("what"), pl.all())
        )
    return pl.concat(frames)


def panel(pair: Pair, palette: dict[str, str], corner: tuple[float, float]) -> Panel:
    """One chart; ``corner`` is the end of its axes, (throughput_mbps, delay_ms)."""
    colour = palette[pair.cell.subject]
    labels = [side.label for side in pair.sides]
    legend = alt.Legend(columns=1, symbolOpacity=1)
    shades = [colours.tint(colour), colour] if pair.cell.is_noise_floor else [colour, colours.GREY]
    scale = alt.Scale(domain=labels, range=shades)
    colour_of = alt.Color("series:N", scale=scale, title=None, legend=legend)
    dash_of = alt.StrokeDash(
        "series:N", scale=alt.Scale(domain=labels, range=colours.dashes(2)), title=None, legend=legend
    )
    shape_of = alt.Shape(
        "series:N", scale=alt.Scale(domain=labels, range=["circle", "square"]), title=None, legend=legend
    )
    x = alt.X("delay_ms:Q", title="Queueing delay (ms)", scale=alt.Scale(domain=[0, corner[1]], nice=False))
    y = alt.Y(
        "throughput_mbps:Q", title="Throughput (Mbps)", scale=alt.Scale(domain=[0, corner[0]], nice=False)
    )
    hulls = alt.Chart(inline(_hulls(pair), series="string")).encode(
        x=x, y=y, order=alt.Order("corner:Q"), detail=alt.Detail("ring:N")
    )
    shaded = [
        hulls.transform_filter(alt.FieldEqualPredicate(field="series", equal=label)).mark_line(
            interpolate="linear-closed", filled=True, fill=shade, opacity=0.12, strokeWidth=0, clip=True
        )
        for label, shade in zip(labels, shades, strict=True)
    ]
    points = alt.Chart(inline(_points(pair, MOST_POINTS), series="string")).encode(
        x=x,
        y=y,
        color=colour_of,
        shape=shape_of,
        tooltip=[
            alt.Tooltip("series:N", title="Flow"),
            alt.Tooltip("throughput_mbps:Q", title="Throughput (Mbps)", format=".2f"),
            alt.Tooltip("delay_ms:Q", title="Queueing delay (ms)", format=".2f"),
        ],
    )
    layers = alt.layer(
        *shaded,
        points.mark_point(size=16, opacity=0.6, strokeWidth=1.2, clip=True),
        hulls.mark_line(interpolate="linear-closed", strokeWidth=1.8, clip=True).encode(
            color=colour_of, strokeDash=dash_of
        ),
        title=alt.TitleParams(
            pair.cell.title, subtitle=f"conformance of these two envelopes: {_score(pair)}"
        ),
    )
    return Panel(layers.properties(height=PANEL_HEIGHT), _alt(pair), pair.cell.key)


def _alt(pair: Pair) -> str:
    def where(side: Side) -> str:
        pieces = "" if len(side.rings) == 1 else f", {len(side.rings)} pieces"
        return f"{side.label}: mean {side.mean[0]:.1f} Mbps at {side.mean[1]:.1f} ms{pieces}."

    return (
        f"Scatter chart, {pair.cell.network.name}: throughput over queueing delay. {where(pair.test)} "
        f"{where(pair.reference)} Conformance {_score(pair)}."
    )


def _score(pair: Pair) -> str:
    return layout.number(pair.score if math.isfinite(pair.score) else None, 2)
