"""From single trials to findings: which source counts, what spoils what, and what several networks settle."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

import pytest

from cambrian.judging import contestants, findings, references
from cambrian.judging.contestants import Judged
from cambrian.judging.findings import Finding
from cambrian.metrics.parameters.estimate import Estimate, Missing, Source, of_kind, of_share

LATER = "BBRv2- or v3-like"


def one(
    parameter: str,
    value: float,
    label: str | None = None,
    source: Source = "window",
    half: float = 0.001,
    events: int = 12,
) -> Estimate:
    return Estimate(parameter, (value,), half, source, label, events)


def trials(*estimates: Estimate | Missing, count: int = 2) -> list[list[Estimate | Missing]]:
    """So many trials that show the same, and differ by something that nothing judges."""
    return [[*estimates, one("burst_packets", 2.0 + number)] for number in range(count)]


def judge(family: str, *estimates: Estimate | Missing, count: int = 2, network: str = "n") -> Judged:
    return contestants.judge(network, family, trials(*estimates, count=count))


def statuses(family: str, *estimates: Estimate | Missing) -> dict[str, str]:
    found = judge(family, *estimates)
    return {finding.key: finding.status for finding in found.findings if finding.key != "burst_packets"}


def test_the_window_is_judged_and_packets_are_kept_beside_it() -> None:
    found = judge("cubic", one("beta", 0.7), one("beta", 0.72, source="packets"))
    assert [f.measured.source for f in found.findings if f.key == "beta"] == ["window"]
    assert {measured.source for measured in found.both} == {"window", "packets"}


def test_packets_are_judged_where_there_is_no_window() -> None:
    gap = Missing("beta", "the stack exports nothing", "window")
    found = judge("cubic", gap, one("beta", 0.85, source="packets"))
    assert statuses("cubic", gap, one("beta", 0.85, source="packets")) == {"beta": "off"}
    assert found.missing == {}


def test_a_logged_rate_that_is_too_low_is_the_logs_affair_if_packets_leave_as_they_should() -> None:
    """Bytes a second, or bytes of the application: 0.12 and 0.96 were off, beside 0.99 by packets."""
    first = one("bbr_generation", 0, "BBRv1-like")

    def cruise(log: float, packets: float) -> str:
        sent = one("cruise_factor", packets, source="packets", half=0.004)
        return statuses("bbr", first, one("cruise_factor", log, half=0.004), sent)["cruise_factor"]

    assert [cruise(0.124, 0.99), cruise(0.957, 0.99)] == ["inconclusive", "inconclusive"]
    # too slow by both; or faster than the link, so that the window holds the packets back
    assert [cruise(0.9, 0.9), cruise(1.188, 1.0)] == ["off", "off"]


def test_a_logged_rate_that_is_too_high_is_the_logs_affair_if_packets_leave_as_they_should_and_probe() -> (
    None
):
    """Bits for bytes: 7.92 was off, beside 0.99 by packets that show the pacer's probes."""
    first = one("bbr_generation", 0, "BBRv1-like")
    sent = one("cruise_factor", 0.99, source="packets", half=0.004)
    probes = one("probe_up_gain", 1.25, source="packets", half=0.01)
    log = one("cruise_factor", 7.92, half=0.004)
    assert statuses("bbr", first, log, sent, probes)["cruise_factor"] == "inconclusive"
    assert statuses("bbr", first, log, sent)["cruise_factor"] == "off"
    slow = one("cruise_factor", 1.2, source="packets", half=0.004)
    assert statuses("bbr", first, log, slow, probes)["cruise_factor"] == "off"


@pytest.mark.parametrize("gain", [2.77, 2.885])
def test_both_gains_of_startup_are_right(gain: float) -> None:
    first = one("bbr_generation", 0, "BBRv1-like")
    for half in (0.02, 0.1):
        assert (
            statuses("bbr", first, one("startup_gain", gain, half=half))["startup_gain"] == "as it should be"
        )
    assert statuses("bbr", first, one("startup_gain", 2.5, half=0.02))["startup_gain"] == "off"


def test_what_no_source_shows_is_missing_with_its_reason() -> None:
    found = contestants.judge("n", "cubic", [[Missing("beta", "no congestion event")]])
    assert (found.findings, found.missing) == ((), {"beta": "no congestion event"})


