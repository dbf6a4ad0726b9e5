"""Compare two snapshots: states, error rates, what counts as proof."""

from __future__ import annotations

import io
import json
import math
from collections.abc import Callable
from itertools import pairwise

import numpy as np
import pytest
import scipy.stats
from hypothesis import given
from hypothesis import strategies as st
from rich.console import Console

from cambrian.gate import carry_out, differences, output
from cambrian.gate.quantities import MARGINS
from cambrian.gate.snapshot import Parameter, Place, Probe, Snapshot
from cambrian.measure import quantities
from cambrian.report.compared import changes

SEEDS = 5


def snapshot(places: dict[str, Place] | None = None, packets: str = "a", trials: int = 2) -> Snapshot:
    return Snapshot(
        made_with={"cambrian": "1"},
        packets={f"alone/net seed {seed}": packets for seed in range(1, trials + 1)},
        places=places or {},
    )


def values(name: str, numbers: list[float]) -> Place:
    return Place(values={name: {str(seed): number for seed, number in enumerate(numbers, 1)}})


def parameter(value: float, arm: float, *, trials: int = 3, status: str = "as it should be") -> Parameter:
    return Parameter(value=value, low=value - arm, high=value + arm, trials=trials, events=50, status=status)


def beta(one: Parameter) -> Place:
    return Place(parameters={"beta": one})


def compared(before: Place, after: Place) -> differences.Difference:
    found = differences.snapshots(snapshot({"net": before}), snapshot({"net": after}, "b"))
    assert len(found.figures) == 1
    return found.figures[0]


def test_every_compared_quantity_is_in_the_registry() -> None:
    assert MARGINS.keys() <= quantities.ALL.keys()
    assert all(change.part >= 0 and change.least > 0 and change.why for change in MARGINS.values())


@given(
    st.dictionaries(
        st.sampled_from(sorted(MARGINS)), st.lists(st.floats(0, 1e4), min_size=1, max_size=8), max_size=4
    )
)
def test_a_snapshot_does_not_differ_from_itself(figures: dict[str, list[float]]) -> None:
    merged = {name: {str(seed): one for seed, one in enumerate(row, 1)} for name, row in figures.items()}
    one = snapshot({"net": Place(values=merged)})
    found = differences.snapshots(one, one)
    assert found.count("equivalent") == len(found.figures)
    assert found.same == 2 and carry_out.outcome_of(found) == "unchanged"


def test_few_events_of_the_same_packets_leave_nothing_open() -> None:
    place = beta(Parameter(value=0.7, low=0.1, high=1.3, trials=1, events=1, status="inconclusive"))
    one = snapshot({"net": place})
    assert [figure.state for figure in differences.snapshots(one, one).figures] == ["equivalent"]
    # another trial changed, or did not run
    for other in (snapshot({"net": place}, "b"), snapshot({"net": place}, trials=1)):
        assert [figure.state for figure in differences.snapshots(one, other).figures] == ["inconclusive"]


def test_a_large_change_in_every_seed_is_different() -> None:
    old = [9.4, 9.5, 9.45, 9.5, 9.42]
    one = compared(values("throughput_mbps", old), values("throughput_mbps", [3.0, 3.1, 2.9, 3.0, 3.05]))
    assert one.state == "different" and one.change == pytest.approx(-6.444)
    assert one.low is not None and one.high is not None and one.low < -6.444 < one.high


def test_a_longer_handshake_of_a_download_is_different() -> None:
    """The transfer time at the bottleneck begins after it."""
    assert compared(values("fetch_s", [1.5] * 5), values("fetch_s", [2.6] * 5)).state == "different"


def test_a_change_within_the_margin_is_equivalent() -> None:
    old = [9.40, 9.50, 9.45, 9.50, 9.42]
    one = compared(values("throughput_mbps", old), values("throughput_mbps", [v * 1.01 for v in old]))
    assert one.state == "equivalent"


def test_a_large_change_that_varies_with_the_seed_is_inconclusive() -> None:
    one = compared(
        values("throughput_mbps", [9, 2, 8, 3, 5]), values("throughput_mbps", [2.0, 9.5, 9.0, 8.0, 7.0])
    )
    assert one.state == "inconclusive" and not one.looks and one.why


def test_the_same_change_in_seeds_that_do_not_vary_is_proof() -> None:
    assert compared(values("plt_ms", [500.0] * 3), values("plt_ms", [900.0] * 3)).state == "different"
    assert compared(values("plt_ms", [500.0] * 3), values("plt_ms", [501.0] * 3)).state == "equivalent"


def test_fewer_than_three_seeds_prove_nothing() -> None:
    one = compared(values("plt_ms", [500.0, 501.0]), values("plt_ms", [900.0, 901.0]))
    assert one.state == "inconclusive" and one.looks


@pytest.mark.long
def test_seeds_without_a_change_are_rarely_called_different() -> None:
    """60 figures of five seeds, 400 times: the chance of any false alarm stays below 5 %."""
    draw = np.random.default_rng(1)
    alarms = 0
    for _ in range(400):
        arms = []
        for _ in ("before", "after"):
            places = {
                f"net{number}": values("throughput_mbps", list(draw.normal(10, 2, SEEDS)))
                for number in range(60)
            }
            arms.append(snapshot(places))
        alarms += bool(differences.snapshots(*arms).different)
    assert alarms / 400 <= 0.05 + 2 * math.sqrt(0.05 * 0.95 / 400)


def test_a_parameter_whose_intervals_part_is_different() -> None:
    one = compared(beta(parameter(0.7, 0.01)), beta(parameter(0.85, 0.01, status="off")))
    assert one.state == "different" and one.better is False
    back = compared(beta(parameter(0.85, 0.01, status="off")), beta(parameter(0.7, 0.01)))
    assert back.state == "different" and back.better is True


