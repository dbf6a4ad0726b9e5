"""What a pairwise report says of splits, harm, fairness within a CCA and the order of takers."""

from __future__ import annotations

import io
import math
from dataclasses import replace
from typing import Any

import numpy as np
import polars as pl
import pytest
import scipy.stats

from cambrian.measure.sharing import Sharing
from cambrian.metrics.convergence import Convergence
from cambrian.metrics.starvation import Starvation
from cambrian.report import placebo, sides, tables, words
from cambrian.report.collect import Collected
from cambrian.report.figures import pairs as figures_of_pairs
from cambrian.report.tables import convergence, harm, pairwise, rtt_fairness
from cambrian.report.tables import flows as flows_table
from cambrian.stats import states
from cambrian.study.model import Flow, Lineup, Network
from tests.unit.report.made import cell, collected, contestant, trial

S = 1_000_000_000


def row(frame: pl.DataFrame | None, **wanted: object) -> dict[str, Any]:
    assert frame is not None
    found = frame.filter([pl.col(name) == value for name, value in wanted.items()])
    assert found.height == 1
    return found.row(0, named=True)


def study(
    pairs: dict[tuple[str, str], list[float]], alone: dict[str, list[float]] | None = None
) -> Collected:
    """A pairwise study of a 20 Mbps link: what the first of each pair carries, in both orders of a seed."""
    cells = [
        cell("solo", [name], [trial(seed, [mbps]) for seed, mbps in enumerate(rates)])
        for name, rates in (alone or {}).items()
    ]
    cells += [
        cell(
            "pairwise",
            pair,
            [trial(seed, [mbps, 20 - mbps]) for seed, mbps in enumerate(rates) for _ in "ab"],
        )
        for pair, rates in pairs.items()
    ]
    names = sorted({name for pair in pairs for name in pair})
    return collected("pairwise", cells, [contestant(name, name[0]) for name in names])


def frames(found: Collected) -> dict[str, pl.DataFrame]:
    """What a page's first sentence is made from."""
    table = pairwise.table(found)
    assert table is not None
    return {"pairwise": table}


PAIRS = {
    ("a1", "a1"): [9.0, 11.0, 10.0, 10.0, 10.0],
    ("a1", "a2"): [16.0, 16.2, 15.8, 16.1, 15.9],
    ("a2", "a2"): [10.0, 10.1, 9.9, 10.0, 10.0],
    ("a1", "b1"): [9.0, 12.0, 10.0, 8.0, 11.5],
    ("a2", "b1"): [4.0, 4.1, 4.2, 3.9, 4.0],
    ("b1", "b1"): [10.0, 10.2, 9.8, 10.0, 10.0],
}
ALONE = {"a1": [20.0] * 5, "a2": [18.0] * 5, "b1": [20.0] * 5}


def test_splits_are_tested_and_corrected() -> None:
    frame = pairwise.table(study(PAIRS))
    assert frame is not None
    p = frame.drop_nulls("p")["p"].to_list()
    uneven = row(frame, x="a1", y="a2")
    # the log of the odds of 0.8 is 1.386, its error about the shares' over 0.8 · 0.2
    shares = np.array(PAIRS["a1", "a2"]) / 20
    t = math.log(4) / (shares.std(ddof=1) / math.sqrt(5) / 0.16)
    student = pairwise.against_chance(dict(enumerate(shares)), orders=10).p
    assert student == pytest.approx(2 * scipy.stats.t.sf(t, 4), rel=0.05)
    # ten trials that chance gives to one flow: two in 2¹⁰
    assert student is not None and student < uneven["p"] == 2**-9
    assert uneven["p_bh"] == pytest.approx(scipy.stats.false_discovery_control(p)[0])
    assert (uneven["split"], uneven["cca"]) == ("different", "a")
    assert uneven["hedges_g"] > 10
    even = row(frame, x="a1", y="b1")
    assert (even["split"], even["cca"]) == ("inconclusive", None)
    assert even["ratio_low"] < 0.45
    assert even["more_seeds"] > 0
    itself = row(frame, x="a1", y="a1")
    assert (itself["split"], itself["p"], itself["p_bh"]) == ("itself", None, None)


