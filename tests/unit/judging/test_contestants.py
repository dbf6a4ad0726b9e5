"""From single trials to findings: which source counts, and what spoils what."""

from __future__ import annotations

import pytest

from cambrian.judging import contestants, references
from cambrian.metrics.parameters.estimate import Estimate, Missing, Source


def one(
    parameter: str, value: float, label: str | None = None, source: Source = "window", half: float = 0.001
) -> Estimate:
    return Estimate(parameter, (value,), half, source, label)


def statuses(family: str, *estimates: Estimate | Missing) -> dict[str, str]:
    found = contestants.judge("n", family, [estimates])
    return {finding.key: finding.status for finding in found.findings}


def test_the_window_is_judged_and_packets_are_kept_beside_it() -> None:
    window, packets = one("beta", 0.7), one("beta", 0.8, source="packets")
    found = contestants.judge("n", "cubic", [[window, packets]])
    assert [finding.measured.source for finding in found.findings] == ["window"]
    assert {measured.source for measured in found.both} == {"window", "packets"}


def test_packets_are_judged_where_there_is_no_window() -> None:
    gap = Missing("beta", "the stack exports nothing", "window")
    found = contestants.judge("n", "cubic", [[gap, one("beta", 0.85, source="packets")]])
    assert [finding.status for finding in found.findings] == ["off"]
    assert found.missing == {}


def test_what_no_source_shows_is_missing_with_its_reason() -> None:
    found = contestants.judge("n", "cubic", [[Missing("beta", "no congestion event")]])
    assert (found.findings, found.missing) == ((), {"beta": "no congestion event"})


def test_events_that_are_taken_back_spoil_the_fits_between_them() -> None:
    growth, rollback = one("cubic_growth", 1, "another"), one("rollback_share", 0.9, half=0.05)
    assert statuses("cubic", growth)["cubic_growth"] == "off"
    assert statuses("cubic", growth, rollback) == {"cubic_growth": "not judged", "rollback_share": "off"}


def test_a_later_bbr_is_compared_with_its_own_draft() -> None:
    drain = one("probe_down_gain", 0.9, half=0.01)
    assert statuses("bbr", drain)["probe_down_gain"] == "off"
    by_probing = one("bbr_generation", 1, "BBRv2- or v3-like")
    by_probe_rtt = one("probe_rtt_interval_s", 5.0, half=0.2)
    for sign in (by_probing, by_probe_rtt):
        found = contestants.judge("n", "bbr", [[drain, sign]])
        assert found.family == references.LATER_BBR
        assert {f.status for f in found.findings if f.key == "probe_down_gain"} == {"as it should be"}


def test_trials_are_pooled_parameter_by_parameter() -> None:
    trials = [[one("beta", value)] for value in (0.69, 0.70, 0.71)]
    (finding,) = contestants.judge("n", "cubic", trials).findings
    assert (finding.measured.trials, finding.measured.by) == (3, "trials")
    # Student's: 4.303 · 0.01 / √3, and the resolution
    assert finding.measured.high - finding.measured.value == pytest.approx(0.0248 + 0.001, abs=1e-4)