@pytest.mark.long
@pytest.mark.parametrize("spread", [0.005, 0.1, 0.4])
def test_parameters_without_a_change_are_rarely_called_different(spread: float) -> None:
    """40 networks with five trials each, 400 times, with spreads within the margin and far beyond it."""
    draw = np.random.default_rng(2)
    alarms = 0
    for _ in range(400):
        arms = []
        for _ in ("before", "after"):
            means = draw.normal(0.7, spread, (40, SEEDS))
            half = scipy.stats.t.ppf(0.975, SEEDS - 1) * means.std(axis=1, ddof=1) / math.sqrt(SEEDS)
            arms.append(
                snapshot(
                    {
                        f"net{number}": beta(parameter(float(row.mean()), float(arm), trials=SEEDS))
                        for number, (row, arm) in enumerate(zip(means, half, strict=True))
                    }
                )
            )
        alarms += bool(differences.snapshots(*arms).different)
    assert alarms / 400 <= 0.05 + 2 * math.sqrt(0.05 * 0.95 / 400)


def test_a_parameter_of_one_trial_on_one_network_proves_nothing() -> None:
    one = compared(beta(parameter(0.7, 0.01)), beta(parameter(0.85, 0.01, trials=1)))
    assert one.state == "inconclusive" and one.looks


def test_two_networks_with_one_trial_each_are_proof() -> None:
    old, new = beta(parameter(0.7, 0.01, trials=1)), beta(parameter(0.85, 0.01, trials=1))
    found = differences.snapshots(snapshot({"a": old, "b": old}), snapshot({"a": new, "b": new}, "b"))
    assert [one.state for one in found.figures] == ["different", "different"]


def test_a_wide_interval_is_inconclusive() -> None:
    one = compared(beta(parameter(0.7, 0.01)), beta(parameter(0.8, 0.2)))
    assert one.state == "inconclusive" and not one.looks


def test_a_change_that_is_likely_but_not_proven_looks_different() -> None:
    one = compared(beta(parameter(0.85, 0.01)), beta(parameter(0.75, 0.07)))
    assert one.state == "inconclusive" and one.looks


def test_another_kind_is_different() -> None:
    kinds = [
        Place(parameters={"pacing": Parameter(label=word, trials=5, events=40, status="other choice")})
        for word in ("paced", "not paced")
    ]
    assert compared(*kinds).state == "different"


def test_a_probe_compares_ratios_on_a_logarithmic_scale() -> None:
    def response(effect: float, state: str) -> Place:
        return Place(
            probes={"response": Probe(effect=effect, low=effect * 0.95, high=effect * 1.05, state=state)}
        )

    worse = compared(response(1.0, "equivalent"), response(4.0, "different"))
    assert worse.state == "different" and worse.better is False
    assert worse.change == pytest.approx(math.log(4))
    assert compared(response(1.0, "equivalent"), response(1.1, "equivalent")).state == "equivalent"


def probe_texts(name: str, *sides: tuple[float | None, float, str]) -> tuple[str, str, str]:
    """Before, after and the change in words, of (figure, effect, state) on both sides."""
    old, new = (
        Place(
            probes={name: Probe(mine=mine, effect=effect, low=effect * 0.99, high=effect * 1.01, state=state)}
        )
        for mine, effect, state in sides
    )
    one = compared(old, new)
    return one.before, one.after, output.change(one)


def test_a_probes_figures_are_those_that_were_measured() -> None:
    """A distance from 14 packets, or from the kernel's 100 %, is no number of packets or percent."""
    packets = probe_texts("timeout-packets", (8.667, -5.333, "equivalent"), (86.67, 72.67, "different"))
    assert packets[:2] == ("8.667 packets (equivalent)", "86.67 packets (different)")
    assert packets[2].startswith("+78 packets [")
    share = probe_texts("full-frames", (100.0, 0.0, "equivalent"), (53.4, -46.6, "different"))
    assert share[:2] == (
        "100 %, like kernel TCP's (equivalent)",
        "53.4 %, 46.6 below kernel TCP's (different)",
    )
    assert share[2].startswith("-46.6 percentage points [")
    carried = probe_texts("response", (6.3, 1.05, "equivalent"), (3.0, 0.5, "different"))
    assert carried[:2] == (
        "6.3 Mbps, 1.05 × kernel TCP's (equivalent)",
        "3 Mbps, 0.5 × kernel TCP's (different)",
    )
    assert carried[2].startswith("× 0.476 [0.4") and "margin × 1.33" in carried[2]


def test_a_baseline_without_a_probes_figure_says_the_same_of_both_sides() -> None:
    """As those of earlier versions: only where it has a bound does its distance give the figure."""
    packets = probe_texts("timeout-packets", (None, -5.333, "equivalent"), (86.67, 72.67, "different"))
    assert packets[:2] == ("8.667 packets (equivalent)", "86.67 packets (different)")
    share = probe_texts("full-frames", (None, -46.6, "different"), (53.4, -46.6, "different"))
    assert share[0] == share[1] == "46.6 below kernel TCP's (different)"


def test_trials_that_are_invalid_or_did_not_run_are_lost() -> None:
    before = snapshot()
    found = differences.packets(before, {"alone/net seed 1": "invalid: crashed", "alone/net seed 2": ""})
    assert found.lost == {"alone/net seed 1": "invalid: crashed", "alone/net seed 2": "did not run"}
    assert carry_out.outcome_of(found) == "not judged"


def test_other_packets_without_a_figure_are_not_judged() -> None:
    found = differences.snapshots(snapshot(), snapshot(packets="b"))
    assert found.changed == 2 and carry_out.outcome_of(found) == "not judged"


