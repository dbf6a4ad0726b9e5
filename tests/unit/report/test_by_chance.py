"""Where chance decides who takes the link, few trials that agree accuse nobody."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import polars as pl
import pytest

from cambrian.report import blocks
from cambrian.report.collect import Cell
from cambrian.report.tables import harm, own_figures
from tests.unit.report.made import cell, collected, contestant, trial


def pair(name: str, mbps: Sequence[tuple[float, float]]) -> Cell:
    """Beside the reference on 20 Mbps: the first flow's throughput in both orders, for each seed."""
    trials = []
    for seed, (first, second) in enumerate(mbps, 1):
        exchanged = trial(seed, [second, 20 - second])
        spec = exchanged.trial.model_copy(update={"positions": (1, 0)})
        trials += [trial(seed, [first, 20 - first]), replace(exchanged, trial=spec)]
    return cell("versus-reference", [name, "tcp cubic"], trials)


#: the reference's own pairs: each trial, and the same one with the flows exchanged
DECIDED_BY_CHANCE = [(18.0, 2.0), (2.2, 17.8), (18.1, 1.9)]
#: the same where a seed's two trials are no copies: a real clock
NO_COPIES = [(18.0, 18.0), (2.2, 2.0), (18.1, 17.9)]
STEADY = [(10.2, 9.8), (10.1, 9.9), (10.3, 9.7)]


@pytest.mark.parametrize(
    ("own", "harms", "differs"),
    [
        (DECIDED_BY_CHANCE, "inconclusive", "inconclusive"),
        (NO_COPIES, "inconclusive", "inconclusive"),
        (STEADY, harm.MORE, "different"),
    ],
)
def test_a_contestant_that_wins_each_trial(own: list[tuple[float, float]], harms: str, differs: str) -> None:
    """Of six such contestants one was accused in 18 % of studies with three seeds."""
    wins = [(18.0, 18.1), (18.2, 18.0), (18.0, 18.0)]
    groups = [pair("tcp cubic", own), pair("x", wins), pair("y", [(18, 2.1), (2.2, 18), (1.9, 18)])]
    made = collected("versus-reference", groups, [contestant("x"), contestant("y")])
    harmed = harm.table(made)
    shares = own_figures.table(made)
    assert harmed is not None and shares is not None
    (row,) = [row for row in harmed.to_dicts() if row["by"] == "x" and row["service"].startswith("through")]
    (share,) = shares.filter(pl.col("contestant") == "x", pl.col("quantity") == "share_percent").to_dicts()
    assert (row["verdict"], share["verdict"]) == (harms, differs)
    if harms == "inconclusive":
        assert row["settles_as"] == harm.MORE and row["more_seeds"] >= 1
        assert share["settles_as"] == "different"


def test_a_share_that_chance_may_give_needs_many_more_seeds() -> None:
    """One more seed "settled" a p of 0.58."""
    groups = [pair("tcp cubic", DECIDED_BY_CHANCE), pair("x", [(12.0, 12.1), (12.2, 12.0), (12.0, 12.0)])]
    made = collected("versus-reference", groups, [contestant("x")])
    shares, harmed = own_figures.table(made), harm.table(made)
    assert shares is not None and harmed is not None
    (share,) = shares.filter(pl.col("quantity") == "share_percent").to_dicts()
    (row,) = [row for row in harmed.to_dicts() if row["by"] == "x" and row["service"].startswith("through")]
    assert share["verdict"] == row["verdict"] == "inconclusive"
    assert share["p"] == pytest.approx(row["p"]) and share["p"] > 0.5
    assert share["more_seeds"] > 30 and row["more_seeds"] > 30


def test_the_scatter_is_that_of_seeds_in_one_position() -> None:
    """Who starts first makes no scatter, and a copy of a trial adds no trial."""
    once = {(seed, 0): [value] for seed, value in enumerate([1.0, 2.0, 3.0])}
    both = once | {(seed, 1): [value] for seed, value in enumerate([11.0, 12.0, 13.0])}
    copies = {place: [*values, *values] for place, values in both.items()}
    assert blocks.scatter(once) == pytest.approx(1)
    assert blocks.scatter(both) == pytest.approx(1)
    assert blocks.scatter(copies) == pytest.approx(1)
    assert blocks.scatter({(1, 0): [5.0]}) is None
