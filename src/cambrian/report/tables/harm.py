"""Who harms whom more than the victim's own kind would."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
import polars as pl

from cambrian.report import harms, layout
from cambrian.report.collect import Collected
from cambrian.report.harms import Harm
from cambrian.report.layout import Column, Shown
from cambrian.report.tables import rows
from cambrian.stats.correction import benjamini_hochberg

#: place among the tables
ORDER = 24
#: false discovery rate at which a difference counts
LEVEL = 0.05
#: a smaller excess is called small, however sure: in virtual time a difference of one packet may be
SMALLEST_EXCESS = 0.01


def table(collected: Collected) -> pl.DataFrame | None:
    """One row a victim, competitor and service; see :class:`cambrian.report.harms.Harm`.

    ``p_bh`` is corrected over the rows of one network and service.
    """
    found = harms.harms(collected)
    if not found:
        return None
    corrected: dict[int, float] = {}
    for family in harms.families(found):
        tested = [(id(one), one.test.p) for one in family if one.test is not None]
        values = benjamini_hochberg([p for _, p in tested]).tolist()
        corrected |= dict(zip((key for key, _ in tested), values, strict=True))
    return rows.frame([_row(one, corrected.get(id(one))) for one in found])


def _row(one: Harm, p_bh: float | None) -> rows.Row:
    row: rows.Row = {
        "network": one.network,
        "victim": one.victim,
        "by": one.by,
        "service": one.service.name,
        "trials": len(one.with_other),
        "own_trials": len(one.with_own),
        "alone_trials": len(one.alone),
    }
    for name in ("alone", "with_own", "with_other"):
        arm: Mapping[int, float] = getattr(one, name)
        row[name] = float(np.mean(list(arm.values()))) if arm else None
    for name in ("harm", "own_harm", "excess"):
        row |= rows.spread(name, getattr(one, name))
    row["p"] = one.test.p if one.test else None
    row["p_bh"] = p_bh
    row["hedges_g"] = rows.finite(one.test.hedges_g) if one.test else None
    row["verdict"] = verdict(one, p_bh)
    return row


def verdict(one: Harm, p_bh: float | None) -> str:
    """``by`` against Ware's bar: the harm that the victim does to itself."""
    if one.victim == one.by:
        return "itself"
    if one.test is None or p_bh is None:
        return "too few trials"
    if p_bh > LEVEL:
        return "not told apart"
    if one.excess is not None and abs(one.excess.estimate) < SMALLEST_EXCESS:
        return f"less than {100 * SMALLEST_EXCESS:g} % apart"
    worse = (one.test.difference < 0) == one.service.more_is_better
    return "more than its own kind" if worse else "less than its own kind"


def _change(row: rows.Row) -> str:
    if row["with_own"] is None:
        return layout.number(row["with_other"], 2)
    return f"{layout.number(row['with_own'], 2)} → {layout.number(row['with_other'], 2)}"


_COLUMNS = (
    Column("By, to victim", lambda row: f"{row['by']} to {row['victim']}", number=False),
    layout.text("service", "Service"),
    layout.TRIALS,
    Column("Alone", lambda row: layout.number(row["alone"], 2)),
    Column("With its own kind → with the other", _change),
    layout.spread("harm", "Harm", 2),
    layout.spread("own_harm", "Harm of its own kind", 2),
    layout.spread("excess", "Beyond its own kind", 2),
    layout.p_value("p_bh", "p, corrected"),
    layout.text("verdict", "Harms"),
)


def shown(frame: pl.DataFrame, collected: Collected) -> Shown:
    """Harm on one network, victim by victim; columns that a study without solo trials lacks are left out."""
    del collected
    without_alone = frame["harm"].is_null().all()
    columns = [
        column
        for column in _COLUMNS
        if not without_alone or column.heading not in ("Alone", "Harm", "Harm of its own kind")
    ]
    caption = (
        "Harm to each victim’s service, beside that of a flow of its own kind; in brackets 95 % intervals"
    )
    by_victim = pl.concat(
        part
        for of_service in frame.partition_by("service", maintain_order=True)
        for part in of_service.partition_by("victim", maintain_order=True)
    )
    # without solo trials a victim against itself is the baseline, and no row
    kept = by_victim.filter(pl.col("victim") != pl.col("by")) if without_alone else by_victim
    return layout.shown(kept, columns, caption, "harm.csv", folded=True)
