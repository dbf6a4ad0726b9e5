"""RTT-unfairness: how much throughput a longer round trip costs against a shorter one."""

from __future__ import annotations

import polars as pl

from cambrian.metrics.rtt_fairness import exponent, pooled
from cambrian.report import blocks, layout
from cambrian.report.collect import Cell, Collected
from cambrian.report.layout import Column, Shown
from cambrian.report.tables import rows
from cambrian.stats import jackknife

#: place among the tables
ORDER = 44
#: columns that `cambrian table` prints
PRINTED = ("network", "contestant", "rtt_ratio", "exponent")


def table(collected: Collected) -> pl.DataFrame | None:
    """One row for each network on which two flows of one stack and CCA have different base round trips.

    ``exponent`` is p in T₁/T₂ = (RTT₂/RTT₁)^p, mean over the seeds in which both flows carried
    data; ``pooled`` is the slope over all networks of the study, the same in each row.
    """
    if collected.design != "flows" or collected.study.lineups or len(collected.study.flows) != 2:
        return None
    first, second = (flow.contestant for flow in collected.study.flows)
    if (first.stack, first.cca, first.options) != (second.stack, second.cca, second.options):
        return None
    cells = [cell for cell in collected.cells if _ratio(cell) != 1]
    arms = {cell.key: _exponents(cell) for cell in cells}
    used = [cell for cell in cells if arms[cell.key]]
    if not used:
        return None
    ratios = [_ratio(cell) for cell in used]
    slope = jackknife.of_means([arms[cell.key] for cell in used], lambda found: pooled(ratios, found))
    found = []
    for cell in cells:
        row = rows.place(cell) | {"contestant": cell.names[0], "rtt_ratio": _ratio(cell)}
        row |= {"seeds": len(arms[cell.key]), "starved_seeds": len(blocks.whole(cell)) - len(arms[cell.key])}
        row |= rows.spread("exponent", rows.interval(arms[cell.key]))
        found.append(row | rows.spread("pooled", slope))
    return rows.frame(found)


def _rtts_ms(cell: Cell) -> tuple[float, float]:
    if not cell.trials:
        return 1.0, 1.0
    one, two = (flow.base_rtt_ms(cell.network) for flow in cell.trials[0].trial.flows)
    return one, two


def _ratio(cell: Cell) -> float:
    """The first flow's base round trip over the second's."""
    one, two = _rtts_ms(cell)
    return one / two


def _exponents(cell: Cell) -> dict[int, float]:
    """Seed → exponent, for the seeds in which both flows carried data in all trials."""
    return blocks.by_seed(
        cell,
        lambda trial: exponent(
            _rtts_ms(cell), (trial.flows[0]["throughput_mbps"], trial.flows[1]["throughput_mbps"])
        ),
    )


_COLUMNS = (
    layout.text("contestant", "Two flows of"),
    layout.SEEDS,
    Column("Ratio of base RTTs", lambda row: layout.number(max(row["rtt_ratio"], 1 / row["rtt_ratio"]), 2)),
    layout.spread("exponent", "Exponent p", 2),
    layout.spread("pooled", "p over all networks", 2),
)


def shown(frame: pl.DataFrame, collected: Collected) -> Shown:
    """RTT-unfairness on one network."""
    del collected
    caption = "RTT-unfairness: the ratio of throughputs is the ratio of base round trips to the power −p"
    return layout.shown(frame, _COLUMNS, caption, "rtt_fairness.csv")
