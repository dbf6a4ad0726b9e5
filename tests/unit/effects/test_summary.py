"""One figure of all cells: hand-computed, its symmetries, and how often its interval is right."""

from __future__ import annotations

import math
import time
from collections.abc import Sequence

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from cambrian.effects import replicate
from cambrian.effects.cells import cells
from cambrian.effects.errors import EffectError, NoDataError, UndefinedError
from cambrian.effects.model import SummarySpec
from cambrian.effects.prepare import Prepared, Side, prepare
from cambrian.effects.summary import cell_seeds, cells_on_scale, estimate, summary
from cambrian.measure import quantities
from cambrian.stats import jackknife
from cambrian.stats.scale import Scale
from tests.unit.effects.frames import frame, row

A, B = {"contestant": "a"}, {"contestant": "b"}


def spec(**keys: object) -> SummarySpec:
    base = {"part": "p", "quantity": "x", "cell": ["rate"], "a": A, "b": B}
    return SummarySpec.model_validate({**base, **keys})


#: ratios 2, 0.5 and 4 at rates 4, 8 and 16
THREE = frame(
    [
        ({"rate": 4}, "a", [2.0, 2.0, 2.0]),
        ({"rate": 4}, "b", [1.0, 1.0, 1.0]),
        ({"rate": 8}, "a", [2.0, 2.0, 2.0]),
        ({"rate": 8}, "b", [4.0, 4.0, 4.0]),
        ({"rate": 16}, "a", [4.0, 4.0, 4.0]),
        ({"rate": 16}, "b", [1.0, 1.0, 1.0]),
    ]
)


@pytest.mark.parametrize(
    ("keys", "expected"),
    [
        ({}, 4 ** (1 / 3)),
        ({"over": "mean"}, 6.5 / 3),
        ({"over": "median"}, 2),
        ({"over": "min"}, 0.5),
        ({"over": "max"}, 4),
        ({"effect": "difference"}, (1 - 2 + 3) / 3),
        ({"over": "share", "threshold": 1}, 200 / 3),
        ({"over": "share", "threshold": 1, "beyond": "below"}, 100 / 3),
        ({"over": "share", "threshold": 2}, 100 / 3),
        # slopes (0.5 - 2)/4, (4 - 0.5)/8, (4 - 2)/12
        ({"over": "slope", "along": "rate"}, 1 / 6),
        ({"over": "steps", "along": "rate", "step": "falls"}, 50),
        ({"over": "steps", "along": "rate", "step": "rises"}, 50),
        ({"over": "best", "along": "rate", "at": 16}, 2),
        ({"over": "best", "along": "rate", "at": 8}, -3.5),
        ({"over": "best", "along": "rate", "at": 8, "beyond": "below"}, -1.5),
    ],
)
def test_figures_of_three_cells(keys: dict[str, object], expected: float) -> None:
    found = summary(THREE, spec(**keys))
    assert found.estimate == pytest.approx(expected)
    # nothing varies, so nothing is uncertain
    assert (found.low, found.high) == pytest.approx((expected, expected))
    assert (found.cells, found.trials, found.seeds) == (3, 18, 3)


def test_what_goes_along_a_column_is_averaged_over_the_others() -> None:
    made = frame(
        [
            ({"rate": rate, "rtt": rtt}, "a", [value] * 3)
            for rate, rtt, value in [(4, 10, 1.0), (4, 20, 3.0), (8, 10, 5.0), (8, 20, 4.0)]
        ]
    )
    keys = {"cell": ["rate", "rtt"], "b": None}
    assert summary(made, spec(over="slope", along="rtt", **keys)).estimate == pytest.approx((0.2 - 0.1) / 2)
    assert summary(made, spec(over="best", along="rtt", at=20, **keys)).estimate == pytest.approx(0.5)
    steps = summary(made, spec(over="steps", along="rtt", step="falls", **keys))
    assert steps.estimate == 50


def test_trials_and_cells_without_a_figure_are_left_out_and_counted() -> None:
    made = frame(
        [
            ({"rate": 4}, "a", [2.0, 2.0, None]),
            ({"rate": 4}, "b", [1.0, 1.0, math.nan]),
            ({"rate": 8}, "a", [1.0, 1.0, 1.0]),
            ({"rate": 8}, "b", [0.0, 0.0, 0.0]),
        ]
    )
    found = summary(made, spec())
    assert found.estimate == pytest.approx(2)
    assert (found.trials_left_out, found.cells_left_out, found.cells) == (2, 1, 1)


