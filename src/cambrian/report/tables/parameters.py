"""Each contestant's parameters as measured from its traces, compared with the expected values."""

from __future__ import annotations

import polars as pl

from cambrian.judging import references
from cambrian.judging.contestants import Judged
from cambrian.judging.findings import is_unknown, reference_text, value_text
from cambrian.metrics.parameters.definitions import PARAMETERS
from cambrian.metrics.parameters.estimate import Measured
from cambrian.report import judged
from cambrian.report.collect import Collected
from cambrian.report.tables import rows


def table(collected: Collected) -> pl.DataFrame | None:
    """One row for each network, contestant, parameter and source (its window, or packets only).

    ``low`` to ``high`` is the 95 % interval, with the method's resolution. ``of_trials``: the trials that
    differ from each other; ``trials``: those of them that show the parameter. ``status`` is set for the
    source that judges the parameter, and null for the other one; ``why`` is the reason of an inconclusive
    status, and ``confirmed_on`` the network that confirms a difference of one trial. A parameter that the
    traces cannot show has a row with only ``why``. One whose interval contains every possible value has
    neither value nor interval.
    """
    table_rows = []
    for (contestant, network), judgement in judged.by_network(collected).items():
        place = {"network": network, "contestant": contestant}
        table_rows += [place | _row(measured, judgement) for measured in judgement.both]
        table_rows += [place | _nothing(name, why) for name, why in judgement.missing.items()]
    return pl.DataFrame(table_rows, infer_schema_length=None) if table_rows else None


def _row(measured: Measured, one: Judged) -> rows.Row:
    judged_by = next((finding for finding in one.findings if finding.key == measured.parameter), None)
    finding = judged_by if judged_by is not None and judged_by.measured == measured else None
    # some values follow from others, as CUBIC's α from its β: the one that was judged by, if there is one
    own = judged_by.reference if judged_by is not None else None
    reference = own or references.for_family(one.family).get(measured.parameter)
    known = not is_unknown(measured)
    return {
        "parameter": measured.parameter,
        "title": PARAMETERS[measured.parameter].title,
        "source": measured.source,
        "value": measured.value if known else None,
        "low": measured.low if known else None,
        "high": measured.high if known else None,
        "label": measured.label,
        "shown": value_text(measured),
        "trials": measured.trials,
        "of_trials": measured.of_trials,
        "events": measured.events,
        "agreement": measured.agreement,
        "should_be": reference_text(reference) if reference else None,
        "status": finding.status if finding else None,
        "level": reference.level if reference else None,
        "by": reference.source if reference else None,
        "why": (finding.why or one.refused or None) if finding else None,
        "confirmed_on": (finding.confirmed_on or None) if finding else None,
    }


def _nothing(name: str, why: str) -> rows.Row:
    row: rows.Row = dict.fromkeys(_MEASURED)
    return {"parameter": name, "title": PARAMETERS[name].title, **row, "why": why}


def _judgement(row: rows.Row) -> str:
    return f"{row['status']}: {row['why']}" if row["why"] else str(row["status"])


_MEASURED = (
    "source", "value", "low", "high", "label", "shown", "trials", "of_trials", "events", "agreement",
    "should_be", "status", "level", "by", "confirmed_on",
)  # fmt: skip


def _measured(row: rows.Row) -> str:
    return row["shown"] or f"not shown: {row['why']}"