def test_outcomes() -> None:
    old = {"net": beta(parameter(0.85, 0.01, status="off"))}
    better = {"net": beta(parameter(0.7, 0.01))}
    same = {"net": beta(parameter(0.851, 0.01, status="off"))}

    def outcome(one: dict[str, Place], two: dict[str, Place]) -> str:
        return carry_out.outcome_of(differences.snapshots(snapshot(one), snapshot(two, "b")))

    assert outcome(old, better) == "better"
    assert outcome(better, old) == "different"
    assert outcome(old, same) == "equivalent"
    assert outcome(old, {"net": beta(parameter(0.75, 0.07))}) == "not judged"


def test_a_judged_parameter_or_probe_that_is_gone_is_not_judged() -> None:
    before, gone = beta(parameter(0.7, 0.01)), Parameter(trials=3, events=0, status="inconclusive")
    for after in (Place(), beta(gone)):
        one = compared(before, after)
        assert one.state == "inconclusive" and one.looks and "0 events, 50 before" in one.why
    few = beta(parameter(0.7, 0.01).model_copy(update={"events": 4}))
    assert not differences.snapshots(snapshot({"net": few}), snapshot({"net": Place()}, "b")).doubtful
    seeds = values("throughput_mbps", [9.4] * 3)
    for state, effect, looks in (("equivalent", 1.0, True), ("inconclusive", None, False)):
        answered = seeds.model_copy(update={"probes": {"response": Probe(effect=effect, state=state)}})
        found = differences.snapshots(snapshot({"net": answered}), snapshot({"net": seeds}, "b"))
        assert [one.looks for one in found.figures if one.name == "response"] == [looks]


@pytest.mark.parametrize("status", ["as it should be", "other choice", "off"])
def test_every_judged_status_that_is_gone_is_missed(status: str) -> None:
    before = beta(parameter(0.7, 0.01, status=status))
    assert carry_out.outcome_of(
        differences.snapshots(snapshot({"net": before}), snapshot({"net": Place()}, "b"))
    ) == ("not judged")


def of_seeds(count: int, packets: str) -> Snapshot:
    """Two groups of trials; the first has this many seeds, the second 12."""
    seeds = {"alone/net": count, "alone/other": 12}
    return Snapshot(
        made_with={},
        packets={f"{group} seed {seed}": packets for group in seeds for seed in range(1, seeds[group] + 1)},
        places={group: values("throughput_mbps", [9.4] * seeds[group]) for group in seeds},
        groups={group: [group] for group in seeds},
    )


def test_seeds_that_a_stopping_rule_no_longer_needs_are_not_lost() -> None:
    before, after = of_seeds(12, "a"), of_seeds(10, "b")
    stopped = after.model_copy(update={"stopped": frozenset({"alone/net"})})
    found = differences.snapshots(before, stopped)
    assert not found.lost and not found.gaps and carry_out.outcome_of(found) == "equivalent"
    # without a rule they should have run
    assert carry_out.outcome_of(differences.snapshots(before, after)) == "not judged"


def test_a_place_without_any_figure_now_is_not_judged() -> None:
    """Beside a rival a place has parameters alone, so that no figure by seed is missing."""
    rest = values("throughput_mbps", [9.4] * 3)
    gone = differences.snapshots(
        snapshot({"net": rest, "beside": beta(parameter(0.7, 0.01))}), snapshot({"net": rest}, "b")
    )
    (one,) = gone.doubtful
    assert (one.place, one.after) == ("beside", "–") and "0 events, 50 before" in one.why
    assert carry_out.outcome_of(gone) == "not judged"


def test_a_place_that_did_not_run_or_has_another_name_does_not_look_different() -> None:
    rest, other = values("throughput_mbps", [9.4] * 3), beta(parameter(0.7, 0.01))
    before = snapshot({"net": rest, "duel": other}).model_copy(
        update={"groups": {"net": ["alone/net"], "duel": ["duel/net"]}}
    )
    # a study without its group, as in a comparison of two stores
    assert not differences.snapshots(before, snapshot({"net": rest}, "b")).doubtful
    ran = {"alone/net seed 1": "b", "duel/net seed 1": "b"}
    after = snapshot({"net": rest, "duel beside tcp cubic": other}).model_copy(update={"packets": ran})
    named = {"net": ["alone/net"], "duel beside tcp cubic": ["duel/net"]}
    assert not differences.snapshots(before, after.model_copy(update={"groups": named})).doubtful
    assert not differences.snapshots(before.model_copy(update={"groups": {}}), after).doubtful
    assert differences.snapshots(before, after.model_copy(update={"places": {"net": rest}})).doubtful


@pytest.mark.parametrize("stalled", [1, 2])
def test_a_seed_that_stalls_is_no_equivalence(stalled: int) -> None:
    now = [0.1] * stalled + [9.41, 9.4, 9.39, 9.4][: 5 - stalled]
    before, after = values("throughput_mbps", [9.4] * 5), values("throughput_mbps", now)
    one = compared(before, after)
    assert one.looks and one.state != "equivalent"
    found = differences.snapshots(snapshot({"net": before}), snapshot({"net": after}, "b"))
    assert carry_out.outcome_of(found) == "not judged"


@pytest.mark.parametrize(
    ("name", "usual", "odd", "seeds"),
    [
        ("throughput_mbps", 9.4, 7.1, 5),
        ("throughput_mbps", 9.4, 5.7, 8),
        ("throughput_mbps", 9.4, 7.1, 20),
        ("throughput_mbps", 9.4, 0.0, 20),
        ("longest_pause_ms", 160.0, 1150.0, 5),
    ],
)
def test_one_seed_far_beyond_all_earlier_ones_is_no_equivalence(
    name: str, usual: float, odd: float, seeds: int
) -> None:
    """However many seeds there are, and although the mean changes by less than the margin."""
    before, after = values(name, [usual] * seeds), values(name, [usual] * 2 + [odd] + [usual] * (seeds - 3))
    one = compared(before, after)
    assert (one.state, one.looks, one.is_changed) == ("inconclusive", True, False)
    assert one.why == f"seed 3 has {odd:.4g}, all earlier seeds {usual:.4g} to {usual:.4g}"
    found = differences.snapshots(snapshot({"net": before}), snapshot({"net": after}, "b"))
    assert carry_out.outcome_of(found) == "not judged"
    # that the earlier version stalled now and then is no fault of this one
    assert not compared(after, before).looks


