"""Congestion window over time, for the flows that export it."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import polars as pl

from cambrian.metrics.columns import FloatArray
from cambrian.report.collect import Cell, Collected
from cambrian.report.figures import colours, lines
from cambrian.report.figures.figure import Figure, Panel

#: place among the figures of a network
ORDER = 50
#: share of each panel's values that the axis must show
_SHOWN = 0.98


def figures(collected: Collected) -> Iterator[Figure]:
    """One figure a network, one panel a group with a flow that exports its window."""
    palette = colours.palette(collected)
    for network in collected.networks:
        cells = [
            cell for cell in collected.on(network) if cell.series is not None and cell.series.cwnd.height
        ]
        if not cells:
            continue
        drawn = {cell.key: lines.lines_of(cell, palette) for cell in cells}
        frames = {
            cell.key: lines.labelled(cell.series.cwnd, drawn[cell.key], "cwnd_kb")
            for cell in cells
            if cell.series
        }
        top = _top([frame["cwnd_kb"].to_numpy() for frame in frames.values()])
        panels = []
        for cell in cells:
            duration_s = cell.shown_s
            silent = _silent(cell)
            chart = lines.chart(
                frames[cell.key],
                drawn[cell.key],
                title=lines.title(cell, f"{silent}: no window exported" if silent else ""),
                value="cwnd_kb",
                axis="cwnd (kB)",
                duration_s=duration_s,
                top=top,
            )
            alt = f"Line chart, {network.name}, {cell.title}: congestion window in kB over {duration_s:g} s."
            panels.append(Panel(chart, alt + (f" {silent}: no window exported." if silent else "")))
        bin_ms = lines.bin_text(cells)
        yield Figure(
            name=f"cwnd-{network.name}",
            network=network.name,
            heading="Congestion window over time",
            caption=f"The same trials. The window that the stack reports, last value in each {bin_ms} ms. "
            "kB is 10³ bytes. A stack that exports no window has no line. "
            "Short peaks above the axis are cut off.",
            panels=tuple(panels),
            data=pl.concat(
                frames[cell.key].select(pl.lit(cell.key).alias("group"), pl.all()) for cell in cells
            ),
            wide=collected.design == "flows",
        )


def _top(panels: list[FloatArray]) -> float:
    """End of the axis: a rare peak may exceed it, because it would flatten every panel."""
    largest = max(float(values.max()) for values in panels)
    usual = max(float(np.quantile(values, _SHOWN)) for values in panels)
    return min(1.05 * largest, 1.4 * usual)


def _silent(cell: Cell) -> str:
    """The group's contestants that export no window, separated by commas."""
    assert cell.series is not None
    heard = set(cell.series.cwnd["flow"].to_list())
    return ", ".join(dict.fromkeys(name for number, name in enumerate(cell.names) if number not in heard))
