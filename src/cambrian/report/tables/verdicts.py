"""One verdict a contestant: conformant, off by a parameter, or another algorithm."""

from __future__ import annotations

import polars as pl

from cambrian.judging.verdicts import evidence
from cambrian.report import judged
from cambrian.report.collect import Collected

#: place among the tables
ORDER = 5


def table(collected: Collected) -> pl.DataFrame | None:
    """One row a contestant that is judged against something; all networks together."""
    found = [
        {
            "contestant": one.contestant,
            "judged_as": one.family,
            "verdict": one.kind,
            "text": one.text,
            "off": ", ".join(finding.key for finding in one.off),
            "other_choices": ", ".join(finding.key for finding in one.choices),
            "measured": one.measured,
            "evidence": "; ".join(evidence(finding) for finding in (*one.off, *one.choices)),
            "networks": "; ".join(dict.fromkeys(finding.network for finding in (*one.off, *one.choices))),
            "not_shown": "; ".join(f"{name}: {why}" for name, why in one.missing.items()),
        }
        for one in judged.all_verdicts(collected)
    ]
    return pl.DataFrame(found, infer_schema_length=None) if found else None
