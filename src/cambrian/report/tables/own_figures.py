"""Each contestant's own share, loss and delay, compared with the reference's own in the same place."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import replace
from typing import NamedTuple

import polars as pl

from cambrian.measure import quantities
from cambrian.report import blocks, families, hints, limits, placebo
from cambrian.report.collect import Cell, Collected
from cambrian.report.tables import rows
from cambrian.stats import states
from cambrian.stats.compare import Comparison, compare, p_with_scatter, trials_for_scatter
from cambrian.stats.scale import Scale
from cambrian.stats.states import Margin

#: quantity → the scale of its mean's interval, and the margin of a difference
_COMPARED: Mapping[str, tuple[Scale, Margin]] = {
    "share_percent": ("percent", states.SHARE_PERCENT),
    "queue_loss_percent": ("percent", states.LOSS_PERCENT),
    "delay_p50_ms": ("factor", states.DELAY_MS),
}


class _Tested(NamedTuple):
    """A row and its test. ``trial_sd``: how much chance decides in one trial; None if it does not count."""

    row: rows.Row
    test: Comparison
    trial_sd: float | None
    orders: int

    def seeds_for_p(self, level: float) -> int:
        """How many seeds the contestant still needs before p can be as small as ``level``."""
        difference = self.test.difference.estimate
        if not self.trial_sd or not difference:
            return 0
        trials = trials_for_scatter(level, difference, self.trial_sd)
        return max(math.ceil(trials / self.orders) - int(self.row["seeds"]), 0)


def table(collected: Collected) -> pl.DataFrame | None:
    """One row for each contestant, network and quantity of a ``versus-reference`` study.

    ``value`` is the contestant's beside the reference, ``reference_value`` the reference's beside itself,
    both in ``unit``; ``compared_seeds``: how many seeds the comparison has (pairs, if it is paired).
    ``difference`` and ``hedges_g`` compare the two by seed, ``p_corrected`` is corrected
    over all contestants (Benjamini and Hochberg), and for placebos over these as one family of verdicts: so
    contestants that differ make no placebo differ. ``verdict`` is the state. No verdict on a contestant
    comes from this table.
    """
    compared = [
        (cell, floor, name)
        for cell in collected.cells
        if cell.design == "versus-reference" and not cell.is_noise_floor
        if (floor := collected.noise_floor(cell)) is not None
        for name in _COMPARED
    ]
    kept = [found for one in compared if (found := _tested(*one)) is not None]
    if not kept:
        return None
    placebos = set(placebo.names(collected).values())
    for is_placebo, corrected, levels in (
        (False, families.corrected, families.levels),
        (True, families.corrected_for_verdicts, families.levels_for_verdicts),
    ):
        family = [one for one in kept if (one.row["contestant"] in placebos) is is_placebo]
        tested = [one.test.p for one in family]
        for one, p, level in zip(family, corrected(tested), levels(tested), strict=True):
            row, test = one.row, one.test
            margin = _COMPARED[row["quantity"]][1]
            row["p_corrected"] = p
            row["verdict"] = states.state(test.difference, margin, p)
            # a paired test has as many seeds on either side
            arms = (row["seeds"], row["reference_seeds"]) if test.test == "Welch" else None
            row.update(hints.columns(row["verdict"], test.difference, margin, level, arms=arms))
            if row["settles_as"] == "different":
                least = one.seeds_for_p(states.LEVEL if level is None else level)
                row["more_seeds"] = max(row["more_seeds"], least)
    table_rows = [one.row for one in kept]
    limits.withhold(table_rows, collected, "contestant", ("different",))
    placebo.withhold(table_rows, collected, within=("quantity",))
    return rows.frame(table_rows)


def _tested(cell: Cell, floor: Cell, name: str) -> _Tested | None:
    """None if there is nothing to compare."""
    mine, its = (
        blocks.by_seed(one, lambda trial: quantities.ALL[name].value(trial, 0)) for one in (cell, floor)
    )
    if not mine or not its:
        return None
    test, trial_sd = compare(mine, its), None
    if name == "share_percent":
        # what one flow gains, the other loses: chance may decide who has it
        trial_sd = blocks.scatter(blocks.by_position(floor, quantities.ALL[name].value))
        p = p_with_scatter(test.p, test.difference.estimate, trial_sd, cell.orders * len(mine))
        test = replace(test, p=p)
    row = rows.place(cell) | {
        "contestant": cell.subject,
        "reference": cell.reference,
        "quantity": name,
        "unit": quantities.ALL[name].unit,
        "seeds": len(mine),
        "reference_seeds": len(its),
        "compared_seeds": test.difference.n,
    }
    scale = _COMPARED[name][0]
    row |= rows.spread("value", rows.interval(mine, scale))
    row |= rows.spread("reference_value", rows.interval(its, scale))
    row |= rows.spread("difference", test.difference)
    row |= {"p": test.p, "hedges_g": test.hedges_g, "test": test.test}
    return _Tested(row, test, trial_sd, cell.orders)


def _quantity(row: rows.Row) -> str:
    return quantities.ALL[row["quantity"]].heading
