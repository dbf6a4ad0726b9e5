"""docs/reference/quantities.md, made from the registry."""

from __future__ import annotations

from cambrian.measure import quantities
from cambrian.measure.quantity import LEVELS, Quantity

_HEAD = """# Quantities

Every figure that is measured of a flow, and every fact of its study beside it. They are the columns
of the *observations*: one row a flow of each valid trial, which claims (`quantity = "throughput_mbps"`),
comparisons and charts start from, kept in `RESULTS/frames/` (which may be removed at any time). The unit is
at the end of the name; percentages are of 100; a column that has nothing to say is null.

`cambrian quantities` lists them, and made this page (`--markdown`) from the registry,
`src/cambrian/measure/quantities/`. A new figure is a row in its family's file there, with its function.
"""
_FOOT = """
`option.NAME` is a column for each option of any contestant, null for those without it. A state that no
vocabulary has gets a column `state.NAME_percent` where a flow was in one.
"""


def page() -> str:
    """The page as Markdown."""
    parts = [_HEAD]
    for family in quantities.FAMILIES:
        title = (family.__doc__ or "").strip().splitlines()[0].rstrip(".")
        parts.append(
            f"\n## {title}\n\n| quantity | unit | of | meaning | defined in |\n|---|---|---|---|---|\n"
        )
        parts += [_row(one) for one in family.QUANTITIES]
    return "".join([*parts, _FOOT])


def _row(one: Quantity) -> str:
    unit = one.unit or {"Boolean": "true or false", "String": "text"}.get(str(one.dtype), "")
    formula = f"[{one.formula}](metrics.md)" if one.formula else ""
    return f"| `{one.name}` | {unit} | {LEVELS[one.level]} | {one.meaning} | {formula} |\n"