def test_the_reason_is_the_logs_own_if_there_is_a_log() -> None:
    reasons = [
        Missing("cwnd_gain", "bounded by inflight_hi", "window"),
        Missing("cwnd_gain", "paced", "packets"),
    ]
    for trial in (reasons, reasons[::-1]):
        assert contestants.judge("n", "bbr", [trial]).missing == {"cwnd_gain": "bounded by inflight_hi"}


def test_of_several_reasons_the_commonest_is_said() -> None:
    """What 1 of 10 trials said was named: the last one's reason won."""
    whys = ("paced", "paced", "no first flight")
    trials = [[Missing("slow_start_exit", why, "packets")] for why in whys]
    assert contestants.judge("n", "cubic", trials).missing == {"slow_start_exit": "paced"}


def test_events_that_are_taken_back_spoil_the_fits_between_them() -> None:
    growth, rollback = one("cubic_growth", 1, "another"), one("rollback_share", 0.9, half=0.05)
    assert statuses("cubic", growth)["cubic_growth"] == "off"
    assert statuses("cubic", growth, rollback) == {"cubic_growth": "not judged", "rollback_share": "off"}


def test_a_later_bbr_is_compared_with_its_own_draft() -> None:
    drain = one("probe_down_gain", 0.9, half=0.01)
    assert statuses("bbr", drain, one("bbr_generation", 0, "BBRv1-like"))["probe_down_gain"] == "off"
    by_probing = one("bbr_generation", 1, "BBRv2- or v3-like")
    by_probe_rtt = one("probe_rtt_interval_s", 5.0, half=0.2)
    for sign in (by_probing, by_probe_rtt):
        found = judge("bbr", drain, sign)
        assert found.family == references.LATER_BBR
        assert {f.status for f in found.findings if f.key == "probe_down_gain"} == {"as it should be"}


def test_a_bbr_of_unknown_generation_is_not_accused_of_what_a_later_one_does() -> None:
    """An ngtcp2 whose receiver acknowledges each tenth packet: the times between its probes fit nothing."""
    drain, window = one("probe_down_gain", 0.897, half=0.01), one("probe_rtt_packets", 38.0)
    shallow = one("probe_down_gain", 0.6, half=0.01)
    assert statuses("bbr", drain, window) == {
        "probe_down_gain": "inconclusive",
        "probe_rtt_packets": "inconclusive",
    }
    assert statuses("bbr", shallow)["probe_down_gain"] == "off"
    # Google's BBRv2 waits as long for its ProbeRTT as the first generation
    every_10_s = one("probe_rtt_interval_s", 10.0, half=0.2)
    assert statuses("bbr", drain, window, every_10_s) == {
        "probe_down_gain": "inconclusive",
        "probe_rtt_packets": "inconclusive",
        "probe_rtt_interval_s": "as it should be",
    }
    first = one("bbr_generation", 0, "BBRv1-like")
    assert statuses("bbr", drain, window, every_10_s, first)["probe_down_gain"] == "off"
    # the interval of one trial is too little to choose the later draft, and to accuse by the first
    nothing = [Missing("probe_rtt_interval_s", "no two ProbeRTTs", "window")]
    once = contestants.judge("n", "bbr", [[one("probe_rtt_interval_s", 5.0, half=0.2), window], nothing])
    assert {(f.status, f.looks) for f in once.findings} == {("inconclusive", None)}


def test_a_bbr_of_unknown_generation_is_not_accused_of_a_small_window() -> None:
    """A later one bounds it, too: a BBRv3 on a path of 8 packets had "0.88 BDP; should be 2"."""
    first = one("bbr_generation", 0, "BBRv1-like")
    small, large = one("cwnd_gain", 1.0, half=0.1), one("cwnd_gain", 2.6, half=0.1)
    assert statuses("bbr", small)["cwnd_gain"] == "inconclusive"
    assert statuses("bbr", large)["cwnd_gain"] == "off"
    assert statuses("bbr", small, first)["cwnd_gain"] == "off"


@pytest.mark.parametrize(
    "trials",
    [
        [[one("probe_rtt_interval_s", 10.0, half=0.2, events=1)], []],
        [[one("bbr_generation", 0, "BBRv1-like")], [], []],
        [[one("bbr_generation", 0, "BBRv1-like")], [one("bbr_generation", 1, "BBRv2- or v3-like")]],
    ],
)
def test_too_little_of_the_first_generation_accuses_no_later_one(trials: list[list[Estimate]]) -> None:
    drained = [one("probe_down_gain", 0.897, half=0.01)]
    found = contestants.judge("n", "bbr", [[*trial, *drained] for trial in trials])
    assert {f.status for f in found.findings if f.key == "probe_down_gain"} <= {
        "inconclusive",
        "as it should be",
    }