def test_a_seed_far_from_others_that_lie_far_apart_looks_the_same() -> None:
    """Two behaviours of one stack: 69 or 49 % of the link."""
    now = values("share_percent", [33.0, 69, 49, 69, 49])
    assert not compared(values("share_percent", [49.0, 69, 49, 69, 69]), now).looks
    assert compared(values("share_percent", [49.0, 50, 51, 50, 49]), now).looks


@pytest.mark.parametrize("seeds", [5, 8, 20])
def test_a_stack_without_a_change_rarely_has_a_seed_that_looks_different(seeds: int) -> None:
    """400 figures whose spread is from a tenth of the margin to three margins."""
    random = np.random.default_rng(seeds)
    found = []
    for spread in np.geomspace(0.05, 1.5, 400):
        old, new = (values("throughput_mbps", list(random.normal(10, spread, seeds))) for _ in range(2))
        found.append(compared(old, new))
    assert sum(one.looks and not one.is_changed for one in found) <= 0.05 * len(found)
    assert sum(one.state == "different" for one in found) <= 0.05 * len(found)


def test_what_is_off_now_and_was_not_judged_before_is_no_equivalence() -> None:
    """The parameter or probe is missing in the baseline, or has too few events, or no figure there."""
    seeds = values("throughput_mbps", [9.4] * 3)
    off = parameter(0.0, 0.01, status="off")
    few = Parameter(value=0.5, low=0.0, high=1.0, trials=1, events=1, status="inconclusive")

    def outcome(before: dict[str, object], after: dict[str, object]) -> tuple[str, list[str]]:
        old, new = (snapshot({"net": seeds.model_copy(update=one)}, packets)
                    for one, packets in ((before, "a"), (after, "b")))  # fmt: skip
        found = differences.snapshots(old, new)
        return carry_out.outcome_of(found), [one.why for one in found.doubtful]

    for before in ({}, {"marks_answered": few}):
        judged, (why,) = outcome({"parameters": before}, {"parameters": {"marks_answered": off}})
        assert judged == "not judged" and why.startswith(f"{differences.NEW}: 50 events, ")
    bad = Probe(mine=0.0, effect=-100.0, low=-100.0, high=-100.0, state="different")
    for none in ({}, {"full-frames": Probe(state="inconclusive")}):
        assert outcome({"probes": none}, {"probes": {"full-frames": bad}}) == (
            "not judged",
            [differences.NEW],
        )
    # few events may be missing by chance, and what is as it should be accuses nobody
    for harmless in (off.model_copy(update={"events": 5}), parameter(0.0, 0.01)):
        assert outcome({}, {"parameters": {"marks_answered": harmless}}) == ("equivalent", [])
    # the baseline had judged it
    assert outcome({"parameters": {"marks_answered": off}}, {"parameters": {"marks_answered": off}}) == (
        "equivalent", []
    )  # fmt: skip


def test_what_is_off_now_looks_different_from_a_wide_figure_before_if_the_change_is_no_chance() -> None:
    wide = parameter(0.7, 0.2, status="inconclusive")
    for value, looks in ((0.71, False), (0.85, False), (0.92, True)):
        one = compared(beta(wide), beta(parameter(value, 0.01, status="off")))
        assert (one.state, one.looks, one.is_changed) == ("inconclusive", looks, looks)


@pytest.mark.parametrize("spread", [1.0, 2.0, 3.0])
def test_an_unchanged_random_stack_rarely_looks_different_in_a_probe(spread: float) -> None:
    """Its figure is twice its margin from kernel TCP's; a run by chance proves that, or does not."""
    random, margin = np.random.default_rng(3), math.log(4 / 3)

    def run() -> Place:
        logs = random.normal(2 * margin, spread * margin, SEEDS)
        arm = float(scipy.stats.t.ppf(0.975, SEEDS - 1) * scipy.stats.sem(logs))
        mean = float(np.mean(logs))
        low, middle, high = (math.exp(mean + side * arm) for side in (-1, 0, 1))
        state = "different" if low > 1 else "inconclusive"
        one = Probe(effect=middle, low=low, high=high, state=state)
        return Place(values=values("throughput_mbps", [9.4] * SEEDS).values, probes={"response": one})

    pairs = [
        differences.snapshots(snapshot({"net": run()}), snapshot({"net": run()}, "b")) for _ in range(300)
    ]
    assert sum(bool(one.doubtful or one.different) for one in pairs) <= 0.06 * len(pairs)


def test_a_parameter_from_another_source_is_not_compared() -> None:
    """The packets of a stack gave 35.5 ± 2.6 for its first window, its own log 32: a log is no change."""
    packets, window = (
        # a trial has one initial window
        parameter(value, arm, trials=5, status="off").model_copy(update={"source": source, "events": 5})
        for value, arm, source in ((35.5, 2.6, "packets"), (32.0, 0.1, "window"))
    )
    first = "initial_window_packets"
    one = compared(Place(parameters={first: packets}), Place(parameters={first: window}))
    assert (one.state, one.looks) == ("inconclusive", False)
    assert one.why == "measured from the window now, and from the packets before"
    # a baseline of an earlier version does not say what the source is
    older = packets.model_copy(update={"source": None})
    assert compared(Place(parameters={first: older}), Place(parameters={first: window})).change == -3.5
    good = window.model_copy(update={"status": "as it should be"})
    assert compared(Place(parameters={first: good}), Place(parameters={first: packets})).looks


