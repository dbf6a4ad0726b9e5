"""Page load time of each contestant, page by page."""

from __future__ import annotations

from collections.abc import Iterator

import altair as alt
import polars as pl

from cambrian.report.collect import Collected
from cambrian.report.figures import colours
from cambrian.report.figures.figure import Figure, Panel, inline
from cambrian.report.tables import flows, page_loads

#: pixels of a contestant's row
_ROW = 34

_CAPTION = (
    "Page load time: from the start of the navigation to the start of the load event, with connection "
    "set-up. Dots: means over seeds, with the 95 % interval as a line; small ticks: single trials. "
    "Each page has its own axis, from 0."
)


def figures(collected: Collected) -> Iterator[Figure]:
    """One figure for each network, one panel for each page."""
    means = page_loads.table(collected)
    if means is None:
        return
    means = flows.named(means, collected, page_loads.row_name)
    trials = _trials(collected)
    palette = colours.palette(collected)
    for network in collected.networks:
        here = means.filter((pl.col("network") == network.name) & pl.col("plt_ms").is_not_null())
        if not here.height:
            continue
        panels = []
        for page in here["page"].unique(maintain_order=True):
            rows = here.filter(pl.col("page") == page)
            # a contestant with a late load has no row here, so its other loads have no marks
            dots = trials.filter(
                (pl.col("network") == network.name)
                & (pl.col("page") == page)
                & pl.col("name").is_in(rows["name"].to_list())
            )
            panels.append(Panel(_chart(page, rows, dots, palette), _alt(network.name, page, rows)))
        yield Figure(
            name=f"pageload-{network.name}",
            network=network.name,
            heading="Page load time",
            caption=_CAPTION,
            panels=tuple(panels),
            data=here.drop("group", "name"),
            height=_ROW * here["name"].n_unique(),
            leads=True,
        )


def _trials(collected: Collected) -> pl.DataFrame:
    """Every trial's page load times, in seconds."""
    rows = [
        {
            "network": cell.network.name,
            "page": load.page,
            "name": page_loads.row_name(cell, load.flow),
            "plt_s": load.plt_ms / 1000,
        }
        for cell in collected.cells
        for trial in cell.trials
        for load in trial.page_loads
        if load.plt_ms is not None
    ]
    return pl.DataFrame(rows)


def _chart(page: str, rows: pl.DataFrame, trials: pl.DataFrame, palette: dict[str, str]) -> alt.TopLevelMixin:
    inks = {name: palette[contestant] for name, contestant in rows.select("name", "contestant").iter_rows()}
    order = list(inks)
    shown = rows.select(
        "name",
        "trials",
        (pl.col("plt_ms") / 1000).alias("plt_s"),
        (pl.col("plt_ms_low") / 1000).alias("low_s"),
        (pl.col("plt_ms_high") / 1000).alias("high_s"),
    )
    y = alt.Y("name:N", sort=order, title=None, axis=alt.Axis(grid=False, labelLimit=260))
    colour = alt.Color(
        "name:N",
        scale=alt.Scale(domain=order, range=list(inks.values())),
        legend=None,
    )
    base = alt.Chart(inline(shown, name="string")).encode(y=y, color=colour)
    x = alt.X("plt_s:Q", title="Page load time (s)", scale=alt.Scale(domainMin=0))
    tooltip = [
        alt.Tooltip("name:N", title="Contestant"),
        alt.Tooltip("plt_s:Q", title="Mean (s)", format=".4f"),
        alt.Tooltip("low_s:Q", title="95 % from", format=".4f"),
        alt.Tooltip("high_s:Q", title="to", format=".4f"),
        alt.Tooltip("trials:Q", title="Trials"),
    ]
    ticks = (
        alt.Chart(inline(trials.select("name", "plt_s"), name="string"))
        .mark_tick(thickness=1, size=14, opacity=0.45)
        .encode(y=y, color=colour, x=x)
    )
    spans = base.transform_filter("isValid(datum.low_s)").mark_rule(strokeWidth=2.5)
    dots = base.mark_point(filled=True, size=75, opacity=1).encode(x=x, tooltip=tooltip)
    # Vega warns of an axis without a value
    known = shown["low_s"].is_not_null().any()
    layers = [ticks, *([spans.encode(x="low_s:Q", x2="high_s:Q")] if known else []), dots]
    return alt.layer(*layers, title=page).properties(height=_ROW * len(order))


def _alt(network: str, page: str, rows: pl.DataFrame) -> str:
    means = ", ".join(f"{row['name']} {row['plt_ms'] / 1000:.3f} s" for row in rows.to_dicts())
    return f"Dot plot, {network}, {page}: mean page load time. {means}."
