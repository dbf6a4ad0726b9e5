"""A heat map of the throughput ratios of all pairs."""

from __future__ import annotations

from collections.abc import Iterator

import polars as pl

from cambrian.report.collect import Collected
from cambrian.report.figures import heat
from cambrian.report.figures.figure import Figure, Panel
from cambrian.report.tables import pairwise
from cambrian.stats import states

#: place among the figures of a network
ORDER = 20

_CAPTION = (
    "The row's share of the throughput of row and column together, Tx / (Tx + Ty), mean over seeds: above "
    "0.5 the row takes more. Faint and in parentheses: inconclusive, that is neither different from an even "
    f"split (t test over seeds, Benjamini–Hochberg over this map's pairs, {100 * states.LEVEL:g} %) nor "
    f"equivalent to it ({50 + 100 * states.SHARE.low:g} to {50 + 100 * states.SHARE.high:g} %). A contestant "
    "against itself is even by symmetry and not tested. The lower half mirrors the upper."
)


def figures(collected: Collected) -> Iterator[Figure]:
    """One figure for each network of a ``pairwise`` study."""
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
        chart = heat.chart(
            cells,
            "ratio",
            rows=present,
            columns=present,
            across="against",
            title="Throughput ratio",
            domain=(0, 0.5, 1),
        )
        yield Figure(
            name=f"ratios-{network.name}",
            network=network.name,
            heading="Throughput ratios of all pairs",
            caption=_CAPTION,
            panels=(Panel(chart, _alt(cells, network.name)),),
            data=cells.drop("text", "conclusive"),
            height=heat.ROW * len(present),
            wide=True,
            least_width=heat.least_width(cells, present, len(present)),
            leads=True,
        )


def _both_halves(pairs: pl.DataFrame) -> pl.DataFrame:
    kept = ("network", "trials", "seeds", "p", "p_bh", "split")
    mirrored = pairs.filter(pl.col("x") != pl.col("y")).select(
        *kept,
        pl.col("y").alias("x"),
        pl.col("x").alias("y"),
        (1 - pl.col("ratio")).alias("ratio"),
        (1 - pl.col("ratio_high")).alias("ratio_low"),
        (1 - pl.col("ratio_low")).alias("ratio_high"),
    )
    both = pl.concat([pairs.select(mirrored.columns), mirrored], how="vertical_relaxed")
    return heat.labelled(
        both.with_columns(
            pl.col("split")
            .is_in(["different", "equivalent", pairwise.ITSELF, states.SAME])
            .alias("conclusive")
        ),
        "ratio",
    )


def _alt(cells: pl.DataFrame, network: str) -> str:
    count = cells["x"].n_unique()
    return f"Heat map, {network}: throughput ratio of {count} contestants in pairs, as in the table below."