@pytest.mark.parametrize(
    ("name", "before", "after", "status", "looks"),
    [
        ("initial_window_packets", {"value": 10.0}, {"value": 40.0}, "off", True),
        ("initial_window_packets", {"value": 32.0}, {"value": 33.5}, "other choice", False),
        ("beta", {"value": 0.7}, {"value": 0.5}, "other choice", True),
        ("beta", {"value": 0.7}, {"value": 0.72}, "as it should be", False),
        ("pacing", {"label": "paced"}, {"label": "unpaced"}, "other choice", True),
        ("pacing", {"label": "paced"}, {"label": "paced"}, "other choice", False),
    ],
)
def test_a_large_change_looks_different_whatever_the_source(
    name: str, before: dict[str, object], after: dict[str, object], status: str, looks: bool
) -> None:
    """A stack that loses its log, and starts with 40 packets, not 10, was equivalent."""

    def made(figure: dict[str, object], source: str, status: str) -> Place:
        ends = {"agreement": 1.0}
        if isinstance(value := figure.get("value"), float):
            ends = {"low": value * 0.99, "high": value * 1.01}
        all_ = {**figure, **ends, "trials": 5, "events": 5, "status": status, "source": source}
        return Place(parameters={name: Parameter.model_validate(all_)})

    one = compared(made(before, "window", "as it should be"), made(after, "packets", status))
    assert (one.state, one.looks) == ("inconclusive", looks)


def test_a_figure_that_seeds_no_longer_have_is_a_gap() -> None:
    before, some = values("completion_s", [10.0] * 5), values("completion_s", [10.0] * 3)
    found = differences.snapshots(snapshot({"net": before}, trials=5), snapshot({"net": some}, "b", trials=5))
    assert found.gaps == ("transfer time at the bottleneck (net): seeds 4, 5",) and not found.missing
    assert carry_out.outcome_of(found) == "not judged"


def test_another_study_accuses_no_stack() -> None:
    before = snapshot({"net": values("completion_s", [1.14] * 5)}, trials=5)
    after = snapshot({"net": values("completion_s", [1.21] * 5)}, "b", trials=5)
    assert carry_out.outcome_of(differences.snapshots(before, after)) == "different"
    slow, fast = (one.model_copy(update={"conditions": {"alone/net": f"rate_mbps = {rate}, rtt_ms = 40.0"}})
                  for one, rate in ((after, 7.5), (before, 8.0)))  # fmt: skip
    found = differences.snapshots(fast, slow)
    assert carry_out.outcome_of(found) == "not judged"
    (first, *_) = output.notes(found)
    assert first == "the study is another one: alone/net: rate_mbps = 8.0 → rate_mbps = 7.5"
    # a baseline of an older version has no conditions
    assert carry_out.outcome_of(differences.snapshots(before, slow)) == "different"


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ([{"pacing": True}] * 25, 'pacing = false → flows[0-24].contestant.options.pacing = true'),
        (
            [{"pacing": not 3 <= n <= 20} for n in range(25)],
            "pacing = false → flows[0-2, 21-24].contestant.options.pacing = true",
        ),
        ([{"pacing": False, "name": "a, b"}] + [{"pacing": False}] * 24,
         'nothing → flows[0].contestant.options.name = "a, b"'),
        ([{}] + [{"pacing": False}] * 24, "flows[0].contestant.options.pacing = false → nothing"),
        ([{"pacing": n} for n in range(25)], "flows[4].contestant.options.pacing = 4 and 20 more"),
        ([{"pacing": False}] * 26, "length of flows = 25 → length of flows = 26, flows[25].contestant"),
        ([{"pacing": False}] * 25 + [{}], "length of flows = 25 → length of flows = 26"),
    ],
)  # fmt: skip
def test_another_study_is_told_by_what_differs_alone(options: list[dict[str, object]], said: str) -> None:
    """An option of one flow, or of each of 25, is no reason for two whole lists."""

    def with_options(those: list[dict[str, object]]) -> Snapshot:
        flows = [{"contestant": {"options": one} if one else {}} for one in those]
        text = f"starts_ms = [0.0,5.0], flows = {json.dumps(flows, separators=(',', ':'))}"
        return snapshot().model_copy(update={"settings": {"alone/net": text}})

    found = differences.snapshots(with_options([{"pacing": False}] * 25), with_options(options))
    (first, *_) = output.notes(found)
    assert said in first and "starts_ms" not in first and len(first) < 350


def test_conditions_that_cannot_be_read_are_shown_whole() -> None:
    """A baseline is a file that a person can edit."""
    old, new = (
        snapshot().model_copy(update={"conditions": {"alone/net": text}}) for text in ("x = [", "y = 1")
    )
    (first, *_) = output.notes(differences.snapshots(old, new))
    assert first == "the study is another one: alone/net: x = [ → y = 1"


def test_trials_that_are_invalid_for_one_reason_are_one_note() -> None:
    before, after = snapshot(trials=5), snapshot(packets="invalid: CCA: asked for cubic, runs reno", trials=5)
    lost = [note for note in output.notes(differences.snapshots(before, after)) if "cannot be" in note]
    assert lost == [
        "cannot be compared: alone/net seed 1 and 4 more: invalid: CCA: asked for cubic, runs reno"
    ]