def test_a_later_generations_other_value_excuses_no_first_one() -> None:
    """quiche's first BBR: 0.75 on a network where it is taken for a later one, and 0.80 on another."""
    drained, first = one("probe_down_gain", 0.80, half=0.01), one("bbr_generation", 0, "BBRv1-like")
    later = judge(
        "bbr", one("bbr_generation", 1, LATER), one("probe_down_gain", 0.75, half=0.01), network="a"
    )
    settled = contestants.combined({"a": later, "b": judge("bbr", first, drained, network="b")})
    status = {n: f.status for n, here in settled.items() for f in here.findings if f.key == "probe_down_gain"}
    assert status == {"a": "inconclusive", "b": "off"}


@pytest.mark.parametrize(("key", "value"), [("probe_up_gain", 1.111), ("startup_gain", 3.09)])
def test_behind_rare_acknowledgements_a_later_bbr_may_drain_until_it_probes(key: str, value: float) -> None:
    later, first = one("bbr_generation", 1, LATER), one("bbr_generation", 0, "BBRv1-like")
    usual, rare = (one("ack_every_packets", value, half=0.1) for value in (2.0, 10.0))
    assert statuses("bbr", later, one(key, value), usual)[key] == "off"
    assert statuses("bbr", later, one(key, value), rare)[key] == "inconclusive"
    assert statuses("bbr", first, one(key, value), rare)[key] == "off"
    # draining is slower than cruising
    for rate, status in ((0.891, "inconclusive"), (1.19, "off")):
        assert statuses("bbr", later, one("cruise_factor", rate), rare)["cruise_factor"] == status


def test_growth_behind_rare_acknowledgements_is_not_called_slow() -> None:
    """RFC 9438, section 4.2, lets a window grow once for each acknowledgement (ngtcp2: C of 0.17 for 0.4)."""
    slow, fast = one("cubic_c", 0.17, half=0.05), one("cubic_c", 0.9, half=0.05)
    usual, rare = (one("ack_every_packets", value, half=0.1) for value in (2.0, 10.0))
    assert statuses("cubic", slow, usual)["cubic_c"] == "off"
    assert statuses("cubic", slow, rare)["cubic_c"] == "inconclusive"
    assert statuses("cubic", fast, rare)["cubic_c"] == "off"
    other = one("cubic_growth", 1, "another")
    assert statuses("cubic", other, rare)["cubic_growth"] == "inconclusive"
    assert statuses("cubic", other, fast, rare)["cubic_growth"] == "off"
    # the Reno-friendly window grows by the segments that are acknowledged
    assert statuses("cubic", one("alpha", 0.05), one("beta", 0.7), rare)["alpha"] == "off"


def test_both_values_that_a_later_bbr_may_drain_with_are_right() -> None:
    later = one("bbr_generation", 1, LATER)
    for gain, status in ((0.9, "as it should be"), (0.75, "as it should be"), (0.82, "off"), (0.6, "off")):
        assert statuses("bbr", later, one("probe_down_gain", gain, half=0.02))["probe_down_gain"] == status


def test_a_later_bbr_may_wait_for_its_probe_rtt_as_the_draft_says_or_as_google_does() -> None:
    later = one("bbr_generation", 1, LATER)
    for wait_s, status in ((4.0, "off"), (5.0, "as it should be"), (10.0, "as it should be"), (15.0, "off")):
        found = statuses("bbr", later, one("probe_rtt_interval_s", wait_s, half=0.2))
        assert found["probe_rtt_interval_s"] == status


def test_a_probe_rtt_that_waits_for_the_end_of_a_cycle_is_neither_right_nor_off() -> None:
    """By its source, quiche's port of Google's BBRv2 has a timer of 10 s; it showed 11.0 ± 0.2 s."""
    for generation in ([one("bbr_generation", 1, LATER)], []):
        estimates = [*generation, one("probe_rtt_interval_s", 11.0, half=0.2)]
        here = contestants.judge("n", "bbr", [estimates, estimates])
        (waits,) = (each for each in here.findings if each.measured.parameter == "probe_rtt_interval_s")
        assert waits.status == "inconclusive" and "end of a probe" in waits.why


