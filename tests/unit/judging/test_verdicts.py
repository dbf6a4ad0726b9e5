"""Which verdict follows from which findings."""

from __future__ import annotations

from dataclasses import replace

import pytest

from cambrian.judging import contestants, findings, references, verdicts
from cambrian.judging.contestants import Judged
from cambrian.judging.contradictions import Contradiction
from cambrian.judging.findings import Finding
from cambrian.judging.sides import Side
from cambrian.judging.verdicts import Unjudged
from tests.unit.judging.test_findings import measured

CUBIC = references.for_family("cubic")


def finding(
    name: str, value: float, half: float = 0.005, network: str = "a", trials: int = 3, family: str = "cubic"
) -> Finding:
    reference = references.for_family(family).get(name)
    return findings.judge(network, measured(name, value, half, trials=trials), reference)


def on(*several: Finding, missing: dict[str, str] | None = None, network: str = "a") -> Judged:
    both = tuple(one.measured for one in several)
    return Judged("cubic", several, both, missing or {}, network=network)


FINE = [
    finding("beta", 0.7),
    finding("cubic_c", 0.4),
    finding("rollback_share", 0.0),
    finding("losses_answered", 1.0),
]


def test_conformant() -> None:
    found = verdicts.verdict("x", "cubic", [on(*FINE)])
    assert found.kinds == ("conformant",)
    assert found.text.startswith("CUBIC: every parameter that could be judged is as it should be")
    assert "Not measured: plausibility of a flow alone" in found.text


def test_one_number_off_is_off_by_that_parameter() -> None:
    doubled = [finding("beta", 0.85), finding("emulated_connections", 2.0, 0.1), *FINE[1:]]
    found = verdicts.verdict("x", "cubic", [on(*doubled)])
    assert found.kinds == ("off by a parameter",)
    assert "0.850 ± 0.005; should be 0.7" in found.text
    assert "its β is that of 2.0 ± 0.1 connections" in found.text


def test_another_decrease_and_another_growth_are_another_algorithm() -> None:
    found = verdicts.verdict("x", "cubic", [on(finding("beta", 0.5), finding("cubic_c", 1.9), *FINE[2:])])
    assert found.kinds == ("different algorithm",)


def test_a_bbr_that_never_shows_probe_rtt_is_not_conformant() -> None:
    shown = {"probe_up_gain": 1.25, "probe_down_gain": 0.75, "cruise_factor": 0.99, "cycle_rounds": 8.0}
    fine = [finding(name, value, family="bbr") for name, value in shown.items()]
    never = on(*fine, missing={"probe_rtt_interval_s": "no silence that a low flight follows"})
    found = verdicts.verdict("x", "bbr", [never])
    assert found.kinds == ("inconclusive",)
    shown_nowhere = "measured on no network: time between ProbeRTTs (no silence that a low flight follows)"
    assert shown_nowhere in found.text
    # another parameter that is off does not hide it
    off = on(*fine, finding("initial_window_packets", 32.0, family="bbr"), missing=never.missing)
    found = verdicts.verdict("x", "bbr", [off])
    assert found.kinds == ("off by a parameter",)
    assert "Measured on no network: time between ProbeRTTs." in found.text
    seen = on(finding("probe_rtt_interval_s", 10.0, family="bbr"), network="b")
    assert "Measured on no network" not in verdicts.verdict("x", "bbr", [off, seen]).text
    assert verdicts.verdict("x", "bbr", [never, seen]).kinds == ("conformant",)


@pytest.mark.parametrize(
    ("cruise", "window", "named"),
    [(6.06, 3.99, False), (0.99, 2.48, True), (1.19, 4.0, True), (0.85, 1.0, True)],
)
def test_a_window_follows_from_a_bandwidth_that_is_as_far_too_high(
    cruise: float, window: float, named: bool
) -> None:
    """quinn's gain is 2, and its bandwidth six times the link's: "window gain in ProbeBW is 3.99"."""
    several = [finding("cruise_factor", cruise, family="bbr"), finding("cwnd_gain", window, family="bbr")]
    text = verdicts.verdict("x", "bbr", [on(*several)]).text
    assert ("window in ProbeBW is" in text) == named
    assert "window gain" not in text


def test_nothing_of_the_core_measured_is_no_verdict() -> None:
    found = verdicts.verdict(
        "x", "cubic", [on(finding("ack_every_packets", 2.0), missing={"beta": "no loss"})]
    )
    assert found.kinds == ("not judged",)
    assert found.missing == {"beta": "no loss"}
    assert (found.measured, found.settled) == (1, 1)


