"""Each contestant's probes: what its behaviour is, beside kernel TCP's (docs/reference/probes.md)."""

from __future__ import annotations

import polars as pl

from cambrian.probes.judge import Finding
from cambrian.report import layout, probed
from cambrian.report.collect import Collected
from cambrian.report.layout import Column, Shown
from cambrian.report.tables import rows

#: place among the tables
ORDER = 46


def table(collected: Collected) -> pl.DataFrame | None:
    """One row a network, contestant and probe.

    ``mine`` and ``kernel``: means over trials, in ``unit``. ``effect``: the ratio of the two, or their
    difference, or the difference from a bound (``compare`` says which), with ``low`` to ``high`` over
    seeds; between ``margin_low`` and ``margin_high`` two flows are the same. ``state`` is null where
    nothing could be compared, and ``why`` says why. ``more_seeds`` would settle what is inconclusive.
    """
    found = [_row(one.contestant, one.finding) for one in probed.findings(collected)]
    return pl.DataFrame(found, infer_schema_length=None) if found else None


def _row(contestant: str, one: Finding) -> rows.Row:
    return {
        "network": one.network,
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
        "margin_low": rows.finite(one.probe.low),
        "margin_high": rows.finite(one.probe.high),
        "seeds": one.seeds,
        "events": one.events,
        "more_seeds": one.more,
        "theory": one.theory,
        "text": one.text,
        "why": one.why,
        "margin_why": one.probe.margin_why,
        "source": one.probe.source,
    }


_COLUMNS = (
    layout.text("contestant", "Contestant"),
    layout.text("title", "Probe"),
    layout.text("state", "Judgement"),
    Column("What was seen", lambda row: row["text"], number=False),
    Column("Seeds", lambda row: str(row["seeds"])),
)


def shown(frame: pl.DataFrame, collected: Collected) -> Shown | None:
    """What differs on one network, then what is inconclusive; the CSV has every probe."""
    del collected
    rank = {"different": 0, "inconclusive": 1, "equivalent": 2}
    order = pl.col("state").replace_strict(rank, return_dtype=pl.Int8)
    here = frame.filter(pl.col("state").is_not_null()).sort(order, maintain_order=True)
    if not here.height:
        return None
    caption = "Probes: behaviour beside kernel TCP’s, within the margins of docs/reference/probes.md"
    return layout.shown(here, _COLUMNS, caption, "probes.csv", folded=True)
