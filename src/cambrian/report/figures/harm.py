"""A heat map of harm for each service, compared with the harm of the victim's own kind."""

from __future__ import annotations

from collections.abc import Iterator

import polars as pl

from cambrian.report import placebo
from cambrian.report.collect import Collected
from cambrian.report.figures import heat
from cambrian.report.figures.figure import Figure, Panel
from cambrian.report.harms import SERVICES
from cambrian.report.tables import harm
from cambrian.stats import states

#: place among the figures of a network
ORDER = 24

_INCONCLUSIVE = (
    "Faint and in parentheses: inconclusive, that is neither different from the harm of a flow of the "
    "victim's own kind in the same position (t over seeds, Holm's correction as for verdicts, "
    f"{100 * states.LEVEL:g} %) nor equivalent to it (within {states.HARM.high:g}, "
    f"{states.DELAY_MS.high:g} ms of delay or {states.LOSS_PERCENT.high:g} percentage points of loss). "
    "Blank: the column has no delay or loss beside the row, so there is no number; the table has the verdict."
)
_ALONE = (
    "Harm that the row does to the column (Ware et al., HotNets 2019): the share of its throughput alone "
    "that the column loses, or the share of its delay and loss that competition adds. 0 is no harm, 1 is "
    "everything; below 0 the column gains. The diagonal shows the harm of the column's own kind. "
    + _INCONCLUSIVE
)
_OWN = (
    "Harm that the row does to the column beyond the harm of a flow of the column's own kind: the formulas "
    "of Ware et al. (HotNets 2019), with the column against itself as the baseline. Above 0 the row "
    "harms more. " + _INCONCLUSIVE
)


def figures(collected: Collected) -> Iterator[Figure]:
    """One figure for each network of a ``pairwise`` study, one panel for each service."""
    harms = harm.table(collected) if collected.design == "pairwise" else None
    if harms is None:
        return
    order = [contestant.name for contestant in collected.study.contestants]
    for network in collected.networks:
        here = harms.filter(pl.col("network") == network.name)
        value = "harm" if here["harm"].is_not_null().any() else "excess"
        cells = _cells(here.filter(pl.col("by").is_in(order)), value)
        if not cells.height:
            continue
        present = cells["x"].unique().to_list()
        yield Figure(
            name=f"harm-{network.name}",
            network=network.name,
            heading="Harm" if value == "harm" else "Harm beyond its own kind",
            caption=_ALONE if value == "harm" else _OWN,
            panels=tuple(_panels(cells, value, order, network.name)),
            data=cells.drop("text", "conclusive"),
            height=heat.ROW * len(present),
            wide=True,
            least_width=heat.least_width(cells, present, cells["y"].n_unique()),
        )


def _cells(here: pl.DataFrame, value: str) -> pl.DataFrame:
    conclusive = ~pl.col("verdict").is_in(["inconclusive", placebo.WITHHELD])
    chosen = here.filter(pl.col(value).is_not_null()).select(
        "network", "service", "seeds", pl.col("by").alias("x"), pl.col("victim").alias("y"), value,
        f"{value}_low", f"{value}_high", "p", "p_corrected", "verdict", conclusive.alias("conclusive"),
    )  # fmt: skip
    return heat.labelled(chosen, value)


def _panels(cells: pl.DataFrame, value: str, order: list[str], network: str) -> Iterator[Panel]:
    for service in SERVICES:
        mine = cells.filter(pl.col("service") == service.name)
        if not mine.height:
            continue
        name = service.name.partition(",")[0]
        chart = heat.chart(
            mine,
            value,
            rows=[contestant for contestant in order if contestant in set(mine["x"])],
            columns=[contestant for contestant in order if contestant in set(mine["y"])],
            across="to",
            title=f"Harm in {name}",
            domain=(-1, 0, 1),
            title_above=f"Harm in {name}",
        )
        yield Panel(chart, f"Heat map, {network}: harm in {name}, as in the table of harm.")
