"""RTT-unfairness: how much throughput a longer round trip costs against a shorter one."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import polars as pl

from cambrian.measure.flow_window import is_sized
from cambrian.measure.trial import TrialMeasures
from cambrian.metrics.rtt_fairness import exponent, pooled
from cambrian.report import blocks, layout
from cambrian.report.collect import Cell, Collected
from cambrian.report.tables import rows
from cambrian.stats import jackknife
from cambrian.study.model import Flow


def table(collected: Collected) -> pl.DataFrame | None:
    """One row for each network and line-up of two flows of one stack and CCA with different base round trips.

    ``exponent`` is p in T₁/T₂ = (RTT₂/RTT₁)^p, mean over the seeds in which both flows carried
    data; ``pooled`` is the slope over all networks of the study, the same in each row of a line-up.
    """
    if collected.design != "flows":
        return None
    study = collected.study
    lineups: dict[str | None, Sequence[Flow]] = {one.name: one.flows for one in study.lineups}
    lineups = lineups or {None: study.flows}
    alike = {name for name, flows in lineups.items() if _are_alike(flows)}
    by_lineup: dict[str | None, list[Cell]] = {}
    for cell in collected.cells:
        if cell.lineup in alike and _ratio(cell) != 1:
            by_lineup.setdefault(cell.lineup, []).append(cell)
    found = [row for cells in by_lineup.values() for row in _rows(cells)]
    return rows.frame(found) if found else None


def _are_alike(flows: Sequence[Flow]) -> bool:
    """Are these two endless flows of one stack and CCA?"""
    kinds = [(flow.contestant.stack, flow.contestant.cca, flow.contestant.options) for flow in flows]
    return len(flows) == 2 and kinds[0] == kinds[1] and not any(map(is_sized, flows))


def _rows(cells: Sequence[Cell]) -> Iterator[rows.Row]:
    """The rows of one line-up on all networks; none if no flow of it ever carried data beside the other."""
    arms = {cell.key: _exponents(cell) for cell in cells}
    used = [cell for cell in cells if arms[cell.key]]
    if not used:
        return
    ratios = [_ratio(cell) for cell in used]
    slope = jackknife.of_means([arms[cell.key] for cell in used], lambda found: pooled(ratios, found))
    for cell in cells:
        lineup = f"{cell.lineup}: " if cell.lineup else ""
        row = rows.place(cell) | {"contestant": lineup + cell.names[0], "rtt_ratio": _ratio(cell)}
        row |= {"seeds": len(arms[cell.key]), "starved_seeds": len(blocks.whole(cell)) - len(arms[cell.key])}
        row |= rows.spread("exponent", rows.interval(arms[cell.key]))
        yield row | rows.spread("pooled", slope)


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

    def of_trial(trial: TrialMeasures) -> float:
        # shares have the ratio of the throughputs from the time when both flows have started
        one, two = (flow["share_percent"] or 0.0 for flow in trial.flows)
        return exponent(_rtts_ms(cell), (one, two))

    return blocks.by_seed(cell, of_trial)


def _rtts(row: rows.Row) -> str:
    return layout.number(max(row["rtt_ratio"], 1 / row["rtt_ratio"]), 2)
