"""Performance envelopes: throughput over queueing delay, the contestant's beside its reference's.

Two figures a network: method ``imc22`` (one trial) and the pooled one (ours, all trials).
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import altair as alt
import numpy as np
import polars as pl

from cambrian.metrics import conformance, envelope
from cambrian.metrics.columns import FloatArray
from cambrian.metrics.envelope import Envelope
from cambrian.report import similarity
from cambrian.report.collect import Cell, Collected
from cambrian.report.figures import colours
from cambrian.report.figures.figure import PANEL_HEIGHT, Figure, Panel, inline
from cambrian.report.similarity import Envelopes
from cambrian.study.model import Network

#: place among the figures of a network
ORDER = 10
#: points of one envelope that a panel draws; its hull is made of all of them
MOST_POINTS = 200

_IMC22 = (
    "Method imc22: one trial of each side, the valid one with the lowest seed. A point every 10 RTT; "
    "the hull holds the 95 % of points nearest to the mean. Grey, dashed: the reference, from its trial "
    "against itself. The panel of a reference sets two of its trials side by side: the same thing twice."
)
_POOLED = (
    "Ours, not QUICbench's: the points of all valid trials together, trimmed and hulled once. Points are "
    f"correlated within a trial. At most {MOST_POINTS} evenly chosen points are drawn; hulls use all."
)


@dataclass(frozen=True)
class _Pair:
    """What one panel draws."""

    cell: Cell
    test: Envelope
    test_label: str
    reference: Envelope
    reference_label: str

    @property
    def score(self) -> float:
        return conformance.compare(self.test, self.reference).conformance


def figures(collected: Collected) -> Iterator[Figure]:
    """Two figures a network of a ``versus-reference`` study."""
    palette = colours.of(collected)
    for network in collected.networks:
        single = list(_single(collected, network))
        pooled = list(_pooled(collected, network))
        # one scale for both figures
        everything = [*single, *pooled]
        if not everything:
            continue
        corner = _corner(everything)
        for name, heading, caption, pairs in (
            ("envelope", "Performance envelopes, one trial (imc22)", _IMC22, single),
            ("envelope-pooled", "Performance envelopes, all trials pooled", _POOLED, pooled),
        ):
            if pairs:
                yield Figure(
                    name=f"{name}-{network.name}",
                    network=network.name,
                    heading=heading,
                    caption=caption,
                    panels=tuple(_panel(pair, palette, corner) for pair in pairs),
                    data=_data(pairs),
                )


def _single(collected: Collected, network: Network) -> Iterator[_Pair]:
    for cell, tests, references in _sides(collected, network):
        first, *others = sorted(references)
        seed = others[0] if cell.is_noise_floor else min(tests)
        test_label, reference_label = _labels(cell, f"seed {seed}", f"seed {first}")
        yield _Pair(cell, tests[seed], test_label, references[first], reference_label)


def _pooled(collected: Collected, network: Network) -> Iterator[_Pair]:
    for cell, tests, references in _sides(collected, network):
        if cell.is_noise_floor or max(len(tests), len(references)) < 2:
            continue
        both = [envelope.pooled(list(side.values())) for side in (tests, references)]
        labels = _labels(cell, f"{len(tests)} trials", f"{len(references)} trials")
        yield _Pair(cell, both[0], labels[0], both[1], labels[1])


def _sides(collected: Collected, network: Network) -> Iterator[tuple[Cell, Envelopes, Envelopes]]:
    """Each group that has something to compare, with its and its reference's envelopes."""
    for cell in collected.on(network):
        floor = collected.noise_floor(cell) if cell.design == "versus-reference" else None
        if floor is None:
            continue
        tests, references = similarity.envelopes(cell), similarity.envelopes(floor)
        if len(tests) >= (2 if cell.is_noise_floor else 1) and references:
            yield cell, tests, references


def _labels(cell: Cell, test: str, reference: str) -> tuple[str, str]:
    if cell.is_noise_floor:
        return f"{cell.subject}, {test}", f"{cell.subject}, {reference}"
    return f"{cell.subject}, {test}", f"{cell.reference} against itself, {reference}"


def _corner(pairs: Sequence[_Pair]) -> tuple[float, float]:
    """Ends of the axes: (throughput_mbps, delay_ms), with a little room."""
    points = np.concatenate([side.points for pair in pairs for side in (pair.test, pair.reference)])
    throughput_mbps, delay_ms = points.max(axis=0)
    return 1.05 * max(float(throughput_mbps), 0.1), 1.05 * max(float(delay_ms), 0.1)


def _points(pair: _Pair, most: int | None = None) -> pl.DataFrame:
    frames = []
    for side, label in ((pair.test, pair.test_label), (pair.reference, pair.reference_label)):
        points = side.points
        if most is not None and len(points) > most:
            points = points[np.linspace(0, len(points) - 1, most).round().astype(np.int64)]
        frames.append(_frame(points, label))
    return pl.concat(frames)


def _hulls(pair: _Pair) -> pl.DataFrame:
    """Corners of both hulls, each closed."""
    frames = []
    for side, label in ((pair.test, pair.test_label), (pair.reference, pair.reference_label)):
        outline = side.outline
        frame = _frame(np.concatenate([outline, outline[:1]]), label)
        frames.append(frame.with_row_index("corner"))
    return pl.concat(frames)


def _frame(points: FloatArray, label: str) -> pl.DataFrame:
    return pl.DataFrame({"delay_ms": points[:, 1], "throughput_mbps": points[:, 0]}).with_columns(
        pl.lit(label).alias("series")
    )


def _data(pairs: Sequence[_Pair]) -> pl.DataFrame:
    frames = []
    for pair in pairs:
        group = pl.lit(pair.cell.key).alias("group")
        frames.append(_points(pair).select(group, pl.lit("point").alias("what"), pl.all()))
        frames.append(_hulls(pair).drop("corner").select(group, pl.lit("hull").alias("what"), pl.all()))
    return pl.concat(frames)


def _panel(pair: _Pair, palette: dict[str, str], corner: tuple[float, float]) -> Panel:
    colour = palette[pair.cell.subject]
    labels = [pair.test_label, pair.reference_label]
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
    hulls = alt.Chart(inline(_hulls(pair), series="string")).encode(x=x, y=y, order="corner:Q")
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
            pair.cell.title, subtitle=f"conformance of these two envelopes: {pair.score:.2f}"
        ),
    )
    return Panel(layers.properties(height=PANEL_HEIGHT), _alt(pair))


def _alt(pair: _Pair) -> str:
    def where(side: Envelope) -> str:
        return f"mean {side.mean[0]:.1f} Mbps at {side.mean[1]:.1f} ms"

    return (
        f"Scatter chart, {pair.cell.network.name}: throughput over queueing delay. {pair.test_label}: "
        f"{where(pair.test)}. {pair.reference_label}: {where(pair.reference)}. Conformance {pair.score:.2f}."
    )