@pytest.mark.parametrize(("trials", "said"), [(1, "one seed a cell"), (2, "2 seeds a cell")])
def test_one_or_two_trials_give_a_figure_without_an_interval(trials: int, said: str) -> None:
    found = summary(THREE.filter(pl.col("seed") <= trials), spec())
    assert found.low is None is found.high
    assert said in found.reason


VALUES = st.lists(st.floats(0.5, 20), min_size=4, max_size=4)


@settings(max_examples=40, deadline=None)
@given(st.lists(VALUES, min_size=1, max_size=4))
def test_a_frame_against_itself_has_the_ratio_1(values: list[list[float]]) -> None:
    made = frame([({"rate": rate}, "a", one) for rate, one in enumerate(values)])
    found = summary(made, spec(b=A))
    assert found.estimate == pytest.approx(1)
    assert (found.low, found.high) == pytest.approx((1, 1))


@settings(max_examples=40, deadline=None)
@given(st.lists(st.tuples(VALUES, VALUES), min_size=1, max_size=4))
def test_swapping_the_sides_inverts_a_ratio_and_its_interval(
    values: list[tuple[list[float], list[float]]],
) -> None:
    made = frame(
        [
            ({"rate": rate}, side, one)
            for rate, pair in enumerate(values)
            for side, one in zip("ab", pair, strict=True)
        ]
    )
    found, swapped = summary(made, spec()), summary(made, spec(a=B, b=A))
    assert found.low is not None and found.high is not None
    assert swapped.low is not None and swapped.high is not None
    assert swapped.estimate == pytest.approx(1 / found.estimate)
    assert swapped.low == pytest.approx(1 / found.high)
    assert swapped.high == pytest.approx(1 / found.low)


@settings(max_examples=40, deadline=None)
@given(
    st.lists(VALUES, min_size=1, max_size=4),
    st.sampled_from(["mean", "median", "min", "max", "geometric_mean"]),
)
def test_the_estimate_lies_in_its_interval_whatever_the_rows_order(
    values: list[list[float]], over: str
) -> None:
    made = frame([({"rate": rate}, "a", one) for rate, one in enumerate(values)])
    found = summary(made, spec(b=None, over=over))
    assert found.low is not None and found.high is not None
    assert found.low <= found.estimate <= found.high
    assert summary(made.reverse(), spec(b=None, over=over)) == found


def grid(rng: np.random.Generator, cells: int, seeds: int, luck: float) -> Prepared:
    """Ratio 1.2 in each cell, SD 10 %; ``luck`` is the SD of what a seed does to all cells at once."""
    sides = []
    for level in (1.2, 1.0):
        noise = 0.1 * rng.normal(size=(seeds, cells)) + luck * rng.normal(size=(seeds, 1))
        values = level * (1 + np.arange(cells)) * (1 + noise)
        trials = np.full(cells, float(seeds))
        sides.append(Side(values, trials))
    keys = pl.DataFrame({"rate": np.arange(cells)})
    return Prepared(keys, tuple(range(seeds)), sides[0], sides[1], trials=2 * cells * seeds, left_out=0)


@pytest.mark.parametrize(
    ("cells", "seeds", "luck"), [(1, 5, 0.0), (16, 3, 0.1), (16, 5, 0.0), (16, 5, 0.1), (16, 10, 0.0)]
)
def test_the_interval_covers_the_truth_in_about_95_of_100(cells: int, seeds: int, luck: float) -> None:
    rng = np.random.default_rng(11)
    simulations = 300
    hits = 0
    for _ in range(simulations):
        found = estimate(grid(rng, cells, seeds, luck), spec())
        assert found.low is not None and found.high is not None
        hits += found.low <= 1.2 <= found.high
    # three standard errors either side of 95 % of 300
    assert hits / simulations == pytest.approx(0.95, abs=3 * math.sqrt(0.95 * 0.05 / simulations))


def uneven(rng: np.random.Generator, seeds: Sequence[int]) -> pl.DataFrame:
    """Cells of the same mean, with so many seeds each."""
    rates = ((rate, 10 + 2 * rng.normal(size=count)) for rate, count in enumerate(seeds))
    return frame([({"rate": rate}, "a", list(values)) for rate, values in rates])


