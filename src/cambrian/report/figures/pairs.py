"""Heat maps of all pairs: throughput ratios, and harm to each service beside that of its own kind."""

from __future__ import annotations

from collections.abc import Iterator

import polars as pl

from cambrian.report import placebo
from cambrian.report.collect import Collected
from cambrian.report.figures import heat
from cambrian.report.figures.figure import Figure, Panel
from cambrian.report.harms import SERVICES
from cambrian.report.tables import harm, pairwise
from cambrian.stats import states

_RATIOS = (
    "The row's share of the throughput of row and column together, Tx / (Tx + Ty), mean over seeds: above "
    "0.5 the row takes more. Faint and in parentheses: inconclusive, that is neither different from an even "
    f"split (t test over seeds, Benjamini–Hochberg over this map's pairs, {100 * states.LEVEL:g} %) nor "
    f"equivalent to it ({50 + 100 * states.SHARE.low:g} to {50 + 100 * states.SHARE.high:g} %). A contestant "
    "against itself is even by symmetry and not tested. The lower half mirrors the upper."
)
_INCONCLUSIVE = (
    "Faint and in parentheses: inconclusive, that is neither different from the harm of a flow of the "
    "victim's own kind in the same position (t over seeds, Holm's correction as for verdicts, "
    f"{100 * states.LEVEL:g} %) nor equivalent to it (within {states.HARM.high:g}, "
    f"{states.DELAY_MS.high:g} ms of delay or {states.LOSS_PERCENT.high:g} percentage points of loss). "
    "Blank: the column has no delay or loss beside the row, so there is no number; the table has the verdict."
)
#: value of a map of harm → its heading and its caption
_HARM = {
    "harm": (
        "Harm",
        "Harm that the row does to the column (Ware et al., HotNets 2019): the share of its throughput alone "
        "that the column loses, or the share of its delay and loss that competition adds. 0 is no harm, 1 is "
        "everything; below 0 the column gains. The diagonal shows the harm of the column's own kind. "
        + _INCONCLUSIVE,
    ),
    "excess": (
        "Harm beyond its own kind",
        "Harm that the row does to the column beyond the harm of a flow of the column's own kind: the "
        "formulas of Ware et al. (HotNets 2019), with the column against itself as the baseline. Above 0 the "
        "row harms more. " + _INCONCLUSIVE,
    ),
}


def figures(collected: Collected) -> Iterator[Figure]:
    """Figures for each network of a ``pairwise`` study: ratios, and harm with a panel for each service."""
    if collected.design != "pairwise":
        return
    order = [contestant.name for contestant in collected.study.contestants]
    ratios, harms = pairwise.table(collected), harm.table(collected)
    for name in (network.name for network in collected.networks):
        cells = _ratios(ratios.filter(pl.col("network") == name)) if ratios is not None else pl.DataFrame()
        if cells.height:
            chart = heat.chart(
                cells, "ratio", order, across="against", title="Throughput ratio", domain=(0, 0.5, 1)
            )
            count = cells["x"].n_unique()
            said = f"throughput ratio of {count} contestants in pairs, as in the table below."
            panel = Panel(chart, f"Heat map, {name}: {said}")
            yield _figure("ratios", name, "Throughput ratios of all pairs", _RATIOS, cells, [panel])
        here = harms.filter(pl.col("network") == name) if harms is not None else pl.DataFrame()
        value = "harm" if here.height and here["harm"].is_not_null().any() else "excess"
        cells = _harm(here.filter(pl.col("by").is_in(order)), value) if here.height else here
        if cells.height:
            yield _figure("harm", name, *_HARM[value], cells, list(_panels(cells, value, order, name)))


def _figure(
    name: str, network: str, heading: str, caption: str, cells: pl.DataFrame, panels: list[Panel]
) -> Figure:
    rows = cells["x"].unique().to_list()
    return Figure(
        name=f"{name}-{network}",
        network=network,
        heading=heading,
        caption=caption,
        panels=tuple(panels),
        data=cells.drop("text", "conclusive"),
        height=heat.ROW * len(rows),
        wide=True,
        least_width=heat.least_width(cells, rows, cells["y"].n_unique()),
        leads=name == "ratios",
    )


def _ratios(pairs: pl.DataFrame) -> pl.DataFrame:
    """Both halves of the map."""
    known = pairs.filter(pl.col("ratio").is_not_null())
    mirrored = known.filter(pl.col("x") != pl.col("y")).select(
        "network",
        "trials",
        "seeds",
        "p",
        "p_bh",
        "split",
        pl.col("y").alias("x"),
        pl.col("x").alias("y"),
        *((1 - pl.col(its)).alias(name) for name, its in _MIRRORED.items()),
    )
    both = pl.concat([known.select(mirrored.columns), mirrored], how="vertical_relaxed")
    settled = ["different", "equivalent", pairwise.ITSELF, states.SAME]
    return heat.labelled(both.with_columns(conclusive=pl.col("split").is_in(settled)), "ratio")


_MIRRORED = {"ratio": "ratio", "ratio_low": "ratio_high", "ratio_high": "ratio_low"}


def _harm(here: pl.DataFrame, value: str) -> pl.DataFrame:
    conclusive = ~pl.col("verdict").is_in(["inconclusive", placebo.WITHHELD])
    chosen = here.filter(pl.col(value).is_not_null()).select(
        "network", "service", "seeds", pl.col("by").alias("x"), pl.col("victim").alias("y"), value,
        f"{value}_low", f"{value}_high", "p", "p_corrected", "verdict", conclusive.alias("conclusive"),
    )  # fmt: skip
    return heat.labelled(chosen, value)


def _panels(cells: pl.DataFrame, value: str, order: list[str], network: str) -> Iterator[Panel]:
    for service in SERVICES:
        mine = cells.filter(pl.col("service") == service.name)
        if mine.height:
            name = f"harm in {service.name.partition(',')[0]}"
            title = name.capitalize()
            chart = heat.chart(
                mine, value, order, across="to", title=title, domain=(-1, 0, 1), title_above=title
            )
            yield Panel(chart, f"Heat map, {network}: {name}, as in the table of harm.")
