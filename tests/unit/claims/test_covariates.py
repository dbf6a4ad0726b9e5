"""The releases that a figure is of: those of the rows that it was made from, and no others."""

from __future__ import annotations

import polars as pl

from cambrian.claims.covariates import versions
from cambrian.effects.model import EffectSpec

ROWS = pl.DataFrame(
    {
        "contestant": ["a", "a", "b", "c"],
        "stack": ["quinn", "quinn", "tcp", "kwik"],
        "stack_version": ["0.11", "0.11", "guest kernel", "0.10"],
        "cca": ["bbr", "bbr", "cubic", "reno"],
        "kernel_version": ["7.3.4"] * 4,
        "loss_percent": [0.0, 1.0, 1.0, 0.0],
    }
)


def spec(**keys: object) -> EffectSpec:
    return EffectSpec.model_validate({"part": "s/p", "quantity": "x", **keys})


def test_both_sides_are_named_once_and_the_kernel_last() -> None:
    found = versions(ROWS, spec(a={"contestant": "a"}, b={"contestant": "b"}))
    assert found == ("quinn 0.11 bbr", "tcp guest kernel cubic", "Linux 7.3.4")


def test_a_side_without_conditions_is_all_rows() -> None:
    found = versions(ROWS, spec(b={"contestant": "b"}))
    assert found == ("kwik 0.10 reno", "quinn 0.11 bbr", "tcp guest kernel cubic", "Linux 7.3.4")


def test_what_the_condition_leaves_out_is_not_named() -> None:
    assert versions(ROWS, spec(where={"loss_percent": 0}))[:-1] == ("kwik 0.10 reno", "quinn 0.11 bbr")


def test_a_stack_without_a_version_has_its_name_alone() -> None:
    unknown = ROWS.with_columns(stack_version=pl.lit(None, pl.String), kernel_version=pl.lit(None, pl.String))
    assert versions(unknown, spec(a={"contestant": "c"})) == ("kwik reno",)


def test_a_table_without_releases_has_none() -> None:
    assert versions(pl.DataFrame({"x": [1.0]}), spec()) == ()