def test_what_is_open_is_not_conformant() -> None:
    wide = verdicts.verdict("x", "cubic", [on(finding("beta", 0.795, 0.161), *FINE[1:])])
    assert wide.kinds == ("inconclusive",)
    assert (wide.measured, wide.settled) == (4, 3)
    assert "0.795 ± 0.161 (the interval contains right and wrong values" in wide.text
    once = verdicts.verdict("x", "cubic", [on(finding("beta", 0.85, trials=1), *FINE[1:])])
    assert once.kinds == ("inconclusive",)
    assert "seen in one trial; a difference needs two" in once.text


def test_a_fault_with_few_events_on_each_of_several_networks_is_not_conformant() -> None:
    def cuts(network: str) -> Finding:
        few = measured("cuts_per_episode", 3.0, 0.1, events=2)
        found = findings.judge(network, few, CUBIC.get("cuts_per_episode"))
        assert (found.status, found.few) == ("inconclusive", True)
        return found

    here, there = on(*FINE, cuts("a")), on(cuts("b"), network="b")
    assert verdicts.verdict("x", "cubic", [here]).kinds == ("conformant",)
    both = verdicts.verdict("x", "cubic", [here, there])
    assert both.kinds == ("inconclusive",)
    assert "2 events; a judgement needs" in both.text


def test_a_deeper_cut_than_the_standards_is_that_of_no_number_of_connections() -> None:
    deep = [finding("beta", 0.5), finding("emulated_connections", 0.6, 0.01), *FINE[1:]]
    found = verdicts.verdict("x", "cubic", [on(*deep)])
    assert "should be 0.7" in found.text
    assert "connections" not in found.text


def test_a_log_that_no_packets_bear_out_is_not_conformant() -> None:
    found = verdicts.verdict("x", "cubic", [on(*FINE[:3])])
    assert found.kinds == ("inconclusive",)
    assert "no network shows the response to losses in the packets" in found.text


def test_a_network_that_leaves_it_open_does_not_undo_one_that_settles_it() -> None:
    wide = on(finding("beta", 0.7, 0.1, network="b"))
    assert verdicts.verdict("x", "cubic", [on(*FINE), wide]).kinds == ("conformant",)


def test_networks_that_differ_say_on_how_many() -> None:
    several = {
        name: on(finding("beta", value, network=name), network=name)
        for name, value in {"a": 0.7, "b": 0.8}.items()
    }
    found = verdicts.verdict("x", "cubic", list(contestants.combined(several).values()))
    assert found.kinds == ("off by a parameter",)
    assert "(on 1 of 2 networks)" in found.text


def test_networks_whose_values_exclude_each_other_are_both_named() -> None:
    """quinn's BBR had "window gain 3.99, and on 1 other", which has 7.98."""

    def said(*values: float) -> str:
        several = [
            on(finding("beta", value, network=name), network=name)
            for name, value in zip("abc", values, strict=False)
        ]
        return verdicts.verdict("x", "cubic", several).text

    beta = "multiplicative decrease β is"
    assert f"{beta} from 0.800 ± 0.005 on a to 0.900 ± 0.005 on c; should be 0.7" in said(0.8, 0.85, 0.9)
    assert f"{beta} 0.800 ± 0.005; should be 0.7" in said(0.8, 0.805)
    # a network that shows another status has no part in it
    assert f"{beta} 0.800 ± 0.005; should be 0.7" in said(0.8, 0.7)


def test_choices_are_said_and_not_blamed() -> None:
    paced = finding("pacing_factor", 1.25, 0.02)
    found = verdicts.verdict("x", "cubic", [on(*FINE, paced)])
    assert found.kinds == ("conformant",)
    assert "Choices unlike the reference's: " in found.text


def test_a_log_that_its_packets_contradict_is_a_verdict() -> None:
    beta = findings.inconclusive(FINE[0], "the stack's log and its packets contradict each other")
    for confirmed, kind in ((True, "off by a parameter"), (False, "inconclusive")):
        apart = Contradiction("a", "beta", "the window says 0.7, the packets 0.1", confirmed)
        one = Judged("cubic", (beta, *FINE[1:]), (), {}, (apart,))
        found = verdicts.verdict("x", "cubic", [one])
        assert found.kinds == (kind,)
        assert apart.text in found.text