def test_short_times_between_probe_rtts_in_one_trial_are_no_sign_of_a_later_bbr() -> None:
    short = one("probe_rtt_interval_s", 0.3, half=0.1)
    nothing = Missing("probe_rtt_interval_s", "no two ProbeRTTs", "window")
    assert contestants.judge("n", "bbr", [[short], [nothing], [nothing]]).family == "bbr"


def test_trials_are_pooled_parameter_by_parameter() -> None:
    found = contestants.judge("n", "cubic", [[one("beta", value)] for value in (0.69, 0.70, 0.71)])
    (finding,) = found.findings
    assert (finding.measured.trials, finding.measured.by) == (3, "trials")
    # Student's: 4.303 · 0.01 / √3, and the resolution
    assert finding.measured.high - finding.measured.value == pytest.approx(0.0248 + 0.001, abs=1e-4)


def test_trials_that_say_the_same_count_as_one() -> None:
    same = [[one("beta", 0.85)], [one("beta", 0.85)], [one("beta", 0.85)]]
    found = contestants.judge("n", "cubic", same)
    assert (found.trials, found.ran) == (1, 3)
    (finding,) = found.findings
    assert (finding.status, finding.looks) == ("inconclusive", "off")


def test_replicates_that_differ_a_little_are_one_trial() -> None:
    """A sender alone: a threshold decides whether a trial shows a second parameter, and not the seed."""
    several: list[list[Estimate | Missing]] = [
        [one("beta", 0.500), one("beta_again", 0.50, source="packets")],
        [one("beta", 0.502), one("beta_again", 0.60, source="packets")],
        [one("beta", 0.501)],
    ]
    alone = contestants.judge("n", "cubic", several, lone=[True, True, True])
    assert (alone.trials, alone.ran) == (1, 3)
    assert [(f.status, f.looks) for f in alone.findings if f.key == "beta"] == [("inconclusive", "off")]
    # what only a later replicate shows is not lost
    later = contestants.judge("n", "cubic", several[::-1], lone=[True, True, True])
    assert later.trials == 1
    assert [f.measured.events for f in later.findings if f.key == "beta_again"] == [12]
    # BBR draws its phases: what differs is another trial
    drawn = contestants.judge("n", "bbr", several, lone=[True, True, True])
    assert drawn.trials == 3


def test_trials_beside_others_are_one_only_if_they_are_equal() -> None:
    """Two trials of 13 and 17 cuts to nearly the same β are two."""
    first = Estimate("beta", (0.700,) * 13, 0.005, "window")
    second = Estimate("beta", (0.701,) * 17, 0.005, "window")
    found = contestants.judge("n", "cubic", [[first], [second], [first]])
    assert (found.trials, found.ran) == (2, 3)
    # of one contestant, some trials may be alone and some beside others
    mixed = contestants.judge("n", "cubic", [[first], [second], [first]], lone=[True, False, True])
    assert (mixed.trials, mixed.ran) == (2, 3)


def test_two_trials_that_disagree_widen_the_interval_by_it() -> None:
    found = contestants.judge("n", "cubic", [[one("beta", 0.6)], [one("beta", 0.8)]])
    (finding,) = found.findings
    assert finding.measured.low <= 0.6 < 0.8 <= finding.measured.high


def test_flows_of_one_trial_are_one_trial() -> None:
    """Each flow was a trial: one trial of two flows accused, and short flows hid an endless one's β."""
    off = contestants.of_flows([[one("beta", 0.85)], [one("beta", 0.86)]])
    (finding,) = contestants.judge("n", "cubic", [off]).findings
    assert (finding.status, finding.looks) == ("inconclusive", "off")
    assert (finding.measured.trials, finding.measured.events) == (1, 24)
    # they differ by 0.01
    assert finding.measured.high - finding.measured.value >= 0.005
    gap = Missing("beta", "no congestion event")
    trials = [
        contestants.of_flows([[one("beta", 0.7), one("burst_packets", size)], *[[gap]] * 3])
        for size in (2, 3)
    ]
    found = contestants.judge("n", "cubic", trials)
    assert [(f.status, f.measured.shown) for f in found.findings if f.key == "beta"] == [
        ("as it should be", 2)
    ]
    assert (found.trials, found.ran, found.missing) == (2, 2, {})


def of_events(parameter: str, value: float, count: int, source: Source = "window") -> Estimate:
    return Estimate(parameter, (value,) * count, 0.001, source)


