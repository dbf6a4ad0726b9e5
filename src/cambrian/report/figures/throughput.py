"""Throughput over time, for each flow of one trial of each group."""

from __future__ import annotations

from collections.abc import Iterator

import polars as pl

from cambrian.report.collect import Collected
from cambrian.report.figures import colours, lines
from cambrian.report.figures.figure import Figure, Panel

#: place among the figures of a network
ORDER = 30


def figures(collected: Collected) -> Iterator[Figure]:
    """One figure for each network, one panel for each group."""
    palette = colours.palette(collected)
    for network in collected.networks:
        cells = [cell for cell in collected.on(network) if cell.series is not None]
        if not cells:
            continue
        drawn = {cell.key: lines.lines_of(cell, palette) for cell in cells}
        frames = {
            cell.key: lines.labelled(cell.series.throughput, drawn[cell.key], "throughput_mbps")
            for cell in cells
            if cell.series
        }
        top = 1.05 * max(_largest(frame) for frame in frames.values())
        panels = []
        for cell in cells:
            assert cell.series is not None
            duration_s = cell.shown_s
            chart = lines.chart(
                frames[cell.key],
                drawn[cell.key],
                title=lines.title(cell),
                value="throughput_mbps",
                axis="Throughput (Mbps)",
                duration_s=duration_s,
                top=top,
            )
            means = ", ".join(
                f"{name} {flow['throughput_mbps']:.1f} Mbps"
                for name, flow in zip(cell.names, cell.trials[0].flows, strict=True)
            )
            what = f"Line chart, {network.name}, {cell.title}"
            alt = f"{what}: throughput in Mbps over {duration_s:g} s. Means: {means}."
            panels.append(Panel(chart, alt))
        bin_ms = lines.bin_text(cells)
        yield Figure(
            name=f"throughput-{network.name}",
            network=network.name,
            heading="Throughput over time",
            caption=f"The valid trial with the lowest seed of each group; mean over each {bin_ms} ms.",
            panels=tuple(panels),
            data=pl.concat(
                frames[cell.key].select(pl.lit(cell.key).alias("group"), pl.all()) for cell in cells
            ),
            wide=collected.design == "flows",
        )


def _largest(frame: pl.DataFrame) -> float:
    largest = frame["throughput_mbps"].max()
    return float(largest) if isinstance(largest, float) and largest > 0 else 1.0