def test_the_other_sides_decide_too() -> None:
    odd = Side("different", ("utilisation 53 % (tcp cubic 96 %)",))
    found = verdicts.verdict("x", "cubic", [on(*FINE)], plausibility=odd)
    assert found.kinds == ("behaves differently",)
    assert "utilisation 53 % (tcp cubic 96 %)" in found.text
    open_ = verdicts.verdict("x", "cubic", [on(*FINE)], impact=Side("inconclusive"))
    assert open_.kinds == ("inconclusive",)


def test_refused_networks_are_named() -> None:
    refused = contestants.refuse(on(*FINE), "a judges nobody: of tcp cubic itself it says that β is 0.6")
    found = verdicts.verdict("x", "cubic", [refused])
    assert (found.kinds, found.refused) == (("not judged",), (refused.refused,))
    assert "judges nobody" in found.text


def test_a_network_of_invalid_trials_alone_is_named_and_leaves_its_sides_open() -> None:
    """As of an ECN link that a sender leaves unused, so that no trial there is valid."""
    quiet = Unjudged("ecn", "2 of 2 trials invalid; seed 1: saturation: 3.9% used", frozenset({"behaviour"}))
    same = Side("equivalent")
    here = on(*FINE, missing={"marks_answered": "no packet is marked"})
    found = verdicts.verdict("x", "cubic", [here], plausibility=same, behaviour=same, unjudged=[quiet])
    assert found.kinds == ("inconclusive",)
    assert "Inconclusive: behaviour (not judged on ecn)" in found.text
    assert "Like the reference: plausibility of a flow alone" in found.text
    assert "Not judged on ecn (2 of 2 trials invalid; seed 1: saturation: 3.9% used)." in found.text
    assert found.missing == {"marks_answered": "no packet is marked"}
    # what its other networks prove stays
    different = Side("different", ("it is silent",))
    found = verdicts.verdict("x", "cubic", [here], behaviour=different, unjudged=[quiet])
    assert found.kinds == ("behaves differently",)
    # parameters are not all as they should be where the reference shows some and this one none
    shown = replace(quiet, shows=frozenset({"parameters"}))
    assert verdicts.verdict("x", "cubic", [here], unjudged=[shown]).kinds == ("inconclusive",)
    # a network that shows nothing of the reference either is only named
    nothing = replace(quiet, shows=frozenset())
    found = verdicts.verdict("x", "cubic", [here], behaviour=same, unjudged=[nothing])
    assert found.kinds == ("conformant",)
    assert "Not judged on ecn" in found.text


def test_that_only_valid_trials_count_is_said_once() -> None:
    """ "(in the valid trials)" stood behind each of five reasons of one sentence."""
    fine = finding("probe_up_gain", 1.25, family="bbr")
    short, long = "no cycle", "the trial is too short"
    here = on(fine, missing={"cruise_factor": short, "probe_down_gain": short, "probe_rtt_interval_s": long})
    quiet = Unjudged("ecn", "2 of 2 trials invalid; seed 1: saturation: 3.9% used")
    text = verdicts.verdict("x", "bbr", [here], unjudged=[quiet]).text
    assert "are inconclusive: measured on no network with a valid trial: " in text
    assert text.count("with a valid trial") == text.count(short) == text.count(long) == 1
    assert "valid" not in verdicts.verdict("x", "bbr", [here]).text


def test_different_reasons_for_a_missing_parameter_name_their_networks() -> None:
    several = [
        on(*FINE, missing={"packet_threshold": why}, network=network)
        for network, why in (("a", "no drop"), ("b", "random loss"), ("c", "no drop"))
    ]
    found = verdicts.verdict("x", "cubic", several)
    assert found.missing == {"packet_threshold": "no drop (a, c), random loss (b)"}
    five = [on(*FINE, missing={"packet_threshold": f"off by {one}"}, network=f"n{one}") for one in range(5)]
    reasons = verdicts.verdict("x", "cubic", five).missing["packet_threshold"]
    assert reasons == "off by 0 (n0), off by 1 (n1), off by 2 (n2), and 2 others"


def test_evidence_counts() -> None:
    text = verdicts.evidence(finding("beta", 0.85))
    assert text == "multiplicative decrease β: from window, 12 events in 3 differing trials on a"
    assert verdicts.evidence(finding("beta", 0.85), 2) == f"{text}, and on 1 other"
    assert verdicts.evidence(finding("beta", 0.85), 4) == f"{text}, and on 3 others"


def test_a_verdict_counts_the_networks_that_differ() -> None:
    several = {name: on(finding("beta", 0.85, network=name), network=name) for name in ("a", "b")}
    found = verdicts.verdict("x", "cubic", list(contestants.combined(several).values()))
    assert found.networks["beta"] == 2