def test_correction_is_over_the_cells_of_one_map() -> None:
    # on its own 0.03 would count; beside four clear noes it must not
    borderline = [10.2, 11.0, 11.2, 10.8, 10.1]
    alone = pairwise.table(study({("a", "b"): borderline}))
    assert row(alone, x="a")["split"] == "different"
    noise = {("a", str(k)): [9.0, 11.0, 10.2, 9.7, 10.3 + k / 10] for k in range(4)}
    beside = pairwise.table(study({("a", "b"): borderline, **noise}))
    found = row(beside, x="a", y="b")
    assert found["p"] < 0.05 < found["p_bh"]
    assert found["split"] == "inconclusive"


@pytest.mark.parametrize(("seeds", "split"), [(3, "inconclusive"), (5, "different")])
def test_few_trials_that_one_flow_wins_may_be_chance(seeds: int, split: str) -> None:
    """Of six even pairs that chance decides, one was called uneven in 19 % of studies with 3 seeds."""
    won = {("a", "b"): [18.0, 18.1, 17.9, 18.0, 18.1][:seeds]}
    noise = {("a", str(k)): [9.0, 11.0, 10.2, 9.7, 10.3 + k / 10][:seeds] for k in range(5)}
    found = row(pairwise.table(study(won | noise)), x="a", y="b")
    assert (found["p"], found["split"]) == (2 ** (1 - 2 * seeds), split)
    if split == "inconclusive":
        # a sixth of 5 % is below 2 / 2⁶, and above 2 / 2⁸
        assert (found["more_seeds"], found["settles_as"]) == (1, "different")


def with_placebo(rates: list[float]) -> Collected:
    """a1 in pairs, and once more under a placebo's name: what that leaves it, seed by seed."""
    found = study({pair: PAIRS[pair] for pair in (("a1", "a1"), ("a1", "b1"), ("b1", "b1"))})
    trials = [trial(seed, [20 - mbps, mbps]) for seed, mbps in enumerate(rates)]
    again = replace(cell("pairwise", ("placebo (a1)", "a1"), trials), is_placebo=True)
    return replace(found, cells=(*found.cells, again))


def test_a_placebo_is_no_pair_and_vouches_for_harm() -> None:
    fair, unfair = with_placebo(PAIRS["a1", "a1"]), with_placebo([2.0, 2.1, 1.9, 2.0, 2.05])
    frame = pairwise.table(fair)
    assert frame is not None
    assert frame["x"].to_list() == ["a1", "a1", "b1"]
    wanted = {"victim": "a1", "service": "throughput, Mbps"}
    assert row(harm.table(fair), by="placebo (a1)", **wanted)["verdict"] in ("equivalent", "inconclusive")
    assert row(harm.table(fair), by="b1", **wanted)["verdict"] != placebo.WITHHELD
    assert row(harm.table(unfair), by="placebo (a1)", **wanted)["verdict"] == harm.MORE
    assert row(harm.table(unfair), by="b1", **wanted)["verdict"] == placebo.WITHHELD


@pytest.mark.parametrize("count", [1, 2])
def test_few_trials_are_not_tested(count: int) -> None:
    few = study({pair: rates[:count] for pair, rates in PAIRS.items()}, ALONE)
    found = row(pairwise.table(few), x="a1", y="a2")
    assert (found["p"], found["split"], found["more_seeds"]) == (None, "inconclusive", 3 - count)
    harmed = row(harm.table(few), victim="a2", by="a1", service="throughput, Mbps")
    assert (harmed["p"], harmed["verdict"]) == (None, "inconclusive")
    assert harmed["harm"] is not None
    assert words.answer(few, frames(few)).startswith("Too few seeds")


