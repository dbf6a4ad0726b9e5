"""Each cell's effect and test against hand-computed ones."""

from __future__ import annotations

import polars as pl
import pytest
import scipy.stats
from hypothesis import given, settings
from hypothesis import strategies as st

from cambrian.effects.cells import cells
from cambrian.effects.errors import EffectError, NoDataError, NotCompleteError, UndefinedError
from cambrian.effects.model import EffectSpec
from cambrian.effects.prepare import prepare
from cambrian.stats import jackknife, states
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


def test_same_seeds_are_tested_in_pairs() -> None:
    pairs = cells(FRAME, spec(effect="difference"))
    assert pairs["p"][0] == pytest.approx(scipy.stats.ttest_rel([2, 4, 6], [1, 2, 6]).pvalue)
    assert pairs["test"][0] == "paired"


VALUES = st.lists(st.floats(1, 9), min_size=6, max_size=6)


@given(VALUES, VALUES, st.integers(0, 6), st.sampled_from(["difference", "ratio", "percent_more"]))
@settings(max_examples=80, deadline=None)
def test_the_test_and_the_interval_agree_if_the_sides_have_different_seeds(
    a: list[float], b: list[float], apart: int, effect: str
) -> None:
    """The test was of the common seeds or Welch's, and the interval of all seeds left out once."""
    made = frame([({"rate": 4}, "a", a), ({"rate": 4}, "b", b)])
    moved = pl.when(pl.col("contestant") == "b").then(pl.col("seed") + apart).otherwise("seed")
    found = cells(made.with_columns(seed=moved), spec(effect=effect)).row(0, named=True)
    assert found["test"] == ("jackknife" if apart else "paired")
    if found["p"] is not None and abs(found["p"] - 0.05) > 1e-6:
        null = 1 if effect == "ratio" else 0
        assert (found["p"] < 0.05) == (not found["low"] <= null <= found["high"])


@given(VALUES, st.floats(1, 9))
@settings(max_examples=40, deadline=None)
def test_a_cell_of_fewer_seeds_than_others_has_the_interval_of_its_own(
    values: list[float], null: float
) -> None:
    """It was up to 22 % too wide, and the interval of a p below 0.05 could hold the null."""
    few = dict(enumerate(values[:3], start=1))
    made = frame([({"rate": 4}, "a", list(few.values())), ({"rate": 8}, "a", [*values, *values])])
    nulls = pl.DataFrame({"rate": [4, 8], "null": [null, null]})
    found = cells(made.rename({"x": "share_percent"}).with_columns(flows=2),
                  spec(quantity="share_percent", b=None), nulls).row(0, named=True)  # fmt: skip
    wanted = jackknife.mean(few, "percent")
    assert (found["low"], found["high"]) == pytest.approx((wanted.low, wanted.high))
    if found["p"] is not None and abs(found["p"] - 0.05) > 1e-6:
        assert (found["p"] < 0.05) == (not found["low"] <= null <= found["high"])
    # two sides of the same seeds
    sides = pl.concat(
        [made, made.with_columns(pl.col("x") + null + pl.col("seed") / 7, contestant=pl.lit("b"))]
    )
    alone = cells(sides.filter(rate=4), spec()).row(0, named=True)
    beside = cells(sides, spec()).row(0, named=True)
    assert [beside[name] for name in ("low", "high", "p")] == pytest.approx(
        [alone[name] for name in ("low", "high", "p")]
    )


def test_sides_of_different_seeds_that_do_not_vary_are_the_same_in_every_seed() -> None:
    moved = pl.when(pl.col("contestant") == "b").then(pl.col("seed") + 10).otherwise("seed")
    for effect in ("difference", "ratio"):
        found = cells(FRAME.with_columns(seed=moved), spec(effect=effect)).row(1, named=True)
        assert (found["p"], found["state"]) == (None, states.SAME)


SURE = [({"rate": 2}, "a", [5.0, 5.1, 4.9]), ({"rate": 2}, "b", [10.0, 10.2, 10.1])]


def test_p_values_are_corrected_over_the_cells_and_make_the_state() -> None:
    found = cells(pl.concat([FRAME, frame(SURE)]), spec())
    assert found["rate"].to_list() == [2, 4, 8]
    p = found["p"].to_list()
    # 5 and 10 without any spread are not tested
    assert p[2] is None
    assert found["p_bh"].to_list()[:2] == pytest.approx(scipy.stats.false_discovery_control(p[:2]))
    assert found["state"].to_list() == ["different", "inconclusive", states.SAME]