def test_a_share_of_several_flows_is_that_of_all_their_events() -> None:
    shares = [of_share("losses_answered", these, count, "packets") for these, count in ((40, 40), (0, 2))]
    (together,) = contestants.of_flows([[share] for share in shares])
    assert isinstance(together, Estimate)
    assert together.value == pytest.approx(40 / 42)
    assert together.count == 42
    assert together.resolution > 0.5


def test_flows_with_many_and_few_events_keep_the_value_of_each_in_the_interval() -> None:
    """The value of the flow with more events was the trial's, and the interval excluded the other flow's."""
    uneven = [
        contestants.of_flows([[of_events("beta", 0.85 + seed / 100, 30)], [of_events("beta", 0.70, 10)]])
        for seed in range(4)
    ]
    for trials in (uneven[:2], uneven):
        (finding,) = contestants.judge("n", "cubic", trials).findings
        assert finding.status == "inconclusive"
        assert finding.measured.low <= 0.70 < 0.85 <= finding.measured.high
    # a log that says 0.7 is not contradicted by one of two flows' packets
    packets = [[of_events("beta", value, 10, "packets")] for value in (0.70, 0.50)]
    logs = [[of_events("beta", 0.70, 10)]] * 2
    both = contestants.of_flows([log + packet for log, packet in zip(logs, packets, strict=True)])
    assert not contestants.judge("n", "cubic", [both] * 2).contradictions


def test_kinds_of_several_flows_are_the_events_of_all_if_the_flows_agree() -> None:
    def together(*flows: list[int]) -> Estimate | Missing:
        kinds = ("cubic", "another")
        (found,) = contestants.of_flows(
            [[of_kind("cubic_growth", codes, kinds, "window")] for codes in flows]
        )
        return found

    same = together([0] * 9, [0, 0, 1])
    assert isinstance(same, Estimate)
    assert (same.label, same.count) == ("cubic", 12)
    assert same.agreement == pytest.approx(11 / 12)
    assert isinstance(together([1] * 50, [0] * 8), Missing)


def test_a_parameter_that_one_trial_of_five_shows_accuses_nobody() -> None:
    quiet: list[list[Estimate | Missing]] = [
        [Missing("beta", "no event"), one("burst_packets", 2.0 + number)] for number in range(4)
    ]
    found = contestants.judge("n", "cubic", [[one("beta", 0.85)], *quiet])
    beta = next(f for f in found.findings if f.key == "beta")
    assert (beta.status, beta.looks) == ("inconclusive", None)


def test_a_second_network_confirms_what_one_trial_shows() -> None:
    values = {"a": 0.85, "b": 0.86}
    several = {
        name: judge("cubic", one("beta", value), count=1, network=name) for name, value in values.items()
    }
    for found in contestants.combined(several).values():
        assert [f.status for f in found.findings if f.key == "beta"] == ["off"]
    alone = contestants.combined({"a": several["a"]})["a"]
    assert [f.status for f in alone.findings if f.key == "beta"] == ["inconclusive"]


def test_only_another_path_that_errs_in_the_same_way_confirms() -> None:
    """Neither the same trial on another network, nor one that errs the other way."""
    values = {"a": 0.85, "same": 0.85, "low": 0.4, "b": 0.87}
    several = {
        name: judge("cubic", one("beta", value), count=1, network=name) for name, value in values.items()
    }
    several = {
        name: replace(found, path=("a" if name == "same" else name,)) for name, found in several.items()
    }

    def named(*networks: str) -> dict[str, tuple[str, str]]:
        found = contestants.combined({name: several[name] for name in networks})
        return {
            name: next((f.status, f.confirmed_on) for f in one.findings if f.key == "beta")
            for name, one in found.items()
        }

    assert named("a", "same", "low", "b") == {
        "a": ("off", "b"),
        "same": ("off", "b"),
        "low": ("inconclusive", ""),
        "b": ("off", "a"),
    }
    assert {status for status, _ in named("a", "low").values()} == {"inconclusive"}
    # what two trials show needs no other network
    alone = judge("cubic", one("beta", 0.85), network="a")
    (beta,) = (
        f for f in contestants.combined({"a": alone, "b": several["b"]})["a"].findings if f.key == "beta"
    )
    assert (beta.status, beta.confirmed_on) == ("off", "")