def test_other_seeds_are_no_gap_and_one_sentence() -> None:
    places = {"net": values("throughput_mbps", [9.0, 9.1, 9.2, 9.3])}
    before = snapshot(places, trials=4)
    moved = {name: {str(int(seed) + 100): value for seed, value in by_seed.items()}
             for name, by_seed in places["net"].values.items()}  # fmt: skip
    after = Snapshot(
        made_with=before.made_with,
        packets={f"alone/net seed {seed}": "b" for seed in range(101, 105)},
        places={"net": Place(values=moved)},
    )
    found = differences.snapshots(before, after)
    assert not found.gaps
    about = [text for text in output.notes(found) if "trial" in text][1:]
    assert about == [
        "the two have no trial in common, such as with other seeds: 4 trials before, 4 now. Their figures "
        "are compared as those of independent seeds"
    ]
    assert "to 3 or more" not in output.more_seeds(found)


def test_a_trial_that_is_invalid_on_both_sides_is_not_the_same() -> None:
    both = snapshot(packets="invalid: crashed")
    found = differences.packets(both, both.packets)
    assert found.same == 0 and len(found.lost) == 2


def test_a_kind_on_which_few_events_agree_proves_nothing() -> None:
    kinds = [
        Place(
            parameters={
                "pacing": Parameter(label=word, agreement=0.6, trials=5, events=5, status="not judged")
            }
        )
        for word in ("paced", "not paced")
    ]
    assert compared(*kinds).state == "inconclusive"


@pytest.mark.parametrize(
    ("trials", "agreement", "state", "looks"),
    [(5, 1.0, "different", True), (5, 0.8, "inconclusive", False), (3, 1.0, "inconclusive", True),
     (10, 0.9, "different", True)],
)  # fmt: skip
def test_a_kind_differs_only_where_trials_of_one_stack_would_not(
    trials: int, agreement: float, state: str, looks: bool
) -> None:
    kinds = [
        Place(
            parameters={
                "slow_start_exit": Parameter(
                    label=word, agreement=agreement, trials=trials, events=trials, status="other choice"
                )
            }
        )
        for word in ("hystart", "loss")
    ]
    one = compared(*kinds)
    assert (one.state, one.looks) == (state, looks)


def test_a_stack_whose_kind_is_a_coin_is_the_same_stack() -> None:
    random = np.random.default_rng(3)

    def taken() -> Place:
        heads = int(random.binomial(5, 0.5))
        kind = Parameter(
            label="hystart" if heads >= 3 else "loss",
            agreement=max(heads, 5 - heads) / 5,
            trials=5,
            events=5,
            status="other choice",
        )
        return Place(parameters={"slow_start_exit": kind})

    pairs = [compared(taken(), taken()).state for _ in range(400)]
    assert pairs.count("different") <= 4


def test_a_figure_by_seed_has_seeds() -> None:
    with pytest.raises(ValueError, match="at least 1"):
        Place(values={"throughput_mbps": {}})


def on(networks: int, draw: Callable[[], Place], packets: str, who: str = "") -> Snapshot:
    """Each network with a group of trials of its own."""
    places = {f"net{number}{who}": draw() for number in range(networks)}
    trials = {f"{place} seed {seed}": packets for place in places for seed in range(1, SEEDS + 1)}
    return Snapshot(made_with={}, packets=trials, places=places)


@pytest.mark.parametrize("seeds", [3, 4, 5])
@pytest.mark.parametrize("noise", [0.0, 0.05])
def test_a_stack_that_does_one_of_two_things_is_the_same_stack(seeds: int, noise: float) -> None:
    """20 networks, on each of which a seed has one of two rates: before, half of such pages accused."""
    random = np.random.default_rng(seeds)

    def coin() -> Place:
        rates = np.where(random.random(seeds) < 0.5, 10.0, 5.0) + random.normal(0, noise, seeds)
        return values("throughput_mbps", list(rates))

    alarms = sum(
        bool(differences.snapshots(on(20, coin, "a"), on(20, coin, "b")).different) for _ in range(100)
    )
    assert alarms <= 9


def test_a_row_says_the_means_of_the_seeds_that_it_compares() -> None:
    """The two seeds that one side lacks would turn the change around."""
    before = values("throughput_mbps", [9.0, 9.1, 9.2])
    one = compared(before, values("throughput_mbps", [8.0, 8.2, 8.1, 20.0, 20.0]))
    assert (one.before, one.after, one.seeds) == ("9.1", "8.1", 3)
    assert one.change == pytest.approx(-1)


def test_few_seeds_prove_a_change_that_several_networks_show() -> None:
    """Three seeds are few for one network of twelve, and enough for three."""

    def changed(count: int) -> list[str]:
        places = {f"net{number}": values("throughput_mbps", [9.4, 9.5, 9.45]) for number in range(12)}
        slow = {f"net{number}": values("throughput_mbps", [3.1, 3.0, 2.9]) for number in range(count)}
        trials = {packets: {f"{place} seed 1": packets for place in places} for packets in "ab"}
        before = Snapshot(made_with={}, packets=trials["a"], places=places)
        after = Snapshot(made_with={}, packets=trials["b"], places=places | slow)
        found = differences.snapshots(before, after)
        assert len(found.different) + len(found.doubtful) == count
        return [one.place for one in found.different]

    assert changed(1) == [] and sorted(changed(3)) == ["net0", "net1", "net2"]


def test_a_change_on_very_many_networks_is_proven() -> None:
    before = on(2400, lambda: values("plt_ms", [500.0] * 3), "a")
    after = on(2400, lambda: values("plt_ms", [500.0] * 3), "b")
    slow = {name: values("plt_ms", [900.0] * 3) for name in list(after.places)[:1200]}
    found = differences.snapshots(before, after.model_copy(update={"places": after.places | slow}))
    assert len(found.different) == 1200