@given(st.lists(st.tuples(st.floats(1, 9), st.floats(1, 9)), min_size=3, max_size=6), st.booleans())
@settings(max_examples=60, deadline=None)
def test_the_test_and_the_interval_of_a_cell_agree(values: list[tuple[float, float]], ratio: bool) -> None:
    made = frame([({"rate": 4}, "a", [a for a, _ in values]), ({"rate": 4}, "b", [b for _, b in values])])
    found = cells(made, spec(effect="ratio" if ratio else "percent_less")).row(0, named=True)
    null = 1 if ratio else 0
    if found["p"] is not None and abs(found["p"] - 0.05) > 1e-6:
        assert (found["p"] < 0.05) == (not found["low"] <= null <= found["high"])


def test_equivalent_is_an_interval_within_the_margin() -> None:
    made = frame([({"rate": 4}, "a", [1.0, 1.001, 1.002, 1.0]), ({"rate": 4}, "b", [1.0, 1.0, 1.001, 1.0])])
    assert cells(made, spec())["state"].to_list() == ["equivalent"]


def test_a_share_is_tested_against_an_equal_one() -> None:
    made = frame(
        [
            ({"rate": 4, "flows": 2}, "a", [70.0, 71.0, 72.0, 69.0]),
            ({"rate": 8, "flows": 4}, "a", [25.0, 26.0, 24.0, 25.2]),
            ({"rate": 16, "flows": 2}, "a", [20.0, 90.0, 50.0, 70.0]),
            ({"rate": 32, "flows": 2}, "a", [50.0, 50.0, 50.0, 50.0]),
        ]
    )
    keys = made.select("rate", "flows").unique()
    nulls = keys.with_columns(pl.when(pl.col("rate") < 32).then(100 / pl.col("flows")).alias("null"))
    found = cells(made, spec(b=None, cell=["rate", "flows"]), nulls)
    assert found["state"].to_list() == ["different", "equivalent", "inconclusive", None]
    assert found["p"].null_count() == 1
    low, high = found["low"].to_list(), found["high"].to_list()
    assert all(0 < one < other < 100 for one, other in zip(low[:3], high[:3], strict=True))


def test_the_margin_of_a_share_is_a_tenth_of_an_equal_one() -> None:
    """A share of 0.25 instead of 5 of 100 was within 5 points, and so equivalent."""
    shares = {"starved": 0.25, "small": 4.6, "large": 5.4, "too large": 5.6, "nearly all": 94.0}
    made = frame([({"rate": 4}, name, [share, share + 0.01, share - 0.01]) for name, share in shares.items()])
    keys = made.select("contestant").unique()
    equal = pl.when(pl.col("contestant") == "nearly all").then(95.0).otherwise(5.0)
    found = cells(made, spec(a={}, b=None, cell=["contestant"]), keys.with_columns(equal.alias("null")))
    states_of = dict(found.select("contestant", "state").iter_rows())
    assert [states_of[name] for name in shares] == [
        "different", "equivalent", "equivalent", "different", "different"
    ]  # fmt: skip


def test_the_orders_of_a_seed_are_one_value() -> None:
    """A mirrored pair of trials of one seed counts once, by its mean."""
    rows = [
        row({"rate": 4}, "a", seed, value) | {"trial": f"{seed}-{order}"}
        for seed in (1, 2, 3)
        for order, value in enumerate((10.0, 20.0 + seed))
    ]
    found = cells(pl.DataFrame(rows), spec(b=None)).row(0, named=True)
    assert (found["seeds"], found["trials_a"]) == (3, 6)
    assert (found["mean_a"], found["sd_a"]) == (16, 0.5)


def test_a_seed_counts_only_if_each_group_of_its_cell_has_it() -> None:
    """The mean over two rivals was that of one rival in the seeds which the other one lacked."""
    rivals = {"fair": [80.0, 81, 79, 80, 82], "fierce": [20.0, 19, 21]}
    rows = [
        row({"rate": 4, "group": rival}, "a", seed, value)
        for rival, values in rivals.items()
        for seed, value in enumerate(values, start=1)
    ]
    for cell in (["rate"], []):
        found = cells(pl.DataFrame(rows), spec(b=None, cell=cell)).row(0, named=True)
        assert (found["effect"], found["seeds"], found["trials_a"]) == (50, 3, 6)
    apart = cells(pl.DataFrame(rows), spec(b=None, cell=["group"]))
    assert apart["seeds"].to_list() == [5, 3]
    assert prepare(pl.DataFrame(rows), spec(b=None)).left_out == 2
    # no seed of both rivals
    apart = pl.DataFrame(rows[:1] + rows[-1:])
    with pytest.raises(UndefinedError, match="no seed has x"):
        cells(apart, spec(b=None))
    both = prepare(
        pl.concat([pl.DataFrame(rows), apart.with_columns(rate=pl.lit(8, pl.Int64))]), spec(b=None)
    )
    assert (both.keys["rate"].to_list(), both.cells_without_seed, both.left_out) == ([4], 1, 4)


