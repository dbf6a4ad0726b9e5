"""Share of the time that each controller spends in each state, compared with its reference."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import polars as pl

from cambrian.metrics.states import vocabulary
from cambrian.metrics.states.difference import Difference, StateDifference
from cambrian.metrics.states.pooled import StateShare, pooled
from cambrian.metrics.states.vocabulary import words
from cambrian.metrics.states.wording import percent, sentences
from cambrian.report import layout, machine_pairs
from cambrian.report.collect import Cell, Collected
from cambrian.report.tables import rows
from cambrian.report.tables.flows import named
from cambrian.stats.interval import Interval

#: source of a flow without a machine
NOT_AVAILABLE = "not available: the stack exports neither states nor a window"


def table(collected: Collected) -> pl.DataFrame | None:
    """One row for each state of each flow: its mean share of the time, and the reference's (flow 0 only).

    ``source`` says where the states come from; a flow whose stack exports nothing has one row with only
    this column. ``entries_per_min``: how often the state is entered. ``compared_percent``,
    ``reference_percent`` and ``difference_percent`` cover the states that both sources can distinguish
    (some are joined); null for other states and without a reference. ``distance``: total variation between
    the two sides' shares; ``floor_distance``: the same between the reference's trials; ``differs``: in words.
    """
    found = [row for cell in collected.cells if cell.trials for row in _cell(cell, collected)]
    return rows.frame(found) if any(row["state"] for row in found) else None


def _cell(cell: Cell, collected: Collected) -> Iterator[rows.Row]:
    reference = machine_pairs.reference_of(cell, collected)
    compared = machine_pairs.compare(cell, collected)
    for number in range(1 if cell.design == "versus-reference" else len(cell.names)):
        place = rows.place(cell) | {"flow": number, "contestant": cell.names[number]}
        against = compared if number == 0 else None
        whole = _whole(against, reference)
        arm = machine_pairs.arm(cell, number)
        if not arm:
            nothing = {"seeds": 0, "source": NOT_AVAILABLE, "state": None}
            yield place | nothing | _share(None) | _against(None) | whole
            continue
        mine = pooled(list(arm.values()))
        own = {one.state: one for one in mine.states}
        theirs = {one.state: one for one in against.states} if against else {}
        for state in vocabulary.order({*own, *theirs}):
            one = {"seeds": mine.trials, "source": mine.source, "state": state}
            yield place | one | _share(own.get(state)) | _against(theirs.get(state)) | whole


def _share(found: StateShare | None) -> rows.Row:
    return rows.spread("share_percent", _in_percent(found.share) if found else None) | {
        "entries_per_min": 60 * found.entries_per_s if found else None
    }


def _against(found: StateDifference | None) -> rows.Row:
    return {
        "compared_percent": 100 * found.test if found else None,
        "reference_percent": 100 * found.reference if found else None,
    } | rows.spread("difference_percent", _in_percent(found.difference) if found else None)


def _whole(against: Difference | None, reference: Cell | None) -> rows.Row:
    if against is None or reference is None:
        nothing = dict.fromkeys(("reference", "floor_distance", "differs"))
        return nothing | rows.spread("distance", None)
    return {
        "reference": reference.subject,
        "floor_distance": against.floor_time_distance,
        "differs": "; ".join(sentences(against, reference.subject))
        or "does the same, to half a percent of the time",
    } | rows.spread("distance", against.time_distance)


def _in_percent(share: Interval) -> Interval:
    return replace(share, estimate=100 * share.estimate, low=100 * share.low, high=100 * share.high)


def _spent(frame: pl.DataFrame) -> str:
    """``97 % congestion avoidance, 2.6 % recovery, 0.3 % slow start``."""
    known = frame.filter(pl.col("share_percent").is_not_null()).sort("share_percent", descending=True)
    shares = known.select("share_percent", "state").iter_rows()
    return ", ".join(f"{percent(share / 100)} {words(state)}" for share, state in shares) or layout.NOTHING


def _distance(row: rows.Row) -> str:
    if row["distance"] is None:
        return layout.NOTHING
    text = f"{layout.number(100 * row['distance'], 1)} %"
    floor = row["floor_distance"]
    return text if floor is None else f"{text} (floor {layout.number(100 * floor, 1)} %)"


def on_page(frame: pl.DataFrame, collected: Collected) -> pl.DataFrame:
    """One row for each flow, with the time in its states as text."""
    flows = named(frame, collected).partition_by("group", "flow", maintain_order=True)
    found = [mine.row(0, named=True) | {"spent": _spent(mine)} for mine in flows]
    return pl.DataFrame(found, infer_schema_length=None)