def test_cells_with_few_seeds_make_an_interval_wide() -> None:
    """With the arithmetic mean of 10 and 3 seeds, the interval missed too often."""
    rng = np.random.default_rng(5)
    found = [summary(uneven(rng, [10] * 5 + [3] * 5), spec(b=None)) for _ in range(300)]
    missed = sum(one.low is None or one.high is None or not one.low <= 10 <= one.high for one in found)
    assert missed / 300 <= 0.05 + 2 * math.sqrt(0.05 * 0.95 / 300)
    assert summary(uneven(rng, [10] * 5 + [2] * 5), spec(b=None)).low is not None
    assert summary(uneven(rng, [10] * 2 + [1] * 5), spec(b=None)).low is None


def test_the_error_of_a_cell_is_of_its_own_seeds() -> None:
    """Beside a cell of nine seeds, the error of one with three was a sixth too large."""
    values = [1.0, 2.0, 4.0], [float(value) for value in range(9)]
    made = frame([({"rate": rate}, "a", of_rate) for rate, of_rate in enumerate(values)])
    prepared = prepare(made, spec(b=None))
    found = replicate.effects(prepared, spec(b=None))
    on_scale, _ = cells_on_scale(found, "plain", cell_seeds(prepared), prepared.has)
    expected = [np.std(of_rate, ddof=1) / math.sqrt(len(of_rate)) for of_rate in values]
    assert on_scale.error == pytest.approx(expected)


def test_the_best_of_cells_of_which_one_has_a_single_seed_has_no_interval() -> None:
    best = spec(b=None, over="best", along="rate", at=0)
    found = summary(uneven(np.random.default_rng(6), [10] * 9 + [1]), best)
    assert (found.low, found.high) == (None, None)


@pytest.mark.parametrize(
    "keys",
    [
        {"over": "geometric_mean"},
        {"over": "mean"},
        {"over": "median"},
        {"over": "slope", "along": "rate"},
        {"over": "best", "along": "rate", "at": 1},
    ],
)
def test_a_cell_that_one_seed_alone_defines_has_no_known_error(keys: dict[str, object]) -> None:
    """Without the cell the figure would be of other networks: the geometric mean rose without the seed."""
    rates = range(1, 9)
    level = 0 if keys["over"] == "geometric_mean" else 3
    cells_of = [({"rate": rate}, "a", [10.0 + level * rate, 11.0, 9.0, 10.5, 9.5]) for rate in rates]
    cells_of += [({"rate": rate}, "b", [10.0, 10.0, 11.0, 9.0, 10.5]) for rate in rates]
    whole = summary(frame(cells_of), spec(**keys))
    assert whole.low is not None and whole.reason == ""
    # a ratio of 0, or to 0, without the first seed
    starved = "a" if keys["over"] == "geometric_mean" else "b"
    one = pl.when((pl.col("rate") == 8) & (pl.col("contestant") == starved) & (pl.col("seed") > 1))
    found = summary(frame(cells_of).with_columns(x=one.then(0.0).otherwise("x")), spec(**keys))
    assert (found.low, found.high) == (None, None)
    assert found.reason == "no interval: without one of the seeds, the figure is not defined"


def test_the_reason_names_the_cells_with_too_few_seeds() -> None:
    rng = np.random.default_rng(7)
    one = summary(uneven(rng, [10] * 9 + [1]), spec(b=None))
    assert (one.low, one.reason) == (None, "one seed in 1 of 10 cells")
    two = summary(uneven(rng, [10] * 3 + [2]), spec(b=None, over="min"))
    assert (two.low, two.reason) == (None, "2 seeds in 1 of 4 cells, too few for an interval")


def test_a_cell_of_a_single_seed_is_not_the_same_in_every_seed() -> None:
    made = uneven(np.random.default_rng(8), [6, 6, 1])
    found = summary(made, spec(b=None, over="share", threshold=5))
    assert (found.constant_cells, found.reason) == (0, "")
    same = pl.when(pl.col("rate") == 0).then(7.0).otherwise("x")
    found = summary(made.with_columns(x=same), spec(b=None, over="share", threshold=5))
    assert (found.constant_cells, found.reason) == (1, "1 of 3 cells are the same in every seed")


def test_the_same_trials_give_the_same_bytes_soon() -> None:
    prepared = grid(np.random.default_rng(2), 64, 10, 0.0)
    start = time.process_time()
    found = estimate(prepared, spec())
    assert time.process_time() - start < 1
    assert repr(estimate(prepared, spec())) == repr(found)