def test_harm_against_alone_and_against_its_own_kind() -> None:
    frame = harm.table(study(PAIRS, ALONE))
    found = row(frame, victim="a2", by="a1", service="throughput, Mbps")
    assert found["harm"] == pytest.approx((18 - 4) / 18)
    assert found["own_harm"] == pytest.approx((18 - 10) / 18)
    assert found["excess"] == pytest.approx((10 - 4) / 10)
    assert found["harm_low"] < found["harm"] < found["harm_high"]
    assert found["verdict"] == "more than its own kind"
    gains = row(frame, victim="a1", by="a2", service="throughput, Mbps")
    assert gains["verdict"] == "less than its own kind"
    assert gains["excess"] == pytest.approx(-0.6)
    itself = row(frame, victim="a2", by="a2", service="throughput, Mbps")
    assert (itself["harm"], itself["verdict"]) == (pytest.approx(8 / 18), "itself")


def test_without_solo_trials_the_own_kind_is_the_bar() -> None:
    found = row(harm.table(study(PAIRS)), victim="a2", by="a1", service="throughput, Mbps")
    assert (found["harm"], found["own_harm"]) == (None, None)
    assert found["excess"] == pytest.approx(0.6)
    assert found["verdict"] == "more than its own kind"


def test_a_difference_of_a_packet_is_equivalent_however_sure() -> None:
    trials = {name: [trial(seed, [10, 10], delay_ms=[delay + seed, delay + seed]) for seed in range(4)]
              for name, delay in {"own": 40.0, "other": 40.1}.items()}  # fmt: skip
    cells = [cell("pairwise", ["a", "a"], trials["own"]), cell("pairwise", ["a", "b"], trials["other"])]
    made = collected("pairwise", cells, [contestant("a"), contestant("b")])
    found = row(harm.table(made), victim="a", by="b", service="delay p95, ms")
    assert found["p_corrected"] < 0.05
    assert found["verdict"] == "equivalent"


def test_where_every_seed_gives_the_same_nothing_is_tested() -> None:
    own = [trial(seed, [10, 10], delay_ms=[40.0, 40.0]) for seed in range(4)]
    other = [trial(seed, [12, 8], delay_ms=[60.0, 60.0]) for seed in range(4)]
    cells = [cell("pairwise", ["a", "a"], own), cell("pairwise", ["a", "b"], other)]
    made = collected("pairwise", cells, [contestant("a"), contestant("b")])
    found = row(harm.table(made), victim="a", by="b", service="delay p95, ms")
    assert (found["p"], found["hedges_g"], found["verdict"]) == (None, None, states.SAME)
    split = row(pairwise.table(made), x="a", y="b")
    assert (split["p"], split["hedges_g"], split["split"]) == (None, None, states.SAME)


def test_the_baseline_has_the_victims_seed_and_position() -> None:
    """Whoever sits at position 0 has 2 Mbps more: harm must not see that."""

    def at(first: float, seed: int) -> list[float]:
        return [first + seed / 10, 20 - first - seed / 10]

    own = [trial(seed, at(11, seed)) for seed in range(4)]
    # the victim is flow 1, and in the mirrored trials sits at position 0
    other = [trial(seed, at(11, seed)) for seed in range(4)]
    plain = [cell("pairwise", ["v", "v"], own), cell("pairwise", ["b", "v"], other)]
    made = collected("pairwise", plain, [contestant("b"), contestant("v")])
    found = row(harm.table(made), victim="v", by="b", service="throughput, Mbps")
    assert found["with_own"] == found["with_other"] == pytest.approx(20 - 11.15)
    assert found["excess"] == pytest.approx(0)


