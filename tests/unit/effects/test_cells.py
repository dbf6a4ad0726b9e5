"""Each cell's effect and test against hand-computed ones."""

from __future__ import annotations

import polars as pl
import pytest
import scipy.stats

from cambrian.effects.cells import cells
from cambrian.effects.errors import EffectError, NoDataError
from cambrian.effects.model import EffectSpec
from tests.unit.effects.frames import frame, row

A, B = {"contestant": "a"}, {"contestant": "b"}
FRAME = frame(
    [
        ({"rate": 4}, "a", [2.0, 4.0, 6.0]),
        ({"rate": 4}, "b", [1.0, 2.0, 6.0]),
        ({"rate": 8}, "a", [5.0, 5.0, 5.0]),
        ({"rate": 8}, "b", [10.0, 10.0, 10.0]),
        ({"rate": 16}, "a", [1.0, 2.0, 3.0]),
    ]
)


def spec(**keys: object) -> EffectSpec:
    return EffectSpec.model_validate({"part": "p", "quantity": "x", "cell": ["rate"], "a": A, "b": B, **keys})


@pytest.mark.parametrize(
    ("effect", "expected"),
    [
        ("ratio", [4 / 3, 0.5]),
        ("difference", [1.0, -5.0]),
        ("percent_less", [-100 / 3, 50.0]),
        ("percent_more", [100 / 3, -50.0]),
    ],
)
def test_effect_of_the_means_in_cells_that_both_sides_have(effect: str, expected: list[float]) -> None:
    found = cells(FRAME, spec(effect=effect))
    assert found["rate"].to_list() == [4, 8]
    assert found["effect"].to_list() == pytest.approx(expected)
    assert found["mean_a"].to_list() == [4, 5]
    assert found["mean_b"].to_list() == [3, 10]
    assert found["sd_a"].to_list() == [2, 0]
    assert found["trials_b"].to_list() == [3, 3]


def test_one_side_alone_is_its_mean_without_a_test() -> None:
    found = cells(FRAME, spec(b=None))
    assert found["effect"].to_list() == [4, 5, 2]
    assert found["p"].null_count() == found["mean_b"].null_count() == 3


def test_same_seeds_are_tested_in_pairs_and_others_by_welch() -> None:
    pairs = cells(FRAME, spec())
    assert pairs["p"][0] == pytest.approx(scipy.stats.ttest_rel([2, 4, 6], [1, 2, 6]).pvalue)
    moved = FRAME.with_columns(
        seed=pl.when(pl.col("contestant") == "b").then(pl.col("seed") + 10).otherwise("seed")
    )
    welch = cells(moved, spec())
    expected = scipy.stats.ttest_ind([2, 4, 6], [1, 2, 6], equal_var=False).pvalue
    assert welch["p"][0] == pytest.approx(expected)
    assert welch["effect"].to_list() == pairs["effect"].to_list()


def test_p_values_are_corrected_over_the_cells() -> None:
    found = cells(FRAME, spec())
    p = found["p"].to_list()
    assert p[1] == 0  # 5 and 10 without any spread
    assert found["p_bh"].to_list() == pytest.approx([p[0], 0])
    assert found["significant"].to_list() == [False, True]


def test_cells_without_spread_have_intervals_of_length_0() -> None:
    found = cells(FRAME, spec()).row(1, named=True)
    assert (found["low"], found["high"]) == (0.5, 0.5)


@pytest.mark.parametrize("trials", [1, 2])
def test_one_or_two_trials_have_no_interval(trials: int) -> None:
    found = cells(FRAME.filter(pl.col("seed") <= trials), spec())
    assert found["low"].null_count() == found["high"].null_count() == 2
    assert found["p"].null_count() == (2 if trials == 1 else 0)


def test_what_is_the_same_for_both_sides_of_a_seed_cancels() -> None:
    made = frame([({"rate": 4}, "a", [3.0, 6.0, 30.0]), ({"rate": 4}, "b", [1.0, 2.0, 10.0])])
    found = cells(made, spec()).row(0, named=True)
    assert found["low"] == pytest.approx(3) == found["high"]


@pytest.mark.parametrize(("flows", "expected"), [("mean", 2.0), ("sum", 4.0), ("min", 1.0), ("max", 3.0)])
def test_a_trials_value_is_made_of_its_flows(flows: str, expected: float) -> None:
    rows = [
        row({"rate": 4}, "a", seed, value, flow)
        for seed in (1, 2, 3)
        for flow, value in enumerate((1.0, 3.0))
    ]
    found = cells(pl.DataFrame(rows), spec(flows=flows, b=None))
    assert found["effect"].to_list() == [expected]
    assert found["trials_a"].to_list() == [3]


def test_sds_are_compared_where_asked() -> None:
    found = cells(FRAME, spec(of="sd")).row(0, named=True)
    assert found["effect"] == pytest.approx(2 / 7**0.5)  # (1, 2, 6) has a variance of 7
    assert found["p"] is None


def test_without_cell_columns_all_is_one_cell() -> None:
    found = cells(FRAME, spec(cell=[]))
    assert found.height == 1
    assert found["mean_a"].to_list() == pytest.approx([(12 + 15 + 6) / 9])
    assert "" not in found.columns


def test_a_cell_may_be_of_rows_without_a_value() -> None:
    made = frame([({"buffer": None}, "a", [1.0, 2.0]), ({"buffer": None}, "b", [2.0, 4.0])])
    found = cells(made, spec(cell=["buffer"]))
    assert found["buffer"].to_list() == [None]
    assert found["effect"].to_list() == [0.5]


def test_a_ratio_to_0_has_no_effect() -> None:
    made = frame([({"rate": 4}, "a", [1.0, 1.0, 2.0]), ({"rate": 4}, "b", [0.0, 0.0, 0.0])])
    found = cells(made, spec()).row(0, named=True)
    assert found["effect"] is None
    assert found["low"] is None


def test_what_cannot_be_computed() -> None:
    with pytest.raises(NoDataError, match="on side b"):
        cells(FRAME.filter(pl.col("contestant") == "a"), spec())
    with pytest.raises(NoDataError, match="both sides"):
        cells(FRAME.filter((pl.col("rate") == 16) | (pl.col("contestant") == "b")), spec())
    with pytest.raises(EffectError, match="no column y"):
        cells(FRAME, spec(quantity="y"))
    with pytest.raises(EffectError, match="not a number"):
        cells(FRAME, spec(quantity="contestant"))
    with pytest.raises(NoDataError, match="measured in no trial"):
        cells(FRAME.with_columns(x=pl.lit(None)), spec())
