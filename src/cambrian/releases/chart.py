"""The chart of a history: a panel for each quantity and network, a point for each seed, a line of means."""

from __future__ import annotations

from collections.abc import Mapping

import altair as alt
import polars as pl

from cambrian.measure import quantities
from cambrian.releases import history
from cambrian.releases.history import History
from cambrian.report.figures import colours
from cambrian.report.figures.figure import Figure, Panel, inline

#: degrees; labels of releases are long
_SLANT = -45


def figure(found: History, name: str = "history") -> Figure | None:
    """The chart of the history's quantities, its files called ``name``; None if no release has figures."""
    order = [release for release, _ in found.measured]
    means = history.means(found)
    if not means:
        return None
    data = history.frame(found).filter(
        pl.col("kind") == "seed", pl.col("figure").is_in(list(found.quantities))
    )
    networks = list(dict.fromkeys(network for network, _ in means))
    panels = [
        _panel(data, network, quantity, order, means[network, quantity])
        for network in networks
        for quantity in found.quantities
        if (network, quantity) in means
    ]
    return Figure(
        name=name,
        network="",
        heading=f"{found.stack} {found.cca}, release by release",
        caption="A point is a seed, the line joins the means over the seeds.",
        panels=tuple(panels),
        data=data.select(
            "release", "date", "network", "figure", "unit", pl.col("label").alias("seed"), "value"
        ),
    )


def heading(name: str) -> str:
    """A quantity's name for a reader, with its unit."""
    quantity = quantities.ALL[name]
    return quantity.heading or f"{name} ({quantity.unit})"


def _panel(
    data: pl.DataFrame, network: str, name: str, order: list[str], means: Mapping[str, float]
) -> Panel:
    title = heading(name)
    seeds = data.filter(pl.col("network") == network, pl.col("figure") == name).select("release", "value")
    middle = pl.DataFrame({"release": list(means), "value": list(means.values())})
    x = alt.X("release:N", sort=order, title=None, axis=alt.Axis(labelAngle=_SLANT, labelOverlap=False))
    y = alt.Y("value:Q", title=title, scale=alt.Scale(zero=True))
    line = alt.Chart(inline(middle, release="string")).mark_line(
        color=colours.PALETTE[0], interpolate="linear"
    )
    points = alt.Chart(inline(seeds, release="string")).mark_point(
        color=colours.PALETTE[0], filled=True, opacity=0.6, size=24
    )
    chart = alt.layer(line.encode(x=x, y=y), points.encode(x=x, y=y)).properties(
        title=alt.TitleParams(network)
    )
    texts = ", ".join(f"{release} {value:.3g}" for release, value in means.items())
    return Panel(chart, f"{title} on {network}, release by release: {texts}.")