def test_a_seeds_two_orders_are_one_value() -> None:
    trials = [trial(seed, [10 + side + seed / 10, 10 - side - seed / 10])
              for seed in range(4) for side in (3, -3)]  # fmt: skip
    made = collected("pairwise", [cell("pairwise", ["a", "b"], trials)], [contestant("a"), contestant("b")])
    found = row(pairwise.table(made), x="a", y="b")
    assert (found["trials"], found["seeds"]) == (8, 4)
    assert found["ratio"] == pytest.approx(0.5 + 0.15 / 20)
    assert found["split"] == "equivalent"
    # a seed that lacks an order is left out: it would not be balanced
    part = collected(
        "pairwise", [cell("pairwise", ["a", "b"], trials[:-1])], [contestant("a"), contestant("b")]
    )
    assert row(pairwise.table(part), x="a", y="b")["seeds"] == 3


def test_references_are_the_victims_of_a_versus_reference_study() -> None:
    own = [trial(seed, [10 + seed / 10, 10 - seed / 10]) for seed in range(4)]
    against = [trial(seed, [15 + seed / 7, 5 - seed / 7]) for seed in range(4)]
    cells = [cell("versus-reference", ["r", "r"], own), cell("versus-reference", ["x", "r"], against)]
    frame = harm.table(collected("versus-reference", cells, [contestant("x")]))
    assert frame is not None
    assert set(zip(frame["victim"], frame["by"], strict=True)) == {("r", "r"), ("r", "x")}
    assert row(frame, by="x", service="throughput, Mbps")["verdict"] == "more than its own kind"


def test_a_trial_without_a_delay_is_left_out() -> None:
    own = [trial(seed, [10, 10]) for seed in range(3)]
    starved = [trial(seed, [20, 0], delay_ms=[10.0, None]) for seed in range(3)]
    cells = [cell("pairwise", ["a", "a"], own), cell("pairwise", ["b", "a"], starved)]
    frame = harm.table(collected("pairwise", cells, [contestant("a"), contestant("b")]))
    assert frame is not None
    assert "delay p95, ms" not in set(frame.filter(pl.col("by") == "b")["service"])
    assert row(frame, by="b", service="throughput, Mbps")["excess"] == 1


def test_a_flow_beside_itself_has_its_number_in_tables() -> None:
    """Two rows were called "a1 against a1"."""
    found = study(PAIRS)
    shown = tables.shown("flows", flows_table.table(found), found)
    names = [name for name, *_ in shown.rows]
    assert len(set(names)) == len(names)
    assert {"a1 against a1 (flow 0)", "a1 against a1 (flow 1)"} <= set(names)


def test_fairness_within_a_cca() -> None:
    frame = pairwise.intra_cca(study(PAIRS))
    twice = row(frame, cca="a", kind="one implementation twice")
    assert (twice["pairs"], twice["worst"], twice["tested"]) == (2, "a1", 0)
    two = row(frame, cca="a", kind="two implementations")
    assert (two["pairs"], two["worst"], two["uneven"], two["tested"]) == (1, "a1 + a2", 1, 1)
    assert two["jain"] == pytest.approx(400 / (2 * (256 + 16)), abs=1e-3)


def test_a_cycle_of_three_is_reported() -> None:
    wins = [15.0, 15.1, 14.9, 15.2]
    circle = study({("a", "b"): wins, ("b", "c"): wins, ("a", "c"): [20 - mbps for mbps in wins]})
    order = pairwise.transitivity(circle)
    found = row(order, network="link")
    assert (found["wins"], found["intransitive"], found["cycles"]) == (3, 1, "a > b > c > a")
    line = study({("a", "b"): wins, ("b", "c"): wins, ("a", "c"): wins})
    found = row(pairwise.transitivity(line), network="link")
    assert (found["transitive"], found["intransitive"]) == (1, 0)
    assert words.answer(line, frames(line)) == (
        "Splits between two different contestants: 3 uneven, 0 even, 0 inconclusive; "
        "the most uneven one is a’s 75 % against c on link."
    )


