"""The placebo: the reference judged like a contestant.

If a method judges the placebo to differ, the method is not reliable there. Then its judgements of others
are withheld: in the tables on that network against that reference, and in the parameters on that network.
"""

from __future__ import annotations

from collections.abc import Sequence

from cambrian.report import hints
from cambrian.report.collect import Collected
from cambrian.report.tables.rows import Row

#: instead of a state if the placebo differs
WITHHELD = "no verdict: the placebo differs"


def names(collected: Collected) -> dict[tuple[str, str], str]:
    """(network, reference) → the placebo's name."""
    return {(cell.network.name, cell.names[1]): cell.subject for cell in collected.cells if cell.is_placebo}


def withhold(
    rows: Sequence[Row],
    collected: Collected,
    *,
    who: str = "contestant",
    against: str = "reference",
    within: Sequence[str] = (),
    differs: Sequence[str] = ("different",),
    column: str = "verdict",
) -> None:
    """Replace the verdicts of the rows whose placebo differs.

    Parameters:
        rows: a table's rows, with their verdict in ``column``; changed in place.
        who: the column that names the judged contestant; ``against`` names its reference.
        within: columns that a row and its placebo have in common, besides network and reference.
        differs: the verdicts that mean a difference.
    """
    placebos = names(collected)

    def is_placebo(row: Row) -> bool:
        return bool(row[who] == placebos.get((row["network"], row[against])))

    def scope(row: Row) -> tuple[object, ...]:
        return tuple(row[name] for name in ("network", against, *within))

    failed = {scope(row) for row in rows if is_placebo(row) and row[column] in differs}
    for row in rows:
        if not is_placebo(row) and scope(row) in failed:
            row[column] = WITHHELD
            hints.forget(row)
