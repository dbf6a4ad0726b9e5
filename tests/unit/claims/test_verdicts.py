"""A verdict comes from data and from nothing else."""

from __future__ import annotations

import itertools
import math

import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from cambrian.claims.listing import figure_text
from cambrian.claims.model import Expect, Verdict
from cambrian.claims.verdicts import combined, judge, run, verdict_of
from cambrian.effects.summary import Estimate
from tests.unit.claims.ledgers import Folder, claim, claim_test, ratio
from tests.unit.effects.frames import frame, row

NOTHING = Folder({})


@pytest.mark.parametrize(("value", "verdict"), [(1.5, "holds"), (0.8, "doesn't hold"), (1.0, "inconclusive")])
def test_the_interval_decides(value: float, verdict: Verdict) -> None:
    judged = judge(claim(claim_test()), Folder({"suite/part": ratio(value)}))
    assert judged.verdict == verdict
    found = judged.results[0].estimate
    assert found is not None
    assert found.estimate == pytest.approx(value, rel=1e-3)


@pytest.mark.parametrize(("seeds", "said"), [(1, "one seed a cell"), (2, "2 seeds")])
def test_without_an_interval_nothing_is_significant(seeds: int, said: str) -> None:
    result = run(claim_test(), Folder({"suite/part": ratio(100.0, seeds)}))
    assert result.verdict == "inconclusive"
    assert said in result.reason


def test_removing_the_data_turns_every_verdict_into_not_run() -> None:
    whole = ratio(1.5)
    there = {"suite/part": whole}
    assert run(claim_test(), Folder(there)).verdict == "holds"
    one_side = {"suite/part": whole.filter(pl.col("contestant") == "a")}
    no_quantity = {"suite/part": whole.with_columns(x=pl.lit(None, dtype=pl.Float64))}
    no_column = {"suite/part": whole.drop("x")}
    empty = {"suite/part": whole.clear()}
    for parts in ({}, one_side, no_quantity, no_column, empty):
        result = run(claim_test(), Folder(parts))
        assert result.verdict == "not run"
        assert result.estimate is None
        assert result.reason


def test_listed_values_without_trials_are_named_beside_the_verdict() -> None:
    """The frame has the rates 4 and 8."""
    there = Folder({"suite/part": ratio(1.5)})
    whole = judge(claim(claim_test(where={"rate": [4, 8]})), there)
    assert (whole.verdict, whole.note) == ("holds", "")
    some = judge(claim(claim_test(where={"rate": [1, 4, 16]})), there)
    assert (some.verdict, some.note) == ("holds", "only at rate = 4: no trials at 1 and 16")
    # one note for several tests, and one for a side's own list
    sides = claim_test(a={"contestant": ["a", "c"]})
    both = judge(
        claim(claim_test(where={"rate": [1, 4, 16]}), claim_test(where={"rate": [1, 4, 16]}), sides), there
    )
    assert both.note == f"{some.note}; only at contestant = a: no trials at c"
    # a rate at which only one side ran has no cell
    part = ratio(1.5).filter((pl.col("contestant") == "a") | (pl.col("rate") == 4))
    one_side = judge(claim(claim_test(where={"rate": [4, 8]})), Folder({"suite/part": part}))
    assert one_side.note == "only at rate = 4: no trials at 8"
    # without cells, a side may have one rate and the other side another
    part = ratio(1.5).filter((pl.col("contestant") == "a") == (pl.col("rate") == 4))
    apart = judge(claim(claim_test(where={"rate": [4, 8]}, cell=[])), Folder({"suite/part": part}))
    assert apart.note == "no trials of both sides at the same rate"
    assert judge(claim(claim_test(where={"rate": [1, 2]})), there).verdict == "not run"


@pytest.mark.parametrize(
    ("keys", "expect", "verdict"),
    [
        # of each cell: judged on those that are there
        ({"over": "max"}, {"at_most": 2}, "holds"),
        ({"over": "max"}, {"below": 1}, "doesn't hold"),
        ({"over": "share", "threshold": 1}, {"at_least": 100}, "holds"),
        ({"over": "share", "threshold": 2}, {"at_least": 100}, "doesn't hold"),
        # what the others would say is open
        ({"over": "share", "threshold": 1}, {"at_least": 75}, "inconclusive"),
        ({"over": "share", "threshold": 2}, {"at_least": 75}, "inconclusive"),
        ({"over": "share", "threshold": 2}, {"above": 0}, "inconclusive"),
        ({"over": "max"}, {"between": [1, 2]}, "inconclusive"),
        ({"over": "max"}, {"above": 2}, "inconclusive"),
        # it is not, where they could not change it
        ({"over": "max"}, {"above": 1}, "holds"),
        ({"over": "max"}, {"between": [0.5, 1]}, "doesn't hold"),
        ({"over": "min"}, {"at_most": 2}, "holds"),
        ({"over": "mean"}, {"between": [1, 2]}, "holds"),
    ],
)
def test_a_count_or_an_extreme_of_a_part_of_the_listed_values(
    keys: dict[str, object], expect: dict[str, object], verdict: Verdict
) -> None:
    """The frame has the rates 4 and 8, and a ratio of 1.5."""
    there = Folder({"suite/part": ratio(1.5)})
    result = run(claim_test(where={"rate": [4, 8, 16]}, expect=expect, **keys), there)
    assert (result.verdict, result.note) == (verdict, "only at rate = 4 and 8: no trials at 16")
    assert ("only a part of the listed values has trials" in result.reason) == (verdict == "inconclusive")
    whole = run(claim_test(where={"rate": [4, 8]}, expect=expect, **keys), there)
    assert whole.verdict in {"holds", "doesn't hold"}


