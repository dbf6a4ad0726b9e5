"""What a page says of its placebos."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import polars as pl
import pytest

from cambrian.report import words
from cambrian.report.tables import harm


def pairs(*names: str, idle: int = 0) -> Any:
    """A study of pairs with a placebo of each of these; the last ``idle`` of them have no valid trial."""
    cells = [
        SimpleNamespace(
            network=SimpleNamespace(name="n"),
            names=(f"placebo ({name})", name),
            subject=f"placebo ({name})",
            is_placebo=True,
            trials=("a trial",) if number < len(names) - idle else (),
        )
        for number, name in enumerate(names)
    ]
    return SimpleNamespace(design="pairwise", cells=cells)


def harms(by: str, verdict: str) -> pl.DataFrame:
    row = {"network": "n", "victim": "tcp cubic", "by": by, "service": "delay p95, ms", "verdict": verdict}
    return pl.DataFrame([row])


@pytest.mark.parametrize(
    ("by", "verdict", "count"),
    [
        ("placebo (tcp cubic)", harm.MORE, 1),
        ("placebo (tcp cubic)", harm.LESS, 1),
        ("placebo (tcp cubic)", "equivalent", 0),
        ("placebo (tcp cubic)", "inconclusive", 0),
        ("quinn cubic", harm.MORE, 0),
    ],
)
def test_a_placebo_that_harms_is_named(by: str, verdict: str, count: int) -> None:
    said = words.placebo_differs(pairs("tcp cubic"), {"harm": harms(by, verdict)})
    assert len(said) == count
    assert all("Harm to tcp cubic in delay p95, ms is not judged on n" in text for text in said)


@pytest.mark.parametrize("by", ["placebo (tcp cubic)", "quinn cubic"])
def test_what_a_placebo_withholds_in_other_tables_is_named(by: str) -> None:
    """Rows said "no verdict: the placebo differs", and the lead that no placebo does."""
    place = {"network": "n", "contestant": by, "reference": "tcp cubic", "verdict": "different"}
    own = pl.DataFrame([place | {"quantity": "delay_p50_ms"}])
    methods = pl.DataFrame(
        [place | {"method": method, "verdict_t": "inconclusive"} for method in ("imc22", "clustered")]
    )
    said = words.placebo_differs(pairs("tcp cubic"), {"own_figures": own, "envelope_methods": methods})
    assert said == (
        [
            "Not compared, because the placebo differs there: median queueing delay beside tcp cubic on n "
            "and envelopes by clustered beside tcp cubic on n."
        ]
        if by.startswith("placebo")
        else []
    )


@pytest.mark.parametrize(
    ("names", "begins"),
    [
        (("tcp cubic",), "The placebo (kernel"),
        (("tcp cubic", "tcp reno"), "Neither placebo (kernel"),
        (("tcp cubic", "tcp reno", "tcp bbr"), "None of the 3 placebos (kernel"),
    ],
)
def test_placebos_that_hold_are_counted(names: tuple[str, ...], begins: str) -> None:
    assert words.placebo_holds(pairs(*names)).startswith(begins)


@pytest.mark.parametrize(
    ("count", "idle", "says"),
    [
        (1, 1, "The placebo (…) has no valid trial: this study has not tested itself."),
        (2, 2, "All 2 placebos (…) have no valid trial: this study has not tested itself."),
        (2, 1, "1 of 2 placebos (…) has no valid trial; the other does not clearly differ."),
        (4, 2, "2 of 4 placebos (…) have no valid trial; none of the others clearly differs."),
    ],
)
def test_a_placebo_without_a_valid_trial_does_not_hold(count: int, idle: int, says: str) -> None:
    said = words.placebo_holds(pairs(*"abcd"[:count], idle=idle))
    assert said == says.replace("(…)", "(kernel TCP against itself, judged like a contestant)")


def test_a_study_without_placebos_says_nothing_of_them() -> None:
    assert not words.placebo_holds(pairs())