def test_a_wrong_c_and_another_law_confirm_each_other() -> None:
    """C in the wrong unit: on one network the window shows a C of nearly 0, on another it follows no C."""
    tiny, other = one("cubic_c", 0.02, half=0.02), one("cubic_growth", 1, "another")
    several = {
        "a": judge("cubic", tiny, one("cubic_growth", 0, "CUBIC's"), count=1, network="a"),
        "b": judge("cubic", other, count=1, network="b"),
    }
    several = {name: replace(found, path=(name,)) for name, found in several.items()}
    found = contestants.combined(several)
    # the other network shows another parameter, so nothing names it as showing the same
    assert [(f.status, f.confirmed_on) for f in found["a"].findings if f.key == "cubic_c"] == [("off", "")]
    assert [f.status for f in found["b"].findings if f.key == "cubic_growth"] == ["off"]
    alone = contestants.combined({"a": several["a"]})["a"]
    assert [f.status for f in alone.findings if f.key == "cubic_c"] == ["inconclusive"]
    # other parameters do not: a wrong β and a wrong C are two faults
    beta = judge("cubic", one("beta", 0.9), count=1, network="b")
    apart = contestants.combined({"a": several["a"], "b": replace(beta, path=("b",))})["a"]
    assert [f.status for f in apart.findings if f.key == "cubic_c"] == ["inconclusive"]


def test_a_network_with_the_same_trial_confirms_nothing() -> None:
    """A path may differ from another in what this contestant never meets: then the trials are one."""
    several = {name: judge("cubic", one("beta", 0.85), count=1, network=name) for name in ("a", "b")}
    for found in contestants.combined(several).values():
        assert [f.status for f in found.findings if f.key == "beta"] == ["inconclusive"]
    # another path is another experiment, even if this contestant does the same on it
    other = {name: replace(one, path=(name,)) for name, one in several.items()}
    for found in contestants.combined(other).values():
        assert [f.status for f in found.findings if f.key == "beta"] == ["off"]


def test_one_network_of_three_does_not_make_it_off() -> None:
    values = {"a": 0.7, "b": 0.7, "c": 0.85}
    several = {name: judge("cubic", one("beta", value), network=name) for name, value in values.items()}
    found = contestants.combined(several)["c"]
    beta = next(f for f in found.findings if f.key == "beta")
    assert (beta.status, beta.why) == ("inconclusive", "most networks show no difference")


def test_a_loss_that_came_first_is_no_other_way_to_end_slow_start() -> None:
    ends = {"a": "hystart", "b": "loss"}
    several = {
        name: judge("cubic", one("slow_start_exit", float(end == "hystart"), end), network=name)
        for name, end in ends.items()
    }

    def exits(judged: Mapping[str, Judged]) -> dict[str, tuple[str, str]]:
        return {
            name: next((f.status, f.why) for f in found.findings if f.key == "slow_start_exit")
            for name, found in contestants.combined(judged).items()
        }

    assert exits({"b": several["b"]}) == {"b": ("other choice", "")}
    both = exits(several)
    assert both["a"] == ("as it should be", "")
    assert both["b"] == (
        "inconclusive",
        "here a loss ended slow start; on another network slow start ended before any loss",
    )


def test_packets_accuse_nobody_of_what_the_window_leaves_open() -> None:
    no = one("reno_friendly", 1, "no", source="packets")
    window = Missing("reno_friendly", "Reno's estimate does not determine the window here", "window")
    for estimates in ([no], [no, window]):
        assert statuses("cubic", *estimates) == {"reno_friendly": "inconclusive"}
    # Reno's own increase is followed well by a flight
    assert statuses("reno", one("alpha", 2.0, source="packets")) == {"alpha": "off"}


def test_window_and_packets_that_exclude_each_other_are_a_finding() -> None:
    window, packets = one("beta", 0.7, half=0.006), one("beta", 0.116, source="packets", half=0.034)
    found = judge("cubic", window, packets)
    (apart,) = found.contradictions
    assert apart.confirmed
    assert "0.700 ± 0.006 in the stack's log and 0.116 ± 0.034 by its packets" in apart.text
    assert apart.text.endswith("as if it reduced more than once or counted lost packets as in flight")
    (twice,) = judge("cubic", window, packets, one("cuts_per_episode", 2.0)).contradictions
    assert twice.text.endswith("it reduces more than once for each congestion event")
    assert statuses("cubic", window, packets) == {"beta": "inconclusive"}, "neither is believed"
    assert not judge("cubic", window, packets, count=1).contradictions[0].confirmed
    assert not judge("cubic", window, one("beta", 0.74, source="packets", half=0.034)).contradictions
    (unfilled,) = judge("cubic", window, one("beta", 0.8, source="packets", half=0.034)).contradictions
    assert unfilled.text.endswith(
        "its flight falls by less than its window, so it may not fill the window before a loss"
    )


