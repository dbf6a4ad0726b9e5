"""The placebo: the reference judged as though it were a contestant.

Where a method says of the placebo that it differs, it cannot be believed there. Its judgements of others
are withheld: in the tables on that network against that reference, and in the parameters on that network.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Sequence

from cambrian.report.collect import Collected
from cambrian.report.tables.rows import Row

#: instead of a state, where the placebo differs
WITHHELD = "no verdict: the placebo differs"


def names(collected: Collected) -> dict[tuple[str, str], str]:
    """(network, reference) → the placebo's name."""
    return {(cell.network.name, cell.names[1]): cell.subject for cell in collected.cells if cell.is_placebo}


def withhold(
    rows: Sequence[Row],
    *,
    is_placebo: Callable[[Row], bool],
    differs: Sequence[str],
    scope: Callable[[Row], Hashable],
) -> None:
    """Replace the verdicts of the rows whose placebo differs.

    Parameters:
        rows: a table's rows, with their ``verdict``; changed in place.
        is_placebo: is a row the placebo's?
        differs: the verdicts that mean a difference.
        scope: what a row shares with the placebo that vouches for it, such as network and reference.
    """
    failed = {scope(row) for row in rows if is_placebo(row) and row["verdict"] in differs}
    for row in rows:
        if not is_placebo(row) and scope(row) in failed:
            row |= {"verdict": WITHHELD, "more_seeds": None}