def test_other_contestants_do_not_confirm_a_parameter_of_one_trial() -> None:
    old, new = parameter(0.7, 0.01, trials=1), parameter(0.85, 0.01, trials=1)
    names = ("net a cubic", "net b cubic")
    found = differences.snapshots(
        snapshot({name: beta(old) for name in names}), snapshot({name: beta(new) for name in names}, "b")
    )
    assert not found.different and len(found.doubtful) == 2


def test_a_parameter_of_few_trials_must_change_the_same_way_on_all_networks() -> None:
    old, up, down = (beta(parameter(value, 0.01, trials=2)) for value in (0.7, 0.85, 0.55))

    def states(*now: Place) -> list[str]:
        names = [f"net{number}" for number in range(len(now))]
        before, after = dict.fromkeys(names, old), dict(zip(names, now, strict=True))
        return [one.state for one in differences.snapshots(snapshot(before), snapshot(after, "b")).figures]

    assert states(up) == ["inconclusive"]
    assert states(up, up) == ["different", "different"]
    assert "different" not in states(up, down) and "different" not in states(up, up, old)


def test_a_parameter_of_one_seed_is_not_different() -> None:
    """The spread of the events of one trial says nothing on how trials differ."""
    one = values("throughput_mbps", [9.4])
    old, new = (
        one.model_copy(update={"parameters": {"beta": parameter(value, 0.01, trials=1)}})
        for value in (0.7, 0.85)
    )
    found = differences.snapshots(snapshot({"a": old, "b": old}), snapshot({"a": new, "b": new}, "b"))
    assert not found.different and len(found.doubtful) == 2


def test_the_tests_are_corrected_for_all_comparisons_of_a_page() -> None:
    random = np.random.default_rng(4)

    def normal() -> Place:
        return values("throughput_mbps", list(random.normal(10, 2, SEEDS)))

    pages = [[on(1, normal, str(number)) for number in range(10)] for _ in range(200)]
    alarms = sum(
        any(differences.snapshots(*pair, comparisons=9).different for pair in pairwise(page))
        for page in pages
    )
    assert alarms / len(pages) <= 0.05 + 2 * math.sqrt(0.05 * 0.95 / len(pages))


def test_equal_packets_leave_nothing_open_beside_invalid_trials() -> None:
    """Neither too few seeds nor trials that are invalid on both sides, as in a store and itself."""
    place = {"net": values("throughput_mbps", [9.0])}
    one = snapshot(place, trials=1)
    one = one.model_copy(update={"packets": {**one.packets, "alone/net seed 2": "invalid: it stopped"}})
    found = differences.snapshots(one, one)
    assert [(figure.state, figure.why) for figure in found.figures] == [("equivalent", "")]
    assert found.lost
    # valid on one side: its figures come from other trials
    more = snapshot({"net": values("throughput_mbps", [9.0, 5.0])}, trials=2)
    for before, after in ((one, more), (more, one)):
        (figure,) = differences.snapshots(before, after).figures
        # the seed in common alone: the other one has no packets to compare with
        assert (figure.state, figure.before, figure.after, figure.seeds) == ("equivalent", "9", "9", 1)


def test_packets_are_compared_by_the_group_of_trials_behind_a_figure() -> None:
    """What another contestant sent, or did not, leaves nothing open in a figure of the same packets."""
    few = Parameter(value=0.7, low=0.1, high=1.3, trials=1, events=1, status="inconclusive")
    both = {f"net {who}": values("throughput_mbps", [9.0]) for who in ("a", "b")}
    places = {name: place.model_copy(update={"parameters": {"beta": few}}) for name, place in both.items()}
    before = Snapshot(
        made_with={},
        packets={f"net/{who} seed 1": "1" for who in ("a", "b")},
        places=places,
        groups={f"net {who}": [f"net/{who}"] for who in ("a", "b")},
    )
    changed = before.model_copy(update={"packets": before.packets | {"net/b seed 1": "2"}})
    states = {(one.place, one.name): one.state for one in differences.snapshots(before, changed).figures}
    assert states == {
        ("net a", "throughput_mbps"): "equivalent",
        ("net a", "beta"): "equivalent",
        ("net b", "throughput_mbps"): "inconclusive",
        ("net b", "beta"): "inconclusive",
    }
    missing = before.model_copy(
        update={
            "packets": {"net/a seed 1": "1"},
            "places": {"net a": places["net a"]},
            "groups": {"net a": ["net/a"]},
        }
    )
    assert [one.state for one in differences.snapshots(before, missing).figures] == ["equivalent"] * 2


@pytest.mark.parametrize(
    "now",
    [
        {"parameters": {"marks_answered": parameter(0.0, 0.01, status="off")}},
        {"parameters": {"beta": parameter(0.5, 0.01, status="off")}},
        {"probes": {"full-frames": Probe(effect=-100.0, low=-100.0, high=-100.0, state="different")}},
        {},
    ],
)
def test_a_figure_of_the_same_packets_never_looks_different(now: dict[str, object]) -> None:
    """A baseline of an earlier version lacks it, or has it otherwise; another network changed."""
    usual = values("throughput_mbps", [9.4] * 5)
    places = {"a": usual.model_copy(update={"parameters": {"beta": parameter(0.7, 0.01)}}), "b": usual}
    packets = {f"{net} seed {seed}": "1" for net in "ab" for seed in range(1, 6)}
    groups = {"a": ["a"], "b": ["b"]}
    before = Snapshot(made_with={}, packets=packets, places=places, groups=groups)
    for changed, outcome in (("b", "equivalent"), ("a", None)):
        others = packets | {trial: "2" for trial in packets if trial.startswith(changed)}
        after = before.model_copy(
            update={"packets": others, "places": places | {"a": usual.model_copy(update=now)}}
        )
        found = differences.snapshots(before, after)
        assert (carry_out.outcome_of(found) == "equivalent") == (outcome == "equivalent")
        if outcome:
            assert {one.why for one in found.figures if one.state != "equivalent"} <= {differences.MEASURED}