def test_cells_without_spread_have_intervals_of_length_0() -> None:
    found = cells(FRAME, spec()).row(1, named=True)
    assert (found["low"], found["high"]) == (0.5, 0.5)


@pytest.mark.parametrize("trials", [1, 2])
def test_one_or_two_trials_have_no_interval(trials: int) -> None:
    found = cells(FRAME.filter(pl.col("seed") <= trials), spec())
    assert found["low"].null_count() == found["high"].null_count() == 2
    assert found["p"].null_count() == 2


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
    with pytest.raises(NoDataError, match="measured in no trial of side a"):
        cells(FRAME.with_columns(x=pl.lit(None)), spec())


def loads(late: dict[tuple[int, str], int]) -> pl.DataFrame:
    """FRAME as page load times; ``late``: (rate, contestant) → loads that were not complete."""
    where = pl.struct("rate", "contestant").map_elements(
        lambda key: late.get((key["rate"], key["contestant"]), 0), return_dtype=pl.Int64
    )
    group = pl.format("{}/{}", "rate", "contestant")
    return FRAME.with_columns(
        pl.col("x").alias("plt_ms"), where.alias("not_complete"), group.alias("group"), page=pl.lit("news")
    )


@pytest.mark.parametrize("side", ["a", "b"])
def test_a_cell_with_a_load_that_was_not_complete_has_no_mean_time(side: str) -> None:
    assert cells(loads({}), spec(quantity="plt_ms")).height == 2
    # 16 has no cell anyway: side b did not run there
    late = loads({(8, side): 2, (16, "a"): 1})
    assert cells(late, spec(quantity="plt_ms"))["rate"].to_list() == [4]
    assert cells(late, spec(quantity="x"))["rate"].to_list() == [4, 8]


def test_no_cell_has_a_mean_time_if_each_has_a_load_that_was_not_complete() -> None:
    late = loads({(8, "a"): 2, (4, "b"): 1})
    with pytest.raises(NotCompleteError, match=r"not complete at their trial's end \(3\)"):
        cells(late, spec(quantity="plt_ms"))
    with pytest.raises(NotCompleteError):
        cells(loads({(8, "a"): 1}), spec(quantity="plt_ms", cell=[]))


def test_a_cell_in_which_no_load_was_complete_is_left_out_because_of_it() -> None:
    late = loads({(8, "b"): 3})
    none = late.with_columns(
        plt_ms=pl.when((pl.col("rate") != 8) | (pl.col("contestant") == "a")).then("plt_ms")
    )
    found = prepare(none, spec(quantity="plt_ms"))
    assert (found.keys["rate"].to_list(), found.cells_cut, found.not_complete) == ([4], 1, 3)
    with pytest.raises(NotCompleteError):
        prepare(none.filter(pl.col("rate") == 8), spec(quantity="plt_ms"))


def test_only_cells_that_are_left_out_count_and_a_late_load_concerns_the_whole_group() -> None:
    late = loads({(8, "b"): 2, (16, "a"): 100})
    found = prepare(late, spec(quantity="plt_ms"))
    assert (found.cells_cut, found.not_complete) == (1, 2), "only side a ran at 16"
    # no cell is left that both sides have
    apart = late.filter((pl.col("rate") == 8) | (pl.col("contestant") == "a"))
    with pytest.raises(NotCompleteError, match=r"\(2\)"):
        prepare(apart, spec(quantity="plt_ms"))
    # the other flow of the group loaded its pages in the same trials
    beside = late.with_columns(flow=1, group=pl.format("{}/both", "rate"))
    first = beside.with_columns(flow=0, not_complete=pl.lit(0, pl.Int64), group=pl.format("{}/both", "rate"))
    both = prepare(pl.concat([first, beside]), spec(quantity="plt_ms", where={"flow": 0}))
    assert (both.keys["rate"].to_list(), both.not_complete) == ([4], 2)
    transfers = pl.concat([first, beside]).with_columns(
        page=pl.lit(None, pl.String), fetch_s=pl.col("plt_ms")
    )
    assert prepare(transfers, spec(quantity="fetch_s", where={"flow": 0})).cells_cut == 0
