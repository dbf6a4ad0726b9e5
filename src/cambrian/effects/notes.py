"""What a verdict is not about: cells that are left out, and listed values without a trial."""

from __future__ import annotations

from collections.abc import Sequence

from cambrian.effects.model import Scalar
from cambrian.effects.prepare import Partial, Prepared
from cambrian.effects.summary import Estimate


def cut(found: Estimate | Prepared) -> str:
    """How many cells are left out because transfers, page loads or seeds were not complete; empty if none."""
    said = []
    if found.cells_cut:
        said.append(
            "cells left out because not all of their transfers or page loads were complete: "
            f"{found.cells_cut} ({found.not_complete} not complete)"
        )
    if found.cells_without_seed:
        said.append(
            "cells left out because no seed has a value in each of their groups and trials: "
            f"{found.cells_without_seed}"
        )
    return "; ".join(said)


def only_at(partial: Sequence[Partial]) -> str:
    """``only at rate_mbps = 5: no trials at 1 and 10`` for each list; empty if all values have trials."""
    return "; ".join(map(_only_at, partial))


def of_part(found: Estimate) -> str:
    """Why a count, a minimum or a maximum of a part of the listed values is open; else empty."""
    said = (
        "only a part of the listed values has trials, so the count, the minimum or the maximum of all may be "
        "another"
    )
    return said if found.of_part else ""


def _only_at(one: Partial) -> str:
    if not one.there:
        # side a has some of the values, and side b others
        return f"no trials of both sides at the same {one.column}"
    return f"only at {one.column} = {_listed(one.there)}: no trials at {_listed(one.absent)}"


def _listed(values: Sequence[Scalar]) -> str:
    *others, last = (f"{one:g}" if isinstance(one, float) else str(one) for one in values)
    return f"{', '.join(others)} and {last}" if others else last
