"""The bottleneck's queue over time: mean and peak occupancy of one trial of each group."""

from __future__ import annotations

from collections.abc import Iterator

import altair as alt
import polars as pl

from cambrian.report.collect import Cell, Collected
from cambrian.report.figures import colours, lines
from cambrian.report.figures.figure import PANEL_HEIGHT, Figure, Panel, inline

#: place among the figures of a network
ORDER = 40
#: the buffer's limit is shown if it is at most this many times the peak
_WORTH_SHOWING = 2.0


def figures(collected: Collected) -> Iterator[Figure]:
    """One figure for each network, one panel for each group."""
    for network in collected.networks:
        cells = [cell for cell in collected.on(network) if cell.series is not None]
        if not cells:
            continue
        peak_kb = max(float(cell.series.queue["peak_kb"].to_numpy().max()) for cell in cells if cell.series)
        limit_kb = next((cell.buffer_bytes / 1000 for cell in cells if cell.buffer_bytes), None)
        shown_kb = limit_kb if limit_kb is not None and limit_kb <= _WORTH_SHOWING * max(peak_kb, 1) else None
        top = 1.05 * max(peak_kb, shown_kb or 0.0, 1.0)
        aqm = network.queue != "droptail"
        bin_ms = lines.bin_text(cells)
        caption = f"The same trials: mean and peak occupancy in each {bin_ms} ms; kB is 10³ bytes."
        if shown_kb is not None:
            caption += " Dashed: the buffer's limit."
        elif limit_kb is not None:
            caption += f" The buffer's limit, {limit_kb:,.0f} kB, is above the axis."
        if aqm:
            caption += " Packets that the AQM drops after queueing are not counted, so this is a lower bound."
        yield Figure(
            name=f"queue-{network.name}",
            network=network.name,
            heading="Queue over time",
            caption=caption,
            panels=tuple(Panel(_chart(cell, shown_kb, top), _alt(cell)) for cell in cells),
            data=pl.concat(
                cell.series.queue.select(pl.lit(cell.key).alias("group"), pl.all())
                for cell in cells
                if cell.series
            ),
            wide=collected.design == "flows",
        )


def _chart(cell: Cell, limit_kb: float | None, top: float) -> alt.TopLevelMixin:
    assert cell.series is not None
    duration_s = cell.shown_s
    x = alt.X("time_s:Q", title="Time (s)", scale=alt.Scale(domain=[0, duration_s], nice=False))
    scale = alt.Scale(domain=[0, top], nice=False)
    base = alt.Chart(inline(cell.series.queue))
    peak = base.mark_area(color=colours.PALETTE[5], opacity=0.35, clip=True).encode(
        x=x, y=alt.Y("peak_kb:Q", title="Queue (kB)", scale=scale)
    )
    mean = base.mark_line(color=colours.PALETTE[0], strokeWidth=1.5, clip=True).encode(
        x=x,
        y=alt.Y("mean_kb:Q", title="Queue (kB)", scale=scale),
        tooltip=[
            alt.Tooltip("time_s:Q", title="Time (s)", format=".2f"),
            alt.Tooltip("mean_kb:Q", title="Mean (kB)", format=".1f"),
            alt.Tooltip("peak_kb:Q", title="Peak (kB)", format=".1f"),
        ],
    )
    layers: list[alt.Chart] = [peak, mean]
    if limit_kb is not None:
        rule = alt.Chart(alt.InlineData(values=[{"limit_kb": limit_kb}]))
        layers.append(
            rule.mark_rule(color=colours.PALETTE[1], strokeDash=[6, 4]).encode(
                y=alt.Y("limit_kb:Q", scale=scale)
            )
        )
    return alt.layer(*layers, title=lines.title(cell, "line: mean, area: peak")).properties(
        height=PANEL_HEIGHT
    )


def _alt(cell: Cell) -> str:
    assert cell.series is not None
    queue = cell.series.queue
    mean, peak = float(queue["mean_kb"].to_numpy().mean()), float(queue["peak_kb"].to_numpy().max())
    return (
        f"Chart, {cell.network.name}, {cell.title}: queue occupancy in kB over time; "
        f"mean {mean:.0f} kB, peak {peak:.0f} kB."
    )