def test_the_number_of_further_seeds_of_a_ratio_is_by_factors() -> None:
    """As its interval is: on the plain scale, it would be about 19."""
    some = frame([({"rate": 4}, "a", [13, 26, 11, 34]), ({"rate": 4}, "b", [10, 10, 10, 10])])
    result = run(claim_test(expect={"above": 1}), Folder({"suite/part": some}))
    assert (result.verdict, "about 3 more seeds" in result.reason) == ("inconclusive", True)


def test_what_is_inconclusive_says_how_many_more_seeds_would_settle_it() -> None:
    near = frame(
        [({"rate": 4}, "a", [1.05, 0.9, 1.2, 1.1, 0.95]), ({"rate": 4}, "b", [1.0, 1.0, 1.1, 1.0, 1.0])]
    )
    result = run(claim_test(), Folder({"suite/part": near}))
    assert result.verdict == "inconclusive"
    assert "more seeds would settle it" in result.reason


@pytest.mark.parametrize(("extra", "known"), [(0, True), (1, True), (20, False)])
def test_no_number_of_further_seeds_where_one_side_has_many_more(extra: int, known: bool) -> None:
    """As for a report's comparisons: the interval does not say which spread is whose."""
    a = [1.0, 0.9, 1.2, 1.1, 0.95, 1.4, 0.8, 1.3] * 4
    uneven = frame([({"rate": 4}, "a", a[: 5 + extra]), ({"rate": 4}, "b", [1.0, 1.0, 1.1, 1.0, 1.0])])
    result = run(claim_test(), Folder({"suite/part": uneven}))
    assert result.verdict == "inconclusive"
    assert ("more seeds would settle it" in result.reason) == known


REGIONS = [{"above": 1}, {"below": 1}, {"at_least": 1}, {"at_most": 1}, {"between": [0.5, 2]}]


@pytest.mark.parametrize("expect", REGIONS)
def test_no_expectation_has_a_verdict_without_data(expect: dict[str, object]) -> None:
    for tests in ([claim_test(expect=expect)], [claim_test(expect=expect)] * 2, []):
        assert judge(claim(*tests), NOTHING).verdict == "not run"


def test_a_claim_that_no_data_can_judge_says_so() -> None:
    judged = judge(claim(not_available="It is about the Internet of 2017."), NOTHING)
    assert judged.verdict == "not available"
    assert "Internet" in judged.reason


def test_the_verdict_of_several_tests() -> None:
    order: list[Verdict] = ["doesn't hold", "not run", "inconclusive", "holds"]
    for one, two in itertools.combinations_with_replacement(order, 2):
        assert combined([one, two]) == combined([two, one]) == one


def an_estimate(low: float, high: float) -> Estimate:
    return Estimate((low + high) / 2, low, high, cells=1, trials=6, seeds=3)


@pytest.mark.parametrize("bounds", [(math.nan, math.nan), (1.0, math.nan), (math.nan, 1.0)])
def test_a_bound_that_is_no_number_is_no_verdict(bounds: tuple[float, float]) -> None:
    assert verdict_of(claim_test(expect={"above": 2.0}), an_estimate(*bounds)) == "inconclusive"


RANK = {"doesn't hold": 0, "inconclusive": 1, "holds": 2}
NUMBER = st.floats(-5, 5)


@given(NUMBER, st.floats(0, 3), st.floats(0, 3), NUMBER)
def test_more_never_makes_above_less_true(low: float, width: float, shift: float, border: float) -> None:
    for key, sign in (("above", 1), ("at_least", 1), ("below", -1), ("at_most", -1)):
        test = claim_test(expect={key: border})
        before = RANK[verdict_of(test, an_estimate(low, low + width))]
        after = RANK[verdict_of(test, an_estimate(low + shift, low + width + shift))]
        assert sign * (after - before) >= 0


@given(NUMBER, st.floats(0, 3), st.floats(0, 1), st.sampled_from(REGIONS))
def test_a_narrower_interval_never_contradicts_a_verdict(
    low: float, width: float, part: float, region: dict[str, object]
) -> None:
    test = claim_test(expect=region)
    wide = verdict_of(test, an_estimate(low, low + width))
    narrow = verdict_of(test, an_estimate(low + part * width / 2, low + width - part * width / 2))
    assert wide in {"inconclusive", narrow}


