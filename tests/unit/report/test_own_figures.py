"""Contestants' own figures beside their references', and what their placebo says of them."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import polars as pl
import pytest

from cambrian.report import cards, families, placebo
from cambrian.report.collect import Cell, Collected
from cambrian.report.tables import own_figures
from tests.unit.report.made import cell, collected, contestant, trial

PLACEBO = "placebo (tcp cubic)"


def beside(name: str, mbps: list[float], first_seed: int = 1) -> Cell:
    trials = [trial(seed, [one, 20 - one]) for seed, one in enumerate(mbps, first_seed)]
    return replace(cell("versus-reference", [name, "tcp cubic"], trials), is_placebo=name == PLACEBO)


def shares(*cells: Cell) -> pl.DataFrame:
    names = [one.subject for one in cells if one.subject not in (PLACEBO, "tcp cubic")]
    made: Collected = collected("versus-reference", cells, [contestant(name) for name in names])
    found = own_figures.table(made)
    assert found is not None
    return found.filter(pl.col("quantity") == "share_percent")


def test_contestants_that_differ_make_no_placebo_differ() -> None:
    """In 10 of 30 simulated pages they did, and 104 rows said "no verdict: the placebo differs"."""
    draw = np.random.default_rng(2)
    own = beside("tcp cubic", [10.0, 11.0, 9.5, 10.4, 9.2, 10.6])
    again = beside(PLACEBO, [10.2, 12.8, 9.8, 11.9, 10.1, 12.0])
    others = [beside(f"c{number}", list(14 + draw.normal(0, 0.1, 6))) for number in range(8)]
    found = shares(own, again, *others)
    alone = shares(own, again)
    mine = found.filter(pl.col("contestant") == PLACEBO).row(0, named=True)
    assert mine["p"] < 0.05
    among_all = families.corrected([1e-9] * 8 + [mine["p"]])[-1]
    assert among_all is not None and among_all < 0.05 < mine["p_corrected"]
    assert mine["p_corrected"] == pytest.approx(alone["p_corrected"][0])
    assert mine["verdict"] == "inconclusive"
    assert placebo.WITHHELD not in found["verdict"].to_list()


def test_the_seeds_of_a_comparison_are_those_that_both_sides_have() -> None:
    """A card said "10 seeds" of a difference from five pairs."""
    own = beside("tcp cubic", [10.0, 11.0, 9.5, 10.4, 9.2])
    found = shares(own, beside("x", [14.0, 14.2, 13.9, 14.3, 14.1, 13.8, 14.4, 14.0, 13.9, 14.2]))
    row = found.filter(pl.col("contestant") == "x").row(0, named=True)
    assert (row["seeds"], row["reference_seeds"], row["test"]) == (10, 5, "paired")
    assert row["compared_seeds"] == 5
    assert ", 5 seeds, " in cards._sure("Difference", row, "difference", "", 0.01, "compared_seeds")