@pytest.mark.parametrize(
    ("packets", "log", "contradicted"),
    [(0.95, None, True), (0.95, 0.0, True), (0.95, 0.9, False), (0.4, None, False), (0.0, None, False)],
)
def test_a_flight_beyond_the_logged_window_accuses_neither(
    packets: float, log: float | None, contradicted: bool
) -> None:
    """Either the sender keeps more in flight than its window, or the log has another one: nothing tells."""
    both = [one("beyond_window", packets, source="packets", events=100)]
    both += [] if log is None else [one("beyond_window", log, events=100)]
    found = judge("cubic", *both)
    (finding,) = (each for each in found.findings if each.key == "beyond_window")
    assert [each.parameter for each in found.contradictions] == ["beyond_window"] * contradicted
    assert all("exclude each other" in each.text for each in found.contradictions)
    assert finding.status == ("off" if log == 0.9 else "as it should be" if packets == 0 else "inconclusive")


def test_what_restates_a_contradicted_parameter_is_not_believed_either() -> None:
    window, packets = one("beta", 0.7, half=0.005), one("beta", 0.496, source="packets", half=0.046)
    connections = one("emulated_connections", 1.67, half=0.02)
    assert statuses("reno", connections) == {"emulated_connections": "off"}
    both = {"beta": "inconclusive", "emulated_connections": "inconclusive"}
    assert statuses("reno", window, packets, connections) == both


def test_a_network_that_accuses_the_reference_judges_nobody() -> None:
    assert contestants.failures(judge("cubic", one("beta", 0.85), count=1)), "even in a single trial"
    assert not contestants.failures(judge("cubic", one("beta", 0.7)))
    refused = contestants.refuse(judge("cubic", one("beta", 0.85)), "why")
    assert {f.status for f in refused.findings} == {"not judged"}
    assert refused.refused == "why"


def test_a_kind_needs_two_trials_that_are_of_it() -> None:
    one_trial = [one("cubic_growth", 1, "another", events=40)], [one("cubic_growth", 0, "CUBIC's", events=8)]
    found = contestants.judge("n", "cubic", [[*each, one("burst_packets", 2.0 + place)]
                                             for place, each in enumerate(one_trial)])  # fmt: skip
    assert not [each for each in found.findings if each.differs or each.looks]


def test_identical_trials_without_a_parameter_count_as_trials() -> None:
    nothing = [[Missing("beta", "no congestion event")] for _ in range(18)]
    shown = [[one("beta", 0.85)], [one("beta", 0.87)]]
    found = contestants.judge("n", "cubic", [*nothing, *shown])
    (beta,) = found.findings
    assert (beta.status, beta.why) == (
        "inconclusive",
        "measured in only 2 of 20 trials, identical ones included",
    )


def test_alpha_is_not_judged_by_a_beta_of_one_event() -> None:
    few = one("beta", 0.9, half=0.02, events=1)
    assert statuses("cubic", one("alpha", 0.53), few)["alpha"] == "inconclusive"
    assert statuses("cubic", one("alpha", 0.53), one("beta", 0.9, half=0.02))["alpha"] == "off"


def test_alpha_and_fast_convergence_are_not_judged_without_a_beta() -> None:
    """As of a CUBIC that only met marks and keeps 0.85 (RFC 8511): its α and W_max may be those of 0.85."""
    marks = Missing("beta", "its events are marks, after which RFC 8511 allows to keep more")
    found = statuses("cubic", one("alpha", 0.243), one("fast_convergence", 0.925), marks)
    assert found == dict.fromkeys(["alpha", "fast_convergence"], "inconclusive")


def test_a_beta_of_the_bytes_in_flight_is_not_off() -> None:
    """Of ten packets of 62 that have left: 0.7 · 52/62 is 0.587."""
    low = replace(one("beta", 0.587), lower_by=0.113)
    alpha = one("alpha", 0.529)
    assert statuses("cubic", low, alpha) == dict.fromkeys(["beta", "alpha"], "inconclusive")
    (finding,) = (f for f in judge("cubic", low).findings if f.key == "beta")
    assert finding.looks is None and finding.why == findings.OF_FLIGHT
    # the same value with one packet of them, and a value that is too high
    assert statuses("cubic", replace(low, lower_by=0.02), alpha) == {"beta": "off", "alpha": "off"}
    assert statuses("cubic", replace(low, samples=(0.85,)))["beta"] == "off"
    both = contestants.of_flows([[low], [replace(low, lower_by=0.02)]])
    assert isinstance(both[0], Estimate) and both[0].lower_by == pytest.approx(0.02)