@pytest.mark.parametrize(
    ("expect", "low", "high", "verdict"),
    [
        ({"above": 1}, 1, 1, "doesn't hold"),
        ({"at_least": 1}, 1, 1, "holds"),
        ({"at_most": 0}, 0, 0, "holds"),
        ({"below": 0}, 0, 0, "doesn't hold"),
        ({"at_least": 100}, 95, 100, "inconclusive"),
        ({"between": [1, 2]}, 1, 2, "holds"),
        ({"between": [1, 2]}, 0.5, 2.5, "inconclusive"),
        ({"between": [1, 2]}, 2.1, 2.5, "doesn't hold"),
    ],
)
def test_borders(expect: dict[str, object], low: float, high: float, verdict: Verdict) -> None:
    assert verdict_of(claim_test(expect=expect), an_estimate(low, high)) == verdict


@pytest.mark.parametrize("expect", [{}, {"above": 1, "below": 2}, {"between": [2, 1]}])
def test_an_expectation_is_one_region(expect: dict[str, object]) -> None:
    with pytest.raises(ValueError, match=r"give one of|low < high"):
        Expect.model_validate(expect)


def loads(late: int) -> pl.DataFrame:
    """Two cells; ``late`` loads of contestant b were not complete at rate 8."""
    there = (pl.col("rate") == 8) & (pl.col("contestant") == "b")
    return ratio(1.5).with_columns(
        plt_ms=pl.col("x"),
        group=pl.format("{}/{}", "rate", "contestant"),
        page=pl.lit("news"),
        not_complete=pl.when(there).then(late).otherwise(0),
    )


def test_loads_that_were_not_complete_leave_the_claim_open() -> None:
    """The other loads are the fastest: neither verdict would be of all."""
    test = claim_test(quantity="plt_ms")
    assert run(test, Folder({"suite/part": loads(0)})).verdict == "holds"
    some = run(test, Folder({"suite/part": loads(3)}))
    assert some.verdict == "inconclusive"
    assert some.reason == (
        "cells left out because not all of their transfers or page loads were complete: 1 (3 not complete)"
    )
    only = loads(3).filter(pl.col("rate") == 8)
    none = run(test, Folder({"suite/part": only}))
    assert (none.verdict, none.estimate) == ("inconclusive", None)
    assert "transfers or page loads that were not complete at their trial's end (3)" in none.reason


@pytest.mark.parametrize("expect", [{"above": 0.5}, {"below": 100}])
@pytest.mark.parametrize("over", ["mean", "max", "geometric_mean"])
def test_a_starved_cell_leaves_the_claim_open_in_both_directions(
    expect: dict[str, object], over: str
) -> None:
    """Without the cell, a limit on the largest ratio would be met by the other cells."""
    starved = ratio(1.5).with_columns(
        x=pl.when((pl.col("rate") == 8) & (pl.col("contestant") == "b")).then(0.0).otherwise("x")
    )
    there = Folder({"suite/part": starved})
    assert run(claim_test(expect=expect), Folder({"suite/part": ratio(1.5)})).verdict == "holds"
    over_0 = run(claim_test(expect=expect, over=over), there)
    assert over_0.verdict == "inconclusive"
    assert "division by 0" in over_0.reason and over_0.reason.endswith(": 1")
    turned = {"a": {"contestant": "b"}, "b": {"contestant": "a"}}
    of_0 = run(claim_test(expect=expect, over=over, **turned), there)
    if over == "geometric_mean":
        assert (of_0.verdict, of_0.estimate) == ("inconclusive", None)
        assert "geometric mean needs effects above 0 (cells with an effect of 0: 1)" in of_0.reason
    only = Folder({"suite/part": starved.filter(pl.col("rate") == 8)})
    assert run(claim_test(expect=expect, over=over), only).verdict == "inconclusive"


def test_a_cell_whose_groups_share_no_seed_leaves_the_claim_open() -> None:
    """The cell vanished, and the minimum of the other cells was above 50."""
    groups = {(4, "fair"): 80, (4, "fierce"): 82, (8, "fair"): 10, (8, "fierce"): 12}
    rows = [
        row({"rate": rate, "group": f"{rate}/{rival}"}, "a", seed, level + seed / 100)
        for (rate, rival), level in groups.items()
        for seed in ((4, 5, 6) if level == 12 else (1, 2, 3))
    ]
    test = claim_test(cell=["rate"], b=None, effect="value", over="min", expect={"above": 50})
    found = run(test, Folder({"suite/part": pl.DataFrame(rows)}))
    assert found.verdict == "inconclusive"
    said = "cells left out because no seed has a value in each of their groups and trials: 1"
    assert found.reason == said
    assert "trials left out (no value, or their seed lacks one in another trial): 6" in figure_text(found)
    # it ran: it is not "not run"
    only = run(test, Folder({"suite/part": pl.DataFrame(rows[6:])}))
    assert (only.verdict, only.estimate) == ("inconclusive", None)
    assert only.reason.endswith("no seed has x in each of its trials and groups")


def test_a_figure_that_does_not_fit_its_claim_is_not_run() -> None:
    below = claim_test(effect="difference", over="geometric_mean")
    assert run(below, Folder({"suite/part": ratio(0.5)})).verdict == "not run"
