"""Harm of each contestant to each other one, compared with the harm of the victim's own kind."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import replace

import numpy as np
import polars as pl

from cambrian.report import families, harms, hints, layout, limits, placebo
from cambrian.report.collect import Collected
from cambrian.report.harms import Harm
from cambrian.report.tables import rows
from cambrian.stats import states
from cambrian.stats.interval import Interval
from cambrian.stats.states import Margin, State

#: verdicts that say "different", and which way
MORE, LESS = "more than its own kind", "less than its own kind"
#: the margin of a harm, of the logarithm of its ratio
_LOG_RATIO = Margin(math.log1p(-states.HARM.high), math.log1p(-states.HARM.low), states.HARM.why)
#: the settled states of a difference that is negligible
_NEGLIGIBLE: tuple[State, ...] = ("equivalent",)


def table(collected: Collected) -> pl.DataFrame | None:
    """One row for each victim, competitor and service; see :class:`cambrian.report.harms.Harm`.

    ``p`` tests for no harm beyond that of the victim's own kind, ``p_corrected`` is corrected over the rows
    of one service, as verdicts are. ``verdict`` has :data:`MORE` or :data:`LESS` instead of "different".
    """
    all_harms = harms.harms(collected)
    if not all_harms:
        return None
    adjusted: dict[int, tuple[float | None, float | None]] = {}
    for family in harms.families(all_harms):
        p = [one.p for one in family]
        corrected = zip(families.corrected_for_verdicts(p), families.levels_for_verdicts(p), strict=True)
        adjusted |= dict(zip(map(id, family), corrected, strict=True))
    table_rows = [_row(one, *adjusted[id(one)]) for one in all_harms]
    limits.withhold(table_rows, collected, "by", (LESS,), more=(MORE,))
    placebo.withhold(
        table_rows, collected, who="by", against="victim", within=("service",), differs=(MORE, LESS)
    )
    return rows.frame(table_rows)


def _row(one: Harm, p_corrected: float | None, level: float | None) -> rows.Row:
    row: rows.Row = {
        "network": one.network,
        "victim": one.victim,
        "by": one.by,
        "service": one.service.name,
        "seeds": len(one.with_other),
        "own_seeds": len(one.with_own),
        "alone_seeds": len(one.alone),
    }
    for name in ("alone", "with_own", "with_other"):
        arm: Mapping[int, float] = getattr(one, name)
        row[name] = float(np.mean(list(arm.values()))) if arm else None
    for name in ("harm", "own_harm", "difference", "excess"):
        row |= rows.spread(name, getattr(one, name))
    row |= {"p": one.p, "p_corrected": p_corrected, "hedges_g": one.test.hedges_g if one.test else None}
    row["test"] = one.test.test if one.test else None
    row["verdict"] = verdict(one, p_corrected)
    row |= _more_seeds(one, row["verdict"], level)
    if row["settles_as"] == "different":
        row["settles_as"] = _way(one)
    return row


def _more_seeds(one: Harm, verdict: str, level: float | None) -> rows.Row:
    """What :func:`verdict` will find first with more seeds; see :func:`cambrian.report.hints.columns`."""
    difference, negligible = one.difference, one.service.negligible
    small = difference and negligible and negligible.low < difference.estimate < negligible.high
    interval, margin = one.judged
    if margin is states.HARM:
        # the test and the interval of a harm are by factors of its ratio
        interval, margin = _logarithm(interval), _LOG_RATIO
    possible = _NEGLIGIBLE if small else hints.SETTLED
    arms = len(one.with_own), len(one.with_other)
    found = hints.columns(verdict, interval, margin, level, possible=possible, arms=arms)
    if found["settles_as"] == "different":
        found["more_seeds"] = max(
            found["more_seeds"], one.seeds_for_p(states.LEVEL if level is None else level)
        )
    negligibly = hints.columns(verdict, difference, negligible, level, possible=_NEGLIGIBLE, arms=arms)
    known = [each for each in (found, negligibly) if each["more_seeds"] is not None]
    return min(known, key=lambda each: each["more_seeds"], default=found)


def _logarithm(harm: Interval | None) -> Interval | None:
    """The interval of the logarithm of 1 − ``harm``, which is symmetric; None for a ratio of 0."""
    if harm is None or harm.estimate >= 1:
        return None
    estimate, high = math.log1p(-harm.estimate), math.log1p(-harm.low)
    return replace(harm, estimate=estimate, low=2 * estimate - high, high=high)


def verdict(one: Harm, p_corrected: float | None) -> str:
    """``by`` judged by Ware's limit: the harm that the victim does to itself."""
    if one.victim == one.by:
        return "itself"
    if states.state(one.difference, one.service.negligible, p=None) == "equivalent":
        return "equivalent"
    found = states.state(*one.judged, p_corrected)
    return _way(one) if found == "different" else found


def _way(one: Harm) -> str:
    """The word for "different"."""
    worse = one.difference is not None and (one.difference.estimate > 0) is not one.service.more_is_better
    return MORE if worse else LESS


def _change(row: rows.Row) -> str:
    if row["with_own"] is None:
        return layout.number(row["with_other"], 2)
    return f"{layout.number(row['with_own'], 2)} → {layout.number(row['with_other'], 2)}"


def on_page(frame: pl.DataFrame, collected: Collected) -> pl.DataFrame:
    """Without solo trials a victim against itself is the baseline, so it has no row."""
    del collected
    return frame.filter(pl.col("victim") != pl.col("by")) if frame["harm"].is_null().all() else frame