def test_what_has_no_figure() -> None:
    with pytest.raises(NoDataError):
        summary(THREE.clear(), spec())
    with pytest.raises(EffectError, match="only one value"):
        summary(THREE.filter(pl.col("rate") == 4), spec(over="slope", along="rate"))
    with pytest.raises(EffectError, match="no setting has both rate = 5"):
        summary(THREE, spec(over="best", along="rate", at=5))
    with pytest.raises(EffectError, match="above 0"):
        summary(THREE, spec(effect="difference", over="geometric_mean"))
    absent = THREE.with_columns(rate=pl.when(pl.col("rate") < 16).then("rate"))
    for keys in ({"over": "slope"}, {"over": "steps", "step": "falls"}):
        with pytest.raises(EffectError, match=r"rate has no value in 1 of 3 cells: leave such cells out by"):
            summary(absent, spec(along="rate", **keys))
    zero = frame(
        [
            ({"rate": rate}, arm, [value] * 3)
            for rate in (4, 8)
            for arm, value in (("a", 2.0), ("b", rate - 4.0))
        ]
    )
    with pytest.raises(UndefinedError, match=r"only one value .*effect is not defined: 1"):
        summary(zero, spec(over="slope", along="rate"))
    with pytest.raises(EffectError, match="need numbers"):
        summary(THREE, spec(cell=["contestant"], a={}, b=None, over="slope", along="contestant"))


@pytest.mark.parametrize(
    ("keys", "said"),
    [
        ({"over": "share"}, "needs threshold"),
        ({"over": "slope"}, "needs along"),
        ({"over": "slope", "along": "rtt"}, "one of the columns in cell"),
        ({"over": "best", "along": "rate"}, "needs at"),
        ({"over": "mean", "threshold": 1}, "takes no threshold"),
        ({"b": None, "effect": "ratio"}, "give b"),
        ({"effect": "value"}, "leave b out"),
        ({"cell": ["rate", "rate"]}, "twice"),
    ],
)
def test_keys_that_do_not_go_together(keys: dict[str, object], said: str) -> None:
    with pytest.raises(ValueError, match=said):
        spec(**keys)


def test_a_seed_of_which_one_order_has_no_value_is_left_out() -> None:
    def orders(contestant: str, missing: bool) -> list[dict[str, object]]:
        return [
            row(
                {"rate": 4, "order": order},
                contestant,
                seed,
                None if missing and order == 2 and seed == 1 else x,
            )
            for seed in (1, 2, 3)
            for order, x in ((1, 10.0), (2, 2.0))
        ]

    rows = pl.DataFrame(orders("a", True) + orders("b", False))
    assert summary(rows, spec(cell=["rate"])).estimate == pytest.approx(1)


@pytest.mark.parametrize(
    ("quantity", "values", "low", "high"),
    [
        ("jain", [0.97, 0.999, 0.998, 0.999], None, 1.0),
        ("jain", [0.501, 0.52, 0.502, 0.501], 0.5, None),
        ("share_percent", [99.9, 95.0, 99.8, 99.9], None, 100.0),
        ("queue_loss_percent", [0.0, 0.4, 0.0, 0.0], 0.0, None),
        ("throughput_mbps", [26.8, 1.0, 0.5, 1.5], 0.0, None),
        ("plt_ms", [1474.0, 428.0, 230.0, 330.0], 0.0, None),
        # a burst of the link
        ("utilisation_percent", [100.002, 92.0, 100.001, 99.0], None, 100.0),
    ],
)
@pytest.mark.parametrize("over", ["mean", "min"])
def test_no_interval_of_a_value_contains_what_is_impossible(
    quantity: str, values: list[float], low: float | None, high: float | None, over: str
) -> None:
    """Jain's index of two flows lies from a half to 1, a share from 0 to 100 %, a rate or a time above 0."""
    observed = frame([({"network": "n", "flows": 2}, "a", values)]).rename({"x": quantity})
    spec = SummarySpec(part="p", quantity=quantity, cell=("network",), over=over)
    found = summary(observed, spec)
    row = cells(observed, spec).row(0, named=True)
    student = frame([({"network": "n"}, "a", values)])
    raw = summary(student, SummarySpec(part="p", quantity="x", cell=("network",), over=over))
    assert raw.low is not None and raw.high is not None
    if low is not None:
        assert raw.low < low
    if high is not None:
        assert raw.high > high
    least, most = quantities.ALL[quantity].ends(2)
    on_scale = jackknife.mean(dict(enumerate(values)), (least, most))
    assert (row["low"], row["high"]) == (on_scale.low, on_scale.high)
    assert (found.low, found.high) == pytest.approx((on_scale.low, on_scale.high))
    assert least <= on_scale.low < on_scale.high <= most


