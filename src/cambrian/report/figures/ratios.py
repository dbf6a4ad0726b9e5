"""Who takes whose throughput: a heat map of the throughput ratios of every pair."""

from __future__ import annotations

from collections.abc import Iterator

import altair as alt
import polars as pl

from cambrian.report.collect import Collected
from cambrian.report.figures.figure import Figure, Panel, inline
from cambrian.report.tables import pairwise

#: place among the figures of a network
ORDER = 20
#: pixels of a row
_ROW = 30

_CAPTION = (
    "Row's share of what row and column carried together, Tx / (Tx + Ty), mean over valid trials: above 0.5 "
    "the row takes more. In parentheses: the 95 % interval holds 0.5, so these trials leave it open; no "
    "correction is made for the number of cells. The lower half mirrors the upper."
)


def figures(collected: Collected) -> Iterator[Figure]:
    """One figure a network of a ``pairwise`` study."""
    ratios = pairwise.table(collected)
    if ratios is None:
        return
    order = [contestant.name for contestant in collected.study.contestants]
    for network in collected.networks:
        cells = _both_halves(
            ratios.filter((pl.col("network") == network.name) & pl.col("ratio").is_not_null())
        )
        if not cells.height:
            continue
        present = [name for name in order if name in set(cells["x"])]
        yield Figure(
            name=f"ratios-{network.name}",
            network=network.name,
            heading="Throughput ratio of every pair",
            caption=_CAPTION,
            panels=(Panel(_chart(cells, present), _alt(cells, network.name)),),
            data=cells.drop("text"),
            height=_ROW * len(present),
            wide=True,
            leads=True,
        )


def _both_halves(pairs: pl.DataFrame) -> pl.DataFrame:
    mirrored = pairs.filter(pl.col("x") != pl.col("y")).select(
        "network",
        pl.col("y").alias("x"),
        pl.col("x").alias("y"),
        "trials",
        (1 - pl.col("ratio")).alias("ratio"),
        (1 - pl.col("ratio_high")).alias("ratio_low"),
        (1 - pl.col("ratio_low")).alias("ratio_high"),
    )
    # one trial has no interval, and so tells nothing apart
    apart = (pl.col("ratio_low") > 0.5) | (pl.col("ratio_high") < 0.5)
    number = pl.col("ratio").round(2).map_elements(lambda value: f"{value:.2f}", return_dtype=pl.String)
    return pl.concat([pairs, mirrored], how="vertical_relaxed").with_columns(
        pl.when(apart.fill_null(False)).then(number).otherwise("(" + number + ")").alias("text")
    )


def _chart(cells: pl.DataFrame, order: list[str]) -> alt.TopLevelMixin:
    data = inline(cells.select("x", "y", "ratio", "text", "trials"), x="string", y="string", text="string")
    base = alt.Chart(data).encode(
        x=alt.X("y:N", sort=order, title="against", axis=alt.Axis(labelAngle=-40, orient="top", grid=False)),
        y=alt.Y("x:N", sort=order, title=None, axis=alt.Axis(grid=False)),
    )
    squares = base.mark_rect().encode(
        color=alt.Color(
            "ratio:Q",
            title="Throughput ratio",
            scale=alt.Scale(scheme="purpleorange", domain=[0, 1], domainMid=0.5),
            legend=alt.Legend(
                orient="bottom", direction="horizontal", gradientLength=180, gradientThickness=10
            ),
        ),
        tooltip=[
            alt.Tooltip("x:N", title="x"),
            alt.Tooltip("y:N", title="y"),
            alt.Tooltip("ratio:Q", title="Tx / (Tx + Ty)", format=".3f"),
            alt.Tooltip("trials:Q", title="Trials"),
        ],
    )
    # dark cells at both ends of the scale need light text
    ink = alt.condition("datum.ratio < 0.25 || datum.ratio > 0.87", alt.value("white"), alt.value("#1b1f24"))
    return alt.layer(squares, base.mark_text(fontSize=11).encode(text="text:N", color=ink)).properties(
        height=_ROW * len(order)
    )


def _alt(cells: pl.DataFrame, network: str) -> str:
    count = cells["x"].n_unique()
    return f"Heat map, {network}: throughput ratio of {count} contestants in pairs, as in the table below."
