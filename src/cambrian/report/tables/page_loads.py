"""Page load times of each contestant and page."""

from __future__ import annotations

import math
import statistics
from collections.abc import Iterator, Sequence
from dataclasses import replace

import polars as pl

from cambrian.measure.trial import TrialMeasures
from cambrian.report import blocks
from cambrian.report.collect import Cell, Collected
from cambrian.report.tables import flows, rows
from cambrian.stats.interval import finite
from cambrian.study.model import Study

_MEDIAN = 50
#: each percentile, and the fewest loads with which it is given: with fewer, it is the fastest or slowest load
PERCENTILES = ((_MEDIAN, 3), (75, 4), (95, 20))


def table(collected: Collected) -> pl.DataFrame | None:
    """One row for each group and flow that loads a page; times in milliseconds, means over valid trials.

    ``plt_ms_low`` and ``plt_ms_high`` are the ends of the 95 % interval over seeds, null with too few seeds.
    ``late``: loads that did not end in the trial's time. Then there are no means: the other loads are the
    fastest. If all loads were late, ``client`` and ``objects`` are null. ``plt_ms_p50``, ``_p75``, ``_p95``:
    percentiles over loads (:func:`percentile`).
    """
    found = [row for cell in collected.cells for row in _rows(cell, collected.study)]
    return rows.frame(found) if found else None


def _rows(cell: Cell, study: Study) -> Iterator[rows.Row]:
    loads = [load for trial in cell.trials for load in trial.page_loads]
    # a trial with a late load is invalid, so its loads are not among these
    late = {flow for flow in range(len(cell.names)) if cell.late_loads(flow)}
    for flow in sorted({load.flow for load in loads} | late):
        mine = [load for load in loads if load.flow == flow]
        yield {
            "network": cell.network.name,
            "group": cell.key,
            "flow": flow,
            "contestant": cell.names[flow],
            "page": mine[0].page if mine else _page(cell, study, flow),
            "client": mine[0].client if mine else None,
            "trials": len(mine),
            "late": cell.late_loads(flow),
            **_plt(cell, flow),
            **_percentiles(cell, flow),
            **{
                name: _mean(cell, flow, name) for name in ("document_ms", "first_object_ms", "last_object_ms")
            },
            "objects": mine[0].objects if mine else None,
        }


def _page(cell: Cell, study: Study, flow: int) -> str | None:
    """The name of the page that a flow loads, as the study has it."""
    lineup = {one.name: one.flows for one in study.lineups}.get(cell.lineup or "", study.flows)
    page = lineup[flow].page if flow < len(lineup) else None
    return cell.page or (page.name if page else None)


def _plt(cell: Cell, flow: int) -> rows.Row:
    times = in_time(cell, flow, blocks.by_seed(cell, lambda trial: plt_ms(trial, flow)))
    return rows.spread("plt_ms", rows.interval(times, "factor")) | {"seeds": len(times)}


def _percentiles(cell: Cell, flow: int) -> rows.Row:
    times = [time for trial in cell.trials if (time := plt_ms(trial, flow)) is not None]
    late = cell.late_loads(flow)
    return {f"plt_ms_p{percent}": percentile(times, late, percent, least) for percent, least in PERCENTILES}


def percentile(times: Sequence[float], late: int, percent: int, least: int) -> float | None:
    """The median of all loads, or the time within which ``percent`` % of them ended (nearest rank).

    Loads that were ``late`` count as slower than all others, so a percentile stays true with them. None with
    fewer than ``least`` loads, or if too many were late.
    """
    loads = [*sorted(times), *[math.inf] * late]
    if len(loads) < least:
        return None
    if percent == _MEDIAN:
        return finite(statistics.median(loads))
    return finite(loads[math.ceil(percent / 100 * len(loads)) - 1])


def in_time(cell: Cell, flow: int, times: dict[int, float]) -> dict[int, float]:
    """The times by seed; empty if a load of the flow did not end in the trial's time."""
    return {} if cell.late_loads(flow) else times


def plt_ms(trial: TrialMeasures, flow: int) -> float | None:
    """Page load time of one flow; None if the load did not end."""
    return _figure(trial, flow, "plt_ms")


def _mean(cell: Cell, flow: int, name: str) -> float | None:
    times = in_time(cell, flow, blocks.by_seed(cell, lambda trial: _figure(trial, flow, name)))
    return rows.mean(list(times.values()))


def _figure(trial: TrialMeasures, flow: int, name: str) -> float | None:
    return next((getattr(load, name) for load in trial.page_loads if load.flow == flow), None)


def row_name(cell: Cell, flow: int) -> str:
    """A flow's contestant, and the contestant that it competes with; the page has a place of its own."""
    return flows.flow_name(replace(cell, page=None), flow)


def on_page(frame: pl.DataFrame, collected: Collected) -> pl.DataFrame:
    """The loads with the names of their rows."""
    return flows.named(frame, collected, row_name).with_columns(contestant="name")


def _late(row: rows.Row) -> str:
    return str(row["late"] or "")