def test_a_cycle_of_four_is_reported() -> None:
    wins = [15.0, 15.1, 14.9, 15.2]
    four = study({("a", "b"): wins, ("b", "c"): wins, ("c", "d"): wins, ("d", "a"): wins})
    assert row(pairwise.transitivity(four), network="link")["knots"] == "a, b, c, d"


def test_maps_fade_inconclusive_cells() -> None:
    made = study(PAIRS, ALONE)
    ratios, harms = figures_of_pairs.figures(made)
    assert ratios.data.height == 9
    (csv,) = ratios.panels[0].spec()["datasets"].values()
    drawn = pl.read_csv(io.StringIO(csv))
    shown = {(one["x"], one["y"]): (one["text"], one["conclusive"]) for one in drawn.to_dicts()}
    assert shown["a1", "a2"] == ("0.80", 1)
    assert shown["a2", "a1"] == ("0.20", 1)
    assert shown["a1", "a1"] == ("0.50", 1)
    assert shown["b1", "a1"] == ("(0.49)", 0)
    assert [panel.alt.split(": ")[1].partition(",")[0] for panel in harms.panels] == [
        "harm in throughput",
        "harm in delay p95",
        "harm in queue loss",
    ]
    assert harms.heading == "Harm"
    _, bare = figures_of_pairs.figures(study(PAIRS))
    assert bare.heading == "Harm beyond its own kind"


def joined(seconds: list[float | None]) -> Collected:
    joins = [
        Convergence(1, 30 * S, None if one is None else round(one * S), 90 * S - index)
        for index, one in enumerate(seconds)
    ]
    trials = [trial(seed, [10, 10], joins=[join]) for seed, join in enumerate(joins)]
    flows = [Flow(contestant=contestant("old")), Flow(contestant=contestant("new"), start_ms=30_000)]
    return collected("flows", [cell("flows", ["old", "new"], trials)], flows=flows)


def test_convergence_times_may_be_censored() -> None:
    found = row(convergence.table(joined([3.0, 7.0, None])), joiner="new")
    assert (found["reached"], found["median_s"], found["soonest_s"], found["latest_s"]) == (2, 7, 3, None)
    mostly = joined([3.0, None, None])
    frame = convergence.table(mostly)
    assert frame is not None
    shown = tables.shown("convergence", frame, mostly)
    assert shown is not None
    assert shown.rows[0] == ("new", "3", "1 of 3", "> 90.0", "3.0 to > 90.0")
    # the middle is between the slowest that converged and one that did not
    half = joined([3.0, 7.0, None, None])
    frame = convergence.table(half)
    assert frame is not None
    rows = tables.shown("convergence", frame, half).rows
    assert rows[0] == ("new", "4", "2 of 4", "7.0 to > 90.0", "3.0 to > 90.0")


def test_a_join_with_too_little_time_in_some_trials_takes_no_other_joins_place() -> None:
    """Three of C's joins were in B's row, whose median was of two populations, and C's row lacked them."""
    of_b = [Convergence(1, 10 * S, None, 6 * S, place=1)]
    of_c = [Convergence(2, 16 * S, 3 * S, 14 * S, place=2)]
    trials = [trial(seed, [6, 6, 6], joins=of_b * (seed % 2) + of_c) for seed in range(6)]
    table = convergence.table(collected("flows", [cell("flows", ["A", "B", "C"], trials)]))
    assert table is not None
    assert table.select("join", "joiner", "trials", "reached").rows() == [(1, "B", 3, 0), (2, "C", 6, 6)]


