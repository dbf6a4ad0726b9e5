"""Lines over time, one for each flow: shared by throughput and congestion window."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

import altair as alt
import polars as pl

from cambrian.report.collect import Cell
from cambrian.report.figures import colours
from cambrian.report.figures.figure import PANEL_HEIGHT, inline

#: with more flows a panel draws each contestant's sum
MOST_LINES = 8


@dataclass(frozen=True)
class Line:
    """The line of one flow, or of one contestant's flows together."""

    label: str
    flows: tuple[int, ...]
    colour: str


def lines_of(cell: Cell, palette: dict[str, str]) -> list[Line]:
    """The lines of a group's panel: one for each flow, or for each contestant if there are many flows."""
    if len(cell.names) > MOST_LINES:
        members: dict[str, list[int]] = {}
        for number, name in enumerate(cell.names):
            members.setdefault(name, []).append(number)
        return [
            Line(f"{name} ({len(numbers)} flows together)", tuple(numbers), palette[name])
            for name, numbers in members.items()
        ]
    counts = Counter(cell.names)
    seen: Counter[str] = Counter()
    lines = []
    for number, name in enumerate(cell.names):
        label = name if counts[name] == 1 else f"{name} (flow {number})"
        colour = palette[name] if not seen[name] else colours.tint(palette[name])
        seen[name] += 1
        lines.append(Line(label, (number,), colour))
    return lines


def labelled(frame: pl.DataFrame, lines: list[Line], value: str) -> pl.DataFrame:
    """``frame`` (``flow``, ``time_s``, ``value``) with ``series`` for ``flow``; sums for joined flows."""
    names = pl.DataFrame(
        {
            "flow": [flow for line in lines for flow in line.flows],
            "series": [line.label for line in lines for _ in line.flows],
        },
        schema={"flow": pl.UInt16, "series": pl.String},
    )
    joined = frame.join(names, on="flow", how="inner", maintain_order="left")
    return joined.group_by("series", "time_s", maintain_order=True).agg(pl.col(value).sum())


def chart(
    frame: pl.DataFrame,
    lines: list[Line],
    *,
    title: alt.TitleParams,
    value: str,
    axis: str,
    duration_s: float,
    top: float,
) -> alt.TopLevelMixin:
    """One panel: ``value`` of each series over [0, ``duration_s``], the value's axis [0, ``top``]."""
    labels = [line.label for line in lines]
    legend = alt.Legend(columns=1)
    series = alt.Scale(domain=labels, range=[line.colour for line in lines])
    panel: alt.TopLevelMixin = (
        alt.Chart(inline(frame.select("series", "time_s", value), series="string"), title=title)
        .mark_line(strokeWidth=1.5, clip=True)
        .encode(
            x=alt.X("time_s:Q", title="Time (s)", scale=alt.Scale(domain=[0, duration_s], nice=False)),
            y=alt.Y(f"{value}:Q", title=axis, scale=alt.Scale(domain=[0, top], nice=False)),
            color=alt.Color("series:N", scale=series, title=None, legend=legend),
            strokeDash=alt.StrokeDash(
                "series:N",
                scale=alt.Scale(domain=labels, range=colours.dashes(len(labels))),
                title=None,
                legend=legend,
            ),
            tooltip=[
                alt.Tooltip("series:N", title="Flow"),
                alt.Tooltip("time_s:Q", title="Time (s)", format=".2f"),
                alt.Tooltip(f"{value}:Q", title=axis, format=".4~g"),
            ],
        )
        .properties(height=PANEL_HEIGHT)
    )
    return panel


def bin_text(cells: Sequence[Cell]) -> str:
    """The length of the bins of these groups' series, in milliseconds: ``250``, or ``10 to 50``."""
    lengths = sorted({cell.series.bin_ms for cell in cells if cell.series})
    return " to ".join(str(length) for length in dict.fromkeys((lengths[0], lengths[-1])))


def title(cell: Cell, note: str = "") -> alt.TitleParams:
    """A panel's title: the group, the seed, and a note."""
    text = cell.title if cell.design != "flows" else "All flows"
    seed = f"seed {cell.series.seed}" if cell.series else ""
    return alt.TitleParams(text, subtitle="; ".join(part for part in (seed, note) if part))
