"""Each contestant's probes: its behaviour compared with kernel TCP's (docs/reference/probes.md)."""

from __future__ import annotations

import polars as pl

from cambrian.probes.judge import Finding
from cambrian.report import probed
from cambrian.report.collect import Collected
from cambrian.report.tables import rows
from cambrian.stats.interval import finite


def table(collected: Collected) -> pl.DataFrame | None:
    """One row for each group of trials that shows a probe of its first contestant.

    ``mine`` and ``kernel``: means over trials, in ``unit``. ``effect``: the ratio of the two, their
    difference, or the difference from a bound (``compare`` says which), with ``low`` to ``high`` over
    seeds; flows are equivalent between ``margin_low`` and ``margin_high``: the probe's margin,
    wider where the value by theory differs from the kernel's. ``state`` is null where no comparison was
    possible, and ``why`` gives the reason. ``more_seeds`` would settle an inconclusive comparison, as
    ``settles_as``.
    """
    found = [_row(one.contestant, one.group, one.finding) for one in probed.findings(collected)]
    return pl.DataFrame(found, infer_schema_length=None) if found else None


def _row(contestant: str, group: str, one: Finding) -> rows.Row:
    margin_low, margin_high = one.margin or (one.probe.low, one.probe.high)
    return {
        "network": one.network,
        "group": group,
        "contestant": contestant,
        "probe": one.probe.name,
        "title": one.probe.title,
        "state": one.state,
        "mine": one.mine,
        "kernel": one.its,
        "unit": one.probe.unit,
        "compare": one.probe.compare,
        "effect": one.effect,
        "low": one.low,
        "high": one.high,
        "margin_low": finite(margin_low),
        "margin_high": finite(margin_high),
        "seeds": one.seeds,
        "events": one.events,
        "more_seeds": one.more,
        "settles_as": one.settles_as,
        "theory": one.theory,
        "text": one.text,
        "why": one.why,
        "margin_why": one.probe.margin_why,
        "source": one.probe.source,
    }


def _judgement(row: rows.Row) -> str:
    """The state; a figure within a bound is not compared with the kernel's, which may be far from it."""
    within = row["compare"] == "bound" and row["state"] == "equivalent"
    return "within the bound" if within else str(row["state"])
