"""One verdict for each contestant, with the sides that it combines."""

from __future__ import annotations

from collections.abc import Mapping

import polars as pl

from cambrian.judging.findings import sentence, value_text
from cambrian.judging.sides import Side
from cambrian.judging.verdicts import Verdict, by_reason, evidence
from cambrian.metrics.parameters.definitions import PARAMETERS
from cambrian.report import judged, sides
from cambrian.report.collect import Collected
from cambrian.report.tables import rows


def table(collected: Collected, frames: Mapping[str, pl.DataFrame]) -> pl.DataFrame | None:
    """One row for each contestant that is judged, placebos included, over all networks."""
    behaviour, impact = sides.behaviour(frames), sides.impact(frames)
    found = [_row(one) for one in judged.all_verdicts(collected, behaviour=behaviour, impact=impact)]
    return pl.DataFrame(found, infer_schema_length=None) if found else None


def _row(one: Verdict) -> rows.Row:
    differing = (*one.off, *one.choices)
    return {
        "contestant": one.contestant,
        "judged_as": one.family,
        "verdict": ", ".join(one.kinds),
        "differs": one.sides.differ,
        "text": one.text,
        **_side("parameters", one.sides.parameters),
        **_side("plausibility", one.sides.plausibility),
        **_side("behaviour", one.sides.behaviour),
        **_side("impact", one.sides.impact),
        "off": ", ".join(finding.key for finding in one.off),
        "off_measured": "; ".join(
            f"{PARAMETERS[finding.key].title} {value_text(finding.measured)}" for finding in one.causes
        ),
        "other_choices": ", ".join(finding.key for finding in one.choices),
        "inconclusive": "; ".join(sentence(finding) for finding in one.open),
        "measured": one.measured,
        "settled": one.settled,
        "evidence": "; ".join(evidence(finding, one.networks[finding.key]) for finding in differing),
        "networks": "; ".join(dict.fromkeys(finding.network for finding in differing)),
        "refused": "; ".join(one.refused),
        "not_judged": "; ".join(map(str, one.unjudged)),
        "not_shown": "; ".join(f"{titles}: {why}" for titles, why in by_reason(one.missing).items()),
    }


def _side(name: str, side: Side) -> rows.Row:
    return {name: side.state, f"{name}_findings": "; ".join(side.findings)}