def test_seeds_in_common_that_are_the_same_do_not_look_different() -> None:
    """One seed beside the means of four, one of which is the same; and a parameter of these trials."""
    four = values("throughput_mbps", [2.0, 4.0, 4.0, 4.0])
    four = four.model_copy(update={"parameters": {"initial_window_packets": parameter(10, 0.1, trials=4)}})
    one = values("throughput_mbps", [2.0])
    one = one.model_copy(update={"parameters": {"initial_window_packets": parameter(64, 0.1, trials=1)}})
    found = differences.snapshots(snapshot({"net": four}, trials=4), snapshot({"net": one}, trials=1))
    assert not found.doubtful and not found.different
    by_name = {figure.name: figure for figure in found.figures}
    throughput = by_name["throughput_mbps"]
    assert (throughput.state, throughput.before, throughput.after) == ("equivalent", "2", "2")
    window = by_name["initial_window_packets"]
    assert (window.state, window.why) == ("inconclusive", differences.ONLY_IN_ONE)
    assert output.more_seeds(found) == (
        "The same seeds on both sides may settle the inconclusive figure: run the missing ones too"
    )
    # other packets: the seed in common has not changed, and the others are of one side alone
    found = differences.snapshots(snapshot({"net": four}, trials=4), snapshot({"net": one}, "b", trials=1))
    (throughput,) = (figure for figure in found.figures if figure.name == "throughput_mbps")
    assert (throughput.before, throughput.after, throughput.looks) == ("2", "2", False)


def test_percents_differ_by_percentage_points() -> None:
    one = compared(values("queue_loss_percent", [8.0] * SEEDS), values("queue_loss_percent", [0.5] * SEEDS))
    assert output.change(one) == "-7.5 percentage points [-7.5, -7.5], margin 2"
    assert changes.change(one) == "−7.5 percentage points"
    assert changes.margin(one) == "2 percentage points"


def test_what_two_studies_leave_open_has_a_hint() -> None:
    place = {"net": values("throughput_mbps", [9.0, 9.0])}
    open_ = differences.snapshots(snapshot(place), snapshot(place, "b"))
    assert output.more_seeds(open_) == (
        "More seeds may settle the inconclusive figure: raise seeds in the study to 3 or more, and run it "
        "again"
    )
    assert output.more_seeds(differences.snapshots(snapshot(place), snapshot(place))) == ""
    # a parameter that few of the study's trials show
    rare = Parameter(value=0.7, low=0.1, high=1.3, trials=1, events=1, status="inconclusive")
    seeds = values("throughput_mbps", [9.0, 9.1, 8.9, 9.0])
    place = {"net": seeds.model_copy(update={"parameters": {"beta": rare}})}
    assert output.more_seeds(differences.snapshots(snapshot(place), snapshot(place, "b"))) == (
        "More seeds may settle the inconclusive figure: raise seeds in the study, and run it again"
    )
    # the same parameter from two sources stays inconclusive with any number of seeds
    log, packets = (
        {
            "net": seeds.model_copy(
                update={"parameters": {"beta": parameter(value, 0.01).model_copy(update={"source": source})}}
            )
        }
        for value, source in ((0.7, "log"), (0.8, "packets"))
    )
    found = differences.snapshots(snapshot(log), snapshot(packets, "b"))
    assert {one.settled_by for one in found.figures if one.name == "beta"} == {"source"}
    assert output.more_seeds(found) == ""
    # nor do seeds settle what is only measured in another way, or a figure that is surely missing
    beta = {"beta": parameter(0.7, 0.01).model_copy(update={"events": 100, "status": "as it should be"})}
    whole, gone = ({"net": seeds.model_copy(update={"parameters": one})} for one in (beta, {}))
    found = differences.snapshots(snapshot(whole), snapshot(gone, "b"))
    assert {one.settled_by for one in found.figures if one.name == "beta" and one.looks} == {"figure"}
    assert output.more_seeds(found) == ""
    faster = {"net": values("throughput_mbps", [12.0, 12.1, 11.9, 12.3])}
    found = differences.snapshots(snapshot({"net": seeds}), snapshot(faster))
    assert {one.why for one in found.figures} == {differences.MEASURED}
    assert output.more_seeds(found) == ""
    (first, *_) = output.notes(differences.snapshots(snapshot(trials=1), snapshot(trials=1)))
    assert first == "1 trial sent the same packets, 0 others"


def test_a_parameter_has_the_decimals_of_its_interval() -> None:
    """ "0.6719 ± 0.2" had more digits than are known, and a report of the same trials said 0.67 ± 0.20."""

    def beta(value: float, half: float) -> Place:
        all_ = {"value": value, "low": value - half, "high": value + half, "trials": 5, "events": 5}
        return Place(parameters={"beta": Parameter.model_validate(all_ | {"status": "as it should be"})})

    one = compared(beta(0.6719, 0.2), beta(0.636, 0.14))
    assert (one.before, one.after) == ("0.672 ± 0.200", "0.636 ± 0.140")


def test_a_long_name_is_whole_in_a_narrow_table() -> None:
    place = "net/quinn-" + "label" * 10
    found = differences.snapshots(
        snapshot({place: values("throughput_mbps", [1.0, 1.1, 1.2, 1.0, 1.1])}),
        snapshot({place: values("throughput_mbps", [9.0, 9.1, 9.2, 9.0, 9.1])}, "b"),
    )
    printed = io.StringIO()
    output.terminal(Console(file=printed, width=80), found)
    cells = [line.split("│")[2].strip() for line in printed.getvalue().splitlines() if line.count("│") == 5]
    assert "".join(cells).startswith(place)
