"""Which verdict follows from which findings."""

from __future__ import annotations

from cambrian.judging import findings, references, verdicts
from cambrian.judging.findings import Finding
from tests.unit.judging.test_findings import measured

CUBIC = references.of("cubic")


def finding(name: str, value: float, half: float = 0.005, network: str = "a") -> Finding:
    return findings.judge(network, measured(name, value, half), CUBIC.get(name))


FINE = [finding("beta", 0.7), finding("cubic_c", 0.4), finding("rollback_share", 0.0)]


def test_conformant() -> None:
    found = verdicts.verdict("x", "cubic", FINE, {})
    assert found.kind == "conformant"
    assert "CUBIC" in found.text


def test_one_number_off_is_off_by_that_parameter() -> None:
    doubled = [finding("beta", 0.85), finding("emulated_connections", 2.0, 0.1), *FINE[1:]]
    found = verdicts.verdict("x", "cubic", doubled, {})
    assert found.kind == "off by a parameter"
    assert "0.850 ± 0.005; should be 0.7" in found.text
    assert "behaves like 2.0 ± 0.1 connections" in found.text


def test_another_decrease_and_another_growth_are_another_algorithm() -> None:
    found = verdicts.verdict("x", "cubic", [finding("beta", 0.5), finding("cubic_c", 1.9), FINE[2]], {})
    assert found.kind == "different algorithm"


def test_nothing_of_the_core_measured_is_no_verdict() -> None:
    found = verdicts.verdict("x", "cubic", [finding("ack_every_packets", 2.0)], {"beta": "no loss"})
    assert found.kind == "not judged"
    assert found.missing == {"beta": "no loss"}


def test_one_network_of_three_does_not_make_it_off() -> None:
    several = [finding("beta", 0.7, network="a"), finding("beta", 0.7, network="b")]
    assert verdicts.verdict("x", "cubic", [*several, finding("beta", 0.8, network="c")], {}).off == ()
    two = [finding("beta", 0.7, network="a"), finding("beta", 0.8, network="b")]
    found = verdicts.verdict("x", "cubic", two, {})
    assert found.kind == "off by a parameter"
    assert "(on 1 of 2 networks)" in found.text


def test_choices_are_said_and_not_blamed() -> None:
    paced = finding("pacing_factor", 1.25, 0.02)
    found = verdicts.verdict("x", "cubic", [*FINE, paced], {})
    assert found.kind == "conformant"
    assert "Other choices than the reference's" in found.text


def test_evidence_counts() -> None:
    text = verdicts.evidence(finding("beta", 0.85))
    assert text == "multiplicative decrease β: from window, 12 events in 3 trials on a"