@pytest.mark.parametrize(
    ("quantity", "values", "whole"),
    [
        ("share_percent", [0.0, 0.0, 100.0], True),
        ("share_percent", [10.0, 20.0, 15.0], False),
        ("jain", [0.5, 0.5, 1.0], True),
        ("jain", [0.9, 0.95, 0.8], False),
        # a rate has no largest value
        ("throughput_mbps", [0.0, 0.0, 100.0], False),
    ],
)
def test_an_interval_of_all_that_is_possible_is_marked(
    quantity: str, values: list[float], whole: bool
) -> None:
    observed = frame([({"network": "n", "flows": 2}, "a", values)]).rename({"x": quantity})
    spec = {"part": "p", "quantity": quantity, "cell": ("network",)}
    found = summary(observed, SummarySpec(**spec, over="mean"))
    assert found.whole_range == whole
    # of a share of cells, whatever the quantity: one cell that is above, below or neither
    share = summary(observed, SummarySpec(**spec, over="share", threshold=50.0 if max(values) > 1 else 0.7))
    assert share.whole_range == ((share.low, share.high) == (0.0, 100.0))


def test_an_interval_of_a_value_has_the_scale_of_its_table() -> None:
    """A rate and a time that of factors, Jain's index that of odds between its ends."""
    scales: dict[str, tuple[Scale, float]] = {"plt_ms": ("factor", 1.0), "jain": ("share", 2.0)}
    for quantity, (scale, turned) in scales.items():
        values = [0.938, 0.99, 0.7, 0.96]
        observed = frame([({"network": "n", "flows": 2}, "a", values)]).rename({"x": quantity})
        row = cells(observed, SummarySpec(part="p", quantity=quantity, cell=("network",))).row(0, named=True)
        wanted = jackknife.mean({seed: 1 - turned * (1 - one) for seed, one in enumerate(values)}, scale)
        assert [1 - (1 - bound) / turned for bound in (wanted.low, wanted.high)] == pytest.approx(
            [row["low"], row["high"]]
        )


def test_jains_index_ends_at_the_number_of_flows_of_each_cell() -> None:
    two, four = ({"network": name, "flows": count} for name, count in (("two", 2), ("four", 4)))
    values = [0.52, 0.6, 0.51, 0.55]
    observed = frame([(two, "a", values), (four, "a", values)]).rename({"x": "jain"})
    found = cells(observed, SummarySpec(part="p", quantity="jain", cell=("network",)))
    for name, flows in (("two", 2), ("four", 4)):
        wanted = jackknife.mean(dict(enumerate(values)), (1 / flows, 1.0))
        row = found.row(by_predicate=pl.col("network") == name, named=True)
        assert (row["low"], row["high"]) == (wanted.low, wanted.high)


def test_a_difference_keeps_its_plain_interval() -> None:
    values = [0.3, -0.1, 0.2, 0.25]
    for quantity in ("conformance_deficit", "deviation_ms"):
        observed = frame([({"network": "n", "flows": 2}, "a", values)]).rename({"x": quantity})
        row = cells(observed, SummarySpec(part="p", quantity=quantity, cell=("network",))).row(0, named=True)
        wanted = jackknife.mean(dict(enumerate(values)))
        assert (row["low"], row["high"]) == (wanted.low, wanted.high)


def test_the_interval_of_a_difference_of_sds_may_reach_0() -> None:
    """On the scale of factors it could not: a quarter of equal SDs were taken for different ones."""
    rng = np.random.default_rng(3)
    away = 0
    for _ in range(200):
        made = frame([({"rate": 4}, side, list(rng.normal(100, 10, size=6))) for side in "ab"])
        found = cells(made, spec(of="sd", effect="difference")).row(0, named=True)
        away += not found["low"] <= 0 <= found["high"]
    assert away / 200 < 0.1
    # an SD itself, and a ratio of two, are above 0
    for keys in ({"b": None}, {"effect": "ratio"}):
        sds = summary(made, spec(of="sd", over="mean", **keys))
        assert sds.low is not None and sds.low > 0