def test_many_drops_in_one_trial_excuse_no_other_trial() -> None:
    """β of 0.5 with bursts of drops in one of two trials was inconclusive: of 0.9 of the bytes in flight."""
    bursts, lone = replace(one("beta", 0.5), lower_by=0.4), replace(one("beta", 0.501), lower_by=0.03)

    def status(*each: Estimate) -> str:
        found = contestants.judge("n", "cubic", [[beta] for beta in each])
        return next(finding.status for finding in found.findings if finding.key == "beta")

    assert status(bursts, lone) == "off"
    assert status(bursts, replace(lone, lower_by=0.4)) == "inconclusive"


def test_a_network_without_bbrs_generation_follows_one_that_shows_it() -> None:
    silent, later = judge("bbr", one("probe_rtt_cwnd", 40.0)), judge("bbr", one("bbr_generation", 1, LATER))
    first = judge("bbr", one("bbr_generation", 0, "BBRv1-like"))
    assert contestants.family([silent, silent, later]) == references.LATER_BBR
    assert contestants.family([silent, first, later]) == "bbr"
    assert contestants.family([]) == ""


def test_a_contradiction_on_a_minority_of_the_networks_is_not_confirmed() -> None:
    odd = judge("reno", one("beta", 0.5), one("beta", 0.3, source="packets"), network="odd")
    even = {
        name: judge("reno", one("beta", 0.5), one("beta", 0.5, source="packets"), network=name)
        for name in "abc"
    }
    assert [each.confirmed for each in contestants.combined({"odd": odd})["odd"].contradictions] == [True]
    settled = contestants.combined({"odd": odd, **even})["odd"]
    assert [each.confirmed for each in settled.contradictions] == [False]


def test_cubics_alpha_by_packets_contradicts_no_log() -> None:
    found = judge("cubic", one("beta", 0.7), one("alpha", 0.53), one("alpha", 0.76, source="packets"))
    assert found.contradictions == ()


def test_more_first_packets_than_the_window_holds_are_a_finding() -> None:
    for flight, expected in ((33.0, 1), (11.0, 0), (4.0, 0)):
        found = judge("cubic", one("initial_window_packets", 10.4),
                      one("initial_window_packets", flight, source="packets", half=2.0))  # fmt: skip
        assert [each.parameter for each in found.contradictions] == ["initial_window_packets"] * expected


def test_a_flight_just_below_the_largest_window_is_no_contradiction() -> None:
    for flight, expected in ((1951.0, 0), (1000.0, 1)):
        found = judge("cubic", one("max_window_packets", 2000.0),
                      one("max_window_packets", flight, source="packets"))  # fmt: skip
        assert len(found.contradictions) == expected


def test_a_choice_that_the_reference_makes_too_is_not_unlike_it() -> None:
    """Slow start ended by a loss on a short path, of the kernel's CUBIC as well."""
    by_loss, early = one("slow_start_exit", 2, "loss"), one("slow_start_exit", 1, "hystart")
    mine, kernels, others = judge("cubic", by_loss), judge("cubic", by_loss), judge("cubic", early)

    def exit_of(found: Judged) -> Finding:
        return next(one for one in found.findings if one.key == "slow_start_exit")

    assert exit_of(mine).status == "other choice"
    assert findings.sentence(exit_of(mine)) == "what ends slow start is loss (usual: hystart)"
    assert exit_of(contestants.beside(mine, kernels)).status == "not judged"
    told = exit_of(contestants.beside(mine, others))
    assert findings.sentence(told) == "what ends slow start is loss (the reference: hystart)"
    assert contestants.beside(mine, None) == mine


def test_a_loss_declared_too_soon_is_not_called_allowed() -> None:
    early, late = (judge("cubic", one("packet_threshold", value, half=0.5)) for value in (1.0, 10.0))
    said = [
        findings.sentence(next(one for one in found.findings if one.key == "packet_threshold"))
        for found in (early, late)
    ]
    assert "SHOULD NOT be less than 3" in said[0]
    assert "SHOULD NOT" not in said[1]
