"""The placebo: the reference judged like a contestant.

If a method judges the placebo to differ, the method is not reliable there. Then its judgements of others
are withheld: in the tables on that network against that reference, and in the parameters on that network.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Sequence

from cambrian.report.collect import Collected
from cambrian.report.tables.rows import Row

#: instead of a state if the placebo differs
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
    column: str = "verdict",
) -> None:
    """Replace the verdicts of the rows whose placebo differs.

    Parameters:
        rows: a table's rows, with their verdict in ``column``; changed in place.
        is_placebo: whether a row is the placebo's.
        differs: the verdicts that mean a difference.
        scope: a key that a row shares with its placebo, such as network and reference.
    """
    failed = {scope(row) for row in rows if is_placebo(row) and row[column] in differs}
    for row in rows:
        if not is_placebo(row) and scope(row) in failed:
            row[column] = WITHHELD
            if "more_seeds" in row:
                row["more_seeds"] = None
