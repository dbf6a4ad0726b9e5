"""The registry: every quantity of the observations, one row each, in one file for each family.

Columns of CSV and parquet files, of pages, of claims (``quantity =``) and docs/reference/quantities.md
come from here. A new figure needs a row in its family's file, its function beside it, and its test.
"""

from __future__ import annotations

from cambrian.measure.quantities import (
    conformance,
    delay,
    ending,
    flow,
    loss,
    network,
    recovery,
    sharing,
    states,
    study,
    throughput,
    transfer,
    window,
)
from cambrian.measure.quantity import Quantity

#: in the order of the columns
FAMILIES = (
    study,
    network,
    flow,
    ending,
    throughput,
    sharing,
    delay,
    loss,
    transfer,
    window,
    conformance,
    recovery,
    states,
)
#: how the column of a stack's option begins; its name follows
OPTION = "option."
ALL: dict[str, Quantity] = {one.name: one for family in FAMILIES for one in family.QUANTITIES}
#: those taken from a flow's window
OF_WINDOWS = tuple(one for one in ALL.values() if one.window is not None)
#: those that a measured trial shows by itself
OF_TRIALS = tuple(one for one in ALL.values() if one.window is not None or one.trial is not None)


def has(column: str) -> bool:
    """Can the observations have this column? A stack's option and a state of its own have one each."""
    before, after = states.COLUMN.split("{}")
    of_state = column.startswith(before) and column.endswith(after)
    return column in ALL or of_state or column.startswith(OPTION)
