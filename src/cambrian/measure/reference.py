"""Generate docs/reference/quantities.md from the registry."""

from __future__ import annotations

from cambrian.measure import quantities
from cambrian.measure.quantity import LEVELS, Quantity

_HEAD = """# Quantities

Every figure that is measured for a flow, and every fact of its study. They are the columns of the
*observations*: one row for each flow of each trial of a complete seed. A seed with an invalid trial
has no row, nor have the placebos of a `pairwise` study. Claims (`quantity = "throughput_mbps"`),
comparisons and charts start from them. They are kept in `RESULTS/frames/`, which can be deleted at any time.
The unit is the ending of the name. Percentages are of 100. A column without a value is null.

`cambrian quantities` lists them. `make reference` (or `cambrian quantities --markdown`) generates this page
from the registry, `src/cambrian/measure/quantities/`. A new figure is a row in its family's file there, with
its function ([add a metric](../how-to/add-a-metric.md)).
"""
_FOOT = """
Each option of any contestant has a column `option.NAME`, null for contestants without it. A state that is in
no vocabulary has a column `state.NAME_percent` if a flow was in it.
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