def test_a_seed_with_an_invalid_trial_counts_neither_for_convergence_nor_for_starvation() -> None:
    """Of seed 3 one order alone is valid; with it, 2 of 5 trials had not converged, and 36 % was starved."""
    trials = [
        replace(
            trial(seed, [10, 10]),
            id=f"trial-{seed}-{order}",
            sharing=Sharing((), (Starvation(part, S),) * 2, (Convergence(1, 0, time_ns, 90 * S),)),
        )
        for seed, order, part, time_ns in (
            (1, 0, 0.0, 3 * S), (1, 1, 0.2, None), (2, 0, 0.2, 4 * S), (2, 1, 0.4, 5 * S), (3, 0, 1.0, None)
        )
    ]  # fmt: skip
    found = collected("flows", [cell("flows", ["old", "new"], trials)])
    joins = row(convergence.table(found), join=1)
    assert (joins["reached"], joins["trials"]) == (3, 4)
    frame = flows_table.table(found)
    assert frame["starved_percent"].to_list() == pytest.approx([20, 20])
    # the page said "5 trials" beside means of 4
    shown = tables.shown("flows", frame, found)
    assert [row[shown.headings.index("Seeds")] for row in shown.rows] == ["2", "2"]


def test_rtt_unfairness_over_networks() -> None:
    cells = []
    for rtt_ms in (20.0, 40.0, 80.0):
        network = Network(name=f"{rtt_ms:g}ms", rate_mbps=20, rtt_ms=rtt_ms, buffer_bytes=125_000)
        powers = [0.9, 1.0, 1.1]
        trials = [
            trial(seed, [1.0, (rtt_ms / 20) ** power], rtts_ms=[rtt_ms, 20], network=network)
            for seed, power in enumerate(powers)
        ]
        cells.append(cell("flows", ["tcp cubic", "tcp cubic"], trials, network))
    flows = [Flow(contestant=contestant("tcp cubic"))] * 2
    frame = rtt_fairness.table(collected("flows", cells, flows=flows))
    assert frame is not None
    assert frame["network"].to_list() == ["40ms", "80ms"]
    assert frame["exponent"].to_list() == pytest.approx([1, 1])
    assert frame["pooled"].to_list() == pytest.approx([1, 1])
    # one p a seed, 0.9, 1 and 1.1 on either network: Student's interval of three
    half = 0.1 / math.sqrt(3) * scipy.stats.t.isf(0.025, 2)
    assert frame["pooled_high"].to_list() == pytest.approx([1 + half] * 2)
    assert not math.isnan(frame["exponent_low"][0])
    different = [flows[0], Flow(contestant=contestant("tcp reno", "reno"))]
    assert rtt_fairness.table(collected("flows", cells, flows=different)) is None
    fixed = [flows[0], flows[0].model_copy(update={"size_bytes": 1_000_000})]
    assert rtt_fairness.table(collected("flows", cells, flows=fixed)) is None


def test_rtt_unfairness_of_the_line_ups_of_two_flows_of_one_kind() -> None:
    """Each such line-up has its own p; the others have none."""
    one, other = Flow(contestant=contestant("tcp cubic")), Flow(contestant=contestant("tcp reno", "reno"))
    lineups = {"alike": [one, one], "mixed": [one, other], "three": [one, one, one], "again": [one, one]}
    powers = {"alike": 1.0, "mixed": 2.0, "three": 2.0, "again": 0.5}
    cells = []
    for name, flows in lineups.items():
        mbps = [1.0, 4 ** powers[name], 1.0][: len(flows)]
        trials = [trial(seed, mbps, rtts_ms=[80, 20, 20][: len(flows)]) for seed in range(3)]
        made = cell("flows", ["tcp cubic"] * len(flows), trials)
        cells.append(replace(made, key=f"link/{name}", lineup=name))
    found = collected("flows", cells)
    named = tuple(Lineup(name=name, flows=tuple(flows)) for name, flows in lineups.items())
    frame = rtt_fairness.table(replace(found, study=found.study.model_copy(update={"lineups": named})))
    assert frame is not None
    assert frame.select("group", "contestant", "rtt_ratio").rows() == [
        ("link/alike", "alike: tcp cubic", 4.0), ("link/again", "again: tcp cubic", 4.0)
    ]  # fmt: skip
    assert frame["exponent"].to_list() == pytest.approx([1.0, 0.5])
    assert frame["pooled"].to_list() == pytest.approx([1.0, 0.5])


@pytest.mark.parametrize(("count", "fits_a_phone"), [(3, True), (12, False)])
def test_a_map_of_many_columns_asks_for_room(count: int, *, fits_a_phone: bool) -> None:
    names = [f"stack-{k:02} cubic" for k in range(count)]
    pairs = {(x, y): [10.0, 10.5, 9.5] for x in names for y in names if x <= y}
    figure, *_ = figures_of_pairs.figures(study(pairs))
    assert (figure.least_width < 360) == fits_a_phone
    # "(0.50)" at 11 pixels is some 34 wide
    assert figure.least_width > 34 * count


def losses(own: list[float], other: list[float]) -> dict[str, Any]:
    """The row of v's loss beside x, where it loses ``own`` % beside itself, seed by seed."""
    cells = [
        cell(
            "pairwise", pair, [trial(seed, [10, 10], loss_percent=[lost] * 2) for seed, lost in enumerate(of)]
        )
        for pair, of in ((("v", "v"), own), (("v", "x"), other))
    ]
    made = collected("pairwise", cells, [contestant("v"), contestant("x")])
    return row(harm.table(made), victim="v", by="x", service="queue loss, %")


_LOST = [0.5, 1.2, 2.6, 1.9, 0.9, 2.2, 3.0, 1.4]


@pytest.mark.parametrize(
    ("own", "other", "verdict"), [([0.0] * 8, _LOST, harm.MORE), (_LOST, [0.0] * 8, harm.LESS)]
)
def test_a_loss_beside_none_is_judged_by_the_difference(
    own: list[float], other: list[float], verdict: str
) -> None:
    """0 % became 0.5 to 3 %: a harm of 1 "the same in every seed"."""
    found = losses(own, other)
    assert found["verdict"] == verdict
    assert found["p"] == pytest.approx(scipy.stats.ttest_rel(own, other).pvalue)
    assert (found["excess_low"], found["excess_high"]) == (None, None)
    said = sides.impact({"conformance": pl.DataFrame({"contestant": ["x"], "reference": ["v"]}),
                         "harm": pl.DataFrame([found])})["x"].findings[0]  # fmt: skip
    assert f"(difference {'' if verdict == harm.MORE else '−'}1.71 [" in said
    assert "percentage points)" in said


def test_few_seeds_with_and_without_a_loss_may_be_chance() -> None:
    """A path that loses in every second seed: three without and three with are one in 32."""
    found = losses([0.0] * 3, [1.0, 1.001, 0.999])
    assert (found["p"], found["verdict"]) == (1 / 32, "inconclusive")
    assert losses([0.0] * 3, [0.04, 0.041, 0.039])["verdict"] == "equivalent"


def test_harm_and_its_interval_are_tested_by_factors() -> None:
    """A loss that is skewed, as it is: accused in 3 % of pages without a difference, and not in 0.8."""
    own, other = [0.2, 0.5, 1.4, 0.3, 3.0], [2.0, 5.0, 3.0, 7.0, 12.0]
    ends = losses(own, other)
    mirrored = losses(other, own)
    assert ends["p"] == pytest.approx(mirrored["p"])
    assert 1 - ends["excess_low"] == pytest.approx(1 / (1 - mirrored["excess_high"]))
    assert ends["excess_high"] < 1


def test_without_a_pair_there_is_no_table_and_no_figure() -> None:
    found = study({}, {"a": [10.0, 10.0]})
    assert pairwise.table(found) is None
    assert pairwise.intra_cca(found) is None
    assert pairwise.transitivity(found) is None
    assert not list(figures_of_pairs.figures(found))
